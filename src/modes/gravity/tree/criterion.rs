//! Constants of the criterion by which a walk takes or opens a cell. The kernels receive them as macros.

/// Largest radius of an accepted cell, as a fraction of its distance.
pub(super) const LARGEST_ANGLE: f32 = 0.9;
/// Largest radius of an accepted cell, as a fraction of its distance, for bodies whose accelerations are not known.
const FIRST_ANGLE: f32 = 0.6;
/// Rounding error of a cell's centre of mass, as a fraction of its largest coordinate.
pub(super) const ROUNDING: f32 = 4e-7;
/// A cell acts on the expansion of a target only if it is at least this many times as far as the target's radius.
pub(super) const FAR_RADII: f32 = 2.0;
/// A cell acts on an expansion only if its squared distance is at least this many times the squared softening length, or
/// more if `opening` is small: see [`far_softening`].
const FAR_SOFTENING: f32 = 100.0;
/// A set of groups opens cells larger than this fraction of its radius, unless they are far.
pub(super) const OPENED_RADII: f32 = 0.5;
/// The bodies of an accepted leaf of at most this many bodies act one by one.
pub(super) const FEW_BODIES: u32 = 4;

/// Returns the least squared distance of a cell that acts on an expansion, divided by the squared softening length. Must
/// match the function of this name in `kernels/gravity/tree/step.cl`.
pub(super) fn far_softening(opening: f32) -> f32 {
    FAR_SOFTENING.max(4.0 / opening.abs().sqrt())
}

/// Returns the names and values of the macros that pass the constants to the kernels.
pub(super) fn defines() -> Vec<(&'static str, String)> {
    let lengths = [
        ("LARGEST_ANGLE", LARGEST_ANGLE),
        ("FIRST_ANGLE", FIRST_ANGLE),
        ("ROUNDING", ROUNDING),
        ("FAR_RADII", FAR_RADII),
        ("FAR_SOFTENING", FAR_SOFTENING),
        ("OPENED_RADII", OPENED_RADII),
    ];
    let lengths = lengths.into_iter().map(|(name, value)| (name, format!("{value:?}f")));
    lengths.chain([("FEW_BODIES", FEW_BODIES.to_string())]).collect()
}
