//! Compiles shaders.

use std::rc::Rc;

use glium::Program;
use glium::backend::Context;
use glium::program::ProgramCreationInput;

use super::opengl::{graphics, is_software};
use crate::base::error::Result;

/// Source text of a program's shaders; `name` appears in error messages.
pub(super) struct Source {
    pub name: &'static str,
    pub vertex: &'static str,
    pub geometry: Option<&'static str>,
    pub fragment: &'static str,
}

impl Source {
    /// Compiles the shaders, each after `shaders/common.glsl`, which needs to know whether a software renderer draws.
    pub(super) fn compile(&self, context: &Rc<Context>) -> Result<Program> {
        self.compile_with(context, "")
    }

    /// Compiles the shaders with the preprocessor lines `defines`. A software renderer is faster without code than
    /// with an `if` around it.
    pub(super) fn compile_with(&self, context: &Rc<Context>, defines: &str) -> Result<Program> {
        let common = include_str!("../../shaders/common.glsl");
        // `#line` makes line numbers in the compiler's messages match the shader's file.
        let software = if is_software(context) { "#define SOFTWARE\n" } else { "" };
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
