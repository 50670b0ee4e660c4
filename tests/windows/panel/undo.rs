//! Tests undo and redo of everything that can be changed in the panel.

use super::*;
use gravitile::base::edit::EditKind;

fn undo(window: &mut Window) {
    window.key_press_modifiers(Modifiers::COMMAND, Key::Z);
    window.run();
}

fn redo(window: &mut Window) {
    window.key_press_modifiers(Modifiers::COMMAND | Modifiers::SHIFT, Key::Z);
    window.run();
}

/// Returns the settings and the appearance settings, to compare them before and after undo.
fn state(window: &Window) -> (Config, Look) {
    (window.state().config.clone(), window.state().look.clone())
}

/// Waits, so that two successive clicks do not count as a double click.
fn wait(window: &mut Window) {
    window.run_steps(60);
}

/// The name of a change, and a function that makes the change.
type Change<'a> = (&'a str, &'a dyn Fn(&mut Window));

/// Makes changes one after another, then undoes and redoes all of them, and compares the settings at each step.
fn there_and_back(window: &mut Window, changes: &[Change]) {
    let mut states = vec![state(window)];
    for (name, change) in changes {
        wait(window);
        change(window);
        states.push(state(window));
        assert_ne!(states[states.len() - 1], states[states.len() - 2], "{name} changes something");
    }
    for (nth, (name, _)) in changes.iter().enumerate().rev() {
        undo(window);
        assert_eq!(state(window), states[nth], "{name} is undone");
    }
    for (nth, (name, _)) in changes.iter().enumerate() {
        redo(window);
        assert_eq!(state(window), states[nth + 1], "{name} is redone");
    }
    assert_eq!(window.state().actions, [], "the simulation has nothing to undo");
}

#[test]
fn everything_in_the_panel_is_undone_and_redone() {
    let mut window = open(MODES[0]);
    let scene = MODES[0].scene("plummer").unwrap();
    there_and_back(
        &mut window,
        &[
            ("a parameter", &|window| type_number(window, "Gravity G", "2")),
            ("a switch", &|window| click(window, Role::CheckBox, "Compensated")),
            ("an option", &|window| choose(window, "integrator", "yoshida")),
            ("all parameters", &|window| click(window, Role::Button, "↺ Reset all")),
            ("the number of bodies", &|window| type_number(window, "Bodies", "2000")),
            ("the seed", &|window| type_number(window, "Seed", "42")),
            ("the variant", &|window| click(window, Role::RadioButton, "Variant: vector")),
            ("the work-group", &|window| choose(window, "work-group", "8")),
            ("a knob", &|window| choose(window, "lanes", "8")),
            ("the steps per frame", &|window| type_number(window, "Steps/frame", "8")),
            ("free run", &|window| click(window, Role::CheckBox, "Free run")),
            ("the palette", &|window| habits::find(window, "palette magma")),
            ("the exposure", &|window| type_number(window, "Exposure", "2")),
            ("the grid", &|window| press(window, Key::G)),
            ("the text size", &|window| {
                window.key_press_modifiers(Modifiers::COMMAND, Key::Plus);
                window.run();
            }),
            ("the colour", &|window| habits::find(window, "colour origin")),
        ],
    );
    let mut window = open(MODES[0]);
    let before = state(&window);
    habits::find(&mut window, &format!("scene {}", scene.title));
    type_number(&mut window, "Gravity G", "2");
    let after = state(&window);
    undo(&mut window);
    undo(&mut window);
    assert_eq!(window.state().config.start, before.0.start);
    assert_eq!(window.state().config.mode, before.0.mode);
    let told = "Undid change: Scene; the scene restarts";
    assert!(window.query_by_label(told).is_some());
    redo(&mut window);
    redo(&mut window);
    assert_eq!(state(&window), after);
    assert!(window.query_by_label("Redid change: Gravity G").is_some());
}

#[test]
fn a_drag_of_a_slider_is_one_undo_step() {
    let mut window = open(MODES[0]);
    let before = window.state().value("g");
    let (_, rect) = window.state().rects.iter().find(|(name, _)| name == "g").unwrap().clone();
    let at = |share: f32| rect.left_center() + vec2(rect.width() * share, 0.0);
    let drag = |window: &mut Window, from: f32, to: f32| {
        window.drag_at(at(from));
        for nth in 1..=10 {
            window.hover_at(at(from + (to - from) * nth as f32 / 10.0));
            window.run_steps(2);
        }
        window.drop_at(at(to));
        window.run();
        window.state().value("g")
    };
    let first = drag(&mut window, 0.2, 0.5);
    wait(&mut window);
    let second = drag(&mut window, 0.5, 0.9);
    assert!(first != before && second != first);
    for expected in [first, before, before] {
        undo(&mut window);
        assert_eq!(window.state().value("g"), expected);
    }
    for expected in [first, second] {
        redo(&mut window);
        assert_eq!(window.state().value("g"), expected);
    }
    // A new change discards the changes that could be redone.
    undo(&mut window);
    type_number(&mut window, "Gravity G", "3");
    redo(&mut window);
    assert_eq!(window.state().value("g"), ParamValue::Float(3.0));
    assert!(window.query_by_label("There is nothing to redo.").is_some());
}

#[test]
fn a_mode_change_is_undone_and_redone() {
    let mut window = open(MODES[0]);
    type_number(&mut window, "Bodies", "777");
    let before = state(&window);
    press(&mut window, Key::M);
    let after = state(&window);
    undo(&mut window);
    assert_eq!(state(&window), before);
    assert!(window.query_by_label("Undid change: Mode").is_some(), "the run continues");
    redo(&mut window);
    assert_eq!(state(&window), after);
}

#[test]
fn edits_and_settings_are_undone_in_their_order_by_keys_buttons_and_palette() {
    let mut window = open(MODES[0]);
    let is_disabled = |window: &Window, label: &str| {
        window.get_by_role_and_label(Role::Button, label).accesskit_node().is_disabled()
    };
    let tell = |window: &mut Window, edits: u64, undos: usize| {
        let stats = &mut window.state_mut().stats;
        (stats.edits, stats.undos) = (edits, undos);
        stats.last_edit = (undos > 0).then_some(EditKind::Launch);
        window.run();
    };
    assert!(is_disabled(&window, "Undo") && is_disabled(&window, "Redo"));
    let default = window.state().value("g");
    tell(&mut window, 1, 1);
    type_number(&mut window, "Gravity G", "2");
    click(&mut window, Role::Button, "Undo");
    assert_eq!((window.state().value("g"), window.state().actions.len()), (default, 0));
    click(&mut window, Role::Button, "Undo");
    tell(&mut window, 1, 0);
    assert_eq!(window.state().actions, [Action::Undo]);
    assert!(window.query_by_label("Undid the launch; nothing more to undo").is_some());
    assert!(is_disabled(&window, "Undo") && !is_disabled(&window, "Redo"));
    habits::find(&mut window, "redo");
    tell(&mut window, 1, 1);
    assert_eq!(window.state().actions, [Action::Undo, Action::Redo]);
    window.key_press_modifiers(Modifiers::COMMAND, Key::Y);
    window.run();
    assert_eq!(window.state().value("g"), ParamValue::Float(2.0));
    // Another scene has no edits to undo.
    window.state_mut().stats.generation += 1;
    tell(&mut window, 1, 0);
    habits::find(&mut window, "undo");
    assert_eq!(window.state().value("g"), default);
    assert!(is_disabled(&window, "Undo"));
}

#[test]
fn a_text_field_undoes_its_own_text() {
    let mut window = open(MODES[0]);
    type_number(&mut window, "Seed", "42");
    click(&mut window, Role::SpinButton, "Seed");
    window.get_by_role_and_label(Role::SpinButton, "Seed").type_text("7");
    window.run();
    undo(&mut window);
    redo(&mut window);
    press(&mut window, Key::Escape);
    assert_eq!(window.state().config.seed, 42);
}
