//! Orbits and names of bodies over the picture. Names are placed so that no two of them overlap.

use std::collections::HashMap;
use std::sync::Arc;

use egui::{Color32, FontId, Galley, LayerId, Pos2, Rect, Stroke, Vec2, vec2};

use super::action::Collector;
use super::model::Model;
use super::theme;

/// Size of the text, in points.
const SIZE: f32 = 12.0;
/// Distance between a body and its name, in points.
const GAP: f32 = 12.0;
/// Distance below which only the heavier of two bodies is named, in points.
const NEAR: f32 = 14.0;
/// Free space around each name, in points.
const SPACE: f32 = 3.0;
/// Opacity of an orbit.
const ORBIT: f32 = 0.32;
/// Places of a name relative to its body, as the direction from the body to the middle of the name. The first is preferred.
const SIDES: [Vec2; 4] = [Vec2::RIGHT, Vec2::LEFT, Vec2::UP, Vec2::DOWN];

/// The names in the picture. Each name keeps its side of the body as long as there is room.
#[derive(Debug, Default)]
pub(super) struct Labels {
    /// Index in [`SIDES`] of the side on which each body was named last.
    sides: HashMap<usize, usize>,
}

/// A name in the picture.
struct Label {
    body: usize,
    at: Pos2,
    rect: Rect,
}

impl Labels {
    /// Draws the orbits and the names of the bodies in `model.markers`. Names that have no room are left out.
    /// `overlay` is the part of the picture that the statistics cover.
    pub(super) fn show(&mut self, ctx: &egui::Context, model: &Model, overlay: Rect, out: &mut Collector) {
        let picture = ctx.available_rect();
        let painter = ctx.layer_painter(LayerId::background()).with_clip_rect(picture);
        let scene = &model.config.start;
        for (body, line) in &model.markers.orbits {
            let own = model.stats.names.get(*body).and_then(|name| scene.colours.get(name));
            let colour = own.map_or(theme::on_picture().weak, |[r, g, b]| Color32::from_rgb(*r, *g, *b));
            let place = |[x, y]: &[f32; 2]| picture.center() + vec2(*x, *y) * picture.height();
            let stroke = Stroke::new(1.0_f32, colour.gamma_multiply(ORBIT));
            painter.line(line.iter().map(place).collect(), stroke);
        }
        let selected = model.stats.selected.map(|selected| selected.body);
        let colours = theme::on_picture();
        let mut galleys: Vec<Arc<Galley>> = Vec::new();
        let named = model.markers.named.iter().filter_map(|(body, [x, y])| {
            let name = model.stats.names.get(*body)?;
            let galley =
                painter.layout_no_wrap(name.to_owned(), FontId::proportional(SIZE), Color32::PLACEHOLDER);
            let at = picture.center() + vec2(*x, *y) * picture.height();
            galleys.push(galley.clone());
            Some((*body, at, galley.size()))
        });
        let named: Vec<_> = named.collect();
        for Label { body, rect, .. } in self.place(&named, picture, overlay) {
            let name = model.stats.names.get(body).unwrap_or_default();
            out.record_rect(format!("name {name}"), rect);
            let Some(nth) = named.iter().position(|(other, ..)| *other == body) else { continue };
            let colour =
                if selected == Some(body) { colours.strong } else { colours.text.gamma_multiply(0.85) };
            // The dark outline keeps names legible over bright bodies.
            for offset in [vec2(1.0, 1.0), vec2(-1.0, 1.0), vec2(1.0, -1.0), vec2(-1.0, -1.0)] {
                painter.galley(rect.min + offset, galleys[nth].clone(), Color32::from_black_alpha(150));
            }
            painter.galley(rect.min, galleys[nth].clone(), colour);
        }
    }

    /// Chooses the places of names, most important first, given the body, its position and the size of its name. Names that
    /// have no room beside the `overlay` are left out.
    fn place(&mut self, named: &[(usize, Pos2, Vec2)], picture: Rect, overlay: Rect) -> Vec<Label> {
        let mut placed: Vec<Label> = Vec::new();
        for (body, at, size) in named {
            if placed.iter().any(|other| other.at.distance(*at) < NEAR) {
                continue;
            }
            let last = self.sides.get(body).copied();
            let rect = |side: &usize| {
                let way = SIDES[*side];
                Rect::from_center_size(*at + way * (Vec2::splat(GAP) + 0.5 * *size), *size)
            };
            let is_free = |side: &usize| {
                let rect = rect(side).expand(SPACE);
                let meets = |other: &Label| other.rect.intersects(rect) || rect.contains(other.at);
                picture.contains_rect(rect) && !overlay.intersects(rect) && !placed.iter().any(meets)
            };
            let hides_none = |_: &usize| placed.iter().all(|other| !other.rect.expand(SPACE).contains(*at));
            let side = last.into_iter().chain(0..SIDES.len()).find(|side| is_free(side) && hides_none(side));
            if let Some(side) = side {
                self.sides.insert(*body, side);
                placed.push(Label { body: *body, at: *at, rect: rect(&side) });
            }
        }
        self.sides.retain(|body, _| placed.iter().any(|label| label.body == *body));
        placed
    }
}

#[cfg(test)]
mod tests {
    use egui::pos2;

    use super::*;

    const PICTURE: Rect = Rect { min: pos2(0.0, 0.0), max: pos2(800.0, 600.0) };

    const OVERLAY: Rect = Rect { min: pos2(600.0, 0.0), max: pos2(800.0, 100.0) };

    fn sides(labels: &mut Labels, named: &[(usize, Pos2)]) -> Vec<(usize, Rect)> {
        let sized: Vec<_> = named.iter().map(|(body, at)| (*body, *at, vec2(60.0, 14.0))).collect();
        labels.place(&sized, PICTURE, OVERLAY).into_iter().map(|label| (label.body, label.rect)).collect()
    }

    #[test]
    fn names_never_overlap_and_the_first_ones_win() {
        let mut labels = Labels::default();
        let mut random = 1u32;
        let mut next = |most: f32| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 8) as f32 / (1 << 24) as f32 * most
        };
        for _ in 0..50 {
            let named: Vec<_> = (0..60).map(|body| (body, pos2(next(800.0), next(600.0)))).collect();
            let placed = sides(&mut labels, &named);
            assert!(placed.len() > 20, "{}", placed.len());
            for (nth, (body, rect)) in placed.iter().enumerate() {
                assert!(PICTURE.contains_rect(*rect) && !OVERLAY.intersects(*rect));
                for (other, place) in &placed[..nth] {
                    assert!(!rect.intersects(*place), "{body} overlaps {other}");
                }
            }
        }
        let close = [(7, pos2(400.0, 300.0)), (3, pos2(405.0, 300.0))];
        assert_eq!(sides(&mut labels, &close).iter().map(|(body, _)| *body).collect::<Vec<_>>(), [7]);
    }

    #[test]
    fn a_name_keeps_its_side_while_there_is_room() {
        let mut labels = Labels::default();
        let (a, b) = (pos2(400.0, 300.0), pos2(430.0, 300.0));
        let both = sides(&mut labels, &[(0, b), (1, a)]);
        assert!(both[1].1.max.x < a.x, "left of its body, because the other body is at the right");
        let alone = sides(&mut labels, &[(1, a)]);
        assert_eq!(alone[0].1, both[1].1);
        assert!(sides(&mut labels, &[(1, pos2(3.0, 300.0))])[0].1.min.x > 3.0, "no room at the left");
    }
}
