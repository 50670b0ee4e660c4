//! The gallery: every scene with a picture of it, drawn by gravitile itself (`scripts/thumbnails`).

use std::collections::HashMap;
use std::sync::Arc;

use egui::{Button, ColorImage, Image, RichText, Sense, TextureHandle, TextureOptions, vec2};

use super::theme;
use super::widgets::Sink;
use crate::config::Config;
use crate::modes::{MODES, ModeInfo};
use crate::scene::Scene;

/// A picture's size, in points: half of its pixels, so that it is sharp on fine screens.
const PICTURE: egui::Vec2 = vec2(160.0, 100.0);
/// Around a picture and its name, in points.
const EDGE: f32 = 5.0;
/// Between two of them.
const GAP: f32 = 4.0;

/// A scene, and the mode that it is of.
pub(super) type Chosen = (&'static ModeInfo, &'static Arc<Scene>);

/// Whether it is open, and its pictures once it was.
#[derive(Default)]
pub(super) struct Gallery {
    pub is_open: bool,
    pictures: HashMap<String, TextureHandle>,
}

impl std::fmt::Debug for Gallery {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Gallery").field("is_open", &self.is_open).finish_non_exhaustive()
    }
}

impl Gallery {
    /// Shows it while it is open; what was chosen.
    pub fn show(&mut self, ctx: &egui::Context, config: &Config, sink: &mut Sink) -> Option<Chosen> {
        if !self.is_open {
            return None;
        }
        let mut chosen = None;
        let free = ctx.available_rect();
        let column = PICTURE.x + 2.0 * EDGE + GAP;
        let columns = ((free.width() - 60.0) / column).clamp(1.0, 5.0) as usize;
        let mut is_open = true;
        let window = egui::Window::new("Scenes").open(&mut is_open).collapsible(false).resizable(false);
        let window = window.pivot(egui::Align2::CENTER_CENTER).default_pos(free.center());
        window.show(ctx, |ui| {
            ui.set_width(columns as f32 * column + 14.0);
            let height = free.height() - 110.0;
            let scroll = egui::ScrollArea::vertical().max_height(height).min_scrolled_height(height);
            scroll.show(ui, |ui| {
                for info in MODES {
                    ui.add_space(4.0);
                    ui.horizontal(|ui| {
                        ui.label(RichText::new(info.name).strong().color(theme::of(ui).accent));
                        ui.label(RichText::new(info.summary).small().color(theme::of(ui).weak));
                    });
                    for scenes in info.scenes.chunks(columns) {
                        ui.horizontal(|ui| {
                            ui.spacing_mut().item_spacing.x = GAP;
                            for scene in scenes {
                                if self.card(ui, scene, config.start == *scene, sink) {
                                    chosen = Some((*info, scene));
                                }
                            }
                        });
                    }
                }
            });
        });
        self.is_open &= is_open && chosen.is_none();
        chosen
    }

    /// A scene's picture and name; whether it was clicked.
    fn card(&mut self, ui: &mut egui::Ui, scene: &Scene, is_chosen: bool, sink: &mut Sink) -> bool {
        let frame = egui::Frame::NONE.corner_radius(6).inner_margin(EDGE - 2.0).stroke(match is_chosen {
            true => egui::Stroke::new(2.0_f32, theme::of(ui).accent),
            false => egui::Stroke::new(2.0_f32, egui::Color32::TRANSPARENT),
        });
        let card = frame.show(ui, |ui| {
            ui.vertical(|ui| {
                ui.set_width(PICTURE.x);
                ui.spacing_mut().item_spacing.y = 2.0;
                let picture = self.picture(ui.ctx(), scene);
                let picture =
                    picture.map(|picture| Image::from_texture((picture.id(), PICTURE)).corner_radius(4));
                let clicked = picture.map(|picture| ui.add(picture.sense(Sense::click())).clicked());
                let name = ui.add(Button::selectable(is_chosen, scene.title.as_str()).truncate());
                sink.note(format!("scene {}", scene.name), &name);
                clicked == Some(true) || name.clicked()
            })
            .inner
        });
        card.response.on_hover_text(&scene.summary);
        card.inner
    }

    fn picture(&mut self, ctx: &egui::Context, scene: &Scene) -> Option<&TextureHandle> {
        if !self.pictures.contains_key(&scene.name) {
            // tests/panel looks at every one of them.
            let picture = image::load_from_memory(scene.thumbnail).ok()?.to_rgb8();
            let size = [picture.width() as usize, picture.height() as usize];
            let picture =
                ctx.load_texture(&scene.name, ColorImage::from_rgb(size, &picture), TextureOptions::LINEAR);
            self.pictures.insert(scene.name.clone(), picture);
        }
        self.pictures.get(&scene.name)
    }
}
