//! `gravitile completions`: prints the completions for a shell.

use std::io;
use std::process::ExitCode;

use clap::CommandFactory;

use crate::base::Result;
use crate::cli::{Cli, Completions};

pub(super) fn call(args: &Completions) -> Result<ExitCode> {
    clap_complete::generate(args.shell, &mut Cli::command(), env!("CARGO_PKG_NAME"), &mut io::stdout());
    Ok(ExitCode::SUCCESS)
}
