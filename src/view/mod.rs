//! Draws bodies with OpenGL 3.3, in a window or without a window. Independent of OpenCL and the simulation.
//!
//! A picture takes two passes. The first draws the bodies into a half-float texture of light. The second turns the
//! light into a picture, with bloom and automatic exposure. The light of glowing bodies adds up and is tone-mapped, so
//! that three bodies are bright and a million are not a white patch. Balls hide each other. The tracers of a flow glow
//! over its image.

mod bloom;
mod camera;
mod cells;
mod cloud;
mod exposure;
mod field;
mod fill;
mod framing;
mod grid;
#[cfg(windows)]
mod hidden_window;
mod layer;
mod light;
mod occlusion;
mod offscreen;
mod opengl;
mod paper;
mod pick;
mod points;
mod renderer;
mod spheres;
mod stars;
mod streaks;
#[cfg(not(windows))]
mod surfaceless;
mod target;
mod trails;

pub use self::camera::Camera;
pub use self::framing::{Viewport, middle};
pub use self::layer::Layer;
pub use self::offscreen::{Canvas, RawPicture};
pub use self::opengl::{BACKGROUND, check_version, is_software};
pub use self::pick::VisibilitySearch;
pub use self::renderer::View;
