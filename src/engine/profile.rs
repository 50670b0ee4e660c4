//! Profiles: how the time of a step divides among the kernels.

use crate::compute::{Launch, Recording};

/// How the time that a device spends on a step divides among the kernels.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Profile {
    /// Name of the device.
    pub device: String,
    /// Number of steps that the numbers are means of. Steps of a device that computes several steps per launch can be
    /// fractions.
    pub steps: f64,
    /// Time from the start of the first kernel to the end of the last one, per step, in seconds.
    pub step_seconds: f64,
    /// The kernels, in the order in which a step first runs them.
    pub kernels: Vec<KernelTime>,
}

/// The part of a kernel in the time of a step.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct KernelTime {
    /// Name of the kernel.
    pub kernel: &'static str,
    /// Number of launches per step.
    pub calls: f64,
    /// Time of all launches together, per step, in seconds.
    pub seconds: f64,
    /// Number of work-items in a work-group.
    pub work_group: usize,
    /// Local memory of a work-group, in bytes; 0 if the driver does not tell.
    pub local_bytes: u64,
    /// Number of work-items of all launches together, per step.
    pub items: f64,
}

impl Profile {
    /// Sums up a recording of `steps` steps on a device. Returns `None` if the recording holds no complete pass.
    pub fn new(device: &str, recording: &Recording, steps: u32) -> Option<Self> {
        let Recording { launches, passes, is_cut } = recording;
        // A recording that was full ends within a pass.
        let whole = if *is_cut { launches.last()?.pass } else { *passes };
        let counted: Vec<&Launch> = launches.iter().filter(|launch| launch.pass < whole).collect();
        let (first, last) = (counted.first()?, counted.last()?);
        let steps = f64::from(steps) * f64::from(whole) / f64::from(*passes);
        let mut kernels: Vec<KernelTime> = Vec::new();
        for launch in &counted {
            let Launch { kernel, work_group, local_bytes, .. } = **launch;
            let at = kernels.iter().position(|other| other.kernel == kernel).unwrap_or_else(|| {
                kernels.push(KernelTime {
                    kernel,
                    calls: 0.0,
                    seconds: 0.0,
                    work_group,
                    local_bytes,
                    items: 0.0,
                });
                kernels.len() - 1
            });
            let sum = &mut kernels[at];
            sum.calls += 1.0 / steps;
            sum.seconds += launch.seconds() / steps;
            sum.items += launch.items as f64 / steps;
        }
        let step_seconds = (last.end - first.start) as f64 * 1e-9 / steps;
        Some(Self { device: device.to_owned(), steps, step_seconds, kernels })
    }

    /// Returns the time per step, in seconds, in which the device runs no kernel, because it waits for launches.
    pub fn idle_seconds(&self) -> f64 {
        (self.step_seconds - self.kernels.iter().map(|kernel| kernel.seconds).sum::<f64>()).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(kernel: &'static str, pass: u32, [start, end]: [u64; 2]) -> Launch {
        Launch { kernel, start, end, items: 64, work_group: 32, local_bytes: 512, pass }
    }

    #[test]
    fn a_profile_is_the_mean_of_the_steps() {
        let launches = vec![
            launch("sort", 0, [1000, 1100]),
            launch("walk", 0, [1100, 1900]),
            launch("walk", 1, [2000, 2600]),
            launch("sort", 1, [2600, 3000]),
        ];
        let recording = Recording { launches, passes: 2, is_cut: false };
        let profile = Profile::new("GPU", &recording, 2).unwrap();
        let [sort, walk] = &profile.kernels[..] else { panic!("{profile:?}") };
        assert_eq!((sort.kernel, sort.calls, sort.work_group, sort.items), ("sort", 1.0, 32, 64.0));
        assert!(
            (sort.seconds - 250e-9).abs() < 1e-15 && (walk.seconds - 700e-9).abs() < 1e-15,
            "{profile:?}"
        );
        assert!((profile.step_seconds - 1000e-9).abs() < 1e-15);
        assert!((profile.idle_seconds() - 50e-9).abs() < 1e-15);
    }

    #[test]
    fn a_pass_that_is_cut_off_does_not_count() {
        let launches = vec![launch("a", 0, [0, 10]), launch("a", 1, [10, 30]), launch("a", 2, [30, 31])];
        let recording = Recording { launches, passes: 8, is_cut: true };
        let profile = Profile::new("GPU", &recording, 4).unwrap();
        assert_eq!((profile.steps, profile.kernels[0].calls), (1.0, 2.0));
        assert!((profile.step_seconds - 30e-9).abs() < 1e-15);
        let recording = Recording { launches: vec![launch("a", 0, [0, 10])], passes: 1, is_cut: true };
        assert_eq!(Profile::new("GPU", &recording, 1), None);
    }
}
