//! Tests the choice of mode, scene, number of bodies, variant, work-group and devices.

use super::*;

#[test]
fn every_mode_scene_and_variant_can_be_chosen() {
    for info in MODES {
        let mut window = open(MODES[0]);
        window.state_mut().config.seed = 7;
        click(&mut window, Role::RadioButton, &format!("Mode: {}", info.name));
        assert!(std::ptr::eq(window.state().config.mode.info(), *info));
        assert_eq!(window.state().config.seed, 7, "the seed is not about the mode");

        for scene in info.scenes.iter().rev() {
            press(&mut window, Key::O);
            click(&mut window, Role::Button, &scene.title);
            assert_eq!(window.state().config.start, *scene);
            assert!(window.query_by_label("Scenes").is_none(), "the gallery closes");
            assert!(
                window.query_by_label(&scene.summary).is_some(),
                "{} says what is to be seen",
                scene.name
            );
        }
        for variant in info.variants {
            click(&mut window, Role::RadioButton, &format!("Variant: {}", variant.name));
            assert_eq!(window.state().config.variant, Some(variant));
            assert!(window.query_by_label(variant.summary).is_some(), "{} says its idea", variant.name);
        }
        click(&mut window, Role::RadioButton, "Variant: auto");
        assert_eq!(window.state().config.variant, None);
    }
}

#[test]
fn exactly_the_work_groups_on_offer_can_be_chosen() {
    let mut window = open(MODES[0]);
    for size in [1, 2, 4, 8, 16, 32, 64, 128, 256] {
        choose(&mut window, "work-group", &size.to_string());
        assert_eq!(window.state().config.work_group, Some(size));
    }
    click_control(&mut window, "work-group");
    let listed = window.state().rects.iter().filter(|(name, _)| name.starts_with("work-group ")).count();
    assert_eq!(listed, 9 + 1, "the sizes and auto");
    click_control(&mut window, "work-group auto");
    assert_eq!(window.state().config.work_group, None);
}

#[test]
fn the_shape_of_a_work_group_can_be_chosen_where_it_covers_a_grid() {
    let mut window = open(MODES[0]);
    assert!(window.query_by_label_contains("Group shape").is_none());
    window = open(&modes::fluid::INFO);
    choose(&mut window, "work-group", "64");
    for (shape, width) in [("1×64", 1), ("16×4", 16), ("64×1", 64)] {
        click(&mut window, Role::RadioButton, &format!("Group shape: {shape}"));
        assert_eq!(window.state().config.knobs.get("width"), Some(&width));
    }
    assert!(window.query_by_label("Group shape: 128×0").is_none());
    click(&mut window, Role::RadioButton, "Group shape: auto");
    assert!(window.state().config.knobs.is_empty());
}

#[test]
fn number_fields_with_auto_can_be_typed_and_reset() {
    let mut window = open(MODES[0]);
    let bodies = |window: &Window| window.state().config.bodies;
    assert_eq!(bodies(&window), None);
    assert_eq!(window.get_by_role_and_label(Role::SpinButton, "Bodies").value().unwrap(), "1\u{2009}024");
    for (typed, expected) in [("2 000", 2000), ("0", 1), ("9e9", MAX_BODIES)] {
        type_number(&mut window, "Bodies", typed);
        assert_eq!(bodies(&window), Some(expected), "{typed}");
    }
    click(&mut window, Role::RadioButton, "bodies: auto");
    assert_eq!(bodies(&window), None);
    click(&mut window, Role::RadioButton, "bodies: auto");
    assert_eq!(bodies(&window), Some(1024), "what auto came to is kept");

    type_number(&mut window, "Steps/frame", "8");
    assert_eq!(window.state().config.steps_per_frame, Some(8));
    click(&mut window, Role::RadioButton, "steps per frame: auto");
    assert_eq!(window.state().config.steps_per_frame, None);
}

#[test]
fn dragging_the_number_of_bodies_takes_effect_on_release() {
    let mut window = open_folded(MODES[0]);
    let at = window.get_by_role_and_label(Role::SpinButton, "Bodies").rect().center();
    window.drag_at(at);
    window.hover_at(at + vec2(30.0, 0.0));
    window.run();
    window.hover_at(at + vec2(60.0, 0.0));
    window.run();
    assert_eq!(window.state().config.bodies, None, "not while it goes on");
    let shown = window.get_by_role_and_label(Role::SpinButton, "Bodies").value().unwrap();
    assert_ne!(shown, "1\u{2009}024", "but it is shown");
    window.drop_at(at + vec2(60.0, 0.0));
    window.run();
    assert!(window.state().config.bodies.is_some_and(|n| n > 1100));
}

#[test]
fn hiding_the_panel_discards_an_unfinished_drag() {
    for label in ["Bodies", "step"] {
        let mut window = open_folded(MODES[0]);
        let value = |window: &Window| window.get_by_role_and_label(Role::SpinButton, label).value().unwrap();
        let (before, config) = (value(&window), window.state().config.clone());
        let at = window.get_by_role_and_label(Role::SpinButton, label).rect().center();
        window.drag_at(at);
        for right in [30.0, 60.0] {
            window.hover_at(at + vec2(right, 0.0));
            window.run();
        }
        assert_ne!(value(&window), before, "{label}");
        press(&mut window, Key::H);
        window.drop_at(at + vec2(60.0, 0.0));
        window.run();
        press(&mut window, Key::H);
        assert_eq!(value(&window), before, "{label}");
        assert_eq!((&window.state().actions[..], &window.state().config), (&[][..], &config), "{label}");
    }
}

#[test]
fn a_double_click_on_a_label_resets_to_auto() {
    let mut window = open(MODES[0]);
    for (name, key, option) in [("Variant", "variant", "naive"), ("Work-group", "work-group", "8")] {
        choose(&mut window, key, option);
        assert_ne!(window.state().config, Config::new(MODES[0]));
        window.run_steps(60);
        for _ in 0..2 {
            // The overlay has a row of the same name, so the first match is clicked.
            window.get_all_by_role_and_label(Role::Label, name).next().unwrap().click();
        }
        window.run();
        assert_eq!(window.state().config, Config::new(MODES[0]), "{name}");
    }
}

#[test]
fn a_scene_may_fix_the_number_of_bodies() {
    let mut window = open(MODES[0]);
    let fixed = MODES[0].scene("figure-eight").unwrap().clone();
    let loaded =
        Scene::of_bodies("a.csv", Bodies { positions: vec![[0.0; 4]; 7], velocities: vec![[0.0; 4]; 7] });
    for (start, number) in [(fixed, "3"), (loaded, "7")] {
        window.state_mut().config.start = start;
        window.run();
        let field = window.get_by_role_and_label(Role::SpinButton, "Bodies");
        assert!(field.accesskit_node().is_disabled());
        assert_eq!(field.value().unwrap(), number);
    }
    let seed = window.get_by_role_and_label(Role::SpinButton, "Seed");
    assert!(seed.accesskit_node().is_disabled(), "a file has no seed");
}

#[test]
fn seeds_can_be_typed_or_generated() {
    let mut window = open(MODES[0]);
    type_number(&mut window, "Seed", "42");
    assert_eq!(window.state().config.seed, 42);
    // A new random seed may equal the old one with a chance of one in a million; three new seeds practically never do.
    let drawn = (0..3).map(|_| {
        click(&mut window, Role::Button, "🎲 New seed");
        window.state().config.seed
    });
    assert!(drawn.collect::<Vec<_>>().iter().any(|seed| *seed != 42));
}

#[test]
fn free_run_is_switched_by_its_box() {
    let mut window = open(MODES[0]);
    for on in [true, false] {
        click(&mut window, Role::CheckBox, "Free run");
        assert_eq!(window.state().config.free_run, on);
    }
}

#[test]
fn each_mode_keeps_its_own_settings() {
    let mut window = open(MODES[0]);
    window.state_mut().config.bodies = Some(777);
    press(&mut window, Key::M);
    assert_eq!(window.state().config, Config { seed: window.state().config.seed, ..Config::new(MODES[1]) });
    window.state_mut().config.bodies = Some(55);
    window.state_mut().config.running = false;
    for _ in 1..MODES.len() {
        press(&mut window, Key::M);
    }
    let config = &window.state().config;
    assert_eq!((config.mode.info(), config.bodies, config.running), (MODES[0], Some(777), false));
    press(&mut window, Key::M);
    assert_eq!(window.state().config.bodies, Some(55));
}

#[test]
fn tuning_results_are_available_in_every_mode() {
    let mut window = open(MODES[0]);
    let device = window.state().device.clone();
    for info in MODES {
        let recipe = Recipe::guess(&info.variants[0], &device, 1024);
        window.state_mut().config.tuned.remember(
            &device,
            info,
            (1024, (info.default)().accuracy()),
            (&recipe, 1e9),
        );
        let known = window.state().config.tuned.clone();
        press(&mut window, Key::M);
        assert_eq!(window.state().config.tuned, known);
    }
    press(&mut window, Key::M);
    let tuned = &window.state().config.tuned;
    for info in MODES {
        let best = tuned.recipe(&device, (info.default)().as_ref(), None, 1024);
        assert_eq!(best.map(|recipe| recipe.variant), Some(&info.variants[0]));
    }
}

#[test]
fn devices_are_selected_while_running_and_one_stays_selected() {
    let mut window = open(MODES[0]);
    assert!(window.query_by_label_contains("0 · a device").is_none(), "there is no choice");
    let one = window.state().device.clone();
    window.state_mut().config.devices = vec![0];
    window.state_mut().pool = (0..3).map(|index| DeviceInfo { index, ..one.clone() }).collect();
    window.run();
    click(&mut window, Role::CheckBox, "2 · a device");
    click(&mut window, Role::CheckBox, "1 · a device");
    assert_eq!(window.state().config.devices, [0, 1, 2]);
    click(&mut window, Role::CheckBox, "0 · a device");
    click(&mut window, Role::CheckBox, "2 · a device");
    assert_eq!(window.state().config.devices, [1]);
    // The last selected device cannot be deselected.
    click(&mut window, Role::CheckBox, "1 · a device");
    assert_eq!(window.state().config.devices, [1]);
    // The selected devices stay the same when the mode changes.
    click(&mut window, Role::RadioButton, "Mode: fluid");
    assert_eq!(window.state().config.devices, [1]);
}

#[test]
fn the_overlay_shows_how_devices_share_the_work() {
    let mut window = open(MODES[0]);
    let member = |index, share| Member { index, device: "a GPU".into(), share, step_ms: 6.7 * share };
    window.state_mut().stats.sharing = Some(Sharing {
        members: vec![member(0, 0.75), member(1, 0.25), member(2, 0.0)],
        exchange_ms: 0.9,
        efficiency: 0.88,
        is_settled: true,
    });
    window.run();
    for text in ["0 a GPU", "1 a GPU", "2 a GPU", "Exchange", "Efficiency", "88 %"] {
        assert!(window.query_by_label(text).is_some(), "{text}");
    }
    assert!(window.query_by_label_contains("75.0 %").is_some());
}

#[test]
fn choosing_a_tree_method_selects_the_tree_variant() {
    let mut window = open(modes::find("gravity").unwrap());
    window.state_mut().config.bodies = Some(32_768);
    window.run();
    let is_selected = |window: &Window, label: &str| {
        let node = window.get_by_role_and_label(Role::RadioButton, label);
        node.accesskit_node().is_selected() == Some(true)
            || node.accesskit_node().toggled() == Some(egui::accesskit::Toggled::True)
    };
    for (label, key, value) in [
        ("Multipoles: monopole", "order", 0),
        ("Curve: morton", "curve", 0),
        ("Criterion: geometric", "criterion", 0),
        ("Expansions: off", "expansions", 0),
    ] {
        assert!(!is_selected(&window, label), "{label}");
        click(&mut window, Role::RadioButton, label);
        let config = &window.state().config;
        assert_eq!(config.variant.map(|variant| variant.name), Some("tree"), "{label}");
        assert_eq!(config.knobs.get(key), Some(&value), "{label}");
        assert!(is_selected(&window, label), "{label}");
    }
    // `auto` keeps the default methods.
    click(&mut window, Role::RadioButton, "Variant: auto");
    assert!(!is_selected(&window, "Multipoles: monopole") && is_selected(&window, "Multipoles: auto"));
}
