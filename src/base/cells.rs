//! Cells of the tree that approximates gravity, as boxes to draw and as counts.

/// Lowest and highest corner of the box around the bodies of a cell.
pub type Corners = [[f32; 3]; 2];

/// Maximum number of boxes in a picture. More boxes would hide the bodies.
pub const MOST_BOXES: usize = 8192;

/// Which cells of the tree a picture shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CellRequest {
    /// Depth of the cells below the root, which has depth 0.
    pub depth: u32,
    /// Index of the body whose tree walk is shown; `None` if no body is selected.
    pub body: Option<usize>,
}

/// Cells of the tree, as boxes to draw.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cells {
    /// Boxes of the cells at [`CellCounts::depth`] and of the leaves above; empty if the walk of a body is shown.
    pub level: Vec<Corners>,
    /// Boxes of the cells that the walk of the selected body opened; at most [`MOST_BOXES`] with those of `taken`.
    pub opened: Vec<Corners>,
    /// Boxes of the cells that the walk of the selected body took instead of their bodies.
    pub taken: Vec<Corners>,
    /// Numbers of cells.
    pub counts: CellCounts,
}

/// Numbers of cells of the tree.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CellCounts {
    /// Depth of [`Cells::level`]: the requested depth, or the largest that needs at most [`MOST_BOXES`] boxes.
    pub depth: u32,
    /// Number of boxes.
    pub boxes: usize,
    /// Counts of the selected body's walk; `None` if no body is selected.
    pub walk: Option<WalkCounts>,
}

/// Counts of the tree walk that computes the acceleration of a body.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct WalkCounts {
    /// Number of cells that were too close to act as a whole, and were replaced by their children.
    pub opened: usize,
    /// Number of cells that acted as a whole.
    pub taken: usize,
    /// Number of bodies that acted one by one.
    pub pairs: usize,
    /// Acceleration that the taken cells and the single bodies cause, without the gravitational constant, in f64.
    pub pull: [f64; 3],
}
