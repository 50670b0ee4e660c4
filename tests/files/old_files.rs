//! Tests that the current program opens each kind of file that the program of commit 57f4b0d wrote, and continues from
//! it.
//!
//! `tests/fixtures/before-17/write.sh` lists the commands that wrote the files. For each snapshot and picture,
//! `NAME.later.gravitile` is the snapshot that the old program wrote 20 steps later. On the device and driver that
//! wrote the files, the continuation by the current program must agree with that snapshot to the last bit. Other CPUs
//! have other vector widths, and other versions of PoCL compile other instructions; there, it must agree within
//! [`TOLERANCE`].

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use clap::CommandFactory;
use gravitile::app::settings::Settings;
use gravitile::base::look::Look;
use gravitile::base::params::{self, ParamValues};
use gravitile::base::state::State;
use gravitile::cli::Cli;
use gravitile::engine::snapshot::Snapshot;
use gravitile::engine::tuned::Tuned;
use gravitile::modes::{self, ModeInfo};
use serde_json::Value;

use crate::support::window::Display;

/// Largest difference that counts as rounding between two devices after 20 steps, relative to the largest number of a
/// list.
const TOLERANCE: f64 = 1e-3;

fn old(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/before-17").join(name)
}

fn old_text(name: &str) -> String {
    fs::read_to_string(old(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn old_json(name: &str) -> Value {
    serde_json::from_str(&old_text(name)).unwrap()
}

/// Returns the names of the old files that end with `ending`, with this ending removed.
fn stems(ending: &str) -> BTreeSet<String> {
    let names = fs::read_dir(old("")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter_map(|name| name.strip_suffix(ending).map(str::to_owned)).collect()
}

/// Runs `gravitile ARGS` in `folder` and returns what the program prints.
fn gravitile(folder: &Path, args: &[&str]) -> String {
    let mut command = super::cli::gravitile(folder, "");
    String::from_utf8(command.args(args).assert().success().get_output().stdout.clone()).unwrap()
}

fn json(folder: &Path, args: &str) -> Value {
    serde_json::from_str(&gravitile(folder, &args.split_whitespace().collect::<Vec<_>>())).unwrap()
}

/// Returns all lists of numbers in a state, with the names of the lists.
fn lists(state: &State) -> Vec<(&'static str, Vec<f32>)> {
    match state {
        State::Bodies(bodies) => {
            vec![("positions", bodies.positions.concat()), ("velocities", bodies.velocities.concat())]
        }
        State::Flow(flow) => vec![("cells", flow.cells.concat()), ("tracers", flow.tracers.concat())],
    }
}

/// Compares two lists of numbers: bit for bit, or within [`TOLERANCE`] of the largest number.
fn assert_close(what: &str, is_exact: bool, old: &[f32], new: &[f32]) {
    assert_eq!(old.len(), new.len(), "{what}: numbers");
    let largest = old.iter().filter(|x| x.is_finite()).fold(0.0, |most: f64, x| most.max(f64::from(x.abs())));
    for (nth, (a, b)) in old.iter().zip(new).enumerate() {
        let is_same = match is_exact {
            true => a.to_bits() == b.to_bits(),
            false => a.to_bits() == b.to_bits() || f64::from((a - b).abs()) <= TOLERANCE * largest,
        };
        assert!(is_same, "{what}: number {nth} was {a:e} and is {b:e} (exact: {is_exact})");
    }
}

#[test]
fn old_snapshots_and_pictures_continue_as_the_old_program_did() {
    let folder = tempfile::tempdir().unwrap();
    let stems = stems(".later.gravitile");
    assert!(stems.len() >= 14, "{stems:?}");
    for stem in stems {
        let snapshot = old(&format!("{stem}.gravitile"));
        let source = if snapshot.exists() { snapshot } else { old(&format!("{stem}.png")) };
        let args = [
            "run",
            "--resume",
            source.to_str().unwrap(),
            "--steps",
            "20",
            "--save",
            "now.gravitile",
            "--json",
        ];
        let report: Value = serde_json::from_str(&gravitile(folder.path(), &args)).unwrap();
        if old(&format!("{stem}.run.json")).exists() {
            assert_report(&stem, &old_json(&format!("{stem}.run.json")), &report);
        }
        let now = Snapshot::load(&folder.path().join("now.gravitile")).unwrap();
        let later = Snapshot::load(&old(&format!("{stem}.later.gravitile"))).unwrap();
        let is_exact = now.device == later.device;
        assert_eq!(now.runs.len(), later.runs.len(), "{stem}: modes");
        assert!(later.runs[0].step >= 20, "{stem}: the first mode went on");
        for (now, later) in now.runs.iter().zip(&later.runs) {
            let mode = later.config.mode.info().name;
            assert_eq!(now.config.mode.info().name, mode, "{stem}");
            assert_eq!(now.step, later.step, "{stem}, {mode}: steps");
            assert!((now.time - later.time).abs() <= 1e-9 * later.time.abs(), "{stem}, {mode}: time");
            for ((name, old), (_, new)) in lists(&later.state).iter().zip(&lists(&now.state)) {
                assert_close(&format!("{stem}, {mode}, {name}"), is_exact, old, new);
            }
            let names = |extra: &modes::Extra| extra.keys().cloned().collect::<Vec<_>>();
            if is_exact {
                assert_eq!(names(&now.extra), names(&later.extra), "{stem}, {mode}: carried lists");
                assert_eq!(now.recipe, later.recipe, "{stem}, {mode}: kernel");
                for (name, list) in &later.extra {
                    // These numbers hold two 16-bit numbers each, so they must agree bit for bit.
                    assert_close(&format!("{stem}, {mode}, extra {name}"), true, list, &now.extra[name]);
                }
            }
        }
    }
}

/// Every list of numbers that a snapshot may contain is in one of the old files, so that no list is untested.
#[test]
fn the_old_files_contain_every_list_that_a_snapshot_can_store() {
    for info in modes::MODES {
        // The program of commit 57f4b0d read the list `halves` but no longer wrote it; a test in `snapshots.rs` opens a
        // file with it. The list of the variant `tree` is newer than that commit.
        let others = ["halves", "tree_accelerations"];
        let mut missing: BTreeSet<&str> =
            info.carries.iter().map(|list| list.name).filter(|name| !others.contains(name)).collect();
        for stem in stems(".gravitile") {
            for run in Snapshot::load(&old(&format!("{stem}.gravitile"))).unwrap().runs {
                if run.config.mode.info().name == info.name {
                    missing.retain(|name| !run.extra.contains_key(*name));
                }
            }
        }
        assert!(missing.is_empty(), "no old file of {} holds the lists {missing:?}", info.name);
    }
}

/// Checks that `new` has every key of `old`, with values of the same type.
fn assert_keys(what: &str, old: &Value, new: &Value) {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            for (key, value) in old {
                let found = new.get(key).unwrap_or_else(|| panic!("{what}: the key {key:?} is gone"));
                // The device may use another variant, which has its own compile-time parameters.
                if key != "knobs" {
                    assert_keys(&format!("{what}.{key}"), value, found);
                }
            }
        }
        (Value::Array(old), Value::Array(new)) => {
            let key = |row: &Value| row.get("key").cloned();
            for row in old {
                let twin = new.iter().find(|candidate| key(candidate) == key(row));
                assert_keys(what, row, twin.unwrap_or_else(|| panic!("{what}: no row like {row}")));
            }
        }
        // A key may be null where a value is not known.
        (Value::Null, _) | (_, Value::Null) => {}
        _ => assert_eq!(
            std::mem::discriminant(old),
            std::mem::discriminant(new),
            "{what}: {old} was of another type than {new}"
        ),
    }
}

/// Compares the current report of `run --json` with the old one: keys and types, and the values that must not change.
fn assert_report(stem: &str, old: &Value, now: &Value) {
    assert_keys(&format!("run of {stem}"), old, now);
    for key in ["mode", "start", "bodies", "steps"] {
        assert_eq!(old[key], now[key], "{stem}: {key}");
    }
    // Parameters may be added, with values that change nothing.
    for (key, value) in old["params"].as_object().unwrap() {
        assert_eq!(*value, now["params"][key], "{stem}: parameter {key}");
    }
}

#[test]
fn every_key_of_the_old_json_reports_is_still_there() {
    let folder = tempfile::tempdir().unwrap();
    let run = |args: &str| json(folder.path(), args);
    assert_keys("devices", &old_json("devices.json"), &run("devices --json"));
    for (mode, variant) in [("gravity", "naive"), ("asteroids", "naive"), ("fluid", "fused")] {
        let bench = run(&format!("bench --mode {mode} --variant {variant} --bodies 300 --repeats 1 --json"));
        assert_keys(&format!("bench of {mode}"), &old_json(&format!("bench-{mode}.json")), &bench);
    }
    let scaling = run("bench --mode gravity --devices 1 --bodies 256 --json");
    assert_keys("bench --devices", &old_json("scaling.json"), &scaling);
}

#[test]
fn every_key_of_an_old_report_of_the_window_is_still_there() {
    let display = Display::open();
    // The report lists the speed of a variant once some steps have been measured.
    display.run("--mode asteroids --bodies 50 --frames 100");
    let now: Value =
        serde_json::from_slice(&fs::read(display.folder().join("report.json")).unwrap()).unwrap();
    let mut old = old_json("report.json");
    // No user acts on this window, so it has no events to compare.
    old.as_object_mut().unwrap().remove("events");
    assert_keys("report of the window", &old, &now);
}

#[test]
#[ignore = "takes a minute; scripts/test --all"]
fn every_key_and_column_of_slow_reports_is_still_there() {
    let folder = tempfile::tempdir().unwrap();
    let tune = json(folder.path(), "bench --tune --mode asteroids --bodies 256 --json");
    assert_keys("bench --tune", &old_json("tune.json"), &tune);
    let check = gravitile(folder.path(), &["check", "--mode", "fluid", "--variant", "fused"]);
    let columns =
        |text: &str| text.lines().nth(1).unwrap().split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(columns(&old_text("check.txt")), columns(&check), "columns of check");
}

#[test]
fn old_settings_and_tuned_kernels_are_read() {
    let settings = Settings::load(&old("settings.toml")).unwrap();
    assert_eq!((settings.size, settings.panel), ((1100, 720), false), "not the values of a new file");
    assert_eq!(settings.folder.as_deref(), Some(Path::new("/home/somebody")));
    let look = |key: &str| settings.look.get(key).map(String::as_str);
    assert_eq!((look("scale"), look("grid")), (Some("1.25"), Some("true")));
    let (folder, written) = (tempfile::tempdir().unwrap(), old_json("tuned.json"));
    let again = folder.path().join("tuned.json");
    Tuned::load(&old("tuned.json")).unwrap().save(&again).unwrap();
    let again: Value = serde_json::from_slice(&fs::read(again).unwrap()).unwrap();
    assert_eq!(written, again, "nothing of the list is dropped");
}

#[test]
fn old_scenes_bodies_and_parameter_files_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let run = |args: &str, file: &str| {
        let mut args: Vec<_> = args.split_whitespace().collect();
        let file = old(file);
        let nth = args.iter().position(|arg| *arg == "FILE").unwrap();
        args[nth] = file.to_str().unwrap();
        gravitile(folder.path(), &args)
    };
    let report = |args: &str, file: &str| serde_json::from_str::<Value>(&run(args, file)).unwrap();
    let saved = report("run --scene FILE --steps 5 --json", "saved-scene.toml");
    assert_eq!((&saved["bodies"], &saved["params"]["dt"]), (&50.into(), &0.02.into()));
    let written = report("run --scene FILE --steps 10 --json", "scene.toml");
    assert_eq!((&written["bodies"], &written["params"]["dt"]), (&3.into(), &0.005.into()));
    let loaded = report("run --load FILE --steps 5 --out bodies.csv --json", "bodies.csv");
    assert_eq!((&loaded["mode"], &loaded["bodies"]), (&"gravity".into(), &3.into()));
    let header = |text: &str| text.lines().next().unwrap().to_owned();
    let exported = fs::read_to_string(folder.path().join("bodies.csv")).unwrap();
    assert_eq!(header(&exported), header(&old_text("bodies.csv")), "columns of bodies");
    gravitile(folder.path(), &["run", "--scene", "figure-eight", "--steps", "10", "--out", "eight.csv"]);
    assert_numbers("bodies.csv", &folder.path().join("eight.csv"));

    let args = "bench --mode gravity --variant naive --bodies 64 --repeats 1 --plot chart.csv";
    gravitile(folder.path(), &args.split(' ').collect::<Vec<_>>());
    let chart = fs::read_to_string(folder.path().join("chart.csv")).unwrap();
    assert_eq!(header(&chart), header(&old_text("chart.csv")), "columns of bench --plot");

    let obstacles = old("box.dat");
    let args = format!("run --mode fluid --params FILE --obstacles {} --out .", obstacles.display());
    run(&args, "box.params");
    for name in ["final_state.dat", "av_vels.dat"] {
        assert_numbers(name, &folder.path().join(name));
    }
}

/// Compares a text file with an old one of the same kind. Words must agree, and numbers must agree within [`TOLERANCE`]
/// of the largest.
fn assert_numbers(old: &str, new: &Path) {
    let words = |text: String| -> Vec<String> {
        text.split(|c: char| c == ',' || c.is_whitespace())
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let (old_words, new_words) = (words(old_text(old)), words(fs::read_to_string(new).unwrap()));
    assert_eq!(old_words.len(), new_words.len(), "{old}: words");
    let numbers = |words: &[String]| words.iter().filter_map(|word| word.parse().ok()).collect::<Vec<f32>>();
    assert_close(old, false, &numbers(&old_words), &numbers(&new_words));
    let texts =
        |words: &[String]| words.iter().filter(|w| w.parse::<f32>().is_err()).cloned().collect::<Vec<_>>();
    assert_eq!(texts(&old_words), texts(&new_words), "{old}");
}

#[test]
fn old_options_and_names_are_still_accepted() {
    let root = Cli::command();
    for line in old_text("options.txt").lines() {
        let (command, option) = line.split_once(" --").unwrap();
        let subcommand = root.find_subcommand(command).unwrap_or_else(|| panic!("{command} is gone"));
        let takes = |command: &clap::Command| {
            let mut names = command
                .get_arguments()
                .flat_map(|arg| arg.get_long_and_visible_aliases().unwrap_or_default());
            names.any(|name| name == option)
        };
        let is_built_in = ["help", "version"].contains(&option);
        assert!(is_built_in || takes(subcommand), "{command} no longer takes --{option}");
        assert!(is_built_in || command != "view" || takes(&root), "--{option} needs the word `view` now");
    }
    let find = |name: &str| -> &'static ModeInfo {
        modes::find(name).unwrap_or_else(|| panic!("the mode {name} is gone"))
    };
    let mut scenes = 0;
    for mode in ["gravity", "asteroids", "fluid"] {
        let text = old_text("scenes.txt");
        let names = text.split(&format!("of {mode}: ")).nth(1).unwrap().split(';').next().unwrap();
        for name in names.trim().split(", ") {
            assert!(find(mode).scene(name).is_some(), "the scene {name} of {mode} is gone");
            scenes += 1;
        }
        for row in old_json(&format!("bench-{mode}.json"))["rows"].as_array().unwrap() {
            let name = row["variant"].as_str().unwrap();
            let variant =
                find(mode).variant(name).unwrap_or_else(|| panic!("the variant {name} of {mode} is gone"));
            for (knob, value) in row["knobs"].as_object().unwrap() {
                let found = variant.knobs.iter().find(|found| found.name == knob);
                let found = found.unwrap_or_else(|| panic!("{name} has no knob {knob} any more"));
                assert!(found.options.contains(&(value.as_u64().unwrap() as u32)), "{name}: {knob}={value}");
            }
        }
    }
    assert_eq!(scenes, 24);
    for stem in stems(".run.json") {
        let report = old_json(&format!("{stem}.run.json"));
        let mut mode = (find(report["mode"].as_str().unwrap()).default)();
        for (key, value) in report["params"].as_object().unwrap() {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            params::set(mode.as_mut(), key, &text)
                .unwrap_or_else(|error| panic!("{stem}: {key}={text}: {error}"));
        }
    }
    let text = old_text("looks.txt");
    let looks = ParamValues::collect(&mut Look::default());
    for key in text.split("the parameters are ").nth(1).unwrap().trim().split(", ") {
        assert!(looks.get(key).is_some(), "the look {key} is gone");
    }
}
