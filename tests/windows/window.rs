//! Tests the real window on a virtual display, with the mouse and the keyboard.

use std::f32::consts::TAU;
use std::fs;
use std::path::PathBuf;

use crate::support::window::{Display, PICTURE, Viewer, spot, until};
use gravitile::engine::snapshot::Carried;
use gravitile::view::Camera;
use image::{Rgba, RgbaImage};

/// Options for so few bodies that frames come fast.
const SMALL: &str = "--bodies 512";
/// Options with which a single step takes minutes.
const SLOW: &str = "--bodies 1000000 --variant naive --work-group 1 --steps-per-frame 1";

#[test]
fn the_window_closes_after_the_requested_number_of_frames() {
    let report = Display::open().run("--frames 30 --bodies 512 --size 900x600");
    assert_eq!(report.frames, 30);
    assert_eq!(report.size, [900, 600]);
    assert!(report.first_frame_seconds.is_some_and(|seconds| seconds < report.seconds), "{report:?}");
    assert!(report.stats["step"].as_u64().unwrap() > 0);
    assert!(report.events.iter().all(|event| event.what.starts_with("size=")), "{:?}", report.events);
}

#[test]
fn settings_in_the_panel_apply_to_the_simulation() {
    let display = Display::open();
    // The window is small, but the whole panel is visible.
    let small = || {
        let viewer = display.view(&format!("{SMALL} --clean"));
        viewer.key("ctrl+minus");
        viewer.key("ctrl+minus");
        viewer
    };
    // Goes from the bottom up, because a section that unfolds moves all controls below it.
    let folded = small().quit();
    let settles = "frame ".repeat(10);
    let unfolded = || {
        let viewer = small();
        for section in ["kernel", "more parameters"] {
            viewer.click(folded.control(section));
            viewer.act(&settles);
        }
        viewer
    };
    let controls = unfolded().quit();
    let viewer = unfolded();
    viewer.click(controls.control("variant tiled"));
    viewer.click(controls.control("integrator euler"));
    let slider = controls.control("dt");
    viewer.drag(&spot(slider, 0.8, 0.5), &spot(slider, 0.25, 0.5));
    // At most two frames can be old. With more frames, the new kernel has been built and runs.
    let [left, top, width, height] = controls.control("pause");
    for _ in 0..5 {
        viewer.alters("steps are counted on", [left, top + height, 2.0 * width, 30.0], || ());
    }
    let report = viewer.quit();

    let dt = report.config["params"]["dt"].as_f64().unwrap();
    // The slider is at a quarter of the way from 1e-5 to 0.1 on a logarithmic scale.
    assert!((3e-5..4e-4).contains(&dt), "dt {dt}");
    let mut told = report.events.iter().filter_map(|event| event.what.strip_prefix("dt="));
    assert_eq!(
        told.next_back().map(|text| text.parse::<f32>().unwrap()),
        Some(dt as f32),
        "{:?}",
        report.events
    );
    for what in ["variant=tiled", "integrator=euler"] {
        report.step_at(what);
    }
    assert_eq!(report.config["variant"], "tiled");
    assert_eq!(report.config["params"]["integrator"], "euler");
    assert_eq!(report.stats["variant"], "tiled", "in force");
    assert!(report.stats["step"].as_u64().unwrap() > report.step_at("variant=tiled"), "it runs on");
    assert_eq!(report.stats["generation"], 1, "the bodies were kept");
}

#[test]
fn pause_step_and_restart_by_key_and_by_button() {
    let display = Display::open();
    let controls = display.run(&format!("{SMALL} --frames 20"));
    let viewer = display.view(SMALL);

    viewer.runs();
    viewer.changes("the last picture comes after the pause", PICTURE, || viewer.key("space"));
    viewer.key("s");
    viewer.key("period");
    viewer.click(controls.control("step"));
    viewer.click(controls.control("restart"));
    viewer.key("r");
    viewer.key("s");
    let report = viewer.quit();

    let told: Vec<_> = report.events.iter().map(|event| event.what.as_str()).collect();
    assert_eq!(told, ["running=false", "step", "step", "step", "restart", "restart", "step", "quit"]);
    let first = report.events[1].step;
    let steps: Vec<_> = report.events[1..7].iter().map(|event| event.step).collect();
    assert!(first > 1, "it ran before the pause");
    assert_eq!(steps, [first, first + 1, first + 2, first + 3, 0, 0]);
    assert_eq!(report.stats["step"], 1);
    assert_eq!(report.stats["generation"], 3, "two restarts");
    assert_eq!(report.config["running"], false);
}

/// Each step of the built-in lesson sets up a variant.
#[test]
#[ignore = "long: scripts/test --all runs it"]
fn each_step_of_a_lesson_sets_up_its_variant() {
    let display = Display::open();
    let args = "--lesson kernels --bodies 512 --size 1280x800";
    let controls = display.run(&format!("{args} --frames 20"));
    let viewer = display.view(args);
    viewer.runs();
    for _ in 0..5 {
        // The card is at the lower right, so that its last button stays in place.
        viewer.alters("the next step is shown", PICTURE, || viewer.click(controls.control("lesson next")));
        viewer.runs();
    }
    let report = viewer.quit();
    let variants: Vec<_> =
        report.events.iter().filter_map(|event| event.what.strip_prefix("variant=")).collect();
    assert_eq!(variants, ["naive", "tiled", "vector", "mutual", "tree"]);
    assert_eq!(report.config["start"], "galaxy");
}

#[test]
fn the_picture_responds_to_the_mouse_and_to_window_changes() {
    let display = Display::open();
    let viewer = display.view("--bodies 512 --paused --size 1200x760");
    viewer.changes("a drag turns", PICTURE, || viewer.drag("600 500", "760 440"));
    viewer.changes("a right drag moves", PICTURE, || {
        viewer.act("mousemove 600 500 frame mousedown 3 frame mousemove 640 480 frame mouseup 3");
    });
    viewer.changes("the wheel zooms", PICTURE, || viewer.act("mousemove 600 500 frame click 4"));
    let framed = viewer.changes("F frames all", PICTURE, || viewer.key("f"));
    let with_help = viewer.changes("? opens the help", PICTURE, || viewer.key("question"));
    let closed = viewer.changes("Escape closes it", PICTURE, || viewer.key("Escape"));
    assert!(framed == closed && framed != with_help, "what the help covered is there again");

    let panel = [20.0, 120.0, 280.0, 500.0];
    let shown = viewer.pixels(panel);
    viewer.changes("H hides the panel", panel, || viewer.key("h"));
    viewer.changes("H shows it again", panel, || viewer.key("h"));
    assert!(viewer.pixels(panel) == shown, "the panel is as it was");
    viewer.changes("the window grows smaller", [950.0, 650.0, 200.0, 100.0], || {
        viewer.act("windowsize --sync WINDOW 1000 700");
    });
    viewer.key("h");
    let report = viewer.quit();

    assert_eq!(report.step_at("size=1000x700"), 0);
    assert_eq!(report.size, [1000, 700]);
    assert_eq!(report.step_at("frameall"), 0);
    assert_eq!(
        report.controls.keys().collect::<Vec<_>>(),
        ["numbers", "show"],
        "it was left with the panel hidden"
    );
    assert_eq!(report.stats["step"], 0, "paused");
}

/// The panel is redrawn during a step that takes minutes, and quitting does not wait for the step.
#[test]
fn the_window_stays_responsive_during_a_step_of_minutes() {
    let display = Display::open();
    let viewer = display.view(SLOW);
    let controls = viewer.quit().controls;
    let viewer = display.view(SLOW);
    // A control is highlighted while the pointer is over it.
    let button = controls["restart"];
    let away = spot(PICTURE, 0.5, 0.5);
    for _ in 0..10 {
        for at in [&spot(button, 0.5, 0.5), &away] {
            viewer.alters("the panel follows the pointer", button, || viewer.act(&format!("mousemove {at}")));
        }
    }
    let report = viewer.quit();
    assert_eq!(report.stats["step"], 0, "the first step is still computed: {:?}", report.stats);
    assert!(report.frames > 20, "{} frames", report.frames);
}

#[test]
fn modes_can_be_switched_while_running_and_continue_where_left() {
    let display = Display::open();
    let viewer = display.view(SMALL);
    for toggle in 0..6 {
        // Waits for moving bodies, because each mode runs while it is shown.
        viewer.runs();
        viewer.alters("the next mode is shown", [20.0, 150.0, 290.0, 60.0], || viewer.key("m"));
        if toggle == 1 {
            viewer.act("mousemove 600 500 frame click 4");
        }
    }
    viewer.runs();
    let report = viewer.quit();

    let toggles: Vec<_> = report.events.iter().filter(|event| event.what.starts_with("mode=")).collect();
    assert_eq!(toggles.len(), 6, "{:?}", report.events);
    for (first, shown) in ["mode=asteroids", "mode=fluid", "mode=gravity"].into_iter().enumerate() {
        let left: Vec<_> = toggles.iter().skip(first).step_by(3).collect();
        assert!(left.iter().all(|event| event.what == shown), "{:?}", report.events);
        // The steps at which each mode was left only grow, so no mode restarted.
        assert!(left.is_sorted_by(|a, b| a.step < b.step), "{left:?}");
    }
    assert_eq!(report.stats["mode"], "gravity");
    assert_eq!(report.stats["generation"], 1, "gravity is what it was from the start");
    assert!(report.stats["step"].as_u64().unwrap() > toggles[3].step);
}

#[test]
fn obstacles_are_painted_with_the_mouse() {
    let display = Display::open();
    let viewer = display.view("--mode fluid --scene channel --paused --set field=walls");
    let bare = viewer.still(PICTURE);
    viewer.key("b");
    let painted = viewer.changes("a drag paints", PICTURE, || {
        viewer.drag("700 380", "700 420");
        viewer.act("mousemove 700 700 frame");
    });
    let erased = viewer.changes("a right drag erases", PICTURE, || {
        let press = "mousemove 700 370 frame mousedown 3 frame";
        viewer.act(&format!("{press} mousemove 700 430 frame mouseup 3 frame mousemove 700 700 frame"));
    });
    assert!(painted != bare && erased != painted);
    viewer.key("b");
    viewer.changes("without the brush a drag turns", PICTURE, || viewer.drag("600 400", "700 380"));
    let report = viewer.quit();
    let told = |what: &str| report.events.iter().filter(|event| event.what == what).count();
    assert!(told("paint=true") > 0 && told("paint=false") > 0, "{:?}", report.events);
}

/// An event acts where the pointer is now, not where it was in the last frame.
#[test]
fn mouse_events_act_at_the_current_pointer_position() {
    let display = Display::open();
    let viewer = display.view("--mode fluid --scene channel --paused --set field=walls");
    // Until the kernels are compiled, a preview is shown, and strokes wait.
    viewer.changes("the simulation has started, and a step moves the tracers", PICTURE, || viewer.key("s"));
    viewer.key("b");
    let stroke =
        "mousemove 170 600 frame mousemove 700 380 mousedown 1 mousemove 700 420 frame mouseup 1 frame";
    let painted = viewer.changes("the brush paints", PICTURE, || {
        viewer.act(stroke);
        viewer.act("mousemove 700 760 frame");
    });
    // Returns the pointer to the panel: the wheel scrolls the panel and does not zoom the picture.
    viewer.act("mousemove 700 760 frame mousemove 170 600 click 5 click 5 frame mousemove 700 760 frame");
    assert!(viewer.still(PICTURE) == painted, "the wheel over the panel zooms the picture");
    let report = viewer.quit();
    assert!(report.events.iter().any(|event| event.what == "paint=true"), "{:?}", report.events);
}

#[test]
fn resizing_to_odd_sizes_causes_no_crash() {
    let display = Display::open();
    let viewer = display.view(SMALL);
    for _ in 0..8 {
        viewer.act("windowsize WINDOW 20 100 sleep 0.05 windowsize WINDOW 1000 700 sleep 0.05");
    }
    viewer.act("windowsize --sync WINDOW 1280 800 frame");
    let report = viewer.quit();
    assert_eq!(report.size, [1280, 800]);
}

#[test]
fn the_camera_coasts_returns_to_views_and_rotates_automatically() {
    let display = Display::open();
    let look = "palette=viridis grid=on bloom=on stars=1";
    let viewer = display.view(&format!("--bodies 512 --paused --size 1200x760 --look {look}"));
    let first = viewer.still(PICTURE);
    viewer.act("key ctrl+1 frame");
    viewer.changes("a drag turns", PICTURE, || viewer.drag("600 500", "760 440"));
    let flung: String = (1..12).map(|i| format!("mousemove {} 500 sleep 0.01 ", 600 + 12 * i)).collect();
    viewer.alters("what was let go in motion goes on", PICTURE, || {
        viewer.act(&format!("mousemove 600 500 frame mousedown 1 frame {flung} mouseup 1"));
    });
    viewer.still(PICTURE);
    viewer.key("1");
    until("1 goes back to the same view", || (viewer.pixels(PICTURE) == first).then_some(()));
    viewer.changes("G takes the grid away", PICTURE, || viewer.key("g"));
    viewer.alters("T turns", PICTURE, || viewer.key("t"));
    viewer.alters("and goes on", PICTURE, || ());
    viewer.key("t");
    viewer.changes("Home looks from the start again", PICTURE, || viewer.key("Home"));
    viewer.changes("P opens the plots", PICTURE, || viewer.key("p"));
    let report = viewer.quit();

    let told: Vec<_> = report.events.iter().map(|event| event.what.as_str()).collect();
    assert_eq!(
        told,
        ["storeview(1)", "recallview(1)", "grid=false", "turn=true", "turn=false", "resetview", "quit"],
        "the size is what it was"
    );
    assert!(report.controls.contains_key("save plots"), "{:?}", report.controls.keys());
}

/// The columns of the window, counted from `left`, that differ from the background in the row `y`: the first and the
/// last.
fn drawn_columns(viewer: &Viewer, left: f32, y: f32) -> [f32; 2] {
    let row = viewer.still([left, y, 1280.0 - left, 1.0]);
    let background = row.get_pixel(2, 0).0;
    let differs = |pixel: &Rgba<u8>| pixel.0.iter().zip(background).any(|(a, b)| a.abs_diff(b) > 3);
    let columns: Vec<_> =
        row.enumerate_pixels().filter(|(.., pixel)| differs(pixel)).map(|(x, ..)| x).collect();
    [columns.first(), columns.last()].map(|x| left + *x.expect("a flow is drawn") as f32)
}

/// A flow fits the area beside the panel and the statistics, and fits it again when the panel is hidden or shown.
#[test]
fn a_flow_fits_the_area_beside_the_panel_and_the_statistics() {
    let display = Display::open();
    let viewer = display.view("--mode fluid --scene box-128 --paused --clean --size 1280x800");
    let (panel, middle) = (332.0, 470.0);
    let [left, right] = drawn_columns(&viewer, panel, middle);
    let width = right - left;
    assert!((0.5 * (left + right) - 0.5 * (panel + 1280.0)).abs() < 6.0, "in the middle: {left} to {right}");
    assert!((560.0..680.0).contains(&width), "below the statistics: {width} wide");
    viewer.changes("the panel is hidden", PICTURE, || viewer.key("h"));
    let [left, right] = drawn_columns(&viewer, 0.0, middle);
    assert!(right - left > 740.0, "as high as the window: {left} to {right}");
    assert!((940.0..990.0).contains(&right), "just beside the statistics: {left} to {right}");
    viewer.changes("the panel is shown again", PICTURE, || viewer.key("h"));
    let [left, right] = drawn_columns(&viewer, panel, middle);
    assert!((right - left - width).abs() <= 1.0, "as it was: {left} to {right}");
    viewer.quit();
}

/// Returns whether two pictures of bodies differ by more than the last, tiny part of a camera move.
fn has_moved(before: &RgbaImage, after: &RgbaImage) -> bool {
    let differs = |(a, b): (&Rgba<u8>, &Rgba<u8>)| a.0.iter().zip(b.0).any(|(a, b)| a.abs_diff(b) > 40);
    before.pixels().zip(after.pixels()).filter(|pair| differs(*pair)).count() > 40
}

#[test]
fn a_scene_opens_with_a_camera_move_if_asked_and_a_press_ends_it() {
    let display = Display::open();
    let start = "--scene plummer --bodies 300 --paused --clean --look opening_move=on";
    let viewer = display.view(start);
    viewer.alters("the camera moves by itself", PICTURE, || ());
    let opened = viewer.still(PICTURE);
    viewer.act(&format!("key r {}", "frame ".repeat(10)));
    assert!(
        !has_moved(&viewer.still(PICTURE), &opened),
        "the camera stays where it is when the scene restarts"
    );
    assert_eq!(viewer.quit().stats["generation"], 2);
    let viewer = display.view(start);
    viewer.act("mousemove 600 700 mousedown 2 frame mouseup 2 frame");
    let held = viewer.pixels(PICTURE);
    viewer.act(&"frame ".repeat(10));
    assert!(viewer.pixels(PICTURE) == held, "a press ends the move at once");
    assert!(has_moved(&held, &opened), "before the end");
    viewer.quit();
}

/// Bodies that drift away together stay in view if *Keep in view* is on.
#[test]
fn bodies_that_drift_away_are_kept_in_view() {
    let display = Display::open();
    let rows = "x,y,z,vx,vy,vz,m\n-1,0,0,1,0,0,1e-6\n1,0,0,1,0,0,1e-6\n0,0.4,0,1,0,0,1e-6\n";
    fs::write(display.folder().join("drift.csv"), rows).unwrap();
    let leaves = |keeps: &str| {
        let look = format!("--look keep_in_view={keeps} --set dt=0.01 --steps-per-frame 1 --size 900x600");
        let report = display.run(&format!("--load drift.csv {look} --frames 450"));
        assert!(report.stats["step"].as_u64().unwrap() > 300, "{:?}", report.stats["step"]);
        report.controls.contains_key("frame all")
    };
    assert!(leaves("off"), "they leave the picture");
    assert!(!leaves("on"));
}

/// During a film, the camera turns by the film's time, however long making the film takes.
#[test]
fn the_camera_rotates_by_film_time_during_a_film() {
    let display = Display::open();
    let viewer =
        display.view("--scene plummer --bodies 300 --clean --paused --steps-per-frame 1 --look turn=on");
    // Saves pictures during the film. Each step makes a frame, of which 30 make a second. After the last frame the
    // simulation pauses, and the camera turns by the clock again. On a busy machine, the film starts late, so that the
    // first pictures are taken before it.
    const PICTURES: usize = 8;
    let last = 149;
    let names = (1..=PICTURES).map(|nth| match nth {
        1 => "gravitile-plummer.png".to_owned(),
        _ => format!("gravitile-plummer-{nth}.png"),
    });
    let paths: Vec<_> = names.map(|name| display.folder().join(name)).collect();
    let shown = |path: &PathBuf| {
        let Carried::Snapshot(snapshot) = until("a picture is written", || Carried::load(path).ok()) else {
            panic!("it carries no snapshot")
        };
        (snapshot.runs[0].step, Camera::from_words(&snapshot.view).unwrap().yaw)
    };
    let turns = until("two pictures are taken within a film", || {
        for entry in fs::read_dir(display.folder()).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_file() {
                fs::remove_file(entry).unwrap();
            }
        }
        let pictures = format!("{} key F12 ", "frame ".repeat(8)).repeat(PICTURES);
        viewer.act(&format!("key r frame frame key F9 {pictures} frame key F9"));
        let taken: Vec<_> = paths.iter().map(shown).filter(|(step, _)| (1..last).contains(step)).collect();
        let [(first, before), .., (second, after)] = taken[..] else { return None };
        (first + 8 <= second).then(|| (second - first, (after - before).rem_euclid(TAU)))
    });
    viewer.quit();
    // A full turn takes two minutes. A picture may show the camera some steps later.
    let steps = 30.0 * 120.0 * turns.1 / TAU;
    assert!((steps - turns.0 as f32).abs() <= 3.0, "in {turns:?} it turned as in {steps} steps");
}
