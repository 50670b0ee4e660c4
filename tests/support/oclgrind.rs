//! Runs a test under Oclgrind, split into parts that run in separate processes.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use gravitile::compute::{self, Device};

use super::test_alone;

/// Environment variable in processes under Oclgrind: the number of the part of the test that the process runs.
const INSIDE: &str = "GRAVITILE_INSIDE_OCLGRIND";
pub(crate) const BARRIER: &str = "barrier(CLK_LOCAL_MEM_FENCE);";

/// Counts the parts of a test and selects the part that this process runs.
pub(crate) struct Parts {
    left: usize,
}

impl Parts {
    /// Returns whether this process should run the next part, called `title`.
    pub(crate) fn next(&mut self, title: &str) -> bool {
        let is_it = self.left == 0;
        if is_it {
            eprintln!("\n=== {title}");
        }
        self.left = self.left.wrapping_sub(1);
        is_it
    }
}

/// Runs each part of `inside` on Oclgrind, in a separate process. A part must have a data race if and only if its title
/// contains the word `without`. Returns the number of parts, or `None` inside such a process or if Oclgrind is not
/// installed.
pub(crate) fn under_oclgrind(
    module: &str,
    test: &str,
    inside: impl FnOnce(&Device, &mut Parts),
) -> Option<usize> {
    if let Ok(part) = std::env::var(INSIDE) {
        inside(&compute::select(None).unwrap().open().unwrap(), &mut Parts { left: part.parse().unwrap() });
        return None;
    }
    if Command::new("oclgrind").arg("--version").output().is_err() {
        eprintln!("SKIPPED: there is no Oclgrind here to look for races");
        return None;
    }
    for part in 0.. {
        let alone = test_alone(module, test);
        let mut process = Command::new("oclgrind")
            .args(["--data-races", "--max-errors", "10"])
            .arg(alone.get_program())
            .args(alone.get_args())
            .env(INSIDE, part.to_string())
            // Oclgrind is slow, because it emulates the device.
            .env("GRAVITILE_PATIENCE", "3600")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines().map(Result::unwrap);
        let Some(title) = lines.find_map(|line| line.strip_prefix("=== ").map(str::to_owned)) else {
            assert!(process.wait().unwrap().success());
            return Some(part);
        };
        if title.contains("without") {
            // Stops at the first data race, because finding all of them takes minutes.
            assert!(lines.any(|line| line.contains("data race")), "{title}: nothing found");
            process.kill().unwrap();
            process.wait().unwrap();
        } else {
            let found: String = lines.map(|line| line + "\n").collect();
            assert!(process.wait().unwrap().success(), "{title}:\n{found}");
            assert!(!found.contains("data race") && !found.contains("Invalid "), "{title}:\n{found}");
        }
    }
    None
}
