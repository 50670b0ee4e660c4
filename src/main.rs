//! Parses the command line, runs the command, and prints the error if the command fails.

use std::process::ExitCode;

use gravitile::{cli::Cli, commands};

fn main() -> ExitCode {
    let filter = tracing_subscriber::EnvFilter::try_from_env("GRAVITILE_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("error"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    let cli = Cli::read();
    // Rust ignores SIGPIPE, so `gravitile bench | head` would panic at the next `println!`; the default handler ends
    // the program. The viewer keeps ignoring SIGPIPE: a closed clipboard must not end the viewer before it has saved.
    #[cfg(unix)]
    if cli.prints() {
        // SAFETY: no handler is installed, and no other thread runs yet.
        unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    }
    #[cfg(windows)]
    let is_silent = if cli.prints() {
        commands::desktop::end_when_output_closes();
        false
    } else {
        commands::desktop::leave_console()
    };
    // SAFETY: no other thread runs yet.
    unsafe { commands::prepare() };
    match commands::call(cli) {
        Ok(code) => code,
        Err(error) => {
            // If the MPI ranks cannot connect, every copy that the launcher started fails here; one message is enough.
            if commands::is_first_copy() {
                eprintln!("gravitile: {error}");
                #[cfg(windows)]
                if is_silent {
                    commands::desktop::show_error(&error.to_string());
                }
            }
            ExitCode::from(2)
        }
    }
}
