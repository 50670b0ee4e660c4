//! Tests the panel's section for drawing: controls, shortcuts, colours and the size of pictures.

use super::*;
use gravitile::base::cells::{CellCounts, WalkCounts};
use gravitile::base::look::{Palette, Size, Theme};
use gravitile::base::params::{self, Choice, ParamValues, Params};

/// Opens a window with the appearance settings unfolded. The variant has a tree, so that all settings are enabled.
fn unfolded() -> Window {
    let mut window = open(MODES[0]);
    window.state_mut().config.variant = MODES[0].variant("tree");
    window.run();
    window
}

/// Returns the appearance settings of the scene, to which the controls can be reset.
fn of_scene(window: &Window) -> Look {
    window.state().config.start.look.complete()
}

fn value(window: &Window, key: &str) -> ParamValue {
    ParamValues::collect(&mut window.state().look.clone()).get(key).unwrap()
}

#[test]
fn every_picture_setting_can_be_set_and_all_can_be_reset() {
    let mut window = unfolded();
    let mut described = Described::default();
    of_scene(&window).visit(&mut described);
    for (info, default, low, high) in described.floats {
        for (typed, expected) in [("-1e9", low), ("1e9", high)] {
            type_number(&mut window, info.label, typed);
            assert_eq!(
                value(&window, info.key),
                ParamValue::Float(expected),
                "{} typed as {typed}",
                info.key
            );
        }
        click(&mut window, Role::Button, &format!("Reset {}", info.label));
        assert_eq!(value(&window, info.key), ParamValue::Float(default), "{} reset", info.key);
        type_number(&mut window, info.label, "1e9");
    }
    // Waits until the messages about numbers that are too large or too small have disappeared.
    window.run_steps(500);
    for (info, default) in described.flags {
        click(&mut window, Role::CheckBox, info.label);
        assert_eq!(value(&window, info.key), ParamValue::Flag(!default), "{}", info.key);
    }
    for (info, _, options) in described.options.iter().filter(|(info, ..)| info.key != "scale") {
        for option in options.iter().chain(options.iter().rev().skip(1)).chain(&options[1..]) {
            choose(&mut window, info.key, option.name);
            assert_eq!(value(&window, info.key), ParamValue::Option(option.name));
        }
    }
    click(&mut window, Role::Button, "↺ Reset picture");
    assert_eq!(window.state().look, of_scene(&window));
    assert!(of_scene(&window) != Look::default(), "the first scene has a look of its own");
}

#[test]
fn tree_cells_are_offered_for_variants_with_a_tree_and_limits_are_shown() {
    let mut window = unfolded();
    let is_disabled = |window: &Window| {
        let switch =
            window.get_by_role_and_label(Role::CheckBox, "Tree cells").accesskit_node().is_disabled();
        let slider = window.get_by_role_and_label(Role::Slider, "Cell depth").accesskit_node().is_disabled();
        [switch, slider]
    };
    assert_eq!(is_disabled(&window), [false; 2]);
    let told = "Showing depth 3, because the next deeper level has more than 8\u{2009}192 cells";
    for (depth, walk, is_told) in [(4, None, false), (3, None, true), (3, Some(WalkCounts::default()), false)]
    {
        window.state_mut().stats.cells = Some(CellCounts { depth, boxes: 5, walk });
        window.run();
        assert_eq!(window.query_by_label(told).is_some(), is_told, "depth {depth} of 4, {walk:?}");
    }
    for variant in MODES[0].variants {
        window.state_mut().config.variant = Some(variant);
        window.run();
        assert_eq!(is_disabled(&window), [!variant.has_cells; 2], "{}", variant.name);
    }
    window.state_mut().config.variant = MODES[0].variant("vector");
    let at = window.get_by_role_and_label(Role::CheckBox, "Tree cells").rect().center();
    window.hover_at(at);
    window.run_steps(60);
    assert!(window.query_by_label_contains("has no tree").is_some(), "the tooltip says why");
}

#[test]
fn a_click_on_a_swatch_selects_only_its_palette() {
    let mut window = unfolded();
    set_colour(&mut window, "mass");
    click(&mut window, Role::RadioButton, "Palette: ice");
    click(&mut window, Role::RadioButton, "Palette: viridis");
    click(&mut window, Role::Button, "Reset Palette");
    assert_eq!(window.state().look, of_scene(&window));
    let before = window.state().config.clone();
    for (palette, opt) in Palette::OPTIONS.iter().rev() {
        click(&mut window, Role::RadioButton, &format!("Palette: {}", opt.name));
        assert_eq!(window.state().look, Look { palette: *palette, ..of_scene(&window) });
    }
    assert_eq!(window.state().config, before);
}

fn set_colour(window: &mut Window, name: &str) {
    params::set(window.state_mut().config.mode.as_mut(), "colour", name).unwrap();
    window.run();
}

#[test]
fn a_click_on_a_swatch_replaces_colours_without_a_palette() {
    let mut window = unfolded();
    let colour = |window: &Window| window.state().config.mode.values().get("colour");
    for (before, after) in [("stars", "speed"), ("own", "speed"), ("origin", "origin")] {
        set_colour(&mut window, before);
        click(&mut window, Role::RadioButton, "Palette: viridis");
        assert_eq!(colour(&window), Some(ParamValue::Option(after)));
        set_colour(&mut window, before);
        click(&mut window, Role::Button, "Reset Palette");
        assert_eq!(colour(&window), Some(ParamValue::Option(before)), "the scene's palette returns");
    }
}

#[test]
fn keys_toggle_settings_and_store_views_by_number() {
    let mut window = open(MODES[0]);
    let is_on = |window: &Window| {
        let Look { grid, follow, turn, .. } = window.state().look;
        [grid, follow, turn]
    };
    for (nth, key) in [Key::G, Key::C, Key::T].into_iter().enumerate() {
        press(&mut window, key);
        assert_eq!(is_on(&window).iter().filter(|on| **on).count(), 1);
        assert!(is_on(&window)[nth], "{key:?}");
        press(&mut window, key);
        assert_eq!(is_on(&window), [false; 3]);
    }
    window.key_press_modifiers(Modifiers::COMMAND, Key::Num3);
    window.run();
    press(&mut window, Key::Num3);
    press(&mut window, Key::Num9);
    press(&mut window, Key::Num0);
    press(&mut window, Key::Home);
    let told = [Action::StoreView(3), Action::RecallView(3), Action::RecallView(9), Action::ResetView];
    assert_eq!(window.state().actions, told);
    // Digits typed into a field are not shortcuts.
    type_number(&mut window, "Seed", "123");
    assert_eq!((window.state().actions.len(), window.state().config.seed), (4, 123));
}

#[test]
fn the_grid_scale_is_shown_while_the_grid_is_drawn() {
    let mut window = open(MODES[0]);
    assert!(window.query_by_label("grid 0.1").is_none());
    press(&mut window, Key::G);
    assert!(window.query_by_label("grid 0.1").is_some());
}

#[test]
fn theme_and_text_size_follow_the_settings() {
    let mut window = unfolded();
    let surface = |window: &Window| window.ctx.style().visuals.panel_fill;
    let dark = surface(&window);
    click(&mut window, Role::RadioButton, "Theme: light");
    assert_eq!(window.state().look.theme, Theme::Light);
    let light = surface(&window);
    let sum = |colour: egui::Color32| colour.to_array()[..3].iter().map(|c| u32::from(*c)).sum::<u32>();
    assert!(sum(light) > 3 * 0xe0 && sum(dark) < 3 * 0x30);
    for (key, size) in [
        (Key::Plus, Size::Larger),
        (Key::Equals, Size::Large),
        (Key::Minus, Size::Larger),
        (Key::Num0, Size::One),
        (Key::Minus, Size::Smaller),
        (Key::Minus, Size::Smaller),
    ] {
        window.key_press_modifiers(Modifiers::COMMAND, key);
        window.run();
        window.run();
        assert_eq!((window.state().look.scale, window.ctx.zoom_factor()), (size, size.factor()), "{key:?}");
    }
    for (size, opt) in Size::OPTIONS.iter().rev() {
        window.state_mut().look.scale = *size;
        window.run();
        assert_eq!(window.ctx.zoom_factor(), size.factor(), "{}", opt.name);
        assert_eq!(window.ctx.pixels_per_point(), size.factor(), "text is drawn in pixels, not stretched");
    }
}

/// The picture of a flow leaves the corner with the statistics free. The size of the corner does not change while the
/// statistics are expanded.
#[test]
fn the_corner_of_the_statistics_stays_the_same_while_they_are_expanded() {
    let mut window = open_folded(MODES[2]);
    let rows = window.ctx.memory(|memory| memory.area_rect(egui::Id::new("overlay"))).unwrap();
    let covered = window.state().covered;
    let margins = covered - rows.size();
    assert!((margins.x - 20.0).abs() < 1.0 && (10.0..50.0).contains(&margins.y), "{covered} for {rows}");
    press(&mut window, Key::I);
    window.run();
    assert_eq!(window.state().covered, covered);
    press(&mut window, Key::H);
    window.run();
    assert_eq!(window.state().covered, covered, "with or without the panel");
}

#[test]
fn the_automatic_camera_can_be_set_and_keep_in_view_is_disabled_for_flows() {
    let mut window = open(MODES[0]);
    assert!(window.state().look.opening_move && !window.state().look.keep_in_view);
    click(&mut window, Role::CheckBox, "Keep in view");
    click(&mut window, Role::CheckBox, "Opening move");
    assert!(!window.state().look.opening_move && window.state().look.keep_in_view);
    let window = open(MODES[2]);
    let disabled = |label| window.get_by_role_and_label(Role::CheckBox, label).accesskit_node().is_disabled();
    assert!(disabled("Keep in view") && !disabled("Opening move"));
}
