//! Messages at the bottom of the picture: short-lived toasts, and an offer that stays until the user answers.

use egui::{Align2, Button, RichText, vec2};

use super::action::{Action, Collector};
use super::theme;
use super::widgets::button;

/// How long a toast is shown, in seconds.
const DURATION: f64 = 5.0;
/// Duration of the fade-out at the end of a toast, in seconds.
const FADE: f64 = 1.0;
/// Maximum width of a toast, in points.
const MAX_WIDTH: f32 = 640.0;

/// The current toast (a short message), and the offer to continue an earlier session.
#[derive(Debug, Default)]
pub struct Toasts {
    /// Text of the toast, and the time at which it was first shown, in seconds of egui's clock (`None` if not yet shown).
    toast: Option<(String, Option<f64>)>,
    /// Description of an earlier session that the user can choose to continue; `None` if there is no offer.
    pub offer: Option<String>,
}

impl Toasts {
    /// Shows `text` as a toast for a few seconds, replacing any previous toast.
    pub(super) fn say(&mut self, text: impl Into<String>) {
        self.toast = Some((text.into(), None));
    }

    /// Shows the offer to continue a session, if any, and the current toast above it.
    pub(super) fn show(&mut self, ctx: &egui::Context, out: &mut Collector) {
        let mut bottom = ctx.available_rect().center_bottom() - vec2(0.0, 18.0);
        if let Some(offer) = &self.offer {
            let shown = area("offer", bottom).show(ctx, |ui| show_offer(ui, offer, out));
            bottom.y = shown.response.rect.top() - 8.0;
        }
        let Some((text, since)) = &mut self.toast else { return };
        let now = ctx.input(|input| input.time);
        let left = *since.get_or_insert(now) + DURATION - now;
        if left <= 0.0 {
            self.toast = None;
            return;
        }
        let width = MAX_WIDTH.min(ctx.available_rect().width() - 48.0).max(100.0);
        let opacity = (left / FADE).min(1.0) as f32;
        area("toast", bottom).interactable(false).show(ctx, |ui| {
            ui.set_opacity(opacity);
            ui.set_max_width(width);
            egui::Frame::window(ui.style()).inner_margin(egui::Margin::symmetric(12, 6)).show(ui, |ui| {
                ui.label(RichText::new(text.as_str()).color(theme::of(ui).text));
            });
        });
        // Redraws when the toast begins to fade, and then in every frame.
        ctx.request_repaint_after_secs(if opacity < 1.0 { 0.0 } else { (left - FADE) as f32 });
    }
}

fn area(name: &str, bottom: egui::Pos2) -> egui::Area {
    egui::Area::new(egui::Id::new(name)).pivot(Align2::CENTER_BOTTOM).fixed_pos(bottom)
}

fn show_offer(ui: &mut egui::Ui, offer: &str, out: &mut Collector) {
    egui::Frame::window(ui.style()).inner_margin(egui::Margin::symmetric(14, 10)).show(ui, |ui| {
        ui.horizontal(|ui| {
            ui.label(RichText::new("Continue where you left off?").color(theme::of(ui).strong));
            ui.label(RichText::new(offer).color(theme::of(ui).weak));
            let resume = ui.add(Button::new("Continue").fill(theme::of(ui).accent_fill));
            let resume =
                resume.on_hover_text("Open the simulation that was saved when gravitile last closed");
            out.button("continue", &resume, Action::ContinuePrevious);
            let help = "Keep the saved simulation for later";
            button(ui, out, ("not now", "Not now", help), Action::DeclinePrevious);
        });
    });
}
