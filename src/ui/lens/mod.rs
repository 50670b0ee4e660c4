//! "Lens" window: helps to explain the speed of a kernel, with kernel times, source code and a roofline chart.

mod editor;
mod page;
mod roofline;
mod source;
mod step;

use std::path::Path;

use egui::{Align, Layout, ScrollArea};

pub(super) use self::page::Page;
use self::roofline::RooflinePage;
use self::source::Source;
use super::action::Collector;
use super::model::Model;
use super::widgets::{Chip, chips};
use super::{lesson, overlay};
use crate::session::WatchList;

/// Width of the Lens window when it is first opened, in points.
const WIDTH: f32 = 600.0;
/// Height of the Lens window when it is first opened, as a fraction of the picture's height.
const HEIGHT: f32 = 0.55;

/// State of the Lens window.
#[derive(Debug, Default)]
pub struct Lens {
    /// Whether the Lens window is shown.
    pub is_open: bool,
    /// State of the "Roofline" page.
    pub roofline: RooflinePage,
    /// State of the "Source" page.
    pub source: Source,
    page: Page,
}

/// All pages of the Lens window with their titles and tooltips, in the order in which the window lists them.
const PAGES: &[(Page, &str, &str)] = &[
    (Page::Step, "Step time", "How much of a step's time each kernel takes"),
    (Page::Source, "Source", "Source code of the running kernel, with notes on what each change improves"),
    (Page::Roofline, "Roofline", "How close the variants come to the device's peak rates"),
];

impl Lens {
    /// Opens the Lens window at `page`, or closes it if `page` is `None`.
    pub(super) fn open(&mut self, page: Option<Page>) {
        self.is_open = page.is_some();
        self.page = page.unwrap_or(self.page);
    }

    /// Returns what the simulation must measure for the page that is shown.
    pub fn watched(&self) -> WatchList {
        WatchList {
            kernels: self.is_open && self.page == Page::Step,
            peaks: self.is_open && self.page == Page::Roofline,
            ..WatchList::default()
        }
    }

    /// Shows the Lens window if it is open. `folder` contains the user's edited kernels, if any.
    pub(super) fn show(
        &mut self,
        ctx: &egui::Context,
        model: &Model,
        folder: Option<&Path>,
        out: &mut Collector,
    ) {
        let Self { is_open, roofline, source, page } = self;
        let height = HEIGHT * ctx.available_rect().height();
        let window = overlay::window_beside(ctx, "Lens", is_open, WIDTH);
        window.default_height(height).min_height(200.0).show(ctx, |ui| {
            let current = *page;
            let tabs = PAGES.iter().map(|(it, title, help)| Chip::new(title, help, *it == current));
            ui.horizontal(|ui| {
                if let Some(clicked) = chips(ui, out, ("lens", "Page"), tabs) {
                    *page = PAGES[clicked].0;
                }
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| lesson::start_buttons(ui, out));
            });
            ui.separator();
            match page {
                Page::Step => drop(ScrollArea::vertical().show(ui, |ui| step::show(ui, model.stats))),
                Page::Source => source.show(ui, model, folder, out),
                Page::Roofline => roofline::show(ui, roofline, model, out),
            }
        });
    }
}
