//! Words at the foot of the picture: what was just done, which fade; and an offer, which waits without being in the way.

use egui::{Align2, Button, RichText, vec2};

use super::keys::Command;
use super::theme;
use super::widgets::Sink;

/// How long words are shown, in seconds.
const SECONDS: f64 = 5.0;
/// Of that, how long they fade.
const FADE: f64 = 1.0;

/// How wide they are at most.
const MOST_WIDTH: f32 = 640.0;

/// The last words, and the offer.
#[derive(Debug, Default)]
pub(super) struct Notes {
    /// With the time at which they were first shown.
    said: Option<(String, Option<f64>)>,
    /// What could be continued.
    offer: Option<String>,
}

impl Notes {
    /// Shows `text` for a while, in place of what was said before.
    pub fn say(&mut self, text: String) {
        self.said = Some((text, None));
    }

    /// Offers to go on with what `text` says, or no more.
    pub fn offer(&mut self, text: Option<String>) {
        self.offer = text;
    }

    pub fn show(&mut self, ctx: &egui::Context, sink: &mut Sink) {
        let mut foot = ctx.available_rect().center_bottom() - vec2(0.0, 18.0);
        if let Some(offer) = &self.offer {
            let shown = area("offer", foot).show(ctx, |ui| show_offer(ui, offer, sink));
            // What is said meanwhile stands above it.
            foot.y = shown.response.rect.top() - 8.0;
        }
        let Some((text, since)) = &mut self.said else { return };
        let now = ctx.input(|input| input.time);
        let left = *since.get_or_insert(now) + SECONDS - now;
        if left <= 0.0 {
            self.said = None;
            return;
        }
        let width = MOST_WIDTH.min(ctx.available_rect().width() - 48.0).max(100.0);
        let opacity = (left / FADE).min(1.0) as f32;
        area("said", foot).interactable(false).show(ctx, |ui| {
            ui.set_opacity(opacity);
            ui.set_max_width(width);
            egui::Frame::window(ui.style()).inner_margin(egui::Margin::symmetric(12, 6)).show(ui, |ui| {
                ui.label(RichText::new(text.as_str()).color(theme::of(ui).text));
            });
        });
        // While it fades, as smoothly as the screen; until then once.
        ctx.request_repaint_after_secs(if opacity < 1.0 { 0.0 } else { (left - FADE) as f32 });
    }
}

fn area(name: &str, foot: egui::Pos2) -> egui::Area {
    egui::Area::new(egui::Id::new(name)).pivot(Align2::CENTER_BOTTOM).fixed_pos(foot)
}

fn show_offer(ui: &mut egui::Ui, offer: &str, sink: &mut Sink) {
    egui::Frame::window(ui.style()).inner_margin(egui::Margin::symmetric(14, 10)).show(ui, |ui| {
        ui.horizontal(|ui| {
            ui.label(RichText::new("Continue where you left off?").color(theme::of(ui).strong));
            ui.label(RichText::new(offer).color(theme::of(ui).weak));
            let go_on = ui.add(Button::new("Continue").fill(theme::of(ui).accent_fill));
            let go_on = go_on.on_hover_text("opens what was kept when gravitile last ended");
            let dismiss = ui.button("Not now").on_hover_text("what was kept is kept a while longer");
            for (key, button, command) in
                [("continue", go_on, Command::Continue), ("not now", dismiss, Command::NotNow)]
            {
                sink.note(key, &button);
                sink.commands.extend(button.clicked().then_some(command));
            }
        });
    });
}
