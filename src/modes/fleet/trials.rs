//! Devices of a slower kind, such as a CPU beside GPUs. Nobody waits for them: each is given a sliver of a step that does not
//! count, once to finish building its kernels and once to be timed, and joins the others if that shows some promise.

use super::shares::Speeds;
use super::{Duty, Part, Plan};
use crate::error::Result;

/// The part of a step that is tried.
const SLIVER: usize = 32;
/// How much slower than the fastest a device is taken to be before it is tried.
const SLOWER: f64 = 0.2;
/// What a device has to add to what the others do.
const WORTH: f64 = 0.03;

/// Devices that are tried, and how often each was.
#[derive(Debug, Default)]
pub(super) struct Trials(Vec<(usize, u32)>);

impl Trials {
    /// Who begins, and who is to be tried, by guesses of their speeds.
    pub fn of(guesses: &[f64]) -> (Vec<usize>, Self) {
        let fastest = guesses.iter().copied().fold(0.0, f64::max);
        let (begin, tried): (Vec<usize>, Vec<usize>) =
            (0..guesses.len()).partition(|&device| guesses[device] >= SLOWER * fastest);
        (begin, Self(tried.into_iter().map(|device| (device, 0)).collect()))
    }

    /// Looks at those who are tried, without any wait; those who are worth having.
    pub fn look<P: Part>(
        &mut self,
        parts: &mut [P],
        plan: &Plan,
        speeds: &mut Speeds,
        crew: &[usize],
    ) -> Result<Option<Vec<usize>>> {
        let sliver = plan.units.div_ceil(SLIVER);
        let mut joins = Vec::new();
        let mut left = Vec::new();
        for (device, times) in self.0.drain(..) {
            let part = &mut parts[device];
            if !part.lane().is_idle()? {
                left.push((device, times));
                continue;
            }
            let seconds = part.lane().take_seconds();
            if times >= 2 {
                speeds.note(device, sliver, seconds);
                if speeds.together(&[device]) > WORTH * speeds.together(crew) {
                    joins.push(device);
                }
                continue;
            }
            // What it steps it forgets: to join, it is told where the others are.
            let own = 0..plan.grain.map_or(0, |grain| (sliver * grain).min(plan.count));
            part.start(1);
            part.begin(0, &Duty { work: 0..sliver, own, nth: 1, of: 2 })?;
            while !part.feed()? {
                part.lane().hand_over()?;
            }
            part.lane().hand_over()?;
            left.push((device, times + 1));
        }
        self.0 = left;
        Ok((!joins.is_empty()).then_some(joins))
    }
}
