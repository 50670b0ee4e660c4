//! Several ranks of an MPI run compute the same bodies as one process, and faults end the run with a sentence.
//!
//! The tests need the feature `mpi` and the program `mpirun`; without them, they are skipped with a message.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use super::cli::folder;

const PROGRAM: &str = env!("CARGO_BIN_EXE_gravitile");

/// Returns whether the tests can run. Says why not.
fn has_mpi(test: &str) -> bool {
    if !cfg!(feature = "mpi") {
        eprintln!("SKIPPED {test}: built without the feature mpi");
        return false;
    }
    let found = Command::new("mpirun").arg("--version").output().is_ok();
    if !found {
        eprintln!("SKIPPED {test}: there is no mpirun");
    }
    found
}

/// Runs the program on `ranks` ranks. All ranks get work, even if there is little.
fn on(ranks: usize, words: &[&str]) -> Output {
    let mut command = match ranks {
        1 => Command::new(PROGRAM),
        _ => Command::new("mpirun"),
    };
    if ranks > 1 {
        command.args(["--allow-run-as-root", "--oversubscribe", "-n", &ranks.to_string(), PROGRAM]);
    }
    command.args(words).env("GRAVITILE_SHARE", "always").env("GRAVITILE_PATIENCE", "60").output().unwrap()
}

fn bodies(ranks: usize, words: &[&str], path: &Path) -> String {
    let output = on(ranks, &[words, &["--out", path.to_str().unwrap()]].concat());
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    fs::read_to_string(path).unwrap()
}

#[test]
fn a_program_without_mpi_says_so_under_a_launcher() {
    if cfg!(feature = "mpi") {
        eprintln!("SKIPPED: built with the feature mpi");
        return;
    }
    for (rank, message) in [("0", "gravitile: a launcher such as mpirun"), ("1", "")] {
        let output = Command::new(PROGRAM)
            .args(["run", "--steps", "1"])
            .env("OMPI_COMM_WORLD_SIZE", "2")
            .env("OMPI_COMM_WORLD_RANK", rank)
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success());
        assert!(if rank == "0" { error.starts_with(message) } else { error.is_empty() }, "{error}");
    }
}

#[test]
fn two_ranks_compute_the_same_bodies() {
    if !has_mpi("two_ranks_compute_the_same_bodies") {
        return;
    }
    let folder = folder();
    let words = ["run", "--variant", "private", "--bodies", "1000", "--steps", "5"];
    let [one, two] = [1, 2].map(|ranks| bodies(ranks, &words, &folder.path().join(format!("{ranks}.csv"))));
    assert_eq!(one, two);
}

#[test]
#[ignore = "takes long"]
fn every_mode_computes_the_same_on_three_ranks() {
    if !has_mpi("every_mode_computes_the_same_on_three_ranks") {
        return;
    }
    let folder = folder();
    for (mode, variant) in
        [("gravity", "tree"), ("gravity", "tiled"), ("asteroids", "naive"), ("asteroids", "grid")]
    {
        let words = ["run", "--mode", mode, "--variant", variant, "--bodies", "2000", "--steps", "12"];
        let [one, three] =
            [1, 3].map(|ranks| bodies(ranks, &words, &folder.path().join(format!("{ranks}.csv"))));
        assert_eq!(one, three, "{mode} {variant}");
    }
    for variant in ["soa", "temporal"] {
        let states = [1, 3].map(|ranks| {
            let path = folder.path().join(format!("flow-{variant}-{ranks}"));
            fs::create_dir(&path).unwrap();
            let words = ["run", "--mode", "fluid", "--variant", variant, "--steps", "200", "--out"];
            let output = on(ranks, &[&words[..], &[path.to_str().unwrap()]].concat());
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            fs::read_to_string(path.join("final_state.dat")).unwrap()
        });
        assert_eq!(states[0], states[1], "{variant}");
    }
}

#[test]
#[ignore = "takes long"]
fn a_rank_without_a_device_is_named() {
    if !has_mpi("a_rank_without_a_device_is_named") {
        return;
    }
    let run = ["-n", "1", PROGRAM, "run", "--bodies", "500", "--steps", "1"];
    let other = ["-n", "1", PROGRAM, "run", "--device", "nothing", "--bodies", "500", "--steps", "1"];
    let output = Command::new("mpirun")
        .args(["--allow-run-as-root", "--oversubscribe"])
        .args(run)
        .arg(":")
        .args(other)
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(error.contains("gravitile: rank 1 cannot take part: there is no device `nothing`"), "{error}");
}
