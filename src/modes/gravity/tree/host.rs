//! The tree in host memory: finds the cells at a given depth, and the cells that a body's walk opens or accepts.
//!
//! The walk follows the kernels in `kernels/gravity/tree.cl`, and in `walk.cl` and `sets.cl` in
//! `kernels/gravity/tree/gpu`.

use std::ops::Range;

use glam::{DVec3, Vec3};

use super::criterion::{FAR_RADII, FAR_SOFTENING, FEW_BODIES, LARGEST_ANGLE, Method, OPENED_RADII, ROUNDING};
use crate::base::cells::{Corners, MOST_BOXES, WalkCounts};
use crate::modes::gravity::parameters::Softening;

/// A cell of the tree in host memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cell {
    /// For a cell with children, the id of the first child and the number of children. For a leaf, the index of the
    /// first body in the tree's order and the number of bodies.
    pub parts: (u32, u32),
    pub is_inner: bool,
    pub centre: Vec3,
    pub mass: f32,
    /// Largest distance of the cell's bodies from their centre of mass.
    pub radius: f32,
    /// Elements xx, xy, xz, yy and yz of the quadrupole Σ m (3 x xᵀ − x² 1) around `centre`, divided by the mass and by
    /// radius².
    pub quadrupole: [f32; 5],
    /// Sum Σ m x² over the bodies, divided by the mass and by radius²; x is a body's distance from `centre`.
    pub trace: f32,
}

impl Cell {
    fn parts(&self) -> Range<u32> {
        self.parts.0..self.parts.0 + self.parts.1
    }
}

/// The cells of a tree in host memory. Cells have ids; the root has id 0.
pub(super) struct HostCells {
    /// Depth down to which `cell` and `corners` can return all cells.
    pub depth: u32,
    /// Returns the cell with this id.
    pub cell: Box<dyn Fn(u32) -> Cell>,
    /// Returns the box around the bodies of the cell with this id.
    pub corners: Box<dyn Fn(u32) -> Corners>,
}

impl HostCells {
    /// Returns the ids of the cells at the depth `wanted` and of the leaves at smaller depths, and then the depth
    /// itself. Uses a smaller depth if there are more than [`MOST_BOXES`] such cells or if the cells were not read to
    /// that depth.
    pub(super) fn at_depth(&self, wanted: u32) -> (Vec<u32>, u32) {
        let mut level = vec![0];
        for depth in 0..wanted {
            let mut next = Vec::new();
            let mut is_last = true;
            for &id in &level {
                let cell = (self.cell)(id);
                is_last &= !cell.is_inner;
                if cell.is_inner { next.extend(cell.parts()) } else { next.push(id) }
            }
            if is_last {
                break;
            }
            if depth >= self.depth || next.len() > MOST_BOXES {
                return (level, depth);
            }
            level = next;
        }
        (level, wanted)
    }

    pub(super) fn boxes(&self, ids: &[u32]) -> Vec<Corners> {
        ids.iter().map(|id| (self.corners)(*id)).collect()
    }
}

/// The bodies in host memory, in the order of the tree.
pub(super) struct HostBodies {
    /// Position and mass of each body.
    pub positions: Vec<[f32; 4]>,
    /// Magnitude of each body's last acceleration, without the gravitational constant.
    pub last: Vec<f32>,
    /// Index of each body in the simulation's own list of bodies.
    pub ids: Vec<u32>,
}

/// Bounds of the bodies that share a walk, from which the walk decides whether to accept a cell.
pub(super) struct Target {
    /// One entry for each part of the bodies: the centre of the box around the part, half the size of the box, and the
    /// largest error that an accepted cell may have.
    parts: Vec<(Vec3, Vec3, f32)>,
    centre: Vec3,
    /// Largest distance of the bodies from `centre`.
    radius: f32,
}

impl Target {
    /// Creates the bounds of the bodies in `range`, with one box for every `part` consecutive bodies.
    pub(super) fn new(bodies: &HostBodies, range: Range<usize>, part: usize, opening: f32) -> Self {
        let place = |i: usize| Vec3::from_slice(&bodies.positions[i][..3]);
        let bounds = |range: Range<usize>| {
            let start = place(range.start);
            range.map(place).fold((start, start), |(low, high), x| (low.min(x), high.max(x)))
        };
        let box_of = |from: usize| {
            let part = from..range.end.min(from + part);
            let least = bodies.last[part.clone()].iter().copied().fold(f32::INFINITY, f32::min);
            let (low, high) = bounds(part);
            (0.5 * low + 0.5 * high, 0.5 * high - 0.5 * low, opening * least)
        };
        let (low, high) = bounds(range.clone());
        let centre = 0.5 * low + 0.5 * high;
        Self {
            parts: range.clone().step_by(part).map(box_of).collect(),
            radius: range.map(|i| place(i).distance(centre)).fold(0.0, f32::max),
            centre,
        }
    }
}

/// A set of groups whose walks begin together.
pub(super) struct Set {
    /// Bounds of all bodies of the set.
    pub bounds: Target,
    /// Maximum number of cells that the walk for the set may leave to its groups. If there are more, the groups begin
    /// at the root.
    pub most_left: usize,
}

/// Rules by which a tree walk decides whether a cell acts as a whole or is opened.
pub(super) struct Rules {
    pub softening: Softening,
    /// Square of the softening length.
    pub eps2: f32,
    /// Error limit for a cell that acts on an expansion, divided by the limit for a cell that acts on bodies.
    pub far_share: f32,
    pub method: Method,
    /// Largest radius of an accepted cell, as a fraction of its distance, if cells are accepted by their angle alone.
    pub angle: f32,
}

/// Whether a cell may act as a whole on a group of bodies, and whether it may act on the expansion around the group's
/// centre.
struct Verdict {
    is_accepted: bool,
    is_far: bool,
}

impl Rules {
    fn judge(&self, target: &Target, cell: &Cell) -> Verdict {
        let place = cell.centre.abs().max_element();
        let accepts = |&(centre, half, limit): &(Vec3, Vec3, f32)| {
            let gap2 = ((cell.centre - centre).abs() - half).max(Vec3::ZERO).length_squared();
            let near = gap2.sqrt().recip();
            let size = cell.radius * near;
            let is_small = match self.method.uses_accelerations {
                true => {
                    let error = cell.mass * near * near * (size * size * size + ROUNDING * place * near);
                    size < LARGEST_ANGLE && error <= limit
                }
                false => size < self.angle,
            };
            is_small && (self.softening == Softening::Plummer || gap2 > self.eps2)
        };
        let is_accepted = target.parts.iter().all(accepts);
        let d2 = (cell.centre - target.centre).length_squared();
        let away = d2.sqrt().recip();
        let (own, other) = (target.radius * away, cell.radius * away);
        // Largest allowed error of a cell, and the factor M/d² of the cell's error; both divided by M/d² if cells are
        // accepted by their angle alone.
        let (limit, strength) = match self.method.uses_accelerations {
            true => {
                let limits = target.parts.iter().map(|part| part.2);
                (limits.fold(f32::INFINITY, f32::min), cell.mass * away * away)
            }
            false => (self.angle.powi(3), 1.0),
        };
        let (own2, other2) = (own * own, other * other);
        let soft = if self.softening == Softening::Plummer { self.eps2 * away * away } else { 0.0 };
        let missed = own2 * (2.0 * other2 + own2 + FAR_SOFTENING * soft * (own + other2));
        let is_far = self.method.has_expansions
            && is_accepted
            && own * FAR_RADII < 1.0
            && strength * missed <= self.far_share * limit;
        Verdict { is_accepted, is_far }
    }

    fn softened(&self, r2: f64) -> f64 {
        let eps2 = f64::from(self.eps2);
        if self.softening == Softening::Plummer { r2 + eps2 } else { r2.max(eps2) }
    }
}

/// Result of a tree walk for a group of bodies: the cells that were opened and the cells that act on the group.
#[derive(Default)]
pub(super) struct Walk {
    pub opened: Vec<u32>,
    pub taken: Vec<u32>,
    leaves: Vec<u32>,
}

impl Walk {
    /// Walks the tree for a group of bodies. If the group is part of a `set`, the walk has two levels, as in the
    /// kernel: the set accepts far cells and opens large ones; then the group continues with the remaining cells.
    pub(super) fn new(cells: &HostCells, set: Option<&Set>, group: &Target, rules: &Rules) -> Self {
        let mut walk = Self::default();
        let root = (cells.cell)(0);
        let mut waiting = vec![0];
        if let Some(set) = set {
            if !root.is_inner {
                walk.leaves.push(0);
                return walk;
            }
            waiting = walk.begin(cells, &set.bounds, rules);
            if waiting.len() > set.most_left {
                (walk, waiting) = (Self::default(), vec![0]);
            }
        }
        let mut at = 0;
        while let Some(&id) = waiting.get(at) {
            at += 1;
            let cell = (cells.cell)(id);
            let Verdict { is_accepted, is_far } = rules.judge(group, &cell);
            let acts_singly = !is_accepted || cell.parts.1 <= FEW_BODIES;
            if !is_far && !cell.is_inner && acts_singly {
                walk.leaves.push(id);
            } else if is_accepted {
                walk.taken.push(id);
            } else {
                walk.opened.push(id);
                waiting.extend(cell.parts());
            }
        }
        walk
    }

    /// Walks the tree for a set of bodies. Returns the cells with which the walk of each group in the set continues.
    fn begin(&mut self, cells: &HostCells, set: &Target, rules: &Rules) -> Vec<u32> {
        let mut left = Vec::new();
        self.opened.push(0);
        let mut at = 0;
        while let Some(&id) = self.opened.get(at) {
            at += 1;
            for child in (cells.cell)(id).parts() {
                let cell = (cells.cell)(child);
                let Verdict { is_accepted, is_far } = rules.judge(set, &cell);
                let Method { has_expansions, uses_accelerations, .. } = rules.method;
                let is_kept = is_accepted && !(has_expansions && uses_accelerations);
                if is_far {
                    self.taken.push(child);
                } else if cell.is_inner && !is_kept && cell.radius > OPENED_RADII * set.radius {
                    self.opened.push(child);
                } else {
                    left.push(child);
                }
            }
        }
        left
    }

    /// Returns the numbers of cells and pairs in the walk, and the acceleration of the body at index `place` in the
    /// tree's order.
    pub(super) fn counts(
        &self,
        cells: &HostCells,
        bodies: &HostBodies,
        place: usize,
        rules: &Rules,
    ) -> WalkCounts {
        let own = position(&bodies.positions[place]);
        let singles = self.leaves.iter().flat_map(|id| (cells.cell)(*id).parts());
        let pull_of = |other: &[f32; 4]| {
            let d = position(other) - own;
            d * (f64::from(other[3]) * rules.softened(d.length_squared()).powf(-1.5))
        };
        let of_bodies: DVec3 = singles.clone().map(|i| pull_of(&bodies.positions[i as usize])).sum();
        let of_cells: DVec3 = self.taken.iter().map(|id| pull_of_cell(&(cells.cell)(*id), own, rules)).sum();
        WalkCounts {
            opened: self.opened.len(),
            taken: self.taken.len(),
            pairs: singles.count(),
            pull: (of_bodies + of_cells).to_array(),
        }
    }
}

fn position([x, y, z, _]: &[f32; 4]) -> DVec3 {
    Vec3::new(*x, *y, *z).as_dvec3()
}

/// Returns the acceleration at the position `place` due to the mass and the quadrupole of a cell, without the
/// gravitational constant.
fn pull_of_cell(cell: &Cell, place: DVec3, rules: &Rules) -> DVec3 {
    let d = cell.centre.as_dvec3() - place;
    let v = rules.softened(d.length_squared()).sqrt().recip();
    let [xx, xy, xz, yy, yz] = cell.quadrupole.map(f64::from);
    let n = d * v;
    let u = DVec3::new(
        xx * n.x + xy * n.y + xz * n.z,
        xy * n.x + yy * n.y + yz * n.z,
        xz * n.x + yz * n.y - (xx + yy) * n.z,
    );
    let w = u.dot(n) - f64::from(cell.trace) * f64::from(rules.eps2) * v * v;
    let size2 = (f64::from(cell.radius) * v).powi(2);
    (n * (1.0 + 2.5 * size2 * w) - u * size2) * (f64::from(cell.mass) * v * v)
}
