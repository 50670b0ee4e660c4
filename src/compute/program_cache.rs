//! Built programs, kept so that changing back to a variant costs nothing.

use std::collections::HashMap;
use std::ffi::CString;

use ocl::core;

use super::source::{KernelEdits, KernelSource, join};

/// The most programs that are kept: a tuning run builds hundreds that are never needed again.
const MOST_PROGRAMS: usize = 256;

/// Full source text and `-D` options of a program. An edited kernel differs in its text from the original.
pub(super) type Key = (CString, CString);

/// Built programs of a device, with the files that each was built from.
#[derive(Debug, Default)]
pub(super) struct ProgramCache(HashMap<Key, (Vec<KernelSource>, core::Program)>);

impl ProgramCache {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn get(&self, key: &Key) -> Option<core::Program> {
        self.0.get(key).map(|(_, program)| program.clone())
    }

    /// Adds a program; a full cache is emptied first.
    pub(super) fn insert(&mut self, key: Key, sources: &[KernelSource], program: core::Program) {
        if self.len() >= MOST_PROGRAMS {
            self.0.clear();
        }
        self.0.insert(key, (sources.to_vec(), program));
    }

    /// Drops programs built from edited texts other than `edits`.
    pub(super) fn forget_edits_except(&mut self, edits: &KernelEdits) {
        let original = KernelEdits::new();
        self.0.retain(|(text, _), (sources, _)| {
            [&original, edits].iter().any(|edits| join(sources, edits).as_bytes() == text.as_bytes())
        });
    }
}
