//! Orbits, predicted paths and names of bodies over the picture, in the window and in saved pictures. Names are
//! placed so that no two of them overlap.

use std::collections::HashMap;

use egui::{Align2, Color32, FontId, LayerId, Mesh, Painter, Pos2, Rect, Stroke, Vec2, vec2};
use image::RgbImage;

use super::action::Collector;
use super::{rasterizer, theme};
use crate::base::look::{Srgb, Theme};

/// Font size of names and of the date, in points.
const SIZE: f32 = 14.0;
/// Distance between a body and its name, in points.
const GAP: f32 = 14.0;
/// Distance in the picture, in points, below which only the more important of two bodies is named.
const NEAR: f32 = 14.0;
/// Free space around each name, in points.
const SPACE: f32 = 3.0;
/// Height of a saved picture, in pixels, at which one point measures one pixel.
const HEIGHT: f32 = 720.0;
/// Smallest number of pixels per point in a saved picture, so that names stay legible.
const SMALLEST: f32 = 0.8;
/// Distance of the date from the edges of a saved picture, in points.
const MARGIN: f32 = 12.0;
/// Opacity of an orbit.
const ORBIT: f32 = 0.32;
/// Cross-section of a path at its beginning: pairs of a distance from the centre line, in points, and the opacity at
/// this distance.
const PATH_PROFILE: [(f32, f32); 5] = [(-6.0, 0.0), (-1.5, 0.15), (0.0, 0.9), (1.5, 0.15), (6.0, 0.0)];
/// Opacity at the end of a path, divided by the opacity at its beginning.
const PATH_END_OPACITY: f32 = 0.1;
/// Possible directions from a body to the middle of its name. The first direction is preferred.
const SIDES: [Vec2; 4] = [Vec2::RIGHT, Vec2::LEFT, Vec2::UP, Vec2::DOWN];

/// Names, orbits, paths and date that are drawn over a picture. Positions are relative to the picture's centre, in
/// picture heights, with y pointing down.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Captions {
    /// Named bodies in view, most important first.
    pub names: Vec<Caption>,
    /// Orbits.
    pub orbits: Vec<Line>,
    /// Predicted paths, which glow, and fade towards their ends.
    pub paths: Vec<Line>,
    /// Date at the lower right of saved pictures. In the window, the date is shown beside the scale bar instead.
    pub date: Option<String>,
}

/// Line in the coordinates of [`Captions`]: its colour (`None` for grey) and its points.
pub type Line = (Option<Srgb>, Vec<[f32; 2]>);

/// Name of a body, to be drawn over a picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Caption {
    /// Index of the body.
    pub body: usize,
    /// Name of the body.
    pub name: String,
    /// Position of the body in the coordinates of [`Captions`].
    pub at: [f32; 2],
    /// Whether the name is highlighted.
    pub is_selected: bool,
}

/// Places the names in successive pictures. Each name keeps its side of the body as long as there is room.
#[derive(Debug, Default)]
pub struct Labels {
    /// For each body, the index in [`SIDES`] of the side where its name was last placed.
    sides: HashMap<usize, usize>,
}

/// A name for which a place has been found.
struct Label {
    /// Index of the name in [`Captions::names`].
    nth: usize,
    at: Pos2,
    rect: Rect,
}

impl Labels {
    /// Returns `picture` with captions drawn over it in the colours of `theme`. Text grows with the picture's height.
    pub fn paint(&mut self, picture: RgbImage, captions: &Captions, theme: Theme) -> RgbImage {
        if *captions == Captions::default() {
            return picture;
        }
        let scale = (picture.height() as f32 / HEIGHT).max(SMALLEST);
        rasterizer::paint_over(picture, scale, |ctx| {
            theme::choose(ctx, theme);
            let all = ctx.content_rect();
            let painter = ctx.layer_painter(LayerId::background());
            self.draw(&painter, all, captions, Rect::NOTHING);
            if let Some(date) = &captions.date {
                let colour = theme::of_context(ctx).text;
                let corner = all.right_bottom() - vec2(MARGIN, MARGIN);
                painter.text(corner, Align2::RIGHT_BOTTOM, date, FontId::monospace(SIZE), colour);
            }
        })
    }

    /// Draws orbits, paths and names over the `picture` in the window. `overlay` is the part of the picture that the
    /// statistics cover.
    pub(super) fn show(
        &mut self,
        ctx: &egui::Context,
        captions: &Captions,
        (picture, overlay): (Rect, Rect),
        out: &mut Collector,
    ) {
        let painter = ctx.layer_painter(LayerId::background()).with_clip_rect(picture);
        for Label { nth, rect, .. } in self.draw(&painter, picture, captions, overlay) {
            out.record_rect(format!("name {}", captions.names[nth].name), rect);
        }
    }

    /// Draws the orbits and paths, and the names for which there is room; returns these names.
    fn draw(&mut self, painter: &Painter, picture: Rect, captions: &Captions, overlay: Rect) -> Vec<Label> {
        let colours = theme::of_context(painter.ctx());
        let place = |[x, y]: &[f32; 2]| picture.center() + vec2(*x, *y) * picture.height();
        let shown =
            |colour: &Option<Srgb>| colour.map_or(colours.weak, |[r, g, b]| Color32::from_rgb(r, g, b));
        for (colour, line) in &captions.orbits {
            let stroke = Stroke::new(1.0_f32, shown(colour).gamma_multiply(ORBIT));
            painter.line(line.iter().map(place).collect(), stroke);
        }
        for (colour, line) in &captions.paths {
            let line: Vec<Pos2> = line.iter().map(place).collect();
            painter.add(ribbon(&line, shown(colour)));
        }
        let galley = |caption: &Caption| {
            painter.layout_no_wrap(caption.name.clone(), FontId::proportional(SIZE), Color32::PLACEHOLDER)
        };
        let galleys: Vec<_> = captions.names.iter().map(galley).collect();
        let sized = captions.names.iter().zip(&galleys);
        let sized: Vec<_> =
            sized.map(|(caption, galley)| (caption.body, place(&caption.at), galley.size())).collect();
        let placed = self.place(&sized, picture, overlay);
        let outline = colours.surface.gamma_multiply(0.6);
        for Label { nth, rect, .. } in &placed {
            // The outline in the colour of the background keeps names legible over bodies.
            for offset in [vec2(1.0, 1.0), vec2(-1.0, 1.0), vec2(1.0, -1.0), vec2(-1.0, -1.0)] {
                painter.galley(rect.min + offset, galleys[*nth].clone(), outline);
            }
            let is_selected = captions.names[*nth].is_selected;
            let colour = if is_selected { colours.strong } else { colours.text.gamma_multiply(0.85) };
            painter.galley(rect.min, galleys[*nth].clone(), colour);
        }
        placed
    }

    /// Chooses a place for each name in `named` (body, its position, size of its name), which lists the most important
    /// first. Leaves out names that have no room beside the `overlay`.
    fn place(&mut self, named: &[(usize, Pos2, Vec2)], picture: Rect, overlay: Rect) -> Vec<Label> {
        let mut placed: Vec<Label> = Vec::new();
        for (nth, (body, at, size)) in named.iter().enumerate() {
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
                placed.push(Label { nth, at: *at, rect: rect(&side) });
            }
        }
        self.sides.retain(|body, _| placed.iter().any(|label| named[label.nth].0 == *body));
        placed
    }
}

/// Returns the mesh of a glowing line that passes through `points` and fades towards the last point.
fn ribbon(points: &[Pos2], colour: Color32) -> Mesh {
    let mut mesh = Mesh::default();
    let mut across = Vec2::ZERO;
    let last = points.len().saturating_sub(1);
    for (nth, at) in points.iter().enumerate() {
        let along = points[(nth + 1).min(last)] - points[nth.saturating_sub(1)];
        let normal = along.normalized().rot90();
        // `across` keeps its side of the line where `points` turn back, because the mesh would otherwise cross
        // itself. Where `points` coincide, there is no normal, and `across` stays as it is.
        if normal.length_sq() > 0.5 {
            across = if normal.dot(across) < 0.0 { -normal } else { normal };
        }
        let fade = 1.0 - (1.0 - PATH_END_OPACITY) * nth as f32 / last.max(1) as f32;
        for (offset, opacity) in PATH_PROFILE {
            mesh.colored_vertex(*at + offset * across, colour.gamma_multiply(opacity * fade));
        }
    }
    let width = PATH_PROFILE.len() as u32;
    for row in 1..points.len() as u32 {
        for column in 1..width {
            let corner = row * width + column;
            mesh.add_triangle(corner, corner - 1, corner - width);
            mesh.add_triangle(corner - 1, corner - width, corner - width - 1);
        }
    }
    mesh
}

#[cfg(test)]
mod tests {
    use egui::pos2;

    use super::*;

    const PICTURE: Rect = Rect { min: pos2(0.0, 0.0), max: pos2(800.0, 600.0) };

    const OVERLAY: Rect = Rect { min: pos2(600.0, 0.0), max: pos2(800.0, 100.0) };

    fn sides(labels: &mut Labels, named: &[(usize, Pos2)]) -> Vec<(usize, Rect)> {
        let sized: Vec<_> = named.iter().map(|(body, at)| (*body, *at, vec2(60.0, 14.0))).collect();
        let placed = labels.place(&sized, PICTURE, OVERLAY);
        placed.into_iter().map(|label| (named[label.nth].0, label.rect)).collect()
    }

    #[test]
    fn labels_never_overlap_and_earlier_labels_take_precedence() {
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
    fn a_label_stays_on_the_same_side_of_the_body_while_there_is_room() {
        let mut labels = Labels::default();
        let (a, b) = (pos2(400.0, 300.0), pos2(430.0, 300.0));
        let both = sides(&mut labels, &[(0, b), (1, a)]);
        assert!(both[1].1.max.x < a.x, "left of its body, because the other body is at the right");
        let alone = sides(&mut labels, &[(1, a)]);
        assert_eq!(alone[0].1, both[1].1);
        assert!(sides(&mut labels, &[(1, pos2(3.0, 300.0))])[0].1.min.x > 3.0, "no room at the left");
    }

    #[test]
    fn saved_pictures_show_names_orbits_and_a_date() {
        let picture = RgbImage::new(320, 200);
        let mut labels = Labels::default();
        assert!(labels.paint(picture.clone(), &Captions::default(), Theme::Dark) == picture);
        let caption = Caption { body: 3, name: "Earth".to_owned(), at: [0.0, 0.0], is_selected: false };
        let lit = |captions: &Captions, x: std::ops::Range<u32>, y: std::ops::Range<u32>| {
            let painted = Labels::default().paint(RgbImage::new(320, 200), captions, Theme::Dark);
            assert_eq!(painted.dimensions(), (320, 200));
            x.flat_map(|x| y.clone().map(move |y| (x, y))).any(|(x, y)| painted.get_pixel(x, y).0[2] > 20)
        };
        let named = Captions { names: vec![caption], ..Captions::default() };
        assert!(lit(&named, 165..220, 90..110) && !lit(&named, 0..155, 0..200));
        let line = vec![[-0.4, 0.3], [0.4, 0.3]];
        let orbit = Captions { orbits: vec![(Some([0, 0, 255]), line)], ..Captions::default() };
        assert!(lit(&orbit, 100..200, 155..165) && !lit(&orbit, 0..320, 0..150));
        // A path fades towards its end, and its points may coincide.
        let line = vec![[-0.4, 0.3], [-0.4, 0.3], [0.0, 0.3], [0.4, 0.3]];
        let path = Captions { paths: vec![(Some([0, 0, 255]), line)], ..Captions::default() };
        let painted = Labels::default().paint(RgbImage::new(320, 200), &path, Theme::Dark);
        let [first, middle, last] = [85, 160, 235].map(|x| painted.get_pixel(x, 160).0[2]);
        assert!(first > middle && middle > last && last > 10, "{first} {middle} {last}");
        assert!(!lit(&path, 0..320, 0..145));
        let dated = Captions { date: Some("2000-01-01".to_owned()), ..Captions::default() };
        assert!(lit(&dated, 230..320, 170..200) && !lit(&dated, 0..200, 0..200));
    }

    #[test]
    fn a_ribbon_has_the_same_width_at_sharp_turns_and_where_points_coincide() {
        let at = |x: f32| Pos2::new(x, 10.0);
        for line in [&[][..], &[at(1.0)], &[at(0.0), at(50.0), at(50.0), at(50.0), at(20.0), at(0.0)]] {
            let mesh = ribbon(line, Color32::WHITE);
            assert_eq!(mesh.vertices.len(), line.len() * PATH_PROFILE.len());
            if line.len() > 1 {
                let ys: Vec<f32> = mesh.vertices.iter().map(|vertex| vertex.pos.y - 10.0).collect();
                assert!(ys.chunks(PATH_PROFILE.len()).all(|row| row == &ys[..PATH_PROFILE.len()]), "{ys:?}");
                assert!(mesh.is_valid() && ys.iter().all(|y| y.is_finite()));
            }
        }
    }
}
