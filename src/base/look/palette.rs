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

/// Coefficients of a polynomial for each colour channel, constant term first, and the start of the used part of the map.
struct Fit([[f32; 3]; 7], f32);

// Matt Zucker's polynomials (2019, CC0), fitted to Matplotlib's maps (Smith and van der Walt, 2015, CC0).
const VIRIDIS: Fit = Fit(
    [
        [0.277_727_34, 0.005_407_345, 0.334_099_8],
        [0.105_093_04, 1.404_613_5, 1.384_590_2],
        [-0.330_861_83, 0.214_847_56, 0.095_095_16],
        [-4.634_230_6, -5.799_101, -19.332_441],
        [6.228_27, 14.179_933, 56.690_55],
        [4.776_385, -13.745_145, -65.353_03],
        [-5.435_456, 4.645_852_6, 26.312_435],
    ],
    0.25,
);
const PLASMA: Fit = Fit(
    [
        [0.058_732_343, 0.023_336_709, 0.543_340_2],
        [2.176_514_6, 0.238_383_42, 0.753_959_5],
        [-2.689_460_5, -7.455_851, 3.110_8],
        [6.130_348, 42.346_188, -28.518_854],
        [-11.107_436, -82.666_31, 60.139_847],
        [10.023_066, 71.413_62, -54.072_186],
        [-3.658_714, -22.931_534, 18.191_908],
    ],
    0.3,
);
const MAGMA: Fit = Fit(
    [
        [-0.002_136_485, -0.000_749_655, -0.005_386_128],
        [0.251_660_53, 0.677_523_25, 2.494_026_7],
        [8.353_717, -3.577_719_5, 0.314_467_9],
        [-27.668_733, 14.264_731, -13.649_213],
        [52.176_14, -27.943_607, 12.944_169],
        [-50.768_524, 29.046_583, 4.234_153],
        [18.655_706, -11.489_774, -5.601_961_6],
    ],
    0.4,
);
const INFERNO: Fit = Fit(
    [
        [0.000_218_940_37, 0.001_651_004_6, -0.019_480_899],
        [0.106_513_42, 0.563_956_44, 3.932_712_3],
        [11.602_493, -3.972_854, -15.942_394],
        [-41.703_995, 17.436_4, 44.354_145],
        [77.162_94, -33.402_36, -81.807_31],
        [-71.319_43, 32.626_064, 73.209_52],
        [25.131_126, -12.242_669, -23.070_326],
    ],
    0.41,
);

impl Palette {
    /// Returns the colour for `share`, which goes from 0 for the lowest value to 1 for the highest value.
    pub fn colour(self, share: f32) -> Srgb {
        let share = share.clamp(0.0, 1.0);
        match self {
            Self::Dusk => between(&DUSK, share),
            Self::Ice => between(&ICE, share),
            Self::Viridis => VIRIDIS.at(share),
            Self::Plasma => PLASMA.at(share),
            Self::Magma => MAGMA.at(share),
            Self::Inferno => INFERNO.at(share),
        }
    }
}

/// Interpolates between seven colours `0xRRGGBB`, of which the first has the `share` 0 and the last the `share` 1.
fn between(stops: &[u32; 7], share: f32) -> Srgb {
    let place = share * 6.0;
    let below = (place as usize).min(5);
    std::array::from_fn(|channel| {
        let [low, high] = [below, below + 1].map(|stop| f32::from(stops[stop].to_be_bytes()[channel + 1]));
        (low + (high - low) * (place - below as f32)).round() as u8
    })
}

impl Fit {
    fn at(&self, share: f32) -> Srgb {
        let Self(terms, start) = self;
        let x = start + share * (1.0 - start);
        std::array::from_fn(|channel| {
            let sum = terms.iter().rev().fold(0.0, |sum, term| sum * x + term[channel]);
            (sum.clamp(0.0, 1.0) * 255.0).round() as u8
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

    /// Compares the middle and the ends of each fitted colour map with the original table.
    #[test]
    fn fits_match_the_original_maps() {
        let whole = |fit: &Fit, share| Fit(fit.0, 0.0).at(share);
        for (fit, share, right) in [
            (&VIRIDIS, 0.5, [0x21, 0x91, 0x8c]),
            (&VIRIDIS, 1.0, [0xfd, 0xe7, 0x25]),
            (&PLASMA, 0.5, [0xcc, 0x47, 0x78]),
            (&PLASMA, 1.0, [0xf0, 0xf9, 0x21]),
            (&MAGMA, 0.5, [0xb7, 0x37, 0x79]),
            (&MAGMA, 1.0, [0xfc, 0xfd, 0xbf]),
            (&INFERNO, 0.5, [0xbc, 0x37, 0x54]),
            (&INFERNO, 1.0, [0xfc, 0xff, 0xa4]),
        ] {
            let found = whole(fit, share);
            let off = found.iter().zip(right).map(|(a, b)| a.abs_diff(b)).max();
            assert!(off <= Some(6), "{found:02x?} for {right:02x?}");
        }
    }
}
