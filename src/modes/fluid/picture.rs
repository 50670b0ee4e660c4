//! Tracers, images, readings and brush of a fluid simulation, and the implementation of [`Simulation`] for fluids.

use std::ops::Range;
use std::sync::Arc;

use super::carried::{HALVES, MEAN_SPEEDS, SERIES, TRACERS};
use super::grid::check_walls;
use super::parameters::{Collision, Colour, Drive, Field, Fluid};
use super::simulation::{Burst, FluidSimulation};
use crate::base::flow::{deviations, populations};
use crate::base::{Image, LightRequest, Points, Result, SPEEDS, Shape, State, Stroke, Tones};
use crate::compute::{Arg, Buffer, Kernel, Lane, Pass, Pending, ProgramSource};
use crate::modes::carried::list;
use crate::modes::{
    Cursor, Diagnostics, Effect, Extra, Judged, Mode, Reading, Remedy, Sample, SharedSimulation, Simulation,
};

/// Maximum width and height of an image, in pixels.
const IMAGE_SIDE: usize = 1024;

/// Largest Mach number at which the method is accurate. The error grows with the square of the Mach number.
const MOST_MACH: f64 = 0.3;
const TOO_FAST: &str = "The flow is faster than 0.3 times the speed of sound, which makes the results inaccurate: reduce the inlet speed or the push.";

// Numbers that select a quantity in the kernel `image`.
const SPEED: u32 = 0;
const VORTICITY: u32 = 1;
const DENSITY: u32 = 2;

impl Field {
    /// Returns the colours in which the field is drawn.
    pub(super) fn tones(self) -> Tones {
        match self {
            Self::Walls => Tones::None,
            Self::Speed => Tones::Rising,
            Self::Vorticity => Tones::Signed,
            Self::Density => Tones::Spread,
        }
    }
}

impl FluidSimulation {
    /// Queues an update of the velocities and densities of all cells, from which the picture and readings are computed.
    /// Does nothing if they have already been gathered from all devices.
    pub(super) fn update_whole_field(&mut self) -> Result<()> {
        if self.share.has_all_fields { Ok(()) } else { self.update_field(0..self.walls.ny) }
    }

    /// Queues an update of the velocities and densities of the cells in the grid rows `rows`.
    pub(super) fn update_field(&mut self, rows: Range<usize>) -> Result<()> {
        let own = [self.coefficients(), (&self.solid).into(), (&self.f[0]).into(), (&self.field).into()];
        let args = [self.grid.args().as_slice(), &own].concat();
        let (mut from, end) = (rows.start * self.walls.nx, rows.end * self.walls.nx);
        while from < end {
            from = self.lane.slice(Pass::cheap(&self.survey, &args, end), from)?;
        }
        Ok(())
    }

    fn sides(&self) -> [Arg<'static>; 2] {
        [self.walls.nx, self.walls.ny].map(|x| Arg::Uint(x as u32))
    }

    /// Queues the kernel that moves the tracers with the flow up to the current step.
    pub(super) fn move_tracers(&mut self) -> Result<()> {
        let steps = self.burst.step - std::mem::replace(&mut self.burst.moved, self.burst.step);
        let [nx, ny] = self.sides();
        let args = [
            Arg::Uint(self.tracers.len() as u32),
            nx,
            ny,
            Arg::Uint(steps),
            Arg::Uint(self.now),
            (&self.field).into(),
            (&self.tracers).into(),
        ];
        self.lane.whole(Pass::cheap(&self.carry, &args, self.tracers.len()))
    }

    /// Makes all cells within `radius` cells of one of the `middles` solid or free. In freed cells, the fluid is at
    /// rest.
    ///
    /// # Errors
    /// Returns an error if no free cell would remain or if the device fails.
    pub fn paint_discs(&mut self, middles: &[[i64; 2]], radius: usize, solid: bool) -> Result<()> {
        let mut walls = self.walls.clone();
        middles.iter().for_each(|at| walls.paint(*at, radius, solid));
        check_walls(&walls)?;
        if walls == self.walls {
            return Ok(());
        }
        (self.free, self.walls, self.stepped) = (walls.free(), walls, false);
        self.share.has_all_fields = false;
        for at in middles {
            let [x, y] =
                at.map(|at| at.clamp(i64::from(i32::MIN / 2), i64::from(i32::MAX / 2)) as i32 as u32);
            let own = [
                self.coefficients(),
                Arg::Uint(x),
                Arg::Uint(y),
                Arg::Uint(radius as u32),
                Arg::Uint(u32::from(solid)),
                (&self.solid).into(),
                (&self.f[0]).into(),
            ];
            let args = [self.grid.args().as_slice(), &own].concat();
            self.lane.whole(Pass::cheap(&self.paint, &args, self.walls.cells()))?;
        }
        self.lane.flush()
    }

    /// Returns the width and height of the image in pixels, and the side length of a pixel in cells.
    pub(super) fn image_size(&self) -> (usize, usize, usize) {
        let by = self.walls.nx.max(self.walls.ny).div_ceil(IMAGE_SIDE);
        (self.walls.nx.div_ceil(by), self.walls.ny.div_ceil(by), by)
    }

    /// Queues the kernel that draws the selected field. Returns the image's width, height and colour mapping.
    fn draw_image(&mut self) -> Result<(usize, usize, Tones)> {
        let (width, height, by) = self.image_size();
        let [nx, ny] = self.sides();
        let what = match self.params.field {
            Field::Walls | Field::Speed => SPEED,
            Field::Vorticity => VORTICITY,
            Field::Density => DENSITY,
        };
        let args =
            [nx, ny, Arg::Uint(by as u32), Arg::Uint(what), (&self.field).into(), (&self.pixels).into()];
        self.lane.whole(Pass::cheap(&self.image, &args, width * height))?;
        Ok((width, height, self.params.field.tones()))
    }

    /// Returns the computed and the reference (f64) results of the last step for the free cells among `chosen`. The
    /// results are deviations from a fluid at rest; errors are therefore relative to the motion of the fluid.
    fn judged(&mut self, chosen: Vec<usize>) -> Result<Sample> {
        let (now, before) = (self.f[0].read()?, self.f[1].read()?);
        let (params, grid, walls) = (self.params.clone(), self.grid, self.walls.clone());
        // The variant `split` keeps the populations that have arrived from neighbouring cells in the second grid.
        let has_arrived = self.kernels.len() > 1;
        let judge = move |i: usize| {
            if walls.solid[i] {
                return None;
            }
            let cell =
                |packed: &[u32], i: usize| populations(&grid.cell(packed, i).map(f64::from), grid.rest);
            let arrived = match has_arrived {
                true => cell(&before, i),
                false => params.arrived(&walls, &|i| cell(&before, i), i),
            };
            let computed = grid.cell(&now, i).map(f64::from);
            let right = deviations(&params.relaxed(&arrived), grid.rest);
            let moving = |[_, a, b, c, d, e, f, g, h]: [f64; SPEEDS]| Effect {
                velocity: [a, b, c, d],
                position: [e, f, g, h],
            };
            let resting =
                |cell: [f64; SPEEDS]| Effect { velocity: [cell[0], 0.0, 0.0, 0.0], ..Effect::default() };
            Some([
                Judged { body: i, computed: moving(computed), right: moving(right) },
                Judged { body: i, computed: resting(computed), right: resting(right) },
            ])
        };
        Ok(Box::new(chosen.into_iter().filter_map(judge).flatten()))
    }
}

impl Simulation for FluidSimulation {
    fn set(&mut self, mode: &dyn Mode) -> Result<()> {
        let params = mode.of::<Fluid>()?;
        self.params = params.clone();
        (self.stepped, self.share.has_all_fields) = (false, false);
        Ok(())
    }

    fn start(&mut self, steps: u32) {
        debug_assert!(!self.kernels.is_empty(), "a simulation without kernels for steps can only be drawn");
        self.stepped |= steps > 0;
        self.share.has_all_fields = false;
        (self.burst, self.cursor) = (Burst { steps, ..Burst::default() }, Cursor::default());
    }

    fn advance(&mut self) -> Result<bool> {
        self.advance_alone()
    }

    fn progress(&self) -> f32 {
        let Burst { steps, step, .. } = self.burst;
        step as f32 / steps.max(1) as f32
    }

    fn source(&self) -> Option<&Arc<ProgramSource>> {
        self.kernels.first().map(Kernel::source)
    }

    fn lane(&mut self) -> &mut Lane {
        &mut self.lane
    }

    fn state(&mut self) -> Result<State> {
        Ok(self.flow()?.into())
    }

    /// Returns the mean speeds of the last burst and the positions of the tracers. The positions are stored because
    /// building a simulation moves the tracers.
    fn extra(&mut self) -> Result<Extra> {
        let series = self.series()?.into_iter().map(|speed| speed as f32).collect();
        let tracers = self.tracers.read()?.into_flattened();
        Ok(Extra::from([(TRACERS.to_owned(), tracers), (MEAN_SPEEDS.to_owned(), series)]))
    }

    fn resume(&mut self, extra: &Extra) -> Result<()> {
        let tracers = list(extra, TRACERS, 2 * self.tracers.len())?.as_chunks().0;
        self.tracers = Buffer::from_slice(self.lane.device(), tracers)?;
        if self.grid.has_halves() && extra.contains_key(HALVES) {
            let words: &[u32] = bytemuck::cast_slice(list(extra, HALVES, self.grid.len())?);
            let f = || Buffer::from_slice(self.lane.device(), words);
            self.f = [f()?, f()?];
        }
        let means = extra.get(MEAN_SPEEDS).map_or(&[][..], |means| &means[..means.len().min(SERIES)]);
        let steps = means.len() as u32;
        self.series[0] = Buffer::from_slice(self.lane.device(), means)?;
        self.burst = Burst { steps, step: steps, summed: steps, moved: steps };
        Ok(())
    }

    fn publish(&mut self, points: Points, _light: Option<&LightRequest>) -> Result<Pending<Points>> {
        self.update_whole_field()?;
        let [nx, ny] = self.sides();
        let colour = match self.params.colour {
            Colour::Speed => SPEED,
            Colour::Vorticity => VORTICITY,
        };
        let (width, height, tones) = self.draw_image()?;
        let [field, tracers] = [(&self.field).into(), (&self.tracers).into()];
        let args = [Arg::Uint(self.tracers.len() as u32), nx, ny, Arg::Uint(colour), field, tracers];
        let Points { positions, values, image, series, .. } = points;
        let longest = self.walls.nx.max(self.walls.ny) as f32;
        let half = [self.walls.nx, self.walls.ny].map(|side| side as f32 / longest);
        let memory = Points { positions, values, ..Points::default() };
        let tracers = self.packed.publish(&mut self.lane, &args, memory, Shape::Tracers { half })?;
        let pixels = self.pixels.read_into(image.values)?;
        let sums = self.series[0].read_into(series)?;
        // A burst of more than `SERIES` steps overwrites the beginning of the series, so the series is not shown.
        let is_whole = self.burst.steps as usize <= SERIES && self.burst.steps > 0;
        let mean_speeds = self.share.mean_speeds.clone();
        Ok(tracers.and(pixels).and(sums).map(move |((points, values), series)| Points {
            image: Image { width, height, values, tones },
            series: match mean_speeds {
                Some(mean_speeds) => mean_speeds.into(),
                None if is_whole => series,
                None => Default::default(),
            },
            ..points
        }))
    }

    /// Returns the mean speed over the free cells after each step of the last burst, for at most `SERIES` steps.
    fn series(&mut self) -> Result<Vec<f64>> {
        if let Some(means) = &self.share.mean_speeds {
            return Ok(means.iter().copied().map(f64::from).collect());
        }
        if self.burst.steps == 0 {
            return Ok(Vec::new());
        }
        let mut means = self.series[0].read()?;
        // The buffer wraps around in a burst of more than `SERIES` steps.
        let first = if self.burst.summed as usize > SERIES { self.burst.summed as usize % SERIES } else { 0 };
        means.rotate_left(first);
        Ok(means.into_iter().map(f64::from).collect())
    }

    fn is_painted_by(&self, stroke: &Stroke) -> bool {
        self.walls.differ(stroke)
    }

    fn paint(&mut self, stroke: &Stroke) -> Result<()> {
        let (middles, radius) = stroke.discs(&self.walls);
        self.paint_discs(&middles, radius, stroke.solid)
    }

    fn sample(&mut self, chosen: Vec<usize>) -> Result<Option<Sample>> {
        match self.stepped && self.burst.step == self.burst.steps && self.burst.steps > 0 {
            true => self.judged(chosen).map(Some),
            false => Ok(None),
        }
    }

    fn diagnostics(&mut self) -> Result<Diagnostics> {
        self.update_whole_field()?;
        self.lane.flush()?;
        let sums = self.reduction.run(&[Arg::Uint(self.walls.cells() as u32), (&self.field).into()])?;
        let [free, mass, viscosity] = sums.extra;
        let mach = sums.maxima[0] * 3f64.sqrt();
        // With eddy viscosity, nominal and effective Reynolds numbers differ.
        let is_turbulent = self.params.collision == Collision::Les && free > 0.0;
        let (viscosity, largest) = (viscosity / free, sums.maxima[1]);
        let nominal = |plain: &'static str, nominal: &'static str| if is_turbulent { nominal } else { plain };
        let drive = if self.params.drive == Drive::Inlet { "inlet" } else { "accel" };
        let mut readings = Vec::new();
        // The mean speed is unknown before the first step and after a blow-up.
        if let Some(&mean) = self.series()?.last().filter(|mean| mean.is_finite()) {
            let reynolds = self.params.reynolds(mean, self.walls.length);
            readings.push(Reading::new("reynolds", nominal("Reynolds number", "Nominal Reynolds number"), reynolds).help("Mean speed × characteristic length of the scene / viscosity given by ω. The higher the number, the more turbulent the flow."));
            if is_turbulent {
                let effective = reynolds * self.params.viscosity() / viscosity;
                let help = "Mean speed × characteristic length of the scene / mean effective viscosity.";
                let name = "Effective Reynolds number";
                readings.push(Reading::new("effective_reynolds", name, effective).help(help));
            }
            let help = "Mean speed of the fluid in all cells without obstacles, in cells per step.";
            readings.push(Reading::new("mean_speed", "Mean speed", mean).help(help));
        }
        let name = nominal("Viscosity", "Nominal viscosity");
        let help = "Viscosity given by the relaxation ω: (2/ω − 1)/6, in cells² per step.";
        readings.push(Reading::new("viscosity", name, self.params.viscosity()).help(help));
        if is_turbulent {
            readings.extend([
                Reading::new("effective_viscosity", "Mean effective viscosity", viscosity).help("Nominal viscosity plus eddy viscosity, averaged over all cells without obstacles, in cells² per step."),
                Reading::new("largest_viscosity", "Largest effective viscosity", largest).help("Nominal viscosity plus eddy viscosity in the cell where the sum is largest, in cells² per step."),
            ]);
        }
        readings.extend([
            Reading::new("mach", "Largest u/c", mach).help("Largest speed of the fluid, u, divided by the speed of sound, c. Above 0.3, the results are inaccurate, because the fluid is compressed.")
            .warns_of(mach > MOST_MACH, TOO_FAST, Remedy::Multiply(drive, 0.5)),
            Reading::new("mass", "Mass", mass).help("Total mass of the fluid, in all cells without obstacles."),
            Reading::count("free", "Free cells", free).help("Number of cells that contain no obstacle and whose values are finite."),
        ]);
        Ok(Diagnostics { readings, ..sums.diagnostics })
    }
}
