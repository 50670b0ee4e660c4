//! Compiles the shaders.

use std::rc::Rc;

use glium::Program;
use glium::backend::Context;
use glium::program::ProgramCreationInput;

use super::graphics;
use crate::error::Result;

/// The text of a program's shaders; `name` stands in messages.
pub struct Source {
    pub name: &'static str,
    pub vertex: &'static str,
    pub geometry: Option<&'static str>,
    pub fragment: &'static str,
}

impl Source {
    /// Compiles them, each after `shaders/common.glsl`, which wants to know whether a processor draws.
    pub fn compile(&self, context: &Rc<Context>) -> Result<Program> {
        self.compile_with(context, "")
    }

    /// The same with something defined: a processor that draws goes through what an `if` leaves out.
    pub fn compile_with(&self, context: &Rc<Context>, defines: &str) -> Result<Program> {
        let common = include_str!("../../shaders/common.glsl");
        // `#line` lets the compiler's messages name the lines of the shader's own file.
        let software = if super::is_software(context) { "#define SOFTWARE\n" } else { "" };
        let whole = |own: &str| format!("#version 150\n{software}{defines}{common}\n#line 1\n{own}");
        let (vertex, fragment) = (whole(self.vertex), whole(self.fragment));
        let geometry = self.geometry.map(whole);
        let input = ProgramCreationInput::SourceCode {
            vertex_shader: &vertex,
            geometry_shader: geometry.as_deref(),
            fragment_shader: &fragment,
            tessellation_control_shader: None,
            tessellation_evaluation_shader: None,
            transform_feedback_varyings: None,
            // glium then leaves GL_FRAMEBUFFER_SRGB off, so that a window and a file get the same bytes.
            outputs_srgb: true,
            uses_point_size: vertex.contains("gl_PointSize"),
        };
        Program::new(context, input).map_err(graphics(&format!("compile shaders/{}", self.name)))
    }
}
