//! Arithmetic and memory traffic of kernels, counted in their source, for the roofline model.

/// Arithmetic and memory traffic per unit of work, which is a pair of bodies or a cell.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Counts {
    /// Number of floating-point operations. A fused multiply-add counts as two; a division and a root count as one.
    pub operations: f64,
    /// Number of bytes that kernels load from and store to global memory or its caches. A value that a work-item keeps
    /// in registers, or a work-group keeps in local memory, counts once even if several pairs use it.
    pub bytes: f64,
}

impl Counts {
    /// Returns the arithmetic intensity: the number of floating-point operations per byte.
    pub fn intensity(&self) -> f64 {
        self.operations / self.bytes
    }
}
