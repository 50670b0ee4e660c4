//! The kinds of files that the program opens, and their extensions.

use std::path::Path;

use super::snapshot;
use crate::scene::{file, tipsy};

/// Kind of file that the program can open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// Complete state of a simulation.
    Snapshot,
    /// Scene file.
    Scene,
    /// Picture that contains a simulation.
    Picture,
    /// Bodies in a CSV file.
    Csv,
    /// Bodies in a Tipsy file.
    Tipsy,
}

impl FileKind {
    /// All kinds, each with its name and extensions.
    pub const ALL: [(Self, &str, &[&str]); 5] = [
        (Self::Snapshot, "Snapshot", &[snapshot::EXTENSION]),
        (Self::Scene, "Scene", &[file::EXTENSION]),
        (Self::Picture, "Picture with a simulation", &[snapshot::PICTURE]),
        (Self::Csv, "Bodies (CSV)", &["csv"]),
        (Self::Tipsy, "Bodies (Tipsy)", &tipsy::EXTENSIONS),
    ];

    /// Returns the kind of file that the extension of `path` indicates, or `None` if the program cannot open it.
    pub fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?;
        let is_known = |known: &&str| extension.eq_ignore_ascii_case(known);
        let (kind, ..) = Self::ALL.into_iter().find(|(.., extensions)| extensions.iter().any(is_known))?;
        Some(kind)
    }
}
