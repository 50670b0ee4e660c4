//! The program's commands, each in its own file or folder, and the code that they share.

mod bench;
pub mod check;
mod devices;
mod launch;
mod options;
mod progress;
mod render;
mod report;
mod run;
mod view;

use std::process::ExitCode;

use crate::base::Result;
use crate::cli::{Cli, Command};
use crate::compute;

/// Sets environment variables for OpenCL drivers. Call this before anything uses OpenCL.
///
/// # Safety
/// No other thread may be running.
pub unsafe fn prepare() {
    // SAFETY: no other thread runs, as the caller promises.
    unsafe { compute::prepare_cache() };
}

/// Runs the command given on the command line.
///
/// # Errors
/// Returns the error of the command; the caller prints it.
pub fn call(cli: Cli) -> Result<ExitCode> {
    match cli.command.unwrap_or(Command::View(cli.view)) {
        Command::View(args) => view::call(args),
        Command::Run(args) => run::call(&args),
        Command::Render(args) => render::call(&args),
        Command::Bench(args) if args.tune => bench::tune::call(&args),
        Command::Bench(args) if !args.devices.is_empty() => bench::scaling::call(&args),
        Command::Bench(args) => bench::variants::call(&args),
        Command::Check(args) => check::call(&args),
        Command::Devices(args) => devices::call(&args),
    }
}
