//! Two compared simulations, and the half of the picture that shows each.

use egui::{Rect, pos2};

use crate::base::DivergenceLog;
use crate::session::Stats;

/// Width of the line between the halves, in points.
pub(super) const DIVIDER: f32 = 2.0;

/// One half of the picture, which shows one of two compared simulations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Half {
    /// The left half.
    Left,
    /// The right half.
    Right,
}

impl Half {
    /// Returns the other half of the picture.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Left => Self::Right,
            Self::Right => Self::Left,
        }
    }

    /// Returns the rectangle of this half of `picture`, without the line between the halves.
    pub fn of(self, picture: Rect) -> Rect {
        let (left, right) = (picture.center().x - DIVIDER / 2.0, picture.center().x + DIVIDER / 2.0);
        match self {
            Self::Left => Rect::from_min_max(picture.min, pos2(left.max(picture.min.x), picture.max.y)),
            Self::Right => Rect::from_min_max(pos2(right.min(picture.max.x), picture.min.y), picture.max),
        }
    }
}

/// A comparison of two simulations, as the user interface shows it. The panel edits one of the two.
#[derive(Debug, Clone, Copy)]
pub struct Compared<'a> {
    /// Half of the picture that shows the simulation that the panel edits.
    pub active: Half,
    /// Statistics of the frame that the other half shows.
    pub other: &'a Stats,
    /// Divergence of the two simulations since the comparison began.
    pub divergence: &'a DivergenceLog,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_split_view_has_equal_halves_separated_by_a_divider() {
        let picture = Rect::from_min_max(pos2(300.0, 10.0), pos2(1000.0, 500.0));
        let [left, right] = [Half::Left, Half::Right].map(|half| half.of(picture));
        assert_eq!(left.size(), right.size());
        assert_eq!((left.left(), right.right(), right.left() - left.right()), (300.0, 1000.0, DIVIDER));
    }
}
