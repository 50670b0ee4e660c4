//! "Lens" window: shows why a kernel is as fast as it is.

mod roofline;
mod step;

use egui::ScrollArea;

use self::roofline::RooflinePage;
use super::action::Collector;
use super::model::Model;
use super::overlay;
use super::widgets::{Chip, chips};
use crate::session::Watched;

/// Width of the window when it is first opened, in points.
const WIDTH: f32 = 640.0;
/// Height of the window when it is first opened, in points.
const HEIGHT: f32 = 440.0;

/// State of the Lens window.
#[derive(Debug, Default)]
pub struct Lens {
    /// Whether the Lens window is shown.
    pub is_open: bool,
    /// The page "Roofline".
    pub roofline: RooflinePage,
    page: Page,
}

/// A page of the Lens window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Page {
    /// How the time of a step divides among the kernels.
    #[default]
    Step,
    /// Speeds of the variants, and the peak rates of the device.
    Roofline,
}

/// All pages with their titles and tooltips, in the order of the window.
const PAGES: &[(Page, &str, &str)] = &[
    (Page::Step, "Time of a step", "How the time of a step divides among the kernels"),
    (Page::Roofline, "Roofline", "How close the variants come to what the device can do"),
];

impl Lens {
    /// Returns what the simulation must measure for the page that is shown.
    pub fn watched(&self) -> Watched {
        Watched {
            kernels: self.is_open && self.page == Page::Step,
            peaks: self.is_open && self.page == Page::Roofline,
        }
    }

    /// Shows the window if it is open.
    pub(super) fn show(&mut self, ctx: &egui::Context, model: &Model, out: &mut Collector) {
        let Self { is_open, roofline, page } = self;
        let window = overlay::window_beside(ctx, "Lens", is_open, WIDTH);
        window.default_height(HEIGHT).min_height(200.0).show(ctx, |ui| {
            let tabs = PAGES.iter().map(|(it, title, help)| Chip::new(title, help, it == page));
            if let Some(clicked) = chips(ui, out, ("lens", "Page"), tabs) {
                *page = PAGES[clicked].0;
            }
            ui.separator();
            match page {
                Page::Step => drop(ScrollArea::vertical().show(ui, |ui| step::show(ui, model.stats))),
                Page::Roofline => roofline::show(ui, roofline, model, out),
            }
        });
    }
}
