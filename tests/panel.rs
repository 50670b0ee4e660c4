//! The user interface without a window: every control is found by the name that a screen reader would read,
//! used as a person would, and the configuration is looked at.

use std::sync::Arc;

use egui::accesskit::Role;
use egui::{Key, Modifiers, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT, Queryable};

use gravitile::bodies::Bodies;
use gravitile::compute::{DeviceInfo, Kind};
use gravitile::config::{Config, Start};
use gravitile::modes::{Diagnostics, MODES, ModeInfo};
use gravitile::params::{Info, Opt, Scale, Value, Visitor};
use gravitile::scene::Scene;
use gravitile::session::Stats;
use gravitile::ui::{Action, CONTROLS, Model, Ui, WindowStats};

const WORK_GROUPS: [usize; 3] = [16, 64, 256];
const MAX_BODIES: usize = 50_000;

/// What the window would hold.
struct App {
    ui: Option<Ui>,
    config: Config,
    stats: Stats,
    device: DeviceInfo,
    actions: Vec<Action>,
    rects: Vec<(String, egui::Rect)>,
    picture: egui::Rect,
}

impl App {
    fn new(info: &'static ModeInfo) -> Self {
        let device = DeviceInfo {
            index: 0,
            name: "a device".into(),
            platform: "a platform".into(),
            kind: Kind::Gpu,
            compute_units: 1,
            memory_bytes: 1 << 30,
            max_alloc_bytes: 1 << 28,
            local_bytes: 1 << 15,
            max_work_group: 256,
            fp64: true,
            driver: String::new(),
            opencl: String::new(),
        };
        let stats = Stats {
            step: 12_345,
            bodies: 1024,
            variant: info.variants[0].name,
            work_group: 64,
            steps_per_frame: 4,
            steps_per_second: 1000.0,
            diagnostics: Some(Diagnostics { kinetic: 1.0, potential: -2.0, ..Diagnostics::default() }),
            ..Stats::default()
        };
        let picture = egui::Rect::NOTHING;
        let (actions, rects) = (Vec::new(), Vec::new());
        Self { ui: None, config: Config::new(info), stats, device, actions, rects, picture }
    }

    fn show(&mut self, ctx: &egui::Context) {
        let model = Model {
            config: &mut self.config,
            stats: &self.stats,
            device: &self.device,
            window: WindowStats { fps: 60.0, ..WindowStats::default() },
            max_bodies: MAX_BODIES,
            work_groups: &WORK_GROUPS,
        };
        let output = self.ui.get_or_insert_with(|| Ui::new(ctx)).show(ctx, model);
        self.actions.extend(output.actions);
        (self.rects, self.picture) = (output.rects, output.picture);
    }

    fn ui(&mut self) -> &mut Ui {
        self.ui.as_mut().unwrap()
    }

    fn value(&self, key: &str) -> Value {
        self.config.mode.values().get(key).unwrap()
    }
}

type Window = Harness<'static, App>;

fn open(info: &'static ModeInfo) -> Window {
    // High enough that no control is scrolled out of sight.
    let mut window = Harness::builder()
        .with_size(vec2(1280.0, 2000.0))
        // Two clicks in a row are a double click.
        .with_step_dt(0.02)
        .build_state(|ctx, app: &mut App| app.show(ctx), App::new(info));
    window.run();
    window
}

fn click(window: &mut Window, role: Role, label: &str) {
    window.get_by_role_and_label(role, label).click();
    window.run();
}

fn press(window: &mut Window, key: Key) {
    window.key_press(key);
    window.run();
}

/// Types into the number beside `label`, as with the mouse and the keyboard.
fn type_number(window: &mut Window, label: &str, text: &str) {
    click(window, Role::SpinButton, label);
    window.get_by_role_and_label(Role::SpinButton, label).type_text(text);
    window.run();
    press(window, Key::Enter);
}

/// What a mode says of its parameters.
#[derive(Default)]
struct Described {
    floats: Vec<(Info, f32, f32, f32)>,
    flags: Vec<(Info, bool)>,
    options: Vec<(Info, usize, Vec<&'static Opt>)>,
}

impl Visitor for Described {
    fn float(&mut self, info: &Info, value: &mut f32, range: std::ops::RangeInclusive<f32>, _: Scale) {
        self.floats.push((*info, *value, *range.start(), *range.end()));
    }

    fn flag(&mut self, info: &Info, value: &mut bool) {
        self.flags.push((*info, *value));
    }

    fn option(&mut self, info: &Info, index: &mut usize, options: &[&'static Opt]) {
        self.options.push((*info, *index, options.to_vec()));
    }
}

fn described(window: &Window) -> Described {
    let mut described = Described::default();
    window.state().config.mode.clone().visit(&mut described);
    described
}

#[test]
fn every_number_can_be_typed_clamped_slid_and_reset() {
    for info in MODES {
        let mut window = open(info);
        for (info, default, low, high) in described(&window).floats {
            let (key, label) = (info.key, info.label);
            for (typed, expected) in [("-1e9", low), ("1e9", high)] {
                type_number(&mut window, label, typed);
                assert_eq!(window.state().value(key), Value::Float(expected), "{key} typed as {typed}");
            }
            window.get_by_role_and_label(Role::Slider, label).focus();
            press(&mut window, Key::ArrowLeft);
            press(&mut window, Key::Escape);
            let slid = window.state().config.mode.values().float(key).unwrap();
            assert!(low < slid && slid < high, "{key} slid to {slid}");

            click(&mut window, Role::Button, &format!("Reset {label}"));
            assert_eq!(window.state().value(key), Value::Float(default), "{key} reset");
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
            assert_eq!(window.state().value(info.key), Value::Flag(!default), "{}", info.key);
            click(&mut window, Role::Button, &format!("Reset {}", info.label));
            assert_eq!(window.state().value(info.key), Value::Flag(default), "{}", info.key);
        }
        for (info, default, options) in options {
            for option in options.iter().rev().chain(&options) {
                click(&mut window, Role::RadioButton, &format!("{}: {}", info.label, option.name));
                assert_eq!(window.state().value(info.key), Value::Option(option.name));
            }
            if default != options.len() - 1 {
                click(&mut window, Role::Button, &format!("Reset {}", info.label));
            }
            assert_eq!(window.state().value(info.key), Value::Option(options[default].name));
        }
    }
}

#[test]
fn looking_changes_nothing() {
    for info in MODES {
        for scene in info.scenes {
            let mut window = open(info);
            window.state_mut().config.select_scene(scene);
            let before = window.state().config.clone();
            window.run_steps(3);
            assert_eq!(window.state().config, before, "{}", scene.name);
        }
    }
}

#[test]
fn reset_goes_back_to_what_suits_the_scene() {
    for info in MODES {
        for scene in info.scenes {
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
    let mut window = open(MODES[0]);
    let (info, default, ..) = described(&window).floats.remove(0);
    type_number(&mut window, info.label, "1e9");
    for _ in 0..2 {
        window.get_by_role_and_label(Role::Label, info.label).click();
    }
    window.run();
    assert_eq!(window.state().value(info.key), Value::Float(default));
}

#[test]
fn every_mode_scene_and_variant_can_be_chosen() {
    for info in MODES {
        let mut window = open(MODES[0]);
        window.state_mut().config.seed = 7;
        click(&mut window, Role::RadioButton, &format!("Mode: {}", info.name));
        assert!(std::ptr::eq(window.state().config.mode.info(), *info));
        assert_eq!(window.state().config.seed, 7, "the seed is not about the mode");

        for scene in info.scenes.iter().rev() {
            click(&mut window, Role::ComboBox, "Scene");
            window.get_by_label(&format!("{} {}", scene.name, scene.summary)).click();
            window.run();
            assert_eq!(window.state().config.start, Start::Scene(scene));
            assert!(window.query_by_label(scene.summary).is_some(), "{} says what is to be seen", scene.name);
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
    for size in WORK_GROUPS {
        click(&mut window, Role::RadioButton, &format!("Work-group: {size}"));
        assert_eq!(window.state().config.work_group, Some(size));
    }
    let listed = window.get_all_by_label_contains("Work-group: ").count();
    assert_eq!(listed, WORK_GROUPS.len() + 1, "the sizes and auto");
    click(&mut window, Role::RadioButton, "Work-group: auto");
    assert_eq!(window.state().config.work_group, None);
}

#[test]
fn numbers_with_auto() {
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

    type_number(&mut window, "Steps/frame", "8");
    assert_eq!(window.state().config.steps_per_frame, Some(8));
    click(&mut window, Role::RadioButton, "steps per frame: auto");
    assert_eq!(window.state().config.steps_per_frame, None);
}

#[test]
fn a_drag_of_the_bodies_counts_when_it_ends() {
    let mut window = open(MODES[0]);
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

static FIXED: Scene =
    Scene { name: "fixed", summary: "", bodies: Some(3), params: &[], generate: |_| Bodies::default() };

#[test]
fn a_scene_may_fix_the_number_of_bodies() {
    let mut window = open(MODES[0]);
    let loaded = Start::Loaded { name: "a.csv".into(), bodies: Arc::new(Bodies::default()) };
    for (start, number) in [(Start::Scene(&FIXED), "3"), (loaded, "–")] {
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
fn seeds_are_typed_or_drawn() {
    let mut window = open(MODES[0]);
    type_number(&mut window, "Seed", "42");
    assert_eq!(window.state().config.seed, 42);
    // One draw in a million may be the old seed; all of three are not.
    let drawn = (0..3).map(|_| {
        click(&mut window, Role::Button, "🎲 New seed");
        window.state().config.seed
    });
    assert!(drawn.collect::<Vec<_>>().iter().any(|seed| *seed != 42));
}

#[test]
fn buttons_and_keys_ask_for_the_same() {
    let mut window = open(MODES[0]);
    for (label, key, action) in
        [("⏭ Step", Key::Period, Action::Step), ("⏮ Restart", Key::R, Action::Restart)]
    {
        click(&mut window, Role::Button, label);
        press(&mut window, key);
        assert_eq!(std::mem::take(&mut window.state_mut().actions), [action, action]);
    }
    assert!(!window.state().config.running, "a single step pauses");
    for key in [Key::S, Key::F] {
        press(&mut window, key);
    }
    window.key_press_modifiers(Modifiers::COMMAND, Key::Q);
    window.run();
    assert_eq!(window.state().actions, [Action::Step, Action::FrameAll, Action::Quit]);
}

#[test]
fn space_runs_and_pauses_but_belongs_to_a_field_that_is_typed_into() {
    let mut window = open(MODES[0]);
    assert!(window.state().config.running);
    press(&mut window, Key::Space);
    assert!(!window.state().config.running);
    click(&mut window, Role::Button, "▶ Run");
    assert!(window.state().config.running);

    click(&mut window, Role::SpinButton, "Bodies");
    for key in [Key::Space, Key::R] {
        press(&mut window, key);
    }
    assert!(window.state().config.running, "the field has the keyboard");
    assert_eq!(window.state().actions, []);
    let picture = window.state().picture.center();
    window.drag_at(picture);
    window.drop_at(picture);
    press(&mut window, Key::Space);
    assert!(!window.state().config.running, "a click beside it gives it back");
    click(&mut window, Role::SpinButton, "Bodies");
    press(&mut window, Key::Escape);
    press(&mut window, Key::Space);
    assert!(window.state().config.running, "so does Escape");
}

#[test]
fn the_help_lists_every_key() {
    for key in [Key::Questionmark, Key::F1] {
        let mut window = open(MODES[0]);
        assert!(window.query_by_label("Keys and mouse").is_none());
        press(&mut window, key);
        for control in CONTROLS {
            assert!(window.query_by_label(&control.text()).is_some(), "{}", control.text());
            assert!(window.query_by_label(control.help).is_some(), "{}", control.help);
        }
        press(&mut window, Key::Escape);
        assert!(window.query_by_label("Keys and mouse").is_none());
    }
}

#[test]
fn free_run_is_switched_by_box_and_label() {
    let mut window = open(MODES[0]);
    for (role, on) in [(Role::CheckBox, true), (Role::Label, false)] {
        click(&mut window, role, "Free run");
        assert_eq!(window.state().config.free_run, on);
    }
}

#[test]
fn no_key_does_two_things() {
    let mut texts: Vec<String> =
        CONTROLS.iter().flat_map(|c| c.text().split(" or ").map(str::to_owned).collect::<Vec<_>>()).collect();
    let all = texts.len();
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), all);
}

#[test]
fn errors_queue_merge_and_stay_until_closed() {
    let mut window = open(MODES[0]);
    let ui = window.state_mut().ui();
    for _ in 0..3 {
        ui.error("No build", "It does not compile.", Some("tiled.cl:3: error: what is this".into()));
    }
    ui.error("Another", "Something else.", None);
    window.run();
    assert!(window.query_by_label("It does not compile.").is_some());
    assert!(window.query_by_label("This happened 3 times.").is_some());
    assert!(window.query_by_label("1 more").is_some());
    assert!(window.query_by_label("Something else.").is_none(), "one at a time");
    assert!(window.query_by_label("tiled.cl:3: error: what is this").is_some());

    window.get_by_role_and_label(Role::Button, "Copy log").click();
    window.step();
    match &window.output().platform_output.commands[..] {
        [egui::OutputCommand::CopyText(text)] => assert!(text.starts_with("tiled.cl:3")),
        other => panic!("{other:?}"),
    }

    click(&mut window, Role::Button, "Close");
    assert!(window.query_by_label("Something else.").is_some(), "then the next");
    press(&mut window, Key::Escape);
    assert!(window.query_by_label("Something else.").is_none());
}

#[test]
fn a_hidden_panel_leaves_the_overlay_and_a_way_back() {
    let mut window = open(MODES[0]);
    let narrow = window.state().picture;
    press(&mut window, Key::H);
    assert!(window.query_by_role_and_label(Role::SpinButton, "Bodies").is_none());
    assert!(window.query_by_label_contains("interactions/s").is_some(), "the overlay stays");
    assert!(window.state().picture.width() > narrow.width() + 200.0, "the picture grows");
    click(&mut window, Role::Button, "☰ Panel");
    assert!(window.query_by_role_and_label(Role::SpinButton, "Bodies").is_some());
    assert_eq!(window.state().picture, narrow);
}

#[test]
fn the_overlay_tells_speed_and_truth() {
    let mut window = open(MODES[0]);
    // 1024² pairs, 1000 times a second.
    for text in ["1.05 G interactions/s", "(21.0 GFLOP/s)", "2T / |V|", "1.00"] {
        assert!(window.query_by_label(text).is_some(), "{text}");
    }
    assert!(window.query_by_label_contains("not finite").is_none());
    window.state_mut().stats.nonfinite = 2;
    window.run();
    assert!(window.query_by_label_contains("2 bodies not finite").is_some());
}

#[test]
fn before_the_first_frame_it_says_so() {
    let mut window = open(MODES[0]);
    window.state_mut().stats = Stats::default();
    window.run();
    assert_eq!(window.get_all_by_label("starting…").count(), 2, "panel and overlay");
    assert!(window.query_by_label_contains("interactions/s").is_none());
    assert_eq!(window.state().config, Config::new(MODES[0]), "empty numbers are not taken over");
}

#[test]
fn every_control_says_where_it_is() {
    for info in MODES {
        let window = open(info);
        let rects = &window.state().rects;
        let Described { floats, flags, options } = described(&window);
        let keys = floats.iter().map(|f| f.0.key).chain(flags.iter().map(|f| f.0.key));
        let keys = keys.chain(options.iter().map(|o| o.0.key));
        let fixed =
            ["pause", "step", "restart", "mode", "scene", "bodies", "bodies auto", "seed", "new seed"];
        let more = ["variant", "variant auto", "work-group 64", "steps per frame", "free run", "reset all"];
        for key in keys.chain(fixed).chain(more) {
            let found: Vec<_> = rects.iter().filter(|(name, _)| name == key).collect();
            assert_eq!(found.len(), 1, "{key}");
            assert!(found[0].1.is_positive(), "{key} is somewhere");
        }
    }
}
