//! "Lens" window: shows why a kernel is as fast as it is.

mod step;

use super::action::Collector;
use super::model::Model;
use super::overlay;
use super::widgets::{Chip, chips};

/// Width of the window when it is first opened, in points.
const WIDTH: f32 = 640.0;

/// State of the Lens window.
#[derive(Debug, Default)]
pub struct Lens {
    /// Whether the Lens window is shown.
    pub is_open: bool,
    page: Page,
}

/// A page of the Lens window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Page {
    /// How the time of a step divides among the kernels.
    #[default]
    Step,
}

/// All pages with their titles and tooltips, in the order of the window.
const PAGES: &[(Page, &str, &str)] =
    &[(Page::Step, "Time of a step", "How the time of a step divides among the kernels")];

impl Lens {
    /// Returns whether the window shows the times of the kernels, so that they must be measured.
    pub fn shows_kernel_times(&self) -> bool {
        self.is_open && self.page == Page::Step
    }

    /// Shows the window if it is open.
    pub(super) fn show(&mut self, ctx: &egui::Context, model: &Model, out: &mut Collector) {
        let Self { is_open, page } = self;
        overlay::window_beside(ctx, "Lens", is_open, WIDTH).vscroll(true).show(ctx, |ui| {
            let tabs = PAGES.iter().map(|(it, title, help)| Chip::new(title, help, it == page));
            if let Some(clicked) = chips(ui, out, ("lens", "Page"), tabs) {
                *page = PAGES[clicked].0;
            }
            ui.separator();
            match page {
                Page::Step => step::show(ui, model.stats),
            }
        });
    }
}
