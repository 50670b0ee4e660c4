//! Relative errors of kernels, compared with double precision.

/// Effect of a step on one body: the changes in its velocity and position. If only the body's acceleration is compared,
/// `velocity` holds the acceleration.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Effect {
    /// Change in the body's velocity, or the body's acceleration. For a fluid cell, some of its populations.
    pub velocity: [f64; 4],
    /// Change in the body's position. For a fluid cell, some of its populations.
    pub position: [f64; 4],
}

/// Effect of a step on one body, as computed by a kernel and by a reference in double precision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judged {
    /// Index of the body or cell.
    pub body: usize,
    /// Effect computed by the kernel.
    pub computed: Effect,
    /// Reference effect, computed in double precision.
    pub right: Effect,
}

impl Judged {
    /// Returns the relative error |computed − right| / |right| in velocity or position, whichever is larger. Returns
    /// `None` if nothing acts on the body.
    pub fn error(&self) -> Option<f64> {
        self.squares().into_iter().filter_map(Squares::ratio).reduce(f64::max)
    }

    /// Returns the squared error and the squared exact effect, first for the velocity, then for the position.
    fn squares(&self) -> [Squares; 2] {
        let Self { computed, right, .. } = self;
        [Squares::of(computed.velocity, right.velocity), Squares::of(computed.position, right.position)]
    }
}

/// Effects of the last step on a sample of bodies. Each reference effect is computed on demand, from all bodies.
pub type Sample = Box<dyn Iterator<Item = Judged> + Send>;

/// Largest relative error that the `check` command accepts from a kernel that is exact up to rounding.
pub const TOLERANCE: f64 = 1e-4;
/// Maximum usual error of an approximate variant that `auto` may choose, in modes without an accuracy parameter.
pub const UNNOTICED: f64 = 1e-3;
/// Maximum number of bodies whose errors are measured. Fewer are measured if time runs short.
pub const SAMPLE: usize = 256;
/// Minimum number of bodies whose errors are measured, or all bodies if there are fewer. The number is large enough to
/// determine a 99th percentile.
pub const LEAST_SAMPLE: usize = 128;
/// Smallest number of errors for which a 99th percentile is reported. In smaller samples, it is equal to the maximum.
const LEAST_FOR_P99: usize = 100;

/// Returns `most` distinct random indices below `count`, or all indices below `count` if `most` ≥ `count`.
pub fn choose(count: usize, most: usize) -> Vec<usize> {
    rand::seq::index::sample(&mut rand::rng(), count, most.min(count)).into_vec()
}

/// Relative errors of a sample of bodies or cells. Errors are infinite where a computed value is NaN.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct SampleErrors {
    /// Number of errors in the sample: one per body; two per cell of a fluid (moving and resting populations).
    pub count: usize,
    /// Relative error √(Σ|computed − right|² / Σ|right|²) over the sample: that of the velocities or that of the
    /// positions, whichever is larger.
    pub rms: f64,
    /// Median of |computed − right| / |right|. The error of a body is its error in velocity or in position, whichever
    /// is larger.
    pub median: f64,
    /// 99th percentile of |computed − right| / |right|; `None` if the sample is too small to tell it from the maximum.
    pub p99: Option<f64>,
    /// Largest |computed − right| / |right| of the sample.
    pub max: f64,
}

impl SampleErrors {
    /// Computes the errors of a sample, except for bodies on which nothing acts. Returns `None` if no body is left.
    pub fn of(bodies: impl IntoIterator<Item = Judged>) -> Option<Self> {
        let (mut velocity, mut position) = (Squares::default(), Squares::default());
        let mut errors = Vec::new();
        for judged in bodies {
            let [of_velocity, of_position] = judged.squares();
            velocity.add(of_velocity);
            position.add(of_position);
            errors.extend(judged.error());
        }
        let rms = [velocity.ratio(), position.ratio()].into_iter().flatten().reduce(f64::max)?;
        Self::new(rms, errors)
    }

    /// Summarizes `errors`, one per body or cell, whose root mean square is `rms`. Returns `None` for an empty list.
    pub(super) fn new(rms: f64, mut errors: Vec<f64>) -> Option<Self> {
        errors.sort_unstable_by(f64::total_cmp);
        let count = errors.len();
        // Returns the smallest error that is not exceeded in at least `percent` % of the sample.
        let percentile = |percent: usize| errors[(percent * count).div_ceil(100) - 1];
        errors.last().map(|&max| Self {
            count,
            rms,
            median: percentile(50),
            p99: (count >= LEAST_FOR_P99).then(|| percentile(99)),
            max,
        })
    }

    /// Formats the distribution of the errors, such as `median 3e-4, 99 % below 3e-3, largest 5e-3 (sample of 256)`.
    pub fn spread(&self) -> String {
        let [median, max] = [self.median, self.max].map(|error| text(Some(error)));
        let p99 = self.p99.map(|error| format!("99 % below {}, ", text(Some(error)))).unwrap_or_default();
        format!("median {median}, {p99}largest {max} (sample of {})", self.count)
    }
}

/// Returns the root-mean-square error of a sample (see [`SampleErrors::rms`]), or `None` if all computed and exact
/// values are zero.
pub fn relative_error(bodies: impl IntoIterator<Item = Judged>) -> Option<f64> {
    SampleErrors::of(bodies).map(|errors| errors.rms)
}

/// Formats a relative error for display; `None` becomes a dash.
pub fn text(relative_error: Option<f64>) -> String {
    match relative_error {
        None => "–".to_owned(),
        Some(0.0) => "0".to_owned(),
        Some(error) => format!("{error:.1e}"),
    }
}

/// Squared error and squared exact effect of one body, or the sums of both over all bodies of a sample.
#[derive(Debug, Clone, Copy, Default)]
struct Squares {
    error: f64,
    effect: f64,
}

impl Squares {
    fn of(computed: [f64; 4], right: [f64; 4]) -> Self {
        let square = |c: f64| c * c;
        Self {
            error: (0..4).map(|k| square(computed[k] - right[k])).sum(),
            effect: right.into_iter().map(square).sum(),
        }
    }

    /// Adds the squared error and the squared exact effect of one body to the sums.
    fn add(&mut self, own: Self) {
        self.error += own.error;
        self.effect += own.effect;
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
        Judged { body: 0, computed: effect(computed), right: effect(right) }
    }

    #[test]
    fn the_relative_error_is_normalised_by_the_effects_on_all_bodies() {
        let error = relative_error([judged(3.0, 3.0), judged(4.1, 4.0)]).unwrap();
        assert!((error - 0.1 / 5.0).abs() < 1e-12, "{error}");
        let place = |x| Effect { position: [0.0, x, 0.0, 0.0], ..Effect::default() };
        let worse = Judged { body: 0, computed: place(2.0), right: place(1.0) };
        assert_eq!(relative_error([judged(1.0, 1.0), worse]), Some(1.0));
    }

    #[test]
    fn without_any_effect_the_error_is_undefined_and_nan_is_an_infinite_error() {
        assert_eq!(relative_error([]), None);
        assert_eq!(relative_error([judged(0.0, 0.0)]), None);
        for (computed, right) in [(1.0, 0.0), (f64::NAN, 1.0), (f64::NAN, 0.0), (f64::INFINITY, 1.0)] {
            assert_eq!(relative_error([judged(computed, right)]), Some(f64::INFINITY));
        }
    }

    #[test]
    fn error_percentiles_are_computed_over_bodies() {
        // 200 errors: 1 %, 2 %, … 200 %, in another order.
        let sample = |count: u32| {
            let body = move |nth: u32| judged(1.0 + 0.01 * f64::from(1 + nth * 7 % count), 1.0);
            SampleErrors::of((0..count).map(body)).unwrap()
        };
        let is = |error: f64, wanted: f64| assert!((error - wanted).abs() < 1e-9, "{error} is not {wanted}");
        let all = sample(200);
        assert_eq!(all.count, 200);
        is(all.median, 1.0);
        is(all.p99.unwrap(), 1.98);
        is(all.max, 2.0);
        // The sum of the squares from 1 to 200 is 200·201·401/6.
        is(all.rms, (201.0 * 401.0 / 6.0_f64).sqrt() * 0.01);
        is(sample(100).p99.unwrap(), 0.99);
        let few = sample(99);
        assert_eq!((few.count, few.p99), (99, None));
        is(few.median, 0.5);
        is(few.max, 0.99);
        assert_eq!(few.spread(), "median 5.0e-1, largest 9.9e-1 (sample of 99)");
        assert_eq!(all.spread(), "median 1.0e0, 99 % below 2.0e0, largest 2.0e0 (sample of 200)");
    }

    #[test]
    fn sample_errors_are_relative_to_the_effect_on_each_body() {
        let place = |x: f64| Effect { position: [0.0, x, 0.0, 0.0], ..Effect::default() };
        // Errors of 1/10 of a small effect and of 1/100 of a large effect. A body without an effect is not counted.
        let bodies = [judged(0.11, 0.1), judged(101.0, 100.0), judged(0.0, 0.0)];
        let errors = SampleErrors::of(bodies).unwrap();
        assert_eq!(errors.count, 2);
        assert!((errors.max - 0.1).abs() < 1e-9 && (errors.median - 0.01).abs() < 1e-9, "{errors:?}");
        assert!((errors.rms - 0.01).abs() < 1e-5, "{errors:?}");
        let worse = Judged { body: 0, computed: place(3.0), right: place(2.0) };
        assert_eq!(SampleErrors::of([worse]).unwrap().max, 0.5);
        let nan = SampleErrors::of([judged(1.0, 1.0), judged(f64::NAN, 1.0)]).unwrap();
        assert_eq!((nan.rms, nan.median, nan.max), (f64::INFINITY, 0.0, f64::INFINITY));
    }

    #[test]
    fn bodies_chosen_for_a_sample_are_distinct() {
        for (count, most) in [(1, 256), (3, 2), (1000, 256)] {
            let chosen: std::collections::BTreeSet<_> = choose(count, most).into_iter().collect();
            assert_eq!(chosen.len(), most.min(count));
            assert!(chosen.iter().all(|i| *i < count));
        }
    }
}
