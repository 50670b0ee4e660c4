//! Colour maps whose lightness rises evenly, so that equal differences look equal, also to colour-blind people.
//!
//! All maps start at a lightness L* of at least 35, because darker bodies would be lost on the black background.

use crate::base::params::choice;

choice! {
    /// Map from a value between 0 and 1 to a colour.
    ///
    /// `viridis`, `plasma`, `magma` and `inferno` are Matplotlib's maps without their dark starts.
    pub enum Palette {
        /// Blue, violet, rose, orange, gold, cream.
        Dusk = "dusk",
        /// Deep blue, azure, nearly white.
        Ice = "ice",
        /// Blue, green, yellow.
        Viridis = "viridis",
        /// Purple, pink, orange, yellow.
        Plasma = "plasma",
        /// Purple, rose, peach, cream.
        Magma = "magma",
        /// Wine, red, orange, yellow.
        Inferno = "inferno",
    }
}

/// Colour in sRGB.
pub type Srgb = [u8; 3];

/// Colours `0xRRGGBB` of the map `dusk`, at equal steps of L* from 46 to 97.
const DUSK: [u32; 7] = [0x3d5afe, 0x9668f6, 0xe9708c, 0xff9350, 0xffb75a, 0xffd78a, 0xfff6dd];

/// Colours `0xRRGGBB` of the map `ice`, at equal steps of L* from 44 to 97, with OKLCh hues from 268° to 200°.
const ICE: [u32; 7] = [0x3d5ed7, 0x397de0, 0x3b9ce5, 0x44baeb, 0x69d5ee, 0x9febf3, 0xe7fafb];

// Matplotlib's maps (Smith and van der Walt, 2015, CC0), after Matt Zucker's polynomials (2019, CC0), from their shares 0.25,
// 0.3, 0.4 and 0.41 on. Between these colours, at equal steps of the share, interpolation is off by at most three levels.
const VIRIDIS: [u32; 13] = [
    0x3d528c, 0x35638e, 0x2b728e, 0x23828d, 0x1f908b, 0x209f88, 0x29ae81, 0x3cbc74, 0x59c862, 0x7fd349,
    0xacdc2f, 0xd8e21b, 0xfde71f,
];
const PLASMA: [u32; 13] = [
    0x910da6, 0xa41c9c, 0xb62d90, 0xc73f82, 0xd55274, 0xe16366, 0xec7559, 0xf5874c, 0xfb9a3f, 0xffb033,
    0xffc828, 0xfae221, 0xeff725,
];
const MAGMA: [u32; 13] = [
    0x8e2585, 0xa32c80, 0xb73577, 0xcb406f, 0xdd4c66, 0xeb5c60, 0xf76e5f, 0xfe8462, 0xff9d6b, 0xffb77b,
    0xfcd28e, 0xfae9a5, 0xfdfabb,
];
const INFERNO: [u32; 13] = [
    0x982466, 0xaa2d5c, 0xbd3750, 0xce4440, 0xde5230, 0xea6220, 0xf47514, 0xf98c0e, 0xfba410, 0xf8bf1f,
    0xf5d83c, 0xf2f369, 0xf9ffa7,
];

impl Palette {
    /// Returns the colours `0xRRGGBB` at equal steps, from low to high values.
    fn stops(self) -> &'static [u32] {
        match self {
            Self::Dusk => &DUSK,
            Self::Ice => &ICE,
            Self::Viridis => &VIRIDIS,
            Self::Plasma => &PLASMA,
            Self::Magma => &MAGMA,
            Self::Inferno => &INFERNO,
        }
    }

    /// Returns the colour for `share`, which goes from 0 for the lowest value to 1 for the highest value.
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
    fn lightness_rises_evenly_from_a_visible_start() {
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

    /// Compares the middles and ends of Matplotlib's maps with the original tables.
    #[test]
    fn maps_match_the_original_maps() {
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
