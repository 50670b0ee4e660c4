//! Tests the real window on rank 0 of an MPI run.

use std::fs;

use gravitile::engine::snapshot::Carried;

use crate::support::mpi::{find_rank, signal};
use crate::support::window::{Display, PICTURE, spot, until};

#[test]
#[ignore = "long: scripts/test --all runs it"]
fn a_window_on_two_mpi_ranks_responds_to_its_controls() {
    let display = Display::open();
    let args = "--scene plummer --bodies 600 --variant private --size 1200x760 --clean";
    let controls = display.run(&format!("{args} --frames 20"));
    let display = display.on_ranks(2);
    let viewer = display.view(args);
    viewer.runs();
    viewer.key("space");
    viewer.still(PICTURE);
    let slider = controls.control("dt");
    viewer.drag(&spot(slider, 0.2, 0.5), &spot(slider, 0.6, 0.5));
    viewer.act("key ctrl+p frame type --args 1 tiled frame key Return frame frame");
    viewer.changes("one step is computed", PICTURE, || viewer.key("period"));
    viewer.key("space");
    viewer.runs();
    viewer.click(controls.control("mode asteroids"));
    viewer.runs();
    viewer.key("ctrl+z");
    viewer.runs();
    viewer.act("key ctrl+s frame frame");
    viewer.key("Return");
    let saved = display.folder().join("plummer.gravitile");
    until("the snapshot is saved", || saved.is_file().then_some(()));
    viewer.runs();
    let report = viewer.quit();
    let told: Vec<_> = report.events.iter().map(|event| event.what.as_str()).collect();
    for what in ["running=false", "variant=tiled", "step", "mode=asteroids", "mode=gravity", "quit"] {
        assert!(told.contains(&what), "no {what} among {told:?}");
    }
    assert!(told.iter().any(|what| what.starts_with("dt=")), "{told:?}");
    assert_eq!(report.stats["mode"], "gravity");
    let members = report.stats["sharing"]["members"].as_array().unwrap();
    assert_eq!(members.len(), 2, "{:?}", report.stats);
    let Carried::Snapshot(snapshot) = Carried::load(&saved).unwrap() else { panic!("no snapshot") };
    assert_eq!(snapshot.runs[0].state.len(), 600);
}

/// If another rank is killed, the launcher ends rank 0, but the last autosave is intact.
#[test]
#[ignore = "long: scripts/test --all runs it"]
fn the_autosave_survives_a_killed_rank() {
    let display = Display::open().on_ranks(2);
    let viewer = display.view("--scene plummer --bodies 600 --variant private --autosave 1");
    let autosave = display.folder().join("gravitile").join("autosave.gravitile");
    let begun = until("an autosave is written", || fs::metadata(&autosave).ok()?.modified().ok());
    until("a second one follows", || (fs::metadata(&autosave).ok()?.modified().ok()? > begun).then_some(()));
    signal("KILL", find_rank(viewer.id(), 1, 0.0).unwrap());
    let (code, stderr) = viewer.end();
    assert_ne!(code, Some(0), "{stderr}");
    let Carried::Snapshot(snapshot) = Carried::load(&autosave).unwrap() else { panic!("no snapshot") };
    assert_eq!(snapshot.runs[0].state.len(), 600);
}
