//! Reduces a picture to the 256 colours of a GIF: chooses the palette, and assigns a palette colour to each pixel.
//!
//! Colours are weighted by brightness as well as by area, because otherwise a dark sky would use up nearly all colours
//! and leave none for the stars. The picture is dithered, so that areas keep their colour on average.

use std::collections::BTreeMap;

use glam::Vec3;
use image::RgbImage;

/// Maximum number of colours in a GIF frame.
const MOST: usize = 256;
/// Number of leading bits of each colour channel that identify a shade. Colours with equal leading bits belong to one
/// shade.
const BITS: u32 = 6;
/// Exponent of the pixel count in the weight of a shade (group of similar colours); 1 is linear, 0 ignores the count.
const AREA_EXPONENT: f32 = 0.75;
/// Fraction of a pixel's colour error that dithering passes on. With 1, small errors would add up to visible dots.
const HANDED_ON: f32 = 0.75;
/// Amount added to the brightness (0 to 255) of a shade when its weight is computed. It gives dark shades some weight,
/// and thus large dark areas keep some palette colours.
const LEAST_LIGHT: f32 = 8.0;

/// A picture with a palette of at most 256 colours.
pub(super) struct Indexed {
    /// Red, green and blue of each palette colour, one byte each.
    pub palette: Vec<u8>,
    /// Palette index of each pixel.
    pub pixels: Vec<u8>,
}

impl Indexed {
    /// Converts a picture to indexed colours: exactly if it has at most 256 colours, otherwise approximately.
    pub(super) fn new(picture: &RgbImage) -> Self {
        exact(picture).unwrap_or_else(|| {
            let palette = choose(shades(picture));
            Self { pixels: dither(picture, &palette), palette: palette.concat() }
        })
    }
}

/// Converts a picture to indexed colours without loss, or returns `None` if it has more than 256 colours.
fn exact(picture: &RgbImage) -> Option<Indexed> {
    let mut places = BTreeMap::new();
    let mut pixels = Vec::with_capacity(picture.len() / 3);
    for pixel in picture.pixels() {
        let next = places.len();
        let place = *places.entry(pixel.0).or_insert(next);
        pixels.push(u8::try_from(place).ok()?);
    }
    let mut palette = vec![0; 3 * places.len()];
    for (colour, place) in places {
        palette[3 * place..][..3].copy_from_slice(&colour);
    }
    Some(Indexed { palette, pixels })
}

/// Mean colour of a group of nearly equal colours in the picture, and the weight of the group when the palette is
/// chosen.
struct Shade {
    colour: Vec3,
    weight: f32,
}

/// Returns the index of the shade (group of nearly equal colours) that contains a colour.
fn key(colour: [u8; 3]) -> usize {
    colour.iter().fold(0, |key, &level| key << BITS | usize::from(level >> (8 - BITS)))
}

/// Groups the colours of a picture into weighted shades. The weight grows with brightness and, more slowly, with area.
fn shades(picture: &RgbImage) -> Vec<Shade> {
    let mut sums = vec![(0_u64, [0_u64; 3]); 1 << (3 * BITS)];
    for pixel in picture.pixels() {
        let (count, sum) = &mut sums[key(pixel.0)];
        *count += 1;
        (0..3).for_each(|axis| sum[axis] += u64::from(pixel.0[axis]));
    }
    let shade = |(count, sum): (u64, [u64; 3])| {
        let colour = Vec3::from(sum.map(|sum| sum as f32)) / count as f32;
        Shade { colour, weight: (count as f32).powf(AREA_EXPONENT) * (colour.max_element() + LEAST_LIGHT) }
    };
    sums.into_iter().filter(|(count, _)| *count > 0).map(shade).collect()
}

/// A group of shades that will share one palette colour.
struct Group {
    shades: Vec<Shade>,
    mean: Vec3,
    /// Weighted sum of the squared distances of the shades from `mean`, for each of red, green and blue.
    spread: Vec3,
}

impl Group {
    fn new(shades: Vec<Shade>) -> Self {
        let total: f32 = shades.iter().map(|shade| shade.weight).sum();
        let mean: Vec3 = shades.iter().map(|shade| shade.colour * (shade.weight / total)).sum();
        let spread = |shade: &Shade| shade.weight * (shade.colour - mean) * (shade.colour - mean);
        Self { spread: shades.iter().map(spread).sum(), shades, mean }
    }

    /// Splits the group at its mean, along the colour channel with the largest spread.
    fn split(self) -> [Self; 2] {
        let axis = self.spread.max_position();
        let is_below = |shade: &Shade| shade.colour[axis] < self.mean[axis];
        let (below, above) = self.shades.into_iter().partition(is_below);
        [Self::new(below), Self::new(above)]
    }
}

/// Chooses up to 256 palette colours: splits the group of shades with the largest spread until 256 groups exist.
fn choose(shades: Vec<Shade>) -> Vec<[u8; 3]> {
    let mut groups = vec![Group::new(shades)];
    while groups.len() < MOST {
        let spreads = groups.iter().map(|group| group.spread.element_sum()).enumerate();
        let Some((widest, spread)) = spreads.max_by(|(_, a), (_, b)| a.total_cmp(b)) else { break };
        // Stops when no group can be split because each has a single shade.
        if spread <= 0.0 || groups[widest].shades.len() < 2 {
            break;
        }
        let halves = groups.swap_remove(widest).split();
        groups.extend(halves);
    }
    groups.into_iter().map(|group| levels(group.mean)).collect()
}

/// Rounds each channel of a colour to an integer from 0 to 255.
fn levels(colour: Vec3) -> [u8; 3] {
    colour.to_array().map(|level| level.round() as u8)
}

/// Returns the index of the palette colour nearest to the shade (group of similar colours) that contains `colour`.
fn nearest(palette: &[[u8; 3]], colour: [u8; 3]) -> u8 {
    // Stretches the shade's darkest colour to the full range, so that black and white are exact.
    let shade = colour.map(|level| i32::from(level >> (8 - BITS) << (8 - BITS) | level >> BITS));
    let distance =
        |other: &[u8; 3]| -> i32 { shade.iter().zip(other).map(|(a, &b)| (a - i32::from(b)).pow(2)).sum() };
    let nearest = palette.iter().enumerate().min_by_key(|(_, other)| distance(other));
    nearest.map_or(0, |(place, _)| place as u8)
}

/// Assigns a palette colour to each pixel. Uses Floyd–Steinberg dithering ("An adaptive algorithm for spatial grey
/// scale", 1976), with every other row processed from right to left.
fn dither(picture: &RgbImage, palette: &[[u8; 3]]) -> Vec<u8> {
    let width = picture.width() as usize;
    let mut pixels = vec![0; picture.len() / 3];
    // Finds the nearest palette colour of each shade in the picture.
    let mut found = vec![None; 1 << (3 * BITS)];
    // Holds the errors passed to this row and to the next, with an extra column at each end.
    let [mut here, mut below] = [(); 2].map(|()| vec![Vec3::ZERO; width + 2]);
    for (y, row) in picture.rows().enumerate() {
        let row: Vec<_> = row.map(|pixel| Vec3::from(pixel.0.map(f32::from))).collect();
        let (first, ahead) = if y % 2 == 0 { (0, 1) } else { (width - 1, -1) };
        for x in (0..width).map(|nth| first.abs_diff(nth)) {
            let wanted = (row[x] + here[x + 1]).round().clamp(Vec3::ZERO, Vec3::splat(255.0));
            let shade = levels(wanted);
            let place = *found[key(shade)].get_or_insert_with(|| nearest(palette, shade));
            pixels[y * width + x] = place;
            let next = (x + 1).wrapping_add_signed(ahead);
            let before = (x + 1).wrapping_add_signed(-ahead);
            let colour = Vec3::from(palette[usize::from(place)].map(f32::from));
            let off = HANDED_ON / 16.0 * (wanted - colour);
            here[next] += 7.0 * off;
            below[before] += 3.0 * off;
            below[x + 1] += 5.0 * off;
            below[next] += off;
        }
        std::mem::swap(&mut here, &mut below);
        below.fill(Vec3::ZERO);
    }
    pixels
}

#[cfg(test)]
mod tests {
    use image::Rgb;

    use super::*;

    const GOLD: Rgb<u8> = Rgb([255, 200, 60]);

    /// Returns a test picture: a dark sky of many shades, a galaxy from blue to pink, and a few golden one-pixel stars.
    fn sky() -> RgbImage {
        let mut seed = 1_u32;
        let mut random = move |below: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 16) % below
        };
        RgbImage::from_fn(320, 200, |x, y| {
            let radius = f64::from((x.abs_diff(160)).pow(2) + (y.abs_diff(100)).pow(2)).sqrt();
            let glow = (220.0 * (-radius / 9.0).exp()) as u32;
            let mut shade = |least: u32, share: u32| (least + random(24) + glow * share / 8).min(255) as u8;
            if x % 40 == 7 && y % 25 == 3 {
                GOLD
            } else {
                Rgb([(2, 6), (4, 3), (9, 7)].map(|(a, b)| shade(a, b)))
            }
        })
    }

    fn shown(indexed: &Indexed) -> Vec<[u8; 3]> {
        let colours: Vec<[u8; 3]> = indexed.palette.chunks(3).map(|rgb| [rgb[0], rgb[1], rgb[2]]).collect();
        indexed.pixels.iter().map(|&place| colours[usize::from(place)]).collect()
    }

    fn distance(a: [u8; 3], b: [u8; 3]) -> f64 {
        a.iter().zip(b).map(|(&a, b)| f64::from(a.abs_diff(b)).powi(2)).sum::<f64>().sqrt()
    }

    #[test]
    fn colour_reduction_preserves_rare_golden_pixels_in_a_dark_picture() {
        let picture = sky();
        let shown = shown(&Indexed::new(&picture));
        let off: Vec<_> = picture
            .pixels()
            .zip(&shown)
            .filter(|(was, _)| **was == GOLD)
            .map(|(_, is)| distance(GOLD.0, *is))
            .collect();
        assert_eq!(off.len(), 64, "the picture has 64 golden pixels, one in a thousand");
        let worst = off.into_iter().fold(0.0, f64::max);
        assert!(worst < 12.0, "the farthest from gold is {worst} levels off");
        // The dark sky must also keep its colours.
        let sky: Vec<_> = picture.pixels().zip(&shown).map(|(was, is)| distance(was.0, *is)).collect();
        let mean = sky.iter().sum::<f64>() / sky.len() as f64;
        assert!(mean < 8.0, "{mean} levels off on average");
    }

    #[test]
    fn dithering_preserves_the_mean_colour_of_an_area() {
        let picture = RgbImage::from_fn(256, 256, |x, y| Rgb([x as u8, y as u8, (x / 2 + y / 2) as u8]));
        let shown = shown(&Indexed::new(&picture));
        for (left, top) in [(16, 16), (100, 30), (40, 200), (200, 200)] {
            let places = || (top..top + 32).flat_map(|y| (left..left + 32).map(move |x| (x, y)));
            let sum = |colour: &dyn Fn(usize, usize) -> [u8; 3]| {
                places().fold([0u32; 3], |sum, (x, y)| {
                    let colour = colour(x, y);
                    std::array::from_fn(|axis| sum[axis] + u32::from(colour[axis]))
                })
            };
            let was = sum(&|x, y| picture.get_pixel(x as u32, y as u32).0);
            let is = sum(&|x, y| shown[y * 256 + x]);
            for (was, is) in was.into_iter().zip(is) {
                let off = f64::from(was.abs_diff(is)) / 1024.0;
                assert!(off < 1.5, "{off} levels at {left}, {top}");
            }
        }
    }

    #[test]
    fn a_picture_with_at_most_256_colours_is_indexed_exactly() {
        let picture = RgbImage::from_fn(32, 16, |x, y| Rgb([x as u8 * 8, 3, (y / 2) as u8 * 30]));
        let indexed = Indexed::new(&picture);
        assert_eq!(indexed.palette.len(), 256 * 3);
        assert!(picture.pixels().zip(shown(&indexed)).all(|(was, is)| was.0 == is));
    }
}
