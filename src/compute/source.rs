//! The source text of kernels, and a cache of the programs built from it.

use std::collections::{BTreeMap, HashMap};
use std::ffi::CString;
use std::sync::Arc;

use ocl::core;

/// Maximum number of programs in the cache. Tuning builds hundreds of programs that are never needed again.
const MOST_PROGRAMS: usize = 256;

/// One file of OpenCL C, embedded in the executable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelSource {
    /// Path relative to `kernels/`, as shown in compiler messages.
    pub file: &'static str,
    /// Contents of the file.
    pub text: &'static str,
}

/// Expands to a [`KernelSource`] for the given file under `kernels/`, embedded in the executable.
macro_rules! kernel_source {
    ($file:literal) => {
        $crate::compute::KernelSource {
            file: $file,
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/", $file)),
        }
    };
}
pub(crate) use kernel_source;

/// Edited kernel sources, keyed by the path of the file under `kernels/` that each one replaces.
pub type KernelEdits = BTreeMap<String, String>;

/// The files and macros from which a program is built.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramSource {
    /// Source files, in the order in which they are compiled. The last file is this program's own; other programs may
    /// share the files before it.
    pub files: Vec<KernelSource>,
    /// Names and values of the macros that the host passes to the compiler.
    pub defines: Vec<(&'static str, String)>,
    /// Edited files, which replace built-in files of the same name in all programs.
    pub edits: Arc<KernelEdits>,
}

impl ProgramSource {
    /// Returns the text of a file that is compiled: the edited text if there is one, else the built-in text.
    pub fn text<'a>(&'a self, file: &KernelSource) -> &'a str {
        self.edits.get(file.file).map_or(file.text, String::as_str)
    }
}

/// Joins the texts of `sources`, with `edits` applied, and adds `#line` directives for correct compiler messages.
pub(super) fn join(sources: &[KernelSource], edits: &KernelEdits) -> String {
    let text = |source: &KernelSource| edits.get(source.file).map_or(source.text, String::as_str).to_owned();
    sources.iter().map(|source| format!("#line 1 \"{}\"\n{}\n", source.file, text(source))).collect()
}

/// Key of a program in the cache: its full source text, which includes any edits, and its `-D` options.
pub(super) type Key = (CString, CString);

/// Cache of the programs built for a device, with their source files. Switching back to a variant needs no new build.
#[derive(Debug, Default)]
pub(super) struct ProgramCache(HashMap<Key, (Vec<KernelSource>, core::Program)>);

impl ProgramCache {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn get(&self, key: &Key) -> Option<core::Program> {
        self.0.get(key).map(|(_, program)| program.clone())
    }

    /// Adds a program to the cache. If the cache is full, empties it first.
    pub(super) fn insert(&mut self, key: Key, sources: &[KernelSource], program: core::Program) {
        if self.len() >= MOST_PROGRAMS {
            self.0.clear();
        }
        self.0.insert(key, (sources.to_vec(), program));
    }

    /// Keeps only programs whose kernels are unedited or edited as in `edits`.
    pub(super) fn forget_edits_except(&mut self, edits: &KernelEdits) {
        let original = KernelEdits::new();
        self.0.retain(|(text, _), (sources, _)| {
            [&original, edits].iter().any(|edits| join(sources, edits).as_bytes() == text.as_bytes())
        });
    }
}
