//! Bodies in host memory, and points to draw.

use crate::base::cells::Cells;
use crate::base::flow::Image;
use crate::base::light::LightImage;
use crate::base::look::Srgb;
use crate::base::memory::Memory;

/// Positions and velocities of bodies, in two lists of equal length. Devices compute with `f32`; reference results use
/// `f64`.
///
/// The group of a body is a whole number that identifies the part of the scene in which the body started; groups do not
/// affect the physics. Units are chosen so that the gravitational constant equals the `g` parameter.
///
/// Kernels *quarantine* a body with non-finite values: its mass becomes 0 and its velocity NaN; its position stays.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Bodies<T = f32> {
    /// Position and mass `(x, y, z, m)` of each body.
    pub positions: Vec<[T; 4]>,
    /// Velocity and group `(vx, vy, vz, g)` of each body.
    pub velocities: Vec<[T; 4]>,
}

/// Largest coordinate or speed that counts as finite. Within this limit, squared distances stay below `f32::MAX`.
pub const FINITE_LIMIT: f32 = 1e18;

/// Returns whether the body with this velocity is quarantined, that is, whether all three components are NaN.
pub fn is_quarantined(velocity: &[f32; 4]) -> bool {
    velocity[..3].iter().all(|c| c.is_nan())
}

impl<T: Copy + Default> Bodies<T> {
    /// Returns an empty list with capacity for `n` bodies, or `None` if the memory cannot be allocated.
    pub(crate) fn try_with_capacity(n: usize) -> Option<Self> {
        let mut bodies = Self { positions: Vec::new(), velocities: Vec::new() };
        bodies.positions.try_reserve_exact(n).ok()?;
        bodies.velocities.try_reserve_exact(n).ok()?;
        Some(bodies)
    }

    /// Returns an empty list with capacity for `n` bodies.
    pub fn with_capacity(n: usize) -> Self {
        Self { positions: Vec::with_capacity(n), velocities: Vec::with_capacity(n) }
    }

    /// Returns the number of bodies.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Returns whether there are no bodies.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// Adds a body with this position, velocity and mass, in group 0.
    pub fn push(&mut self, [x, y, z]: [T; 3], [vx, vy, vz]: [T; 3], mass: T) {
        self.positions.push([x, y, z, mass]);
        self.velocities.push([vx, vy, vz, T::default()]);
    }
}

impl Bodies<f32> {
    /// Converts the bodies to double precision, without rounding.
    pub fn to_f64(&self) -> Bodies<f64> {
        let widen = |rows: &Vec<[f32; 4]>| rows.iter().map(|r| r.map(f64::from)).collect();
        Bodies { positions: widen(&self.positions), velocities: widen(&self.velocities) }
    }

    /// Returns the group of each body, a whole number that identifies the part of the scene in which the body started.
    pub fn origins(&self) -> impl Iterator<Item = f32> {
        self.velocities.iter().map(|v| v[3])
    }

    /// If all bodies are in one group, divides them into 8 groups: spherical shells with about equal numbers of bodies.
    /// The new groups have even numbers, like those of bodies in bulges of galaxies. Bodies in even groups have the
    /// colours of old stars (see `star_colour` in `kernels/gravity/drift.cl`).
    pub(crate) fn group_by_shells(&mut self) {
        const SHELLS: usize = 8;
        const SAMPLE: usize = 4096;
        if self.velocities.iter().any(|v| v[3] != self.velocities[0][3]) {
            return;
        }
        let place = |x: &[f32; 4]| glam::Vec3::new(x[0], x[1], x[2]);
        let stride = self.len().div_ceil(SAMPLE).max(1);
        let sample: Vec<_> = self.positions.iter().step_by(stride).map(place).collect();
        let middle = sample.iter().sum::<glam::Vec3>() / sample.len().max(1) as f32;
        let mut distances: Vec<f32> = sample.iter().map(|at| at.distance_squared(middle)).collect();
        distances.sort_unstable_by(f32::total_cmp);
        let edges: [f32; SHELLS - 1] = std::array::from_fn(|nth| {
            distances.get((nth + 1) * distances.len() / SHELLS).copied().unwrap_or(f32::INFINITY)
        });
        for (x, v) in self.positions.iter().zip(&mut self.velocities) {
            let distance = place(x).distance_squared(middle);
            v[3] = 2.0 * edges.iter().filter(|edge| distance >= **edge).count() as f32;
        }
    }

    /// Checks bodies read from a file: coordinates, speeds and groups must be within ±[`FINITE_LIMIT`], and masses
    /// between 0 and [`FINITE_LIMIT`]. All velocity components of a quarantined body must be NaN.
    pub(crate) fn check(&self) -> Result<(), String> {
        let Self { positions, velocities } = self;
        if positions.len() != velocities.len() {
            return Err(format!(
                "the number of positions ({}) differs from the number of velocities ({})",
                positions.len(),
                velocities.len()
            ));
        }
        let is_finite = |x: &f32| x.abs() <= FINITE_LIMIT;
        for (nth, ([x, y, z, m], v)) in positions.iter().zip(velocities).enumerate() {
            let wrong = |what: &str| Err(format!("body {nth} has {what}"));
            if ![x, y, z].into_iter().all(is_finite) {
                return wrong(&format!(
                    "the position ({x:e}, {y:e}, {z:e}); all coordinates must be within ±{FINITE_LIMIT:e}"
                ));
            }
            if !(0.0..=FINITE_LIMIT).contains(m) {
                return wrong(&format!("the mass {m:e}; expected 0 to {FINITE_LIMIT:e}"));
            }
            if !is_quarantined(v) && !v.iter().all(is_finite) {
                return wrong(&format!(
                    "the velocity ({:e}, {:e}, {:e}) and the group {:e}; all must be within ±{FINITE_LIMIT:e}",
                    v[0], v[1], v[2], v[3]
                ));
            }
        }
        Ok(())
    }

    /// Returns the number of quarantined bodies, which are recognised by their non-finite velocities.
    pub fn nonfinite(&self) -> usize {
        self.velocities.iter().filter(|v| v[..3].iter().any(|c| !c.is_finite())).count()
    }
}

impl Bodies<f64> {
    /// Rounds the bodies to single precision.
    pub fn to_f32(&self) -> Bodies<f32> {
        let narrow = |rows: &Vec<[f64; 4]>| rows.iter().map(|r| r.map(|c| c as f32)).collect();
        Bodies { positions: narrow(&self.positions), velocities: narrow(&self.velocities) }
    }
}

/// Points to draw: one position and one value per body, read back from the device.
#[derive(Debug, Clone, Default)]
pub struct Points {
    /// Position `(x, y, z)` and a number `w` for each body. The meaning of `w` depends on `shape`; quarantined bodies
    /// have `w` = 0. [`Shape::Tracers`] stores velocities in `z` and `w`.
    pub positions: Memory<[f32; 4]>,
    /// Value that determines each body's colour, such as its speed; [`Points::QUARANTINED`] for quarantined bodies, and
    /// [`Points::UNMEASURED`] for bodies whose value is not known yet.
    pub values: Memory<f32>,
    /// Number of bodies left out between two consecutive entries of `positions` and `values`; 0 if no bodies are left
    /// out.
    pub skipped: usize,
    /// Image of the light of all bodies; `None` if it was not requested or if the mode has no such image.
    pub light: Option<LightImage>,
    /// Shape in which the bodies are drawn, such as glows or spheres.
    pub shape: Shape,
    /// Image of the fluid, drawn behind [`Shape::Tracers`]; empty for other shapes.
    pub image: Image,
    /// One value per recent step, such as the mean speed of a flow; empty if the mode records no such values.
    pub series: Memory<f32>,
    /// Cells of the tree to draw over the bodies; `None` if they were not requested or if the variant has no tree.
    pub cells: Option<Cells>,
    /// Number of bodies whose errors have been measured so far; `None` unless `values` holds logarithms of errors. Only
    /// some errors are measured at a time; other quantities are known for all bodies.
    pub measured: Option<usize>,
    /// Number that changes when the scene restarts or when `values` may hold a different quantity. After a change, the
    /// colour range jumps to the new values instead of moving smoothly.
    pub colours: u64,
}

/// Returns the distance between the indices of consecutive bodies in a sample of at most `most` of `count` bodies. The
/// distance is odd, because a scene may consist of two parts whose bodies alternate in the list; an even distance would
/// miss one part.
pub fn sample_stride(count: usize, most: usize) -> usize {
    count.div_ceil(most.max(1)) | 1
}

/// Shape in which bodies are drawn: glows, spheres or dots.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Shape {
    /// Soft glows whose size increases with the mass `w`.
    #[default]
    Glow,
    /// Shaded spheres of radius `w`, optionally with a planet at the origin. The last four bits of `w` hold the brightness of a
    /// flash, from 0 to 15.
    Spheres {
        /// Radius of the planet; 0 for no planet.
        planet: f32,
    },
    /// Short streaks for tracers, in a rectangle in the plane z = 0, centred at the origin. A tracer `(x, y, z, w)` is
    /// at the position `(x, y, 0)` and moves by `(z, w − 1)` in each step. Tracers with `w = 0` are hidden.
    Tracers {
        /// Half-width and half-height of the rectangle that contains the tracers.
        half: [f32; 2],
    },
}

impl Shape {
    /// Returns the radius of the planet at the origin, or 0 if there is no planet.
    pub fn planet(self) -> f32 {
        match self {
            Self::Spheres { planet } => planet,
            Self::Glow | Self::Tracers { .. } => 0.0,
        }
    }
}

impl Points {
    /// Entry in [`Points::values`] that marks a quarantined body (one whose position or velocity became non-finite).
    pub const QUARANTINED: f32 = f32::MIN;
    /// Entry in [`Points::values`] that marks a body whose value is not known yet; must match `shaders/common.glsl`.
    pub const UNMEASURED: f32 = f32::MAX;

    /// Lowest entry in [`Points::values`] that stands for a colour instead of a quantity; must match `shaders/common.glsl`.
    pub const LOWEST_COLOUR: f32 = f32::from_bits((127 + 126) << 23);
    /// Colour of bodies to which the scene gives no colour.
    const GREY: Srgb = [0x80, 0x7a, 0x74];

    /// Returns the entry in [`Points::values`] that stands for a colour: 2^103 (2^23 + c/2), where c is the colour as the
    /// number `0xRRGGBB`. The lowest bit of blue is lost.
    pub fn value_of([r, g, b]: Srgb) -> f32 {
        f32::from_bits(Self::LOWEST_COLOUR.to_bits() | u32::from_be_bytes([0, r, g, b]) >> 1)
    }

    /// Replaces the values of all bodies except quarantined ones with colours. `colours` contains the index and the
    /// colour of some bodies; all other bodies become grey.
    pub(crate) fn colour(&mut self, colours: impl Iterator<Item = (usize, Srgb)>) {
        let grey = Self::value_of(Self::GREY);
        self.values.iter_mut().filter(|value| **value != Self::QUARANTINED).for_each(|value| *value = grey);
        for (body, colour) in colours {
            let Some(place) = self.place(body) else { continue };
            if let Some(value) = self.values.get_mut(place).filter(|value| **value != Self::QUARANTINED) {
                *value = Self::value_of(colour);
            }
        }
    }

    /// Returns the index of the body whose entry in `positions` and `values` is number `nth`, counting from 0.
    pub fn body(&self, nth: usize) -> usize {
        nth * (self.skipped + 1)
    }

    /// Returns the index in `positions` and `values` of the body with the index `body`, or `None` if the body is left
    /// out. This is the inverse of [`Points::body`].
    pub fn place(&self, body: usize) -> Option<usize> {
        let every = self.skipped + 1;
        (body.is_multiple_of(every) && body / every < self.positions.len()).then_some(body / every)
    }

    /// Returns the entry in `positions` of the body with the index `body`, or `None` if the body is left out.
    pub fn position(&self, body: usize) -> Option<[f32; 4]> {
        self.positions.get(self.place(body)?).copied()
    }

    /// Returns the number of all bodies, including those left out of `positions` and `values`.
    pub fn bodies(&self) -> usize {
        self.light.as_ref().map_or(self.positions.len(), |light| light.bodies)
    }

    /// Returns the number of quarantined bodies; 0 for tracers, which are never quarantined.
    pub fn nonfinite(&self) -> usize {
        if let Some(light) = &self.light {
            return light.nonfinite();
        }
        if matches!(self.shape, Shape::Tracers { .. }) {
            return 0;
        }
        self.values.iter().filter(|value| **value == Self::QUARANTINED).count()
    }

    /// Returns the values at the two ends of the colour map: the 2nd and 98th percentiles of a sample of `values`. For
    /// errors, the ends are rounded outwards to whole powers of ten, which change seldom and are easy to read.
    pub fn value_range(&self) -> [f32; 2] {
        let is_known = |value: &f32| *value > Self::QUARANTINED && *value < Self::LOWEST_COLOUR;
        let values = self.values.iter().copied();
        let mut sample: Vec<f32> = match self.measured {
            None => values.step_by(sample_stride(self.values.len(), 1024)).filter(is_known).collect(),
            Some(measured) => values.filter(is_known).step_by(sample_stride(measured, 1024)).collect(),
        };
        sample.sort_unstable_by(f32::total_cmp);
        let at = |share: f32| (sample.len() as f32 - 1.0).max(0.0) * share;
        // Rounding outwards keeps the extremes of few bodies.
        let [low, high] = [at(0.02).floor(), at(0.98).ceil()].map(|nth| sample.get(nth as usize).copied());
        match (low, high) {
            (Some(low), Some(high)) if self.measured.is_some() => {
                [low.floor(), high.ceil().max(low.floor() + 1.0)]
            }
            (Some(low), Some(high)) => [low, high],
            _ => [0.0, 1.0],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strided_sample_is_bounded_and_contains_both_odd_and_even_indices() {
        for (count, most) in [(10, 10), (65_536, 16_384), (65_536, 4096), (1000, 1), (0, 5), (5, 0)] {
            let stride = sample_stride(count, most);
            assert!(count.div_ceil(stride) <= most.max(1), "{count} in {most}");
            let odd = (0..count).step_by(stride).filter(|body| body % 2 == 1).count();
            assert!(most < 2 || count < 2 || odd > 0, "{count} in {most}: only even bodies");
        }
        assert_eq!(sample_stride(10, 10), 1, "a sample of all bodies");
    }

    #[test]
    fn the_colour_range_spans_all_values_of_few_bodies_and_no_outliers_of_many() {
        let range = |values: Vec<f32>| Points { values: values.into(), ..Points::default() }.value_range();
        assert_eq!(range(vec![3.0, 1.0]), [1.0, 3.0]);
        assert_eq!(range(vec![3.0]), [3.0, 3.0]);
        assert_eq!(range(Vec::new()), [0.0, 1.0]);
        // Of many bodies, a few extreme ones do not count.
        let mut many: Vec<f32> = (0..1000).map(|nth| nth as f32).collect();
        many[7] = 1e9;
        assert!(range(many)[1] < 1000.0);
        // Two parts of a scene, filled alternately.
        let parts = (0..16_384).map(|nth| (nth % 2) as f32).collect();
        assert_eq!(range(parts), [0.0, 1.0]);
    }

    #[test]
    fn a_colour_encoded_as_a_float_decodes_to_the_same_rgb_bytes() {
        for colour in [[0, 0, 0], [255, 255, 254], [0xff, 0xcc, 0x44]] {
            let value = Points::value_of(colour);
            assert!((Points::LOWEST_COLOUR..Points::UNMEASURED).contains(&value) && value < 3e38);
            let code = ((value * 2f32.powi(-103)) as u32 - (1 << 23)) << 1;
            assert_eq!(code.to_be_bytes()[1..], colour);
        }
        let values = vec![1.0, Points::QUARANTINED, 2.0].into_iter().collect();
        let positions = vec![[0.0; 4]; 3].into();
        let mut points = Points { positions, values, ..Points::default() };
        points.colour([(0, [1, 2, 4]), (1, [1, 2, 4]), (9, [1, 2, 4])].into_iter());
        let [grey, own] = [Points::GREY, [1, 2, 4]].map(Points::value_of);
        assert_eq!(points.values[..], [own, Points::QUARANTINED, grey]);
        // The lists hold the bodies 0, 2 and 4.
        points.skipped = 1;
        points.colour([(2, [1, 2, 4]), (3, [1, 2, 4]), (4, [1, 2, 4])].into_iter());
        assert_eq!(points.values[..], [grey, Points::QUARANTINED, own]);
        assert_eq!((points.place(4), points.place(3), points.place(6)), (Some(2), None, None));
        assert_eq!(points.value_range(), [0.0, 1.0]);
    }
}
