//! A process of its own with little memory, and how much of it is used.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::support::test_alone;

/// Address space of the process that reads files.
pub(super) const ADDRESS_SPACE: u64 = 1 << 30;
/// What a file may cost besides what is in it.
pub(super) const MOST_BESIDES: u64 = 300 << 20;

/// Where the process finds files to begin with, and where it puts those that are read.
pub(super) const FOLDER: &str = "GRAVITILE_TEST_FILES";
pub(super) const MUTATIONS: &str = "GRAVITILE_TEST_MUTATIONS";

/// Runs the test `name` of `module` in a process of its own, with [`ADDRESS_SPACE`].
pub(super) fn run_limited(module: &str, name: &str, folder: &Path, mutations: usize) -> Output {
    let mut command = test_alone(module, name);
    // Each thread of glibc's would set aside address space for an arena of its own.
    command.env(FOLDER, folder).env(MUTATIONS, mutations.to_string()).env("MALLOC_ARENA_MAX", "1");
    limit(&mut command);
    command.output().unwrap()
}

#[cfg(unix)]
fn limit(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    // SAFETY: setrlimit is a system call without allocation, which may be made between fork and exec.
    unsafe {
        command.pre_exec(|| {
            let limit = libc::rlimit { rlim_cur: ADDRESS_SPACE, rlim_max: ADDRESS_SPACE };
            match libc::setrlimit(libc::RLIMIT_AS, &limit) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        });
    }
}

#[cfg(not(unix))]
fn limit(_: &mut Command) {}

/// The memory that `work` used at most, beyond what was used before; 0 where nobody tells.
pub(super) fn peak<T>(work: impl FnOnce() -> T) -> (T, u64) {
    // "5" begins the count of VmHWM anew: proc(5).
    let is_told = fs::write("/proc/self/clear_refs", "5").is_ok();
    let before = status("VmRSS:");
    let outcome = work();
    let after = status("VmHWM:");
    (outcome, if is_told { after.saturating_sub(before) } else { 0 })
}

fn status(key: &str) -> u64 {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(key));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    number.unwrap_or_default() << 10
}
