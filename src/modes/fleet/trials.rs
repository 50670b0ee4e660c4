//! Trials of slow devices, such as a CPU beside GPUs. Each slow device computes a small part of a step twice while the
//! other devices continue: first to build its kernels, then to be timed. A device that is fast enough then shares the
//! work.

use super::assignment::Assignment;
use super::shared::{Cursor, Plan, SharedSimulation, Traffic};
use super::shares::Speeds;
use crate::base::Result;

/// Number of equal parts into which a trial divides a step. The device on trial computes one part.
const SLIVER: usize = 32;
/// Speed below which a device is slow, as a fraction of the highest estimated speed. A slow device must pass a trial
/// before it shares the work.
const SLOWER: f64 = 0.2;
/// Speed that a device must exceed in its trial, as a fraction of the combined speed of the participating devices.
const WORTH: f64 = 0.03;

/// Devices on trial: the index of each device, and the number of its trial runs that have begun.
#[derive(Debug, Default)]
pub(super) struct Trials(Vec<(usize, u32)>);

impl Trials {
    /// Divides devices by estimated speed into those used from the start (returned as indices) and those put on trial.
    pub(super) fn of(guesses: &[f64]) -> (Vec<usize>, Self) {
        let fastest = guesses.iter().copied().fold(0.0, f64::max);
        let (begin, tried): (Vec<usize>, Vec<usize>) =
            (0..guesses.len()).partition(|&device| guesses[device] >= SLOWER * fastest);
        (begin, Self(tried.into_iter().map(|device| (device, 0)).collect()))
    }

    /// Checks and starts trial runs of slow devices, without waiting. Returns the devices that passed, if any.
    pub(super) fn check<P: SharedSimulation>(
        &mut self,
        parts: &mut [P],
        plan: &Plan,
        speeds: &mut Speeds,
        participants: &[usize],
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
                if speeds.together(&[device]) > WORTH * speeds.together(participants) {
                    joins.push(device);
                }
                continue;
            }
            // The results are discarded. A device that joins receives the state of the other devices.
            let own = 0..plan.grain.map_or(0, |grain| (sliver * grain).min(plan.count));
            part.start(1);
            let assignment = Assignment { work: 0..sliver, own, nth: 1, of: 2 };
            // Times all kernels up to the first exchange; otherwise the device would seem faster than it is.
            loop {
                part.begin_stage(&assignment, false)?;
                while !part.feed()? {
                    part.lane().submit()?;
                }
                let stage = part.cursor().stage;
                if stage + 1 == part.stages() || !matches!(part.traffic(stage), Traffic::Nothing) {
                    break;
                }
                *part.cursor() = Cursor { stage: stage + 1, ..Cursor::default() };
            }
            part.lane().submit()?;
            left.push((device, times + 1));
        }
        self.0 = left;
        Ok((!joins.is_empty()).then_some(joins))
    }
}
