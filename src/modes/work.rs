//! What a step costs, how speeds are told, and how large things are at first.

use crate::compute::Kind;
use crate::lattice::MAX_CELLS;
use crate::state::Matter;

/// What a mode steps, and what counts as its work.
#[derive(Debug)]
pub struct Work {
    /// What it steps.
    pub matter: Matter,
    /// What there are N of: `bodies`.
    pub things: &'static str,
    /// The same beside its number, and what to know of that.
    pub label: (&'static str, &'static str),
    /// What happens in a step to each pair, or each cell: the unit of the headline speed, as `interactions`.
    pub unit: &'static str,
    /// What that speed is.
    pub help: &'static str,
    /// How many of these there are in a step of N that evaluates forces once.
    pub in_step: fn(usize) -> f64,
    /// The key of the speed in reports, and how many it counts in.
    pub report: (&'static str, f64),
    /// What the literature calls that many a second, if it has a name.
    pub name: Option<&'static str>,
    /// Floating-point operations that one counts for in the literature, if it counts them.
    pub flops: Option<f64>,
    /// Steps to a burst of `auto` length: at least where that takes no time to speak of, and at most while it is watched.
    pub burst: (u32, u32),
    /// The most there may be on any device: kernels count in `uint`, with room to round up.
    pub most: usize,
    /// Numbers that suit CPUs and others.
    sizes: [Sizes; 2],
}

/// Numbers of bodies or cells that suit a kind of device.
#[derive(Debug)]
pub struct Sizes {
    /// What `auto` comes to.
    pub auto: usize,
    /// What is worth tuning for: beyond, the speed stays what it is.
    pub telling: usize,
    /// What `bench` measures.
    pub bench: &'static [usize],
}

impl Work {
    /// All pairs of bodies.
    pub(super) const fn pairs(unit: &'static str, flops: Option<f64>) -> Self {
        Self {
            matter: Matter::Bodies,
            things: "bodies",
            label: ("Bodies", "How many bodies there are: the work grows with the square."),
            unit,
            help: "pairs of bodies per second: N² for each force evaluation or substep, even if pairs are skipped; in brackets: operations per second, at 20 per pair",
            in_step: |bodies| (bodies as f64).powi(2),
            report: ("interactions_per_second", 1.0),
            name: None,
            flops,
            burst: (1, 4),
            most: 1 << 31,
            sizes: [
                Sizes { auto: 4_096, telling: 16_384, bench: &[1_024, 4_096, 16_384] },
                Sizes { auto: 65_536, telling: 262_144, bench: &[16_384, 65_536, 262_144] },
            ],
        }
    }

    /// Every cell of a grid, whose sides a scene chooses.
    pub(super) const fn cells() -> Self {
        Self {
            matter: Matter::Flow,
            things: "cells",
            label: (
                "Cells",
                "About how many cells the grid has: the scene chooses its sides. What is the same size in cells has another Reynolds number then.",
            ),
            unit: "lattice updates",
            help: "million lattice updates a second: every cell in every step, solid or not",
            in_step: |cells| cells as f64,
            report: ("mlups", 1e6),
            name: Some("MLUPS"),
            flops: None,
            // A sound wave crosses a cell or two in a step, and the flow a tenth of one.
            burst: (16, 32),
            most: MAX_CELLS,
            sizes: [
                Sizes { auto: 1 << 16, telling: 1 << 20, bench: &[1 << 14, 1 << 16, 1 << 20] },
                Sizes { auto: 1 << 16, telling: 1 << 24, bench: &[1 << 16, 1 << 20, 1 << 24] },
            ],
        }
    }

    /// Numbers that suit a kind of device.
    pub fn sizes(&self, kind: Kind) -> &Sizes {
        &self.sizes[usize::from(kind != Kind::Cpu)]
    }

    /// A speed as it stands in reports.
    pub fn reported(&self, per_second: f64) -> f64 {
        per_second / self.report.1
    }
}

/// What a mode tells of every step.
#[derive(Debug)]
pub struct Series {
    /// Its name in reports.
    pub key: &'static str,
    /// Its name on the screen.
    pub label: &'static str,
    /// What it is.
    pub help: &'static str,
    /// What it means if it is no number any more, and what to do then.
    pub broken: &'static str,
}
