//! Colour maps whose lightness rises evenly. Equal differences between values therefore look equal, even to
//! colour-blind people.
//!
//! All maps start at a lightness L* of at least 35, because darker bodies would be lost on the black background.

use crate::base::params::choice;

choice! {
    /// Map from a value between 0 and 1 to a colour.
    ///
    /// `viridis`, `plasma`, `magma` and `inferno` are Matplotlib's maps without their dark starts.
    pub enum Palette {
        /// Colours from blue through violet, rose, orange and gold to cream.
        Dusk = "dusk",
        /// Colours from deep blue through azure to near white.
        Ice = "ice",
        /// Colours from brown through ochre and sand to cream.
        Sand = "sand",
        /// Colours from blue through green to yellow.
        Viridis = "viridis",
        /// Colours from purple through pink and orange to yellow.
        Plasma = "plasma",
        /// Colours from purple through rose and peach to cream.
        Magma = "magma",
        /// Colours from wine red through red and orange to yellow.
        Inferno = "inferno",
    }
}

/// An sRGB colour: red, green and blue from 0 to 255.
pub type Srgb = [u8; 3];

/// Colours of the `dusk` map as `0xRRGGBB`, at equal steps of the lightness L* from 46 to 97.
const DUSK: [u32; 7] = [0x3d5afe, 0x9668f6, 0xe9708c, 0xff9350, 0xffb75a, 0xffd78a, 0xfff6dd];

/// Colours of the `ice` map as `0xRRGGBB`, at equal steps of L* from 44 to 97, with OKLCh hues from 268° to 200°.
const ICE: [u32; 7] = [0x3d5ed7, 0x397de0, 0x3b9ce5, 0x44baeb, 0x69d5ee, 0x9febf3, 0xe7fafb];

/// Colours of the `sand` map as `0xRRGGBB`, at equal steps of L* from 38 to 95.
const SAND: [u32; 7] = [0x7d4b3a, 0x99603f, 0xb17845, 0xc39255, 0xd3ae70, 0xe3ca96, 0xf6ecd2];

// Matplotlib's maps (Smith and van der Walt, 2015, CC0), computed with Matt Zucker's polynomials (2019, CC0) at equal
// steps from 0.25, 0.3, 0.4 and 0.41 to 1. Interpolated colours are off by at most two levels of 256.
const VIRIDIS: [u32; 20] = [
    0x3d528c, 0x385d8e, 0x32678e, 0x2c718e, 0x277a8e, 0x22848d, 0x1f8d8c, 0x1f978a, 0x20a087, 0x26a983,
    0x2fb27d, 0x3bbb75, 0x4cc36a, 0x61cb5d, 0x79d14d, 0x94d83d, 0xb0dc2d, 0xcde120, 0xe7e41a, 0xfce720,
];
const PLASMA: [u32; 20] = [
    0x910ea5, 0x9d16a0, 0xa92099, 0xb42b91, 0xbf3789, 0xc94280, 0xd24e77, 0xda596e, 0xe26466, 0xe96f5d,
    0xef7a55, 0xf4864d, 0xf99244, 0xfc9e3d, 0xfead35, 0xffbb2d, 0xfecb27, 0xfcdb23, 0xf7ea21, 0xeef726,
];
const MAGMA: [u32; 20] = [
    0x8e2585, 0x9b2a82, 0xa92e7d, 0xb53478, 0xc23b73, 0xce416d, 0xd94a68, 0xe35263, 0xec5d61, 0xf4685f,
    0xf9755f, 0xfe8362, 0xff9267, 0xffa26f, 0xffb378, 0xfec484, 0xfcd491, 0xfae49f, 0xfaf0ad, 0xfefabb,
];
const INFERNO: [u32; 20] = [
    0x982465, 0xa32a60, 0xaf3059, 0xbb3651, 0xc63e48, 0xd0453d, 0xdb4f33, 0xe35829, 0xeb641f, 0xf16f18,
    0xf67c11, 0xf98b0e, 0xfb990e, 0xfaaa13, 0xf9ba1c, 0xf7cb2c, 0xf4db41, 0xf3eb5c, 0xf4f97e, 0xf9ffa7,
];

impl Palette {
    /// Returns the map's colours as `0xRRGGBB`, evenly spaced from low to high values.
    fn stops(self) -> &'static [u32] {
        match self {
            Self::Dusk => &DUSK,
            Self::Ice => &ICE,
            Self::Sand => &SAND,
            Self::Viridis => &VIRIDIS,
            Self::Plasma => &PLASMA,
            Self::Magma => &MAGMA,
            Self::Inferno => &INFERNO,
        }
    }

    /// Returns the colour at position `share` on the map, from 0 for the lowest value to 1 for the highest.
    pub fn colour(self, share: f32) -> Srgb {
        let stops = self.stops();
        let place = share.clamp(0.0, 1.0) * (stops.len() - 1) as f32;
        let below = (place as usize).min(stops.len() - 2);
        std::array::from_fn(|channel| {
            let [low, high] =
                [below, below + 1].map(|stop| f32::from(stops[stop].to_be_bytes()[channel + 1]));
            (low + (high - low) * (place - below as f32)).round() as u8
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::params::Choice;

    /// Returns the lightness L* of a colour, from 0 to 100.
    fn lightness(rgb: Srgb) -> f64 {
        let linear = rgb.map(|c| match f64::from(c) / 255.0 {
            c if c <= 0.04045 => c / 12.92,
            c => ((c + 0.055) / 1.055).powf(2.4),
        });
        116.0 * (0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]).cbrt() - 16.0
    }

    #[test]
    fn palette_lightness_rises_linearly_from_a_visible_start() {
        for (palette, opt) in Palette::OPTIONS {
            let (dark, light) = (lightness(palette.colour(0.0)), lightness(palette.colour(1.0)));
            assert!(dark >= 35.0 && light - dark > 45.0, "{}: from {dark} to {light}", opt.name);
            for i in 0..=100 {
                let share = i as f32 / 100.0;
                let (is, even) = (lightness(palette.colour(share)), dark + f64::from(share) * (light - dark));
                assert!((is - even).abs() < 4.0, "{}: {is} for {even} at {share}", opt.name);
            }
        }
    }

    /// Compares the middle and the upper end of each Matplotlib map with the original tables.
    #[test]
    fn palettes_match_the_matplotlib_colour_maps() {
        for (palette, start, middle, end) in [
            (Palette::Viridis, 0.25, 0x21918c, 0xfde725),
            (Palette::Plasma, 0.3, 0xcc4778, 0xf0f921),
            (Palette::Magma, 0.4, 0xb73779, 0xfcfdbf),
            (Palette::Inferno, 0.41, 0xbc3754, 0xfcffa4),
        ] {
            for (share, right) in [((0.5 - start) / (1.0 - start), middle), (1.0, end)] {
                let (found, [_, right @ ..]) = (palette.colour(share), u32::to_be_bytes(right));
                let off = found.iter().zip(right).map(|(a, b)| a.abs_diff(b)).max();
                assert!(off <= Some(6), "{found:02x?} for {right:02x?}");
            }
        }
    }
}
