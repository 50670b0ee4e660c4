//! Tests the user interface without a window: finds every control by the name that a screen reader uses, operates
//! controls like a user, and checks the resulting configuration.

mod chart;
mod comparison;
mod configuration;
mod habits;
mod hand;
mod kept;
mod keyboard;
mod lens;
mod lesson;
mod parameters;
mod picture;
mod plots;
mod share;
mod time;
mod timeline;
mod undo;
mod windows;

use std::sync::Arc;

use egui::accesskit::Role;
use egui::{Key, Modifiers, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT, Queryable};

use gravitile::base::DivergenceLog;
use gravitile::base::bodies::Bodies;
use gravitile::base::edit::{Edit, SelectedBody};
use gravitile::base::look::Look;
use gravitile::base::params::{Info, Opt, ParamValue, Scale, Visitor};
use gravitile::compute::DeviceInfo;
use gravitile::engine::Resolved;
use gravitile::engine::config::Config;
use gravitile::modes::{
    self, Diagnostics, MODES, Member, ModeInfo, Reading, Recipe, Remedy, Sharing, Variant,
};
use gravitile::scene::Scene;
use gravitile::session::{Rung, Stats};
use gravitile::ui::{
    Action, CONTROLS, Compared, Half, Markers, Model, TimelineState, Tool, ToolSettings, Ui, WindowStats,
};

const MAX_BODIES: usize = 50_000;

/// The state that the real window holds besides the panel.
struct App {
    ui: Option<Ui>,
    config: Config,
    look: Look,
    tools: ToolSettings,
    markers: Markers,
    edits: Vec<Edit>,
    stats: Stats,
    /// Whether frames with the current configuration have not arrived yet.
    lags: bool,
    heaviest: Vec<(usize, f32)>,
    device: DeviceInfo,
    pool: Vec<DeviceInfo>,
    actions: Vec<Action>,
    rects: Vec<(String, egui::Rect)>,
    picture: egui::Rect,
    covered: egui::Vec2,
    plots: bool,
    brush: Option<f32>,
    sees_bodies: bool,
    timeline: TimelineState,
    /// While two simulations are compared: the half of the picture that the panel edits, the statistics of the other
    /// simulation, and the divergence.
    compared: Option<(Half, Stats, DivergenceLog)>,
}

impl App {
    fn new(info: &'static ModeInfo) -> Self {
        let device = DeviceInfo {
            name: "a device".into(),
            memory_bytes: 1 << 30,
            max_alloc_bytes: 1 << 28,
            local_bytes: 1 << 15,
            max_work_group: 256,
            ..DeviceInfo::default()
        };
        let stats = Stats {
            step: 12_345,
            bodies: 1024,
            variant: info.variants[0].name,
            work_group: 64,
            work_in_step: (info.work.in_step)(1024),
            steps_per_frame: 4,
            steps_per_second: 1000.0,
            diagnostics: Some(Diagnostics {
                readings: vec![Reading::new("balance", "A reading", 1.0).help("what it means")],
                ..Diagnostics::default()
            }),
            ..Stats::default()
        };
        let picture = egui::Rect::NOTHING;
        let pool = vec![device.clone()];
        let (actions, rects, heaviest) = (Vec::new(), Vec::new(), Vec::new());
        let config = Config::new(info);
        Self {
            ui: None,
            look: config.start.look.complete(),
            config,
            tools: ToolSettings::default(),
            markers: Markers::default(),
            edits: Vec::new(),
            stats,
            lags: false,
            heaviest,
            device,
            pool,
            actions,
            rects,
            picture,
            covered: egui::Vec2::ZERO,
            plots: false,
            brush: None,
            sees_bodies: true,
            timeline: TimelineState::default(),
            compared: None,
        }
    }

    fn show(&mut self, ctx: &egui::Context) {
        if !self.lags {
            self.stats.config = Arc::new(self.config.clone());
        }
        let resolved = Resolved::new(&self.config, &self.device);
        let recipe = resolved.ok().map(|resolved| resolved.recipe);
        let model = Model {
            config: &mut self.config,
            look: &mut self.look,
            tools: &mut self.tools,
            markers: &self.markers,
            stats: &self.stats,
            device: &self.device,
            pool: &self.pool,
            timeline: &self.timeline,
            window: WindowStats { fps: 60.0, frame_ms: 5.0, ..WindowStats::default() },
            max_bodies: MAX_BODIES,
            recipe,
            heights_per_unit: 0.4,
            grid_spacing: 0.1,
            sees_bodies: self.sees_bodies,
            heaviest: &self.heaviest,
            compared: self.compared.as_ref().map(|(active, other, divergence)| Compared {
                active: *active,
                other,
                divergence,
            }),
            value_range: [0.25, 4.0],
        };
        let output = self
            .ui
            .get_or_insert_with(|| {
                let mut ui = Ui::new(ctx);
                ui.records_controls = true;
                ui
            })
            .show(ctx, model);
        for action in output.actions {
            match action {
                Action::Edit(edit) => self.edits.push(edit),
                action => self.actions.push(action),
            }
        }
        (self.rects, self.picture, self.brush) = (output.controls, output.picture, output.brush);
        self.covered = output.covered;
        self.plots = self.ui().plots.is_open;
    }

    fn ui(&mut self) -> &mut Ui {
        self.ui.as_mut().unwrap()
    }

    fn value(&self, key: &str) -> ParamValue {
        self.config.mode.values().get(key).unwrap()
    }
}

type Window = Harness<'static, App>;

/// Opens a window with all sections of the panel and all statistics unfolded, except for *Export*.
fn open(info: &'static ModeInfo) -> Window {
    let mut window = open_folded(info);
    let kernel = format!("Kernel   {}", window.state().stats.variant);
    for title in ["More parameters", "More picture settings", &kernel, "Kernel tuning"] {
        click(&mut window, Role::Button, title);
    }
    press(&mut window, Key::I);
    window
}

/// Clicks the control that the panel records under the name `key`.
fn click_control(window: &mut Window, key: &str) {
    let rects = &window.state().rects;
    let (_, rect) = rects.iter().find(|(name, _)| name == key).unwrap_or_else(|| panic!("no control {key}"));
    let at = rect.left_center() + vec2(4.0, 0.0);
    window.hover_at(at);
    for pressed in [true, false] {
        let (button, modifiers) = (egui::PointerButton::Primary, Modifiers::NONE);
        window.event(egui::Event::PointerButton { pos: at, button, pressed, modifiers });
    }
    window.run();
}

/// Chooses an option of the setting `key`, which is a row of buttons or a drop-down list.
fn choose(window: &mut Window, key: &str, option: &str) {
    let wanted = format!("{key} {option}");
    if !window.state().rects.iter().any(|(name, _)| *name == wanted) {
        click_control(window, key);
    }
    click_control(window, &wanted);
}

/// Opens a window as the program starts, with folded sections, but so high that no section needs scrolling.
fn open_folded(info: &'static ModeInfo) -> Window {
    // The window is so high that all controls are visible without scrolling.
    let mut window = Harness::builder()
        .with_size(vec2(1280.0, 2100.0))
        // Two clicks in successive frames count as a double click.
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

/// Types a number into the field beside `label`, with the mouse and the keyboard.
fn type_number(window: &mut Window, label: &str, text: &str) {
    click(window, Role::SpinButton, label);
    window.get_by_role_and_label(Role::SpinButton, label).type_text(text);
    window.run();
    press(window, Key::Enter);
}

/// Descriptions and values of a mode's parameters, by type.
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
