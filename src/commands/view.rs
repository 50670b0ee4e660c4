//! `gravitile view`: the window.

use std::process::ExitCode;
use std::time::Instant;

use super::{config, number_or_auto, size};
use crate::app::{self, Options};
use crate::cli::View;
use crate::compute;
use crate::error::Result;
use crate::files::Output;

pub(super) fn call(args: View) -> Result<ExitCode> {
    let started = Instant::now();
    let mut config = config(&args.simulation)?;
    config.steps_per_frame = number_or_auto("--steps-per-frame", &args.steps_per_frame)?;
    (config.free_run, config.running) = (args.free_run, !args.paused);
    app::run(Options {
        size: size(&args.size)?,
        frames: args.frames,
        report: args.report.as_deref().map(Output::create).transpose()?,
        device: compute::select(args.simulation.device.device.as_deref())?,
        config,
        started,
    })?;
    Ok(ExitCode::SUCCESS)
}
