//! A random walk over keys, mouse and panel in the real window: it ends without a panic, and its memory stays flat.
//!
//! The test prints its seed; `GRAVITILE_WALK_SEED=7 cargo test --test windows walk` sets another seed. The same seed
//! gives the same events in the same order, but not in the same frames.
//!
//! Some events are left out, because they would end the walk, take minutes, or write outside of the test's folder:
//! Ctrl+Q; typed numbers over 300; clicks in file dialogs, which are only closed or answered by Return; folders for
//! kernels (see `tests/compute/kernels.rs`); and files dropped on the window, which xdotool cannot do.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::support::window::{Display, PICTURE, Rect, Viewer, spot};
use rand::RngExt;
use rand::SeedableRng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

/// Number of random events between two measurements of memory.
const STRETCH: usize = 250;
/// Number of random events in the short test.
const SHORT: usize = 100;

/// The left part of the window, which contains the panel.
const PANEL: Rect = [0.0, 0.0, 330.0, 800.0];
/// The rest of the window, which contains the picture, tools, cards and windows.
const REST: Rect = [330.0, 0.0, 950.0, 800.0];

/// Keys to press, each with its relative frequency.
const KEYS: [(&str, u32); 40] = [
    ("space", 6),
    ("s", 2),
    ("period", 2),
    ("v", 3),
    ("bracketleft", 4),
    ("bracketright", 2),
    ("r", 2),
    ("m", 4),
    ("o", 3),
    ("f", 2),
    ("Home", 2),
    ("c", 2),
    ("t", 2),
    ("g", 2),
    ("b", 3),
    ("l", 4),
    ("a", 4),
    ("Delete", 4),
    ("ctrl+z", 5),
    ("ctrl+y", 3),
    ("p", 3),
    ("h", 2),
    ("i", 1),
    ("question", 2),
    ("F1", 1),
    ("Escape", 4),
    ("1", 1),
    ("2", 1),
    ("9", 1),
    ("ctrl+1", 1),
    ("ctrl+2", 1),
    ("ctrl+plus", 1),
    ("ctrl+minus", 2),
    ("ctrl+0", 1),
    ("Tab", 3),
    ("shift+Tab", 1),
    ("Left", 2),
    ("Right", 2),
    ("Up", 1),
    ("Down", 1),
];

/// Texts to type into number fields.
const TYPED: [&str; 12] = ["0", "1", "2", "17", "64", "300", "0.01", "0.5", "-5", "1e-30", "nan", "x"];

/// Texts to type into the command palette.
const WISHES: [&str; 14] = [
    "mode fluid",
    "mode asteroids",
    "mode gravity",
    "scene belt",
    "scene rings",
    "scene figure",
    "scene porous",
    "scene pythag",
    "scene solar",
    "scene channel",
    "fastest kernel",
    "work-group size",
    "cancel the film",
    "nothing of the kind",
];

/// Generates random events as commands for xdotool.
struct Walk {
    random: ChaCha8Rng,
    /// Positions of the panel's controls at the start.
    controls: Vec<String>,
}

impl Walk {
    fn at(&mut self, rect: Rect) -> String {
        spot(rect, self.random.random(), self.random.random())
    }

    fn one_of(&mut self, what: &[&'static str]) -> &'static str {
        what.choose(&mut self.random).unwrap()
    }

    /// Returns the next random event.
    fn event(&mut self) -> String {
        match self.random.random_range(0..1000) {
            0..300 => {
                let (key, _) = KEYS.choose_weighted(&mut self.random, |(_, often)| *often).unwrap();
                format!("key --delay 4 {key}")
            }
            300..370 => format!("mousemove {} sleep 0.006 mousedown 1 mouseup 1", self.at(REST)),
            370..560 => self.drag(REST),
            560..640 => {
                let (at, wheel) = (self.at(REST), self.one_of(&["4", "5"]));
                let times = self.random.random_range(1..6);
                format!("mousemove {at} click --repeat {times} --delay 4 {wheel}")
            }
            640..760 => {
                let at = self.controls.choose(&mut self.random).unwrap();
                format!("mousemove {at} sleep 0.006 mousedown 1 mouseup 1 sleep 0.006 key --delay 2 Escape")
            }
            // Escape closes an open dialog, and leaves a field so that later digits are not added.
            760..840 => {
                format!(
                    "mousemove {} sleep 0.006 mousedown 1 mouseup 1 sleep 0.006 key --delay 2 Escape",
                    self.at(PANEL)
                )
            }
            840..860 => {
                format!(
                    "mousemove {} mousedown 1 mouseup 1 sleep 0.006 mousedown 1 mouseup 1 sleep 0.006 key --delay 2 Escape",
                    self.at(PANEL)
                )
            }
            860..910 => format!("{} sleep 0.006 key --delay 2 Escape", self.drag(PANEL)),
            910..940 => {
                let (at, wheel) = (self.at(PANEL), self.one_of(&["4", "5"]));
                format!("mousemove {at} click --repeat 4 --delay 4 {wheel}")
            }
            940..965 => {
                let (at, text) = (self.at(PANEL), self.one_of(&TYPED));
                format!(
                    "mousemove {at} sleep 0.006 mousedown 1 mouseup 1 sleep 0.03 key --delay 2 ctrl+a type --args 1 --delay 2 -- {text} key --delay 2 Return \
                     sleep 0.03 key --delay 2 Escape"
                )
            }
            965..980 => wish(self.one_of(&WISHES), "sleep 0.05"),
            980..988 => {
                let (asks, answers) = (self.one_of(&["ctrl+o", "ctrl+s", "ctrl+shift+s"]), self.answer());
                format!(
                    "key --delay 2 {asks} sleep 0.1 key --delay 2 {answers} sleep 0.1 key --delay 2 Escape sleep 0.05 key --delay 2 Escape"
                )
            }
            988..991 => "key F12".to_owned(),
            991..994 => "key F9 sleep 0.3 key F9".to_owned(),
            _ => {
                let size = self.one_of(&["1280 800", "900 600", "640 480", "300 200"]);
                format!("windowsize WINDOW {size}")
            }
        }
    }

    fn answer(&mut self) -> &'static str {
        self.one_of(&["Return", "Escape"])
    }

    /// Returns a random drag with one or two buttons, sometimes with a key held down.
    fn drag(&mut self, within: Rect) -> String {
        let button = self.one_of(&["1", "1", "1", "3", "2"]);
        let held = self.one_of(&["", "", "", "shift", "ctrl"]);
        let (from, through, to) = (self.at(within), self.at(within), self.at(within));
        let second = if self.random.random_bool(0.1) { "mousedown 3 sleep 0.006 mouseup 3" } else { "" };
        let [down, up] = ["keydown", "keyup"].map(|word| match held {
            "" => String::new(),
            held => format!("{word} {held}"),
        });
        format!(
            "mousemove {from} {down} mousedown {button} sleep 0.006 mousemove {through} sleep 0.006 {second} \
             mousemove {to} sleep 0.006 mouseup {button} {up}"
        )
    }
}

/// Returns the commands that run an entry of the command palette. The command `wait` follows the opening of the palette
/// and each later command, because text that is typed before the palette is open would act as shortcuts.
fn wish(text: &str, wait: &str) -> String {
    // Types one word at a time, because `act` splits text at spaces.
    let words: Vec<_> = text.split(' ').map(|word| format!("type --args 1 --delay 2 {word}")).collect();
    let words = words.join(" key --delay 2 space ");
    format!("key --delay 2 ctrl+p {wait} {words} {wait} key --delay 2 Return {wait} key --delay 2 Escape")
}

/// Brings the program to a comparable state, and returns its memory in MiB.
fn look(viewer: &Viewer) -> i64 {
    let wishes = ["cancel the", "stop measuring", "scene plummer"];
    let wishes = wishes.map(|text| wish(text, "frame frame")).join(" frame ");
    viewer.act(&format!(
        "windowsize WINDOW 1280 800 frame key --delay 2 Escape Escape Escape frame {wishes} frame key --delay 2 r f sleep 0.4"
    ));
    // Selects, deletes and restores a body where most bodies are: in the middle of the window, or of the part beside
    // the panel. A window may cover it.
    for (x, y) in [(0.5, 0.5), (0.48, 0.48), (0.52, 0.52), (0.33, 0.5), (0.31, 0.48), (0.35, 0.52)] {
        let at = spot(REST, x, y);
        viewer.act(&format!(
            "mousemove {at} frame mousedown 1 mouseup 1 frame frame key --delay 2 Delete frame key --delay 2 ctrl+z frame"
        ));
    }
    // If no body was there to delete, the last key undid another step, such as the choice of the scene.
    let plummer = wish("scene plummer", "frame frame");
    viewer.act(&format!("key --delay 2 Escape Escape frame {plummer} frame"));
    viewer.memory()
}

/// Returns the number of folders two levels below `cache`: PoCL has one for each program.
fn programs(cache: &Path) -> usize {
    let inside = |path: &Path| fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    inside(cache).flat_map(|path| inside(&path).collect::<Vec<_>>()).filter(|path| path.is_dir()).count()
}

#[test]
fn a_short_random_walk_of_user_events_ends_without_errors() {
    walk(SHORT, 1);
}

#[test]
#[ignore = "long: scripts/test --all runs it"]
fn a_random_walk_of_two_thousand_events_keeps_memory_use_flat() {
    let (memory, grown) = walk(STRETCH, 2_000 / STRETCH);
    assert!(grown <= 4, "by {grown} MiB in some hundred pictures of the same");
    // Temporary memory, as for a film, is absent in some measurements. Lost memory is in all of the second half. PoCL's
    // compiler keeps some memory for each kernel.
    let (first, second) = memory.split_at(memory.len() / 2);
    let grown = second.iter().min().unwrap() - first.iter().min().unwrap();
    println!("memory grew by {grown} MiB");
    assert!(grown <= 40, "memory grew by {grown} MiB: {memory:?}");
}

/// Runs `stretches` stretches of `length` random events. Returns the memory after each stretch, and its growth while the
/// program draws some hundred equal pictures, both in MiB; for a single stretch, this growth is not measured and is 0.
fn walk(length: usize, stretches: usize) -> (Vec<i64>, i64) {
    let seed = std::env::var("GRAVITILE_WALK_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    println!("seed {seed}");
    // Freed memory is returned to the system at once, so the measured memory is in use.
    let display =
        Display::open().set("MALLOC_MMAP_THRESHOLD_", "65536").set("MALLOC_TRIM_THRESHOLD_", "65536");
    // PoCL's compiler permanently takes 140 MiB with the first kernel that its cache lacks. With an empty cache, this
    // happens before the first measurement.
    let display = if stretches > 1 { display.set("POCL_CACHE_DIR", "compiled") } else { display };
    let controls = display.run("--bodies 512 --frames 20 --clean").controls;
    let controls = controls.values().map(|rect| spot(*rect, 0.5, 0.5)).collect();
    let mut walk = Walk { random: ChaCha8Rng::seed_from_u64(seed), controls };

    let viewer = display.view("--bodies 512");
    let mut memory = Vec::new();
    for stretch in 0..stretches {
        let events: Vec<_> = (0..length).map(|_| walk.event()).collect();
        for (nth, some) in events.chunks(20).enumerate() {
            // Prints the events first, so that they precede a failure in the log.
            println!("{}: {}", stretch * length + nth * 20, some.join(" · "));
            viewer.act(&some.join(" "));
        }
        memory.push(look(&viewer));
        let kernels = programs(&display.folder().join("compiled"));
        println!("{} events: {} MiB, {kernels} kernels compiled", (stretch + 1) * length, memory[stretch]);
    }
    look(&viewer);
    viewer.alters("the simulation goes on", PICTURE, || {
        viewer.act("key --delay 2 s sleep 0.2 key --delay 2 s");
    });
    // Drawing pictures must not take memory.
    let turn = "mousemove 500 780 sleep 0.01 mousemove 900 780 sleep 0.006 key --delay 2 s "
        .repeat(if stretches > 1 { 100 } else { 0 });
    let before = viewer.memory();
    viewer.act(&turn);
    let grown = viewer.memory() - before;
    let report = viewer.quit();

    // Checks that the events had effects: many actions ran, and so did the last requested ones.
    let mut done = BTreeMap::new();
    for event in &report.events {
        *done.entry(event.what.split(['=', '(']).next().unwrap()).or_insert(0) += 1;
    }
    println!("{} events in the report: {done:?}", report.events.len());
    let (kinds, events) = if stretches > 1 { (40, 500) } else { (10, 24) };
    assert!(done.len() >= kinds && report.events.len() >= events, "{done:?}");
    let wanted = ["select", "deletebody", "undo", "start", "restart", "size", "mode", "running"];
    for what in wanted.iter().filter(|_| stretches > 1) {
        assert!(done.contains_key(*what), "{what} among {done:?}");
    }
    // The newest frame may still show an earlier mode.
    assert_eq!((&report.config["mode"], &report.config["start"]), (&"gravity".into(), &"plummer".into()));
    (memory, grown)
}
