//! Pictures and films of what is shown, folded away until somebody wants them.

use egui::{CollapsingHeader, DragValue, ProgressBar, RichText};

use super::keys::{self, Command};
use super::theme;
use super::widgets::{Chip, Sink, button, chips, jumped, number, resettable, row};
use crate::film::{Format, MOST_SIDE, RATES};

/// What is chosen at first: how large pictures are, what a film is written as, how long it lasts, in seconds, and how many pictures
/// of it are shown in one.
const SIZE: PictureSize = PictureSize::Times(1);
const FORMAT: Format = Format::Gif;
const SECONDS: f32 = 5.0;
const RATE: u32 = 30;
/// The longest film that can be asked for, in seconds.
const LONGEST: f32 = 600.0;

/// What the command palette leads to: a control's key, and words.
pub(super) const SETTINGS: [(&str, &str); 3] = [
    ("picture size", "setting size of pictures and films"),
    ("film", "setting format of a film"),
    ("film seconds", "setting length of a film"),
];

/// How large a picture is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureSize {
    /// So many times as wide and high as in the window.
    Times(u32),
    /// Width and height in pixels.
    Pixels(u32, u32),
}

/// What a film is to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// What it is written as.
    pub format: Format,
    /// How many pictures.
    pub frames: u32,
    /// Pictures that are shown in a second.
    pub rate: u32,
    /// How large.
    pub size: PictureSize,
}

/// What is chosen, and how far a film is.
#[derive(Debug)]
pub(super) struct Share {
    size: PictureSize,
    /// What was typed, while another size is chosen.
    typed: (u32, u32),
    format: Format,
    seconds: f32,
    rate: u32,
    /// Pictures of a film that are done, and how many there are to be.
    pub filming: Option<(u32, u32)>,
}

impl Default for Share {
    fn default() -> Self {
        let typed = (1920, 1080);
        Self { size: SIZE, typed, format: FORMAT, seconds: SECONDS, rate: RATE, filming: None }
    }
}

impl Share {
    /// How large pictures are.
    pub fn size(&self) -> PictureSize {
        self.size
    }

    /// What a film is to be.
    pub fn plan(&self) -> Plan {
        let Self { size, format, seconds, rate, .. } = *self;
        let frames = ((seconds * rate as f32).round() as u32).max(1);
        Plan { format, frames, rate, size }
    }

    /// Shows the section.
    pub fn show(&mut self, ui: &mut egui::Ui, sink: &mut Sink) {
        ui.add_space(10.0);
        let title = RichText::new("Share").strong().color(theme::of(ui).accent);
        let unfolds = jumped(ui.ctx()).filter(|goal| SETTINGS.iter().any(|(key, _)| key == goal));
        let header = CollapsingHeader::new(title).id_salt("share").open(unfolds.map(|_| true));
        let header = header.show(ui, |ui| {
            self.sizes(ui, sink);
            self.formats(ui, sink);
            let help = "How long the film lasts, and how many pictures are shown in a second.";
            let mut length = (self.seconds, self.rate);
            let default = (SECONDS, RATE);
            resettable(
                ui,
                sink,
                ("film length", "Length", help),
                &mut length,
                default,
                |ui, sink, label, length| {
                    let seconds = DragValue::new(&mut length.0).range(0.1..=LONGEST).speed(0.1).suffix(" s");
                    number(ui, sink, ("film seconds", label, "seconds that the film lasts"), seconds);
                    let rate = DragValue::new(&mut length.1).range(RATES).speed(0.2).suffix(" /s");
                    let rate = ui
                        .add(rate.update_while_editing(false))
                        .on_hover_text("pictures that are shown in a second");
                    sink.note("film rate", &rate);
                },
            );
            (self.seconds, self.rate) = length;
            row(ui, "", "", |ui, _| self.buttons(ui, sink));
        });
        sink.note("share", &header.header_response.on_hover_text("pictures and films of what is shown"));
    }

    fn sizes(&mut self, ui: &mut egui::Ui, sink: &mut Sink) {
        const TIMES: [(u32, &str); 3] = [(1, "1×"), (2, "2×"), (4, "4×")];
        let help = "How large pictures and films are: times the picture in the window, or in pixels.";
        let words = ("picture size", "Size", help);
        let Self { size, typed, .. } = self;
        resettable(ui, sink, words, size, SIZE, |ui, sink, label, size| {
            let now = *size;
            let times = TIMES.iter().map(|(times, name)| Chip {
                name,
                help: "times the picture in the window",
                selected: now == PictureSize::Times(*times),
                in_force: false,
            });
            let selected = matches!(now, PictureSize::Pixels(..));
            let other = Chip { name: "pixels", help: "any width and height", selected, in_force: false };
            // What is typed stands below the chips.
            ui.vertical(|ui| {
                if let Some(nth) = chips(ui, sink, (words.0, words.1), times.chain([other])) {
                    let times = TIMES.get(nth).map(|(times, _)| PictureSize::Times(*times));
                    *size = times.unwrap_or(PictureSize::Pixels(typed.0, typed.1));
                }
                let PictureSize::Pixels(width, height) = size else { return };
                ui.horizontal(|ui| {
                    for (key, side, help) in [
                        ("width", &mut *width, "width in pixels"),
                        ("height", &mut *height, "height in pixels"),
                    ] {
                        number(ui, sink, (key, label, help), DragValue::new(side).range(1..=MOST_SIDE));
                    }
                });
                *typed = (*width, *height);
            });
        });
    }

    fn formats(&mut self, ui: &mut egui::Ui, sink: &mut Sink) {
        let words = ("film", "Film", "What a film is written as.");
        resettable(ui, sink, words, &mut self.format, FORMAT, |ui, sink, _, chosen| {
            let formats = Format::ALL.iter().map(|format| {
                let (name, help) = format.words();
                Chip { name, help, selected: chosen == format, in_force: false }
            });
            if let Some(nth) = chips(ui, sink, (words.0, words.1), formats) {
                *chosen = Format::ALL[nth];
            }
        });
    }

    fn buttons(&self, ui: &mut egui::Ui, sink: &mut Sink) {
        if self.filming.is_some() {
            end_buttons(ui, sink, "");
            return;
        }
        button(ui, sink, ("take picture", "Save picture", &keys::hint(Command::Picture)), Command::Picture);
        button(ui, sink, ("record", "⏺ Record", &keys::hint(Command::Record)), Command::Record);
    }

    /// Shows how far a film is, at the foot of the picture, however the panel is. It is not in the film.
    pub fn show_progress(&self, ctx: &egui::Context, sink: &mut Sink) {
        let Some((done, frames)) = self.filming else { return };
        // Above words at the foot, which may take two lines.
        let foot = ctx.available_rect().center_bottom() - egui::vec2(0.0, 84.0);
        let area = egui::Area::new("filming".into()).pivot(egui::Align2::CENTER_BOTTOM).fixed_pos(foot);
        area.show(ctx, |ui| {
            egui::Frame::window(ui.style()).inner_margin(egui::Margin::symmetric(14, 8)).show(ui, |ui| {
                ui.horizontal(|ui| {
                    let share = done as f32 / frames.max(1) as f32;
                    let bar = ProgressBar::new(share).desired_width(220.0).text(format!("{done} of {frames}"));
                    let help = "each picture is drawn, however long it takes; the simulation steps as the film needs it";
                    ui.add(bar).on_hover_text(help);
                    end_buttons(ui, sink, " at foot");
                });
            });
        });
    }
}

fn end_buttons(ui: &mut egui::Ui, sink: &mut Sink, place: &str) {
    let (keep, cancel) = (format!("end film{place}"), format!("cancel film{place}"));
    button(ui, sink, (&keep, "■ Keep", &keys::hint(Command::Record)), Command::Record);
    let help = "end the film and keep nothing, but for PNG files that are written";
    button(ui, sink, (&cancel, "Cancel", help), Command::CancelFilm);
}
