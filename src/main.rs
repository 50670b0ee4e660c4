//! Parses the command line, calls one command, prints an error once.

use std::process::ExitCode;

use clap::Parser;
use gravitile::{cli::Cli, commands};

fn main() -> ExitCode {
    // Rust ignores SIGPIPE and panics at the next `println!`; `gravitile bench | head` should just end.
    #[cfg(unix)]
    // SAFETY: no handler of ours is involved, and no other thread runs yet.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
    }
    let filter = tracing_subscriber::EnvFilter::try_from_env("GRAVITILE_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("error"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    let cli = Cli::parse();
    // SAFETY: no other thread runs yet.
    unsafe { commands::prepare() };
    match commands::call(cli) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("gravitile: {error}");
            ExitCode::from(2)
        }
    }
}
