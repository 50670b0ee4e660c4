//! Profiles: how the time of a step divides among the kernels.

use crate::compute::{Device, DeviceKind, Launch, Recording};

/// Longest time, in seconds, by which recording can plausibly lengthen a launch. NVIDIA's driver needs 1 to 3 µs.
const MOST_OVERHEAD: f64 = 4e-6;

/// How the time that a device spends on a step divides among the kernels.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Profile {
    /// Name of the device.
    pub device: String,
    /// Number of steps over which the times and counts are averaged; may be fractional if the device computes several
    /// steps per launch.
    pub steps: f64,
    /// Time from the start of the first kernel to the end of the last one, per step, in seconds.
    pub step_seconds: f64,
    /// Time, in seconds, that has been subtracted from each launch to correct for the overhead of recording.
    pub overhead_seconds: f64,
    /// The kernels, in the order in which a step first runs them.
    pub kernels: Vec<KernelTime>,
}

/// Time and launches of one kernel, per simulation step.
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
    /// Local memory of a work-group, in bytes; 0 if the driver does not report the size.
    pub local_bytes: u64,
    /// Number of work-items of all launches together, per step.
    pub items: f64,
}

impl Profile {
    /// Returns `step_seconds`, the time of a step without recording, if [`Profile::corrected`] can use this time to
    /// correct recordings on `devices`; otherwise 0. The time of a step on several devices does not show the time of
    /// each device, and on a CPU, times vary by more than recording adds.
    pub fn reference(devices: &[Device], step_seconds: f64) -> f64 {
        match devices {
            [only] if only.info.kind != DeviceKind::Cpu => step_seconds,
            _ => 0.0,
        }
    }

    /// Summarizes a recording of `steps` steps on a device. Returns `None` if the recording contains no complete pass
    /// over the bodies or cells.
    pub fn new(device: &str, recording: &Recording, steps: u32) -> Option<Self> {
        let Recording { launches, passes, is_cut } = recording;
        // If the recording was full, its last pass is incomplete.
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
        Some(Self { device: device.to_owned(), steps, step_seconds, overhead_seconds: 0.0, kernels })
    }

    /// Corrects the times for the overhead of recording. `step_seconds` is the time of a step without recording. If the
    /// kernels together take longer than `step_seconds`, subtracts the same time from every launch.
    pub fn corrected(mut self, step_seconds: f64) -> Self {
        let launches: f64 = self.kernels.iter().map(|kernel| kernel.calls).sum();
        let excess = (self.kernel_seconds() - step_seconds).max(0.0) / launches;
        if step_seconds <= 0.0 || step_seconds > self.step_seconds || excess > MOST_OVERHEAD {
            return self;
        }
        for kernel in &mut self.kernels {
            kernel.seconds = (kernel.seconds - excess * kernel.calls).max(0.0);
        }
        (self.step_seconds, self.overhead_seconds) = (step_seconds.max(self.kernel_seconds()), excess);
        self
    }

    /// Returns the time per step, in seconds, in which the device runs kernels.
    fn kernel_seconds(&self) -> f64 {
        self.kernels.iter().map(|kernel| kernel.seconds).sum()
    }

    /// Returns the time per step, in seconds, in which the device runs no kernel, because it waits for launches.
    pub fn idle_seconds(&self) -> f64 {
        (self.step_seconds - self.kernel_seconds()).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(kernel: &'static str, pass: u32, [start, end]: [u64; 2]) -> Launch {
        Launch { kernel, start, end, items: 64, work_group: 32, local_bytes: 512, pass }
    }

    #[test]
    fn a_profile_contains_mean_times_per_step() {
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
    fn profiling_overhead_is_subtracted_from_every_launch() {
        let launches = vec![
            launch("sort", 0, [0, 3000]),
            launch("sort", 0, [4000, 7000]),
            launch("walk", 0, [8000, 17_000]),
        ];
        let recording = Recording { launches, passes: 1, is_cut: false };
        let recorded = Profile::new("GPU", &recording, 1).unwrap();
        let nanoseconds = |profile: &Profile| -> Vec<i64> {
            let kernels = profile.kernels.iter().map(|kernel| kernel.seconds);
            let all = kernels.chain([profile.idle_seconds(), profile.overhead_seconds]);
            all.map(|seconds| (seconds * 1e9).round() as i64).collect()
        };
        // The kernels take 15 µs. In a step of 9 µs, each of the three launches is 2 µs shorter.
        assert_eq!(nanoseconds(&recorded.clone().corrected(9e-6)), [2000, 7000, 0, 2000]);
        // In a step of 16 µs, the kernels fit as they are.
        assert_eq!(nanoseconds(&recorded.clone().corrected(16e-6)), [6000, 9000, 1000, 0]);
        // Recording does not shorten a step, and does not lengthen a launch by milliseconds. A time of 0 means unknown.
        for implausible in [18e-6, 0.0] {
            assert_eq!(recorded.clone().corrected(implausible), recorded);
        }
        let recording =
            Recording { launches: vec![launch("walk", 0, [0, 1_000_000])], passes: 1, is_cut: false };
        let long = Profile::new("GPU", &recording, 1).unwrap();
        assert_eq!(long.clone().corrected(0.5e-3), long);
    }

    #[test]
    fn an_incomplete_pass_is_excluded_from_a_profile() {
        let launches = vec![launch("a", 0, [0, 10]), launch("a", 1, [10, 30]), launch("a", 2, [30, 31])];
        let recording = Recording { launches, passes: 8, is_cut: true };
        let profile = Profile::new("GPU", &recording, 4).unwrap();
        assert_eq!((profile.steps, profile.kernels[0].calls), (1.0, 2.0));
        assert!((profile.step_seconds - 30e-9).abs() < 1e-15);
        let recording = Recording { launches: vec![launch("a", 0, [0, 10])], passes: 1, is_cut: true };
        assert_eq!(Profile::new("GPU", &recording, 1), None);
    }
}
