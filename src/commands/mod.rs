//! The program's commands, each in its own file or folder, and the code that they share.

mod bench;
pub mod check;
mod completions;
mod cpus;
#[cfg(windows)]
pub mod desktop;
mod devices;
mod launch;
mod man;
mod options;
mod progress;
mod ranks;
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

/// Returns whether this process is the only copy of the program, or rank 0 of the copies that an MPI launcher started.
pub fn is_first_copy() -> bool {
    compute::launched_rank() == 0
}

/// Runs the command given on the command line.
///
/// # Errors
/// Returns the error of the command; the caller prints it.
pub fn call(cli: Cli) -> Result<ExitCode> {
    compute::start_ranks()?;
    let command = cli.command.unwrap_or(Command::View(cli.view));
    match compute::ranks() {
        Some(ranks) => ranks::call(ranks, command, dispatch),
        None => dispatch(command),
    }
}

fn dispatch(command: Command) -> Result<ExitCode> {
    match command {
        Command::View(args) => view::call(args),
        Command::Run(args) => run::call(&args),
        Command::Render(args) => render::call(&args),
        Command::Bench(args) if args.tune => bench::tune::call(&args),
        Command::Bench(args) if !args.devices.is_empty() || compute::ranks().is_some() => {
            bench::scaling::call(&args)
        }
        Command::Bench(args) => bench::variants::call(&args),
        Command::Check(args) => check::call(&args),
        Command::Devices(args) => devices::call(&args),
        Command::Completions(args) => completions::call(&args),
        Command::Man(args) => man::call(&args),
    }
}
