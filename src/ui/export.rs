//! "Export" section of the panel: pictures and films, collapsed by default.

use egui::{DragValue, ProgressBar};

use super::action::{Action, Collector};
use super::jump;
use super::numbers::number;
use super::widgets::{Chip, button, chips, folded, resettable, row, shortcut_button, title};
use crate::base::{Choice, Opt};
use crate::export::film::{Format, MOST_SIDE, Progress, RATES};

/// Size of pictures and films unless the user chooses another.
const USUAL_SIZE: PictureSize = PictureSize::Times(1);
/// Length of films, in seconds, and their frame rate, in frames per second, unless the user chooses others.
const USUAL_LENGTH: (f32, u32) = (5.0, 30);
/// Maximum length of a film, in seconds.
const MAX_SECONDS: f32 = 600.0;

/// Command palette entries for the Export section: pairs of a control's identifier and the entry's text.
pub(super) const SETTINGS: [(&str, &str); 3] = [
    ("picture size", "Size of pictures and films"),
    ("film", "File format for films"),
    ("film seconds", "Length of films in seconds"),
];

/// Size of a picture or film.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureSize {
    /// A multiple of the picture's width and height in the window.
    Times(u32),
    /// Width and height in pixels.
    Pixels(u32, u32),
}

/// Settings for recording a film.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FilmPlan {
    /// File format of the film.
    pub format: Format,
    /// Number of frames in the film.
    pub frames: u32,
    /// Frames per second of playback.
    pub rate: u32,
    /// Width and height of a frame.
    pub size: PictureSize,
}

/// Export settings for pictures and films, and the progress of the current film.
#[derive(Debug)]
pub struct Export {
    size: PictureSize,
    /// Width and height, in pixels, that the user last typed; kept while another size is selected.
    typed: (u32, u32),
    format: Format,
    seconds: f32,
    rate: u32,
    /// Progress of the film that is being recorded, if any.
    pub filming: Option<Progress>,
}

impl Default for Export {
    fn default() -> Self {
        let (seconds, rate) = USUAL_LENGTH;
        Self { size: USUAL_SIZE, typed: (1920, 1080), format: Format::usual(), seconds, rate, filming: None }
    }
}

impl Export {
    /// Returns the settings for the next film. Saved pictures have the same size as the film's frames.
    pub fn plan(&self) -> FilmPlan {
        let Self { size, format, seconds, rate, .. } = *self;
        let frames = ((seconds * rate as f32).round() as u32).max(1);
        FilmPlan { format, frames, rate, size }
    }

    pub(super) fn show(&mut self, ui: &mut egui::Ui, out: &mut Collector) {
        ui.add_space(10.0);
        let unfolds = jump::target(ui.ctx()).is_some_and(|key| SETTINGS.iter().any(|(own, _)| *own == &*key));
        let texts = ("share", title(ui, "Export"), "Save pictures and record films");
        folded(ui, out, texts, unfolds, |ui, out| {
            self.sizes(ui, out);
            self.formats(ui, out);
            self.length(ui, out);
            row(ui, "", "", |ui, _| self.buttons(ui, out));
        });
    }

    fn sizes(&mut self, ui: &mut egui::Ui, out: &mut Collector) {
        const TIMES: [(u32, &str); 3] = [(1, "1×"), (2, "2×"), (4, "4×")];
        let help = "Size of pictures and films: a multiple of their size in the window, or a width and a height in pixels.";
        let texts = ("picture size", "Size", help);
        let Self { size, typed, .. } = self;
        resettable(ui, out, texts, size, USUAL_SIZE, |ui, out, label, size| {
            let now = *size;
            let help = "Size as a multiple of the picture's size in the window";
            let times = TIMES.iter().map(|(it, name)| Chip::new(name, help, now == PictureSize::Times(*it)));
            let is_typed = matches!(now, PictureSize::Pixels(..));
            let pixels = Chip::new("pixels", "Any width and height in pixels", is_typed);
            ui.vertical(|ui| {
                if let Some(nth) = chips(ui, out, (texts.0, texts.1), times.chain([pixels])) {
                    let times = TIMES.get(nth).map(|(times, _)| PictureSize::Times(*times));
                    *size = times.unwrap_or(PictureSize::Pixels(typed.0, typed.1));
                }
                let PictureSize::Pixels(width, height) = size else { return };
                ui.horizontal(|ui| {
                    let mut side = |key, help, side| {
                        number(ui, out, (key, label, help), DragValue::new(side).range(1..=MOST_SIDE));
                    };
                    side("width", "Width in pixels", &mut *width);
                    side("height", "Height in pixels", &mut *height);
                });
                *typed = (*width, *height);
            });
        });
    }

    fn formats(&mut self, ui: &mut egui::Ui, out: &mut Collector) {
        let texts = (
            "film",
            "Film",
            "File format for films. The default is MP4 if the program ffmpeg is installed, and GIF otherwise.",
        );
        resettable(ui, out, texts, &mut self.format, Format::usual(), |ui, out, _, chosen| {
            let chip =
                |(format, opt): &'static (Format, Opt)| Chip::new(opt.name, opt.help, chosen == format);
            let formats = Format::OPTIONS.iter().map(chip);
            if let Some(nth) = chips(ui, out, (texts.0, texts.1), formats) {
                *chosen = Format::OPTIONS[nth].0;
            }
        });
    }

    fn length(&mut self, ui: &mut egui::Ui, out: &mut Collector) {
        let texts = ("film length", "Length", "Length and frame rate of the film.");
        let mut length = (self.seconds, self.rate);
        resettable(ui, out, texts, &mut length, USUAL_LENGTH, |ui, out, label, length| {
            let seconds = DragValue::new(&mut length.0).range(0.1..=MAX_SECONDS).speed(0.1).suffix(" s");
            number(ui, out, ("film seconds", label, "Length of the film in seconds"), seconds);
            let rate = DragValue::new(&mut length.1).range(RATES).speed(0.2).suffix(" fps");
            let rate = ui.add(rate.update_while_editing(false));
            out.record("film rate", &rate.on_hover_text("Frames per second of the film"));
        });
        (self.seconds, self.rate) = length;
    }

    fn buttons(&self, ui: &mut egui::Ui, out: &mut Collector) {
        if self.filming.is_some() {
            end_buttons(ui, out, "");
            return;
        }
        shortcut_button(ui, out, ("take picture", "Save picture"), Action::SavePicture);
        shortcut_button(ui, out, ("record", "⏺ Record"), Action::RecordFilm);
    }

    /// Shows the progress of a film at the bottom of the picture. The progress bar does not appear in the film.
    pub(super) fn show_progress(&self, ctx: &egui::Context, out: &mut Collector) {
        let Some(progress) = self.filming else { return };
        // Leaves room below for a toast of two lines.
        let bottom = ctx.available_rect().center_bottom() - egui::vec2(0.0, 84.0);
        let area = egui::Area::new("filming".into()).pivot(egui::Align2::CENTER_BOTTOM).fixed_pos(bottom);
        area.show(ctx, |ui| {
            egui::Frame::window(ui.style()).inner_margin(egui::Margin::symmetric(14, 8)).show(ui, |ui| {
                let help = "The simulation waits until each frame is drawn, so that the film plays smoothly";
                ui.label(progress.to_string()).on_hover_text(help);
                ui.horizontal(|ui| {
                    ui.add(ProgressBar::new(progress.share()).desired_width(220.0));
                    end_buttons(ui, out, " at foot");
                });
            });
        });
    }
}

fn end_buttons(ui: &mut egui::Ui, out: &mut Collector, place: &str) {
    let stop = format!("end film{place}");
    shortcut_button(ui, out, (&stop, "■ Stop and save"), Action::RecordFilm);
    let cancel = format!("cancel film{place}");
    let help = "Stop recording and discard the film; PNG files that were already written are kept";
    button(ui, out, (&cancel, "Cancel", help), Action::CancelFilm);
}
