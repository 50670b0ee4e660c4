//! Finds the number of devices, counted from the fastest, with which a step takes the shortest time. The search relies
//! on measurements because the costs of exchanges and of small shares are not known in advance.

use super::shared::Plan;
use super::shares::Speeds;

/// Name of the environment variable that controls the search for the best devices. `always` selects all devices.
const SHARE_VARIABLE: &str = "GRAVITILE_SHARE";
/// Number of bursts of steps measured for each number of devices. Only the fastest burst counts, because the devices'
/// shares of the work still change during the first burst.
const TRIES: u32 = 3;
/// Number of bursts of steps that a search first runs on all devices, to measure the speed of each device. The time of
/// the first burst does not count.
const WARM: u32 = TRIES + 1;
/// Limit for the predicted step time, as a multiple of the shortest measured step time. A number of devices whose
/// predicted step time exceeds the limit is not tried.
const HOPELESS: f64 = 1.25;
/// Limit for the step time with more devices, as a fraction of the step time with fewer devices. More devices are used
/// only if their step time is below the limit.
const GAIN: f64 = 0.98;

/// State of the search for the set of devices that computes a step in the shortest time.
#[derive(Debug, Clone)]
pub(super) struct Search {
    phase: Phase,
    /// Indices of the devices to choose from.
    participants: Vec<usize>,
    /// Numbers of devices tried so far, each with the shortest measured time of a pass over all work, in seconds.
    seen: Vec<(usize, f64)>,
}

#[derive(Debug, Clone)]
enum Phase {
    Warm(u32),
    Try { order: Vec<usize>, left: Vec<usize>, tries: u32 },
    Settled,
}

impl Search {
    /// Starts a search for the best devices among `participants`.
    pub(super) fn new(participants: Vec<usize>) -> Self {
        Self {
            phase: if Self::is_off() { Phase::Settled } else { Phase::Warm(0) },
            participants,
            seen: Vec::new(),
        }
    }

    /// Returns whether the user has turned the search off with [`SHARE_VARIABLE`], so that all devices are used.
    pub(super) fn is_off() -> bool {
        std::env::var_os(SHARE_VARIABLE).is_some_and(|value| value == "always")
    }

    /// Adds the devices `others` and restarts the search. Returns all devices to choose from.
    pub(super) fn join(&mut self, others: Vec<usize>) -> Vec<usize> {
        let participants: Vec<usize> = self.participants.iter().copied().chain(others).collect();
        *self = Self::new(participants.clone());
        participants
    }

    pub(super) fn is_settled(&self) -> bool {
        matches!(self.phase, Phase::Settled)
    }

    /// Records that the devices in use took `seconds` for a pass over all work. Returns the devices to use next, or
    /// `None` to keep the current devices.
    pub(super) fn note(&mut self, seconds: f64, speeds: &Speeds, plan: &Plan) -> Option<Vec<usize>> {
        let all = self.participants.len();
        match &mut self.phase {
            Phase::Settled => None,
            Phase::Warm(bursts) => {
                *bursts += 1;
                let bursts = *bursts;
                if bursts > 1 {
                    self.see(all, seconds);
                }
                if bursts < WARM {
                    return None;
                }
                let order = speeds.order(&self.participants);
                let mut left = speeds.counts_to_try(&order);
                left.pop();
                self.phase = Phase::Try { order, left, tries: 0 };
                self.next(speeds, plan)
            }
            Phase::Try { left, tries, .. } => {
                let &count = left.last()?;
                *tries += 1;
                let is_tried = *tries == TRIES;
                if is_tried {
                    left.pop();
                    *tries = 0;
                }
                self.see(count, seconds);
                is_tried.then(|| self.next(speeds, plan)).flatten()
            }
        }
    }

    /// Records that `count` devices took `seconds` for a pass over all work.
    fn see(&mut self, count: usize, seconds: f64) {
        match self.seen.iter_mut().find(|(seen, _)| *seen == count) {
            Some((_, best)) => *best = best.min(seconds),
            None => self.seen.push((count, seconds)),
        }
    }

    /// Returns the set of devices to try next. If no set is left to try, ends the search and returns the fastest set.
    fn next(&mut self, speeds: &Speeds, plan: &Plan) -> Option<Vec<usize>> {
        let Phase::Try { order, left, .. } = &mut self.phase else { return None };
        let best = self.seen.iter().map(|seen| seen.1).fold(f64::INFINITY, f64::min);
        let predicted = |count: usize| plan.units as f64 / speeds.together(&order[..count]);
        let hopeless = |count: usize| !plan.has_fixed_work && predicted(count) > HOPELESS * best;
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
        let participants = order[..chosen.0].to_vec();
        self.phase = Phase::Settled;
        Some(participants)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a search among `devices` devices until it ends, and returns the number of devices that it chooses. `known`
    /// holds the speeds of all devices. `seconds` returns the time of a pass on the devices with the given indices.
    fn chosen(
        known: &Speeds,
        devices: usize,
        has_fixed_work: bool,
        seconds: impl Fn(&[usize]) -> f64,
    ) -> usize {
        let plan = Plan { units: UNITS, count: UNITS, grain: None, edge: 0, cut: 1, has_fixed_work };
        let mut participants: Vec<usize> = (0..devices).collect();
        let mut search = Search::new(participants.clone());
        for _ in 0..100 {
            let seconds = seconds(&participants);
            participants = search.note(seconds, known, &plan).unwrap_or(participants);
        }
        assert!(search.is_settled());
        participants.len()
    }

    const UNITS: usize = 1_000_000;

    /// Returns the number of devices that a search chooses if the devices have the given speeds and data exchange takes
    /// `exchange` seconds.
    fn ends(speeds: &[f64], exchange: f64) -> usize {
        let known = Speeds::guess(speeds.to_vec());
        chosen(&known, speeds.len(), false, |participants| {
            let costs = if participants.len() > 1 { exchange } else { 0.0 };
            UNITS as f64 / known.together(participants) + costs
        })
    }

    #[test]
    fn one_slow_burst_does_not_exclude_a_device() {
        let known = Speeds::guess(vec![1e6; 2]);
        for slow in 0..WARM {
            let burst = std::cell::Cell::new(0);
            let chosen = chosen(&known, 2, false, |participants| {
                let delay = if burst.replace(burst.get() + 1) == slow { 3.0 } else { 0.0 };
                UNITS as f64 / known.together(participants) + delay
            });
            assert_eq!(chosen, 2, "burst {slow} was slow");
        }
    }

    #[test]
    fn the_search_uses_only_as_many_devices_as_speed_up_the_simulation() {
        assert_eq!(ends(&[1e6; 4], 0.01), 4);
        assert_eq!(ends(&[1e6; 4], 5.0), 1);
        assert_eq!(ends(&[1e6, 1e6, 1e3], 0.01), 2);
        assert_eq!(ends(&[1e3, 1e6], 0.01), 1);
        assert_eq!(ends(&[4e5, 1e6], 0.01), 2);
    }

    #[test]
    fn one_device_is_tried_if_work_is_not_proportional_to_shares() {
        // One device takes 2 s to build a tree and 1 s to walk it. Two devices take 2.5 s each, with half of the walk.
        let known = Speeds::guess(vec![0.5 * UNITS as f64 / 2.5; 2]);
        let chosen = |has_fixed_work, exchange: f64| {
            chosen(&known, 2, has_fixed_work, |of| if of.len() > 1 { 2.5 + exchange } else { 3.0 })
        };
        assert_eq!((chosen(true, 0.6), chosen(true, 0.4)), (1, 2));
        // The measured speeds wrongly predict that one device would take 5 s.
        assert_eq!(chosen(false, 0.6), 2);
    }
}
