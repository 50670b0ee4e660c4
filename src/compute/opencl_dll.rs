//! Checks on Windows whether OpenCL.dll is installed. `scripts/packages/windows` links OpenCL.dll so that it is loaded
//! at the first call. Without OpenCL.dll, the program can start, but the first call would end it.

use windows_sys::Win32::System::LibraryLoader::LoadLibraryW;
use windows_sys::w;

/// Loads OpenCL.dll, and returns whether this succeeded.
pub(super) fn is_installed() -> bool {
    // SAFETY: the name is a constant text that ends with a zero. Drivers are trusted like the program itself.
    !unsafe { LoadLibraryW(w!("OpenCL.dll")) }.is_null()
}
