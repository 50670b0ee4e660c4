//! Relative errors of kernels, compared with double precision.

/// Effect of a step on one body: the changes in its velocity and position, or only its acceleration (as `velocity`).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Effect {
    /// Change in the body's velocity, or the body's acceleration.
    pub velocity: [f64; 4],
    /// Change in the body's position.
    pub position: [f64; 4],
}

/// Effect of a step on one body, as computed by a kernel and by a reference in double precision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judged {
    /// Effect computed by the kernel.
    pub computed: Effect,
    /// Reference effect, computed in double precision.
    pub right: Effect,
}

/// Effects of the last step on a sample of bodies. The iterator computes each reference effect on demand, which takes
/// as long as evaluating one body against all others.
pub type Sample = Box<dyn Iterator<Item = Judged> + Send>;

/// Largest relative error that the command `check` accepts from a kernel.
pub const TOLERANCE: f64 = 1e-4;
/// Relative error above which the window shows a warning, for variants that are exact up to rounding.
pub const WORRYING: f64 = 1e-3;
/// Maximum number of bodies whose errors are measured. Fewer are measured if time runs short.
pub const SAMPLE: usize = 256;

/// Returns `most` distinct random indices below `count`, or all indices below `count` if `most` ≥ `count`.
pub fn choose(count: usize, most: usize) -> Vec<usize> {
    rand::seq::index::sample(&mut rand::rng(), count, most.min(count)).into_vec()
}

/// Returns the relative error √(Σ|computed − right|² / Σ|right|²) over all bodies, in velocity or position, whichever
/// is larger. Returns infinity if a computed value is NaN, and `None` if all computed and exact values are zero.
pub fn relative_error(bodies: impl IntoIterator<Item = Judged>) -> Option<f64> {
    let (mut velocity, mut position) = (Squares::default(), Squares::default());
    for Judged { computed, right } in bodies {
        velocity.add(computed.velocity, right.velocity);
        position.add(computed.position, right.position);
    }
    [velocity.ratio(), position.ratio()].into_iter().flatten().reduce(f64::max)
}

/// Formats a relative error for display; `None` becomes a dash.
pub fn text(relative_error: Option<f64>) -> String {
    match relative_error {
        None => "–".to_owned(),
        Some(0.0) => "0".to_owned(),
        Some(error) => format!("{error:.1e}"),
    }
}

/// Sums of the squared errors and of the squared exact effects, over all bodies.
#[derive(Debug, Clone, Copy, Default)]
struct Squares {
    error: f64,
    effect: f64,
}

impl Squares {
    fn add(&mut self, computed: [f64; 4], right: [f64; 4]) {
        for (computed, right) in computed.into_iter().zip(right) {
            self.error += (computed - right).powi(2);
            self.effect += right.powi(2);
        }
    }

    fn ratio(self) -> Option<f64> {
        let ratio = (self.error / self.effect).sqrt();
        let is_nothing = self.error == 0.0 && self.effect == 0.0;
        (!is_nothing).then_some(if ratio.is_nan() { f64::INFINITY } else { ratio })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(computed: f64, right: f64) -> Judged {
        let effect = |x| Effect { velocity: [x, 0.0, 0.0, 0.0], ..Effect::default() };
        Judged { computed: effect(computed), right: effect(right) }
    }

    #[test]
    fn the_error_is_relative_to_the_effects_on_all_bodies() {
        let error = relative_error([judged(3.0, 3.0), judged(4.1, 4.0)]).unwrap();
        assert!((error - 0.1 / 5.0).abs() < 1e-12, "{error}");
        let place = |x| Effect { position: [0.0, x, 0.0, 0.0], ..Effect::default() };
        let worse = Judged { computed: place(2.0), right: place(1.0) };
        assert_eq!(relative_error([judged(1.0, 1.0), worse]), Some(1.0));
    }

    #[test]
    fn no_effect_has_no_error_and_nan_is_an_infinite_error() {
        assert_eq!(relative_error([]), None);
        assert_eq!(relative_error([judged(0.0, 0.0)]), None);
        for (computed, right) in [(1.0, 0.0), (f64::NAN, 1.0), (f64::NAN, 0.0), (f64::INFINITY, 1.0)] {
            assert_eq!(relative_error([judged(computed, right)]), Some(f64::INFINITY));
        }
    }

    #[test]
    fn chosen_bodies_are_different() {
        for (count, most) in [(1, 256), (3, 2), (1000, 256)] {
            let chosen: std::collections::BTreeSet<_> = choose(count, most).into_iter().collect();
            assert_eq!(chosen.len(), most.min(count));
            assert!(chosen.iter().all(|i| *i < count));
        }
    }
}
