//! Tests common features: the command palette, tooltips for all controls, and resetting values.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::*;
use gravitile::base::look::{Palette, Theme};
use gravitile::export::film::Progress;
use gravitile::ui::Trigger;

/// Opens the command palette, types a text, and runs the selected entry.
pub(super) fn find(window: &mut Window, typed: &str) {
    window.key_press_modifiers(Modifiers::COMMAND, Key::K);
    window.run();
    window.get_by_role(Role::TextInput).type_text(typed);
    window.run();
    window.key_press(Key::Enter);
    // The entry may scroll the panel to a control, which takes some frames.
    window.run_steps(30);
}

fn is_open(window: &Window) -> bool {
    window.query_by_role(Role::TextInput).is_some()
}

#[test]
fn the_palette_finds_and_runs_typed_commands() {
    let mut window = open(MODES[0]);
    find(&mut window, "restart scene");
    assert_eq!(window.state().actions, [Action::Restart]);
    assert!(!is_open(&window));
    find(&mut window, "view GO 7");
    assert_eq!(window.state().actions.last(), Some(&Action::RecallView(7)));
    let scene = &MODES[1].scenes[2];
    find(&mut window, &format!("scene {}", scene.title));
    assert_eq!((window.state().config.mode.info(), &window.state().config.start), (MODES[1], scene));
    find(&mut window, "mode gravity");
    assert_eq!(window.state().config.mode.info(), MODES[0]);
    // Entries can be found by their shortcut and chosen with the arrow keys; entries that begin with the text come
    // first.
    find(&mut window, "Ctrl+Q");
    assert_eq!(window.state().actions.last(), Some(&Action::Quit));
    let told = window.state().actions.len();
    find(&mut window, "no such thing at all");
    assert!(window.state().actions.len() == told && !is_open(&window));
    // Bodies are found by their names.
    window.state_mut().stats.names = ["Sun", "", "Jupiter"].into_iter().collect();
    for typed in ["jupi", "follow Jupiter"] {
        find(&mut window, typed);
        assert_eq!(window.state().actions.last(), Some(&Action::Follow(2)));
    }
    // A search text that stays in the palette also finds names that appear later.
    window.key_press_modifiers(Modifiers::COMMAND, Key::K);
    window.run();
    window.get_by_role(Role::TextInput).type_text("follow sat");
    window.run();
    assert!(window.query_by_label_contains("Follow Saturn").is_none());
    window.state_mut().stats.names = ["Saturn"].into_iter().collect();
    window.run();
    assert!(window.query_by_label_contains("Follow Saturn").is_some());
    press(&mut window, Key::Escape);
    // Letters typed into the palette are not shortcuts.
    assert_eq!(window.state().config.mode.info(), MODES[0]);
    for key in [Key::P, Key::K] {
        window.key_press_modifiers(Modifiers::COMMAND, key);
        window.run();
        assert!(is_open(&window), "{key:?} opens it");
        press(&mut window, Key::Escape);
        assert!(!is_open(&window), "Escape closes it");
    }
    assert!(!window.state().plots, "Ctrl+P is not P");
}

#[test]
fn the_palette_understands_synonyms() {
    let mut window = open(MODES[0]);
    for (typed, found) in [
        ("video", "Record a film, or stop and save it"),
        ("screenshot", "Save a picture, which you can open later to continue from this step"),
        ("color", "Palette "),
        ("dark mode", "Theme dark"),
        ("font", "Make text and controls larger"),
        ("quicker", "Faster: double the steps per frame"),
        ("load", "Open a file: snapshot, scene, picture or bodies"),
        ("milky", "Scene Milky Way, Andromeda"),
        ("free", "Free run on or off: compute steps without waiting for the screen"),
        ("seed", "Seed: starting value of the random number generator"),
        ("origin", "Colour origin"),
        ("galaxy", "Scene Milky Way, Andromeda"),
        ("fullscreen", "Turn full screen on or off"),
        ("present", "Start or end the presentation"),
    ] {
        window.key_press_modifiers(Modifiers::COMMAND, Key::P);
        window.run();
        window.get_by_role(Role::TextInput).type_text(typed);
        window.run();
        assert!(window.query_all_by_label_contains(found).next().is_some(), "{typed}: {found}");
        press(&mut window, Key::Escape);
    }
}

#[test]
fn the_first_palette_entry_is_the_most_likely_command() {
    let mut window = open(MODES[0]);
    for typed in ["faster", "light", "graph", "grid"] {
        find(&mut window, typed);
    }
    let App { config, look, plots, .. } = window.state();
    assert_eq!((config.steps_per_frame, look.theme, *plots, look.grid), (Some(8), Theme::Light, true, true));
    find(&mut window, "softening");
    window.event(egui::Event::Text("0.25".to_owned()));
    press(&mut window, Key::Enter);
    assert_eq!(
        window.state().value("eps"),
        ParamValue::Float(0.25),
        "of what is called so the first has the keyboard"
    );
    press(&mut window, Key::Escape);
    find(&mut window, "dark");
    find(&mut window, "graph");
    find(&mut window, "slower");
    let App { config, look, plots, .. } = window.state();
    assert_eq!((config.steps_per_frame, look.theme, *plots), (Some(4), Theme::Dark, false));
    assert_eq!(window.state().actions, []);
}

#[test]
fn text_typed_together_with_the_palette_key_goes_to_the_palette() {
    let mut window = open(MODES[0]);
    let opens = (Modifiers::COMMAND, Key::P, "");
    let letter = |(key, text)| (Modifiers::NONE, key, text);
    let [m, r, space, t] = [(Key::M, "m"), (Key::R, "r"), (Key::Space, " "), (Key::T, "t")].map(letter);
    keyboard::at_once(&mut window, &[opens, m, r, space, t]);
    window.run();
    let state = window.state();
    assert!(state.actions.is_empty() && !state.look.turn && state.config.mode.info() == MODES[0]);
    assert_eq!(window.get_by_role(Role::TextInput).value().as_deref(), Some("mr t"));
    window.get_by_role(Role::TextInput).type_text("!");
    window.run();
    assert_eq!(window.get_by_role(Role::TextInput).value().as_deref(), Some("mr t!"), "it goes on there");
    // The last letters of a search and Enter may also come in the same frame.
    for key in [Key::Escape, Key::P] {
        let held = if key == Key::P { Modifiers::COMMAND } else { Modifiers::NONE };
        window.key_press_modifiers(held, key);
        window.run();
    }
    keyboard::at_once(
        &mut window,
        &[(Modifiers::NONE, Key::E, "restart scene"), (Modifiers::NONE, Key::Enter, "")],
    );
    window.run();
    assert_eq!(window.state().actions, [Action::Restart]);
    assert!(!is_open(&window));
}

#[test]
fn the_palette_lists_every_shortcut_and_is_used_with_arrows_and_mouse() {
    let mut window = open(MODES[0]);
    window.key_press_modifiers(Modifiers::COMMAND, Key::P);
    window.run();
    for control in CONTROLS {
        let is_key = matches!(control.trigger, Trigger::Keys(_));
        let listed = window.query_all_by_label_contains(control.help).count();
        assert!(listed > 0, "{} ({is_key})", control.help);
    }
    // The second line of the list is the second command.
    press(&mut window, Key::ArrowDown);
    press(&mut window, Key::Enter);
    assert_eq!(window.state().actions, [Action::Step]);
    window.key_press_modifiers(Modifiers::COMMAND, Key::P);
    window.run();
    window.get_by_role(Role::TextInput).type_text("rotate slowly");
    window.run();
    window.get_by_label_contains("Rotate the camera slowly").click();
    window.run();
    assert!(window.state().look.turn && !is_open(&window));
}

/// Returns whether a tooltip appears at a position of the pointer.
fn has_help(window: &mut Window, at: egui::Pos2) -> bool {
    window.hover_at(at);
    window.run();
    window.run();
    window.ctx.memory(|memory| {
        memory.areas().visible_layer_ids().iter().any(|layer| layer.order == egui::Order::Tooltip)
    })
}

/// A function that opens a part of the window with controls.
type Opening = fn(&mut Window);

/// Functions that open the parts of the window that are closed at first. They run one at a time, because one part may
/// cover another.
const OPENINGS: [(&str, Opening); 9] = [
    ("a body", |window| window.state_mut().stats.selected = hand::holding().state().stats.selected),
    ("a launch", |window| press(window, Key::L)),
    ("a pull", |window| press(window, Key::A)),
    ("the gallery", |window| press(window, Key::O)),
    ("plots", |window| press(window, Key::P)),
    ("a chart", |window| find(window, "auto-tune")),
    ("a film", |window| {
        let progress = Progress { done: 1, pictures: 2, elapsed: Duration::ZERO };
        window.state_mut().ui().export.filming = Some(progress);
    }),
    ("an error", |window| {
        window.state_mut().ui().alerts.error("An error", "It says so.", Some("a log".to_owned()));
    }),
    ("an offer", |window| {
        window.state_mut().ui().alerts.toasts.offer = Some("what was left".to_owned());
    }),
];

fn names(window: &Window) -> BTreeSet<String> {
    window.state().rects.iter().map(|(name, _)| name.clone()).collect()
}

/// Opens a window like [`open`], in which tooltips appear without delay.
fn open_with_help(info: &'static ModeInfo) -> Window {
    let mut window = open(info);
    // A tooltip at the last position of the pointer would cover other controls.
    window.event(egui::Event::PointerGone);
    window.run();
    window.ctx.all_styles_mut(|style| {
        style.interaction.tooltip_delay = 0.0;
        style.interaction.show_tooltips_only_when_still = false;
    });
    window
}

/// Returns the controls accepted by `wanted` that have no tooltip.
fn without_help(window: &mut Window, wanted: impl Fn(&str) -> bool) -> Vec<String> {
    // A row of buttons is not a control itself.
    let rects = window.state().rects.clone();
    let is_row = |name: &str| rects.iter().any(|(other, _)| other.starts_with(&format!("{name} ")));
    let all = rects.iter().filter(|(name, _)| wanted(name) && !is_row(name));
    let without = all.filter(|(_, rect)| !has_help(window, rect.center()));
    without.map(|(name, rect)| format!("{name} at {rect:?}")).collect()
}

#[test]
fn every_control_has_help() {
    for info in MODES {
        let mut window = open_with_help(info);
        click(&mut window, Role::Button, "Export");
        window.set_size(vec2(1280.0, 3000.0));
        window.run();
        window.run();
        assert!(!has_help(&mut window, egui::pos2(1270.0, 2990.0)), "there is nothing to help with there");
        assert!(window.state().rects.len() > 60, "{}", window.state().rects.len());
        assert_eq!(without_help(&mut window, |_| true), [""; 0], "{}", info.name);
    }
}

#[test]
fn controls_in_opened_windows_have_help() {
    for (name, opens) in OPENINGS {
        let mut window = open_with_help(MODES[0]);
        let before = names(&window);
        opens(&mut window);
        // A dialog accepts clicks only after a short time.
        window.run_steps(40);
        let is_new = |name: &str| !before.contains(name);
        let new = names(&window).iter().filter(|name| is_new(name)).count();
        assert!(new > 0, "{name} has controls");
        assert_eq!(without_help(&mut window, is_new), [""; 0], "{name}");
    }
}

#[test]
fn a_double_click_on_a_slider_resets_it() {
    let mut window = open(MODES[0]);
    let default = window.state().value("dt");
    type_number(&mut window, "Time step", "0.0001");
    assert_ne!(window.state().value("dt"), default);
    // Waits, so that the click into the field is not part of a double click.
    window.run_steps(60);
    let (_, rect) = window.state().rects.iter().find(|(name, _)| name == "dt").unwrap().clone();
    let at = rect.left_center() + vec2(rect.width() * 0.3, 0.0);
    for pressed in [true, false, true, false] {
        window.hover_at(at);
        window.event(egui::Event::PointerButton {
            pos: at,
            button: egui::PointerButton::Primary,
            pressed,
            modifiers: Modifiers::NONE,
        });
        window.run_steps(1);
    }
    assert_eq!(window.state().value("dt"), default);
}

/// If frames take long, a click may last long; it still counts as a click.
#[test]
fn a_button_held_for_two_seconds_counts_as_clicked() {
    let mut window = open(MODES[0]);
    let (_, rect) = window.state().rects.iter().find(|(name, _)| name == "variant naive").unwrap().clone();
    window.hover_at(rect.center());
    for pressed in [true, false] {
        let (pos, button) = (rect.center(), egui::PointerButton::Primary);
        window.event(egui::Event::PointerButton { pos, button, pressed, modifiers: Modifiers::NONE });
        window.run_steps(100);
    }
    assert_eq!(window.state().config.variant.map(|variant| variant.name), Some("naive"));
}

#[test]
fn half_of_a_logarithmic_slider_from_zero_covers_small_numbers() {
    let mut window = open(MODES[0]);
    let (_, rect) = window.state().rects.iter().find(|(name, _)| name == "trails").unwrap().clone();
    let mut trails = |share: f32| {
        let at = rect.left_center() + vec2(rect.width() * share, 0.0);
        window.drag_at(at);
        window.run_steps(2);
        window.drop_at(at);
        window.run_steps(60);
        window.state().look.trails
    };
    assert_eq!([trails(0.0), trails(1.0)], [0.0, 2000.0]);
    let half = trails(0.5);
    assert!((15.0..150.0).contains(&half), "{half}");
    // The number can also be dragged away from 0.
    trails(0.0);
    let (_, rect) = window.state().rects.iter().find(|(name, _)| name == "trails number").unwrap().clone();
    window.drag_at(rect.center());
    for nth in 1..=10 {
        window.hover_at(rect.center() + vec2(20.0 * nth as f32, 0.0));
        window.run_steps(2);
    }
    window.drop_at(rect.center() + vec2(200.0, 0.0));
    window.run_steps(60);
    let dragged = window.state().look.trails;
    assert!((5.0..100.0).contains(&dragged), "{dragged}");
}

#[test]
fn the_palette_focuses_parameters_and_sets_options() {
    let mut window = open_folded(MODES[0]);
    window.set_size(vec2(1280.0, 500.0));
    window.run();
    let is_in_sight = |window: &Window, key: &str| {
        let rects = &window.state().rects;
        rects.iter().any(|(name, rect)| name == key && (170.0..500.0).contains(&rect.center().y))
    };
    for (key, typed) in [("exposure", "parameter exposure"), ("depth_cue", "parameter depth cue")] {
        assert!(!is_in_sight(&window, key), "{key} is folded or scrolled away");
        find(&mut window, typed);
        assert!(is_in_sight(&window, key), "{key} is brought into sight");
    }
    for (key, typed, name) in [
        ("bodies", "bodies", "Bodies"),
        ("seed", "seed", "Seed"),
        ("work-group", "work-group", ""),
        ("picture size", "size of pictures", ""),
        ("film", "format", ""),
        ("film seconds", "length", "Length"),
    ] {
        let is_above = ["bodies", "seed"].contains(&key);
        find(&mut window, if is_above { "parameter trails" } else { "parameter softening" });
        press(&mut window, Key::Escape);
        assert!(!is_in_sight(&window, key), "{key} is folded or scrolled away");
        find(&mut window, typed);
        assert!(is_in_sight(&window, key), "{key} is brought into sight");
        let named = window.query_all_by_label(name);
        let focused = named.filter(|node| node.accesskit_node().is_focused()).count();
        assert_eq!(focused, usize::from(!name.is_empty()), "{key} has the keyboard");
        assert_eq!(window.ctx.memory(|memory| memory.focused()).is_some(), !name.is_empty(), "chips do not");
    }
    let variant = &MODES[0].variants[1];
    find(&mut window, &format!("variant {}:", variant.name));
    assert_eq!(window.state().config.variant, Some(variant));
    find(&mut window, "palette ice");
    find(&mut window, "theme light");
    assert_eq!((window.state().look.palette, window.state().look.theme), (Palette::Ice, Theme::Light));
    let default = window.state().value("eps");
    gravitile::base::params::set(window.state_mut().config.mode.as_mut(), "eps", "0.2").unwrap();
    find(&mut window, "reset all parameters");
    assert_eq!(window.state().value("eps"), default);
    find(&mut window, "launch a body along");
    assert!(is_open(&window), "what can only be read about stays");
}

#[test]
fn settings_found_in_the_palette_can_be_set_with_the_keyboard_alone() {
    let mut window = open(MODES[2]);
    for (setting, number) in [("seed", "77"), ("cells", "4096")] {
        find(&mut window, setting);
        window.event(egui::Event::Text(number.to_owned()));
        press(&mut window, Key::Enter);
    }
    assert_eq!((window.state().config.seed, window.state().config.bodies), (77, Some(4096)));
    // An entry with exactly this text comes before entries that contain its words.
    find(&mut window, "go to step");
    window.event(egui::Event::Text("321".to_owned()));
    press(&mut window, Key::Enter);
    assert_eq!(window.state().actions, [Action::GoTo(Some(321))]);
    window.state_mut().config.running = true;
    // Leaving the field with the old text does nothing.
    find(&mut window, "go to step");
    press(&mut window, Key::Escape);
    window.state_mut().stats.step = 20_000;
    find(&mut window, "go to step");
    press(&mut window, Key::Enter);
    assert_eq!(window.state().actions.len(), 1, "{:?}", window.state().actions);
    // A switch in the palette is changed at once, and the panel scrolls to it.
    for typed in ["free run", "flat", "grid"] {
        let info = if typed == "flat" { MODES[0] } else { MODES[2] };
        find(&mut window, &format!("mode {}", info.name));
        find(&mut window, typed);
    }
    assert!(window.state().config.free_run && window.state().look.grid);
    find(&mut window, "free run");
    find(&mut window, "grid");
    assert!(!window.state().config.free_run && !window.state().look.grid);
    find(&mut window, "mode gravity");
    assert_eq!(window.state().value("flat"), ParamValue::Flag(true));
    find(&mut window, "variant vector:");
    find(&mut window, "variant auto");
    assert!(window.state().config.variant.is_none() && window.state().look.auto_exposure);
    find(&mut window, "auto exposure");
    assert!(!window.state().look.auto_exposure);
    find(&mut window, "mode asteroids");
    find(&mut window, "gravity");
    assert_eq!(window.state().config.mode.info(), MODES[0]);
    find(&mut window, "gravity g");
    window.event(egui::Event::Text("2".to_owned()));
    press(&mut window, Key::Enter);
    assert_eq!(window.state().value("g"), ParamValue::Float(2.0));
    find(&mut window, "mode fluid");
    find(&mut window, "vorticity");
    assert_eq!(window.state().value("colour"), ParamValue::Option("vorticity"));
}

#[test]
fn letter_shortcuts_ignore_other_modifier_keys() {
    let mut window = open(MODES[0]);
    for (key, held) in [
        (Key::R, Modifiers::ALT),
        (Key::R, Modifiers::SHIFT),
        (Key::Z, Modifiers::COMMAND | Modifiers::ALT),
        (Key::Q, Modifiers::COMMAND | Modifiers::ALT),
    ] {
        window.key_press_modifiers(held, key);
        window.run();
        assert_eq!(window.state().actions, [], "{held:?} {key:?}");
    }
    // On many keyboards, the question mark is typed with Shift.
    window.key_press_modifiers(Modifiers::SHIFT, Key::Questionmark);
    window.run();
    assert!(window.query_by_label("Keys and mouse").is_some());
}

/// Returns all source files in `folder` except those of `src/commands`, whose texts appear in a terminal.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let shown = entries.filter(|path| !path.ends_with("src/commands"));
    let in_it = shown.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] });
    in_it.filter(|path| path.extension().is_some_and(|kind| kind == "rs")).collect()
}

#[test]
fn the_fonts_have_glyphs_for_every_displayed_character() {
    let window = open(MODES[0]);
    let files = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    let texts: Vec<String> = files.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let lines =
        texts.iter().flat_map(|text| text.lines()).filter(|line| !line.trim_start().starts_with("//"));
    let signs: BTreeSet<char> = lines.flat_map(str::chars).filter(|sign| !sign.is_ascii()).collect();
    assert!(signs.contains(&'…') && signs.contains(&'⏸'), "{signs:?}");
    for font in [egui::FontId::proportional(13.0), egui::FontId::monospace(13.0)] {
        let has = |sign: &&char| window.ctx.fonts_mut(|fonts| fonts.has_glyph(&font, **sign));
        let missing: Vec<_> = signs.iter().filter(|sign| !has(sign)).collect();
        assert!(missing.is_empty(), "{font:?} has no {missing:?}");
    }
}
