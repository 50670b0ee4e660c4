//! Runs a command on several ranks of an MPI run. Rank 0 runs the command; the others compute for it.

use std::process::ExitCode;

use super::devices::{find, open_several};
use crate::base::{Result, invalid};
use crate::cli::{Command, Simulation};
use crate::compute::Ranks;
use crate::engine::serve;
use crate::modes::{Order, Parcel};

/// Runs `command` with `dispatch` on rank 0, and obeys its orders on the other ranks.
pub(super) fn call(
    ranks: &'static Ranks,
    command: Command,
    dispatch: fn(Command) -> Result<ExitCode>,
) -> Result<ExitCode> {
    let outcome = match simulation(&command) {
        None if ranks.rank() == 0 => Err(invalid!(
            "under a launcher such as mpirun, only the viewer, `run` and `render` work; start this command without it"
        )),
        None => wait_for_end(),
        Some(args) if ranks.rank() > 0 => {
            if let Err(error) = greet(ranks, args).and_then(|()| serve(ranks, &open_several(args)?)) {
                ranks.fail(&error.to_string());
            }
            ranks.leave();
            return Ok(ExitCode::SUCCESS);
        }
        Some(args) => greet(ranks, args).and_then(|()| dispatch(command)),
    };
    match &outcome {
        Ok(_) => {
            ranks.order(&Parcel { id: 0, order: Order::Quit, lists: Vec::new() }.to_bytes()?)?;
            ranks.leave();
        }
        Err(error) => {
            eprintln!("gravitile: {error}");
            ranks.abort();
        }
    }
    outcome
}

/// Waits until rank 0 ends all ranks.
fn wait_for_end() -> ! {
    loop {
        std::thread::park();
    }
}

/// Tells rank 0 about this rank, or on rank 0, hears of all ranks.
fn greet(ranks: &Ranks, args: &Simulation) -> Result<()> {
    ranks.meet(find(&args.device).map(|found| found.into_iter().map(|found| found.info).collect()))
}

/// Returns the options for the simulation, if the command runs on several ranks.
fn simulation(command: &Command) -> Option<&Simulation> {
    match command {
        Command::View(args) => Some(&args.simulation),
        Command::Run(args) => Some(&args.simulation),
        Command::Render(args) => Some(&args.simulation),
        Command::Bench(_) | Command::Check(_) | Command::Devices(_) => None,
    }
}
