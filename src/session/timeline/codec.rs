//! Compresses the points of frames. Coordinates become 16-bit numbers within a *quantization box* around nearly all
//! bodies. Bodies outside the box are stored exactly. Most frames store only their differences from a key frame. Most
//! differences are small, and therefore compress well.

use std::sync::Arc;

use crate::base::{FINITE_LIMIT, Image, Memory, Points, Shape, Tones};

/// Compression level of zstd. Higher levels take longer and save little more memory.
const LEVEL: i32 = 1;
/// Maximum number of sampled bodies whose positions determine the quantization box.
const SAMPLE: usize = 1024;
/// Fraction of the sampled bodies that may lie beyond each side of the quantization box.
const BEYOND: f32 = 0.005;
/// Margin at each side of the quantization box for moving bodies, as a fraction of the box's size without margins.
const MARGIN: f32 = 0.25;
/// Number of quantization steps between opposite sides of the quantization box.
const STEPS: f32 = 65_535.0;
/// Code for the value of a quarantined body. `UNMEASURED` is the code for an unknown value, and `LEAST` that for the
/// lowest value.
const QUARANTINED: u8 = 0;
const UNMEASURED: u8 = 1;
const LEAST: u8 = 2;
/// Code for a solid cell in an image of a fluid. Higher codes are for the values of other cells.
const WALL: u16 = 0;

/// Compressed points of a frame.
#[derive(Debug)]
pub struct Packed {
    /// Compressed bytes of the coordinates, the values and the image. Bytes of equal significance are stored together
    /// in planes.
    planes: Vec<u8>,
    /// Compressed fourth components (`w`) of the positions. Frames with the same components share this memory.
    weights: Arc<Vec<u8>>,
    /// Key frame from which `planes` contains differences; `None` if this frame is a key frame.
    key: Option<Arc<Packed>>,
    bodies: usize,
    scale: Box3,
    /// Index and exact position of each body outside the quantization box.
    outside: Vec<(u32, [f32; 3])>,
    values: Values,
    image: PackedImage,
    shape: Shape,
    skipped: usize,
    measured: Option<usize>,
    colours: u64,
}

/// Quantization box, given by its lowest corner and its size. Inside the box, coordinates are stored as 16-bit numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Box3 {
    low: [f32; 3],
    size: [f32; 3],
}

/// How `Packed::planes` stores the values of the bodies.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Values {
    /// Each value is an 8-bit number. The numbers divide the range between the two given values evenly.
    Coded([f32; 2]),
    /// Each value is stored unchanged, because it encodes a colour.
    Exact,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct PackedImage {
    width: usize,
    height: usize,
    tones: Tones,
    /// Lowest and highest value of the image, apart from solid cells.
    range: [f32; 2],
}

/// Quantized coordinates and values of a frame, before compression.
#[derive(Debug, Default)]
struct Codes {
    coordinates: [Vec<u16>; 3],
    values: Vec<u8>,
    /// Bit patterns of the values, if the values encode colours; otherwise empty.
    exact: Vec<u32>,
}

/// Compresses frames. Keeps the last key frame, because later frames are stored as differences from it.
#[derive(Default)]
pub(super) struct Encoder {
    /// The last key frame, with its quantized coordinates and values.
    key: Option<(Arc<Packed>, Codes)>,
    /// Fourth components (`w`) of the positions in the last frame, uncompressed and compressed.
    weights: (Vec<f32>, Arc<Vec<u8>>),
}

impl Encoder {
    /// Returns whether `points` can be stored as differences from the last key frame.
    pub(super) fn continues(&self, points: &Points) -> bool {
        let is_exact = is_exact(points);
        self.key.as_ref().is_some_and(|(key, _)| {
            key.bodies == points.positions.len()
                && key.skipped == points.skipped
                && std::mem::discriminant(&key.shape) == std::mem::discriminant(&points.shape)
                && (key.values == Values::Exact) == is_exact
        })
    }

    /// Compresses `points`: as differences from the last key frame, or as a key frame if `is_key` is true or
    /// [`Encoder::continues`] returns false.
    pub(super) fn encode(&mut self, points: &Points, is_key: bool) -> Arc<Packed> {
        let is_key = is_key || !self.continues(points);
        let weights = self.weights(points);
        let base = self.key.as_ref().filter(|_| !is_key);
        let scale = base.map_or_else(|| Box3::around(&points.positions), |(key, _)| key.scale);
        let values = match base.map(|(key, _)| key.values) {
            Some(values) => values,
            None if is_exact(points) => Values::Exact,
            None => {
                let [low, high] = points.value_range();
                let half = 0.5 * (high - low).max(f32::MIN_POSITIVE);
                Values::Coded([low - half, high + half])
            }
        };
        let (codes, outside) = Codes::of(points, scale, values);
        let mut planes = Vec::with_capacity(7 * codes.values.len());
        for axis in 0..3 {
            let base = base.map(|(_, codes)| &codes.coordinates[axis]);
            put_words(&mut planes, &codes.coordinates[axis], base.map(Vec::as_slice));
        }
        match values {
            Values::Coded(_) => {
                let base = base.map(|(_, codes)| &codes.values);
                planes.extend(codes.values.iter().enumerate().map(|(nth, value)| match base {
                    Some(base) => value.wrapping_sub(base[nth]),
                    None => *value,
                }));
            }
            Values::Exact => {
                // Most colours are the same as in the key frame, so most of these differences are 0.
                let base = base.map(|(_, codes)| &codes.exact);
                let bits = codes.exact.iter().enumerate();
                put_longs(&mut planes, bits.map(|(nth, bits)| bits ^ base.map_or(0, |base| base[nth])));
            }
        }
        let image = pack_image(&points.image, &mut planes);
        let packed = Arc::new(Packed {
            planes: compressed(&planes),
            weights,
            key: base.map(|(key, _)| key.clone()),
            bodies: points.positions.len(),
            scale,
            outside,
            values,
            image,
            shape: points.shape,
            skipped: points.skipped,
            measured: points.measured,
            colours: points.colours,
        });
        if is_key {
            self.key = Some((packed.clone(), codes));
        }
        packed
    }

    /// Returns the compressed fourth components (`w`) of the positions. Shares the memory of the last frame if the
    /// components are the same.
    fn weights(&mut self, points: &Points) -> Arc<Vec<u8>> {
        let weights = || points.positions.iter().map(|x| x[3]);
        let (last, packed) = &mut self.weights;
        let is_same = last.len() == points.positions.len()
            && last.iter().zip(weights()).all(|(a, b)| a.to_bits() == b.to_bits());
        if !is_same {
            *last = weights().collect();
            let mut planes = Vec::with_capacity(4 * last.len());
            put_longs(&mut planes, last.iter().map(|weight| weight.to_bits()));
            *packed = Arc::new(compressed(&planes));
        }
        packed.clone()
    }
}

impl Packed {
    /// Decompresses the points. A coordinate differs from the recorded one by at most half a quantization step of the
    /// frame, and a value by at most 1/250 of the colour range; values far outside the colour range are clamped. The
    /// points have no image of the bodies' light and no tree cells.
    pub fn decode(&self) -> Points {
        let codes = self.codes();
        let weights = decompressed(&self.weights, 4 * self.bodies);
        let mut weights = longs(&weights, self.bodies).map(f32::from_bits);
        let Codes { coordinates: [x, y, z], values, exact } = &codes.0;
        let mut positions: Vec<[f32; 4]> = (0..self.bodies)
            .map(|nth| {
                let at = |axis: usize, code: u16| self.scale.coordinate(axis, code);
                [at(0, x[nth]), at(1, y[nth]), at(2, z[nth]), weights.next().unwrap_or_default()]
            })
            .collect();
        for &(nth, at) in &self.outside {
            positions[nth as usize][..3].copy_from_slice(&at);
        }
        let rest = &codes.1[6 * self.bodies..];
        let (values, rest): (Memory<f32>, _) = match self.values {
            Values::Coded([low, high]) => {
                let step = (high - low) / f32::from(u8::MAX - LEAST);
                let value = |code: &u8| match *code {
                    QUARANTINED => Points::QUARANTINED,
                    UNMEASURED => Points::UNMEASURED,
                    code => low + step * f32::from(code - LEAST),
                };
                (values.iter().map(value).collect(), &rest[self.bodies..])
            }
            Values::Exact => (exact.iter().copied().map(f32::from_bits).collect(), &rest[4 * self.bodies..]),
        };
        Points {
            positions: positions.into(),
            values,
            skipped: self.skipped,
            shape: self.shape,
            image: self.image.decode(rest),
            measured: self.measured,
            colours: self.colours,
            ..Points::default()
        }
    }

    /// Returns the size of the frame in memory, in bytes, without the key frame that it refers to and without
    /// `weights`.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>() + self.planes.len() + size_of_val(&self.outside[..])
    }

    /// Returns the compressed fourth components (`w`) of the positions, which several frames may share.
    pub(super) fn weights(&self) -> &Arc<Vec<u8>> {
        &self.weights
    }

    /// Returns the number of bodies left out between two recorded bodies.
    pub fn skipped(&self) -> usize {
        self.skipped
    }

    /// Returns whether the frame is a key frame, which can be decompressed without another frame.
    pub(super) fn is_key(&self) -> bool {
        self.key.is_none()
    }

    /// Returns the largest error of a coordinate along each axis: half a quantization step.
    #[cfg(test)]
    fn error(&self) -> [f32; 3] {
        self.scale.size.map(|size| 0.5 * size / STEPS)
    }

    /// Decompresses the frame. Returns its quantized coordinates and values, and the bytes of all planes.
    fn codes(&self) -> (Codes, Vec<u8>) {
        let [count, pixels] = [self.bodies, self.image.width * self.image.height];
        let of_value = if self.values == Values::Exact { 4 } else { 1 };
        let planes = decompressed(&self.planes, (6 + of_value) * count + 2 * pixels);
        let base = self.key.as_ref().map(|key| key.codes().0);
        let coordinates = std::array::from_fn(|axis| {
            let base = base.as_ref().map(|base| base.coordinates[axis].as_slice());
            words(&planes[2 * axis * count..], count, base)
        });
        let (mut values, mut exact) = (Vec::new(), Vec::new());
        if self.values == Values::Exact {
            exact.extend(longs(&planes[6 * count..], count));
            exact
                .iter_mut()
                .zip(base.iter().flat_map(|base| &base.exact))
                .for_each(|(bits, base)| *bits ^= base);
        } else {
            values.extend_from_slice(&planes[6 * count..7 * count]);
            for (value, base) in values.iter_mut().zip(base.iter().flat_map(|base| &base.values)) {
                *value = value.wrapping_add(*base);
            }
        }
        (Codes { coordinates, values, exact }, planes)
    }
}

impl Box3 {
    /// Returns a quantization box around nearly all `positions`, with a margin.
    fn around(positions: &[[f32; 4]]) -> Self {
        let stride = positions.len().div_ceil(SAMPLE).max(1) | 1;
        let mut all = Self::default();
        for axis in 0..3 {
            let sample = positions.iter().step_by(stride).map(|x| x[axis]);
            let mut sample: Vec<f32> = sample.filter(|x| x.abs() <= FINITE_LIMIT).collect();
            sample.sort_unstable_by(f32::total_cmp);
            let last = (sample.len() as f32 - 1.0).max(0.0);
            let at = |share: f32| sample.get(share as usize).copied().unwrap_or_default();
            let [low, high] = [at((last * BEYOND).floor()), at((last * (1.0 - BEYOND)).ceil())];
            let margin = MARGIN * (high - low);
            (all.low[axis], all.size[axis]) = (low - margin, high - low + 2.0 * margin);
        }
        all
    }

    /// Returns the 16-bit number for a coordinate on `axis` (0 to 2), or `None` if the coordinate is outside the box.
    fn code(&self, axis: usize, coordinate: f32) -> Option<u16> {
        let share = (coordinate - self.low[axis]) / self.size[axis].max(f32::MIN_POSITIVE);
        // A NaN counts as outside the box.
        (0.0..=1.0).contains(&share).then_some((share * STEPS + 0.5) as u16)
    }

    fn coordinate(&self, axis: usize, code: u16) -> f32 {
        self.low[axis] + self.size[axis] * (f32::from(code) / STEPS)
    }
}

impl Codes {
    /// Quantizes `points`. Also returns the index and exact position of each body outside the box `scale`.
    fn of(points: &Points, scale: Box3, values: Values) -> (Self, Vec<(u32, [f32; 3])>) {
        let count = points.positions.len();
        let mut codes = Self::default();
        codes.coordinates.iter_mut().for_each(|axis| axis.reserve_exact(count));
        let mut outside = Vec::new();
        for (nth, &[x, y, z, _]) in points.positions.iter().enumerate() {
            let all = [scale.code(0, x), scale.code(1, y), scale.code(2, z)];
            if all.contains(&None) {
                outside.push((nth as u32, [x, y, z]));
            }
            for (axis, code) in codes.coordinates.iter_mut().zip(all) {
                axis.push(code.unwrap_or_default());
            }
        }
        if let Values::Coded([low, high]) = values {
            let per_value = f32::from(u8::MAX - LEAST) / (high - low);
            codes.values.extend(points.values.iter().map(|&value| match value {
                Points::QUARANTINED => QUARANTINED,
                Points::UNMEASURED => UNMEASURED,
                // A cast to `u8` turns NaN into 0, and clamps other numbers to the range of `u8`.
                value => (((value - low) * per_value + 0.5) as u8).min(u8::MAX - LEAST) + LEAST,
            }));
            codes.values.resize(count, UNMEASURED);
        } else {
            codes.exact.extend(points.values.iter().map(|value| value.to_bits()));
            codes.exact.resize(count, Points::UNMEASURED.to_bits());
        }
        (codes, outside)
    }
}

impl PackedImage {
    fn decode(&self, planes: &[u8]) -> Image {
        let &Self { width, height, tones, range: [low, high] } = self;
        let step = (high - low) / f32::from(u16::MAX - 1);
        let values = words(planes, width * height, None).into_iter().map(|code| match code {
            WALL => Image::WALL,
            code => low + step * f32::from(code - 1),
        });
        Image { width, height, values: values.collect(), tones }
    }
}

/// Appends the values of `image` to `planes` as 16-bit numbers. Returns the properties needed to decode them.
fn pack_image(image: &Image, planes: &mut Vec<u8>) -> PackedImage {
    let &Image { width, height, ref values, tones } = image;
    if values.len() != width * height {
        return PackedImage::default();
    }
    let free = values.iter().filter(|value| value.is_finite() && **value > Image::WALL);
    let (mut low, mut high) = (f32::INFINITY, f32::NEG_INFINITY);
    free.for_each(|value| (low, high) = (low.min(*value), high.max(*value)));
    let range = if low <= high { [low, high] } else { [0.0, 1.0] };
    let per_value = f32::from(u16::MAX - 1) / (range[1] - range[0]).max(f32::MIN_POSITIVE);
    let code = |&value: &f32| match value {
        Image::WALL => WALL,
        value => (((value - range[0]) * per_value + 0.5) as u16).min(u16::MAX - 1) + 1,
    };
    let codes: Vec<u16> = values.iter().map(code).collect();
    put_words(planes, &codes, None);
    PackedImage { width, height, tones, range }
}

/// Returns whether the values of `points` encode colours, which are stored exactly.
fn is_exact(points: &Points) -> bool {
    points.values.iter().any(|value| *value >= Points::LOWEST_COLOUR && *value < Points::UNMEASURED)
}

/// Appends the high bytes of all `codes` to `planes`, then their low bytes. If there is a `base`, stores the
/// differences from `base` instead of the codes.
fn put_words(planes: &mut Vec<u8>, codes: &[u16], base: Option<&[u16]>) {
    let at = planes.len();
    planes.resize(at + 2 * codes.len(), 0);
    let (high, low) = planes[at..].split_at_mut(codes.len());
    let bytes = high.iter_mut().zip(low);
    match base {
        None => bytes.zip(codes).for_each(|((high, low), code)| [*high, *low] = code.to_be_bytes()),
        Some(base) => bytes.zip(codes.iter().zip(base)).for_each(|((high, low), (code, base))| {
            // Zigzag encoding: small differences of either sign become small numbers.
            let difference = code.wrapping_sub(*base) as i16;
            [*high, *low] = ((difference << 1) ^ (difference >> 15)).to_be_bytes();
        }),
    }
}

/// Reads back `count` numbers that [`put_words`] wrote with the same `base`.
fn words(planes: &[u8], count: usize, base: Option<&[u16]>) -> Vec<u16> {
    let pairs = planes[..count].iter().zip(&planes[count..]);
    let codes = pairs.map(|(high, low)| u16::from_be_bytes([*high, *low]));
    match base {
        None => codes.collect(),
        Some(base) => codes
            .zip(base)
            .map(|(code, base)| base.wrapping_add((code >> 1) ^ (code & 1).wrapping_neg()))
            .collect(),
    }
}

/// Appends the most significant bytes of all `numbers` to `planes`, then their second bytes, and so on.
fn put_longs(planes: &mut Vec<u8>, numbers: impl ExactSizeIterator<Item = u32>) {
    let (at, count) = (planes.len(), numbers.len());
    planes.resize(at + 4 * count, 0);
    for (nth, number) in numbers.enumerate() {
        for (plane, byte) in number.to_be_bytes().into_iter().enumerate() {
            planes[at + plane * count + nth] = byte;
        }
    }
}

/// Reads back `count` numbers that [`put_longs`] wrote.
fn longs(planes: &[u8], count: usize) -> impl Iterator<Item = u32> {
    (0..count).map(move |nth| u32::from_be_bytes(std::array::from_fn(|plane| planes[plane * count + nth])))
}

fn compressed(planes: &[u8]) -> Vec<u8> {
    let mut packed = zstd::bulk::compress(planes, LEVEL).unwrap_or_default();
    packed.shrink_to_fit();
    packed
}

/// Decompresses `packed` to `size` bytes. If decompression fails, for example for lack of memory, returns zeros.
fn decompressed(packed: &[u8], size: usize) -> Vec<u8> {
    let mut planes = zstd::bulk::decompress(packed, size).unwrap_or_default();
    planes.resize(size, 0);
    planes
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Returns `count` bodies, a few of them far away, after they have moved for the time `t`.
    fn cloud(count: usize, t: f32) -> Points {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let mut positions = Vec::new();
        for nth in 0..count {
            let far = if nth % 397 == 0 { 1e4 } else { 1.0 };
            let [x, y, z, vx, vy, vz]: [f32; 6] = std::array::from_fn(|_| random.random_range(-1.0..1.0));
            positions.push([far * x + t * vx, 0.1 * y + t * vy, z + 5.0 + t * vz, 1.0 + nth as f32]);
        }
        let values: Vec<f32> = (0..count).map(|nth| (nth as f32 + 10.0 * t).sin()).collect();
        Points { positions: positions.into(), values: values.into(), colours: 3, ..Points::default() }
    }

    /// Checks that `packed` contains `points` within the quantization error, and returns the decompressed points.
    fn check(points: &Points, packed: &Packed) -> Points {
        let decoded = packed.decode();
        assert_eq!(decoded.positions.len(), points.positions.len());
        let most = packed.error();
        for (nth, (a, b)) in points.positions.iter().zip(decoded.positions.iter()).enumerate() {
            for axis in 0..3 {
                let error = (a[axis] - b[axis]).abs();
                assert!(error <= 1.01 * most[axis] + 1e-6 * a[axis].abs(), "body {nth}: {a:?} became {b:?}");
            }
            assert_eq!(a[3], b[3], "body {nth}");
        }
        let [low, high] = points.value_range();
        for (a, b) in points.values.iter().zip(decoded.values.iter()) {
            let is_number = *a > Points::QUARANTINED && *a < Points::LOWEST_COLOUR;
            let most = if is_number { (high - low) / 250.0 } else { 0.0 };
            assert!((a.clamp(low, high) - b.clamp(low, high)).abs() <= most || a == b, "{a} became {b}");
        }
        decoded
    }

    #[test]
    fn decoded_positions_are_within_half_a_quantization_step_and_outliers_are_exact() {
        let mut encoder = Encoder::default();
        let key = cloud(5000, 0.0);
        let packed = encoder.encode(&key, true);
        check(&key, &packed);
        // The box contains only most bodies, so that distant bodies do not make the quantization steps coarse.
        assert!(packed.error()[0] < 3.5 / STEPS && (8..200).contains(&packed.outside.len()));
        assert_eq!(packed.decode().positions[0][..3], key.positions[0][..3]);
        for nth in 1..6 {
            let points = cloud(5000, 0.02 * nth as f32);
            let next = encoder.encode(&points, false);
            assert!(!next.is_key() && Arc::ptr_eq(next.weights(), packed.weights()));
            check(&points, &next);
        }
    }

    #[test]
    fn difference_frames_take_less_memory_than_key_frames() {
        let mut encoder = Encoder::default();
        let key = encoder.encode(&cloud(20_000, 0.0), true);
        let next = encoder.encode(&cloud(20_000, 0.005), false);
        assert!(
            key.bytes() < 8 * 20_000 && 3 * next.bytes() < 2 * key.bytes(),
            "{} {}",
            key.bytes(),
            next.bytes()
        );
    }

    #[test]
    fn special_values_colours_and_non_finite_positions_survive_encoding() {
        let mut points = cloud(300, 0.0);
        points.values[3] = Points::QUARANTINED;
        points.values[5] = Points::UNMEASURED;
        points.positions[7] = [f32::NAN, 0.0, f32::INFINITY, 0.0];
        let decoded = Encoder::default().encode(&points, true).decode();
        assert_eq!([decoded.values[3], decoded.values[5]], [Points::QUARANTINED, Points::UNMEASURED]);
        assert!(decoded.positions[7][0].is_nan() && decoded.positions[7][2] == f32::INFINITY);
        // Colours are exact.
        points.values[9] = Points::value_of([200, 100, 50]);
        points.positions[7] = [0.0; 4];
        let mut encoder = Encoder::default();
        let decoded = check(&points, &encoder.encode(&points, true));
        assert_eq!(decoded.values, points.values);
        points.values[11] = Points::value_of([1, 2, 4]);
        let next = encoder.encode(&points, false);
        assert!(!next.is_key() && check(&points, &next).values == points.values);
    }

    #[test]
    fn a_different_number_of_bodies_starts_with_a_key_frame() {
        let mut encoder = Encoder::default();
        encoder.encode(&cloud(300, 0.0), true);
        assert!(encoder.continues(&cloud(300, 0.1)));
        let points = cloud(301, 0.1);
        let packed = encoder.encode(&points, false);
        assert!(packed.is_key());
        check(&points, &packed);
        check(&Points::default(), &encoder.encode(&Points::default(), false));
    }

    #[test]
    fn an_encoded_flow_image_preserves_walls_and_values() {
        let values = vec![Image::WALL, -0.5, 0.25, 1.0, f32::NAN, 0.0];
        let image = Image { width: 3, height: 2, values: values.into(), tones: Tones::Signed };
        let mut points = Points { image, shape: Shape::Tracers { half: [1.0, 0.5] }, ..cloud(40, 0.0) };
        points.positions[3] = [0.1, 0.2, 0.0, 0.0];
        let decoded = check(&points, &Encoder::default().encode(&points, true));
        assert_eq!((decoded.shape, decoded.image.tones), (points.shape, Tones::Signed));
        assert_eq!((decoded.image.width, decoded.image.height), (3, 2));
        assert_eq!(decoded.image.values[0], Image::WALL);
        for nth in [1, 2, 3, 5] {
            assert!((decoded.image.values[nth] - points.image.values[nth]).abs() < 2e-5);
        }
    }
}
