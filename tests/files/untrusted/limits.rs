//! Runs a test in a process with little memory, and measures memory.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::support::test_alone;

/// Limit, in bytes, on the address space of the process that reads files.
pub(super) const ADDRESS_SPACE: u64 = 1 << 30;
/// Largest memory, in bytes, that reading a file may use in addition to its contents.
pub(super) const MOST_BESIDES: u64 = 300 << 20;

/// Environment variable with the folder of the test files, in which the process also keeps the files that it could
/// read.
pub(super) const FOLDER: &str = "GRAVITILE_TEST_FILES";
pub(super) const MUTATIONS: &str = "GRAVITILE_TEST_MUTATIONS";

/// Runs the test `name` of `module` in a separate process whose address space is limited to [`ADDRESS_SPACE`].
pub(super) fn run_limited(module: &str, name: &str, folder: &Path, mutations: usize) -> Output {
    let mut command = test_alone(module, name);
    // By default, each thread of glibc reserves address space for an arena.
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

/// Runs `work`. Returns its result and the additional memory at its peak in bytes; 0 if the system does not report
/// memory.
pub(super) fn peak<T>(work: impl FnOnce() -> T) -> (T, u64) {
    // Writing "5" resets the peak VmHWM: see proc(5).
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
