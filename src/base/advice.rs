//! Advice on what to install if OpenCL, OpenGL or `ffmpeg` is missing. The advice depends on the operating system. Each
//! text ends an error message.

/// Advice if there is no OpenCL device.
#[cfg(windows)]
pub(crate) const OPENCL: &str = "install the newest driver for your GPU or, to compute on the CPU, \
                                 Intel's CPU Runtime for OpenCL Applications";
#[cfg(not(windows))]
pub(crate) const OPENCL: &str = "install a driver for your GPU, or PoCL to compute on the CPU \
                                 (on Debian and Ubuntu, run `apt install pocl-opencl-icd`)";

/// Advice if OpenGL is missing or too old.
#[cfg(windows)]
pub(crate) const OPENGL: &str = "install the newest driver for your GPU, or the OpenCL, OpenGL and Vulkan \
                                 Compatibility Pack from the Microsoft Store";
#[cfg(not(windows))]
pub(crate) const OPENGL: &str = "install Mesa or a newer graphics driver \
                                 (on Debian and Ubuntu, run `apt install libgl1 libegl1 libgl1-mesa-dri`)";

/// Advice if no window can be opened. On Windows, the text does not suggest saving pictures, because pictures need the
/// same driver as a window.
#[cfg(windows)]
pub(crate) const WITHOUT_WINDOW: &str = "without a window, use `gravitile run` to print results";
#[cfg(not(windows))]
pub(crate) const WITHOUT_WINDOW: &str =
    "without a window, use `gravitile render` to save pictures or `gravitile run` to print results";

/// Advice if the program `ffmpeg` is missing.
#[cfg(windows)]
pub(crate) const FFMPEG: &str = "run `winget install ffmpeg`, and start gravitile again";
#[cfg(not(windows))]
pub(crate) const FFMPEG: &str = "on Debian and Ubuntu, run `apt install ffmpeg`";
