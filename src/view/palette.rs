//! The colours of slow and fast.

use std::rc::Rc;

use glium::backend::Context;
use glium::texture::{MipmapsOption, RawImage2d, Texture2d, UncompressedFloatFormat};

use super::graphics;
use crate::error::Result;

/// The part of the colour map that is used: its dark end would be lost on a dark background.
const DARKEST: f64 = 0.2;

/// A row of 256 colours, from slow to fast, perceptually even.
pub fn texture(context: &Rc<Context>) -> Result<Texture2d> {
    let colours = (0..256).flat_map(|i| {
        let share = f64::from(i) / 255.0;
        let colour = colorous::PLASMA.eval_continuous(DARKEST + share * (1.0 - DARKEST));
        [colour.r, colour.g, colour.b, 255]
    });
    let image = RawImage2d::from_raw_rgba(colours.collect(), (256, 1));
    Texture2d::with_format(context, image, UncompressedFloatFormat::U8U8U8U8, MipmapsOption::NoMipmap)
        .map_err(graphics("make the colour map"))
}
