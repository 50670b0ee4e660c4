//! Tests in the real window what the program stores for the next start: autosaves, settings and recent files.

use std::fs;
use std::process::Command;

use crate::support::window::{Display, PICTURE, Report, Viewer, until};
use gravitile::base::state::State;
use gravitile::engine::snapshot::Snapshot;

#[test]
fn a_closed_window_is_continued_and_saved_files_are_reopened() {
    let display = Display::open();
    let state = display.folder().join("gravitile");
    // Quits the first run, with the panel hidden and the scene of Saturn's rings from the gallery.
    let controls = display.run("--bodies 300 --frames 20");
    let of_asteroids = display.run("--clean --mode asteroids --bodies 300 --frames 20 --size 1200x760");
    let viewer = display.view("--bodies 300 --size 1200x760");
    viewer.click(controls.control("mode asteroids"));
    viewer.runs();
    viewer.key("h");
    let left = viewer.quit();
    assert_eq!(left.stats["mode"], "asteroids");
    assert!(state.join("autosave.gravitile").is_file(), "what ran is kept");
    let settings = fs::read_to_string(state.join("settings.toml")).unwrap();
    assert!(settings.contains("panel = false") && settings.contains("1200"), "{settings}");

    // The next start has the same window size and no panel, and offers to continue the earlier simulation.
    let viewer = display.view("--bodies 300 --paused");
    viewer.key("h");
    let report = viewer.quit();
    assert_eq!(report.size, [1200, 760]);
    let (go_on, save) = (report.control("continue"), of_asteroids.control("save snapshot"));
    assert_eq!(report.stats["mode"], "gravity");
    assert!(
        report.events.iter().all(|event| !event.what.starts_with("resumed")),
        "nothing happens by itself"
    );

    let viewer = display.view("--bodies 300 --paused");
    viewer.click(go_on);
    viewer.runs();
    // Saves a snapshot with the button, under the name that the dialog proposes.
    viewer.key("space");
    viewer.still(PICTURE);
    viewer.changes("the dialog is open", PICTURE, || viewer.click(save));
    viewer.changes("the dialog is closed", PICTURE, || viewer.key("Return"));
    viewer.key("space");
    let report = viewer.quit();
    assert_eq!((&report.stats["mode"], &report.config["start"]), (&"asteroids".into(), &"belt".into()));
    assert!(report.stats["step"].as_u64() >= left.stats["step"].as_u64(), "{:?}", report.stats);
    assert!(state.join("autosave.previous.gravitile").is_file(), "what was kept before is set aside");
    let saved = display.folder().join("belt.gravitile");
    assert!(saved.is_file(), "{:?}", report.events);

    // Damaged autosaves are not offered, and invalid settings are reported and ignored.
    for name in ["autosave.gravitile", "autosave.previous.gravitile", "settings.toml"] {
        fs::write(state.join(name), "\u{89}GRAVITILE nonsense").unwrap();
    }
    let viewer = display.view("--resume belt.gravitile");
    // A simulation is autosaved as soon as the window shows it.
    until("it runs", || Snapshot::load(&state.join("autosave.gravitile")).ok());
    let report = viewer.quit();
    assert_eq!((&report.stats["mode"], report.size), (&"asteroids".into(), [1280, 800]));
    assert!(report.stats["step"].as_u64() >= left.stats["step"].as_u64());
    assert!(!report.controls.contains_key("continue"));
    assert!(report.controls.contains_key("close"), "what is wrong with the settings waits to be read");
    let aside = fs::read_to_string(state.join("settings.bad.toml")).unwrap();
    assert!(aside.contains("nonsense") && !state.join("settings.toml").exists());
}

#[test]
fn changes_while_paused_are_autosaved() {
    let display = Display::open();
    let kept = display.folder().join("gravitile").join("autosave.gravitile");
    let viewer = display.view("--scene plummer --bodies 300 --paused --autosave 1");
    let has = |bodies: usize| {
        let snapshot = Snapshot::load(&kept).ok()?;
        let State::Bodies(found) = &snapshot.runs[0].state else { panic!("no bodies") };
        (found.positions.len() == bodies).then_some(())
    };
    until("what stands still is kept", || has(300));
    viewer.key("l");
    viewer.drag("600 500", "660 480");
    until("what was launched is kept", || has(301));
    viewer.kill();
}

/// A simulation is autosaved as soon as the window shows it, even if the next regular autosave is an hour away.
#[test]
fn a_simulation_is_autosaved_as_soon_as_shown() {
    let display = Display::open();
    let kept = display.folder().join("gravitile").join("autosave.gravitile");
    let viewer = display.view("--mode fluid --scene channel --bodies 3000 --autosave 3600");
    let snapshot = until("it is kept", || Snapshot::load(&kept).ok());
    viewer.kill();
    assert_eq!(snapshot.runs[0].config.mode.info().name, "fluid");
}

#[test]
fn the_last_autosave_can_be_continued_after_the_program_is_killed() {
    let display = Display::open();
    let kept = display.folder().join("gravitile").join("autosave.gravitile");
    let viewer = display.view("--scene plummer --bodies 300 --autosave 1");
    let step = || Snapshot::load(&kept).ok().map(|snapshot| snapshot.runs[0].step);
    let first = until("what runs is kept", step);
    until("it is kept again", || step().filter(|step| *step > first));
    viewer.kill();
    let step = step().expect("whole, whenever it was killed");

    // Returns the bodies of a run as CSV, to compare the resumed run with an uninterrupted one.
    let bodies = |begin: &str, steps: u64| {
        let out = display.folder().join("bodies.csv");
        let mut run = Command::new(env!("CARGO_BIN_EXE_gravitile"));
        run.arg("run")
            .args(begin.split_whitespace())
            .arg("--steps")
            .arg(steps.to_string())
            .arg("--out")
            .arg(&out);
        let output = run.current_dir(display.folder()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        fs::read_to_string(out).unwrap()
    };
    let gone_on = bodies("--resume gravitile/autosave.gravitile", 50);
    assert!(gone_on == bodies("--scene plummer --bodies 300", step + 50), "to the last bit");

    // The next start offers to continue from the autosave.
    let offers = display.view("--bodies 300 --paused").quit();
    let viewer = display.view("--bodies 300 --paused");
    viewer.click(offers.control("continue"));
    viewer.runs();
    let report = viewer.quit();
    assert_eq!(report.config["start"], "plummer");
    assert!(report.stats["step"].as_u64().unwrap() > step);
}

#[test]
fn scenes_are_saved_and_opened_and_an_invalid_one_changes_nothing() {
    let display = Display::open();
    let viewer = display.view("--scene plummer --bodies 300 --seed 4 --clean --paused");
    viewer.dialog("ctrl+shift+s", "Return");
    let saved = display.folder().join("plummer.toml");
    let text =
        until("it is saved", || fs::read_to_string(&saved).ok().filter(|text| text.contains("seed = 4")));
    assert!(text.contains("generator = \"plummer\""), "{text}");
    fs::write(&saved, text.replace("eps = 0.03", "eps = 0.07").replace("seed = 4", "seed = 5")).unwrap();
    // The only scene file is the last entry of the dialog, after the folders.
    viewer.dialog("ctrl+o", "Up frame key Return");
    fs::write(&saved, "mode = \"gravity\"\ngenerator = \"gal").unwrap();
    viewer.dialog("ctrl+o", "Up frame key Return");
    let report = viewer.quit();
    let opened = report.events.iter().filter(|event| event.what.starts_with("openfile(")).count();
    assert_eq!(opened, 2, "{:?}", report.events);
    assert_eq!((&report.config["seed"], &report.config["bodies"]), (&5.into(), &300.into()));
    assert!((report.config["params"]["eps"].as_f64().unwrap() - 0.07).abs() < 1e-6);
    assert_eq!(report.stats["generation"], 2, "a new scene, once");
    assert!(report.controls.contains_key("close"), "what is wrong is told");
}

#[test]
fn with_frames_or_clean_no_state_is_read_or_saved() {
    let display = Display::open();
    let state = display.folder().join("gravitile");
    fs::create_dir(&state).unwrap();
    fs::write(state.join("settings.toml"), "size = [700, 500]\n").unwrap();
    let report = display.run("--bodies 300 --frames 20");
    assert_eq!(report.size, [1280, 800]);
    let viewer = display.view("--bodies 300 --clean");
    viewer.key("h");
    let report = viewer.quit();
    assert_eq!(report.size, [1280, 800]);
    let names: Vec<_> = fs::read_dir(&state).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["settings.toml"]);
    assert_eq!(fs::read_to_string(state.join("settings.toml")).unwrap(), "size = [700, 500]\n");
}

/// In a read-only home folder, the window says that it cannot save. Settings of a newer version of the program are
/// neither used nor replaced.
#[test]
fn a_read_only_home_and_settings_of_a_newer_version_are_reported() {
    let display = Display::open().set("XDG_STATE_HOME", "/proc/nowhere");
    let report = display.view("--bodies 300").quit();
    assert!(report.controls.contains_key("close"), "the message is shown");
    drop(display);

    let display = Display::open();
    let state = display.folder().join("gravitile");
    fs::create_dir(&state).unwrap();
    let newer = "version = 1000\nsize = \"large\"\n";
    fs::write(state.join("settings.toml"), newer).unwrap();
    let report = display.view("--bodies 300").quit();
    assert!(report.controls.contains_key("close"), "the message is shown");
    assert_eq!(report.size, [1280, 800]);
    assert_eq!(fs::read_to_string(state.join("settings.toml")).unwrap(), newer);
}

#[test]
fn a_resumed_snapshot_is_shown_with_its_stored_camera() {
    let display = Display::open();
    let viewer = display.view("--scene plummer --bodies 300 --clean --paused --size 1200x760");
    viewer.changes("a drag turns", PICTURE, || viewer.drag("600 500", "760 440"));
    let left = viewer.changes("the wheel zooms", PICTURE, || viewer.act("mousemove 600 500 click 4 frame"));
    viewer.act("mousemove 20 740 frame");
    viewer.dialog("ctrl+s", "Return");
    viewer.quit();
    let viewer = display.view("--resume plummer.gravitile --clean --paused --size 1200x760");
    assert!(viewer.still(PICTURE) == left);
    viewer.quit();
}

#[test]
fn look_options_of_the_command_line_are_not_saved_as_settings() {
    let display = Display::open();
    let settings = display.folder().join("gravitile").join("settings.toml");
    fs::create_dir(display.folder().join("gravitile")).unwrap();
    fs::write(&settings, "size = [1280, 800]\n\n[look]\ngrid = \"true\"\nexposure = \"2\"\n").unwrap();
    let viewer = display.view("--bodies 300 --paused --look grid=off stars=1");
    viewer.key("t");
    let report = viewer.quit();
    assert_eq!((&report.look["grid"], &report.look["exposure"]), (&false.into(), &2.0.into()));
    let text = fs::read_to_string(&settings).unwrap();
    for kept in ["grid = \"true\"", "exposure = \"2\"", "turn = \"true\""] {
        assert!(text.contains(kept), "{kept} in {text}");
    }
    assert!(!text.contains("stars"), "{text}");
}

/// A scene sets appearance and camera. The user's own settings override the scene's, are saved, and apply to the next
/// scene.
#[test]
fn user_settings_override_the_look_and_camera_of_a_scene() {
    let display = Display::open();
    let settings = display.folder().join("gravitile").join("settings.toml");
    fs::create_dir(display.folder().join("gravitile")).unwrap();
    fs::write(&settings, "size = [1280, 800]\n\n[look]\nexposure = \"2\"\n").unwrap();
    let scene = |name: &str, look: &str| {
        let text =
            format!("mode = \"gravity\"\ngenerator = \"plummer\"\n[start]\nbodies = 300\n[look]\n{look}");
        fs::write(display.folder().join("scenes").join(name), text).unwrap();
    };
    fs::create_dir(display.folder().join("scenes")).unwrap();
    scene("one.toml", "palette = \"magma\"\nexposure = -1\ntrails = 9\npoint_size = 1.5\ngrid = true\n");
    let viewer = display.view("--scene scenes/one.toml --paused --look trails=5");
    // Switches off the grid, which the scene shows.
    viewer.key("g");
    let report = viewer.quit();
    let look = |key: &str| report.look[key].to_string();
    let found = ["palette", "exposure", "trails", "point_size", "grid"].map(look);
    assert_eq!(found, ["\"magma\"", "2.0", "5.0", "1.5", "false"]);
    let text = fs::read_to_string(&settings).unwrap();
    assert!(text.contains("grid = \"false\"") && text.contains("exposure = \"2\""), "{text}");
    for left in ["palette", "trails", "point_size"] {
        assert!(!text.contains(left), "{left} is not the user's: {text}");
    }
    // The next scene changes only those settings that the user has not set.
    scene("two.toml", "palette = \"ice\"\ngrid = true\n[camera]\npitch = 80\nyaw = 10\n");
    let viewer = display.view("--scene scenes/two.toml --paused --size 1280x800");
    viewer.dialog("ctrl+shift+s", "Return");
    let saved = until("it is saved", || {
        fs::read_to_string(display.folder().join("two.toml")).ok().filter(|text| text.contains("zoom"))
    });
    let report = viewer.quit();
    let found = ["palette", "exposure", "grid"].map(|key| report.look[key].to_string());
    assert_eq!(found, ["\"ice\"", "2.0", "false"]);
    for line in ["palette = \"ice\"", "exposure = 2.0", "[camera]", "zoom = 1.0", "pitch = 80", "yaw = 10"] {
        assert!(saved.contains(line), "{line} in {saved}");
    }
    assert!(!saved.contains("grid"), "off by default: {saved}");
}

/// Runs the entry of the command palette that `words` find.
fn choose(viewer: &Viewer, words: &str) {
    // `act` splits text at spaces, so each word is typed separately.
    let typed: Vec<_> = words.split(' ').map(|word| format!("type --args 1 {word}")).collect();
    let typed = typed.join(" key space ");
    viewer.act(&format!("key ctrl+p frame {typed} frame key Return frame frame"));
}

/// Recent files are stored for the next start. A file that no longer exists is reported and removed from the list.
#[test]
fn recent_files_are_stored_and_missing_ones_are_removed() {
    let display = Display::open();
    let settings = display.folder().join("gravitile").join("settings.toml");
    let saved = display.folder().join("plummer.toml");
    let viewer = display.view("--scene plummer --bodies 300 --paused");
    viewer.dialog("ctrl+shift+s", "Return");
    until("it is saved", || saved.is_file().then_some(()));
    viewer.quit();
    let listed = || fs::read_to_string(&settings).unwrap().contains("plummer.toml");
    assert!(listed());

    let viewer = display.view("--scene cube --bodies 300 --paused");
    viewer.alters("the recent file is opened", PICTURE, || choose(&viewer, "open recent plummer"));
    viewer.alters("opening is undone", PICTURE, || viewer.key("ctrl+z"));
    viewer.alters("opening is redone", PICTURE, || viewer.key("ctrl+y"));
    let report = viewer.quit();
    assert_eq!((&report.config["start"], report.controls.contains_key("close")), (&"plummer".into(), false));
    let starts = report.events.iter().filter(|event| event.what.starts_with("start="));
    assert_eq!(
        starts.map(|event| event.what.as_str()).collect::<Vec<_>>(),
        ["start=plummer", "start=cube", "start=plummer"]
    );
    assert!(listed());

    fs::remove_file(&saved).unwrap();
    let viewer = display.view("--scene cube --bodies 300 --paused");
    choose(&viewer, "open recent plummer");
    let report = viewer.quit();
    assert_eq!((&report.config["start"], report.controls.contains_key("close")), (&"cube".into(), true));
    assert!(!listed());
}

/// Settings that are copied as a command line can be pasted into the same window, which restores them.
#[test]
fn settings_are_copied_pasted_undone_and_redone() {
    let display = Display::open();
    let viewer =
        display.view("--scene plummer --bodies 300 --paused --clean --set eps=0.125 --look trails=9");
    choose(&viewer, "copy as command");
    choose(&viewer, "palette magma");
    choose(&viewer, "parameter softening");
    viewer.act("type --args 1 0.25 key Return frame key Escape frame");
    choose(&viewer, "scene figure-eight");
    choose(&viewer, "paste settings");
    viewer.key("ctrl+z");
    viewer.key("ctrl+z");
    viewer.key("ctrl+y");
    viewer.key("ctrl+y");
    let report = viewer.quit();
    let told = |what: &str| report.events.iter().filter(|event| event.what == what).count();
    assert_eq!((told("start=figure-eight"), told("start=plummer")), (3, 3), "{:#?}", report.events);
    assert_eq!((&report.config["start"], &report.config["bodies"]), (&"plummer".into(), &300.into()));
    let eps = report.config["params"]["eps"].as_f64().unwrap();
    assert!((eps - 0.125).abs() < 1e-6 && report.look["trails"] == 9.0, "{eps} {:?}", report.look);
    assert!(report.look["palette"] != "magma" && !report.controls.contains_key("close"));
}

/// Choosing a scene restarts it, even if it is already running, or is the scene with which its mode was left.
#[test]
fn choosing_a_scene_restarts_the_simulation() {
    let display = Display::open();
    let viewer = display.view("--scene plummer --bodies 300 --clean");
    viewer.runs();
    viewer.key("space");
    choose(&viewer, "scene plummer");
    let step = |report: Report| report.stats["step"].as_u64().unwrap();
    let report = viewer.quit();
    assert_eq!(report.stats["generation"], 2, "{:#?}", report.events);
    assert_eq!(step(report), 0);

    let viewer = display.view("--scene plummer --bodies 300 --clean");
    viewer.runs();
    viewer.key("space");
    for entry in ["mode asteroids", "scene plummer"] {
        viewer.alters(entry, PICTURE, || choose(&viewer, entry));
    }
    viewer.still(PICTURE);
    let report = viewer.quit();
    assert_eq!((&report.config["start"], &report.stats["mode"]), (&"plummer".into(), &"gravity".into()));
    assert_eq!(step(report), 0);
}
