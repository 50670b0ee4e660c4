//! The background colour, and the scale that keeps pictures of all sizes alike.

/// Background colour in sRGB, 0 to 1: nearly black, slightly blue.
pub const BACKGROUND: [f32; 3] = [0.020, 0.024, 0.040];

/// Height in pixels of the picture that sprite and strip sizes refer to.
const REFERENCE_HEIGHT: f32 = 800.0;

/// Returns the factor from sizes at the reference height to sizes in a picture of this height.
pub(super) fn scale(height: u32) -> f32 {
    height as f32 / REFERENCE_HEIGHT
}
