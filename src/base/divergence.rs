//! Difference between two simulations of the same scene at the same step.

use glam::DVec3;

use super::bodies::{Points, Shape, sample_stride};
use super::flow::Image;

/// Maximum number of bodies or pixels that are compared. If there are more, a sample is compared.
const SAMPLE: usize = 65_536;
/// Maximum number of points of a [`DivergenceLog`]. At this number, the log drops every other point.
const MOST: usize = 512;

/// Difference between two simulations, relative to the size of the scene. For bodies, a difference is the distance
/// between the positions of one body in the two simulations; the size is the root mean square distance of the bodies
/// from their mean position. For flows, a difference is that of the values of one pixel in the two images; the size is
/// the root mean square of the pixel values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Divergence {
    /// Root mean square of the differences, relative to the size of the scene.
    pub rms: f64,
    /// Largest difference, relative to the size of the scene.
    pub largest: f64,
}

impl Divergence {
    /// Compares two simulations body by body, or pixel by pixel if both are flows. Leaves out bodies quarantined in
    /// either simulation. Returns `None` if the numbers of bodies differ, nothing can be compared, or the size is 0.
    pub fn between(a: &Points, b: &Points) -> Option<Self> {
        match (a.shape, b.shape) {
            (Shape::Tracers { .. }, Shape::Tracers { .. }) => Self::of_images(&a.image, &b.image),
            (Shape::Tracers { .. }, _) | (_, Shape::Tracers { .. }) => None,
            _ => Self::of_bodies(a, b),
        }
    }

    fn of_bodies(a: &Points, b: &Points) -> Option<Self> {
        if (a.bodies(), a.skipped) != (b.bodies(), b.skipped) {
            return None;
        }
        let stride = sample_stride(a.positions.len(), SAMPLE);
        let place = |points: &Points, body: usize| {
            let &[x, y, z, w] = points.positions.get(body)?;
            let place = DVec3::new(x.into(), y.into(), z.into());
            (w != 0.0 && place.is_finite()).then_some(place)
        };
        let sample = || {
            let bodies = (0..a.positions.len()).step_by(stride);
            bodies.filter_map(|body| Some((place(a, body)?, place(b, body)?)))
        };
        let count = sample().count() as f64;
        let mean = sample().map(|(at, _)| at).sum::<DVec3>() / count;
        let size = (sample().map(|(at, _)| at.distance_squared(mean)).sum::<f64>() / count).sqrt();
        Self::of(sample().map(|(a, b)| a.distance(b)), size)
    }

    fn of_images(a: &Image, b: &Image) -> Option<Self> {
        if (a.width, a.height, a.tones) != (b.width, b.height, b.tones) {
            return None;
        }
        let stride = sample_stride(a.values.len(), SAMPLE);
        let is_known = |value: &f32| value.is_finite() && *value != Image::WALL;
        let sample = || {
            let pairs = a.values.iter().zip(b.values.iter()).step_by(stride);
            pairs.filter(|(a, b)| is_known(a) && is_known(b)).map(|(a, b)| (f64::from(*a), f64::from(*b)))
        };
        let squares: f64 = sample().map(|(a, _)| a * a).sum();
        Self::of(sample().map(|(a, b)| (a - b).abs()), (squares / sample().count() as f64).sqrt())
    }

    /// Returns the divergence, or `None` if there are no differences or if the scene's size is 0 or not finite.
    fn of(differences: impl Iterator<Item = f64>, size: f64) -> Option<Self> {
        let (mut count, mut squares, mut largest) = (0.0, 0.0, 0.0_f64);
        for difference in differences {
            (count, squares, largest) =
                (count + 1.0, squares + difference * difference, largest.max(difference));
        }
        let is_measured = count > 0.0 && size > 0.0 && size.is_finite();
        is_measured.then(|| Self { rms: (squares / count).sqrt() / size, largest: largest / size })
    }
}

/// Divergence of two simulations at past steps, thinned out to a limited number of points.
#[derive(Debug, Clone, Default)]
pub struct DivergenceLog {
    points: Vec<(u64, Divergence)>,
    /// Smallest number of steps between two consecutive points.
    every: u64,
}

impl DivergenceLog {
    /// Adds the divergence at `step`. Removes points at this step or later, because the simulation may go back in time.
    pub fn note(&mut self, step: u64, divergence: Divergence) {
        self.points.retain(|(at, _)| *at < step);
        // The newest point is always kept, and replaces one that is too near to the point before it.
        if let [.., (before, _), (last, _)] = self.points[..]
            && last < before + self.every
        {
            self.points.pop();
        }
        self.points.push((step, divergence));
        if self.points.len() > MOST {
            self.points = self.points.iter().step_by(2).copied().collect();
            let [(first, _), .., (last, _)] = self.points[..] else { return };
            self.every = (last - first) / (self.points.len() as u64 - 1);
        }
    }

    /// Returns the latest divergence, or `None` if there is none.
    pub fn latest(&self) -> Option<Divergence> {
        self.points.last().map(|(_, divergence)| *divergence)
    }

    /// Returns the step and the divergence of each point, in the order of the steps.
    pub fn points(&self) -> &[(u64, Divergence)] {
        &self.points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(positions: Vec<[f32; 4]>) -> Points {
        Points { positions: positions.into(), ..Points::default() }
    }

    /// Returns bodies on a circle of radius 2 around (5, 0, 0), each moved outwards by `share` of the radius.
    fn ring(share: f32) -> Points {
        let place = |nth: usize| {
            let (sin, cos) = (nth as f32 * std::f32::consts::TAU / 360.0).sin_cos();
            let radius = 2.0 * (1.0 + share);
            [5.0 + radius * cos, radius * sin, 0.0, 1.0]
        };
        points((0..360).map(place).collect())
    }

    #[test]
    fn the_divergence_of_an_expanded_ring_equals_the_relative_expansion() {
        let Divergence { rms, largest } = Divergence::between(&ring(0.0), &ring(0.25)).unwrap();
        assert!((rms - 0.25).abs() < 1e-6 && (largest - 0.25).abs() < 1e-6, "{rms} {largest}");
        let mut one = ring(0.0);
        one.positions[7][2] = 4.0;
        let Divergence { rms, largest } = Divergence::between(&ring(0.0), &one).unwrap();
        assert!((largest - 2.0).abs() < 1e-6 && (rms - 2.0 / 360f64.sqrt()).abs() < 1e-6, "{rms} {largest}");
    }

    #[test]
    fn equal_bodies_have_zero_divergence_and_different_counts_are_not_comparable() {
        let zero = Divergence { rms: 0.0, largest: 0.0 };
        assert_eq!(Divergence::between(&ring(0.0), &ring(0.0)), Some(zero));
        assert_eq!(Divergence::between(&ring(0.0), &points(vec![[0.0, 0.0, 0.0, 1.0]])), None);
        assert_eq!(Divergence::between(&points(Vec::new()), &points(Vec::new())), None);
        // A quarantined body has mass 0.
        let mut lost = ring(0.0);
        lost.positions[3] = [1e6, 0.0, 0.0, 0.0];
        assert_eq!(Divergence::between(&ring(0.0), &lost), Some(zero));
    }

    #[test]
    fn the_divergence_of_flows_is_the_relative_difference_of_displayed_values() {
        let flow = |values: [f32; 4]| {
            let image = Image { width: 2, height: 2, values: values.to_vec().into(), ..Image::default() };
            Points { shape: Shape::Tracers { half: [1.0, 1.0] }, image, ..Points::default() }
        };
        let a = flow([3.0, 4.0, Image::WALL, 0.0]);
        let Divergence { rms, largest } =
            Divergence::between(&a, &flow([3.0, 3.0, Image::WALL, 0.0])).unwrap();
        assert!(
            (rms - 0.2).abs() < 1e-9 && (largest - (3.0f64 / 25.0).sqrt()).abs() < 1e-9,
            "{rms} {largest}"
        );
    }

    #[test]
    fn a_divergence_log_has_bounded_size_keeps_both_ends_and_can_be_rewound() {
        let mut log = DivergenceLog::default();
        let at = |step: u64| Divergence { rms: step as f64, largest: 0.0 };
        for step in (0..40_000).step_by(4) {
            log.note(step, at(step));
            assert_eq!(log.latest(), Some(at(step)));
        }
        let points = log.points();
        assert!((MOST / 4..=MOST).contains(&points.len()), "{}", points.len());
        assert_eq!((points[0].0, points[points.len() - 1].0), (0, 39_996));
        assert!(points.is_sorted_by(|a, b| a.0 < b.0) && points.iter().all(|(step, it)| *it == at(*step)));
        let widest = points.windows(2).map(|pair| pair[1].0 - pair[0].0).max().unwrap();
        assert!(widest < 400, "{widest} steps without a point");
        log.note(100, at(100));
        assert!(log.points().iter().all(|(step, _)| *step <= 100));
    }
}
