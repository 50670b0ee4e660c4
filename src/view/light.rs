//! The light behind the sprites: the sky, and the image of the light of all bodies, which the simulation's compute
//! device draws for scenes with very many bodies.

use std::rc::Rc;

use glium::backend::Context;
use glium::texture::{ClientFormat, RawImage2d, Texture2d, UncompressedFloatFormat};
use glium::{DrawParameters, Program, Rect, Surface, uniform};
use half::f16;

use super::fill::{fill, pixels, smooth, texture};
use super::opengl::{ADD, SCREEN, source};
use crate::base::{LightImage, Result};

/// Limits for scenes with very many bodies, for which the simulation's compute device draws an image of the bodies'
/// light.
pub(super) struct Limits {
    /// Number of bodies above which the compute device draws an image of their light.
    pub bodies: usize,
    /// Maximum number of bodies that are drawn as sprites over the image of the light.
    pub sprites: usize,
    /// Maximum number of pixels of the image of the light.
    pub pixels: u32,
}

/// Limits for the image of the bodies' light: with hardware rendering, and with software rendering.
pub(super) const LIMITS: [Limits; 2] = [
    Limits { bodies: 1 << 18, sprites: 1 << 16, pixels: 1 << 21 },
    Limits { bodies: 1 << 13, sprites: 1 << 12, pixels: 1 << 17 },
];
/// Maximum number of bodies that are copied to the host together with the image of their light.
pub(super) const LISTED: usize = 1 << 20;
/// Brightness, in typical bodies per pixel of the light image, below which a pixel's light is spread over several
/// pixels.
pub(super) const SPREAD_BELOW: f32 = 0.3;
/// Largest diameter of a typical sprite, in pixels of the light image, for which the image is used. If sprites are
/// larger, the image would show bodies as squares, so all bodies are drawn as sprites.
pub(super) const LARGEST: f32 = 6.0;

pub(super) struct Light {
    context: Rc<Context>,
    /// Programs that draw the image of the bodies' light, without and with the sky.
    with_image: [Program; 2],
    /// Program that draws the sky alone.
    only_sky: Program,
    /// Image of the light of all bodies; `None` if the compute device has sent none.
    image: Option<Texture2d>,
}

impl Light {
    pub(super) fn new(context: &Rc<Context>) -> Result<Self> {
        let program = |defines| source!("light", "fill").compile_with(context, defines);
        Ok(Self {
            context: context.clone(),
            with_image: [program("#define IMAGE\n")?, program("#define IMAGE\n#define SKY\n")?],
            only_sky: program("#define SKY\n")?,
            image: None,
        })
    }

    /// Replaces the image of the bodies' light; `None` removes it.
    pub(super) fn upload(&mut self, image: Option<&LightImage>) -> Result<()> {
        let Some(image) = image else {
            self.image = None;
            return Ok(());
        };
        let (width, height) = image.size.into();
        if self.image.as_ref().is_none_or(|texture| texture.dimensions() != (width, height)) {
            self.image =
                Some(texture(&self.context, UncompressedFloatFormat::F16F16F16F16, (width, height))?);
        }
        if let Some(texture) = &self.image {
            let data = bytemuck::cast_slice::<[f16; 4], u16>(image.pixels()).into();
            let raw = RawImage2d { data, width, height, format: ClientFormat::F16F16F16F16 };
            texture.write(Rect { left: 0, bottom: 0, width, height }, raw);
        }
        Ok(())
    }

    /// Returns whether there is an image of the bodies' light.
    pub(super) fn has_image(&self) -> bool {
        self.image.is_some()
    }

    /// Replaces the contents of `surface` with the light of the sky and of the image of the bodies, if there are any.
    pub(super) fn draw(&self, surface: &mut impl Surface, sky: Option<&Texture2d>) -> Result<()> {
        let (width, height) = surface.get_dimensions();
        let size = [width as f32, height as f32];
        match (&self.image, sky) {
            (None, None) => {
                surface.clear_color(0.0, 0.0, 0.0, 0.0);
                Ok(())
            }
            (None, Some(sky)) => fill(surface, None, &self.only_sky, &uniform! { sky: pixels(sky) }, None),
            (Some(image), None) => {
                let uniforms = uniform! { image: smooth(image), size: size };
                fill(surface, None, &self.with_image[0], &uniforms, None)
            }
            (Some(image), Some(sky)) => {
                let uniforms = uniform! { sky: pixels(sky), image: smooth(image), size: size };
                fill(surface, None, &self.with_image[1], &uniforms, None)
            }
        }
    }
}

/// A finished picture on a surface, over which sprites are drawn.
pub(super) struct Over<'a> {
    /// Area of the picture on the surface, in pixels.
    pub area: Rect,
    /// Whether the exposure of the picture is automatic.
    pub is_automatic: bool,
    /// Measured brightness of the picture, which determines the automatic exposure (see `shaders/common.glsl`).
    pub measured: &'a Texture2d,
}

impl Over<'_> {
    /// Chooses the program and the parameters for drawing sprites. Over a finished picture, uses the program `direct`
    /// and screen blending; otherwise the program `light`, and blending that adds light.
    pub(super) fn choose<'a>(
        over: Option<&Self>,
        [light, direct]: &'a [Program; 2],
    ) -> (&'a Program, DrawParameters<'a>) {
        match over {
            None => (light, DrawParameters { blend: ADD, ..DrawParameters::default() }),
            Some(Self { area, .. }) => {
                let (viewport, scissor) = (Some(*area), Some(*area));
                (direct, DrawParameters { blend: SCREEN, viewport, scissor, ..DrawParameters::default() })
            }
        }
    }
}

/// Returns the size of the light image for a picture of `width` × `height` pixels: the picture's size divided by the
/// smallest whole number that leaves at most `most` pixels, but at least 2 × 2 pixels.
pub(super) fn image_size([width, height]: [u32; 2], most: u32) -> [u32; 2] {
    let divided = |by: u32| [width.div_ceil(by), height.div_ceil(by)];
    let fits = |by: &u32| divided(*by).into_iter().product::<u32>() <= most;
    divided((1..).find(fits).unwrap_or(1)).map(|side| side.max(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_scaled_down_to_the_allowed_number_of_pixels() {
        assert_eq!(image_size([1280, 800], 1 << 21), [1280, 800]);
        assert_eq!(image_size([1280, 800], 1 << 18), [640, 400]);
        assert_eq!(image_size([3840, 2160], 1 << 21), [1920, 1080]);
        assert_eq!(image_size([1, 3], 1 << 18), [2, 3]);
    }
}
