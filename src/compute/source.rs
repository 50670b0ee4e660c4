//! The text of kernels.

use std::collections::BTreeMap;

/// One file of OpenCL C, as built into the program.
#[derive(Debug, Clone, Copy)]
pub struct KernelSource {
    /// Name under `kernels/`, as compiler messages show it.
    pub file: &'static str,
    /// Contents of the file.
    pub text: &'static str,
}

/// Expands to a [`KernelSource`] with the file of this name under `kernels/`, built into the program.
macro_rules! kernel_source {
    ($file:literal) => {
        $crate::compute::KernelSource {
            file: $file,
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/", $file)),
        }
    };
}
pub(crate) use kernel_source;

/// Texts that replace files under `kernels/`, by file name.
pub type KernelEdits = BTreeMap<String, String>;

/// Joins the texts of `sources`, with `edits` applied. `#line` gives compiler messages the right file and line.
pub(super) fn join(sources: &[KernelSource], edits: &KernelEdits) -> String {
    let text = |source: &KernelSource| edits.get(source.file).map_or(source.text, String::as_str).to_owned();
    sources.iter().map(|source| format!("#line 1 \"{}\"\n{}\n", source.file, text(source))).collect()
}
