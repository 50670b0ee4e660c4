//! The folder where PoCL caches compiled kernels. If PoCL cannot write to the folder, it offers no device.

use std::env;
use std::ffi::OsString;
#[cfg(unix)]
use std::fs;
use std::fs::DirBuilder;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Environment variable that names PoCL's cache folder. PoCL reads it when devices are first queried.
const VARIABLE: &str = "POCL_CACHE_DIR";

/// PoCL's default cache folder; set only if PoCL cannot write to it.
static UNUSABLE: OnceLock<Unusable> = OnceLock::new();

/// A folder that PoCL cannot write to.
#[derive(Debug)]
struct Unusable {
    folder: PathBuf,
    reason: String,
    /// Replacement folder, if one could be created.
    substitute: Option<PathBuf>,
}

/// Makes PoCL use a private folder in the system's temporary directory if PoCL's default cache folder is not writable.
///
/// # Safety
/// No other thread may be running yet, because this function changes the environment.
pub unsafe fn prepare_cache() {
    let folder = folder(|name| env::var_os(name));
    let Err(error) = probe(&folder) else { return };
    let substitute = private_folder(&env::temp_dir()).ok();
    if let Some(substitute) = &substitute {
        // SAFETY: the caller promises that no other thread runs.
        unsafe { env::set_var(VARIABLE, substitute) };
    }
    UNUSABLE.get_or_init(|| Unusable { folder, reason: error.to_string(), substitute });
}

/// Returns a note for the user if [`prepare_cache`] chose a substitute for an unwritable cache folder; otherwise
/// `None`.
pub fn cache_note() -> Option<String> {
    let Unusable { folder, reason, substitute } = UNUSABLE.get()?;
    let (folder, substitute) = (folder.display(), substitute.as_ref()?.display());
    Some(format!(
        "PoCL cannot store compiled kernels in {folder} ({reason}), so {substitute} is used instead; to choose another folder, set {VARIABLE}"
    ))
}

/// Returns the reason why PoCL offers no device, or `None` if PoCL has a writable cache folder.
pub(super) fn refusal() -> Option<String> {
    let Unusable { folder, reason, substitute: None } = UNUSABLE.get()? else { return None };
    let (folder, temporary) = (folder.display(), env::temp_dir().display().to_string());
    Some(format!(
        "PoCL, which computes on the CPU, cannot be used: it cannot write compiled kernels to {folder} ({reason}) or to \
         {temporary}; set {VARIABLE} to a writable folder"
    ))
}

/// Returns PoCL's default cache folder, as computed by `pocl_cache_init_topdir` in PoCL's `lib/CL/pocl_cache.c`.
fn folder(variable: impl Fn(&str) -> Option<OsString>) -> PathBuf {
    if let Some(folder) = variable(VARIABLE) {
        return folder.into();
    }
    let filled = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if cfg!(windows) {
        return filled("LOCALAPPDATA").or(filled("TEMP")).unwrap_or_default().join("pocl");
    }
    match (filled("XDG_CACHE_HOME"), filled("HOME")) {
        (Some(cache), _) => cache.join("pocl/kcache"),
        (None, Some(home)) => home.join(".cache/pocl/kcache"),
        (None, None) => PathBuf::from("/tmp/pocl/kcache"),
    }
}

/// Checks that `folder`, or its nearest existing ancestor, is writable. Leaves no file behind.
fn probe(folder: &Path) -> io::Result<()> {
    // The last ancestor of a relative path is empty, and means the working directory.
    let here = |folder| if folder == Path::new("") { Path::new(".") } else { folder };
    let existing = folder.ancestors().map(here).find(|folder| folder.exists());
    let existing = existing.ok_or(io::Error::from(io::ErrorKind::NotFound))?;
    tempfile::tempfile_in(existing).and_then(|mut file| file.write_all(&[0; 4096])).map_err(|error| {
        // Removes the name of the temporary file from the error.
        io::Error::from(error.kind())
    })
}

/// Creates a folder that only this user can access. Rejects another user's folder, because PoCL runs code from it.
#[cfg(unix)]
fn private_folder(parent: &Path) -> io::Result<PathBuf> {
    use std::os::unix::fs::{DirBuilderExt, MetadataExt};
    // SAFETY: `geteuid` has no arguments and cannot fail.
    let user = unsafe { libc::geteuid() };
    let folder = parent.join(format!("gravitile-pocl-{user}"));
    match DirBuilder::new().mode(0o700).create(&folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    // Reads the properties of the folder without following a symbolic link.
    let found = fs::symlink_metadata(&folder)?;
    match found.is_dir() && found.uid() == user && found.mode() & 0o077 == 0 {
        true => probe(&folder).map(|()| folder),
        false => Err(io::ErrorKind::PermissionDenied.into()),
    }
}

/// Creates a folder in the temporary directory, which is already private to the user on systems other than Unix.
#[cfg(not(unix))]
fn private_folder(parent: &Path) -> io::Result<PathBuf> {
    let folder = parent.join("gravitile-pocl");
    DirBuilder::new().recursive(true).create(&folder)?;
    probe(&folder).map(|()| folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn the_pocl_cache_folder_is_located_by_the_environment_variables_of_pocl() {
        let with = |set: &'static [(&str, &str)]| {
            folder(|name| set.iter().find(|(other, _)| *other == name).map(|(_, value)| value.into()))
        };
        let all = &[("POCL_CACHE_DIR", "/a"), ("XDG_CACHE_HOME", "/b"), ("HOME", "/c")];
        assert_eq!(with(all), Path::new("/a"));
        assert_eq!(with(&[("XDG_CACHE_HOME", "/b"), ("HOME", "/c")]), Path::new("/b/pocl/kcache"));
        assert_eq!(with(&[("XDG_CACHE_HOME", ""), ("HOME", "/c")]), Path::new("/c/.cache/pocl/kcache"));
        assert_eq!(with(&[]), Path::new("/tmp/pocl/kcache"));
    }

    #[test]
    fn a_missing_relative_cache_folder_counts_as_writable() {
        for folder in ["no-such-folder", "no-such-folder/kernels", "./no-such-folder", ""] {
            probe(Path::new(folder)).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_private_cache_folder_is_reused_and_rejected_if_shared_or_a_symlink() {
        use std::os::unix::fs::PermissionsExt;
        let parent = tempfile::tempdir().unwrap();
        let folder = private_folder(parent.path()).unwrap();
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(private_folder(parent.path()).unwrap(), folder);
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(private_folder(parent.path()).is_err(), "somebody else may have put kernels there");
        fs::remove_dir(&folder).unwrap();
        std::os::unix::fs::symlink(parent.path(), &folder).unwrap();
        assert!(private_folder(parent.path()).is_err(), "a link leads anywhere");
    }
}
