//! Tests selecting and moving bodies in the real window, by click, key and drag.

use crate::support::window::{Display, PICTURE, spot, until};

#[test]
fn bodies_can_be_selected_deleted_restored_and_launched() {
    let display = Display::open();
    let viewer = display.view("--scene plummer --bodies 512 --paused --size 1200x760");
    let still = viewer.still(PICTURE);
    let [x, y] = brightest(&still);
    let body = format!("{} {}", PICTURE[0] + x, PICTURE[1] + y);
    viewer.changes("a click takes hold of a body: its card is shown", PICTURE, || {
        viewer.act(&format!("mousemove {body} frame mousedown 1 frame mouseup 1 frame"));
    });
    viewer.changes("it is deleted, and its card gone", PICTURE, || viewer.key("Delete"));
    viewer.changes("it is brought back", PICTURE, || viewer.key("ctrl+z"));

    viewer.key("l");
    viewer.alters("while it is drawn the path is shown", PICTURE, || {
        viewer.act("mousemove 480 420 frame mousedown 1 frame mousemove 540 400 frame");
    });
    viewer.changes("it is launched, and the path gone", PICTURE, || viewer.act("mouseup 1 frame"));
    viewer.act("mousemove 800 420 keydown shift frame mousedown 1 frame mousemove 780 400 frame");
    viewer.act("mouseup 1 frame keyup shift frame");
    viewer.key("Escape");
    let report = viewer.quit();

    let told: Vec<_> = report.events.iter().map(|event| event.what.as_str()).collect();
    assert!(told[0].starts_with("select=") && told[0] != "select=none", "{told:?}");
    assert_eq!(told[1..], ["deletebody", "undo", "launch=body", "launch=cluster", "quit"]);
    assert_eq!(report.stats["bodies"], 512 + 1 + 64);
    assert_eq!(report.stats["undos"], 2);
    assert_eq!(report.stats["step"], 0, "paused");
}

#[test]
fn attraction_reversed_time_and_seeking_work_in_the_window() {
    let display = Display::open();
    let controls = display.run("--bodies 512 --scene plummer --frames 20 --size 1200x760");
    let viewer = display.view("--scene plummer --bodies 512 --size 1200x760");
    viewer.key("a");
    viewer.act("mousemove 700 500 frame mousedown 1 frame frame mousemove 720 480 frame mouseup 1 frame");
    viewer.key("a");
    viewer.key("v");
    viewer.key("v");
    viewer.key("space");
    viewer.click(controls.control("go to step"));
    viewer.act("key ctrl+a type 40");
    viewer.changes("the simulation goes to the step", PICTURE, || viewer.key("Return"));
    let report = viewer.quit();
    let told: Vec<_> = report.events.iter().map(|event| event.what.as_str()).collect();
    assert_eq!(
        told,
        ["pull=true", "reverse=true", "reverse=false", "running=false", "goto(some(40))", "quit"]
    );
    assert_eq!((&report.stats["step"], &report.config["running"]), (&40.into(), &false.into()));
}

#[test]
fn new_bodies_run_forwards_and_other_settings_keep_the_time_direction() {
    let viewer = Display::open();
    let viewer = viewer.view("--scene plummer --bodies 512 --size 1200x760");
    // Sets a value with the keyboard only: finds the setting in the command palette, and types `keys` into its field.
    let set = |setting: [&str; 2], keys: &str| {
        viewer.act(&format!("key ctrl+p frame type {}", setting[0]));
        viewer.act(&format!("key space type {}", setting[1]));
        viewer.act(&format!("frame key Return frame key {keys} frame"));
    };
    viewer.key("v");
    set(["parameter", "softening"], "0 period 2 Return");
    set(["setting", "seed"], "7 7 Return");
    viewer.key("v");
    set(["setting", "bodies"], "6 0 0 Return");
    let report = viewer.quit();
    let told = report.events.iter().map(|event| event.what.split_once('=').unwrap_or((&event.what, "")));
    let told: Vec<_> = told.map(|(key, to)| if key == "eps" { (key, "") } else { (key, to) }).collect();
    let [backwards, forwards] = [("reverse", "true"), ("reverse", "false")];
    let [eps, seed, bodies] = [("eps", ""), ("seed", "77"), ("bodies", "600")];
    assert_eq!(told, [backwards, eps, forwards, seed, backwards, bodies, forwards, ("quit", "")]);
    assert_eq!(report.config["bodies"], 600);
}

#[test]
fn undone_edits_leave_no_trails() {
    let display = Display::open();
    let look = "--set colour=mass --look trails=24 auto_exposure=off";
    let viewer =
        display.view(&format!("--scene plummer --bodies 300 --paused --clean --size 1200x760 {look}"));
    viewer.key("a");
    viewer.act("mousemove 20 740 frame");
    let before = viewer.still(PICTURE);
    let hold = "mousemove 650 540 frame mousedown 1 frame";
    viewer
        .act(&format!("{hold} key space frame frame frame key space frame mouseup 1 mousemove 20 740 frame"));
    viewer.key("ctrl+z");
    // Waits until the message has faded.
    until("all is as it was", || (viewer.pixels(PICTURE) == before).then_some(()));
    let report = viewer.quit();
    assert_eq!((&report.stats["step"], &report.stats["undos"]), (&0.into(), &0.into()));
}

#[test]
fn clicks_on_the_tools_do_not_reach_the_picture() {
    let display = Display::open();
    let start = "--scene plummer --bodies 512 --paused --clean --size 1200x760";
    let viewer = display.view(start);
    viewer.key("l");
    let controls = viewer.quit();
    let viewer = display.view(start);
    viewer.key("l");
    viewer.drag("700 500", "760 480");
    viewer.click(controls.control("undo"));
    let slider = controls.control("launch mass");
    viewer.drag(&spot(slider, 0.3, 0.5), &spot(slider, 0.8, 0.5));
    viewer.click(controls.control("mouse attract"));
    viewer.click(controls.control("mouse look"));
    let report = viewer.quit();
    let told: Vec<_> = report.events.iter().map(|event| event.what.as_str()).collect();
    assert_eq!(told, ["launch=body", "undo", "quit"]);
    assert_eq!(report.stats["bodies"], 512);
}

#[test]
fn a_second_mouse_button_does_not_prolong_drags_and_escape_cancels_drags() {
    let display = Display::open();
    let viewer = display.view("--scene plummer --bodies 512 --paused --clean --size 1200x760");
    viewer.key("l");
    let press = "mousemove 640 500 frame mousedown 1 frame mousemove 680 480 frame";
    viewer.act(&format!("{press} mousedown 3 frame mouseup 3 frame mouseup 1 frame"));
    // The same again, but the other button is released last.
    viewer.act(&format!("{press} mousedown 3 frame mouseup 1 frame mouseup 3 frame"));
    let still = viewer.still(PICTURE);
    viewer.act("mousemove 700 400 frame");
    assert!(viewer.still(PICTURE) == still, "nothing follows the mouse any more");
    viewer.act(&format!("{press} key Escape frame mouseup 1 frame"));
    viewer.alters("the tool is still in hand", PICTURE, || viewer.act(press));
    // Changing the mode cancels the drag that began in the old mode.
    viewer.act("key m frame frame mouseup 1 frame");
    let report = viewer.quit();
    let told: Vec<_> = report.events.iter().map(|event| event.what.as_str()).collect();
    let told: Vec<_> =
        told.into_iter().filter(|what| !what.contains('=') || what.starts_with("launch")).collect();
    assert_eq!(told, ["launch=body", "launch=body", "cancelgesture", "quit"]);
    assert!(report.events.iter().any(|event| event.what == "mode=asteroids"), "{:?}", report.events);
    assert!(!report.controls.contains_key("close"), "nothing was refused");
}

/// Returns the position of the brightest pixel of a picture.
fn brightest(picture: &image::RgbaImage) -> [f32; 2] {
    let light = |pixel: &image::Rgba<u8>| pixel.0[..3].iter().map(|c| u32::from(*c)).sum::<u32>();
    let (x, y, _) = picture.enumerate_pixels().max_by_key(|(_, _, pixel)| light(pixel)).unwrap();
    [x as f32, y as f32]
}
