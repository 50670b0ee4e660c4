//! Runs a command on several ranks of an MPI run. Rank 0 runs the command; the others compute for it.

use std::process::ExitCode;
use std::sync::Arc;

use signal_hook::consts::{SIGINT, SIGTERM};

use super::bench::scaling;
use super::devices::find;
use crate::base::{Result, invalid};
use crate::cli::{Command, DevicesArgs};
use crate::compute::{Devices, FoundDevice, Ranks};
use crate::engine::serve;
use crate::modes::{Order, Parcel};

/// Runs `command` with `dispatch` on rank 0; on the other ranks, obeys the orders of rank 0.
pub(super) fn call(
    ranks: &'static Ranks,
    command: Command,
    dispatch: fn(Command) -> Result<ExitCode>,
) -> Result<ExitCode> {
    let outcome = match devices(&command) {
        None if ranks.rank() == 0 => Err(invalid!(
            "under a launcher such as mpirun, only the viewer, `run`, `render`, and `bench` without --tune, --plot and \
             --resume work; start this command without the launcher"
        )),
        None => wait_for_end(),
        Some(args) if ranks.rank() > 0 => {
            if let Err(error) = obey(ranks, &args) {
                ranks.fail(&error.to_string());
            }
            ranks.leave();
            return Ok(ExitCode::SUCCESS);
        }
        Some(args) => greet(ranks, &args).and_then(|_| dispatch(command)),
    };
    match &outcome {
        Ok(_) => {
            ranks.order(
                1..ranks.size(),
                &Parcel { id: 0, order: Order::Quit, lists: Vec::new() }.to_bytes()?,
            )?;
            ranks.leave();
        }
        Err(error) => {
            eprintln!("gravitile: {error}");
            ranks.abort();
        }
    }
    outcome
}

/// Waits until rank 0 ends all ranks, including this one.
fn wait_for_end() -> ! {
    loop {
        std::thread::park();
    }
}

/// Obeys the orders of rank 0 until rank 0 ends the run.
fn obey(ranks: &'static Ranks, args: &DevicesArgs) -> Result<()> {
    // A launcher that is told to stop signals all ranks. Rank 0 may still finish a film, which needs this rank.
    for signal in [SIGINT, SIGTERM] {
        // If the handler cannot be installed, a signal only ends this rank too early.
        let _ = signal_hook::flag::register(signal, Arc::default());
    }
    let devices = Devices::all(greet(ranks, args)?)?.with_ranks(Some(ranks));
    serve(ranks, &devices)
}

/// Finds and returns the devices of this rank. Sends their properties to rank 0, which receives those of all ranks.
fn greet(ranks: &Ranks, args: &DevicesArgs) -> Result<Vec<FoundDevice>> {
    let found = find(args);
    let infos = |found: &Vec<FoundDevice>| found.iter().map(|found| found.info.clone()).collect();
    ranks.gather_devices(found.as_ref().map(infos).map_err(ToString::to_string))?;
    if found.is_err() && ranks.rank() > 0 {
        // Rank 0 names this rank and ends the run.
        wait_for_end();
    }
    found
}

/// Returns the options that select a rank's devices, or `None` if `command` cannot run on several ranks.
fn devices(command: &Command) -> Option<DevicesArgs> {
    match command {
        Command::View(args) => Some(args.simulation.device.clone()),
        Command::Run(args) => Some(args.simulation.device.clone()),
        Command::Render(args) => Some(args.simulation.device.clone()),
        Command::Bench(args) => {
            let is_scaling = !args.tune && args.plot.is_none() && args.resume.is_none();
            is_scaling.then(|| scaling::devices(args))
        }
        Command::Check(_) | Command::Devices(_) | Command::Completions(_) | Command::Man(_) => None,
    }
}
