//! "Lens" window: shows why a kernel is as fast as it is.

mod editor;
mod source;
mod step;

use std::path::Path;

use super::action::Collector;
use super::model::Model;
use super::overlay;
use super::widgets::{Chip, chips};

/// Width of the window when it is first opened, in points.
const WIDTH: f32 = 640.0;
/// Height of the window when it is first opened, as a fraction of the picture's height.
const HEIGHT: f32 = 0.52;

/// State of the Lens window.
#[derive(Debug, Default)]
pub struct Lens {
    /// Whether the Lens window is shown.
    pub is_open: bool,
    page: Page,
    /// State of the page "Source".
    pub source: source::Source,
}

/// A page of the Lens window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Page {
    /// How the time of a step divides among the kernels.
    #[default]
    Step,
    /// The source of the kernel that runs.
    Source,
}

/// All pages with their titles and tooltips, in the order of the window.
const PAGES: &[(Page, &str, &str)] = &[
    (Page::Step, "Time of a step", "How the time of a step divides among the kernels"),
    (Page::Source, "Source", "The source code of the kernel that runs, and what its changes buy"),
];

impl Lens {
    /// Returns whether the window shows the times of the kernels, so that they must be measured.
    pub fn shows_kernel_times(&self) -> bool {
        self.is_open && self.page == Page::Step
    }

    /// Shows the window if it is open. `folder` contains the user's edited kernels, if any.
    pub(super) fn show(
        &mut self,
        ctx: &egui::Context,
        model: &Model,
        folder: Option<&Path>,
        out: &mut Collector,
    ) {
        let Self { is_open, page, source } = self;
        let height = HEIGHT * ctx.available_rect().height();
        let window = overlay::window_beside(ctx, "Lens", is_open, WIDTH).default_height(height);
        window.vscroll(true).show(ctx, |ui| {
            let tabs = PAGES.iter().map(|(it, title, help)| Chip::new(title, help, it == page));
            if let Some(clicked) = chips(ui, out, ("lens", "Page"), tabs) {
                *page = PAGES[clicked].0;
            }
            ui.separator();
            match page {
                Page::Step => step::show(ui, model.stats),
                Page::Source => source.show(ui, model, folder, out),
            }
        });
    }
}
