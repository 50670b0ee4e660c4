//! Sources of kernels that are part of every program.

use crate::compute::KernelSource;
pub(super) use crate::compute::kernel_source as source;

/// OpenCL code that every program starts with.
const PRELUDE: KernelSource = source!("prelude.cl");

/// Returns `files` after the prelude, which is part of every kernel program.
pub(super) fn sources(files: &[KernelSource]) -> Vec<KernelSource> {
    [&[PRELUDE], files].concat()
}

/// Name and value of a macro that kernels are compiled with.
pub(super) type Define = (&'static str, String);

/// Returns definitions of the macros in `flags` that are on.
pub(super) fn flags(flags: &[(&'static str, bool)]) -> Vec<Define> {
    flags.iter().filter(|(_, is_on)| *is_on).map(|(name, _)| (*name, "1".to_owned())).collect()
}
