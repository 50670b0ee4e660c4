//! Tests that several ranks of an MPI run compute the same as one process, and that faults end the run with an error
//! message.
//!
//! All tests but the first need the cargo feature `mpi` and the program `mpirun`.

use super::cli::{folder, gravitile};

/// If a launcher starts copies of the program that are not connected, each copy would write the same files, so the
/// copies refuse to run.
#[test]
fn copies_that_are_not_connected_refuse_to_run() {
    let folder = folder();
    let launchers = [
        ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
        ("PMI_SIZE", "PMI_RANK"),
        ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID"),
    ];
    let sentence = match cfg!(feature = "mpi") {
        true => "gravitile: the launcher started 2 copies of gravitile, but MPI does not connect them",
        false => {
            "gravitile: a launcher such as mpirun started several copies of gravitile, but this program was built"
        }
    };
    for (size, rank) in launchers {
        // With the feature `mpi`, the variables of Open MPI and SLURM would start a real connection.
        if cfg!(feature = "mpi") && size != "PMI_SIZE" {
            continue;
        }
        let start = |of: &str, nth: &str| {
            let mut command = gravitile(folder.path(), "run --bodies 300 --steps 1");
            let output = command.env(size, of).env(rank, nth).output().unwrap();
            (output.status.code(), String::from_utf8(output.stderr).unwrap())
        };
        assert_eq!(start("1", "0"), (Some(0), String::new()), "one copy is allowed");
        let (code, stderr) = start("2", "0");
        assert!(code == Some(2) && stderr.starts_with(sentence), "{code:?} {stderr}");
        assert_eq!(start("2", "1"), (Some(2), String::new()), "only the first copy prints");
    }
}

#[cfg(feature = "mpi")]
mod connected {
    use std::fs;
    use std::path::Path;
    use std::process::{Child, Command as Process, Stdio};
    use std::thread::sleep;
    use std::time::{Duration, Instant};

    use assert_cmd::Command;
    use gravitile::base::state::State;
    use gravitile::engine::Snapshot;
    use gravitile::engine::snapshot::Carried;
    use gravitile::modes::{MODES, ModeInfo, Together, Variant};
    use serde_json::Value;

    use crate::cli::{folder, gravitile, isolated};
    use crate::support::mpi::{ENVIRONMENT, find_rank, signal};

    /// Number of bodies in most runs. Neither 2 nor 3 ranks divide it evenly.
    const FEW: usize = 1001;
    const PROGRAM: &str = env!("CARGO_BIN_EXE_gravitile");

    /// Returns the command `gravitile ARGS` on `ranks` ranks in `folder`.
    fn on(ranks: usize, folder: &Path, args: &str) -> Command {
        let mut command = match ranks {
            1 => gravitile(folder, args),
            _ => isolated("mpirun", folder),
        };
        if ranks > 1 {
            command.args(["-n", &ranks.to_string(), PROGRAM]).args(args.split_whitespace());
        }
        command.envs(ENVIRONMENT);
        command
    }

    /// Runs a command that must succeed without warnings, and returns what it prints as JSON.
    fn json(ranks: usize, folder: &Path, args: &str) -> Value {
        let output = on(ranks, folder, args).output().unwrap();
        let [stdout, stderr] = [output.stdout, output.stderr].map(|it| String::from_utf8(it).unwrap());
        let is_quiet = stderr.lines().all(|line| line.starts_with("wrote "));
        assert!(output.status.success() && is_quiet, "{args} on {ranks} ranks: {}\n{stderr}", output.status);
        serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{args}: {error} in\n{stdout}"))
    }

    fn load(path: &Path) -> Snapshot {
        match Carried::load(path).unwrap() {
            Carried::Snapshot(snapshot) => *snapshot,
            Carried::Scene(_) => panic!("{} has no snapshot", path.display()),
        }
    }

    /// Returns all numbers of the state in a snapshot.
    fn numbers(path: &Path) -> Vec<f32> {
        match &load(path).runs[0].state {
            State::Bodies(bodies) => {
                [bodies.positions.as_flattened(), bodies.velocities.as_flattened()].concat()
            }
            State::Flow(flow) => flow.cells.as_flattened().to_vec(),
        }
    }

    /// Checks that runs with the variant `variant` on the numbers of ranks in `counts` end in the same state as a run
    /// of one process. A fluid has the size of its scene.
    fn same(info: &ModeInfo, variant: &Variant, bodies: usize, set: &str, counts: &[usize]) {
        let folder = folder();
        let bodies = if info.name == "fluid" { String::new() } else { format!("--bodies {bodies}") };
        let run = |ranks: usize| {
            let (mode, variant) = (info.name, variant.name);
            let args = format!(
                "run --mode {mode} --variant {variant} {bodies} {set} --steps 12 --json --save {ranks}.gravitile"
            );
            let report = json(ranks, folder.path(), &args);
            (report, numbers(&folder.path().join(format!("{ranks}.gravitile"))))
        };
        let (_, alone) = run(1);
        for &ranks in counts {
            let (report, together) = run(ranks);
            let what = format!("{} {} {set} on {ranks} ranks", info.name, variant.name);
            let shares: Vec<f64> = report["sharing"]["members"]
                .as_array()
                .map(|members| members.iter().map(|member| member["share"].as_f64().unwrap()).collect())
                .unwrap_or_default();
            match variant.together {
                Together::No => assert!(shares.is_empty(), "{what}: {report}"),
                _ => assert!(
                    shares.len() == ranks && shares.iter().all(|share| *share > 0.0),
                    "{what}: {report}"
                ),
            }
            // A variant that uses Newton's third law adds up the sums of its devices in another order.
            let tolerance = if variant.sides > 1.0 { 1e-6 } else { 0.0 };
            let largest =
                |values: &mut dyn Iterator<Item = f32>| values.fold(0.0, |most, value| value.abs().max(most));
            let size = largest(&mut alone.iter().copied());
            let error = largest(&mut alone.iter().zip(&together).map(|(a, b)| a - b));
            assert!(
                alone.len() == together.len() && size > 0.0 && error <= tolerance * size,
                "{what}: {error:e}"
            );
        }
    }

    #[test]
    fn two_ranks_compute_the_same_bodies() {
        let info = gravitile::modes::find("gravity").unwrap();
        same(info, info.variant("private").unwrap(), FEW, "", &[2]);
    }

    /// In each step, a rank sends about 1.5 MB for its half of the bodies, which is more than one message between ranks
    /// can hold.
    #[test]
    #[ignore = "long: scripts/test --all runs it"]
    fn bodies_sent_in_several_mpi_messages_arrive_complete() {
        let info = gravitile::modes::find("gravity").unwrap();
        same(info, info.variant("tree").unwrap(), 250_000, "", &[2]);
    }

    #[test]
    #[ignore = "long: scripts/test --all runs it"]
    fn two_and_three_ranks_compute_the_same_with_every_variant() {
        for info in MODES {
            for variant in info.variants {
                same(info, variant, FEW, "", &[2, 3]);
            }
        }
        let info = gravitile::modes::find("gravity").unwrap();
        for variant in ["tree", "private", "mutual"] {
            same(
                info,
                info.variant(variant).unwrap(),
                FEW,
                "--set integrator=yoshida compensated=true",
                &[2, 3],
            );
        }
    }

    #[test]
    #[ignore = "long: scripts/test --all runs it"]
    fn a_snapshot_continues_with_another_number_of_ranks() {
        let folder = folder();
        for what in [
            "--bodies 1001 --variant private",
            "--bodies 1001 --variant tree --set integrator=taylor",
            "--mode asteroids --bodies 1001 --variant naive",
            "--mode asteroids --bodies 1001 --variant grid",
            "--mode fluid --variant temporal",
        ] {
            json(1, folder.path(), &format!("run {what} --steps 40 --save whole.gravitile --json"));
            json(3, folder.path(), &format!("run {what} --steps 16 --save a.gravitile --json"));
            json(1, folder.path(), "run --resume a.gravitile --steps 12 --save b.gravitile --json");
            json(3, folder.path(), "run --resume b.gravitile --steps 12 --save c.gravitile --json");
            let [whole, parts] =
                ["whole", "c"].map(|name| folder.path().join(name).with_extension("gravitile"));
            assert_eq!(load(&whole).runs[0].step, load(&parts).runs[0].step, "{what}");
            assert!(numbers(&whole) == numbers(&parts), "{what}");
        }
    }

    #[test]
    #[ignore = "long: scripts/test --all runs it"]
    fn a_picture_rendered_on_three_ranks_equals_one_of_a_single_rank() {
        let folder = folder();
        let pictures = [1, 3].map(|ranks| {
            let args = format!(
                "render --bodies 1001 --variant private --steps 5 --size 320x200 --bare --out {ranks}.png"
            );
            on(ranks, folder.path(), &args).assert().success();
            image::open(folder.path().join(format!("{ranks}.png"))).unwrap()
        });
        assert!(pictures[0] == pictures[1]);
    }

    #[test]
    #[ignore = "long: scripts/test --all runs it"]
    fn bench_compares_ranks_with_one_rank() {
        let folder = folder();
        let args = "bench --mode gravity --variant private --bodies 2048 --repeats 1 --seconds 0.01 --json";
        let report = json(2, folder.path(), args);
        let rows = report["rows"].as_array().unwrap();
        let found: Vec<_> = rows
            .iter()
            .map(|row| {
                (
                    row["scaling"].as_str().unwrap(),
                    row["devices"].as_u64().unwrap(),
                    row["bodies"].as_u64().unwrap(),
                )
            })
            .collect();
        // Doubling the number of pairs multiplies the number of bodies by √2.
        assert_eq!(found, [("strong", 1, 2048), ("strong", 2, 2048), ("weak", 1, 2048), ("weak", 2, 2896)]);
        for row in rows {
            let share = row["exchange_share"].as_f64().unwrap();
            assert!((0.0..1.0).contains(&share), "{row}");
            assert!(row["used"] == row["devices"] && (row["devices"] == 2 || share == 0.0), "{row}");
        }
        assert_eq!(report["devices"].as_array().unwrap().len(), 2);
        let refused = on(2, folder.path(), "check").output().unwrap();
        let stderr = String::from_utf8(refused.stderr).unwrap();
        assert!(
            !refused.status.success() && stderr.contains("gravitile: under a launcher such as mpirun"),
            "{stderr}"
        );
    }

    /// Starts rank 0 with `first` and rank 1 with `second`. The run must end with an error message of rank 0 that
    /// contains `sentence`.
    fn refuses(folder: &Path, [first, second]: [&str; 2], sentence: &str) {
        let mut command = isolated("mpirun", folder);
        command.args(["-n", "1"]).args(first.split_whitespace()).args([":", "-n", "1"]);
        let output = command.args(second.split_whitespace()).envs(ENVIRONMENT).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && stderr.contains(sentence), "{}: {stderr}", output.status);
        assert_eq!(stderr.matches("gravitile: ").count(), 1, "{stderr}");
    }

    #[test]
    #[ignore = "long: scripts/test --all runs it"]
    fn a_rank_that_cannot_take_part_is_named() {
        let folder = folder();
        let run = format!("{PROGRAM} run --bodies 500 --steps 1");
        let without = format!("{run} --device nothing");
        let sentence = "gravitile: rank 1 cannot take part: there is no device `nothing`";
        refuses(folder.path(), [&run, &without], sentence);
        refuses(folder.path(), [&without, &run], "gravitile: there is no device `nothing`");
        // A copy of the program with one more byte at its end still runs, but counts as another build.
        let other = folder.path().join("other");
        fs::copy(PROGRAM, &other).unwrap();
        let bytes = [fs::read(&other).unwrap(), vec![0]].concat();
        fs::write(&other, bytes).unwrap();
        let other = run.replace(PROGRAM, other.to_str().unwrap());
        refuses(
            folder.path(),
            [&run, &other],
            "gravitile: rank 1 runs a different build of gravitile from rank 0",
        );
    }

    /// Starts a long run on two ranks, sends the signal `name` to rank 1 while it computes, and waits for the end.
    /// Returns whether the run succeeded, and what was written to stderr.
    fn interrupted(folder: &Path, name: &str) -> (bool, String) {
        let mut command = Process::new("mpirun");
        command.args([
            "-n",
            "2",
            PROGRAM,
            "run",
            "--bodies",
            "4096",
            "--variant",
            "private",
            "--steps",
            "100000000",
        ]);
        command
            .current_dir(folder)
            .env("XDG_STATE_HOME", folder)
            .env("GRAVITILE_PATIENCE", "10")
            .envs(ENVIRONMENT);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut launcher = Killed(command.spawn().unwrap());
        let rank = until(|| find_rank(launcher.0.id(), 1, 2.0));
        signal(name, rank);
        let status = until(|| launcher.0.try_wait().unwrap());
        let mut stderr = String::new();
        std::io::Read::read_to_string(launcher.0.stderr.as_mut().unwrap(), &mut stderr).unwrap();
        (status.success(), stderr)
    }

    /// A process that is killed when this value is dropped, for example because the test failed.
    struct Killed(Child);

    impl Drop for Killed {
        fn drop(&mut self) {
            // The process may have ended already.
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    fn until<T>(mut ask: impl FnMut() -> Option<T>) -> T {
        let start = Instant::now();
        loop {
            if let Some(answer) = ask() {
                return answer;
            }
            assert!(start.elapsed() < Duration::from_secs(120), "waited in vain");
            sleep(Duration::from_millis(20));
        }
    }

    #[test]
    #[ignore = "long: scripts/test --all runs it"]
    fn a_rank_that_hangs_is_named_and_the_checkpoint_is_saved() {
        let folder = folder();
        let (is_fine, stderr) = interrupted(folder.path(), "STOP");
        assert!(!is_fine && stderr.contains("gravitile: rank 1 did not respond within 10 s"), "{stderr}");
        let files = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
        let saved = files.into_iter().find(|path| path.extension().is_some_and(|it| it == "gravitile"));
        let saved = saved.unwrap_or_else(|| panic!("nothing is saved: {stderr}"));
        assert!(stderr.contains(saved.file_name().unwrap().to_str().unwrap()), "{stderr}");
        assert_eq!(load(&saved).runs[0].state.len(), 4096);
    }

    /// The launcher notices first that a rank has been killed, and ends rank 0 before it can report an error.
    #[test]
    #[ignore = "long: scripts/test --all runs it"]
    fn a_rank_that_is_killed_ends_the_run() {
        let folder = folder();
        let (is_fine, stderr) = interrupted(folder.path(), "KILL");
        assert!(!is_fine && !stderr.is_empty(), "{stderr}");
    }
}
