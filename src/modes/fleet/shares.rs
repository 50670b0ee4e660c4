//! Divides work among devices in proportion to their measured speeds.

use std::ops::Range;

/// Largest fraction of a step's time that may be lost to uneven shares before the shares are adjusted.
const TOLERANCE: f64 = 0.02;

/// Speeds of the devices, estimated or measured, in units of work per second.
#[derive(Debug, Clone)]
pub(super) struct Speeds {
    rates: Vec<f64>,
    measured: Vec<bool>,
    /// Whether the first device always takes part. In an MPI run it must, because rank 0 collects the results on it.
    has_fixed_first: bool,
}

impl Speeds {
    /// Creates speeds from estimates, which measurements later replace. Only the ratios of the estimates matter.
    pub(super) fn guess(rates: Vec<f64>) -> Self {
        Self { measured: vec![false; rates.len()], rates, has_fixed_first: false }
    }

    /// Returns the speeds with a new value of `has_fixed_first`. If it is set, [`Speeds::order`] always puts the first
    /// device first.
    pub(super) fn with_fixed_first(self, has_fixed_first: bool) -> Self {
        Self { has_fixed_first, ..self }
    }

    /// Records that a device completed `units` units of work in `seconds` seconds.
    pub(super) fn note(&mut self, device: usize, units: usize, seconds: f64) {
        if units == 0 || seconds <= 0.0 {
            return;
        }
        let rate = units as f64 / seconds;
        // The first measurement replaces the guess. Later measurements are averaged, because they are noisy.
        let weight = if self.measured[device] { 0.5 } else { 1.0 };
        self.rates[device] += weight * (rate - self.rates[device]);
        self.measured[device] = true;
    }

    /// Returns the sum of the speeds of `devices`, in units of work per second.
    pub(super) fn together(&self, devices: &[usize]) -> f64 {
        devices.iter().map(|&device| self.rates[device]).sum()
    }

    /// Returns the device indices in `devices`, sorted from the fastest to the slowest device. A fixed first device
    /// comes first.
    pub(super) fn order(&self, devices: &[usize]) -> Vec<usize> {
        let mut order = devices.to_vec();
        order.sort_by(|&a, &b| self.rates[b].total_cmp(&self.rates[a]));
        if let Some(at) = order.iter().position(|&device| self.has_fixed_first && device == 0) {
            order[..=at].rotate_right(1);
        }
        order
    }

    /// Returns the numbers of devices to try: powers of two, the number of all devices, and each number after which the
    /// next device in `order` is less than half as fast.
    pub(super) fn counts_to_try(&self, order: &[usize]) -> Vec<usize> {
        let falls = |count: usize| {
            count == order.len() || self.rates[order[count]] < 0.5 * self.rates[order[count - 1]]
        };
        (1..=order.len()).filter(|&count| count.is_power_of_two() || falls(count)).collect()
    }

    /// Divides `units` units of work among `devices`. Each device gets at least one unit because the speed of an idle
    /// device cannot be measured. There must be at least as many units as devices.
    pub(super) fn shares(&self, devices: &[usize], units: usize) -> Vec<Range<usize>> {
        let rates: Vec<f64> = devices.iter().map(|&device| self.rates[device]).collect();
        let shares = split(units - devices.len(), &rates);
        shares.into_iter().zip(0..).map(|(share, nth)| share.start + nth..share.end + nth + 1).collect()
    }

    /// Returns whether a different division of the work than `shares` would make a step noticeably faster.
    pub(super) fn is_uneven(&self, devices: &[usize], shares: &[Range<usize>]) -> bool {
        let units: usize = shares.iter().map(ExactSizeIterator::len).sum();
        let best = units as f64 / self.together(devices);
        let slowest =
            devices.iter().zip(shares).map(|(&device, share)| share.len() as f64 / self.rates[device]);
        slowest.fold(0.0, f64::max) > (1.0 + TOLERANCE) * best
    }
}

/// Divides the indices below `units` into consecutive ranges with lengths in proportion to `weights`.
pub(super) fn split(units: usize, weights: &[f64]) -> Vec<Range<usize>> {
    let all: f64 = weights.iter().sum();
    let mut sum = 0.0;
    let mut from = 0;
    let last = weights.len().saturating_sub(1);
    let range = |(nth, weight): (usize, &f64)| {
        sum += weight;
        let to = if nth == last { units } else { (units as f64 * sum / all).round() as usize };
        let range = from..to.clamp(from, units);
        from = range.end;
        range
    };
    weights.iter().enumerate().map(range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_shares_are_proportional_to_device_speeds_and_cover_all_units() {
        for units in [0, 1, 3, 1000, 131_328] {
            for weights in [&[1.0][..], &[1.0, 1.0], &[3.0, 1.0], &[1.0, 1e-6, 2.0], &[1.0, 1.0, 1.0, 1.0]] {
                let shares = split(units, weights);
                assert_eq!(shares.first().map(|share| share.start), Some(0));
                assert_eq!(shares.last().map(|share| share.end), Some(units));
                assert!(shares.windows(2).all(|pair| pair[0].end == pair[1].start), "{shares:?}");
                let all: f64 = weights.iter().sum();
                for (share, weight) in shares.iter().zip(weights) {
                    assert!((share.len() as f64 - units as f64 * weight / all).abs() <= 1.0, "{shares:?}");
                }
            }
        }
    }

    #[test]
    fn work_shares_converge_to_the_measured_device_speeds() {
        // The true speeds of the devices differ from the guesses, and the measured times are noisy.
        let (speeds, devices, units) = ([900.0, 300.0, 10.0], [0, 1, 2], 10_000);
        let mut known = Speeds::guess(vec![1.0; 3]);
        assert_eq!(known.shares(&devices, 3), [0..1, 1..2, 2..3]);
        let mut shares = known.shares(&devices, units);
        let mut changes = 0;
        for round in 0..20 {
            for (&device, share) in devices.iter().zip(&shares) {
                let noise = 1.0 + 0.005 * f64::from((round * 7 + device as i32 * 3) % 5 - 2);
                known.note(device, share.len(), share.len() as f64 / speeds[device] * noise);
            }
            if known.is_uneven(&devices, &shares) {
                shares = known.shares(&devices, units);
                changes = round + 1;
            }
        }
        assert!(changes <= 3, "still at round {changes}");
        assert!((shares[0].len() as f64 / 7438.0 - 1.0).abs() < 0.03, "{shares:?}");
        assert_eq!(known.order(&[2, 1, 0]), [0, 1, 2]);
        assert_eq!(known.counts_to_try(&[0, 1, 2]), [1, 2, 3]);
    }
}
