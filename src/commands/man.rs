//! `gravitile man`: prints the manual page, or writes the manual pages of all commands.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use clap::CommandFactory;

use crate::base::{Error, Result};
use crate::cli::{self, Cli};

pub(super) fn call(args: &cli::Man) -> Result<ExitCode> {
    let command = Cli::command();
    match &args.out {
        None => {
            let mut out = io::stdout().lock();
            clap_mangen::Man::new(command)
                .render(&mut out)
                .and_then(|()| out.flush())
                .map_err(Error::io("write", Path::new("the manual page")))?;
        }
        Some(folder) => clap_mangen::generate_to(command, folder).map_err(Error::io("write", folder))?,
    }
    Ok(ExitCode::SUCCESS)
}
