//! The colours of slow and fast.

use std::rc::Rc;

use glium::backend::Context;
use glium::texture::{MipmapsOption, RawImage2d, Texture2d, UncompressedFloatFormat};

use super::graphics;
use crate::error::Result;

/// From slow to fast, in sRGB: blue, violet, rose, orange, gold, cream. Ours, because the usual maps for a
/// dark background begin in black, where bodies would be lost. The lightness L* rises by even steps, from 46
/// to 97, so that equal differences of speed look equal, also to colour-blind eyes.
const STOPS: [[u8; 3]; 7] = [
    [0x3d, 0x5a, 0xfe],
    [0x96, 0x68, 0xf6],
    [0xe9, 0x70, 0x8c],
    [0xff, 0x93, 0x50],
    [0xff, 0xb7, 0x5a],
    [0xff, 0xd7, 0x8a],
    [0xff, 0xf6, 0xdd],
];

/// A row of 256 colours from slow to fast.
pub fn texture(context: &Rc<Context>) -> Result<Texture2d> {
    let row = (0..256).flat_map(|i| {
        let [red, green, blue] = colour(i as f32 / 255.0);
        [red, green, blue, 255]
    });
    let image = RawImage2d::from_raw_rgba(row.collect(), (256, 1));
    Texture2d::with_format(context, image, UncompressedFloatFormat::U8U8U8U8, MipmapsOption::NoMipmap)
        .map_err(graphics("make the colour map"))
}

/// The colour of a speed that is `share` of the way from the slowest to the fastest.
fn colour(share: f32) -> [u8; 3] {
    let place = share.clamp(0.0, 1.0) * (STOPS.len() - 1) as f32;
    let below = (place as usize).min(STOPS.len() - 2);
    let between = place - below as f32;
    std::array::from_fn(|channel| {
        let [low, high] = [STOPS[below][channel], STOPS[below + 1][channel]].map(f32::from);
        (low + (high - low) * between).round() as u8
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CIE L* of an sRGB colour, 0 to 100.
    fn lightness(rgb: [u8; 3]) -> f64 {
        let linear = rgb.map(|c| match f64::from(c) / 255.0 {
            c if c <= 0.04045 => c / 12.92,
            c => ((c + 0.055) / 1.055).powf(2.4),
        });
        116.0 * (0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]).cbrt() - 16.0
    }

    #[test]
    fn lightness_rises_evenly() {
        let (dark, light) = (lightness(colour(0.0)), lightness(colour(1.0)));
        assert!(light - dark > 45.0, "from {dark} to {light}");
        for i in 0..=100 {
            let share = i as f32 / 100.0;
            let (is, even) = (lightness(colour(share)), dark + f64::from(share) * (light - dark));
            assert!((is - even).abs() < 2.5, "{is} for {even} at {share}");
        }
    }
}
