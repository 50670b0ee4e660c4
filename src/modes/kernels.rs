//! Kernel sources and macro definitions that all OpenCL programs share.

use crate::compute::KernelSource;
pub(super) use crate::compute::kernel_source as source;

/// OpenCL code at the start of every kernel program.
const PRELUDE: KernelSource = source!("prelude.cl");

/// Returns the prelude followed by `files`. Every kernel program starts with the prelude.
pub(super) fn sources(files: &[KernelSource]) -> Vec<KernelSource> {
    [&[PRELUDE], files].concat()
}

/// Name and value of a macro that kernels are compiled with.
pub(super) type Define = (&'static str, String);

/// Returns a definition, with the value 1, for each macro in `flags` that is switched on.
pub(super) fn flags(flags: &[(&'static str, bool)]) -> Vec<Define> {
    flags.iter().filter(|(_, is_on)| *is_on).map(|(name, _)| (*name, "1".to_owned())).collect()
}
