//! Gallery of all scenes, with thumbnails that `scripts/thumbnails` renders.

use std::collections::HashMap;

use egui::{Button, ColorImage, Image, Sense, TextureHandle, TextureOptions, vec2};

use super::action::{Action, Collector};
use super::theme;
use super::widgets::{heading, small};
use crate::engine::Config;
use crate::modes::{MODES, ModeInfo};
use crate::scene::Scene;

/// Size of a thumbnail in points. Its width and height in pixels are twice as large, for screens with two pixels per
/// point.
const THUMBNAIL: egui::Vec2 = vec2(160.0, 100.0);
/// Margin around a thumbnail and its title, in points.
const EDGE: f32 = 5.0;
/// Gap between the cards of scenes, in points.
const GAP: f32 = 4.0;

/// State of the scene gallery, including the thumbnails that have been loaded.
#[derive(Default)]
pub(super) struct Gallery {
    pub is_open: bool,
    thumbnails: HashMap<String, TextureHandle>,
}

impl Gallery {
    /// Shows the gallery if it is open; closes it once the user has chosen a scene.
    pub(super) fn show(&mut self, ctx: &egui::Context, config: &Config, out: &mut Collector) {
        if !self.is_open {
            return;
        }
        let asked = out.actions.len();
        let free = ctx.available_rect();
        let column = THUMBNAIL.x + 2.0 * EDGE + GAP;
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
                    self.scenes(ui, info, (columns, config), out);
                }
            });
        });
        self.is_open &= is_open && out.actions.len() == asked;
    }

    /// Shows a mode's scenes in a grid with `columns` columns.
    fn scenes(
        &mut self,
        ui: &mut egui::Ui,
        info: &'static ModeInfo,
        (columns, config): (usize, &Config),
        out: &mut Collector,
    ) {
        ui.add_space(4.0);
        ui.horizontal(|ui| {
            heading(ui, info.name);
            ui.label(small(ui, info.summary));
        });
        for scenes in info.scenes.chunks(columns) {
            ui.horizontal(|ui| {
                ui.spacing_mut().item_spacing.x = GAP;
                for scene in scenes {
                    if self.card(ui, scene, config.start == *scene, out) {
                        out.actions.push(Action::SelectScene(info, scene));
                    }
                }
            });
        }
    }

    /// Shows the thumbnail and title of a scene; returns whether either was clicked.
    fn card(&mut self, ui: &mut egui::Ui, scene: &Scene, is_chosen: bool, out: &mut Collector) -> bool {
        let colour = if is_chosen { theme::of(ui).accent } else { egui::Color32::TRANSPARENT };
        let frame = egui::Frame::NONE.corner_radius(6).inner_margin(EDGE - 2.0);
        let card = frame.stroke(egui::Stroke::new(2.0_f32, colour)).show(ui, |ui| {
            ui.vertical(|ui| {
                ui.set_width(THUMBNAIL.x);
                ui.spacing_mut().item_spacing.y = 2.0;
                let thumbnail = self.thumbnail(ui.ctx(), scene);
                let image = thumbnail.map(|it| Image::from_texture((it.id(), THUMBNAIL)).corner_radius(4));
                let is_clicked = image.map(|image| ui.add(image.sense(Sense::click())).clicked());
                let title = ui.add(Button::selectable(is_chosen, scene.title.as_str()).truncate());
                out.record(format_args!("scene {}", scene.name), &title);
                is_clicked == Some(true) || title.clicked()
            })
            .inner
        });
        card.response.on_hover_text(&scene.summary);
        card.inner
    }

    fn thumbnail(&mut self, ctx: &egui::Context, scene: &Scene) -> Option<&TextureHandle> {
        if !self.thumbnails.contains_key(&scene.name) {
            // A thumbnail that cannot be decoded is left out; the panel's tests decode all of them.
            let picture = image::load_from_memory(scene.thumbnail).ok()?.to_rgb8();
            let size = [picture.width() as usize, picture.height() as usize];
            let image = ColorImage::from_rgb(size, &picture);
            let texture = ctx.load_texture(&scene.name, image, TextureOptions::LINEAR);
            self.thumbnails.insert(scene.name.clone(), texture);
        }
        self.thumbnails.get(&scene.name)
    }
}
