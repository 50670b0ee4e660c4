//! Tests that every parameter of every mode has a working control.

use super::*;

#[test]
fn every_number_can_be_typed_clamped_slid_and_reset() {
    for info in MODES {
        let mut window = open(info);
        for (info, default, low, high) in described(&window).floats {
            let (key, label) = (info.key, info.label);
            for (typed, expected) in [("-1e9", low), ("1e9", high)] {
                type_number(&mut window, label, typed);
                assert_eq!(window.state().value(key), ParamValue::Float(expected), "{key} typed as {typed}");
            }
            window.get_by_role_and_label(Role::Slider, label).focus();
            press(&mut window, Key::ArrowLeft);
            press(&mut window, Key::Escape);
            let slid = window.state().config.mode.values().float(key).unwrap();
            assert!(low < slid && slid < high, "{key} slid to {slid}");

            click(&mut window, Role::Button, &format!("Reset {label}"));
            assert_eq!(window.state().value(key), ParamValue::Float(default), "{key} reset");
            assert!(window.query_by_label(&format!("Reset {label}")).is_none(), "{key} has nothing to reset");
        }
    }
}

#[test]
fn every_switch_and_every_option_can_be_chosen_and_reset() {
    for info in MODES {
        let mut window = open(info);
        let Described { floats: _, flags, options } = described(&window);
        for (info, default) in flags {
            click(&mut window, Role::CheckBox, info.label);
            assert_eq!(window.state().value(info.key), ParamValue::Flag(!default), "{}", info.key);
            click(&mut window, Role::Button, &format!("Reset {}", info.label));
            assert_eq!(window.state().value(info.key), ParamValue::Flag(default), "{}", info.key);
        }
        for (info, default, options) in options {
            for option in options.iter().rev().chain(&options) {
                choose(&mut window, info.key, option.name);
                assert_eq!(window.state().value(info.key), ParamValue::Option(option.name));
            }
            if default != options.len() - 1 {
                click(&mut window, Role::Button, &format!("Reset {}", info.label));
            }
            assert_eq!(window.state().value(info.key), ParamValue::Option(options[default].name));
        }
    }
}

#[test]
fn drawing_the_panel_changes_no_settings() {
    for info in MODES {
        for scene in info.scenes.iter() {
            let mut window = open(info);
            window.state_mut().config.select_scene(scene);
            let before = window.state().config.clone();
            window.run_steps(3);
            assert_eq!(window.state().config, before, "{}", scene.name);
        }
    }
}

#[test]
fn reset_restores_the_parameters_of_the_scene() {
    for info in MODES {
        for scene in info.scenes.iter() {
            let mut window = open(info);
            window.state_mut().config.select_scene(scene);
            window.run();
            let suited = window.state().config.mode.values();
            let (first, ..) = described(&window).floats[0];
            type_number(&mut window, first.label, "1e9");
            assert_ne!(window.state().config.mode.values(), suited, "{} changed", scene.name);
            click(&mut window, Role::Button, "↺ Reset all");
            assert_eq!(window.state().config.mode.values(), suited, "{} reset", scene.name);
        }
    }
}

#[test]
fn double_click_on_a_label_resets() {
    let mut window = open_folded(MODES[0]);
    let (info, default, ..) = described(&window).floats.remove(0);
    type_number(&mut window, info.label, "1e9");
    for _ in 0..2 {
        window.get_by_role_and_label(Role::Label, info.label).click();
    }
    window.run();
    assert_eq!(window.state().value(info.key), ParamValue::Float(default));
}

#[test]
fn entering_and_leaving_a_number_field_changes_nothing() {
    for info in MODES {
        let mut window = open(info);
        for (info, _, low, high) in described(&window).floats {
            let number = low + (high - low) * 0.123_456_7;
            gravitile::base::params::set(
                window.state_mut().config.mode.as_mut(),
                info.key,
                &number.to_string(),
            )
            .unwrap();
            window.run();
            for leaves in [Key::Enter, Key::Tab] {
                click(&mut window, Role::SpinButton, info.label);
                press(&mut window, leaves);
                assert_eq!(
                    window.state().value(info.key),
                    ParamValue::Float(number),
                    "{} left with {leaves:?}",
                    info.key
                );
            }
        }
    }
}

#[test]
fn typed_numbers_keep_all_their_digits() {
    for info in MODES {
        let mut window = open(info);
        for (info, _, low, high) in described(&window).floats {
            let number = low + (high - low) * 0.4;
            type_number(&mut window, info.label, &number.to_string());
            let before = window.state().config.mode.values().float(info.key).unwrap();
            // The difference is larger than the spacing of f32 numbers but too small for the field to display.
            let typed = before * (1.0 + 1e-6);
            if typed <= high && before == number {
                type_number(&mut window, info.label, &typed.to_string());
                assert_eq!(window.state().value(info.key), ParamValue::Float(typed), "{}", info.key);
            }
        }
    }
}

#[test]
fn the_tab_key_stops_only_at_editable_controls() {
    let mut window = open(MODES[0]);
    let labels: Vec<&str> = described(&window).floats.iter().map(|(info, ..)| info.label).collect();
    window.get_by_role_and_label(Role::Slider, labels[0]).focus();
    window.run();
    press(&mut window, Key::Tab);
    assert!(window.get_by_role_and_label(Role::SpinButton, labels[0]).accesskit_node().is_focused());
    press(&mut window, Key::Tab);
    let focused = window.query_all_by(|node| node.is_focused()).map(|node| node.accesskit_node().role());
    let roles: Vec<_> = focused.collect();
    assert!(!roles.is_empty() && !roles.contains(&Role::Label), "{roles:?}");
}

#[test]
fn invalid_typed_numbers_are_reported() {
    for (label, text, ends) in [
        ("Gravity G", "abc", "from 0 to 10"),
        ("Gravity G", "1/3", "from 0 to 10"),
        ("Gravity G", "1000", "from 0 to 10"),
        ("Bodies", "many", "to 50000"),
    ] {
        let mut window = open(MODES[0]);
        type_number(&mut window, label, text);
        let told = format!(", not “{text}”");
        let notes: Vec<_> = window.query_all_by_label_contains(&told).map(|it| it.value()).collect();
        assert_eq!(notes.len(), 1, "{label} {text}");
        assert!(window.query_by_label_contains(ends).is_some(), "{label} {text}");
    }
    let mut window = open(MODES[0]);
    for (label, text) in [("Gravity G", "10"), ("Bodies", "2 000"), ("step", "5")] {
        type_number(&mut window, label, text);
        click(&mut window, Role::SpinButton, label);
        press(&mut window, Key::Enter);
    }
    assert!(window.query_by_label_contains("does not fit").is_none());
}
