//! A virtual display with the real window, and functions that simulate mouse and keyboard.
//!
//! There is no window manager. The window is at the upper left corner of the screen, so window and screen coordinates
//! are equal.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use image::RgbaImage;
use serde::Deserialize;
use serde_json::Value;
use tempfile::TempDir;
use x11rb::connection::Connection;
use x11rb::protocol::Event as XEvent;
use x11rb::protocol::xproto::{
    ChangeWindowAttributesAux, ClientMessageEvent, ConnectionExt, EventMask, ImageFormat,
};
use x11rb::rust_connection::RustConnection;

use super::wayland::Compositor;

/// Time limit for waiting on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
const PROGRAM: &str = env!("CARGO_BIN_EXE_gravitile");

/// Lock that allows one window at a time, because each window uses all cores.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// A virtual X server, and a temporary home folder.
pub(crate) struct Display {
    /// The Wayland compositor under which programs are started, if they use Wayland.
    compositor: Option<Compositor>,
    server: Child,
    name: String,
    /// Connection to the X server that takes screenshots of the window `root`, which is the whole screen.
    connection: RustConnection,
    root: u32,
    /// Width and height of the screen in pixels.
    size: [u16; 2],
    folder: TempDir,
    /// Additional environment variables for the programs that are started.
    environment: Vec<(&'static str, &'static str)>,
    /// Command and first arguments that start the program.
    program: Vec<String>,
    /// Number of ranks on which programs start with `mpirun`; 1 to start them without it.
    ranks: usize,
    _alone: MutexGuard<'static, ()>,
}

impl Display {
    pub(crate) fn open() -> Self {
        Self::with_size([1280, 800])
    }

    /// Opens a display of this width and height in pixels.
    pub(crate) fn with_size(size: [u16; 2]) -> Self {
        Self::start_server(size, "+extension")
    }

    /// Opens a display without GLX, as some remote desktops have.
    pub(crate) fn without_glx() -> Self {
        Self::start_server([1280, 800], "-extension")
    }

    fn start_server(size: [u16; 2], extension: &str) -> Self {
        let alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let mut command = Command::new("Xvfb");
        let screen = format!("{}x{}x24", size[0], size[1]);
        command.args(["-displayfd", "1", "-screen", "0", &screen, extension, "GLX"]);
        // Without -noreset, Xvfb restarts when its last client leaves, and meanwhile refuses new clients.
        command.args(["-nolisten", "tcp", "-noreset"]);
        let mut server = installed("Xvfb", command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn());
        let mut number = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut number).unwrap();
        assert!(!number.trim().is_empty(), "Xvfb did not start");
        let name = format!(":{}", number.trim());
        let (connection, screen) = x11rb::connect(Some(&name)).expect("the display can be reached");
        let root = connection.setup().roots[screen].root;
        // The program's answers to pings are sent to the root window.
        let answers = ChangeWindowAttributesAux::new().event_mask(EventMask::SUBSTRUCTURE_NOTIFY);
        connection.change_window_attributes(root, &answers).unwrap().check().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let program = vec![PROGRAM.to_owned()];
        Self {
            compositor: None,
            server,
            name,
            connection,
            root,
            size,
            folder,
            environment: Vec::new(),
            program,
            ranks: 1,
            _alone: alone,
        }
    }

    /// Makes programs start under Weston, which fills the display. Returns `None` if Weston is not installed.
    pub(crate) fn under_weston(mut self, scale: u16) -> Option<Self> {
        self.compositor = Some(Compositor::weston(Some(&self.name), self.size, scale)?);
        until("the compositor has a window", || self.windows().first().copied());
        // Weston adds up relative movements of the pointer. In this corner, both the real pointer and Weston's pointer
        // stop, so that they agree.
        let [right, bottom] = self.size.map(|side| (side - 1).to_string());
        let args = ["mousemove", &right, &bottom, "mousemove", "0", "0"];
        until("Weston shows the pointer in the corner", || {
            assert!(installed("xdotool", self.command("xdotool").args(args).status()).success());
            self.pixels([0.0, 0.0, 24.0, 24.0]).pixels().any(|pixel| pixel.0[0] > 200).then_some(())
        });
        Some(self)
    }

    /// Makes programs start under Weston without a display. Returns `None` if Weston is not installed.
    pub(crate) fn under_headless_weston(mut self) -> Option<Self> {
        self.compositor = Some(Compositor::weston(None, self.size, 1)?);
        Some(self)
    }

    /// Makes programs start under KWin, which fills the display.
    pub(crate) fn under_kwin(mut self, scale: f32) -> Self {
        self.compositor = Some(Compositor::kwin(&self.name, self.size, scale));
        until("the compositor has a window", || self.windows().first().copied());
        self
    }

    /// Kills the compositor without warning its programs, as a crash would.
    pub(crate) fn crash(&self) {
        self.compositor.as_ref().unwrap().crash();
    }

    /// Returns a command that runs `program` under the compositor.
    pub(crate) fn wayland(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        self.compositor.as_ref().unwrap().enter(&mut command);
        command
    }

    /// Returns the windows on the screen.
    fn windows(&self) -> Vec<u32> {
        self.connection.query_tree(self.root).unwrap().reply().unwrap().children
    }

    /// Sets an environment variable for all programs that are started.
    pub(crate) fn set(mut self, name: &'static str, value: &'static str) -> Self {
        self.environment.push((name, value));
        self
    }

    /// Makes the command `words` start in place of the program.
    pub(crate) fn starting(mut self, words: &[&str]) -> Self {
        self.program = words.iter().map(|&word| word.to_owned()).collect();
        self
    }

    /// Makes programs start with `mpirun` on several ranks, all of which share the work.
    #[cfg(feature = "mpi")]
    pub(crate) fn on_ranks(mut self, ranks: usize) -> Self {
        self.ranks = ranks;
        self.environment.extend(super::mpi::ENVIRONMENT);
        self
    }

    /// Returns the folder in which the program runs and keeps its files.
    pub(crate) fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    /// Returns the X display name, such as `:99`.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("DISPLAY", &self.name).env_remove("WAYLAND_DISPLAY").env_remove("WAYLAND_SOCKET");
        // The user's settings must not affect the tests; the caches of PoCL and Mesa are kept, because they save minutes.
        for name in ["XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"] {
            command.env(name, self.folder.path());
        }
        if let Some(cache) = dirs::cache_dir() {
            command.env("POCL_CACHE_DIR", cache.join("pocl").join("kcache"));
            command.env("MESA_SHADER_CACHE_DIR", cache);
        }
        command.envs(self.environment.iter().copied());
        command
    }

    /// Starts `gravitile ARGS` with a report, and without bloom and stars unless ARGS set them. Spaces separate the
    /// arguments.
    fn start(&self, args: &str) -> Child {
        let launcher = ["mpirun", "-n", &self.ranks.to_string()].map(str::to_owned);
        let words = [if self.ranks > 1 { &launcher[..] } else { &[] }, &self.program].concat();
        let mut command = self.command(&words[0]);
        if let Some(compositor) = &self.compositor {
            compositor.enter(&mut command);
        }
        command.args(&words[1..]);
        // Without bloom and stars, a CPU draws a frame in two thirds of the time. Automatic bloom would also end in the
        // middle of a test on a busy machine.
        command.args(["--look", "bloom=off", "stars=0", "--report", "report.json"]);
        command.args(args.split_whitespace());
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Runs `gravitile ARGS` until the program exits by itself, and returns its report.
    pub(crate) fn run(&self, args: &str) -> Report {
        self.report(self.start(args))
    }

    /// Runs `gravitile ARGS`, which must fail with exit code 2. Returns the error message.
    pub(crate) fn fail(&self, args: &str) -> String {
        let Output { status, stderr, .. } = self.start(args).wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&stderr).into_owned();
        assert_eq!(status.code(), Some(2), "{stderr}");
        stderr
    }

    /// Starts `gravitile ARGS` and waits until its window shows bodies and has the keyboard focus.
    pub(crate) fn view(&self, args: &str) -> Viewer<'_> {
        if self.compositor.is_some() {
            // The compositor may still show the window of a program that has ended.
            until("no window is shown", || (!has_light(&self.pixels(PICTURE))).then_some(()));
        }
        let mut viewer = Viewer { display: self, process: Some(self.start(args)), window: String::new() };
        viewer.window = until("the window is open", || viewer.find());
        until("bodies are shown", || has_light(&viewer.pixels(PICTURE)).then_some(()));
        viewer.act("windowfocus --sync WINDOW");
        viewer
    }

    /// Waits for the end of the program. The program must succeed and print nothing but the names of the files that it
    /// wrote.
    fn report(&self, mut process: Child) -> Report {
        let status = until("gravitile ends", || process.try_wait().unwrap());
        let Output { stdout, stderr, .. } = process.wait_with_output().unwrap();
        let (stdout, stderr) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
        assert_eq!((status.code(), &*stdout), (Some(0), ""), "exit code and stdout; stderr: {stderr}");
        assert!(stderr.lines().all(|line| line.starts_with("wrote ")), "{stderr}");
        assert!(stderr.ends_with("wrote report.json\n"), "{stderr}");
        let text = std::fs::read_to_string(self.folder.path().join("report.json")).unwrap();
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error} in\n{text}"))
    }

    /// Returns the pixels in a part of the screen.
    fn pixels(&self, rect: Rect) -> RgbaImage {
        let [left, top, width, height] = rect.map(|x| x.round() as u16);
        let (left, top) = (left as i16, top as i16);
        let asked = self.connection.get_image(ImageFormat::Z_PIXMAP, self.root, left, top, width, height, !0);
        let mut bytes = asked.unwrap().reply().expect("the screen can be read").data;
        for pixel in bytes.chunks_exact_mut(4) {
            // Converts blue, green, red and an unused byte to RGBA.
            pixel.swap(0, 2);
            pixel[3] = 255;
        }
        RgbaImage::from_raw(width.into(), height.into(), bytes).expect("four bytes to a pixel")
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        // The server may have ended already.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// A rectangle: left, top, width and height in pixels.
pub(crate) type Rect = [f32; 4];

/// A part of the window that shows only bodies, unless another window covers it.
pub(crate) const PICTURE: Rect = [400.0, 350.0, 500.0, 380.0];

pub(crate) fn has_light(picture: &RgbaImage) -> bool {
    picture.pixels().filter(|pixel| pixel.0[0] > 60).count() > 200
}

/// Returns the pixel coordinates of a point in a rectangle, as text for xdotool. `x` and `y` go from 0 (left, top) to
/// 1.
pub(crate) fn spot([left, top, width, height]: Rect, x: f32, y: f32) -> String {
    format!("{} {}", (left + width * x).round(), (top + height * y).round())
}

/// A running program and its window.
pub(crate) struct Viewer<'d> {
    display: &'d Display,
    /// The process of the program; `None` after it has ended.
    process: Option<Child>,
    window: String,
}

impl Viewer<'_> {
    fn find(&mut self) -> Option<String> {
        if self.process.as_mut().unwrap().try_wait().unwrap().is_some() {
            let report = self.display.report(self.process.take().unwrap());
            panic!("gravitile ended before its window was found: {report:?}");
        }
        if self.display.compositor.is_some() {
            return self.display.windows().first().map(u32::to_string);
        }
        let search = ["search", "--onlyvisible", "--name", "^gravitile$"];
        let output = installed("xdotool", self.display.command("xdotool").args(search).output());
        let windows = String::from_utf8(output.stdout).unwrap();
        windows.lines().next().map(str::to_owned)
    }

    /// Returns the X id of the window.
    pub(crate) fn window(&self) -> u32 {
        self.window.parse().unwrap()
    }

    /// Sends a signal to the program. `name` is the signal's name without `SIG`.
    pub(crate) fn signal(&self, name: &str) {
        let id = self.process.as_ref().unwrap().id().to_string();
        assert!(Command::new("kill").args(["-s", name, &id]).status().unwrap().success(), "kill -s {name}");
    }

    /// Returns the id of the process, which is the launcher's if there are several ranks.
    #[cfg(feature = "mpi")]
    pub(crate) fn id(&self) -> u32 {
        self.process.as_ref().unwrap().id()
    }

    /// Waits until the program ends, and returns its exit code and what it wrote to stderr.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let mut process = self.process.take().unwrap();
        let status = until("the program ends", || process.try_wait().unwrap());
        let output = process.wait_with_output().unwrap();
        (status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    }

    /// Kills the program without warning, as the system does when it runs out of memory.
    pub(crate) fn kill(mut self) {
        let mut process = self.process.take().unwrap();
        process.kill().unwrap();
        process.wait().unwrap();
    }

    /// Runs xdotool with `script`, a list of commands. `WINDOW` stands for the window, and `frame` waits until the
    /// program has drawn the effects of the previous commands. Under Wayland, `frame` does not wait, because
    /// compositors do not pass on pings; the caller must wait for the effects.
    pub(crate) fn act(&self, script: &str) {
        let words: Vec<_> = script.split_whitespace().collect();
        for (nth, some) in words.split(|word| *word == "frame").enumerate() {
            if nth > 0 {
                self.frame();
            }
            if some.is_empty() {
                continue;
            }
            let mut command = self.display.command("xdotool");
            let some = some.iter().map(|word| if *word == "WINDOW" { &self.window } else { *word });
            let Output { status, stderr, .. } = installed("xdotool", command.args(some).output());
            let stderr = String::from_utf8_lossy(&stderr);
            assert!(status.success() && stderr.is_empty(), "xdotool: {stderr} in {script}");
        }
    }

    /// Waits until the program has drawn a frame that includes all previous events.
    ///
    /// The program answers pings in the order of its events, between two frames. The answer to the first ping shows
    /// that the program has received all events. When it answers a second, later ping, the next frame is due, and the
    /// answer to a third ping shows that this frame has been drawn.
    fn frame(&self) {
        if self.display.compositor.is_some() {
            return;
        }
        self.ping();
        sleep(Duration::from_millis(40));
        self.ping();
        self.ping();
    }

    fn ping(&self) {
        let Display { connection, root, .. } = self.display;
        let atom = |name: &str| connection.intern_atom(false, name.as_bytes()).unwrap().reply().unwrap().atom;
        let (protocols, ping) = (atom("WM_PROTOCOLS"), atom("_NET_WM_PING"));
        let message = ClientMessageEvent::new(32, self.window(), protocols, [ping, 0, self.window(), 0, 0]);
        connection.send_event(false, self.window(), EventMask::NO_EVENT, message).unwrap();
        connection.flush().unwrap();
        until("the window answers", || {
            std::iter::from_fn(|| connection.poll_for_event().unwrap()).find(|event| {
                matches!(event, XEvent::ClientMessage(event) if event.window == *root && event.data.as_data32()[0] == ping)
            })
        });
    }

    /// Presses a key and lets at least one frame pass.
    pub(crate) fn key(&self, key: &str) {
        self.act(&format!("key {key} frame"));
    }

    /// Clicks in the middle of the rectangle of a control, with each event in a separate frame.
    pub(crate) fn click(&self, rect: Rect) {
        let at = spot(rect, 0.5, 0.5);
        self.act(&format!("mousemove {at} frame mousedown 1 frame mouseup 1 frame"));
    }

    /// Drags the mouse from one position to another. The positions are texts as [`spot`] returns them.
    pub(crate) fn drag(&self, from: &str, to: &str) {
        self.act(&format!("mousemove {from} frame mousedown 1 frame mousemove {to} frame mouseup 1 frame"));
    }

    /// Opens a file dialog with the key `keys` while the picture does not change, and closes the dialog with the keys
    /// `answer`.
    pub(crate) fn dialog(&self, keys: &str, answer: &str) {
        self.changes("the dialog is open", PICTURE, || self.key(keys));
        self.changes("the dialog is closed", PICTURE, || self.key(answer));
    }

    /// Returns the pixels in a part of the window.
    pub(crate) fn pixels(&self, part: Rect) -> RgbaImage {
        self.display.pixels(part)
    }

    /// Waits until a part of the window stops changing, and returns its pixels. Waits longer if frames take long,
    /// because then the simulation is also slow.
    pub(crate) fn still(&self, part: Rect) -> RgbaImage {
        let (mut last, mut wait) = (self.pixels(part), Duration::from_millis(200));
        until("the picture stands still", || {
            sleep(wait);
            let start = Instant::now();
            self.frame();
            wait = Duration::from_millis(if start.elapsed().as_millis() < 150 { 200 } else { 1000 });
            let now = self.pixels(part);
            let same = (now == last).then(|| now.clone());
            last = now;
            same
        })
    }

    /// Calls `act`, which must change the pixels in a part of the window, and waits until they change. `what` describes
    /// the change for error messages.
    pub(crate) fn alters(&self, what: &str, part: Rect, act: impl FnOnce()) {
        let before = self.pixels(part);
        act();
        until(what, || (self.pixels(part) != before).then_some(()));
    }

    /// Waits until the simulation that was started last runs. At most two frames can belong to an earlier one.
    pub(crate) fn runs(&self) {
        for _ in 0..5 {
            self.alters("the simulation runs", PICTURE, || ());
        }
    }

    /// Calls `act`, waits until a part of the window changes and then stops changing, and returns its pixels.
    pub(crate) fn changes(&self, what: &str, part: Rect, act: impl FnOnce()) -> RgbaImage {
        self.alters(what, part, act);
        self.still(part)
    }

    /// Returns the memory use of the program in MiB.
    pub(crate) fn memory(&self) -> i64 {
        let path = format!("/proc/{}/status", self.process.as_ref().unwrap().id());
        let status = std::fs::read_to_string(path).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("the program ended");
        line.trim().trim_end_matches(" kB").parse::<i64>().unwrap() / 1024
    }

    /// Presses Ctrl+Q and waits for the end of the program.
    pub(crate) fn quit(self) -> Report {
        self.act("key ctrl+q");
        self.ends()
    }

    /// Waits for the end of the program.
    pub(crate) fn ends(mut self) -> Report {
        self.display.report(self.process.take().unwrap())
    }
}

impl Drop for Viewer<'_> {
    fn drop(&mut self) {
        // The process still runs only after a failed assertion. It must not outlive its display.
        if let Some(mut process) = self.process.take() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// The part of the report written by `--report` that tests use.
#[derive(Debug, Deserialize)]
pub(crate) struct Report {
    pub frames: u64,
    pub seconds: f64,
    pub first_frame_seconds: Option<f64>,
    pub frame_ms: Times,
    pub interval_ms: Times,
    pub size: [u32; 2],
    /// Number of physical pixels per logical pixel.
    pub scale: f32,
    pub config: Value,
    pub look: Value,
    pub stats: Value,
    pub timeline: Value,
    /// While two simulations are compared: the statistics of the other simulation, and the divergence of the two.
    pub compared: Value,
    pub divergence: Option<[f64; 2]>,
    pub events: Vec<Event>,
    pub controls: BTreeMap<String, Rect>,
}

#[derive(Debug, Deserialize)]
#[allow(dead_code, reason = "read only by its Debug output")]
pub(crate) struct Times {
    pub p50: f64,
    pub p95: f64,
    pub max: f64,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Event {
    pub step: u64,
    pub what: String,
}

impl Report {
    pub(crate) fn control(&self, key: &str) -> Rect {
        let known: Vec<_> = self.controls.keys().collect();
        *self.controls.get(key).unwrap_or_else(|| panic!("no control {key:?} among {known:?}"))
    }

    /// Returns the number of steps that the screen showed at the event `what`, which must occur exactly once.
    pub(crate) fn step_at(&self, what: &str) -> u64 {
        let found: Vec<_> = self.events.iter().filter(|event| event.what == what).collect();
        assert_eq!(found.len(), 1, "{what} once among {:#?}", self.events);
        found[0].step
    }
}

/// Calls `ask` again and again until it returns a value, and returns this value.
pub(crate) fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(start.elapsed() < PATIENCE, "waited in vain until: {what}");
        sleep(Duration::from_millis(5));
    }
}

fn installed<T>(program: &str, outcome: std::io::Result<T>) -> T {
    outcome.unwrap_or_else(|error| panic!("{program}: {error}; run `scripts/setup --tests` to install it"))
}
