//! Tests hidden windows, signals to the process, and the order of events in slow frames.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::support::window::{Display, spot, until};
use gravitile::export::film::Format;

/// Command-line options with so few bodies that frames come fast.
const SMALL: &str = "--bodies 512";

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    entries.filter(|path| path.extension().is_some_and(|end| end == extension)).collect()
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).ok()?.modified().ok()
}

#[test]
fn a_hidden_window_autosaves_and_finishes_its_film() {
    let display = Display::open();
    let viewer = display.view("--bodies 128 --autosave 1 --size 900x740");
    let autosave = display.folder().join("gravitile").join("autosave.gravitile");
    until("the first autosave is written", || modified(&autosave));
    // Records a film of one second.
    viewer.act("key ctrl+p sleep 0.3 type length");
    viewer.act("sleep 0.5 key Return sleep 1 key ctrl+a key 1 key Return sleep 0.3 key F9 sleep 0.1 windowunmap WINDOW");
    let film = film(&display);
    // The simulation runs again after the film, so that there is something new to save.
    let hidden = SystemTime::now();
    until("the hidden window autosaves", || modified(&autosave).filter(|at| *at > hidden));
    viewer.act("windowmap --sync WINDOW windowfocus --sync WINDOW");
    viewer.quit();
    assert!(pictures(&film).is_none_or(|pictures| pictures == 30));
}

/// Waits for the film that a window saves in the default format.
fn film(display: &Display) -> PathBuf {
    let extension = Format::usual().extension();
    until("the film is finished", || {
        let mut films = files(display.folder(), &extension).into_iter();
        films.find(|path| fs::metadata(path).is_ok_and(|it| it.len() > 0))
    })
}

/// Returns the number of pictures in a film, or `None` unless the film is a GIF.
fn pictures(film: &Path) -> Option<usize> {
    let decoder = gif::DecodeOptions::new().read_info(fs::File::open(film).unwrap());
    (Format::usual() == Format::Gif).then(|| decoder.unwrap().into_iter().filter(Result::is_ok).count())
}

#[test]
fn a_film_that_is_stopped_early_is_saved() {
    let display = Display::open();
    // Each picture takes so many steps that the whole film of 150 pictures would take long.
    let viewer = display.view("--bodies 4096 --steps-per-frame 8 --clean");
    // On a busy machine, the film begins some frames later.
    let frames = "frame ".repeat(30);
    viewer.act(&format!("key F9 {frames} sleep 1 key F9"));
    let film = film(&display);
    viewer.quit();
    assert!(pictures(&film).is_none_or(|pictures| (1..150).contains(&pictures)));
}

#[test]
fn a_closed_pipe_does_not_kill_the_viewer() {
    let display = Display::open();
    let viewer = display.view(SMALL);
    viewer.signal("PIPE");
    viewer.key("space");
    let report = viewer.quit();
    assert_eq!(report.config["running"], false);
}

/// Sends events while the program is stopped by a signal, so that it receives all of them in one frame.
fn in_one_frame(viewer: &crate::support::window::Viewer, script: &str) {
    viewer.signal("STOP");
    viewer.act(script);
    viewer.signal("CONT");
    viewer.act("sleep 0.5");
}

#[test]
fn keys_pressed_during_a_slow_frame_are_handled_in_order() {
    let display = Display::open();
    let viewer = display.view(&format!("{SMALL} --clean"));
    // The letter T switches the rotation on. The text field of the palette does not receive it, and Enter then chooses
    // "grid".
    in_one_frame(&viewer, "key --delay 1 t ctrl+p g r i d Return");
    // Choosing "softening" in the palette focuses the field of this parameter, which receives the number.
    in_one_frame(&viewer, "key --delay 1 ctrl+p s o f t e n i n g Return 0 period 5 Return");
    let report = viewer.quit();
    assert_eq!(report.look["turn"], true, "{:?}", report.events);
    let events: Vec<_> = report.events.iter().map(|event| event.what.as_str()).collect();
    assert_eq!(report.look["grid"], true, "{events:?}");
    assert_eq!(report.config["params"]["eps"], 0.5, "{events:?}");
    assert!(report.events.iter().all(|event| !event.what.starts_with("recallview")), "{events:?}");
}

#[test]
fn a_slider_stays_where_it_was_released_in_a_slow_frame() {
    let display = Display::open();
    let view = || display.view(&format!("{SMALL} --clean"));
    let slider = view().quit().control("dt");
    let viewer = view();
    let [press, release, later] = [0.8, 0.4, 0.1].map(|x| spot(slider, x, 0.5));
    viewer.act(&format!("mousemove {press} sleep 0.3"));
    in_one_frame(
        &viewer,
        &format!(
            "mousedown 1 sleep 0.05 mousemove {release} sleep 0.05 mouseup 1 sleep 0.05 mousemove {later}"
        ),
    );
    let dt = viewer.quit().config["params"]["dt"].as_f64().unwrap();
    // The slider is at 0.4 of the way from 1e-5 to 0.1 on a logarithmic scale.
    assert!((2e-4..8e-4).contains(&dt), "dt {dt}");
}
