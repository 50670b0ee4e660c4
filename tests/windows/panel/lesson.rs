//! Tests lessons: their texts, the settings that each step makes, and the control that each step outlines.

use gravitile::compute::DeviceKind;
use gravitile::session::WatchList;
use gravitile::ui::Lesson;

use super::*;

/// Clicks a button, and waits until the panel has scrolled to the control that the lesson's step outlines.
fn go(window: &mut Window, label: &str) {
    window.get_by_role_and_label(Role::Button, label).click();
    window.run_steps(40);
}

/// Returns the actions that the panel has requested since the last call.
fn actions(window: &mut Window) -> Vec<Action> {
    std::mem::take(&mut window.state_mut().actions)
}

#[test]
fn the_built_in_lesson_can_be_completed() {
    for kind in [DeviceKind::Gpu, DeviceKind::Cpu] {
        let mut window = open(MODES[0]);
        window.state_mut().device.kind = kind;
        press(&mut window, Key::K);
        window.state_mut().actions.clear();
        go(&mut window, "Lesson");
        let lesson = Lesson::built_in()[0].clone();
        for (nth, step) in lesson.steps.iter().enumerate() {
            let settings = step.settings(kind).map(|settings| Action::TakeSettings(settings.to_owned()));
            assert_eq!(actions(&mut window), Vec::from_iter(settings), "{}", step.title);
            assert!(window.query_by_label(&step.title).is_some());
            assert!(window.query_by_label(&format!("Step {} of 6", nth + 1)).is_some());
            for paragraph in step.paragraphs(kind) {
                let text = paragraph.replace(['`', '*'], "");
                assert!(window.query_by_label(&text).is_some(), "{text}");
            }
            let shows_roofline = step.title == "How far can it go?";
            let watched =
                WatchList { kernels: !shows_roofline, peaks: shows_roofline, ..WatchList::default() };
            assert_eq!(window.state_mut().ui().lens.watched(), watched, "{}", step.title);
            if let Some(point) = &step.point {
                assert!(window.state().rects.iter().any(|(name, _)| name == point), "no control {point}");
            }
            let (question, answer) = step.question(kind).unwrap();
            let [question, answer] = [question, answer].map(|text| text.replace('`', ""));
            assert!(window.query_by_label(&question).is_some(), "{question}");
            assert!(window.query_by_label(&answer).is_none(), "the answer comes on demand");
            go(&mut window, "Show the answer");
            assert!(window.query_by_label(&answer).is_some(), "{answer}");
            go(&mut window, if nth == 5 { "Finish" } else { "Next" });
        }
        assert!(window.query_by_label("Step 6 of 6").is_none());
        assert_eq!(actions(&mut window), []);
    }
}

#[test]
fn a_lesson_can_go_back_be_left_and_compare_measurements() {
    let mut window = open(MODES[0]);
    let lesson = Lesson::built_in()[0].clone();
    window.state_mut().ui().start_lesson(lesson.clone());
    window.state_mut().stats.device_ms_per_step = 2.0;
    window.run_steps(3);
    assert!(
        window.query_by_label_contains("Measured on this device").is_none(),
        "one speed is no comparison"
    );
    window.state_mut().stats.variant = MODES[0].variants[2].name;
    window.state_mut().stats.device_ms_per_step = 0.5;
    window.run_steps(3);
    assert!(window.query_by_label_contains("Measured on this device").is_some());
    for speed in ["500 ", "2.00 k"] {
        assert!(window.query_by_label(speed).is_some(), "{speed}");
    }
    // With another number of bodies, the measured speeds cannot be compared.
    window.state_mut().stats.bodies *= 2;
    window.run_steps(3);
    assert!(window.query_by_label("500 ").is_none());

    go(&mut window, "Next");
    actions(&mut window);
    go(&mut window, "Back");
    let settings = lesson.steps[0].settings(DeviceKind::Gpu).unwrap();
    assert_eq!(actions(&mut window), [Action::TakeSettings(settings.to_owned())]);
    go(&mut window, "Leave");
    assert!(window.query_by_label("Step 1 of 6").is_none());
}
