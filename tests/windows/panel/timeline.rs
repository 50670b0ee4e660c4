//! Tests the timeline, which shows earlier moments of the run.

use gravitile::base::edit::EditKind;
use gravitile::session::timeline::{Event, EventKind};

use super::*;

/// Returns the state of a recording of 60 seconds with two events.
fn recorded() -> TimelineState {
    let event = |at, kind, text: &str| Event { at, step: 100, kind, text: text.to_owned() };
    TimelineState {
        span: Some([10.0, 70.0]),
        events: vec![
            event(25.0, EventKind::Setting, "Gravity G = 2"),
            event(55.0, EventKind::Warning, "Energy drift 12 %"),
        ],
        bytes: [84 << 20, 256 << 20],
        ..TimelineState::default()
    }
}

fn past(at: f64) -> TimelineState {
    TimelineState { past: Some(at), can_continue: Ok(()), ..recorded() }
}

/// Drags the mouse along the timeline's rail, from the fraction `share` of its length to the fraction `end`.
fn drag(window: &mut Window, share: f32, end: f32) {
    let (_, rect) = window.state().rects.iter().find(|(key, _)| key == "timeline").unwrap().clone();
    let rail = rect.shrink2(vec2(6.0, 7.0));
    let at = |share: f32| egui::pos2(rail.left() + share * rail.width(), rail.center().y);
    let button = |pos, pressed| egui::Event::PointerButton {
        pos,
        button: egui::PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    };
    window.hover_at(at(share));
    window.run_steps(2);
    window.event(button(at(share), true));
    window.run_steps(2);
    window.hover_at(at(end));
    window.run_steps(2);
    window.event(button(at(end), false));
    window.run_steps(2);
}

#[test]
fn the_timeline_scrubs_replays_and_continues() {
    let mut window = open(MODES[0]);
    let height = window.state().picture.height();
    assert!(window.query_by_label("Timeline").is_some_and(|it| it.accesskit_node().role() == Role::Button));
    press(&mut window, Key::J);
    assert!(window.state().picture.height() < height - 40.0, "the strip stands below the picture");
    assert!(
        window
            .query_by_label("The timeline is off. To turn it on, set Timeline memory above 0 MB.")
            .is_some()
    );
    window.state_mut().timeline = recorded();
    window.run_steps(3);
    for label in ["Recorded: 1 min 0 s · 84 of 256 MB", "Live"] {
        assert!(window.query_all_by_label(label).count() > 0, "{label}");
    }
    drag(&mut window, 0.25, 0.5);
    let scrubs: Vec<f64> = std::mem::take(&mut window.state_mut().actions)
        .into_iter()
        .map(|action| match action {
            Action::ScrubTo(at) => at,
            action => panic!("{action:?}"),
        })
        .collect();
    assert!(scrubs.len() >= 2 && (scrubs[0] - 25.0).abs() < 0.5, "{scrubs:?}");
    assert!((scrubs[scrubs.len() - 1] - 40.0).abs() < 0.5, "{scrubs:?}");
    assert!(window.query_by_label("Continue from here").is_some_and(|it| it.accesskit_node().is_disabled()));

    window.state_mut().timeline = past(40.0);
    window.run_steps(3);
    for label in ["Recorded 30.0 s ago", "step 12\u{2009}345 · 30.0 s ago"] {
        assert!(window.query_by_label(label).is_some(), "{label}");
    }
    assert!(window.query_by_label("Mouse").is_none(), "the tools are off");
    choose(&mut window, "replay speed", "4×");
    click(&mut window, Role::Button, "Continue from here");
    click(&mut window, Role::Button, "Live");
    press(&mut window, Key::Space);
    press(&mut window, Key::End);
    press(&mut window, Key::ArrowLeft);
    window.key_press_modifiers(Modifiers::SHIFT, Key::ArrowRight);
    window.run();
    let expected = [
        Action::SetReplaySpeed(4.0),
        Action::ContinueHere,
        Action::GoLive,
        Action::ReplayOrPause,
        Action::GoLive,
        Action::ScrubBy(-1),
        Action::ScrubBy(10),
    ];
    assert_eq!(std::mem::take(&mut window.state_mut().actions), expected);
    assert!(window.state().config.running, "Space replays, and does not pause the simulation");

    press(&mut window, Key::L);
    assert_eq!(window.state().tools.tool, Tool::Look);
    window.state_mut().timeline.can_continue = Err("no way");
    window.run_steps(3);
    assert!(window.query_by_label("Continue from here").is_some_and(|it| it.accesskit_node().is_disabled()));
    press(&mut window, Key::J);
    assert_eq!(window.state().actions, [Action::GoLive], "hiding the timeline returns to the present");
    assert_eq!(window.state().picture.height(), height);
}

/// While the screen shows a past moment, its steps, edits and scene must not affect the plots and undo of the live
/// simulation.
#[test]
fn a_view_of_the_past_leaves_the_plots_and_undo_as_they_are() {
    let mut window = open(MODES[0]);
    let rows = |window: &mut Window| {
        let mut text = Vec::new();
        window.state_mut().ui().plots.history.write_csv(&mut text).unwrap();
        text.split(|byte| *byte == b'\n').count()
    };
    let launched = Stats {
        step: 900,
        edits: 1,
        undos: 1,
        last_edit: Some(EditKind::Launch),
        ..window.state().stats.clone()
    };
    window.state_mut().stats = launched.clone();
    window.run_steps(5);
    type_number(&mut window, "Gravity G", "2");
    let g = |window: &Window| window.state().config.mode.values().get("g").unwrap().to_string();
    let before = rows(&mut window);
    assert!(before > 2 && g(&window) == "2", "{before}");

    window.state_mut().timeline = past(40.0);
    window.state_mut().stats = Stats { step: 3, edits: 0, undos: 0, generation: 7, ..launched.clone() };
    window.run_steps(5);
    window.state_mut().timeline = recorded();
    window.state_mut().stats = launched;
    window.run_steps(5);
    assert!(rows(&mut window) >= before);
    window.state_mut().actions.clear();
    window.key_press_modifiers(Modifiers::COMMAND, Key::Z);
    window.run_steps(3);
    assert_eq!(g(&window), "1", "the last change is undone first");
    assert!(!window.state().actions.contains(&Action::Undo), "{:?}", window.state().actions);
}

#[test]
fn the_timeline_names_events_under_the_pointer() {
    let mut window = open(MODES[0]);
    window.state_mut().timeline = recorded();
    press(&mut window, Key::J);
    let (_, rect) = window.state().rects.iter().find(|(key, _)| key == "timeline").unwrap().clone();
    let rail = rect.shrink2(vec2(6.0, 7.0));
    let event = "step 100: Gravity G = 2";
    for (share, named) in [(0.25, true), (0.5, false)] {
        window.hover_at(egui::pos2(rail.left() + share * rail.width(), rail.center().y));
        window.run_steps(60);
        assert!(window.query_by_label_contains("s ago").is_some(), "at {share}");
        assert_eq!(window.query_by_label_contains(event).is_some(), named, "at {share}");
    }
}
