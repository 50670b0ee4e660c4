//! The kinds of files that the program opens, and their extensions.

use std::path::Path;

use super::snapshot;
use crate::base::{Result, invalid};
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
    /// All kinds of files, each with its name in file dialogs and its file name extensions.
    pub const ALL: [(Self, &str, &[&str]); 5] = [
        (Self::Snapshot, "Snapshot", &[snapshot::EXTENSION]),
        (Self::Scene, "Scene", &[file::EXTENSION]),
        (Self::Picture, "Picture with a simulation", &[snapshot::PICTURE]),
        (Self::Csv, "Bodies (CSV)", &["csv"]),
        (Self::Tipsy, "Bodies (Tipsy)", &tipsy::EXTENSIONS),
    ];

    /// Returns the kind of file that the extension of `path` indicates, or an error if the program cannot open files
    /// with this extension.
    pub fn of(path: &Path) -> Result<Self> {
        let extension = path.extension().unwrap_or_default();
        let is_known = |known: &&str| extension.eq_ignore_ascii_case(known);
        match Self::ALL.into_iter().find(|(.., extensions)| extensions.iter().any(is_known)) {
            Some((kind, ..)) => Ok(kind),
            None => {
                let known = Self::ALL.iter().flat_map(|(.., extensions)| *extensions);
                let known = known.map(|extension| format!(".{extension}")).collect::<Vec<_>>().join(", ");
                Err(invalid!("{}: only files that end in {known} can be opened", path.display()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_kind_is_determined_by_the_extension() {
        let kind = |name: &str| FileKind::of(Path::new(name));
        let known = ["a.gravitile", "a.toml", "a.PNG", "a.csv"].map(|name| kind(name).unwrap());
        assert_eq!(known, [FileKind::Snapshot, FileKind::Scene, FileKind::Picture, FileKind::Csv]);
        for wrong in ["a.txt", "csv"] {
            let error = kind(wrong).unwrap_err().to_string();
            assert!(error.contains(wrong) && error.contains(".csv"), "{error}");
        }
    }
}
