//! Chooses between the window systems X11 and Wayland.

use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::net::UnixStream;
use std::path::Path;

use winit::event_loop::EventLoopBuilder;
use winit::platform::wayland::WindowAttributesExtWayland;
use winit::platform::x11::EventLoopBuilderExtX11;
use winit::window::WindowAttributes;

/// Chooses X11 if the environment names both X11 and Wayland but no Wayland compositor answers. By default, `winit`
/// chooses Wayland whenever WAYLAND_DISPLAY is set, and does not fall back to X11.
pub(super) fn choose<T>(builder: &mut EventLoopBuilder<T>) {
    if takes_x11(|name| env::var_os(name).filter(|value| !value.is_empty())) {
        tracing::info!(
            "no Wayland compositor responds at the address in the environment variable WAYLAND_DISPLAY; using X11 instead"
        );
        builder.with_x11();
    }
}

/// Names the window after the desktop entry `gravitile.desktop`, so that desktops show the icon of the entry.
pub(super) fn name(attributes: WindowAttributes) -> WindowAttributes {
    let name = env!("CARGO_PKG_NAME");
    // In `winit`, one name serves for both X11 and Wayland.
    WindowAttributesExtWayland::with_name(attributes, name, name)
}

fn takes_x11(variable: impl Fn(&str) -> Option<OsString>) -> bool {
    // WAYLAND_SOCKET names a connection that a compositor has already opened.
    let wayland = variable("WAYLAND_DISPLAY").filter(|_| variable("WAYLAND_SOCKET").is_none());
    let answers = |name: OsString| answers(&name, variable("XDG_RUNTIME_DIR").as_deref());
    variable("DISPLAY").is_some() && wayland.is_some_and(|name| !answers(name))
}

/// Returns whether a Wayland compositor listens at the socket `name`, which is a path or a name in `runtime_dir`.
fn answers(name: &OsStr, runtime_dir: Option<&OsStr>) -> bool {
    UnixStream::connect(runtime_dir.map_or_else(|| name.into(), |folder| Path::new(folder).join(name)))
        .is_ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn x11_is_used_only_if_no_wayland_compositor_is_reachable() {
        let folder = tempfile::tempdir().unwrap();
        let listening = UnixListener::bind(folder.path().join("wayland-7")).unwrap();
        // A compositor that has exited leaves its socket behind.
        drop(UnixListener::bind(folder.path().join("wayland-8")).unwrap());
        let path = folder.path().join("wayland-7");
        let takes = |set: &[(&str, &OsStr)]| {
            takes_x11(|name| {
                let value = set.iter().find(|(other, _)| *other == name).map(|(_, value)| value.into());
                value.or((name == "XDG_RUNTIME_DIR").then(|| folder.path().into()))
            })
        };
        let (x, socket) = (("DISPLAY", OsStr::new(":0")), ("WAYLAND_SOCKET", OsStr::new("3")));
        let wayland = |name| ("WAYLAND_DISPLAY", OsStr::new(name));
        assert!(takes(&[x, wayland("nonsense")]) && takes(&[x, wayland("wayland-8")]));
        assert!(!takes(&[x, wayland("wayland-7")]) && !takes(&[x, ("WAYLAND_DISPLAY", path.as_os_str())]));
        assert!(!takes(&[x]) && !takes(&[wayland("nonsense")]) && !takes(&[x, socket, wayland("nonsense")]));
        drop(listening);
    }
}
