//! OpenGL without a window or a display, for picture files, tests, and machines without a screen.

use std::ffi::{CString, c_void};
use std::rc::Rc;

use glium::backend::{Backend, Context};
use glium::debug::DebugCallbackBehavior;
use glium::framebuffer::SimpleFrameBuffer;
use glium::texture::{MipmapsOption, RawImage2d, Texture2d, UncompressedFloatFormat};
use glium::{CapabilitiesSource, SwapBuffersError};
use glutin::display::GetGlDisplay;
use glutin::prelude::*;
use image::{DynamicImage, RgbImage, RgbaImage, imageops};

use super::fill;
#[cfg(windows)]
use super::hidden_window as headless;
use super::opengl::{check_version, graphics};
#[cfg(not(windows))]
use super::surfaceless as headless;
use crate::base::{Error, Result, advice};

/// An offscreen picture: a texture to draw into instead of a window, in any OpenGL context.
pub struct Canvas {
    context: Rc<Context>,
    texture: Texture2d,
}

impl Canvas {
    /// Opens an OpenGL context without a window, on the first device that works (GPUs first), and creates a canvas in
    /// it.
    ///
    /// # Errors
    /// Returns [`Error::Graphics`] if there is no OpenGL 3.3, or if the device cannot draw this size.
    pub fn offscreen(size: (u32, u32)) -> Result<Self> {
        let backend = Offscreen { headless: headless::open().map_err(unsupported)?, size };
        // SAFETY: the OpenGL context is new and no other code has used it.
        let context = unsafe { Context::new(backend, true, DebugCallbackBehavior::Ignore) }
            .map_err(graphics("start on this device"))?;
        check_version(&context).map_err(unsupported)?;
        Self::new(&context, size)
    }

    /// Returns the OpenGL context, for creating programs, buffers and a [`super::View`].
    pub fn context(&self) -> &Rc<Context> {
        &self.context
    }

    /// Returns the width and height in pixels.
    pub fn size(&self) -> (u32, u32) {
        self.texture.dimensions()
    }

    /// Returns the name of the graphics device as OpenGL reports it.
    pub fn device(&self) -> &str {
        self.context.get_opengl_renderer_string()
    }

    /// Creates a canvas of `(width, height)` pixels; fails if the device cannot draw this size.
    pub(crate) fn new(context: &Rc<Context>, (width, height): (u32, u32)) -> Result<Self> {
        let most = context.get_capabilities().max_texture_size as u32;
        if !(1..=most).contains(&width) || !(1..=most).contains(&height) {
            return Err(Error::Graphics(format!(
                "a picture of {width} × {height} pixels is not possible: this device supports 1 × 1 to {most} × {most} pixels"
            )));
        }
        let format = UncompressedFloatFormat::U8U8U8U8;
        let texture = Texture2d::empty_with_format(context, format, MipmapsOption::NoMipmap, width, height)
            .map_err(graphics("create the texture to draw into"))?;
        Ok(Self { context: context.clone(), texture })
    }

    /// Calls `draw` with the canvas as a surface, and returns the new picture. When `draw` is called, the surface still
    /// holds the previous picture.
    ///
    /// # Errors
    /// Returns the error of `draw`, or [`Error::Graphics`] if OpenGL fails.
    pub fn render(&self, draw: impl FnOnce(&mut SimpleFrameBuffer<'_>) -> Result<()>) -> Result<RgbImage> {
        self.render_raw(draw).map(RawPicture::into_picture)
    }

    /// Calls `draw` like [`Canvas::render`], but returns the pixels unconverted; see [`RawPicture::into_picture`].
    pub(crate) fn render_raw(
        &self,
        draw: impl FnOnce(&mut SimpleFrameBuffer<'_>) -> Result<()>,
    ) -> Result<RawPicture> {
        let mut surface = fill::surface(&self.context, &self.texture)?;
        draw(&mut surface)?;
        let read: RawImage2d<'_, u8> = self.texture.read();
        let pixels = RgbaImage::from_raw(read.width, read.height, read.data.into_owned());
        let few = || Error::Graphics("OpenGL returned fewer pixels than the picture has".into());
        pixels.ok_or_else(few).map(RawPicture)
    }
}

fn unsupported(reason: impl std::fmt::Display) -> Error {
    Error::Graphics(format!(
        "cannot draw without a window, because this system does not support OpenGL 3.3 ({reason}); {}, or use \
         `gravitile run`, which needs no OpenGL",
        advice::OPENGL
    ))
}

/// A picture as OpenGL returns it: RGBA pixels, bottom row first.
pub struct RawPicture(RgbaImage);

impl RawPicture {
    /// Converts the picture to RGB pixels, top row first.
    pub fn into_picture(self) -> RgbImage {
        let mut picture = self.0;
        // OpenGL's first row is the bottom row.
        imageops::flip_vertical_in_place(&mut picture);
        DynamicImage::ImageRgba8(picture).into_rgb8()
    }
}

/// The glium backend for an OpenGL context without a visible window.
struct Offscreen {
    headless: headless::Headless,
    /// Width and height in pixels that glium gets as the size of the window.
    size: (u32, u32),
}

// SAFETY: the functions come from the display of the context, `Offscreen` owns the context, and `is_current` and
// `make_current` refer to this context.
unsafe impl Backend for Offscreen {
    fn swap_buffers(&self) -> Result<(), SwapBuffersError> {
        Ok(())
    }

    unsafe fn get_proc_address(&self, symbol: &str) -> *const c_void {
        let display = self.headless.context().display();
        CString::new(symbol).map_or(std::ptr::null(), |name| display.get_proc_address(&name))
    }

    fn get_framebuffer_dimensions(&self) -> (u32, u32) {
        self.size
    }

    fn resize(&self, _: (u32, u32)) {}

    fn is_current(&self) -> bool {
        self.headless.context().is_current()
    }

    unsafe fn make_current(&self) {
        if let Err(reason) = self.headless.make_current() {
            tracing::error!("lost the OpenGL context: {reason}");
        }
    }
}
