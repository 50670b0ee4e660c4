//! How far what a kernel makes of bodies is from the same in f64: the measure of `check`, of `bench` and of the window.

/// What a step does to one body, in rows as [`crate::bodies::Bodies`] has them: the changes, or the acceleration that
/// makes them and nothing.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Effect {
    /// On its velocity.
    pub velocity: [f64; 4],
    /// On its position.
    pub position: [f64; 4],
}

/// The effect that a kernel had on a body, and the one in f64.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judged {
    /// What was computed.
    pub computed: Effect,
    /// What is right.
    pub right: Effect,
}

/// Some bodies' effects of the last step. Plain memory: what is right is worked out while it is walked, on whichever
/// thread, at the cost of one body against all others for each.
pub type Sample = Box<dyn Iterator<Item = Judged> + Send>;

/// The relative error that passes.
pub const TOLERANCE: f64 = 1e-4;
/// An error to worry about: more than rounding comes to.
pub const WORRYING: f64 = 1e-3;
/// The bodies of a sample, where time allows.
pub const SAMPLE: usize = 256;

/// `most` different bodies of `count`, or all.
pub fn choose(count: usize, most: usize) -> Vec<usize> {
    rand::seq::index::sample(&mut rand::rng(), count, most.min(count)).into_vec()
}

/// √(Σ|computed − right|² / Σ|right|²) over all bodies, of whichever of velocity and position is farther off;
/// infinite if anything computed is not a number. None where there is no effect, on any body.
pub fn relative_error(bodies: impl IntoIterator<Item = Judged>) -> Option<f64> {
    let (mut velocity, mut position) = (Squares::default(), Squares::default());
    for Judged { computed, right } in bodies {
        velocity.add(computed.velocity, right.velocity);
        position.add(computed.position, right.position);
    }
    [velocity.ratio(), position.ratio()].into_iter().flatten().reduce(f64::max)
}

/// A relative error as it is shown.
pub fn text(relative_error: Option<f64>) -> String {
    match relative_error {
        None => "–".to_owned(),
        Some(0.0) => "0".to_owned(),
        Some(error) => format!("{error:.1e}"),
    }
}

/// Sums of squares.
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
    fn the_error_is_relative_to_the_effect_of_all() {
        let error = relative_error([judged(3.0, 3.0), judged(4.1, 4.0)]).unwrap();
        assert!((error - 0.1 / 5.0).abs() < 1e-12, "{error}");
        let place = |x| Effect { position: [0.0, x, 0.0, 0.0], ..Effect::default() };
        let worse = Judged { computed: place(2.0), right: place(1.0) };
        assert_eq!(relative_error([judged(1.0, 1.0), worse]), Some(1.0));
    }

    #[test]
    fn nothing_says_nothing_and_no_number_is_worst() {
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
