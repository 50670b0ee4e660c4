//! The window under Wayland, without X11: under Weston, where the program draws its title bar, and under KWin, which
//! has scales that are not whole numbers.
//!
//! A compositor answers no pings, so these tests wait for the effects of input. Within one drag or click, the program
//! handles events in their order, even if they come within one frame.

use std::fs;
use std::process::Stdio;

use crate::support::window::{Display, PICTURE, Rect, Report, Viewer, spot, until};
use gravitile::engine::snapshot::Snapshot;
use image::RgbaImage;

/// Options for a window that fills the display, in which nothing moves.
const STILL: &str = "--scene plummer --bodies 300 --clean --paused";
/// Height of the title bar.
const TITLE: f32 = 35.0;
/// Distances of the middles of the title bar's buttons from the right edge of the window.
const CLOSE: f32 = 19.0;
const MINIMISE: f32 = 93.0;
/// The place of the command palette's line of text, in a window that fills the display.
const PALETTE: Rect = [380.0, 75.0, 500.0, 30.0];

/// Runs a command of the command palette, found by its first words. The picture must stand still.
fn choose(viewer: &Viewer, words: &str) {
    viewer.changes("the command palette is open", PALETTE, || viewer.key("ctrl+p"));
    let keys: Vec<_> =
        words.chars().map(|c| if c == ' ' { "space".to_owned() } else { c.to_string() }).collect();
    viewer.changes("the words are read", PALETTE, || viewer.key(&keys.join(" ")));
    viewer.changes("the command palette is closed", PALETTE, || viewer.key("Return"));
}

/// Returns the place of the program's window on the green background, with its title bar and its edges.
fn place(screen: &RgbaImage) -> Option<Rect> {
    // Shadows leave the background green. The pointer rests in the upper left corner of the screen.
    let is_window = |(x, y, pixel): &(u32, u32, &image::Rgba<u8>)| {
        (pixel.0[0] > 20 || pixel.0[2] > 20) && (*x > 24 || *y > 32)
    };
    let drawn: Vec<_> = screen.enumerate_pixels().filter(is_window).map(|(x, y, _)| [x, y]).collect();
    let [left, top] = [0, 1].map(|k| drawn.iter().map(|at| at[k]).min());
    let [right, bottom] = [0, 1].map(|k| drawn.iter().map(|at| at[k]).max());
    let [left, top] = [left? as f32, top? as f32];
    Some([left, top, right? as f32 + 1.0 - left, bottom? as f32 + 1.0 - top])
}

const SCREEN: Rect = [0.0, 0.0, 1280.0, 800.0];

/// Waits until the program's window stands still, and returns its place.
fn window(viewer: &Viewer) -> Rect {
    viewer.act("mousemove 0 0");
    until("the window is shown", || place(&viewer.still(SCREEN)))
}

fn has_event(report: &Report, what: &str) -> bool {
    report.events.iter().any(|event| event.what == what)
}

#[test]
fn the_window_opens_under_weston_without_a_display() {
    let Some(display) = Display::open().under_headless_weston() else { return };
    let report = display.run("--frames 20 --bodies 512 --size 900x600");
    assert_eq!((report.frames, report.size), (20, [900, 600]));
}

#[test]
fn keys_and_the_pointer_work() {
    let Some(display) = Display::open().under_weston(1) else { return };
    let controls = display.run("--frames 20 --clean --bodies 300");
    let viewer = display.view(STILL);
    let slider = controls.control("dt");
    viewer.changes("the slider follows", slider, || {
        viewer.drag(&spot(slider, 0.8, 0.5), &spot(slider, 0.25, 0.5));
    });
    viewer.changes("a click steps", PICTURE, || viewer.click(controls.control("step")));
    viewer.changes("the key S steps", PICTURE, || viewer.key("s"));
    viewer.changes("a drag turns", PICTURE, || viewer.drag("600 500", "760 440"));
    viewer.changes("the wheel zooms", PICTURE, || viewer.act("click 4"));
    viewer.changes("H hides the panel", [20.0, 120.0, 280.0, 500.0], || viewer.key("h"));
    let report = viewer.quit();
    let dt = report.config["params"]["dt"].as_f64().unwrap();
    assert!((3e-5..4e-4).contains(&dt), "dt {dt}");
    assert_eq!(report.stats["step"], 2);
}

#[test]
#[ignore = "long: scripts/test --all runs it"]
fn settings_are_copied_to_other_programs_and_pasted_from_them() {
    let Some(display) = Display::open().under_weston(1) else { return };
    let viewer = display.view(&format!("{STILL} --set dt=0.003"));
    choose(&viewer, "copy as command");
    let paste = || {
        let output = display.wayland("wl-paste").arg("--no-newline").output();
        let output = output.expect("scripts/setup --tests installs wl-clipboard");
        eprintln!("{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let copied = until("something is copied", || Some(paste()).filter(|text| !text.is_empty()));
    assert!(copied.starts_with("gravitile view") && copied.contains("dt=0.003"), "{copied}");

    let text = "gravitile view --scene plummer --bodies 400 --set dt=0.002";
    let mut other = display.wayland("wl-copy");
    let mut other = other.args(["--foreground", text]).stdin(Stdio::null()).spawn().unwrap();
    until("another program has copied", || (paste() == text).then_some(()));
    viewer.changes("400 bodies are shown", PICTURE, || choose(&viewer, "paste settings"));
    let report = viewer.quit();
    other.kill().unwrap();
    other.wait().unwrap();
    assert_eq!((&report.config["bodies"], &report.config["params"]["dt"]), (&400.into(), &0.002.into()));
}

#[test]
#[ignore = "long: scripts/test --all runs it"]
fn the_window_is_resized_maximised_and_put_in_full_screen() {
    let Some(display) = Display::open().under_weston(1) else { return };
    let viewer = display.view(&format!("{STILL} --size 1000x650"));
    let first @ [left, top, width, height] = window(&viewer);
    let [right, bottom] = [left + width, top + height];
    viewer.act(&format!("mousemove {right} {bottom} mousedown 1"));
    let mut nth = 0.0;
    // The compositor follows the pointer from the moment at which the program asks for it.
    until("the edge follows the pointer", || {
        nth += 1.0;
        viewer.act(&format!("mousemove {} {}", right - 100.0 - nth, bottom - 60.0 - nth));
        let now = place(&viewer.pixels(SCREEN))?;
        (now[2] < width - 50.0).then_some(())
    });
    viewer.act("mouseup 1");
    let smaller = window(&viewer);
    assert_eq!(smaller[..2], [left, top], "the other corner stays");
    // The window has an edge of one pixel on three sides, and the title bar above.
    let inner = |place: Rect| [place[2] - 2.0, place[3] - 1.0 - TITLE];
    assert_eq!(inner(first), [1000.0, 650.0]);
    let shrunk = inner(smaller);

    viewer.act(&format!("mousemove {} {} click --repeat 2 --delay 50 1", left + 300.0, top + 15.0));
    until("the window fills the screen", || (window(&viewer)[2..] == [1280.0, 800.0]).then_some(()));
    // Weston gives the keyboard to the title bar that was clicked, until the window itself is clicked.
    viewer.changes("a body is selected", SCREEN, || viewer.act("mousemove 640 420 click 1"));
    viewer.alters("the title bar is gone", SCREEN, || viewer.key("F11"));
    viewer.still(SCREEN);
    viewer.alters("the title bar is there again", SCREEN, || viewer.key("F11"));
    until("the window is as before", || (window(&viewer)[2..] == [1280.0, 800.0]).then_some(()));
    let report = viewer.quit();
    let sizes: Vec<_> = report.events.iter().filter(|event| event.what.starts_with("size=")).collect();
    for size in [[1000.0, 650.0], shrunk, [1280.0, 800.0 - TITLE], [1280.0, 800.0]] {
        assert!(has_event(&report, &format!("size={}x{}", size[0], size[1])), "{size:?}: {sizes:?}");
    }
    assert_eq!(report.size, [1280, 765]);
}

#[test]
#[ignore = "long: scripts/test --all runs it"]
fn the_title_bar_has_the_theme_of_the_panel() {
    let Some(display) = Display::open().under_weston(1) else { return };
    let is_light = |viewer: &Viewer, [left, top, ..]: Rect| {
        viewer.pixels([left + 200.0, top + 15.0, 1.0, 1.0]).get_pixel(0, 0).0[..3]
            .iter()
            .all(|light| *light > 200)
    };
    let viewer = display.view(&format!("{STILL} --size 1000x650"));
    let at = window(&viewer);
    assert!(!is_light(&viewer, at));
    // The window is 1000 pixels wide, so the palette is elsewhere.
    viewer.changes("the command palette is open", SCREEN, || viewer.key("ctrl+p"));
    viewer.changes("the words are read", SCREEN, || viewer.act("type light"));
    viewer.key("Return");
    until("the title bar is light", || is_light(&viewer, at).then_some(()));
    viewer.quit();
    let viewer = display.view(&format!("{STILL} --size 1000x650 --look theme=light"));
    let at = window(&viewer);
    assert!(is_light(&viewer, at));
    viewer.quit();
}

#[test]
#[ignore = "long: scripts/test --all runs it"]
fn a_minimised_window_is_autosaved_and_a_closed_one_ends_the_program() {
    let Some(display) = Display::open().under_weston(1) else { return };
    let kept = display.folder().join("gravitile").join("autosave.gravitile");
    let step = || Snapshot::load(&kept).ok().map(|snapshot| snapshot.runs[0].step);
    // Only in free run, the simulation does not wait for pictures to be shown.
    let viewer =
        display.view("--scene plummer --bodies 300 --paused --free-run --size 1000x650 --autosave 1");
    let [left, top, width, _] = window(&viewer);
    viewer.key("space");
    viewer.runs();
    let click = |button: f32| {
        viewer.act(&format!("mousemove {} {} click 1", left + width - button, top + TITLE / 2.0));
    };
    click(MINIMISE);
    viewer.act("mousemove 0 0");
    until("the window is minimised", || place(&viewer.pixels(SCREEN)).is_none().then_some(()));
    let first = until("it is autosaved", step);
    let second = until("it is autosaved again", || step().filter(|step| *step > first));
    until("it is autosaved again and again", || step().filter(|step| *step > second));

    until("the window is shown again", || {
        viewer.act("keydown super key Tab keyup super");
        place(&viewer.pixels(SCREEN))
    });
    viewer.runs();
    click(CLOSE);
    let report = viewer.ends();
    assert!(step() >= report.stats["step"].as_u64(), "the last step is saved");
}

#[test]
#[ignore = "long: scripts/test --all runs it"]
fn state_and_settings_are_saved_when_the_compositor_crashes() {
    let Some(display) = Display::open().under_weston(1) else { return };
    let state = display.folder().join("gravitile");
    let viewer = display.view("--scene plummer --bodies 300 --autosave 3600 --size 1200x760");
    let step = || Snapshot::load(&state.join("autosave.gravitile")).ok().map(|it| it.runs[0].step);
    let first = until("it is saved when it starts", step);
    viewer.runs();
    display.crash();
    let (code, stderr) = viewer.end();
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("lost the connection to the display"), "{stderr}");
    assert!(step() > Some(first));
    assert!(fs::read_to_string(state.join("settings.toml")).unwrap().contains("1200"));
}

/// Checks a window of 850 × 500 logical pixels, whose lower part must look like `expected`, and its panel with the
/// pointer. Returns that part and a report.
fn scaled(display: &Display, scale: f32, expected: Option<&RgbaImage>) -> (RgbaImage, Report) {
    let options = format!("{STILL} --size 850x500");
    let controls = display.run(&format!("{options} --frames 20"));
    assert_eq!((controls.scale, controls.size), (scale, [850.0, 500.0].map(|side| (side * scale) as u32)));
    let viewer = display.view(&options);
    // The pointer is above the compared part of the window.
    let top = 40.0 * scale;
    let part = [0.0, top, 850.0 * scale, 500.0 * scale - top];
    let picture = match expected {
        None => viewer.still(part),
        Some(expected) => until("the window looks as expected", || {
            Some(viewer.pixels(part)).filter(|picture| is_same(picture, expected))
        }),
    };
    let slider = controls.control("dt");
    viewer.changes("the slider follows", slider, || {
        viewer.drag(&spot(slider, 0.8, 0.5), &spot(slider, 0.25, 0.5));
    });
    let shown = [450.0 * scale, 150.0 * scale, 300.0 * scale, 300.0 * scale];
    viewer.changes("a click steps", shown, || viewer.click(controls.control("step")));
    (picture, viewer.quit())
}

/// Returns whether two pictures are the same, except for the rounding of colours by a compositor that draws with
/// OpenGL.
fn is_same(a: &RgbaImage, b: &RgbaImage) -> bool {
    a.dimensions() == b.dimensions() && a.iter().zip(b.iter()).all(|(a, b)| a.abs_diff(*b) <= 1)
}

/// Compares the window with the same window at the same scale under X11, which shows each pixel as it is drawn.
fn is_sharp(size: [u16; 2], scale: f32, under_wayland: impl FnOnce(Display) -> Option<Display>) {
    let x11 = Display::with_size(size).set("WINIT_X11_SCALE_FACTOR", String::leak(scale.to_string()));
    let (expected, same) = scaled(&x11, scale, None);
    drop(x11);
    let Some(display) = under_wayland(Display::with_size(size)) else { return };
    let (_, report) = scaled(&display, scale, Some(&expected));
    // A compositor passes on the position of the pointer in parts of a logical pixel.
    let [dt, same] = [&report, &same].map(|report| report.config["params"]["dt"].as_f64().unwrap());
    assert!(dt < 4e-4 && (0.7..1.4).contains(&(dt / same)), "{dt} and {same}");
    assert_eq!(report.stats["step"], 1);
}

#[test]
#[ignore = "long: scripts/test --all runs it"]
fn the_window_is_sharp_at_scale_2() {
    is_sharp([1700, 1000], 2.0, |display| display.under_weston(2));
}

#[test]
#[ignore = "needs KWin (scripts/setup --kwin): scripts/test --all runs it"]
fn the_window_is_sharp_at_scale_1_5_under_kwin() {
    is_sharp([1280, 800], 1.5, |display| Some(display.under_kwin(1.5)));
}
