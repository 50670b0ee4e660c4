//! `gravitile view`: opens the viewer.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use super::devices;
use super::launch::Begin;
use super::options::{look, number_or_auto, size};
use super::report::wrote;
use crate::app::{self, Options};
use crate::base::{OutputFile, Result};
use crate::cli::{DevicesArgs, View};
use crate::compute::{self, Devices, FoundDevice};
use crate::engine;
use crate::engine::kernel_lab;

pub(super) fn call(args: View) -> Result<ExitCode> {
    let started = Instant::now();
    let mut begin = Begin::new(&args.simulation, |_| ())?;
    let config = &mut begin.config;
    let steps_per_frame = number_or_auto("--steps-per-frame", &args.steps_per_frame)?;
    config.steps_per_frame = steps_per_frame.or(config.steps_per_frame);
    (config.free_run, config.running) = (config.free_run || args.free_run, config.running && !args.paused);
    let (devices, chosen) = compute::pool(find(args.simulation.device.clone())?)?;
    config.devices.clone_from(&chosen);
    if begin.snapshot.is_none() {
        // An impossible number of bodies or work-group size is reported before the window opens.
        engine::Resolved::new(&begin.config, &devices[chosen[0]].info)?;
    }
    let look = look(&args.looks.look)?;
    let is_measured = args.frames.is_some() || args.report.is_some();
    app::run(Options {
        view: begin.view(),
        resumes: begin.snapshot.is_some(),
        may_open_with_move: !is_measured || look.get("opening_move").is_some(),
        look,
        size: args.size.as_deref().map(size).transpose()?,
        autosave: (!args.clean && args.frames.is_none()).then(|| Duration::from_secs(args.autosave.into())),
        kernels: args.simulation.kernels.kernels.as_deref().map(prepare).transpose()?,
        is_chosen: args.simulation.is_chosen(),
        frames: args.frames,
        report: args.report.as_deref().map(OutputFile::create).transpose()?,
        devices: devices.clone(),
        config: begin.config.clone(),
        engine: Box::new(move || begin.engine(Devices::open(devices, &chosen)?)),
        started,
    })?;
    args.report.iter().for_each(|path| wrote(path.display()));
    Ok(ExitCode::SUCCESS)
}

/// Returns the folder of kernels to edit. If it has no kernels yet, first writes the built-in kernels there.
fn prepare(folder: &Path) -> Result<PathBuf> {
    let is_new = !kernel_lab::has_kernels(folder);
    let folder = kernel_lab::prepare(folder)?;
    if is_new {
        wrote(format_args!("the built-in kernels to {}", folder.display()));
    }
    Ok(folder)
}

/// Finds the devices on a low-priority thread. CPU drivers start their own threads during the first search for
/// devices, and these threads inherit the low priority, so that the window stays smooth.
fn find(wanted: DevicesArgs) -> Result<Vec<FoundDevice>> {
    std::thread::scope(|scope| {
        let finder = scope.spawn(|| {
            give_way();
            devices::find(&wanted)
        });
        finder.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Lowers the priority of the calling thread on Linux, where each thread has its own priority.
fn give_way() {
    #[cfg(target_os = "linux")]
    // SAFETY: no pointers; 0 is the calling thread. A failure leaves the priority unchanged, which is acceptable.
    unsafe {
        libc::setpriority(libc::PRIO_PROCESS, 0, 10);
    }
}
