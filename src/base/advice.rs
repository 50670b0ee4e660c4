//! What to install if OpenCL, OpenGL or `ffmpeg` is missing, by operating system. Each text is the last part of an error message.

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
pub(crate) const OPENGL: &str = "install or update its graphics driver";

/// Advice if the program `ffmpeg` is missing.
#[cfg(windows)]
pub(crate) const FFMPEG: &str = "run `winget install ffmpeg`, and start gravitile again";
#[cfg(not(windows))]
pub(crate) const FFMPEG: &str = "on Debian and Ubuntu, run `apt install ffmpeg`";
