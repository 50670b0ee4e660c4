//! Tests the window beside other windows: files dropped on the window, and other windows that take the keyboard focus.

use std::collections::VecDeque;
use std::error::Error;
use std::fs;
use std::path::Path;

use crate::support::window::{Display, PICTURE, Report, Viewer, until};
use gravitile::engine::snapshot::{Carried, Snapshot};
use gravitile::view::Camera;
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    Atom, ClientMessageEvent, ConnectionExt, CreateWindowAux, EventMask, InputFocus, PropMode,
    SELECTION_NOTIFY_EVENT, SelectionNotifyEvent, Window, WindowClass,
};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// A second program on the same display, with a small window.
struct Other {
    connection: RustConnection,
    window: Window,
    heard: VecDeque<Event>,
}

impl Other {
    fn open(display: &str) -> Outcome<Self> {
        let (connection, screen) = x11rb::connect(Some(display))?;
        let (window, root) = (connection.generate_id()?, connection.setup().roots[screen].root);
        let aux = CreateWindowAux::new();
        connection.create_window(
            0,
            window,
            root,
            1270,
            790,
            10,
            10,
            0,
            WindowClass::INPUT_OUTPUT,
            0,
            &aux,
        )?;
        connection.map_window(window)?;
        connection.sync()?;
        Ok(Self { connection, window, heard: VecDeque::new() })
    }

    fn atom(&self, name: &str) -> Outcome<Atom> {
        Ok(self.connection.intern_atom(false, name.as_bytes())?.reply()?.atom)
    }

    fn take_keyboard(&self) -> Outcome<()> {
        self.connection.set_input_focus(InputFocus::NONE, self.window, x11rb::CURRENT_TIME)?;
        Ok(self.connection.sync()?)
    }

    fn tell(&self, to: Window, message: &str, rest: [u32; 4]) -> Outcome<()> {
        let [a, b, c, d] = rest;
        let event = ClientMessageEvent::new(32, to, self.atom(message)?, [self.window, a, b, c, d]);
        self.connection.send_event(false, to, EventMask::NO_EVENT, event)?;
        Ok(self.connection.flush()?)
    }

    /// Waits for an event that `wanted` accepts. Other events stay in a queue for later calls.
    fn hear<T>(&mut self, what: &str, wanted: impl Fn(&Event) -> Option<T>) -> T {
        until(what, || {
            while let Some(event) = self.connection.poll_for_event().unwrap() {
                self.heard.push_back(event);
            }
            let (at, found) =
                self.heard.iter().enumerate().find_map(|(at, event)| Some((at, wanted(event)?)))?;
            self.heard.remove(at);
            Some(found)
        })
    }

    /// Waits for the window's answer to a drag-and-drop message, and returns whether the window accepts the file.
    fn answer(&mut self, message: &str) -> Outcome<bool> {
        let kind = self.atom(message)?;
        Ok(self.hear(message, |event| match event {
            Event::ClientMessage(event) if event.type_ == kind => Some(event.data.as_data32()[1] & 1 == 1),
            _ => None,
        }))
    }

    /// Drags a file over a window by the protocol XDND (version 5). Returns whether the window accepts the file.
    fn hold(&mut self, to: Window, path: &Path) -> Outcome<bool> {
        let (selection, list) = (self.atom("XdndSelection")?, self.atom("text/uri-list")?);
        self.connection.set_selection_owner(self.window, selection, x11rb::CURRENT_TIME)?;
        self.tell(to, "XdndEnter", [5 << 24, list, 0, 0])?;
        self.tell(
            to,
            "XdndPosition",
            [0, 600 << 16 | 400, x11rb::CURRENT_TIME, self.atom("XdndActionCopy")?],
        )?;
        let asked = self.hear("the window asks for what it is", |event| match event {
            Event::SelectionRequest(event) if event.target == list => Some(*event),
            _ => None,
        });
        // Spaces are written as %20 in a URI.
        let address = format!("file://{}\r\n", path.display()).replace(' ', "%20");
        let (requestor, property) = (asked.requestor, asked.property);
        self.connection.change_property8(PropMode::REPLACE, requestor, property, list, address.as_bytes())?;
        let given = SelectionNotifyEvent {
            response_type: SELECTION_NOTIFY_EVENT,
            sequence: 0,
            time: asked.time,
            requestor,
            selection,
            target: list,
            property,
        };
        self.connection.send_event(false, requestor, EventMask::NO_EVENT, given)?;
        self.connection.sync()?;
        self.answer("XdndStatus")
    }

    /// Drops the file that is held over a window. Returns whether the window takes the file.
    fn let_go(&mut self, to: Window) -> Outcome<bool> {
        self.tell(to, "XdndDrop", [0, x11rb::CURRENT_TIME, 0, 0])?;
        self.answer("XdndFinished")
    }

    fn drop(&mut self, to: Window, path: &Path) -> Outcome<bool> {
        Ok(self.hold(to, path)? && self.let_go(to)?)
    }
}

fn events(report: &Report, begin: &str) -> usize {
    report.events.iter().filter(|event| event.what.starts_with(begin)).count()
}

#[test]
fn a_file_dropped_on_the_window_is_opened() -> Outcome<()> {
    let display = Display::open();
    let at = |name: &str| display.folder().join(name);
    let scene = include_str!("../../assets/scenes/figure-eight.toml").replace("dt = 0.01", "dt = 0.004");
    fs::write(at("my own.toml"), &scene)?;
    fs::write(at("broken.toml"), &scene[..scene.len() / 2])?;
    fs::write(at("letter.odt"), "Dear all")?;

    let viewer = display.view("--scene plummer --bodies 300 --clean");
    let mut other = Other::open(display.name())?;
    let window = viewer.window();
    let hint = [520.0, 360.0, 240.0, 80.0];
    viewer.key("space");
    viewer.still(hint);
    viewer.alters("it says what would happen", hint, || {
        assert!(other.hold(window, &at("my own.toml")).unwrap());
    });
    viewer
        .alters("three bodies are shown in place of 300", PICTURE, || assert!(other.let_go(window).unwrap()));
    viewer.still(PICTURE);
    viewer.changes("one step", PICTURE, || viewer.key("s"));
    viewer.changes("and another", PICTURE, || viewer.key("s"));
    viewer.key("F12");
    let picture = until("the picture is written", || {
        let files = fs::read_dir(display.folder()).ok()?.map(|entry| entry.unwrap().path());
        files.into_iter().find(|path| path.extension().is_some_and(|extension| extension == "png"))
    });
    let Carried::Snapshot(carried) = Carried::load(&picture)? else { panic!("no snapshot") };
    assert_eq!(carried.runs[0].step, 2);

    // Changes the scene, then returns to the saved one by dropping the picture.
    viewer.alters("another scene", PICTURE, || viewer.key("m"));
    viewer.alters("the picture's", PICTURE, || assert!(other.drop(window, &picture).unwrap()));
    let mut dropped = 2;
    for wrong in ["broken.toml", "letter.odt"] {
        // If the overlay updates the accuracy during this comparison, the comparison fails and is repeated.
        until("a wrong file changes nothing", || {
            dropped += 1;
            // The error message of the previous attempt may have appeared after Escape was pressed.
            viewer.key("Escape");
            let before = viewer.still(PICTURE);
            assert!(other.drop(window, &at(wrong)).unwrap());
            // Before the error appears, the window shows and hides a hint that says what a drop would do. Only the error
            // stays on the screen.
            let is_shown = || (0..3).all(|_| viewer.still(PICTURE) != before);
            until("what is wrong is told", || is_shown().then_some(()));
            // On a busy machine, Escape may arrive in the same frame as the error, so that the error never appears.
            viewer.key("Escape");
            (viewer.still(PICTURE) == before).then_some(())
        });
    }
    let report = viewer.quit();
    assert_eq!(
        (events(&report, "openfile("), events(&report, "resumed=")),
        (dropped, 1),
        "{:?}",
        report.events
    );
    assert_eq!((&report.stats["mode"], &report.stats["step"]), (&"gravity".into(), &2.into()));
    assert!((report.config["params"]["dt"].as_f64().unwrap() - 0.004).abs() < 1e-8, "{:?}", report.config);
    Ok(())
}

/// Returns the camera, by saving a snapshot to `path` and reading it.
fn camera(viewer: &Viewer, path: &Path) -> Camera {
    // Removes a snapshot of an earlier call.
    let _ = fs::remove_file(path);
    viewer.dialog("ctrl+s", "Return");
    let snapshot = until("it is saved", || Snapshot::load(path).ok());
    Camera::from_words(&snapshot.view).unwrap()
}

#[test]
fn losing_the_keyboard_focus_ends_a_drag() -> Outcome<()> {
    let display = Display::open();
    let saved = display.folder().join("plummer.gravitile");
    let viewer = display.view("--scene plummer --bodies 300 --clean --paused");
    let other = Other::open(display.name())?;
    let first = camera(&viewer, &saved);

    // A drag that rotates the view ends when another window takes the focus, although the button is released only
    // later, over the other window.
    viewer.act("mousemove 600 500 frame mousedown 1 frame mousemove 640 500 frame");
    other.take_keyboard()?;
    viewer.act("frame mousemove 900 500 frame mouseup 1 frame mousemove 600 500 frame");
    viewer.act("windowfocus --sync WINDOW frame");
    let turned = camera(&viewer, &saved);
    assert!(turned.yaw != first.yaw, "a drag turns");
    viewer.act("mousemove 600 500 frame mousemove 800 560 frame");
    assert_eq!(camera(&viewer, &saved), turned, "without a button nothing moves");

    // The launch is cancelled. Shift, which is released over the other window, no longer counts as held.
    viewer.key("l");
    viewer.act("keydown shift mousemove 600 500 frame mousedown 1 frame mousemove 640 500 frame");
    other.take_keyboard()?;
    viewer.act("frame keyup shift mouseup 1 frame windowfocus --sync WINDOW frame");
    viewer.key("l");
    viewer.drag("600 500", "700 500");
    let last = camera(&viewer, &saved);
    assert!(last.yaw != turned.yaw && last.target == turned.target, "it turns and does not move: {last:?}");
    let report = viewer.quit();
    assert_eq!(report.stats["bodies"], 300, "nothing was launched");
    Ok(())
}

#[test]
fn a_missing_wayland_display_falls_back_to_x11() {
    let report = Display::open().set("WAYLAND_DISPLAY", "nonsense").run("--bodies 300 --frames 5 --clean");
    assert_eq!(report.frames, 5);
}

#[test]
fn dragging_the_edge_of_the_panel_does_not_rotate_the_view() {
    let display = Display::open();
    let saved = display.folder().join("plummer.gravitile");
    let viewer = display.view("--scene plummer --bodies 300 --clean --paused");
    let first = camera(&viewer, &saved);
    // Finds the first column of the picture, which is darker than the panel.
    let row = viewer.pixels([328.0, 790.0, 200.0, 1.0]);
    let is_dark = |x: &u32| row.get_pixel(*x, 0).0[..3].iter().all(|light| *light < 12);
    let beside = 331 + (0..200).find(is_dark).expect("the panel has an edge");
    viewer.act(&format!("mousemove {beside} 500 frame mousedown 1 frame mouseup 1 frame"));
    viewer.changes("the panel is made wider", [beside as f32, 780.0, 30.0, 20.0], || {
        viewer.drag(&format!("{beside} 500"), &format!("{} 560", beside + 60));
    });
    let yaw = first.yaw.rem_euclid(std::f32::consts::TAU);
    let last = camera(&viewer, &saved);
    // The camera moves back a little, because the picture is narrower than before.
    assert!((1.0..1.2).contains(&(last.distance / first.distance)), "{} {}", last.distance, first.distance);
    assert_eq!(last, Camera { yaw, distance: last.distance, home: last.home, ..first });
    let report = viewer.quit();
    assert_eq!(events(&report, "select="), 0, "{:?}", report.events);
}

/// The window also opens on a display whose GLX is too old, because EGL then draws in software.
#[test]
fn egl_is_used_where_glx_is_not_available() {
    let report = Display::open().set("LIBGL_ALWAYS_INDIRECT", "1").run("--bodies 300 --frames 5 --clean");
    assert_eq!(report.frames, 5);
    assert_eq!(Display::without_glx().run("--bodies 300 --frames 5 --clean").frames, 5);
}

#[test]
fn missing_opengl_is_reported_with_advice() {
    let says = |display: &Display, reason: &str| {
        let message = display.fail("--bodies 64 --frames 2 --clean");
        assert_eq!(message.lines().count(), 1, "{message}");
        for part in [reason, "install Mesa", "`gravitile render`", "`gravitile run`"] {
            assert!(message.contains(part), "{part}: {message}");
        }
    };
    says(&Display::open().set("MESA_GL_VERSION_OVERRIDE", "2.1"), "does not support OpenGL 3.3");
    let no_egl = ("__EGL_VENDOR_LIBRARY_DIRS", "/nonexistent");
    says(&Display::without_glx().set(no_egl.0, no_egl.1), "does not support OpenGL");
    // Empty files in place of the libraries simulate that OpenGL is not installed.
    let display = Display::open();
    for name in ["libGL.so.1", "libGL.so", "libEGL.so.1", "libEGL.so"] {
        fs::write(display.folder().join(name), "").unwrap();
    }
    let libraries = String::leak(display.folder().display().to_string());
    says(&display.set("LD_LIBRARY_PATH", libraries), "does not support OpenGL");
}
