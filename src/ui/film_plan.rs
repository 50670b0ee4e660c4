//! Size of pictures, and settings of films.

use crate::export::film::Format;

/// Size of a picture or film.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureSize {
    /// A multiple of the picture's width and height in the window.
    Times(u32),
    /// Width and height in pixels.
    Pixels(u32, u32),
}

/// Settings of a film.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FilmPlan {
    /// File format of the film.
    pub format: Format,
    /// Number of frames in the film.
    pub frames: u32,
    /// Frames per second of playback.
    pub rate: u32,
    /// Width and height of a frame.
    pub size: PictureSize,
}
