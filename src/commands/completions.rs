//! `gravitile completions`: prints the completions for a shell.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use clap::CommandFactory;

use crate::base::{Error, Result};
use crate::cli::{Cli, Completions};

pub(super) fn call(args: &Completions) -> Result<ExitCode> {
    // Written in memory first, because `generate` panics if it cannot write.
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), env!("CARGO_PKG_NAME"), &mut text);
    let mut out = io::stdout().lock();
    out.write_all(&text)
        .and_then(|()| out.flush())
        .map_err(Error::io("write", Path::new("the completions")))?;
    Ok(ExitCode::SUCCESS)
}
