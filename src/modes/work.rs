//! Cost of a step, units of speed, and default numbers of bodies or cells, for each mode.

use crate::base::{MAX_CELLS, Matter};
use crate::compute::DeviceKind;

/// Description of what a mode simulates and how much work a step requires.
#[derive(Debug)]
pub struct Work {
    /// Kind of matter that the mode simulates: bodies or a fluid.
    pub matter: Matter,
    /// Whether the mouse can select, launch and attract bodies. The error says why it cannot, and what to do instead.
    pub tools: Result<(), &'static str>,
    /// Whether the brush can paint obstacles. The error says why it cannot.
    pub brush: Result<(), &'static str>,
    /// Whether the camera can rotate around the scene and follow its centre. The error says why it cannot.
    pub orbit: Result<(), &'static str>,
    /// Whether the total momentum is meaningful in this mode.
    pub shows_momentum: bool,
    /// Plural noun for the simulated items, such as `bodies`.
    pub things: &'static str,
    /// Label and tooltip for the number of bodies or cells.
    pub label: (&'static str, &'static str),
    /// Unit of the main speed in the panel, such as `interactions`.
    pub unit: &'static str,
    /// Explanation of the main speed in the panel.
    pub help: &'static str,
    /// Returns the number of units of work in one force evaluation, given the number of bodies or cells.
    pub in_step: fn(usize) -> f64,
    /// Key of the speed in reports, and how many units of work per second make up one unit of the reported speed.
    pub report: (&'static str, f64),
    /// Common name of the unit of the reported speed, such as MLUPS; `None` if the unit has no common name.
    pub name: Option<&'static str>,
    /// Number of floating-point operations per unit of work, as usually counted in the literature; `None` if unknown.
    pub flops: Option<f64>,
    /// Smallest and largest number of steps that `auto` chooses for a burst (the steps between two frames).
    pub burst: (u32, u32),
    /// Maximum number of bodies or cells on any device. The number must fit in a kernel's `uint` even when rounded up.
    pub most: usize,
    /// Suitable numbers of bodies or cells: first for CPUs, then for all other devices.
    sizes: [Sizes; 2],
}

/// Numbers of bodies or cells that suit one kind of device, such as CPUs.
#[derive(Debug)]
pub struct Sizes {
    /// Number of bodies or cells that `auto` selects.
    pub auto: usize,
    /// Largest number of bodies or cells worth tuning kernels for. Above this number, the speed hardly changes.
    pub telling: usize,
    /// Numbers of bodies or cells that `bench` measures by default.
    pub bench: &'static [usize],
}

impl Work {
    /// Describes the work of modes that evaluate all pairs of bodies.
    pub(super) const fn pairs(unit: &'static str, flops: Option<f64>) -> Self {
        Self {
            matter: Matter::Bodies,
            tools: Ok(()),
            brush: Err("The brush works only in fluid mode."),
            orbit: Ok(()),
            shows_momentum: true,
            things: "bodies",
            label: (
                "Bodies",
                "Number of bodies. With most variants, the work per step grows with the square of this number.",
            ),
            unit,
            help: "Pairs of bodies per second, counted as N² for each force evaluation or substep, even if pairs are skipped. With the variant `tree`, only the interactions that are computed count. In brackets: floating-point operations per second, at 20 per pair.",
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

    /// Describes the work of modes that advance every cell of a grid.
    pub(super) const fn cells() -> Self {
        Self {
            matter: Matter::Flow,
            tools: Err(
                "This mode has no bodies to select, launch or attract. Paint obstacles with the brush (B) instead.",
            ),
            brush: Ok(()),
            orbit: Err(
                "A flow is flat, so the camera does not rotate. Drag to move the view, and scroll to zoom.",
            ),
            shows_momentum: false,
            things: "cells",
            label: (
                "Cells",
                "Approximate number of cells. The scene determines the width and height of the grid. Changing the number changes the Reynolds number.",
            ),
            unit: "lattice updates",
            help: "Number of cells updated per second, in millions (MLUPS: million lattice updates per second). Cells with obstacles are included.",
            in_step: |cells| cells as f64,
            report: ("mlups", 1e6),
            name: Some("MLUPS"),
            flops: None,
            // In each step, a sound wave travels 0.6 cells, and the fluid about 0.1 cells.
            burst: (16, 32),
            most: MAX_CELLS,
            sizes: [
                Sizes { auto: 1 << 16, telling: 1 << 20, bench: &[1 << 14, 1 << 16, 1 << 20] },
                Sizes { auto: 1 << 16, telling: 1 << 24, bench: &[1 << 16, 1 << 20, 1 << 24] },
            ],
        }
    }

    /// Returns the numbers of bodies or cells that suit a kind of device.
    pub fn sizes(&self, kind: DeviceKind) -> &Sizes {
        &self.sizes[usize::from(kind != DeviceKind::Cpu)]
    }

    /// Converts a speed in units of work per second to the unit used in reports.
    pub fn reported(&self, per_second: f64) -> f64 {
        per_second / self.report.1
    }
}

/// A quantity that a mode reports for every step.
#[derive(Debug)]
pub struct Series {
    /// Key of the quantity in reports.
    pub key: &'static str,
    /// Label of the quantity on the screen.
    pub label: &'static str,
    /// Explanation of the quantity, shown in a tooltip.
    pub help: &'static str,
    /// Message shown when a value is no longer finite. The message explains what happened and what to do.
    pub broken: &'static str,
}
