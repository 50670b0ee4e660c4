//! Which devices compute together: as many of the fastest as make a step shorter. That is tried, because what an exchange
//! costs, and how much slower a device is with a small share, is known to nobody beforehand.

use super::shares::Speeds;

/// Set to `always`, it gives every device work, whether that helps or not.
const SHARE_VARIABLE: &str = "GRAVITILE_SHARE";
/// Bursts with all devices in which their speeds show.
const WARM: u32 = 4;
/// Bursts that each number of devices is tried for: in the first the shares change.
const TRIES: u32 = 3;
/// A number of devices is not tried where computing alone would take so much longer than the best.
const HOPELESS: f64 = 1.25;
/// More devices have to be worth this much.
const GAIN: f64 = 0.98;

/// The search, and after it its outcome.
#[derive(Debug, Clone)]
pub(super) struct Search {
    phase: Phase,
    /// Among whom.
    crew: Vec<usize>,
    /// Seconds of a step with the first so many of the fastest.
    seen: Vec<(usize, f64)>,
}

#[derive(Debug, Clone)]
enum Phase {
    Warm(u32),
    Try { order: Vec<usize>, left: Vec<usize>, tries: u32 },
    Settled,
}

impl Search {
    /// Among `crew`.
    pub fn new(crew: Vec<usize>) -> Self {
        Self { phase: if Self::is_off() { Phase::Settled } else { Phase::Warm(0) }, crew, seen: Vec::new() }
    }

    /// Whether all are to take part, whatever that does.
    pub fn is_off() -> bool {
        std::env::var_os(SHARE_VARIABLE).is_some_and(|value| value == "always")
    }

    /// Begins anew with others too, and says with whom.
    pub fn join(&mut self, others: Vec<usize>) -> Vec<usize> {
        let crew: Vec<usize> = self.crew.iter().copied().chain(others).collect();
        *self = Self::new(crew.clone());
        crew
    }

    pub fn is_settled(&self) -> bool {
        matches!(self.phase, Phase::Settled)
    }

    /// Takes in what a step took with the devices that take part; those that are to do so from now on, if others.
    /// `units` is the work of a step.
    pub fn note(&mut self, seconds: f64, speeds: &Speeds, units: usize) -> Option<Vec<usize>> {
        match &mut self.phase {
            Phase::Settled => None,
            Phase::Warm(bursts) => {
                *bursts += 1;
                if *bursts < WARM {
                    return None;
                }
                let order = speeds.order(&self.crew);
                self.seen = vec![(order.len(), seconds)];
                let mut left = speeds.crews(&order);
                left.pop();
                self.phase = Phase::Try { order, left, tries: 0 };
                self.next(speeds, units)
            }
            Phase::Try { left, tries, .. } => {
                let &count = left.last()?;
                *tries += 1;
                match self.seen.iter_mut().find(|(seen, _)| *seen == count) {
                    Some((_, best)) => *best = best.min(seconds),
                    None => self.seen.push((count, seconds)),
                }
                if *tries < TRIES {
                    return None;
                }
                left.pop();
                *tries = 0;
                self.next(speeds, units)
            }
        }
    }

    /// The next number of devices to be tried, or the best if none is left.
    fn next(&mut self, speeds: &Speeds, units: usize) -> Option<Vec<usize>> {
        let Phase::Try { order, left, .. } = &mut self.phase else { return None };
        let best = self.seen.iter().map(|seen| seen.1).fold(f64::INFINITY, f64::min);
        let hopeless = |count: usize| units as f64 / speeds.together(&order[..count]) > HOPELESS * best;
        while left.last().is_some_and(|&count| hopeless(count)) {
            left.pop();
        }
        if let Some(&count) = left.last() {
            return Some(order[..count].to_vec());
        }
        self.seen.sort_unstable_by_key(|seen| seen.0);
        let mut chosen = self.seen[0];
        for &seen in &self.seen[1..] {
            if seen.1 < GAIN * chosen.1 {
                chosen = seen;
            }
        }
        let crew = order[..chosen.0].to_vec();
        self.phase = Phase::Settled;
        Some(crew)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the search ends, if devices of these speeds take `exchange` seconds for an exchange.
    fn ends(speeds: &[f64], exchange: f64) -> usize {
        let units = 1_000_000;
        let known = Speeds::guess(speeds.to_vec());
        let (mut search, mut crew) =
            (Search::new((0..speeds.len()).collect()), (0..speeds.len()).collect::<Vec<_>>());
        for _ in 0..100 {
            let costs = if crew.len() > 1 { exchange } else { 0.0 };
            let seconds = units as f64 / known.together(&crew) + costs;
            crew = search.note(seconds, &known, units).unwrap_or(crew);
        }
        assert!(search.is_settled());
        crew.len()
    }

    #[test]
    fn as_many_as_help() {
        assert_eq!(ends(&[1e6; 4], 0.01), 4);
        assert_eq!(ends(&[1e6; 4], 5.0), 1);
        assert_eq!(ends(&[1e6, 1e6, 1e3], 0.01), 2);
        assert_eq!(ends(&[1e3, 1e6], 0.01), 1);
        assert_eq!(ends(&[4e5, 1e6], 0.01), 2);
    }
}
