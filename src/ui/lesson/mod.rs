//! Card with the current step of a lesson. Each step can set up the simulation, open a page of the Lens window, and
//! outline a control.

mod file;

use std::sync::Arc;

use egui::text::LayoutJob;
use egui::{Align, Align2, FontId, Layout, RichText, ScrollArea, Sense, TextFormat, TextStyle, vec2};

pub use self::file::Lesson;
use self::file::Step;
use super::action::{Action, Collector};
use super::model::Model;
use super::theme;
use super::widgets::{button, small};
use crate::base::format;

/// Width of the text on the lesson card, in points.
const WIDTH: f32 = 272.0;
/// Distance of the lesson card from the corner of the picture, in points.
const MARGIN: f32 = 12.0;
/// Height reserved for the statistics above the lesson card, in points.
const ABOVE: f32 = 110.0;
/// Width of the names of variants in the bar chart of speeds, in points.
const NAMES: f32 = 60.0;
/// Height of a bar in the bar chart of speeds, in points.
const BAR: f32 = 8.0;

/// State of the lesson in progress.
#[derive(Debug)]
pub(super) struct Course {
    lesson: Arc<Lesson>,
    /// Index of the step that is shown.
    step: usize,
    /// Whether the settings of the current step have been applied and its page opened.
    is_set_up: bool,
    shows_answer: bool,
    /// Steps per second of each variant that has run with the mode and number of bodies in `measured`.
    speeds: Vec<(&'static str, f64)>,
    measured: (&'static str, usize),
}

impl Course {
    pub(super) fn new(lesson: Arc<Lesson>) -> Self {
        let measured = ("", 0);
        Self { lesson, step: 0, is_set_up: false, shows_answer: false, speeds: Vec::new(), measured }
    }

    /// Goes to the step with this index.
    fn go_to(&mut self, step: usize) {
        (self.step, self.is_set_up, self.shows_answer) = (step, false, false);
    }

    /// Returns the name of the control that the current step refers to, if any.
    pub(super) fn point(&self) -> Option<&str> {
        self.lesson.steps[self.step].point.as_deref()
    }

    /// Shows the lesson card. Returns `false` if the user has ended the lesson.
    pub(super) fn show(&mut self, ctx: &egui::Context, model: &Model, out: &mut Collector) -> bool {
        self.note_speed(model);
        let lesson = self.lesson.clone();
        let step = &lesson.steps[self.step];
        if !std::mem::replace(&mut self.is_set_up, true) {
            let settings = step.settings(model.device.kind);
            out.actions.extend(settings.map(|settings| Action::TakeSettings(settings.to_owned())));
            out.actions.extend(step.point.clone().map(Action::PointAt));
            out.actions.push(Action::OpenLens(step.page));
        }
        let mut goes_on = true;
        let free = ctx.available_rect();
        let corner = free.right_bottom() - vec2(MARGIN, MARGIN);
        let card = egui::Window::new("lesson").title_bar(false).resizable(false);
        card.pivot(Align2::RIGHT_BOTTOM).default_pos(corner).constrain_to(free).show(ctx, |ui| {
            ui.set_width(WIDTH);
            self.header(ui, out, &mut goes_on);
            let most = free.height() - ABOVE - 6.0 * ui.spacing().interact_size.y;
            ScrollArea::vertical().id_salt(self.step).max_height(most.max(120.0)).show(ui, |ui| {
                self.body(ui, step, model);
            });
            ui.add_space(4.0);
            self.footer(ui, out, &mut goes_on);
        });
        goes_on
    }

    fn header(&self, ui: &mut egui::Ui, out: &mut Collector, goes_on: &mut bool) {
        ui.horizontal(|ui| {
            ui.label(small(ui, self.lesson.title.as_str()));
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let leave =
                    ui.small_button("Leave").on_hover_text("End the lesson; the simulation continues");
                out.record("leave lesson", &leave);
                *goes_on &= !leave.clicked();
            });
        });
        let title = RichText::new(&self.lesson.steps[self.step].title).strong().size(16.0);
        ui.label(title.color(theme::of(ui).strong));
    }

    fn body(&mut self, ui: &mut egui::Ui, step: &Step, model: &Model) {
        let kind = model.device.kind;
        for paragraph in step.paragraphs(kind) {
            ui.label(formatted(ui, paragraph));
        }
        self.bars(ui, model);
        let Some((question, answer)) = step.question(kind) else { return };
        ui.add_space(2.0);
        ui.label(RichText::new(question.replace('`', "")).strong().color(theme::of(ui).accent));
        if self.shows_answer {
            ui.label(formatted(ui, answer));
        } else {
            self.shows_answer = ui.button("Show the answer").clicked();
        }
    }

    /// Shows a bar chart of the steps per second of the variants that have run, if there are at least two.
    fn bars(&self, ui: &mut egui::Ui, model: &Model) {
        let most = self.speeds.iter().map(|(_, speed)| *speed).fold(0.0, f64::max);
        if self.speeds.len() < 2 {
            return;
        }
        ui.label(small(ui, "Measured on this device, in steps per second:"));
        let spacing = ui.spacing().clone();
        (ui.spacing_mut().interact_size.y, ui.spacing_mut().item_spacing.y) = (0.0, 1.0);
        for (variant, speed) in &self.speeds {
            ui.horizontal(|ui| {
                let tone =
                    if *variant == model.stats.variant { theme::of(ui).strong } else { theme::of(ui).text };
                let name = egui::Label::new(RichText::new(*variant).size(12.0).color(tone));
                ui.allocate_ui_with_layout(vec2(NAMES, BAR), Layout::left_to_right(Align::Center), |ui| {
                    ui.set_min_width(NAMES);
                    ui.add(name);
                });
                let room = ui.available_width() - NAMES;
                let length = (room * (speed / most) as f32).max(1.0);
                let (rect, _) = ui.allocate_exact_size(vec2(length, BAR), Sense::hover());
                ui.painter().rect_filled(rect, 2.0, theme::of(ui).accent);
                ui.label(RichText::new(format::si(*speed)).size(12.0).color(tone));
            });
        }
        *ui.spacing_mut() = spacing;
    }

    fn footer(&mut self, ui: &mut egui::Ui, out: &mut Collector, goes_on: &mut bool) {
        let last = self.lesson.steps.len() - 1;
        ui.horizontal(|ui| {
            ui.add_enabled_ui(self.step > 0, |ui| {
                let back = ui.button("Back");
                out.record("lesson back", &back);
                if back.clicked() {
                    self.go_to(self.step - 1);
                }
            });
            ui.label(small(ui, format!("Step {} of {}", self.step + 1, last + 1)));
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let next = ui.button(if self.step == last { "Finish" } else { "Next" });
                out.record("lesson next", &next);
                match next.clicked() {
                    true if self.step == last => *goes_on = false,
                    true => self.go_to(self.step + 1),
                    false => {}
                }
            });
        });
    }

    /// Records the speed of the variant that runs. A new mode or number of bodies discards the earlier speeds.
    fn note_speed(&mut self, model: &Model) {
        let stats = model.stats;
        if std::mem::replace(&mut self.measured, (stats.mode, stats.bodies)) != self.measured {
            self.speeds.clear();
        }
        if stats.device_ms_per_step > 0.0 {
            let speed = 1e3 / stats.device_ms_per_step;
            match self.speeds.iter_mut().find(|(variant, _)| *variant == stats.variant) {
                Some((_, known)) => *known = speed,
                None => self.speeds.push((stats.variant, speed)),
            }
        }
    }
}

/// Shows the buttons that start the built-in lessons.
pub(super) fn start_buttons(ui: &mut egui::Ui, out: &mut Collector) {
    for lesson in Lesson::built_in() {
        let help = format!("Start a lesson: {}", lesson.summary);
        button(ui, out, ("start lesson", "Lesson", &help), Action::StartLesson(lesson.clone()));
    }
}

/// Returns `text` with the parts between backticks formatted as code, and the parts between asterisks as labels of
/// controls.
fn formatted(ui: &egui::Ui, text: &str) -> LayoutJob {
    let colours = theme::of(ui);
    let body = TextStyle::Body.resolve(ui.style());
    let code = FontId::monospace(body.size - 1.0);
    let mut job = LayoutJob::default();
    for (nth, piece) in text.split('`').enumerate() {
        if nth % 2 == 1 {
            job.append(piece, 0.0, TextFormat::simple(code.clone(), colours.strong));
            continue;
        }
        for (nth, piece) in piece.split('*').enumerate() {
            let colour = if nth % 2 == 1 { colours.strong } else { colours.text };
            job.append(piece, 0.0, TextFormat::simple(body.clone(), colour));
        }
    }
    job
}
