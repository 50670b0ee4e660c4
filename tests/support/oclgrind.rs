//! A test that runs again inside Oclgrind, part by part.

use std::process::Command;

use gravitile::compute::{self, Device};

/// Set for a process inside Oclgrind to the number of the part that it runs.
const INSIDE: &str = "GRAVITILE_INSIDE_OCLGRIND";
pub const BARRIER: &str = "barrier(CLK_LOCAL_MEM_FENCE);";

/// Which part of a test a process runs.
pub struct Parts {
    left: usize,
}

impl Parts {
    /// Whether the part that comes next, called `title`, is to be run.
    pub fn next(&mut self, title: &str) -> bool {
        let is_it = self.left == 0;
        if is_it {
            eprintln!("\n=== {title}");
        }
        self.left = self.left.wrapping_sub(1);
        is_it
    }
}

/// Runs each part of `inside` in a process of its own on Oclgrind's device; `test` is the name of the test that asks for
/// it. A part must race where its title has the word `without`, and nowhere else. The number of parts; none inside, or
/// without Oclgrind.
pub fn under_oclgrind(test: &str, inside: impl FnOnce(&Device, &mut Parts)) -> Option<usize> {
    if let Ok(part) = std::env::var(INSIDE) {
        inside(&compute::select(None).unwrap().open().unwrap(), &mut Parts { left: part.parse().unwrap() });
        return None;
    }
    if Command::new("oclgrind").arg("--version").output().is_err() {
        eprintln!("SKIPPED: there is no Oclgrind here to look for races");
        return None;
    }
    for part in 0.. {
        let output = Command::new("oclgrind")
            // A report takes longer than a step.
            .args(["--data-races", "--max-errors", "10"])
            .arg(std::env::current_exe().unwrap())
            .args(["--nocapture", "--exact", test])
            .env(INSIDE, part.to_string())
            .output()
            .unwrap();
        let log = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{log}");
        let Some((_, found)) = log.split_once("\n=== ") else { return Some(part) };
        let (title, found) = found.split_once('\n').unwrap_or((found, ""));
        let is_mutilated = title.contains("without");
        assert_eq!(found.contains("data race"), is_mutilated, "{title}:\n{found}");
        assert!(is_mutilated || !found.contains("Invalid "), "{title}:\n{found}");
    }
    None
}
