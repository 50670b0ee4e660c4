//! Helpers for all OpenGL code: shaders, blending, error texts, and the scale of sprites and lines.

use std::fmt::Display;
use std::rc::Rc;

use glium::backend::Context;
use glium::index::{NoIndices, PrimitiveType};
use glium::program::ProgramCreationInput;
use glium::uniforms::Uniforms;
use glium::vertex::MultiVerticesSource;
use glium::{
    Api, Blend, BlendingFunction, DrawParameters, LinearBlendingFactor as Factor, Program, Surface, Version,
};

use crate::base::{Error, Result};

/// Background colour in sRGB, from 0 to 1: nearly black, slightly blue.
pub const BACKGROUND: [f32; 3] = [0.020, 0.024, 0.040];

/// Picture height, in pixels, at which sprites and trails have their nominal sizes.
const REFERENCE_HEIGHT: f32 = 800.0;

/// Returns the factor that converts lengths in pixels from a picture of the reference height to a picture of `height`
/// pixels.
pub(super) fn scale(height: u32) -> f32 {
    height as f32 / REFERENCE_HEIGHT
}

/// Checks that OpenGL has at least version 3.3. A driver may give an older version than the program asks for.
///
/// # Errors
/// Returns [`Error::Graphics`] with the name and the version of the driver if OpenGL is older.
pub fn check_version(context: &Context) -> Result<()> {
    match *context.get_opengl_version() {
        Version(Api::Gl, major, minor) if (major, minor) >= (3, 3) => Ok(()),
        Version(api, ..) => {
            let name = if api == Api::Gl { "OpenGL " } else { "" };
            Err(Error::Graphics(format!(
                "the graphics device {} supports only {name}{}",
                context.get_opengl_renderer_string(),
                // The version of OpenGL ES begins with the name.
                context.get_opengl_version_string()
            )))
        }
    }
}

/// Returns whether OpenGL draws in software, judged by the renderer's name.
pub fn is_software(context: &Context) -> bool {
    let renderer = context.get_opengl_renderer_string();
    ["llvmpipe", "softpipe", "SwiftShader"].iter().any(|name| renderer.contains(name))
}

/// Returns a function that converts a glium or glutin error to [`Error::Graphics`]. `what` names the operation, such as
/// "draw the bodies".
pub(super) fn graphics<E: Display>(what: &str) -> impl FnOnce(E) -> Error {
    move |reason| Error::Graphics(format!("OpenGL: cannot {what}: {reason}"))
}

/// Returns the blending function that adds the new colour times `source` to the existing colour times `destination`.
pub(super) const fn blending(source: Factor, destination: Factor) -> BlendingFunction {
    BlendingFunction::Addition { source, destination }
}

/// Returns a blend mode that adds the new value times `source` to the existing value times `destination`, for both
/// colour and alpha.
const fn blend(source: Factor, destination: Factor) -> Blend {
    let both = blending(source, destination);
    Blend { color: both, alpha: both, constant_value: (0.0, 0.0, 0.0, 0.0) }
}

/// Blending that adds the new light to the existing light.
pub(super) const ADD: Blend = blend(Factor::One, Factor::One);
/// Blending that lays colours with premultiplied alpha over the existing colours.
pub(super) const PREMULTIPLIED: Blend = blend(Factor::One, Factor::OneMinusSourceAlpha);
/// Blending that lays colours over the existing colours in proportion to alpha, and leaves the surface opaque.
pub(super) const OVER: Blend = Blend {
    color: blending(Factor::SourceAlpha, Factor::OneMinusSourceAlpha),
    ..blend(Factor::Zero, Factor::One)
};
/// Screen blending: the result is old + new · (1 − old), which never exceeds white. Leaves the surface opaque.
pub(super) const SCREEN: Blend = Blend {
    color: blending(Factor::OneMinusDestinationColor, Factor::One),
    ..blend(Factor::Zero, Factor::One)
};
/// Blending that multiplies the existing colours by the new ones, and keeps the existing alpha.
pub(super) const MULTIPLY: Blend =
    Blend { color: blending(Factor::Zero, Factor::SourceColor), ..blend(Factor::Zero, Factor::One) };
/// Returns a blend mode that multiplies the existing colours by `kept` and adds the new colours.
pub(super) const fn fade(kept: f32) -> Blend {
    Blend { constant_value: (0.0, 0.0, 0.0, kept), ..blend(Factor::One, Factor::ConstantAlpha) }
}

/// Draws one sprite per vertex. `what` names the sprites in error messages, such as "the stars".
pub(super) fn draw_sprites<'a>(
    surface: &mut impl Surface,
    what: &str,
    vertices: impl MultiVerticesSource<'a>,
    program: &Program,
    uniforms: &impl Uniforms,
    parameters: &DrawParameters,
) -> Result<()> {
    surface
        .draw(vertices, NoIndices(PrimitiveType::Points), program, uniforms, parameters)
        .map_err(graphics(&format!("draw {what}")))
}

/// Source text of a program's shaders; `name` appears in error messages.
pub(super) struct Source {
    pub name: &'static str,
    pub vertex: &'static str,
    pub geometry: Option<&'static str>,
    pub fragment: &'static str,
}

/// Embeds `shaders/NAME.frag` with `shaders/NAME.vert`, or with another vertex shader, as a [`Source`].
macro_rules! source {
    ($name:literal) => {
        source!($name, $name)
    };
    ($name:literal, $vertex:literal) => {
        $crate::view::opengl::Source {
            name: $name,
            vertex: include_str!(concat!("../../shaders/", $vertex, ".vert")),
            geometry: None,
            fragment: include_str!(concat!("../../shaders/", $name, ".frag")),
        }
    };
}
pub(super) use source;

impl Source {
    /// Compiles and links the shaders, each preceded by the text of `shaders/common.glsl`.
    pub(super) fn compile(&self, context: &Rc<Context>) -> Result<Program> {
        self.compile_with(context, "")
    }

    /// Compiles the shaders, preceded by the preprocessor lines `defines`. In a software renderer, `#if` is faster than
    /// `if`.
    pub(super) fn compile_with(&self, context: &Rc<Context>, defines: &str) -> Result<Program> {
        let common = include_str!("../../shaders/common.glsl");
        // `#line` makes line numbers in the compiler's messages match the shader's file.
        let software = if is_software(context) { "#define SOFTWARE\n" } else { "" };
        let whole = |own: &str| format!("#version 330\n{software}{defines}{common}\n#line 1\n{own}");
        let (vertex, fragment) = (whole(self.vertex), whole(self.fragment));
        let geometry = self.geometry.map(whole);
        let input = ProgramCreationInput::SourceCode {
            vertex_shader: &vertex,
            geometry_shader: geometry.as_deref(),
            fragment_shader: &fragment,
            tessellation_control_shader: None,
            tessellation_evaluation_shader: None,
            transform_feedback_varyings: None,
            // With this flag, glium leaves GL_FRAMEBUFFER_SRGB off, so that a window and a file get the same bytes.
            outputs_srgb: true,
            uses_point_size: vertex.contains("gl_PointSize"),
        };
        Program::new(context, input).map_err(graphics(&format!("compile shaders/{}", self.name)))
    }
}
