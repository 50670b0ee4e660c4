//! The hand: its tools, the card of the body that it holds, and what is drawn over the picture while it is used.

use egui::{Align, Align2, Button, Color32, Layout, Painter, Pos2, Rect, RichText, Stroke, pos2, vec2};

use super::keys::{self, Command};
use super::widgets::{Chip, Sink, chips, live_number, resettable, slider};
use super::{Model, format, theme};
use crate::bodies::FINITE_LIMIT;
use crate::config::Config;
use crate::hand::{Edit, Held};
use crate::params::Scale;
use crate::session::Stats;
use crate::state::Matter;

/// What a drag of the left button over the picture does, where there are bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tool {
    /// Turns the view; a click selects a body.
    #[default]
    Look,
    /// Launches a body.
    Launch,
    /// Attracts or repels.
    Pull,
}

/// The hand as it is set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grip {
    /// What it holds.
    pub tool: Tool,
    /// The mass of what is launched, as a share of the mass of all bodies.
    pub share: f32,
    /// How strongly it attracts: at 1 so that what is near falls in about as fast as it could leave the scene.
    pub strength: f32,
    /// Whether the camera goes with the selected body.
    pub follows: bool,
}

impl Default for Grip {
    fn default() -> Self {
        Self { tool: Tool::Look, share: 1e-3, strength: 0.3, follows: false }
    }
}

impl Grip {
    /// What it holds in a mode: nothing where there are no bodies.
    pub fn tool(&self, config: &Config) -> Tool {
        if has_bodies(config) { self.tool } else { Tool::Look }
    }
}

/// What is drawn over the picture; places in heights of the picture from its middle, y downwards.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Overlay {
    /// Where the selected body is.
    pub marker: Option<[f32; 2]>,
    /// From where and how far a launch is drawn.
    pub aim: Option<[[f32; 2]; 2]>,
    /// Where what is launched would go.
    pub path: Vec<[f32; 2]>,
    /// Where the hand attracts, or repels, and how far it reaches.
    pub pull: Option<([f32; 2], f32)>,
}

pub(super) fn has_bodies(config: &Config) -> bool {
    config.mode.info().work.matter == Matter::Bodies
}

/// The tools' width, as far as there is room; what surrounds them; and how far they stay from the edges.
const WIDTH: f32 = 316.0;
const PADDING: f32 = 6.0;
const MARGIN: f32 = 10.0;

/// The tools, at the upper left of the picture; `below` what may stand there, and below `numbers` where there is no room
/// beside them; where they stand, if they are shown.
pub(super) fn tools(
    ctx: &egui::Context,
    model: &mut Model,
    sink: &mut Sink,
    (below, numbers, films): (f32, Rect, bool),
) -> Option<Rect> {
    // A picture without a panel is to be looked at.
    let is_bare = below > 0.0 && model.grip.tool == Tool::Look;
    if !has_bodies(model.config) || is_bare {
        return None;
    }
    let picture = ctx.available_rect().shrink(MARGIN);
    let outer = (WIDTH + 2.0 * PADDING).min(picture.width()).max(3.0 * PADDING);
    let mut corner = picture.left_top() + vec2(0.0, below);
    if corner.x + outer + MARGIN > numbers.left() {
        corner.y = corner.y.max(numbers.bottom() + MARGIN);
    }
    // Not in the background: what is clicked here is not meant for the picture behind it.
    let area = egui::Area::new("tools".into()).fixed_pos(corner).order(egui::Order::Middle);
    let shown = area.show(ctx, |ui| {
        let fill = theme::of(ui).veil();
        egui::Frame::NONE.fill(fill).corner_radius(8).inner_margin(PADDING).show(ui, |ui| {
            ui.set_width(outer - 2.0 * PADDING);
            let stands = !model.config.running && !films;
            show(ui, model, sink, stands);
        });
    });
    Some(shown.response.rect)
}

/// The button that undoes what was last done by hand.
pub(super) fn undo(ui: &mut egui::Ui, stats: &Stats, sink: &mut Sink) {
    let undo = ui.add_enabled(stats.undos > 0, Button::new("Undo"));
    let help = match stats.last_deed {
        Some(deed) => format!("{}: {}", keys::hint(Command::Undo), deed.name()),
        None => keys::hint(Command::Undo),
    };
    let undo = undo.on_hover_text(&help).on_disabled_hover_text(&help);
    sink.note("undo", &undo);
    sink.commands.extend(undo.clicked().then_some(Command::Undo));
}

fn show(ui: &mut egui::Ui, model: &mut Model, sink: &mut Sink, stands: bool) {
    let Model { grip, stats, .. } = model;
    let tools = [
        (Tool::Look, "look", "drag turns the view, a click takes hold of a body".to_owned()),
        (Tool::Launch, "launch", keys::hint(Command::Launch)),
        (Tool::Pull, "pull", keys::hint(Command::Pull)),
    ];
    ui.horizontal(|ui| {
        ui.label("Mouse").on_hover_text("What a drag over the picture does.");
        // In one row also where text is twice as large.
        ui.spacing_mut().item_spacing.x = 3.0;
        ui.spacing_mut().button_padding.x = 5.0;
        let all = tools.iter().map(|(tool, name, help)| Chip {
            name,
            help,
            selected: *tool == grip.tool,
            in_force: false,
        });
        if let Some(clicked) = chips(ui, sink, ("mouse", "Mouse"), all) {
            grip.tool = tools[clicked].0;
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| undo(ui, stats, sink));
    });
    let usual = Grip::default();
    let (words, (value, default), range, words_below) = match grip.tool {
        Tool::Look => {
            return;
        }
        Tool::Launch => (
            ("launch mass", "Mass", "The mass of what is launched, as a share of the mass of all bodies."),
            (&mut grip.share, usual.share),
            1e-6..=1.0,
            "drag to draw its velocity: half the picture's height is the speed to escape with; Shift: a cluster; Escape gives it up",
        ),
        Tool::Pull => (
            ("pull strength", "Strength", "How strongly the hand attracts or repels while time goes on."),
            (&mut grip.strength, usual.strength),
            0.05..=20.0,
            match stands {
                true => "Paused: Space lets time go on, and the hand attracts while it does",
                false => "hold to attract while time goes on; right button or Shift repels",
            },
        ),
    };
    resettable(ui, sink, words, value, default, |ui, sink, label, value| {
        slider(ui, sink, (words.0, label, words.2), value, (range, Scale::Log), default);
    });
    ui.add(egui::Label::new(RichText::new(words_below).small().color(theme::of(ui).weak)).wrap());
}

/// The card of the selected body, if there is one; what is to be changed of it.
pub(super) fn card(ctx: &egui::Context, model: &mut Model, sink: &mut Sink) -> Vec<Edit> {
    let Some(held) = model.stats.held else { return Vec::new() };
    let mut edits = Vec::new();
    let corner = ctx.available_rect().left_bottom() + vec2(12.0, -12.0);
    let window = egui::Window::new("card").title_bar(false).resizable(false);
    window.pivot(Align2::LEFT_BOTTOM).default_pos(corner).show(ctx, |ui| {
        let name = format!("Body {}", format::count(held.body as u64));
        ui.label(RichText::new(name).strong().color(theme::of(ui).strong));
        ui.add_space(4.0);
        // What is typed of one body is not meant for the next.
        ui.push_id(held.body, |ui| {
            egui::Grid::new("body").num_columns(2).spacing([16.0, 4.0]).show(ui, |ui| {
                numbers(ui, &held, sink, &mut edits);
            });
        });
        ui.add_space(4.0);
        ui.horizontal(|ui| {
            let follow = ui.add(Button::new("Follow").selected(model.grip.follows));
            sink.note("follow body", &follow);
            if follow.on_hover_text("the camera goes with it, or no longer").clicked() {
                model.grip.follows ^= true;
            }
            for (key, text, command) in
                [("delete body", "Delete", Command::Delete), ("let go", "Let go", Command::LetGo)]
            {
                let button = ui.button(text).on_hover_text(keys::hint(command));
                sink.note(key, &button);
                if button.clicked() {
                    sink.commands.push(command);
                }
            }
        });
    });
    edits
}

fn numbers(ui: &mut egui::Ui, held: &Held, sink: &mut Sink, edits: &mut Vec<Edit>) {
    let &Held { body, mass, position, velocity, acceleration, energy } = held;
    if let Some(mass) = number(ui, sink, ("Mass", "body mass"), mass) {
        edits.push(Edit::Change { body, mass: Some(mass), velocity: None });
    }
    if velocity.iter().all(|c| c.is_finite()) {
        for (axis, label) in ["Velocity x", "Velocity y", "Velocity z"].into_iter().enumerate() {
            if let Some(speed) = number(ui, sink, (label, label), velocity[axis]) {
                let mut velocity = velocity;
                velocity[axis] = speed;
                edits.push(Edit::Change { body, mass: None, velocity: Some(velocity) });
            }
        }
    } else {
        ui.label("Velocity");
        ui.label(RichText::new("left out: not a number").color(theme::of(ui).warning));
        ui.end_row();
    }
    let mut tell = |label: &str, value: String, help: &str| {
        ui.label(label).on_hover_text(help);
        ui.label(RichText::new(value).monospace().color(theme::of(ui).strong)).on_hover_text(help);
        ui.end_row();
    };
    let list = |v: [f64; 3]| v.map(|c| format!("{c:>9.4}")).join(" ");
    let size = |v: [f64; 3]| v.iter().map(|c| c * c).sum::<f64>().sqrt();
    tell("Speed", format::significant(size(velocity.map(f64::from)), 4), "|v|");
    tell("Position", list(position.map(f64::from)), "x, y, z");
    let pull = format::significant(size(acceleration), 4);
    tell("Acceleration", pull, "|a|: what gravity does to it, in double precision");
    tell("Energy", format::significant(energy, 4), "½ m v² + m Φ: below 0 it is bound");
}

fn number(ui: &mut egui::Ui, sink: &mut Sink, (label, key): (&str, &str), value: f32) -> Option<f32> {
    let name = ui.label(label);
    let speed = f64::from(value.abs() / 100.0).max(1e-6);
    let text = |x| format::significant(x, 4);
    let most = f64::from(FINITE_LIMIT);
    let typed = live_number(
        ui,
        sink,
        (key, &name, "type or drag to change it; it can be undone"),
        value.into(),
        (speed, text),
        -most..=most,
    );
    ui.end_row();
    typed.map(|number| number as f32)
}

/// A circle that stands out from dark places and from bright ones.
pub(super) fn ring(painter: &Painter, at: Pos2, radius: f32, colour: Color32) {
    painter.circle_stroke(at, radius, Stroke::new(4.0_f32, Color32::from_black_alpha(170)));
    painter.circle_stroke(at, radius, Stroke::new(2.0_f32, colour));
}

/// Draws what the hand does over the picture.
pub(super) fn draw(ctx: &egui::Context, model: &Model) {
    let picture = ctx.available_rect();
    let Overlay { marker, aim, path, pull } = model.overlay;
    let colours = theme::on_picture();
    let painter = ctx.layer_painter(egui::LayerId::background()).with_clip_rect(picture);
    let place = |[x, y]: [f32; 2]| {
        pos2(picture.center().x + x * picture.height(), picture.center().y + y * picture.height())
    };
    if let Some(at) = marker {
        ring(&painter, place(*at), 10.0, colours.accent);
    }
    for (nth, ends) in path.windows(2).enumerate() {
        // It fades towards where it is less sure.
        let share = 1.0 - nth as f32 / path.len() as f32;
        let stroke = Stroke::new(2.0_f32, colours.accent.gamma_multiply(0.15 + 0.85 * share));
        painter.line_segment([place(ends[0]), place(ends[1])], stroke);
    }
    if let Some([from, to]) = aim {
        let (from, to) = (place(*from), place(*to));
        painter.circle_filled(from, 4.0, colours.strong);
        painter.arrow(from, to - from, Stroke::new(1.5_f32, colours.strong));
    }
    if let Some((at, reach)) = pull {
        ring(&painter, place(*at), (reach * picture.height()).max(6.0), colours.accent);
        painter.circle_filled(place(*at), 3.0, colours.accent);
    }
    let is_over = ctx.pointer_hover_pos().is_some_and(|at| picture.contains(at));
    if model.grip.tool(model.config) != Tool::Look && is_over && !ctx.is_pointer_over_area() {
        ctx.set_cursor_icon(egui::CursorIcon::Crosshair);
    }
}
