//! Boxes around cells of the gravity tree, for drawing, and counts of these cells.

/// The lowest and the highest coordinates of the bodies of a cell: two opposite corners of a box around the bodies.
pub type Corners = [[f32; 3]; 2];

/// Maximum number of boxes in a picture. More boxes would hide the bodies.
pub const MOST_BOXES: usize = 8192;

/// Request for tree cells to show in a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CellRequest {
    /// Depth of the tree cells to show. The root of the tree has depth 0.
    pub depth: u32,
    /// Index of the body whose tree walk is shown; `None` if no body is selected.
    pub body: Option<usize>,
}

/// Cells of the tree, as boxes to draw.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cells {
    /// Boxes of the cells at [`CellCounts::depth`] and of the leaves above that depth; empty if a body is selected.
    pub level: Vec<Corners>,
    /// Boxes of the cells that the selected body's tree walk opened, that is, replaced by their children. `opened` and
    /// `taken` together hold at most [`MOST_BOXES`] boxes.
    pub opened: Vec<Corners>,
    /// Boxes of the cells whose attraction the selected body's tree walk computed as a whole, without visiting their
    /// bodies.
    pub taken: Vec<Corners>,
    /// Depth of the cells, number of boxes, and counts of the selected body's tree walk.
    pub counts: CellCounts,
}

/// Depth and number of the tree cells in a picture, and counts of the selected body's tree walk.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CellCounts {
    /// Depth of [`Cells::level`]: the requested depth, or the largest that needs at most [`MOST_BOXES`] boxes.
    pub depth: u32,
    /// Number of boxes to draw.
    pub boxes: usize,
    /// Counts of the selected body's tree walk; `None` if no body is selected.
    pub walk: Option<WalkCounts>,
}

/// Counts of the tree walk that computes the acceleration of a body.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct WalkCounts {
    /// Number of cells that were too close to act as a whole, and were replaced by their children.
    pub opened: usize,
    /// Number of cells whose attraction was computed as a whole, without visiting their bodies.
    pub taken: usize,
    /// Number of bodies whose attraction was computed one by one.
    pub pairs: usize,
    /// Acceleration caused by the `taken` cells and the single bodies, not multiplied by the gravitational constant.
    pub pull: [f64; 3],
}
