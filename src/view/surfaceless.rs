//! An OpenGL context without a window, through EGL, or through CGL on macOS.

#[cfg(target_vendor = "apple")]
use glutin::api::cgl as api;
#[cfg(not(target_vendor = "apple"))]
use glutin::api::egl as api;
use glutin::config::{Api, ConfigSurfaceTypes, ConfigTemplateBuilder};
use glutin::context::{ContextApi, ContextAttributesBuilder, Version};
use glutin::prelude::*;

use self::api::context::PossiblyCurrentContext;
use self::api::display::Display;

/// Creates an OpenGL context, and makes the context current on this thread.
#[cfg(target_vendor = "apple")]
pub(super) fn open() -> glutin::error::Result<Headless> {
    let display = raw_window_handle::AppKitDisplayHandle::new().into();
    // SAFETY: the handle of an AppKit display contains no pointer.
    unsafe { Display::new(display) }.and_then(|display| open_display(&display)).map(Headless)
}

/// Creates an OpenGL context on the first device that works, GPUs first, and makes the context current on this thread.
#[cfg(not(target_vendor = "apple"))]
pub(super) fn open() -> Result<Headless, String> {
    use glutin::api::egl::device::Device;
    let devices =
        Device::query_devices().map_err(|reason| format!("EGL found no graphics device: {reason}"))?;
    let mut devices: Vec<Device> = devices.collect();
    devices.sort_by_key(|device| device.extensions().contains("EGL_MESA_device_software"));
    let mut reasons = Vec::new();
    for device in &devices {
        // SAFETY: no raw display is passed.
        let display = unsafe { Display::with_device(device, None) };
        match display.and_then(|display| open_display(&display)) {
            Ok(context) => return Ok(Headless(context)),
            Err(reason) => reasons.push(format!("{}: {reason}", device.name().unwrap_or("an EGL device"))),
        }
    }
    Err(if reasons.is_empty() { "EGL found no graphics device".to_owned() } else { reasons.join("; ") })
}

fn open_display(display: &Display) -> glutin::error::Result<PossiblyCurrentContext> {
    let template = ConfigTemplateBuilder::new()
        .with_surface_type(ConfigSurfaceTypes::empty())
        .with_api(Api::OPENGL)
        .build();
    // SAFETY: the configuration template refers to no native window.
    let config = unsafe { display.find_configs(template) }?
        .next()
        .ok_or(glutin::error::ErrorKind::NotSupported("no configuration"))?;
    // Asks for a core context, because compatibility contexts may disable point sprites.
    let attributes = ContextAttributesBuilder::new()
        .with_context_api(ContextApi::OpenGl(Some(Version::new(3, 3))))
        .build(None);
    // SAFETY: the attributes refer to no native window, and the configuration belongs to this display.
    unsafe { display.create_context(&config, &attributes) }?.make_current_surfaceless()
}

/// An OpenGL context without a window.
pub(super) struct Headless(PossiblyCurrentContext);

impl Headless {
    /// Returns the context.
    pub(super) fn context(&self) -> &PossiblyCurrentContext {
        &self.0
    }

    /// Makes the context current on this thread.
    pub(super) fn make_current(&self) -> glutin::error::Result<()> {
        self.0.make_current_surfaceless()
    }
}
