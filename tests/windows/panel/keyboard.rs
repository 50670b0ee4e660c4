//! Tests which part of the window receives a key: a field, the palette, a dialog or the shortcuts. Each key must act
//! once.

use super::*;
use gravitile::ui::split_events;

/// Sends all keys between two frames, as a fast typist does.
pub(super) fn at_once(window: &mut Window, keys: &[(Modifiers, Key, &str)]) {
    let mut events = Vec::new();
    for (modifiers, key, text) in keys {
        let pressed = |pressed| egui::Event::Key {
            key: *key,
            physical_key: None,
            pressed,
            repeat: false,
            modifiers: *modifiers,
        };
        events.push(pressed(true));
        events.extend((!text.is_empty()).then(|| egui::Event::Text((*text).to_owned())));
        events.push(pressed(false));
    }
    // Splits the events as the real window does.
    for group in split_events(events) {
        window.input_mut().events.extend(group);
        window.step();
    }
}

fn has_palette(window: &Window) -> bool {
    window.state().rects.iter().any(|(name, _)| name == "search")
}

fn open_palette(window: &mut Window) {
    window.key_press_modifiers(Modifiers::COMMAND, Key::P);
    window.run();
    assert!(has_palette(window));
}

#[test]
fn escape_cancels_a_typed_number_and_keeps_the_body_selected() {
    let mut window = hand::holding();
    for label in ["Mass", "Velocity y"] {
        click(&mut window, Role::SpinButton, label);
        window.get_by_role_and_label(Role::SpinButton, label).type_text("7");
        window.run();
        press(&mut window, Key::Escape);
        assert_eq!((&window.state().actions[..], window.state().edits.len()), (&[][..], 0), "{label}");
    }
    press(&mut window, Key::Escape);
    assert_eq!(window.state().actions, [Action::Deselect]);
}

#[test]
fn escape_closes_the_palette_first_and_one_thing_per_press() {
    let mut window = open(MODES[0]);
    press(&mut window, Key::L);
    window.state_mut().ui().alerts.error("Behind it", "An error.", None);
    open_palette(&mut window);
    let is_told = |window: &Window| window.query_by_label("An error.").is_some();
    let tool = |window: &Window| window.state().tools.tool;
    let escape = [(Modifiers::NONE, Key::Escape, "")];
    // Escape closes the palette, then the error, then deselects the tool. Each key press may come in one frame with
    // others.
    for (palette, error, held) in
        [(false, true, Tool::Launch), (false, false, Tool::Launch), (false, false, Tool::Look)]
    {
        at_once(&mut window, &escape);
        assert_eq!(tool(&window), held);
        // In the next frame, the part that Escape closed is no longer shown.
        window.step();
        assert_eq!((has_palette(&window), is_told(&window)), (palette, error));
    }
    // The palette opens and closes in the same frame.
    press(&mut window, Key::L);
    at_once(&mut window, &[(Modifiers::COMMAND, Key::P, ""), escape[0], (Modifiers::NONE, Key::R, "r")]);
    window.step();
    assert_eq!((has_palette(&window), tool(&window)), (false, Tool::Launch));
    assert_eq!(window.state().actions, [Action::Restart], "then letters are shortcuts again");
}

#[test]
fn escape_leaves_a_field_found_by_the_palette_and_keeps_the_selection() {
    let mut window = hand::holding();
    habits::find(&mut window, "parameter softening");
    at_once(&mut window, &[(Modifiers::NONE, Key::Escape, ""), (Modifiers::NONE, Key::Space, " ")]);
    window.step();
    assert_eq!(window.state().actions, []);
    assert!(!window.state().config.running, "Space is heard again");
}

#[test]
fn keys_pressed_before_the_palette_key_do_not_act_on_the_palette() {
    let plain = |key, text| (Modifiers::NONE, key, text);
    let (asks, escape, enter) =
        ((Modifiers::COMMAND, Key::P, ""), plain(Key::Escape, ""), plain(Key::Enter, ""));
    for before in [&[escape][..], &[enter], &[enter, escape]] {
        let mut window = open(MODES[0]);
        at_once(&mut window, &[before, &[asks, plain(Key::R, "r")]].concat());
        window.run();
        assert!(has_palette(&window), "{before:?}");
        assert_eq!(window.get_by_role(Role::TextInput).value().as_deref(), Some("r"));
        let state = window.state();
        assert!(state.actions.is_empty() && state.config.running, "its first line is not carried out");
        // The palette is open: Enter runs its entry, and then Ctrl+P opens the palette again.
        let letters = plain(Key::R, "estart scene");
        at_once(&mut window, &[&[letters], before, &[asks, plain(Key::M, "m")]].concat());
        window.run();
        assert_eq!(window.get_by_role(Role::TextInput).value().as_deref(), Some("m"), "{before:?}");
        let chosen: &[_] = if before.contains(&enter) { &[Action::Restart] } else { &[] };
        assert_eq!(window.state().actions, chosen, "{before:?}");
    }
}

#[test]
fn the_palette_closes_when_a_file_dialog_opens() {
    for (modifiers, key) in [
        (Modifiers::COMMAND, Key::S),
        (Modifiers::COMMAND, Key::O),
        (Modifiers::COMMAND | Modifiers::SHIFT, Key::S),
    ] {
        let mut window = open(MODES[0]);
        open_palette(&mut window);
        window.key_press_modifiers(modifiers, key);
        // The dialog is drawn in every frame while it reads a folder.
        window.run_steps(4);
        assert!(window.state().rects.iter().any(|(name, _)| name == "file dialog"), "{key:?}");
        assert!(!has_palette(&window), "{key:?}");
        window.key_press(Key::Enter);
        window.run_steps(4);
        assert!(window.state().config.running, "the palette's first line is not carried out");
        // The palette does not open over the dialog either.
        let mut window = open(MODES[0]);
        at_once(&mut window, &[(modifiers, key, ""), (Modifiers::COMMAND, Key::P, "")]);
        window.run_steps(4);
        assert!(!has_palette(&window), "{key:?}");
    }
}

#[test]
fn a_press_beside_the_palette_closes_it() {
    let mut window = open(MODES[0]);
    open_palette(&mut window);
    type_number(&mut window, "Seed", "42");
    assert_eq!((has_palette(&window), window.state().config.seed), (false, 42));
    open_palette(&mut window);
    window.get_by_role(Role::TextInput).click();
    window.run();
    assert!(has_palette(&window), "a press on it does not");
}

#[test]
fn letters_typed_while_a_dialog_opens_are_not_shortcuts() {
    for (modifiers, key) in [
        (Modifiers::COMMAND, Key::S),
        (Modifiers::COMMAND, Key::O),
        (Modifiers::COMMAND | Modifiers::SHIFT, Key::S),
    ] {
        let mut window = open(MODES[0]);
        let none = Modifiers::NONE;
        at_once(&mut window, &[(modifiers, key, ""), (none, Key::R, "r"), (none, Key::Space, " ")]);
        window.run_steps(4);
        let state = window.state();
        assert!(state.actions.is_empty() && state.config.running, "{key:?}: {:?}", state.actions);
    }
}

/// Presses a key with Shift and releases it after Shift, so that the release event names another key than the press
/// event.
fn shifted(window: &mut Window, (with, without): (Key, Key), modifiers: Modifiers) {
    for (key, pressed) in [(with, true), (without, false)] {
        let (physical_key, repeat) = (Some(without), false);
        let modifiers = if pressed { modifiers } else { Modifiers::NONE };
        window.event(egui::Event::Key { key, physical_key, pressed, repeat, modifiers });
        window.run();
    }
}

#[test]
fn a_shortcut_typed_with_shift_works_repeatedly() {
    use gravitile::base::look::Size;
    let mut window = open(MODES[0]);
    let larger = Modifiers::COMMAND | Modifiers::SHIFT;
    let sizes = [0, 1].map(|_| {
        shifted(&mut window, (Key::Plus, Key::Equals), larger);
        window.state().look.scale
    });
    assert!(sizes[0] == Size::One.next(true) && sizes[1] == sizes[0].next(true), "{sizes:?}");
    for is_open in [true, false, true] {
        shifted(&mut window, (Key::Questionmark, Key::Slash), Modifiers::SHIFT);
        assert_eq!(window.query_by_label("Keys and mouse").is_some(), is_open);
    }
}

#[test]
fn a_held_key_acts_once_until_released_or_focus_is_lost() {
    let mut window = open(MODES[0]);
    let down = |window: &mut Window| {
        let (key, modifiers) = (Key::Space, Modifiers::NONE);
        let event =
            egui::Event::Key { key, physical_key: Some(key), pressed: true, repeat: false, modifiers };
        window.event(event);
        window.run();
        window.state().config.running
    };
    assert!(!down(&mut window) && !down(&mut window));
    window.event(egui::Event::WindowFocused(false));
    window.run();
    window.event(egui::Event::WindowFocused(true));
    window.run();
    assert!(down(&mut window));
}
