//! A Wayland compositor, either in a window that fills a virtual display, or without a display.
//!
//! If the compositor has a window, the mouse, the keyboard and the screenshots of the virtual display also work for the
//! compositor's programs.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use super::window::until;

/// Name of the compositor's socket.
const SOCKET: &str = "wayland-test";
/// Settings of Weston: no panel, no animations, and a green background. The program's window covers the background if
/// it fills the display; otherwise the background is visible around it.
const WESTON: &str = "[core]
idle-time=0
[shell]
panel-position=none
locking=false
animation=none
startup-animation=none
close-animation=none
focus-animation=none
background-color=0xff004000
";
/// Settings of KWin: new windows are placed at the upper left corner.
const KWIN: &str = "[Windows]\nPlacement=ZeroCornered\n";
/// Script that replaces `dbus-send` and fails, so that the title bar gets no answer when it asks for the desktop's
/// settings.
const NO_ANSWER: &str = "#!/bin/sh\nexit 1\n";
/// KWin's program. Some systems refuse to start it because its file has a Linux capability, so the tests start a copy
/// without it.
const KWIN_PROGRAM: &str = "/usr/bin/kwin_wayland";

/// A running compositor, which ends when this value is dropped.
pub(crate) struct Compositor {
    process: Child,
    /// Folder with the socket, the settings and the compositor's files.
    folder: TempDir,
}

impl Compositor {
    /// Starts Weston without a display, or in a window on the X display of this name and size in pixels. Returns `None`
    /// if Weston is not installed.
    pub(crate) fn weston(display: Option<&str>, [width, height]: [u16; 2], scale: u16) -> Option<Self> {
        if Command::new("weston").arg("--version").output().is_err() {
            eprintln!("SKIPPED: Weston is not installed (scripts/setup --tests)");
            return None;
        }
        let folder = folder();
        fs::write(folder.path().join("weston.ini"), WESTON).unwrap();
        let mut command = Command::new("weston");
        command.args([format!("--width={}", width / scale), format!("--height={}", height / scale)]);
        command.args([format!("--scale={scale}"), format!("--socket={SOCKET}")]);
        command.arg(match display {
            Some(_) => "--backend=x11-backend.so",
            None => "--backend=headless-backend.so",
        });
        command.arg("--config").arg(folder.path().join("weston.ini"));
        Some(Self::start(command, folder, display))
    }

    /// Starts KWin in a window on the X display of this name and size in pixels. KWin has scales that are not whole
    /// numbers.
    pub(crate) fn kwin(display: &str, [width, height]: [u16; 2], scale: f32) -> Self {
        let folder = folder();
        let program = folder.path().join("kwin_wayland");
        fs::copy(KWIN_PROGRAM, &program)
            .unwrap_or_else(|error| panic!("{KWIN_PROGRAM}: {error} (scripts/setup --kwin)"));
        fs::write(folder.path().join("kwinrc"), KWIN).unwrap();
        let mut command = Command::new(program);
        command.args(["--x11-display", display, "--socket", SOCKET]);
        for (option, size) in [("--width", width), ("--height", height)] {
            // KWin multiplies the size by the scale and rounds.
            command.args([option, &(f32::from(size) / scale).ceil().to_string()]);
        }
        command.args(["--scale", &scale.to_string(), "--no-lockscreen", "--no-global-shortcuts"]);
        // KWin draws without OpenGL, and does not start helpers through D-Bus.
        command.env("KWIN_COMPOSE", "Q").env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent");
        Self::start(command, folder, Some(display))
    }

    fn start(mut command: Command, folder: TempDir, display: Option<&str>) -> Self {
        command.env_remove("WAYLAND_DISPLAY").env("XDG_RUNTIME_DIR", folder.path()).env_remove("DISPLAY");
        for name in ["XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"] {
            command.env(name, folder.path());
        }
        command.envs(display.map(|display| ("DISPLAY", display)));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut compositor = Self { process: command.spawn().unwrap(), folder };
        until("the compositor listens", || {
            let ended = compositor.process.try_wait().unwrap();
            assert!(ended.is_none(), "the compositor ended: {ended:?}");
            compositor.folder.path().join(SOCKET).exists().then_some(())
        });
        compositor
    }

    /// Kills the compositor without warning its programs.
    pub(crate) fn crash(&self) {
        let id = self.process.id().to_string();
        assert!(Command::new("kill").args(["-s", "KILL", &id]).status().unwrap().success());
    }

    /// Makes `command` use the compositor and no X display.
    pub(crate) fn enter(&self, command: &mut Command) {
        let folder = self.folder.path();
        command.env_remove("DISPLAY").env("WAYLAND_DISPLAY", SOCKET).env("XDG_RUNTIME_DIR", folder);
        let path = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{path}", folder.join("bin").display()));
    }
}

impl Drop for Compositor {
    fn drop(&mut self) {
        // The compositor may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Creates the folder of a compositor, which no other user may read.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    let send = folder.path().join("bin").join("dbus-send");
    fs::create_dir(send.parent().unwrap()).unwrap();
    fs::write(&send, NO_ANSWER).unwrap();
    fs::set_permissions(&send, fs::Permissions::from_mode(0o755)).unwrap();
    folder
}
