//! The colour map as a texture.

use std::rc::Rc;

use glium::backend::Context;
use glium::texture::{MipmapsOption, RawImage2d, Texture2d, UncompressedFloatFormat};

use super::opengl::graphics;
use crate::base::error::Result;
use crate::base::look::Palette;

/// Creates a texture with one row of 256 colours, from low to high values.
pub(super) fn texture(context: &Rc<Context>, palette: Palette) -> Result<Texture2d> {
    let row = (0..256).flat_map(|i| {
        let [red, green, blue] = palette.colour(i as f32 / 255.0);
        [red, green, blue, 255]
    });
    let image = RawImage2d::from_raw_rgba(row.collect(), (256, 1));
    Texture2d::with_format(context, image, UncompressedFloatFormat::U8U8U8U8, MipmapsOption::NoMipmap)
        .map_err(graphics("make the colour map"))
}
