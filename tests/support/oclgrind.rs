//! A test that runs again inside Oclgrind.

use std::process::Command;

use gravitile::compute::{self, Device};

/// Set for the process that runs inside Oclgrind.
const INSIDE: &str = "GRAVITILE_INSIDE_OCLGRIND";
pub const BARRIER: &str = "barrier(CLK_LOCAL_MEM_FENCE);";

/// Runs `inside` in another process on Oclgrind's device; `test` is the name of the test that asks for it. What follows
/// a line `=== TITLE` must race where the title has the word `without`, and nowhere else. The number of such lines;
/// none inside, or without Oclgrind.
pub fn under_oclgrind(test: &str, inside: impl FnOnce(&Device)) -> Option<usize> {
    if std::env::var_os(INSIDE).is_some() {
        inside(&compute::select(None).unwrap().open().unwrap());
        return None;
    }
    if Command::new("oclgrind").arg("--version").output().is_err() {
        eprintln!("SKIPPED: there is no Oclgrind here to look for races");
        return None;
    }
    let output = Command::new("oclgrind")
        // Else it falls silent after a thousand.
        .args(["--data-races", "--max-errors", "1000000"])
        .arg(std::env::current_exe().unwrap())
        .args(["--nocapture", "--exact", test])
        .env(INSIDE, "1")
        .output()
        .unwrap();
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{log}");
    let mut parts = 0;
    for part in log.split("\n=== ").skip(1) {
        let (title, found) = part.split_once('\n').unwrap_or((part, ""));
        let is_mutilated = title.contains("without");
        assert_eq!(found.contains("data race"), is_mutilated, "{title}:\n{found}");
        assert!(is_mutilated || !found.contains("Invalid "), "{title}:\n{found}");
        parts += 1;
    }
    Some(parts)
}
