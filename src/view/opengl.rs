//! Helpers for all OpenGL code: error texts, and the detection of software renderers.

use std::fmt::Display;

use glium::backend::Context;

use crate::base::error::Error;

/// Returns whether the renderer's name is that of a software renderer.
pub fn is_software(context: &Context) -> bool {
    let renderer = context.get_opengl_renderer_string();
    ["llvmpipe", "softpipe", "SwiftShader"].iter().any(|name| renderer.contains(name))
}

/// Converts errors of glium and glutin; `what` names the failed operation, such as "draw the bodies".
pub(super) fn graphics<E: Display>(what: &str) -> impl FnOnce(E) -> Error {
    move |reason| Error::Graphics(format!("OpenGL: cannot {what}: {reason}"))
}
