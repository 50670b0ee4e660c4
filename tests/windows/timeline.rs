//! Tests the timeline in the real window: shows past moments, returns, continues from a past moment, and films the
//! replay.

use crate::support::window::{Display, PICTURE, spot, until};

/// The middle of the picture above the timeline.
const MIDDLE: [f32; 4] = [600.0, 300.0, 300.0, 300.0];

#[test]
fn the_timeline_shows_a_past_moment_and_continues_from_there() {
    let display = Display::open();
    // The colours of stars do not depend on the colour range, which changes slowly from frame to frame.
    let start = "--scene plummer --bodies 600 --set dt=0.001 colour=stars --clean --steps-per-frame 1";
    let open = || {
        let viewer = display.view(start);
        viewer.runs();
        viewer.key("j");
        viewer
    };
    let controls = open().quit().controls;
    let bar = controls["timeline"];

    let viewer = open();
    viewer.runs();
    // Showing a past moment pauses the simulation and shows other bodies. Returning shows the live simulation
    // unchanged.
    viewer.key("space");
    let present = viewer.still(MIDDLE);
    viewer.click(bar);
    let past = viewer.still(MIDDLE);
    assert!(past != present, "the past looks like the present");
    viewer.key("Left");
    viewer.changes("an arrow key moves to another frame", MIDDLE, || viewer.act("key shift+Left frame"));
    viewer.key("End");
    until("the present is shown again", || (viewer.pixels(MIDDLE) == present).then_some(()));
    // While a past moment is shown, no tool can be selected, and a click selects no body.
    viewer.click(bar);
    viewer.key("l");
    viewer.act(&format!("mousemove {} frame click 1 frame", spot(PICTURE, 0.6, 0.4)));
    viewer.still(MIDDLE);
    viewer.click(controls["continue from here"]);
    let continued = viewer.still(MIDDLE);
    assert!(continued != present);
    viewer.key("s");
    let report = viewer.quit();

    let moment = report.step_at("continuehere");
    assert_eq!(report.step_at("step"), moment, "it continues where it was, and waits");
    assert_eq!(report.stats["step"].as_u64(), Some(moment + 1));
    assert!(report.events.iter().all(|event| !event.what.starts_with("select")), "{:?}", report.events);
    assert!(report.timeline["past"].is_null(), "{}", report.timeline);
    assert!(
        report.timeline["frames"].as_u64() > Some(2) && report.timeline["bytes"].as_u64() < Some(256 << 20)
    );
}

#[test]
fn a_replay_runs_to_its_end_and_can_be_filmed() {
    let display = Display::open();
    let viewer = display.view("--scene plummer --bodies 300 --clean --steps-per-frame 1");
    viewer.runs();
    viewer.key("j");
    viewer.runs();
    let bar = [340.0, 740.0, 900.0, 20.0];
    viewer.click(bar);
    viewer.alters("the replay moves", MIDDLE, || viewer.key("space"));
    viewer.still(MIDDLE);
    // A replay that has reached its end starts again from the beginning.
    viewer.alters("the replay moves again", MIDDLE, || viewer.key("space"));
    viewer.still(MIDDLE);
    viewer.key("F9");
    let film = until("a film of the replay is written", || {
        let files = std::fs::read_dir(display.folder()).unwrap().map(|file| file.unwrap().path());
        files.into_iter().find(|path| {
            path.extension().is_some_and(|ending| ending == "gif" || ending == "mp4")
                && std::fs::metadata(path).is_ok_and(|data| data.len() > 0)
        })
    });
    assert!(film.file_name().unwrap().to_string_lossy().starts_with("gravitile-plummer"));
    let report = viewer.quit();
    assert!(report.events.iter().any(|event| event.what == "recordfilm"), "{:?}", report.events);
    assert_eq!(report.config["running"], false, "the simulation waited");
    assert_eq!(report.timeline["past"], report.timeline["seconds"], "the replay is at its end");
}

#[test]
fn the_timeline_records_nothing_without_memory() {
    let display = Display::open();
    let report = display.run("--scene plummer --bodies 300 --frames 20 --look record=0");
    assert_eq!(report.timeline["frames"], 0);
    let report = display.run("--scene plummer --bodies 300 --frames 60");
    assert!(report.timeline["frames"].as_u64() > Some(0), "{}", report.timeline);
}
