//! Relative errors of individual bodies, which the picture shows if the parameter `colour` is set to `error`.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::accuracy::Judged;
use crate::base::Points;

/// Latest measured error of each body. Each measurement takes the next few bodies in a random order. Every sample is
/// therefore random, and all bodies are measured once before any body is measured again.
#[derive(Debug, Default)]
pub struct BodyErrors {
    /// Logarithm of each body's relative error, to base 10; [`Points::UNMEASURED`] for bodies without a known error.
    values: Vec<f32>,
    /// Indices of all bodies in a random order, in which their errors are measured.
    order: Vec<usize>,
    /// Index in `order` of the next body to measure.
    next: usize,
}

impl BodyErrors {
    /// Range to which errors are clamped before their logarithm is taken. Clamping is needed because an error of 0 has
    /// no logarithm.
    const RANGE: [f64; 2] = [1e-9, 1e9];

    /// Returns the indices of the next bodies to measure: `most` of the `count` bodies, or all bodies if `count` is
    /// smaller. Discards all errors if `count` has changed.
    pub fn choose(&mut self, count: usize, most: usize) -> Vec<usize> {
        if self.order.len() != count {
            // The order is the same in every run, so that a picture that is drawn again shows the same bodies.
            let order = rand::seq::index::sample(&mut ChaCha8Rng::from_seed([0; 32]), count, count);
            *self = Self { values: vec![Points::UNMEASURED; count], order: order.into_vec(), next: 0 };
        }
        let first = self.next;
        self.next = (first + most.min(count)) % count.max(1);
        self.order.iter().cycle().skip(first).take(most.min(count)).copied().collect()
    }

    /// Stores the errors of the bodies in `sample`. Returns whether some bodies may still have no known error. This is
    /// the case if a body in `sample` had none before, or if no bodies have been chosen yet.
    pub fn note(&mut self, sample: &[Judged]) -> bool {
        let mut is_news = self.order.is_empty();
        for judged in sample {
            if let (Some(error), Some(value)) = (judged.error(), self.values.get_mut(judged.body)) {
                is_news |= *value == Points::UNMEASURED;
                *value = error.clamp(Self::RANGE[0], Self::RANGE[1]).log10() as f32;
            }
        }
        is_news
    }

    /// Discards all errors. Must be called when the forces will be computed in a different way.
    pub fn discard(&mut self) {
        self.values.fill(Points::UNMEASURED);
    }

    /// Sets the colour value of each body in `points` to the logarithm of the body's error. Bodies marked as
    /// [`Points::QUARANTINED`] (excluded because of non-finite values) keep their mark.
    pub fn colour(&self, points: &mut Points) {
        let mut measured = 0;
        for (body, value) in points.values.iter_mut().enumerate().filter(|(_, v)| **v != Points::QUARANTINED)
        {
            *value = self.values.get(body).copied().unwrap_or(Points::UNMEASURED);
            measured += usize::from(*value != Points::UNMEASURED);
        }
        points.measured = Some(measured);
    }
}

#[cfg(test)]
mod tests {
    use super::super::accuracy::Effect;
    use super::*;

    /// Returns a body whose exact acceleration is 1 and whose computed acceleration has the relative error `error`.
    fn judged(body: usize, error: f64) -> Judged {
        let effect = |x| Effect { velocity: [x, 0.0, 0.0, 0.0], ..Effect::default() };
        Judged { body, computed: effect(1.0 + error), right: effect(1.0) }
    }

    fn points(values: &[f32]) -> Points {
        Points { values: values.to_vec().into(), ..Points::default() }
    }

    #[test]
    fn all_bodies_are_chosen_in_turn_in_a_random_order() {
        let mut errors = BodyErrors::default();
        let turns: Vec<_> = (0..4).map(|_| errors.choose(100, 30)).collect();
        let mut first: Vec<_> = turns.concat();
        // The fourth call starts the order again.
        assert_eq!(turns[3][10..], turns[0][..20]);
        first.truncate(100);
        assert!(!first.is_sorted());
        first.sort_unstable();
        assert!(first.iter().copied().eq(0..100));
        assert_eq!(errors.choose(100, 1000).len(), 100);
        assert_eq!((errors.choose(0, 10).len(), errors.choose(3, 0).len()), (0, 0));
    }

    #[test]
    fn only_measured_bodies_have_an_error_colour_until_the_errors_are_discarded() {
        let mut errors = BodyErrors::default();
        errors.choose(5, 5);
        assert!(errors.note(&[judged(1, 1e-3), judged(2, 0.0), judged(3, 0.1), judged(9, 1.0)]));
        assert!(!errors.note(&[judged(3, 0.01)]), "no body is new");
        let nothing = Judged { right: Effect::default(), ..judged(4, -1.0) };
        assert!(!errors.note(&[nothing]), "a body without a force has no error");
        let mut shown = points(&[0.0, 0.0, 0.0, Points::QUARANTINED, 0.0, 0.0]);
        errors.colour(&mut shown);
        let none = Points::UNMEASURED;
        assert!((shown.values[1] + 3.0).abs() < 1e-6, "{:?}", shown.values);
        assert_eq!((shown.values[0], shown.values[2]), (none, -9.0));
        assert_eq!(shown.values[3..], [Points::QUARANTINED, none, none]);
        assert_eq!((shown.measured, shown.nonfinite()), (Some(2), 1));
        errors.discard();
        let mut shown = points(&[0.0; 5]);
        errors.colour(&mut shown);
        assert!(shown.values.iter().all(|value| *value == none) && shown.measured == Some(0));
    }

    #[test]
    fn the_error_colour_scale_spans_whole_powers_of_ten_of_measured_bodies_only() {
        // One body in a thousand is measured.
        let value = |nth: usize| if nth % 1000 == 7 { -4.7 + 2e-5 * nth as f32 } else { Points::UNMEASURED };
        let values: Vec<f32> = (0..100_000).map(value).collect();
        let range = |measured| Points { measured, ..points(&values) }.value_range();
        assert_eq!(range(Some(100)), [-5.0, -2.0]);
        let one = |value: f32| Points { measured: Some(1), ..points(&[value]) }.value_range();
        assert_eq!([one(-7.2), one(-7.0)], [[-8.0, -7.0], [-7.0, -6.0]]);
        assert_eq!(Points { measured: Some(0), ..points(&[Points::UNMEASURED]) }.value_range(), [0.0, 1.0]);
    }
}
