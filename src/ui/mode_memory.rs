//! Remembers the settings of each simulation mode while another mode is selected.

use crate::engine::Config;
use crate::modes::ModeInfo;

/// Saved settings of the simulation modes that are not selected.
#[derive(Debug, Default)]
pub struct ModeMemory {
    /// Settings of each mode that the user has switched away from.
    pub left: Vec<Config>,
    /// Entry that the last mode switch removed from `left`, if any. It is put back if the switch is rejected.
    taken: Option<Config>,
}

impl ModeMemory {
    /// Switches `config` to the mode `info`, with the settings last used in that mode or, the first time, the mode's
    /// defaults. Settings shared by all modes, such as `devices`, keep their values.
    pub(super) fn select(&mut self, info: &'static ModeInfo, config: &mut Config) {
        if info == config.mode.info() {
            return;
        }
        let Config { seed, running, free_run, ref tuned, ref devices, .. } = *config;
        let (tuned, devices) = (tuned.clone(), devices.clone());
        let at = self.left.iter().position(|left| left.mode.info() == info);
        self.taken = at.map(|at| self.left.swap_remove(at));
        let next = self.taken.clone().unwrap_or_else(|| Config { seed, ..Config::new(info) });
        self.left.push(std::mem::replace(config, Config { running, free_run, tuned, devices, ..next }));
    }

    /// Replaces `config` with `next`, which comes from a file. Keeps the settings that are not part of a scene, such as
    /// `devices`.
    pub fn adopt(&mut self, next: Config, config: &mut Config) {
        self.select(next.mode.info(), config);
        let Config { running, free_run, ref tuned, ref devices, steps_per_frame, run, .. } = *config;
        let (tuned, devices) = (tuned.clone(), devices.clone());
        *config = Config { running, free_run, tuned, devices, steps_per_frame, run, ..next };
    }

    /// Restores the saved settings after the simulation has rejected the switch to the mode of `wanted` and has kept
    /// the config `in_force`.
    pub fn rejected(&mut self, wanted: &Config, in_force: &Config) {
        if wanted.mode.info() != in_force.mode.info() {
            self.left.retain(|left| left.mode.info() != in_force.mode.info());
            self.left.extend(self.taken.take().filter(|taken| taken.mode.info() == wanted.mode.info()));
        }
    }
}
