//! Images of the light of all bodies, for scenes with more bodies than OpenGL can draw quickly.
//!
//! The device that holds the bodies adds the light of each body to the nearest pixels. Only the image and a part of the
//! bodies are copied to the host.

use half::f16;

use super::look::Palette;
use super::memory::Memory;

/// Request for an image of the light of all bodies, as a camera sees them.
#[derive(Debug, Clone, PartialEq)]
pub struct LightRequest {
    /// Matrix from scene coordinates to clip coordinates, by columns.
    pub view_projection: [[f32; 4]; 4],
    /// Width and height of the image in pixels, at least 2 each.
    pub size: [u32; 2],
    /// Sizes and light of the bodies' sprites. The sizes are in pixels of the image.
    pub sprites: Sprites,
    /// Colour map of the bodies' values.
    pub palette: Palette,
    /// Values at the two ends of the colour map.
    pub value_range: [f32; 2],
    /// Brightness below which a pixel's light is spread over several pixels, in typical bodies per pixel. Spreading
    /// makes the space between sparse bodies glow; 0 turns spreading off.
    pub spread_below: f32,
    /// Maximum number of bodies to copy to the host. If there are more, only every third (or fifth, …) body is copied.
    pub listed: usize,
}

/// Size and light of the sprites that show glowing bodies, for `shaders/points.vert` and `kernels/light.cl`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sprites {
    /// Reciprocal of the typical mass of a body; 0 if no body has mass.
    pub mass_scale: f32,
    /// Diameter of the sprite of a typical body at the camera's target, in pixels.
    pub size: f32,
    /// Smallest and largest diameter of a sprite, in pixels.
    pub size_limits: [f32; 2],
    /// Distance from the eye to the camera's target.
    pub distance: f32,
    /// Light of a typical body at the centre of its sprite.
    pub light: f32,
    /// Exponent of the power law by which light fades with distance beyond the camera's target.
    pub depth_cue: f32,
}

impl Sprites {
    /// Returns the light of a typical body at the camera's target, summed over the pixels of its sprite.
    pub fn total_light(&self) -> f32 {
        let Self { size, size_limits: [least, _], light, .. } = *self;
        // A body gives at least the light of a sprite of a tenth of the smallest diameter. π/16 is the mean of (1 - r²)³
        // over the square around the unit disc.
        light * (size * size).max(0.01 * least * least) * std::f32::consts::PI / 16.0
    }
}

/// Image that a kernel computes by adding up the light of all bodies.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LightImage {
    /// Number of bodies whose light the image shows.
    pub bodies: usize,
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// Pixels of the image, row by row from the bottom. A pixel holds red, green and blue, each weighted by light, and
    /// the sum of the light. One extra element follows; its first two numbers hold the bits of
    /// [`LightImage::nonfinite`].
    pub pixels: Memory<[f16; 4]>,
}

impl LightImage {
    /// Returns the pixels of the image, without the extra element at the end of the array.
    pub fn pixels(&self) -> &[[f16; 4]] {
        let count = self.size[0] as usize * self.size[1] as usize;
        self.pixels.get(..count).unwrap_or_default()
    }

    /// Returns the number of quarantined bodies.
    pub fn nonfinite(&self) -> usize {
        let [low, high, ..] = self.pixels.last().copied().unwrap_or_default();
        usize::from(low.to_bits()) | usize::from(high.to_bits()) << 16
    }
}
