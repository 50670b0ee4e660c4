//! Tests snapshots and scene files on the command line: one process saves a file, and another process continues from
//! it.

use std::fs;
use std::process::Command;

use gravitile::compute;
use gravitile::engine::snapshot::{Carried, Snapshot};
use gravitile::engine::tuned::Tuned;
use gravitile::modes::{self, Recipe};
use gravitile::view::Camera;

use super::{folder, gravitile, json, stdout};

/// Saving a run and resuming it in another process gives the same final file, byte for byte, as one uninterrupted run.
#[test]
fn a_saved_and_resumed_run_gives_the_same_bytes_as_one_run() {
    let folder = folder();
    for what in [
        "--scene galaxy --bodies 500",
        "--scene collision --bodies 500 --variant mutual --set integrator=taylor",
        "--scene solar-system --set dt=0.01",
        "--scene belt --bodies 300 --variant grid",
    ] {
        stdout(folder.path(), &format!("run {what} --steps 12 --save whole.gravitile"));
        stdout(folder.path(), &format!("run {what} --steps 5 --save half.gravitile"));
        let report =
            json(folder.path(), "run --resume half.gravitile --steps 7 --save both.gravitile --json");
        assert_eq!(report["steps"], 7);
        let [whole, both] = ["whole", "both"]
            .map(|name| fs::read(folder.path().join(name).with_extension("gravitile")).unwrap());
        assert!(whole == both, "{what}");
    }
}

/// A resumed flow has the same cells and mean speeds as an uninterrupted run. The tracers differ, because they also
/// move when bursts end.
#[test]
fn a_resumed_flow_keeps_its_mean_speeds() {
    let folder = folder();
    for name in ["whole", "both"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    let what = "--scene porous --cells 2000 --variant split";
    stdout(folder.path(), &format!("run {what} --steps 40 --out whole"));
    stdout(folder.path(), &format!("run {what} --steps 17 --save half.gravitile"));
    stdout(folder.path(), "run --resume half.gravitile --steps 23 --out both");
    for file in ["final_state.dat", "av_vels.dat"] {
        let [whole, both] =
            ["whole", "both"].map(|name| fs::read_to_string(folder.path().join(name).join(file)).unwrap());
        assert!(whole == both && !whole.is_empty(), "{file}");
    }
    assert_eq!(fs::read_to_string(folder.path().join("both/av_vels.dat")).unwrap().lines().count(), 40);
}

/// A picture that is drawn from a snapshot uses the camera that the snapshot stores.
#[test]
fn a_picture_of_a_snapshot_uses_the_stored_camera() {
    let folder = folder();
    stdout(folder.path(), "run --scene plummer --bodies 300 --steps 3 --save a.gravitile");
    let path = |name: &str| folder.path().join(name);
    let camera = Camera { yaw: 1.0, distance: 5.0, ..Camera::default() };
    let snapshot = Snapshot::load(&path("a.gravitile")).unwrap();
    Snapshot { view: camera.to_words(), ..snapshot }.save(&path("b.gravitile")).unwrap();
    for (name, is_seen_so) in [("a", false), ("b", true)] {
        let render = format!("render --resume {name}.gravitile --steps 0 --size 64x40 --out {name}.png");
        stdout(folder.path(), &render);
        let Carried::Snapshot(drawn) = Carried::load(&path(&format!("{name}.png"))).unwrap() else {
            panic!("{name}.png carries no snapshot");
        };
        assert_eq!(Camera::from_words(&drawn.view) == Some(camera.clone()), is_seen_so, "{}", drawn.view);
    }
    let [a, b] = ["a.png", "b.png"].map(|name| image::open(path(name)).unwrap().into_rgb8());
    assert!(a != b);
}

#[test]
fn a_resumed_run_accepts_other_options_and_can_be_rendered() {
    let folder = folder();
    stdout(folder.path(), "run --scene plummer --bodies 300 --steps 3 --variant tiled --save a.gravitile");
    let report = json(folder.path(), "run --resume a.gravitile --steps 1 --json");
    assert_eq!((&report["variant"], &report["bodies"]), (&"tiled".into(), &300.into()));
    let report = json(
        folder.path(),
        "run --resume a.gravitile --steps 1 --variant naive --work-group 8 --set eps=0.2 --json",
    );
    assert_eq!((&report["variant"], &report["work_group"]), (&"naive".into(), &8.into()));
    assert!((report["params"]["eps"].as_f64().unwrap() - 0.2).abs() < 1e-6);
    stdout(folder.path(), "render --resume a.gravitile --steps 0 --size 64x40 --out a.png");
    assert!(folder.path().join("a.png").is_file());
}

/// A resumed run keeps its kernel if an option changes, although `auto` now knows a faster kernel for new runs.
#[test]
fn a_resumed_run_keeps_its_kernel_when_options_change() {
    let folder = folder();
    stdout(folder.path(), "run --scene plummer --bodies 300 --steps 3 --save a.gravitile");
    let recipe = |args: &str| {
        let report = json(folder.path(), &format!("{args} --steps 1 --json"));
        (report["variant"].as_str().unwrap().to_owned(), report["work_group"].as_u64().unwrap())
    };
    let before = recipe("run --scene plummer --bodies 300");
    let info = modes::find("gravity").unwrap();
    let device = compute::select(None).unwrap().info;
    let odd = Recipe::guess(info.variant("naive").unwrap(), &device, 300).with_work_group(3);
    let mut tuned = Tuned::default();
    tuned.remember(&device, info, (300, "1e-3"), (&odd, 1e9));
    tuned.save(&folder.path().join("gravitile").join("tuned.json")).unwrap();
    assert_eq!(recipe("run --scene plummer --bodies 300"), ("naive".to_owned(), 3));
    for change in ["", "--set eps=0.2", "--set decay=0.999"] {
        assert_eq!(recipe(&format!("run --resume a.gravitile {change}")), before, "{change}");
    }
}

/// A snapshot of bodies that were loaded from a file in another folder is saved in the working directory, under the
/// name of that file.
#[test]
fn loaded_bodies_are_named_after_their_file() {
    let folder = folder();
    fs::create_dir(folder.path().join("sub")).unwrap();
    fs::write(folder.path().join("sub/two.csv"), "x,y,z,vx,vy,vz,m\n0,0,0,0,0,0,1\n1,0,0,0,1,0,1\n").unwrap();
    let report = json(folder.path(), "run --load sub/two.csv --steps 1 --json");
    assert_eq!(report["start"], "two.csv");
}

#[test]
fn a_scene_file_determines_mode_bodies_and_parameters() {
    let folder = folder();
    let scene = "mode = \"asteroids\"\ngenerator = \"disc\"\n[arguments]\nspread = 10.0\n[params]\nradius = 0.01\n\
                 [start]\nbodies = 200\nseed = 9\n";
    fs::write(folder.path().join("mine.toml"), scene).unwrap();
    let report = json(folder.path(), "run --scene mine.toml --steps 1 --json");
    assert_eq!(report["mode"], "asteroids");
    assert_eq!((&report["start"], &report["bodies"]), (&"mine".into(), &200.into()));
    let report = json(folder.path(), "run --scene mine.toml --bodies 50 --steps 1 --json");
    assert_eq!(report["bodies"], 50, "what is typed counts");
    let report = json(folder.path(), "run --scene rings --bodies 50 --steps 1 --json");
    assert_eq!(report["mode"], "asteroids", "a scene says its mode");
}

#[test]
fn tipsy_bodies_are_loaded() {
    let folder = folder();
    let mut file = 0f64.to_be_bytes().to_vec();
    file.extend([2u32, 3, 0, 2, 0, 0].map(u32::to_be_bytes).concat());
    for x in [0f32, 1.0] {
        file.extend([0.5, x, 0.0, 0.0, 0.0, 0.1, 0.0, 0.01, 0.0].map(f32::to_be_bytes).concat());
    }
    fs::write(folder.path().join("two.tipsy"), &file).unwrap();
    let report = json(folder.path(), "run --load two.tipsy --steps 1 --json");
    assert_eq!(report["bodies"], 2);
    fs::write(folder.path().join("two.tipsy"), &file[..90]).unwrap();
    let error = gravitile(folder.path(), "run --load two.tipsy").assert().code(2).get_output().stderr.clone();
    let error = String::from_utf8(error).unwrap();
    assert!(error.contains("it has 90 bytes, but 104 according to its header"), "{error}");
}

/// A limit on the file size simulates a full disk. The previously saved file stays intact.
#[test]
#[cfg(unix)]
fn a_full_disk_leaves_the_previous_file_intact() {
    let folder = folder();
    stdout(folder.path(), "run --bodies 100 --steps 1 --save a.gravitile");
    let before = fs::read(folder.path().join("a.gravitile")).unwrap();
    let program = env!("CARGO_BIN_EXE_gravitile");
    // The limit is 1 to 2 MB; with a smaller limit, kernels would not build. The signal for the limit must not end the
    // program.
    let line = format!(
        "trap '' XFSZ; ulimit -f 2000; exec {program} run --mode asteroids --bodies 65536 --steps 1 --save a.gravitile"
    );
    let mut bash = Command::new("bash");
    bash.args(["-c", &line]).current_dir(folder.path());
    for name in ["XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"] {
        bash.env(name, folder.path());
    }
    bash.env("POCL_CACHE_DIR", dirs::cache_dir().unwrap().join("pocl").join("kcache"));
    let output = bash.output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("cannot write a.gravitile"), "{error}");
    // The message is the same each time, so that a dialog does not show it twice.
    assert!(error.trim_end().ends_with("File too large (os error 27)"), "{error}");
    assert!(fs::read(folder.path().join("a.gravitile")).unwrap() == before);
    let names: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(names.iter().all(|name| !name.to_string_lossy().starts_with(".tmp")), "{names:?}");
}

/// A scene is drawn with its own appearance and camera. Options override them, and a snapshot of the scene keeps them.
#[test]
fn options_override_the_look_and_camera_of_a_scene() {
    let folder = folder();
    let scene = |name: &str, tables: &str| {
        let text = format!("mode = \"gravity\"\ngenerator = \"plummer\"\n{tables}");
        fs::write(folder.path().join(format!("{name}.toml")), text).unwrap();
    };
    let draw = |name: &str, args: &str| {
        stdout(folder.path(), &format!("render --steps 6 --size 64x40 --out {name}.png {args}"));
        image::open(folder.path().join(format!("{name}.png"))).unwrap().into_rgb8()
    };
    scene("plain", "");
    scene("look", "[look]\npalette = \"viridis\"\ntrails = 3\nstars = 0\n");
    scene("camera", "[camera]\npitch = 90\nzoom = 2\n");
    let [plain, look, camera] =
        ["plain", "look", "camera"].map(|name| draw(name, &format!("--scene {name}.toml --bodies 300")));
    assert!(plain != look && plain != camera);
    let asked = "--scene plain.toml --bodies 300 --look palette=viridis trails=3 stars=0";
    assert!(draw("asked", asked) == look, "a scene's look is that of the options");
    let usual = "--scene look.toml --bodies 300 --look palette=dusk trails=0 stars=0.4";
    assert!(draw("usual", usual) == plain, "an option wins, even if it asks for the default");
    let Carried::Snapshot(drawn) = Carried::load(&folder.path().join("camera.png")).unwrap() else {
        panic!("camera.png carries no snapshot");
    };
    let view = Camera::from_words(&drawn.view).unwrap();
    assert!((view.pitch.to_degrees() - 90.0).abs() < 1e-3 && (view.home / view.distance - 2.0).abs() < 1e-3);
    stdout(folder.path(), "run --scene look.toml --bodies 300 --steps 1 --save look.gravitile");
    let resumed = draw("resumed", "--resume look.gravitile");
    assert!(
        resumed != draw("bare", "--resume look.gravitile --look palette=dusk"),
        "it has the palette still"
    );
    let told = [("look", "bloem = 1"), ("look", "exposure = 99"), ("camera", "pitch = 200")];
    for (table, line) in told {
        scene("wrong", &format!("[{table}]\n{line}\n"));
        let error = gravitile(folder.path(), "render --scene wrong.toml --out x.png").assert().code(2);
        let text = String::from_utf8_lossy(&error.get_output().stderr).into_owned();
        assert!(
            text.contains("wrong.toml, line 4: ") && text.contains(line.split(' ').next().unwrap()),
            "{text}"
        );
    }
}
