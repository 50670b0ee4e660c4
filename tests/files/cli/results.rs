//! Tests the results of commands: numbers, files, pictures and tables.

use std::fs;
use std::path::Path;

use clap::CommandFactory;
use gravitile::base::state::Matter;
use gravitile::cli::Cli;
use gravitile::compute;
use gravitile::modes::MODES;
use gravitile::view::{self, BACKGROUND, Canvas};
use image::GenericImageView;
use serde_json::Value;

use super::{folder, gravitile, json, run, stdout};

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn names(rows: &Value, key: &str) -> Vec<String> {
    rows.as_array().unwrap().iter().map(|row| row[key].as_str().unwrap().to_owned()).collect()
}

#[test]
fn run_reports_what_was_measured() {
    let args = "run --scene plummer --bodies 300 --steps 50 --variant tiled --work-group 32 --json";
    let report = json(folder().path(), args);
    for (key, value) in [("mode", "gravity"), ("start", "plummer"), ("variant", "tiled")] {
        assert_eq!(report[key], value, "{key}");
    }
    for (key, value) in [("work_group", 32), ("bodies", 300), ("steps", 50), ("nonfinite", 0)] {
        assert_eq!(report[key], value, "{key}");
    }
    assert!(!report["device"].as_str().unwrap().is_empty());
    let seconds = number(&report["seconds"]);
    let rate = number(&report["interactions_per_second"]);
    assert!(
        seconds > 0.0 && (rate * seconds / (300.0 * 300.0 * 50.0) - 1.0).abs() < 1e-9,
        "{rate} {seconds}"
    );

    let energy = &report["energy"];
    let [start, end, drift] = ["start", "end", "relative_drift"].map(|key| number(&energy[key]));
    assert!((-1.0..0.0).contains(&start), "a bound cluster in N-body units: {start}");
    assert!(start != end && (drift - (end - start) / start.abs()).abs() < 1e-12, "{energy}");
    assert!(drift.abs() < 1e-2, "drift {drift}");
    for key in ["momentum", "angular_momentum"] {
        let vector = report[key].as_array().unwrap();
        assert!(vector.len() == 3 && vector.iter().all(|c| number(c).is_finite()), "{key}");
    }
    let momentum =
        report["momentum"].as_array().unwrap().iter().map(number).fold(0.0, |a: f64, p| a.max(p.abs()));
    assert!(momentum < 1e-4 * number(&report["momentum_scale"]), "momentum {momentum}");
}

/// The trace contains every recorded launch, and the report contains their sums.
#[test]
fn a_profile_has_a_trace_file_and_a_summary_table() {
    let folder = folder();
    let args = "run --bodies 500 --steps 5 --variant tree --set integrator=euler --profile p.json --json";
    let report = json(folder.path(), args);
    let profile = &report["profiles"][0];
    assert_eq!(number(&profile["steps"]), 2.0, "half of all steps but the first");
    let trace: Value = serde_json::from_slice(&fs::read(folder.path().join("p.json")).unwrap()).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let complete = |track| events.iter().filter(move |it| it["ph"] == "X" && it["tid"] == track);
    assert!(events.iter().any(|it| it["ph"] == "M" && it["args"]["name"] == "kernels"));
    // The steps follow one another, and each one contains its launches.
    let passes: Vec<[f64; 2]> = complete(0).map(|it| [number(&it["ts"]), number(&it["dur"])]).collect();
    assert!(passes.len() >= 2 && passes.is_sorted_by(|a, b| a[0] + a[1] <= b[0]), "{passes:?}");
    for launch in complete(1) {
        let [ts, dur] = ["ts", "dur"].map(|key| number(&launch[key]));
        let [start, length] = passes[launch["args"]["pass"].as_u64().unwrap() as usize];
        assert!(start <= ts && ts + dur <= start + length + 1e-3, "{launch}");
    }
    for kernel in profile["kernels"].as_array().unwrap() {
        let mine = || complete(1).filter(|it| it["name"] == kernel["kernel"]);
        let time: f64 = mine().map(|it| number(&it["dur"])).sum();
        let calls = number(&kernel["calls"]);
        assert_eq!(mine().count() as f64, (2.0 * calls).round(), "{kernel}");
        let overhead = number(&profile["overhead_seconds"]);
        let seconds = (time * 1e-6 / 2.0 - overhead * calls).max(0.0);
        assert!((number(&kernel["seconds"]) - seconds).abs() < 1e-12 * time, "{kernel}");
    }
    assert!(complete(1).any(|it| it["name"] == "walk"));

    let table = stdout(folder.path(), "run --bodies 500 --steps 3 --variant naive --profile q.json");
    let row = table.lines().find(|line| line.starts_with("advance")).unwrap_or_else(|| panic!("{table}"));
    assert!(row.contains('%') && table.contains("no kernel"), "{table}");
    let report = json(folder.path(), "run --bodies 100 --steps 2 --json");
    assert!(report.get("profiles").is_none(), "only --profile adds them");
}

#[test]
fn run_reports_energy_lost_by_design_and_units() {
    let run = |args: &str| stdout(folder().path(), &format!("run --bodies 100 --steps 3 {args}"));
    assert!(run("").contains(", drift "), "gravity conserves energy");
    for args in ["--set decay=0.9", "--mode asteroids"] {
        let text = run(args);
        assert!(text.contains(", change ") && text.contains("do not conserve energy"), "{text}");
        assert!(!text.contains("drift"), "{text}");
    }
    assert!(run("--mode asteroids").contains(" radii"), "the largest displacement has a unit");
}

#[test]
fn run_without_json_prints_human_readable_text() {
    let text = stdout(folder().path(), "run --bodies 100 --steps 3");
    for words in ["gravity · spiral · 100 bodies", "3 steps", "interactions/s", "energy", "momentum"] {
        assert!(text.contains(words), "{words} is not in\n{text}");
    }
}

#[test]
fn every_scene_and_every_variant_runs() {
    let folder = folder();
    for info in MODES {
        for scene in info.scenes.iter() {
            let bodies = scene.bodies.unwrap_or(2000);
            let args = format!("run --mode {} --scene {} --bodies {bodies}", info.name, scene.name);
            let report = json(folder.path(), &format!("{args} --steps 2 --json"));
            assert_eq!(report["nonfinite"], 0, "{args}");
            let made = number(&report["bodies"]) / bodies as f64;
            match info.work.matter {
                Matter::Bodies => {
                    assert_eq!(made, 1.0, "{args}");
                    assert!(number(&report["energy"]["relative_drift"]).abs() < 0.05, "{args}: {report}");
                }
                Matter::Flow => {
                    assert!((0.9..1.1).contains(&made), "{args}");
                    assert!(number(&report["mlups"]) > 0.0 && report["energy"].is_null(), "{args}: {report}");
                }
            }
        }
        for variant in info.variants {
            let args = format!("run --mode {} --variant {} --bodies 200", info.name, variant.name);
            let report = json(folder.path(), &format!("{args} --steps 2 --json"));
            assert_eq!(report["variant"], variant.name, "{args}");
            assert_eq!(report["nonfinite"], 0, "{args}");
        }
    }
}

#[test]
fn zero_steps_change_nothing() {
    let folder = folder();
    for steps in [0, 1] {
        let out = format!("{steps}.csv");
        let report = json(folder.path(), &format!("run --bodies 64 --steps {steps} --out {out} --json"));
        assert_eq!(report["energy"]["relative_drift"] == 0.0, steps == 0, "{report}");
    }
    let again = "run --load 0.csv --steps 0 --out again.csv";
    stdout(folder.path(), again);
    let read = |name| fs::read(folder.path().join(name)).unwrap();
    assert_eq!(read("0.csv"), read("again.csv"));
    assert_ne!(read("0.csv"), read("1.csv"));
}

#[test]
fn bodies_written_to_a_file_continue_where_the_run_stopped() {
    let folder = folder();
    let scene = "run --scene two-body --steps";
    stdout(folder.path(), &format!("{scene} 40 --out all.csv"));
    stdout(folder.path(), &format!("{scene} 15 --out half.csv"));
    let params = &json(folder.path(), &format!("{scene} 0 --json"))["params"];
    let set: Vec<_> =
        params.as_object().unwrap().iter().map(|(key, value)| format!("{key}={value}")).collect();
    let set = set.join(" ").replace('"', "");
    let report =
        json(folder.path(), &format!("run --load half.csv --steps 25 --out rest.csv --json --set {set}"));
    assert_eq!(report["bodies"], 2);
    let [all, rest] = ["all.csv", "rest.csv"].map(|name| {
        let text = fs::read_to_string(folder.path().join(name)).unwrap();
        // After the seven numbers of a body comes its name.
        let numbers =
            |line: &str| line.split(',').take(7).map(|x| x.parse::<f32>().unwrap()).collect::<Vec<_>>();
        text.lines().skip(1).flat_map(numbers).collect::<Vec<_>>()
    });
    assert_eq!(all.len(), 14);
    let gap = all.iter().zip(&rest).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(gap < 1e-5, "apart by {gap}");
}

#[test]
fn a_seed_determines_the_bodies() {
    let folder = folder();
    let csv = |seed: u64, out: &str| {
        stdout(folder.path(), &format!("run --bodies 500 --steps 3 --seed {seed} --out {out}"));
        fs::read(folder.path().join(out)).unwrap()
    };
    let first = csv(7, "a.csv");
    assert_eq!(first.split(|&byte| byte == b'\n').count(), 502, "header, bodies and the end");
    assert_eq!(first, csv(7, "b.csv"));
    assert_ne!(first, csv(8, "c.csv"));
}

/// Every command names on stderr the files that it writes, so that stdout holds only results.
#[test]
fn a_command_says_which_files_it_wrote() {
    let folder = folder();
    let render = "render --scene figure-eight --steps 2 --size 64x40";
    let bench = "bench --mode gravity --variant naive --bodies 64 --repeats 1 --seconds 0.01 --json";
    for (args, files) in [
        (
            "run --bodies 64 --steps 2 --json --out a.csv --save b.gravitile".to_owned(),
            &["b.gravitile", "a.csv"][..],
        ),
        (
            "run --mode fluid --cells 4096 --steps 2 --json --out flow".to_owned(),
            &["flow/final_state.dat", "flow/av_vels.dat"],
        ),
        (format!("{render} --out c.png"), &["c.png"]),
        (format!("{render} --frames 1 --out d.gif"), &["d.gif (1 picture)"]),
        (format!("{render} --frames 2 --out e.png"), &["e-0001.png to e-0002.png (2 pictures)"]),
        (format!("{bench} --plot f.csv"), &["f.csv"]),
        ("run --bodies 64 --steps 2 --json".to_owned(), &[]),
    ] {
        let (stdout, wrote) = run(folder.path(), &args);
        assert_eq!(wrote, files, "{args}");
        assert!(stdout.is_empty() || serde_json::from_str::<Value>(&stdout).is_ok(), "{args}: {stdout}");
        for name in files.iter().flat_map(|it| it.split(" (").next().unwrap().split(" to ")) {
            assert!(folder.path().join(name).is_file(), "{name}");
        }
    }
}

#[test]
fn render_draws_a_picture_of_the_size_asked_for() {
    let folder = folder();
    run(folder.path(), "render --bodies 500 --steps 5 --size 320x200 --look bloom=off stars=0 --out x.png");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "one file");
    let picture = image::open(folder.path().join("x.png")).unwrap();
    assert_eq!(picture.dimensions(), (320, 200));
    for (x, y) in [(0, 0), (319, 0), (0, 199), (319, 199)] {
        let [r, g, b, a] = picture.get_pixel(x, y).0;
        let off =
            [r, g, b].into_iter().zip(BACKGROUND).map(|(c, wanted)| (f32::from(c) - wanted * 255.0).abs());
        assert!(off.fold(0.0, f32::max) <= 2.0 && a == 255, "corner {x} {y} is {:?}", [r, g, b, a]);
    }
    let bright = picture.pixels().filter(|(_, _, pixel)| pixel.0[..3].iter().any(|&c| c > 60)).count();
    assert!((50..32_000).contains(&bright), "{bright} bright pixels of 64000");
}

/// On a CPU, the light of more than 8 192 bodies is drawn as an image, in which the space between sparse bodies glows.
#[test]
fn render_shows_the_glow_that_the_window_shows() {
    let folder = folder();
    let dark = |bodies: u32| {
        let looks = "--look bloom=off stars=0 exposure=2 point_size=1 --size 320x200 --steps 1 --bare";
        run(folder.path(), &format!("render --scene plummer --bodies {bodies} {looks} --out x.png"));
        let picture = image::open(folder.path().join("x.png")).unwrap().into_rgb8();
        picture.pixels().filter(|pixel| pixel.0.iter().all(|channel| *channel < 20)).count()
    };
    if !view::is_software(Canvas::offscreen((1, 1)).unwrap().context()) {
        return println!("not tested: a GPU draws an image for more than 262 144 bodies only");
    }
    let (few, many) = (dark(8192), dark(8193));
    assert!(3 * many < 2 * few, "{many} dark pixels with the image, {few} without it");
}

/// Writes files of the teaching code for a square box: a grid of `side` × `side` cells with a solid border.
fn box_files(folder: &Path, side: usize, steps: u32) {
    fs::write(folder.join("x.params"), format!("{side}\n{side}\n{steps}\n10\n0.1\n0.005\n1.85\n")).unwrap();
    let edge = |x: usize| x == 0 || x + 1 == side;
    let cells = (0..side * side).map(|i| (i % side, i / side)).filter(|(x, y)| edge(*x) || edge(*y));
    fs::write(folder.join("x.dat"), cells.map(|(x, y)| format!("{x} {y} 1\n")).collect::<String>()).unwrap();
}

#[test]
fn a_fluid_is_read_from_and_written_to_the_files_of_the_teaching_code() {
    let folder = folder();
    box_files(folder.path(), 40, 25);
    let report = json(folder.path(), "run --mode fluid --params x.params --obstacles x.dat --out . --json");
    for (key, value) in [("bodies", 1600), ("steps", 25), ("nonfinite", 0)] {
        assert_eq!(report[key], value, "{key}");
    }
    assert_eq!((&report["start"], &report["params"]["drive"]), (&"x.params".into(), &"row".into()));
    let (mlups, seconds) = (number(&report["mlups"]), number(&report["seconds"]));
    assert!((mlups * seconds / (1600.0 * 25.0 * 1e-6) - 1.0).abs() < 1e-9, "{mlups} {seconds}");

    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    let means: Vec<f64> =
        read("av_vels.dat").lines().map(|line| line.split(":\t").nth(1).unwrap().parse().unwrap()).collect();
    assert_eq!(means.len(), 25);
    assert!(means.is_sorted_by(|a, b| a < b), "it is pushed from rest: {means:?}");
    let rows: Vec<Vec<f64>> = read("final_state.dat")
        .lines()
        .map(|line| line.split(' ').map(|number| number.parse().unwrap()).collect())
        .collect();
    assert_eq!((rows.len(), rows.iter().filter(|row| row[6] == 1.0).count()), (1600, 156));
    // The last mean speed is the mean of the speeds in the cells.
    let free: Vec<_> = rows.iter().filter(|row| row[6] == 0.0).collect();
    let mean = free.iter().map(|row| row[4]).sum::<f64>() / free.len() as f64;
    assert!((mean / means[24] - 1.0).abs() < 1e-5, "{mean} {}", means[24]);
    let reading = |key: &str| {
        let all = report["readings"].as_array().unwrap();
        number(&all.iter().find(|reading| reading["key"] == key).unwrap()["value"])
    };
    let reynolds = mean * 10.0 / ((2.0 / 1.85 - 1.0) / 6.0);
    assert!((reading("reynolds") / reynolds - 1.0).abs() < 1e-4, "{reynolds}");

    // The option --steps has priority over the parameter file, and a run of fewer steps has the same values up to its
    // end.
    let fewer =
        json(folder.path(), "run --mode fluid --params x.params --obstacles x.dat --steps 24 --out . --json");
    assert_eq!(fewer["steps"], 24);
    let again: Vec<String> = read("av_vels.dat").lines().map(str::to_owned).collect();
    assert_eq!(again.len(), 24);
    assert!((again[23].split(":\t").nth(1).unwrap().parse::<f64>().unwrap() / means[23] - 1.0).abs() < 1e-6);
}

#[test]
fn render_draws_a_fluid_with_its_walls() {
    let folder = folder();
    let args = "render --mode fluid --scene porous --cells 5000 --steps 200 --size 300x200 --out x.png --set field=walls tracers=0";
    stdout(folder.path(), args);
    let picture = image::open(folder.path().join("x.png")).unwrap().into_rgb8();
    // The flow is black, and the edges of walls are shaded.
    let stone = picture.pixels().filter(|pixel| pixel.0[0] > 40).count();
    // Walls cover about a third of the grid, which is twice as long as high.
    assert!((0.25..0.4).contains(&(stone as f64 / (300.0 * 150.0))), "{stone} pixels of stone");
    stdout(folder.path(), &args.replace("field=walls", "field=speed"));
    assert_ne!(picture, image::open(folder.path().join("x.png")).unwrap().into_rgb8());
}

#[test]
fn several_devices_are_selected_and_report_how_they_share_the_work() {
    if compute::list().unwrap().iter().any(|found| compute::aborts_on_sub_devices(&found.info)) {
        eprintln!("SKIPPED: this version of PoCL aborts with parts of a CPU");
        return;
    }
    let folder = folder();
    let report = json(folder.path(), "devices --json --devices sub:1");
    assert_eq!(report["devices"].as_array().unwrap().len(), 1);
    assert_eq!(report["together"].as_array().unwrap().len(), 1);
    // A CPU with a single core cannot be divided into two devices.
    if number(&report["devices"][0]["compute_units"]) < 2.0 {
        eprintln!("SKIPPED: two parts of a CPU");
        return;
    }
    let report = json(folder.path(), "run --json --devices sub:2 --bodies 2000 --steps 60");
    let members = report["sharing"]["members"].as_array().unwrap();
    let shares: Vec<f64> = members.iter().map(|member| number(&member["share"])).collect();
    assert!(shares.len() == 2 && (shares.iter().sum::<f64>() - 1.0).abs() < 1e-6, "{shares:?}");
    let text = stdout(folder.path(), "run --devices sub:2 --bodies 2000 --steps 60");
    assert!(text.contains("part 2 of 2") && text.contains("parallel efficiency"), "{text}");
    let text =
        stdout(folder.path(), "run --mode asteroids --devices sub:2 --variant grid --bodies 500 --steps 3");
    assert!(text.contains("grid runs on one device only"), "{text}");
    let report = json(
        folder.path(),
        "bench --json --devices 2,1 --among sub:2 --mode gravity --variant vector --bodies 1500 --repeats 1 --seconds 0.01",
    );
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows.iter().map(|row| number(&row["devices"])).collect::<Vec<_>>(), [1.0, 2.0]);
    assert_eq!(number(&rows[0]["speed_up"]), 1.0);
    assert!(rows.iter().all(|row| number(&row["steps_per_second"]) > 0.0));
}

/// Without a GPU, the speed of several CPU devices is measured once, and the fastest one is used.
#[test]
fn the_fastest_of_several_cpus_is_used() {
    let folder = folder();
    let called = |args: &str, cache: &Path| {
        let mut command = gravitile(folder.path(), args);
        // Two devices of PoCL: all cores, and one core.
        command.env("POCL_DEVICES", "pthread basic").env("XDG_CACHE_HOME", cache);
        let output = command.assert().success().get_output().clone();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        (report, String::from_utf8(output.stderr).unwrap())
    };
    let nowhere = Path::new("/proc/nowhere");
    // If the measured speeds cannot be stored, nothing is measured, because every start would be slow.
    let (report, note) = called("devices --json", nowhere);
    let devices = report["devices"].as_array().unwrap();
    let model = |device: &Value| (device["name"].to_string(), device["platform"].to_string());
    if devices.len() != 2 || devices[0]["kind"] != "cpu" || model(&devices[0]) == model(&devices[1]) {
        eprintln!("SKIPPED: two different CPU devices of PoCL");
        return;
    }
    assert_eq!((&report["taken"], &report["steps_per_second"][0]), (&0.into(), &Value::Null));
    assert!(!note.contains("measuring"), "{note}");

    let (report, note) = called("devices --json", folder.path());
    let speeds = [0, 1].map(|place| number(&report["steps_per_second"][place]));
    assert_eq!(report["taken"], i32::from(speeds[1] > speeds[0]));
    assert!(note.contains("measuring 2 CPU devices") && note.contains("times as fast as device"), "{note}");
    assert_eq!(
        called("devices --json", folder.path()),
        (report.clone(), String::new()),
        "they are measured once"
    );

    let file = folder.path().join("gravitile").join("cpus.json");
    let stored: serde_json::Map<String, Value> = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let key = |place: usize| stored.keys().find(|key| key.contains(devices[place]["name"].as_str().unwrap()));
    // Stores other speeds. In the first case the first device is the slower one; in the others only one device has a
    // working driver.
    for (speeds, taken) in [([Some(1.0), Some(2.0)], 1), ([Some(1.0), None], 0), ([None, Some(1.0)], 1)] {
        let of = |place: usize| (key(place).unwrap().clone(), speeds[place].into());
        let text = serde_json::to_vec(&serde_json::Map::from_iter([of(0), of(1)])).unwrap();
        fs::write(&file, text).unwrap();
        assert_eq!(called("devices --json", folder.path()).0["taken"], taken, "{speeds:?}");
        let (report, note) = called("run --json --bodies 100 --steps 2", folder.path());
        assert_eq!(report["device"], devices[taken]["name"], "{speeds:?}: {note}");
        let asked = called("run --json --bodies 100 --steps 2 --device 0", folder.path()).0;
        assert_eq!(asked["device"], devices[0]["name"]);
    }
    let (report, _) = called("devices --json --measure", folder.path());
    assert!([0, 1].iter().all(|place| number(&report["steps_per_second"][place]) > 2.0), "{report}");
}

#[test]
fn devices_are_listed_and_chosen_by_number_and_name() {
    let folder = folder();
    let report = json(folder.path(), "devices --json");
    let devices = report["devices"].as_array().unwrap();
    let cpus = devices.iter().filter(|device| device["kind"] == "cpu").count();
    if cpus < devices.len() || cpus < 2 {
        assert_eq!(report["taken"], 0, "the preferred device is the first");
    }
    assert!(devices.iter().enumerate().all(|(i, device)| device["index"] == i));
    assert!(devices.iter().all(|device| number(&device["memory_bytes"]) > 0.0));

    let name = devices[0]["name"].as_str().unwrap();
    let text = stdout(folder.path(), "devices");
    let first = text.lines().find(|line| line.starts_with('→')).unwrap();
    assert!(first.contains(name), "{text}");

    let part: String = name.chars().take_while(|c| c.is_alphanumeric()).collect();
    for wanted in ["0".to_owned(), part.to_lowercase(), part.to_uppercase()] {
        let report = json(folder.path(), &format!("run --device {wanted} --bodies 16 --steps 1 --json"));
        assert_eq!(report["device"], name, "--device {wanted}");
    }
}

#[test]
fn check_has_a_row_for_each_work_group_size() {
    check_has_rows("--mode gravity", "naive");
}

#[test]
#[ignore = "long: scripts/test --all runs it"]
fn check_has_rows_of_every_mode_with_a_variant_of_that_name() {
    assert!(check_has_rows("", "tiled").lines().any(|line| line.starts_with("asteroids")));
}

fn check_has_rows(mode: &str, variant: &str) -> String {
    let text = stdout(folder().path(), &format!("check {mode} --variant {variant}"));
    let rows: Vec<_> = text.lines().filter(|line| line.starts_with("gravity")).collect();
    for size in ["1", "7", "64", "256"] {
        let row = rows.iter().find(|row| row.split_whitespace().nth(2) == Some(size));
        assert!(row.is_some_and(|row| row.contains(variant)), "no work-group of {size} in\n{text}");
    }
    assert!(text.ends_with("all errors are within the limits\n"), "{text}");
    text
}

#[test]
fn bench_has_a_row_for_each_variant() {
    let folder = folder();
    let wanted: Vec<_> =
        MODES.iter().flat_map(|info| info.variants).map(|variant| variant.name.to_owned()).collect();
    let report = json(folder.path(), "bench --bodies 256 --repeats 1 --seconds 0.01 --json");
    assert_eq!(names(&report["rows"], "variant"), wanted);
    for rate in report["roofline"].as_object().unwrap().values() {
        assert!(number(rate) > 0.0, "{}", report["roofline"]);
    }
    for row in report["rows"].as_array().unwrap() {
        let info = MODES.iter().find(|info| row["mode"] == info.name).unwrap();
        assert!((number(&row["bodies"]) / 256.0 - 1.0).abs() < 0.75, "{row}");
        assert!(row["bodies"] == 256 || info.work.matter == Matter::Flow, "{row}");
        let variant = info.variant(row["variant"].as_str().unwrap()).unwrap();
        assert!(number(&row["relative_error"]) < variant.tolerance, "{row}");
        let (key, unit) = info.work.report;
        let speed = number(&row[key]) * unit;
        assert!(speed > 0.0, "{row}");
        for key in ["limit_per_second", "share_of_limit", "busy", "bound_by"] {
            assert_eq!(row[key].is_null(), !variant.has_limit, "{key} of {row}");
        }
        if variant.has_limit {
            let limit = number(&row["limit_per_second"]);
            assert!((number(&row["share_of_limit"]) * limit / speed - 1.0).abs() < 1e-9, "{row}");
        }
    }
    let text = stdout(
        folder.path(),
        "bench --mode gravity --bodies 128,256 --work-group 1,32 --variant naive,tiled --repeats 1 --seconds 0.01",
    );
    for words in [
        "multiply-adds ",
        "square roots ",
        "memory copies ",
        "peak speed of gravity: ",
        "% of peak",
        "bound by",
    ] {
        assert!(text.contains(words), "{words} is not in\n{text}");
    }
    let rows = text.lines().filter(|line| line.starts_with("gravity "));
    let rows: Vec<Vec<_>> = rows.map(|line| line.split_whitespace().take(4).collect()).collect();
    assert_eq!(rows.len(), 8, "{text}");
    for bodies in ["128", "256"] {
        for (variant, group) in [("naive", "1"), ("naive", "32"), ("tiled", "1"), ("tiled", "32")] {
            assert!(rows.contains(&vec!["gravity", variant, bodies, group]), "{text}");
        }
    }
}

#[test]
fn bench_continues_from_a_snapshot() {
    let folder = folder();
    let bodies = "x,y,z,vx,vy,vz,m\n0,0,0,0,0,0,1\n1,0,0,0,1,0,0.1\n0,2,0,-0.7,0,0,0.2\n";
    fs::write(folder.path().join("three.csv"), bodies).unwrap();
    stdout(folder.path(), "run --load three.csv --steps 300000 --save later.gravitile");
    let bench = "bench --resume later.gravitile --repeats 1 --seconds 0.01";
    let report =
        json(folder.path(), &format!("{bench} --json --variant vector,tree --set opening=0.0001,0.0002"));
    let rows = report["rows"].as_array().unwrap();
    let variants: Vec<_> = rows.iter().map(|row| row["variant"].as_str().unwrap()).collect();
    assert_eq!(variants, ["vector", "tree", "tree"]);
    for row in rows {
        assert!(row["scene"] == "three.csv" && row["bodies"] == 3, "{row}");
        // The measurement alone takes far fewer steps, so most of these steps were taken before the snapshot was saved.
        assert!(number(&row["step"]) > 3e5 && number(&row["steps"]) < 1e5, "{row}");
        assert!(number(&row["relative_error"]) < 1e-5, "{row}");
    }
    let refused = gravitile(folder.path(), &format!("{bench} --mode fluid")).output().unwrap().stderr;
    let refused = String::from_utf8(refused).unwrap();
    assert!(
        refused.contains(
            "the simulation in later.gravitile has another mode; leave out --mode, or use --mode gravity"
        ),
        "{refused}"
    );
}

#[test]
fn bench_measures_only_the_peak_speeds_of_modes_in_its_rows() {
    let folder = folder();
    // The mode asteroids has no variant `unrolled`.
    let text = stdout(folder.path(), "bench --bodies 64 --variant unrolled --repeats 1 --seconds 0.01");
    assert!(text.contains("peak speed of gravity") && !text.contains("peak speed of asteroids"), "{text}");
}

#[test]
fn bench_plots_its_measurements() {
    let folder = folder();
    let bench = "bench --mode gravity --variant naive,tiled --repeats 1 --seconds 0.01";
    let header = "device,driver,mode,scene,variant,bodies,work_group,knobs,unit,per_second";
    let rows = |args: &str| {
        stdout(folder.path(), &format!("{bench} {args} --plot x.csv"));
        let text = fs::read_to_string(folder.path().join("x.csv")).unwrap();
        let (first, rest) = text.split_once('\n').unwrap();
        assert_eq!(first, header);
        rest.lines().map(|line| line.split(',').rev().take(6).map(str::to_owned).collect()).collect()
    };
    let of_size: Vec<Vec<String>> = rows("--bodies 64");
    for size in ["1", "2", "64"] {
        for variant in ["naive", "tiled"] {
            let row = of_size.iter().find(|row| row[3] == size && row[5] == variant).unwrap();
            assert!(row[4] == "64" && row[0].parse::<f64>().unwrap() > 0.0, "{row:?}");
        }
    }
    assert_eq!(
        rows("--bodies 64,128").len(),
        4,
        "with several numbers of bodies one work-group size is enough"
    );
    // Each chart is a picture of 1600 × 1000 pixels with two lines.
    for (args, charts) in [("--bodies 64,128", 1), ("--bodies 64,128 --work-group 4,8", 2)] {
        stdout(folder.path(), &format!("{bench} {args} --plot x.png"));
        let picture = image::open(folder.path().join("x.png")).unwrap();
        assert_eq!(picture.dimensions(), (1600, 1000 * charts), "{args}");
        let picture = picture.into_rgb8();
        for colour in [[0x56, 0xb4, 0xe9], [0x00, 0xb8, 0x86]] {
            let drawn = picture.pixels().filter(|pixel| pixel.0 == colour).count();
            assert!(drawn > 300, "{drawn} pixels of {colour:x?} with {args}");
        }
    }
}

#[test]
#[ignore = "long: scripts/test --all runs it"]
fn bench_draws_rooflines() {
    let folder = folder();
    let bench = "bench --variant naive,tiled,tree,fused --bodies 256 --repeats 1 --seconds 0.01";
    let report = json(folder.path(), &format!("{bench} --roofline x.csv --json"));
    let csv = fs::read_to_string(folder.path().join("x.csv")).unwrap();
    let mut lines = csv.lines().map(|line| line.rsplit(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let peaks = ["copied", "fetched"].map(|what| format!("{what}_bytes_per_second"));
    assert_eq!((header[0], header[1]), (peaks[0].as_str(), peaks[1].as_str()));
    let column = |name: &str| header.iter().position(|it| *it == name).unwrap();
    let counted = |row: &&Value| row["variant"] != "tree";
    let rows: Vec<&Value> = report["rows"].as_array().unwrap().iter().filter(counted).collect();
    let lines: Vec<_> = lines.collect();
    assert!(lines.len() == rows.len() && rows.len() >= 5, "{csv}");
    for (line, row) in lines.iter().zip(&rows) {
        assert_eq!(line[column("variant")], row["variant"]);
        let value = |name: &str| line[column(name)].parse::<f64>().unwrap();
        let [operations, bytes] = ["operations", "bytes"].map(|of| value(&format!("{of}_per_unit")));
        assert_eq!([operations, bytes], ["operations", "bytes"].map(|of| number(&row["counts"][of])));
        let steps = number(&row["steps_per_second"]);
        let units = value("operations_per_second") / operations / steps;
        // The unit is the number of pairs in a step, or of cells.
        assert!((1.0..=1.01 * 256.0 * 256.0).contains(&units), "{row}");
        assert!((value("operations_per_byte") * bytes / operations - 1.0).abs() < 1e-9);
        // The JSON reader may differ from the CSV reader in the last digit.
        let peak = number(&report["roofline"][&peaks[0]]);
        assert!((value(&peaks[0]) / peak - 1.0).abs() < 1e-12, "{row}");
    }
    // One chart is written for each of the three modes.
    stdout(folder.path(), &format!("{bench} --roofline x.png"));
    let picture = image::open(folder.path().join("x.png")).unwrap();
    assert_eq!(picture.dimensions(), (1600, 3000));
}

/// The settings of the built-in lessons are valid for both kinds of devices.
#[test]
fn built_in_lessons_have_valid_settings() {
    use gravitile::compute::DeviceKind;
    let folder = folder();
    let mut all = std::collections::BTreeSet::new();
    for lesson in gravitile::ui::Lesson::built_in() {
        for kind in [DeviceKind::Cpu, DeviceKind::Gpu] {
            all.extend(lesson.steps.iter().filter_map(|step| step.settings(kind)));
        }
    }
    assert!(all.len() >= 6);
    for settings in all {
        stdout(folder.path(), &format!("run {settings} --bodies 64 --steps 1"));
    }
}

#[test]
fn bench_measures_the_requested_scene_with_the_requested_number_of_bodies() {
    let folder = folder();
    let bench = "bench --bodies 300 --seconds 0.001 --repeats 1";
    let text = stdout(folder.path(), &format!("{bench} --json --variant naive --scene plummer"));
    let report: Value = serde_json::from_str(&text).unwrap();
    let rows = report["rows"].as_array().unwrap();
    assert!(rows.len() == 1 && rows[0]["scene"] == "plummer" && rows[0]["mode"] == "gravity", "{text}");
    for (scene, told) in [("figure-eight", "has exactly 3 bodies"), ("plumer", "did you mean plummer?")] {
        let output = gravitile(folder.path(), &format!("{bench} --scene {scene}")).assert().code(2);
        let error = String::from_utf8(output.get_output().stderr.clone()).unwrap();
        assert!(error.contains(told), "{error}");
    }
}

#[test]
fn bench_compares_error_with_speed_for_a_list_of_values() {
    let folder = folder();
    let quick = "--bodies 2000 --repeats 1 --seconds 0.01";
    let bench =
        format!("bench --mode gravity --variant tree,vector --set g=2 opening=0.0002,0.002,0.02 {quick}");
    let report = json(folder.path(), &format!("{bench} --plot x.csv --json"));
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(names(&report["rows"], "variant"), ["vector", "tree", "tree", "tree"]);
    assert_eq!(rows[0]["set"], serde_json::json!({}), "a variant that does not use the parameter");
    let values: Vec<f64> = rows[1..].iter().map(|row| number(&row["set"]["opening"])).collect();
    assert_eq!(values, [0.0002, 0.002, 0.02]);
    for key in ["rms", "median", "p99", "max"] {
        // The largest error depends on few bodies, so it need not grow with each value.
        let all: Vec<f64> = rows.iter().map(|row| number(&row["errors"][key])).collect();
        assert!(all.iter().all(|error| error.is_finite() && *error > 0.0), "{key}: {all:?}");
        assert!(all.is_sorted() || (key == "max" && all[0] < all[1] && all[1] < all[3]), "{key}: {all:?}");
    }
    for row in rows {
        let [steps, ms] = ["steps_per_second", "ms_per_step"].map(|key| number(&row[key]));
        assert!((steps * ms / 1000.0 - 1.0).abs() < 1e-9, "{row}");
        let [rms, error] = [&row["errors"]["rms"], &row["relative_error"]].map(number);
        assert!((rms / error - 1.0).abs() < 1e-12 && row["errors"]["count"] == 256, "{row}");
    }
    let csv = fs::read_to_string(folder.path().join("x.csv")).unwrap();
    let lines: Vec<Vec<&str>> = csv.lines().map(|line| line.rsplit(',').collect()).collect();
    assert_eq!(
        lines[0][..8],
        ["max", "p99", "median", "rms", "sample", "steps_per_second", "value", "parameter"]
    );
    assert_eq!(lines.iter().skip(1).map(|line| line[6]).collect::<Vec<_>>(), ["", "0.0002", "0.002", "0.02"]);
    for (line, row) in lines[1..].iter().zip(rows) {
        assert!(
            (line[3].parse::<f64>().unwrap() / number(&row["relative_error"]) - 1.0).abs() < 1e-12,
            "{row}"
        );
    }

    let text = stdout(folder.path(), &format!("{bench} --plot x.png"));
    for words in [" opening ", " ms/step ", " rms error ", " median ", " p99 ", " largest ", " 0.002 "] {
        assert!(text.contains(words), "{words} is not in\n{text}");
    }
    let picture = image::open(folder.path().join("x.png")).unwrap().into_rgb8();
    assert_eq!(picture.dimensions(), (1600, 1000));
    // The chart shows a line through three points, and the marker of the exact variant.
    let drawn = |colour: [u8; 3]| picture.pixels().filter(|pixel| pixel.0 == colour).count();
    assert!(drawn([0xa6, 0xe2, 0x2e]) > 300, "the tree");
}

#[test]
fn check_reports_as_json() {
    let report = json(folder().path(), "check --mode gravity --variant tree --json");
    assert_eq!(report["passes"], true);
    for row in report["rows"].as_array().unwrap() {
        let [error, allowed] = ["error", "allowed"].map(|key| number(&row[key]));
        assert!(row["passes"] == true && row["variant"] == "tree" && error < allowed, "{row}");
        let [rms, median, p99, max] = ["rms", "median", "p99", "max"].map(|key| number(&row["errors"][key]));
        assert!(rms == error && median < p99 && p99 <= max && rms <= max, "{row}");
        assert_eq!(row["errors"]["count"], 1000, "{row}");
    }
}

#[test]
fn bench_skips_only_impossible_combinations() {
    let args = "bench --bodies 64 --work-group 8,100000 --variant private --repeats 1 --seconds 0.01 --json";
    let assert = gravitile(folder().path(), args).assert().success();
    let (stdout, stderr) = (&assert.get_output().stdout, &assert.get_output().stderr);
    let stderr = String::from_utf8_lossy(stderr);
    assert!(
        // `private` is a variant of gravity only, so the other modes have nothing to measure.
        stderr.starts_with("skipped: a work-group size of 100000") && stderr.lines().count() == 1,
        "{stderr}"
    );
    let report: Value = serde_json::from_slice(stdout).unwrap();
    assert_eq!(report["rows"].as_array().unwrap().len(), 1, "{report}");
    assert_eq!(report["rows"][0]["work_group"], 8);
}

#[test]
fn help_explains_every_command_and_option() {
    let mut cli = Cli::command();
    cli.build();
    let root = cli.clone();
    for command in std::iter::once(&root).chain(root.get_subcommands()) {
        let name = if command.get_name() == root.get_name() { "" } else { command.get_name() };
        let output = gravitile(folder().path(), &format!("{name} --help")).assert().success().stderr("");
        let text = String::from_utf8(output.get_output().stdout.clone()).unwrap();
        for option in command.get_arguments() {
            let shown = match option.get_long() {
                Some(long) => format!("--{long}"),
                None => format!("<{}>", option.get_id().as_str().to_uppercase()),
            };
            assert!(text.contains(&shown), "{shown} is not in the help of {name:?}");
            assert!(option.get_help().is_some(), "{shown} of {name:?} says nothing");
        }
        for command in command.get_subcommands() {
            assert!(
                text.contains(command.get_name()) && command.get_about().is_some(),
                "{}",
                command.get_name()
            );
        }
    }
}

#[test]
fn tuning_results_are_reused_and_a_broken_file_is_reported_and_ignored() {
    let folder = folder();
    let report = json(folder.path(), "bench --tune --mode gravity --bodies 512 --json");
    let rows = report["rows"].as_array().unwrap();
    let best = rows.iter().max_by(|a, b| {
        number(&a["interactions_per_second"]).total_cmp(&number(&b["interactions_per_second"]))
    });
    let best = best.unwrap();
    let run = json(folder.path(), "run --bodies 512 --steps 1 --json");
    for key in ["variant", "work_group", "knobs"] {
        assert_eq!(run[key], best[key], "{key}");
    }
    let list = folder.path().join("gravitile").join("tuned.json");
    fs::write(&list, "no list").unwrap();
    let output = gravitile(folder.path(), "run --bodies 512 --steps 1").assert().success();
    let told = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
    assert!(told.starts_with("note: cannot read") && told.contains("tuned.json"), "{told}");
}

#[test]
fn knobs_are_set_by_options_of_run_and_bench() {
    let folder = folder();
    let run = json(folder.path(), "run --bodies 64 --steps 1 --variant blocked --knob k=4 split=2 --json");
    assert_eq!((&run["knobs"]["k"], &run["knobs"]["split"]), (&4.into(), &2.into()));
    let report = json(
        folder.path(),
        "bench --mode gravity --bodies 64 --variant naive,vector --knob lanes=8,16 vectors=1,4 --repeats 1 --seconds 0.01 --json",
    );
    assert_eq!(names(&report["rows"], "variant"), ["naive", "vector", "vector", "vector", "vector"]);
}

#[test]
fn check_reports_whether_edited_kernels_are_correct() {
    let folder = folder();
    let place = folder.path().join("mine");
    gravitile::engine::kernel_lab::prepare(&place).unwrap();
    let args = "check --kernels mine --mode gravity --variant naive";
    assert!(stdout(folder.path(), args).contains("all errors are within the limits"));
    let file = place.join("gravity").join("force.cl");
    let right = fs::read_to_string(&file).unwrap();
    fs::write(&file, right.replacen("return sum + d", "return sum - d", 1)).unwrap();
    let output = gravitile(folder.path(), args).assert().code(1).get_output().stdout.clone();
    let output = String::from_utf8(output).unwrap();
    assert!(output.contains("FAILS") && output.contains("edited: gravity/force.cl"), "{output}");
    let bench =
        "bench --kernels mine --mode gravity --variant naive --bodies 512 --repeats 1 --seconds 0.01 --json";
    let row = json(folder.path(), bench)["rows"][0].clone();
    assert!(row["relative_error"].as_f64().unwrap() > 0.1, "{row}");
    fs::write(&file, "nonsense").unwrap();
    let stderr = gravitile(folder.path(), args).assert().code(2).get_output().stderr.clone();
    assert!(String::from_utf8(stderr).unwrap().contains("gravity/force.cl:1:"));
}

/// If PoCL's cache folder is not writable, PoCL offers no device. The program then uses another cache folder and says
/// so.
#[cfg(unix)]
#[test]
fn an_unwritable_cache_folder_is_replaced_and_reported() {
    let folder = folder();
    fs::write(folder.path().join("file"), "").unwrap();
    let told = |cache: &Path, temporary: &Path, code: i32| {
        let mut command = gravitile(folder.path(), "run --scene figure-eight --steps 2");
        command.env("POCL_CACHE_DIR", cache).env("TMPDIR", temporary);
        String::from_utf8(command.assert().code(code).get_output().stderr.clone()).unwrap()
    };
    let nowhere = Path::new("/proc/nowhere");
    for cache in [nowhere, &folder.path().join("file").join("kcache")] {
        let note = told(cache, folder.path(), 0);
        let begin = format!("note: PoCL cannot store compiled kernels in {} (", cache.display());
        assert!(note.starts_with(&begin) && note.contains("POCL_CACHE_DIR"), "{note}");
        assert_eq!(note.lines().count(), 1, "{note}");
    }
    let error = told(nowhere, nowhere, 2);
    assert!(error.contains("/proc/nowhere") && error.contains("set POCL_CACHE_DIR"), "{error}");
    assert!(!error.contains("install a driver"), "{error}");
}

/// In a read-only home folder, everything works that writes nothing there; all other commands report the problem before
/// they compute.
#[cfg(unix)]
#[test]
fn the_program_runs_with_a_read_only_home_folder() {
    let folder = folder();
    let called = |args: &str, code: i32| {
        let mut command = gravitile(folder.path(), args);
        for name in ["HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"] {
            command.env(name, "/proc/nowhere");
        }
        let output = command.assert().code(code).get_output().clone();
        [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap())
    };
    for args in
        ["run --bodies 100 --steps 2", "devices", "render --bodies 100 --steps 2 --size 64x48 --out x.png"]
    {
        let [_, stderr] = called(args, 0);
        assert!(stderr.lines().all(|line| line.starts_with("wrote ")), "{args}: {stderr}");
    }
    let [stdout, error] = called("bench --tune --mode gravity --bodies 100", 2);
    assert!(
        stdout.is_empty() && error.starts_with("gravitile: cannot write /proc/nowhere"),
        "{stdout}{error}"
    );
    let [_, error] = called("run --bodies 100 --steps 2 --save /proc/nowhere/x.gravitile", 2);
    assert!(error.starts_with("gravitile: cannot write /proc/nowhere/x.gravitile"), "{error}");
}

/// If an older version of the program runs beside a newer one, it does not change the newer one's file of tuned
/// kernels.
#[test]
fn a_tuning_file_of_a_newer_version_is_not_changed() {
    let folder = folder();
    let file = folder.path().join("gravitile").join("tuned.json");
    fs::create_dir(file.parent().unwrap()).unwrap();
    let newer = "{\"version\": 1000, \"kernels\": {}}";
    fs::write(&file, newer).unwrap();
    let told = |args: &str, code: i32| {
        let assert = gravitile(folder.path(), args).assert().code(code);
        let stderr = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
        assert!(
            stderr.contains("tuned.json: a newer version of gravitile wrote this file"),
            "{args}: {stderr}"
        );
    };
    told("run --bodies 100 --steps 2", 0);
    told("bench --tune --mode gravity --bodies 100", 2);
    assert_eq!(fs::read_to_string(&file).unwrap(), newer);
}
