//! Bodies on the host: what scenes make, files hold, devices are given and references step.

use crate::lattice::Image;
use crate::memory::Memory;

/// N bodies as the kernels lay them out: positions `(x, y, z, m)` and velocities `(vx, vy, vz, g)`,
/// where g is the number of the group that a body began in, a whole number that says nothing to the physics.
///
/// The two lists always have the same length. `T` is `f32` towards the device, `f64` in the references.
/// Units are N-body units: whatever makes `G` the number in the parameters.
///
/// A body that stops being finite is *quarantined* by the kernels: its mass becomes 0, its position stays
/// where it last was finite, and its velocity becomes NaN, which marks it. See [`Bodies::nonfinite`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Bodies<T = f32> {
    /// `(x, y, z, m)` of each body.
    pub positions: Vec<[T; 4]>,
    /// `(vx, vy, vz, g)` of each body.
    pub velocities: Vec<[T; 4]>,
}

/// The largest coordinate or speed that counts as finite: squared distances stay below `f32::MAX`.
pub const FINITE_LIMIT: f32 = 1e18;

/// Whether this velocity marks a quarantined body, as kernels mark it.
pub fn is_quarantined(velocity: &[f32; 4]) -> bool {
    velocity[..3].iter().all(|c| c.is_nan())
}

impl<T: Copy + Default> Bodies<T> {
    /// No bodies, with room for `n`; none if there is no memory for them.
    pub fn try_with_capacity(n: usize) -> Option<Self> {
        let mut bodies = Self { positions: Vec::new(), velocities: Vec::new() };
        bodies.positions.try_reserve_exact(n).ok()?;
        bodies.velocities.try_reserve_exact(n).ok()?;
        Some(bodies)
    }

    /// No bodies, with room for `n`.
    pub fn with_capacity(n: usize) -> Self {
        Self { positions: Vec::with_capacity(n), velocities: Vec::with_capacity(n) }
    }

    /// How many bodies there are.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// Adds one body, in group 0.
    pub fn push(&mut self, [x, y, z]: [T; 3], [vx, vy, vz]: [T; 3], mass: T) {
        self.positions.push([x, y, z, mass]);
        self.velocities.push([vx, vy, vz, T::default()]);
    }
}

impl Bodies<f32> {
    /// The same bodies in double precision, exactly.
    pub fn to_f64(&self) -> Bodies<f64> {
        let widen = |rows: &Vec<[f32; 4]>| rows.iter().map(|r| r.map(f64::from)).collect();
        Bodies { positions: widen(&self.positions), velocities: widen(&self.velocities) }
    }

    /// The group that each began in.
    pub fn origins(&self) -> impl Iterator<Item = f32> {
        self.velocities.iter().map(|v| v[3])
    }

    /// Where all are of one group, parts them into shells about their middle, each of about as many.
    pub fn part(&mut self) {
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
            v[3] = edges.iter().filter(|edge| distance >= **edge).count() as f32;
        }
    }

    /// Makes sure that bodies from a file are such as the kernels leave behind: places and masses within [`FINITE_LIMIT`], masses not
    /// below 0, and velocities within it too but for a quarantined body, whose velocity is NaN in each component. One that is marked in
    /// another way would be taken for one that moves.
    ///
    /// # Errors
    /// Which body is wrong, and what is expected.
    pub fn check(&self) -> Result<(), String> {
        let Self { positions, velocities } = self;
        if positions.len() != velocities.len() {
            return Err(format!("there are {} places and {} velocities", positions.len(), velocities.len()));
        }
        let is_finite = |x: &f32| x.abs() <= FINITE_LIMIT;
        for (nth, ([x, y, z, m], v)) in positions.iter().zip(velocities).enumerate() {
            let wrong = |what: &str| Err(format!("body {nth} has {what}"));
            let is_held_out = is_quarantined(v);
            if ![x, y, z].into_iter().all(is_finite) {
                return wrong(&format!(
                    "the place ({x:e}, {y:e}, {z:e}), and {FINITE_LIMIT:e} is the farthest"
                ));
            }
            if !(0.0..=FINITE_LIMIT).contains(m) {
                return wrong(&format!("the mass {m:e}; expected 0 to {FINITE_LIMIT:e}"));
            }
            if !is_held_out && !v.iter().all(is_finite) {
                return wrong(&format!(
                    "the velocity ({:e}, {:e}, {:e}) and the group {:e}; all must be within ±{FINITE_LIMIT:e}",
                    v[0], v[1], v[2], v[3]
                ));
            }
        }
        Ok(())
    }

    /// How many bodies are quarantined (see [`Bodies`]).
    pub fn nonfinite(&self) -> usize {
        self.velocities.iter().filter(|v| v[..3].iter().any(|c| !c.is_finite())).count()
    }
}

impl Bodies<f64> {
    /// The same bodies rounded to single precision.
    pub fn to_f32(&self) -> Bodies<f32> {
        let narrow = |rows: &Vec<[f64; 4]>| rows.iter().map(|r| r.map(|c| c as f32)).collect();
        Bodies { positions: narrow(&self.positions), velocities: narrow(&self.velocities) }
    }
}

/// What is drawn: one position and one value per body, read back from the device.
#[derive(Debug, Clone, Default)]
pub struct Points {
    /// `(x, y, z, w)` of each body; what `w` is, `shape` says. Quarantined bodies have `w = 0`.
    pub positions: Memory<[f32; 4]>,
    /// What the colour shows, such as the speed of each body; [`Points::HELD_OUT`] for a quarantined one.
    pub values: Memory<f32>,
    /// What a body looks like.
    pub shape: Shape,
    /// What lies behind them, of [`Shape::Tracers`]; empty if there is nothing.
    pub image: Image,
    /// What the mode tells of each step of the last burst; empty if it tells nothing.
    pub series: Memory<f32>,
    /// Counts what colours mean: while it stays they follow the values smoothly, with another they begin anew.
    pub colours: u64,
}

/// What a body looks like.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Shape {
    /// A glow without an edge, larger for a larger mass `w`.
    #[default]
    Glow,
    /// A lit ball of radius `w`, in a scene with a planet of radius `planet` at the origin; 0 is none.
    Spheres {
        /// The planet's radius.
        planet: f32,
    },
    /// A dot in the plane z = 0, in which what there is reaches so far from the origin along x and y. One with `w = 0` is
    /// hidden for now.
    Tracers {
        /// Half its width and half its height.
        half: [f32; 2],
    },
}

impl Shape {
    /// The radius of the planet at the origin; 0 is none.
    pub fn planet(self) -> f32 {
        match self {
            Self::Spheres { planet } => planet,
            Self::Glow | Self::Tracers { .. } => 0.0,
        }
    }
}

impl Points {
    /// The value of a quarantined body.
    pub const HELD_OUT: f32 = f32::MIN;

    /// How many bodies are quarantined.
    pub fn nonfinite(&self) -> usize {
        if matches!(self.shape, Shape::Tracers { .. }) {
            return 0;
        }
        self.values.iter().filter(|value| **value == Self::HELD_OUT).count()
    }

    /// The values that the ends of the colour map stand for: the 2nd and 98th percentile of a sample.
    pub fn value_range(&self) -> [f32; 2] {
        let stride = self.values.len().div_ceil(1024).max(1);
        let mut sample: Vec<f32> =
            self.values.iter().step_by(stride).copied().filter(|v| *v > Self::HELD_OUT).collect();
        sample.sort_unstable_by(f32::total_cmp);
        let at = |share: f32| sample.get(((sample.len() as f32 - 1.0) * share) as usize).copied();
        match (at(0.02), at(0.98)) {
            (Some(low), Some(high)) => [low, high],
            _ => [0.0, 1.0],
        }
    }
}
