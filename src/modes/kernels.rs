//! Kernel sources that are part of the program.

use crate::compute::KernelSource;
pub(super) use crate::compute::kernel_source as source;

/// OpenCL code that every program starts with.
const PRELUDE: KernelSource = source!("prelude.cl");

/// Returns the prelude followed by `files`.
pub(super) fn sources(files: &[KernelSource]) -> Vec<KernelSource> {
    [&[PRELUDE], files].concat()
}
