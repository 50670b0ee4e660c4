//! Finds the rectangles of the panel that changed since the panel was last painted.

use egui::epaint::ClippedShape;
use egui::{Rect, Shape};

/// Width of the soft edge around each painted shape, in points.
const SOFT: f32 = 2.0;
/// Maximum distance that a soft edge extends beyond the clip rectangle, in points.
pub(super) const EDGE: f32 = 1.5;

/// A set of disjoint rectangles, in points.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct Patches(pub Vec<Rect>);

impl Patches {
    /// Returns the rectangles where two lists of shapes differ, rounded outwards to pixels of 1/`scale` points.
    pub(super) fn changed(before: &[ClippedShape], now: &[ClippedShape], scale: f32) -> Self {
        let mut patches = Self::default();
        let mut differ = |a: &[ClippedShape], b: &[ClippedShape]| {
            a.iter().chain(b).for_each(|shape| patches.add(bounds(shape), scale));
        };
        if before.len() == now.len() {
            let pairs = before.iter().zip(now).filter(|(before, now)| before != now);
            pairs.for_each(|(before, now)| differ(std::slice::from_ref(before), std::slice::from_ref(now)));
        } else {
            // A shape was added or removed, which shifts all later shapes in the list.
            let same = before.iter().zip(now).take_while(|(before, now)| before == now).count();
            let (before, now) = (&before[same..], &now[same..]);
            let pairs = before.iter().rev().zip(now.iter().rev());
            let same = pairs.take_while(|(before, now)| before == now).count();
            differ(&before[..before.len() - same], &now[..now.len() - same]);
        }
        patches
    }

    /// Returns the rectangles that the shapes cover, rounded outwards to pixels of 1/`scale` points.
    pub(super) fn covered(shapes: &[ClippedShape], scale: f32) -> Self {
        let mut patches = Self::default();
        shapes.iter().for_each(|shape| patches.add(bounds(shape), scale));
        patches
    }

    fn add(&mut self, rect: Rect, scale: f32) {
        if !rect.is_positive() {
            return;
        }
        let mut patch = Rect {
            min: (rect.min.to_vec2() * scale).floor().to_pos2() / scale,
            max: (rect.max.to_vec2() * scale).ceil().to_pos2() / scale,
        };
        while let Some(other) = self.0.iter().position(|other| other.intersects(patch)) {
            patch = patch.union(self.0.swap_remove(other));
        }
        self.0.push(patch);
    }
}

/// Returns the rectangle that a shape covers, including its soft edges.
pub(super) fn bounds(ClippedShape { clip_rect, shape }: &ClippedShape) -> Rect {
    seen(shape).expand(SOFT).intersect(clip_rect.expand(EDGE))
}

fn seen(shape: &Shape) -> Rect {
    match shape {
        Shape::Vec(shapes) => shapes.iter().map(seen).fold(Rect::NOTHING, Rect::union),
        // The background of selected text is larger than the text.
        Shape::Text(text) => {
            let rows = text.galley.rows.iter();
            let rows =
                rows.map(|row| row.visuals.mesh_bounds.translate(row.pos.to_vec2() + text.pos.to_vec2()));
            rows.fold(shape.visual_bounding_rect(), Rect::union)
        }
        _ => shape.visual_bounding_rect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::{Color32, Pos2, pos2, vec2};

    fn at(x: f32, y: f32, colour: Color32) -> ClippedShape {
        let rect = Rect::from_min_size(pos2(x, y), vec2(10.0, 10.0));
        let clip_rect = Rect::from_min_max(Pos2::ZERO, pos2(300.0, 300.0));
        ClippedShape { clip_rect, shape: Shape::rect_filled(rect, 0.0, colour) }
    }

    #[test]
    fn patches_cover_exactly_the_shapes_that_changed_appeared_or_disappeared() {
        let [red, blue] = [Color32::RED, Color32::BLUE];
        let before = [at(0.0, 0.0, red), at(50.0, 0.0, red), at(100.3, 0.0, red), at(290.0, 290.0, red)];
        let seen = |now: &[ClippedShape]| Patches::changed(&before, now, 2.0).0;
        assert_eq!(seen(&before), []);

        let mut now = before.to_vec();
        (now[0], now[2]) = (at(0.0, 0.0, blue), at(104.0, 0.0, red));
        let [first, second] = seen(&now)[..] else { panic!("{:?}", seen(&now)) };
        assert_eq!(
            first,
            Rect::from_min_max(pos2(-1.5, -1.5), pos2(12.0, 12.0)),
            "within its clip rectangle"
        );
        assert_eq!(second, Rect::from_min_max(pos2(98.0, -1.5), pos2(116.0, 12.0)), "where it was and is");

        let mut now = before.to_vec();
        now.insert(1, at(200.0, 100.0, blue));
        assert_eq!(seen(&now), [Rect::from_min_max(pos2(198.0, 98.0), pos2(212.0, 112.0))]);
        assert_eq!(seen(&before[..3]), [Rect::from_min_max(pos2(288.0, 288.0), pos2(301.5, 301.5))]);
        assert_eq!(seen(&[]).len(), before.len());
    }

    #[test]
    fn patches_are_disjoint_and_cover_all_shapes() {
        let shapes: Vec<_> =
            (0..40).map(|i| at((i * 37 % 290) as f32, (i * 61 % 290) as f32, Color32::RED)).collect();
        let patches = Patches::covered(&shapes, 1.25).0;
        assert!(patches.len() > 1);
        for (nth, patch) in patches.iter().enumerate() {
            assert!(patches[..nth].iter().all(|other| !other.intersects(*patch)), "{patches:?}");
        }
        assert!(shapes.iter().all(|shape| patches.iter().any(|patch| patch.contains_rect(bounds(shape)))));
    }
}
