//! Tests edited kernels, saved pictures and films in the real window.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::support::window::{Display, PICTURE};
use gravitile::engine::snapshot::Carried;

/// Waits for a file whose name begins with `begin` and ends with `end`.
fn file(folder: &Path, begin: &str, end: &str) -> PathBuf {
    let start = Instant::now();
    loop {
        let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let fits = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(begin) && name.ends_with(end)
        };
        if let Some(path) = names.into_iter().find(fits) {
            return path;
        }
        assert!(start.elapsed() < Duration::from_secs(300), "no {begin}…{end}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn kernel_edits_pictures_and_films_work_in_the_window() {
    let display = Display::open();
    let viewer =
        display.view("--scene plummer --bodies 300 --variant tiled --kernels lab --clean --size 1000x700");
    let kernel = display.folder().join("lab").join("gravity").join("tiled.cl");
    let own = fs::read_to_string(&kernel).unwrap();
    // The device refuses the first edit of the kernel. The error disappears once the kernel is repaired.
    viewer.key("space");
    viewer.still(PICTURE);
    viewer.changes("the refusal is told", PICTURE, || {
        let wrong = own.replacen("void advance(", "void advance(__global float *more, ", 1);
        fs::write(&kernel, wrong).unwrap();
    });
    let mended = own.replacen('{', "{ // edited", 1);
    viewer.changes("it is mended", PICTURE, || fs::write(&kernel, mended).unwrap());
    // Two pictures taken in a row become two files, even if the first is not written yet when the second is taken.
    viewer.act("key F12 key F12");
    file(display.folder(), "gravitile-plummer-2", ".png");
    let picture = file(display.folder(), "gravitile-plummer", ".png");
    assert_eq!(image::image_dimensions(&picture).unwrap().1, 700, "as high as in the window");
    viewer.key("r");
    // Records a film of half a second, after which the simulation continues.
    viewer.key("space");
    viewer.key("F9");
    // On a busy machine, recording begins some frames later.
    let frames = "frame ".repeat(15);
    viewer.act(&format!("{frames} sleep 2"));
    viewer.key("F9");
    file(display.folder(), "gravitile-plummer", ".gif");
    // Ends a second film, and starts a third while the second is still being written.
    viewer.act(&format!("key F9 {frames} sleep 1 key F9 key F9 {frames} sleep 1 key F9"));
    let films = [".gif", "-2.gif", "-3.gif"].map(|end| file(display.folder(), "gravitile-plummer", end));
    let report = viewer.quit();
    let told: Vec<_> = report.events.iter().map(|event| event.what.as_str()).collect();
    let kernels: Vec<_> = told.iter().filter(|what| what.starts_with("kernels=")).collect();
    assert_eq!(kernels, [&"kernels=refused", &"kernels=taken"], "{told:?}");
    assert!(!report.controls.contains_key("close"), "what was fixed is not told any more");
    assert_eq!(report.config["running"], true, "{told:?}");
    for film in films {
        let mut decoder = gif::DecodeOptions::new().read_info(fs::File::open(&film).unwrap()).unwrap();
        let frames = std::iter::from_fn(|| decoder.read_next_frame().unwrap().map(drop)).count();
        assert!(frames > 1, "{frames} pictures in {}", film.display());
    }

    // Opens the picture as a file; the simulation continues from its snapshot.
    let Carried::Snapshot(snapshot) = Carried::load(&picture).unwrap() else { panic!("no snapshot") };
    let step = snapshot.runs[0].step;
    assert!(step > 0);
    let opened = display.folder().join("only");
    fs::create_dir(&opened).unwrap();
    let viewer = display.view("--bodies 100 --scene galaxy --paused --clean");
    for path in [&display.folder().join("lab"), &opened] {
        fs::remove_dir_all(path).unwrap();
    }
    for entry in fs::read_dir(display.folder()).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_file() && entry != picture {
            fs::remove_file(entry).unwrap();
        }
    }
    viewer.dialog("ctrl+o", "Up frame key Return");
    let report = viewer.quit();
    assert_eq!(
        (&report.config["start"], &report.stats["step"]),
        (&"plummer".into(), &step.into()),
        "{:?}",
        report.events
    );
}
