//! Rules by which a tree walk accepts a cell (the cell acts as a whole) or opens it, and the usual error of each
//! method. The kernels receive the constants as macros.

use crate::modes::Recipe;

/// Usual relative error of the tree's forces with the default method and the default value of the `opening` parameter.
pub(in crate::modes::gravity) const NORMAL_ERROR: f64 = 1e-3;

/// Largest radius of an accepted cell (one that acts as a whole), as a fraction of its distance from the bodies.
pub(super) const LARGEST_ANGLE: f32 = 0.9;
/// Largest radius of an accepted cell, as a fraction of its distance from the bodies, if the accelerations of the
/// bodies are not known yet.
const FIRST_ANGLE: f32 = 0.6;
/// Scale of the criterion by angle: the largest radius of an accepted cell, as a fraction of its distance, is this
/// scale times the sixth root of the `opening` parameter. The error in the built-in scenes is then about the same as
/// with the criterion by accelerations, for all values of `opening`.
const ANGLE_SCALE: f32 = 1.25;
/// Rounding error of a cell's centre of mass, as a fraction of the centre's largest coordinate.
pub(super) const ROUNDING: f32 = 4e-7;
/// A cell acts on the expansion of a group of bodies only if its distance is more than this many times the group's
/// radius.
pub(super) const FAR_RADII: f32 = 1.5;
/// Weight of the error that softening adds to an expansion, relative to the error from ending the expansion at the
/// fourth order. With this weight, the errors in the built-in scenes are about the same with and without expansions.
pub(super) const FAR_SOFTENING: f32 = 40.0;
/// A walk for a set of groups opens cells whose radius exceeds this fraction of the set's radius, unless the cells are
/// far enough away to act as a whole.
pub(super) const OPENED_RADII: f32 = 1.0;
/// Maximum number of bodies in a leaf whose bodies act one by one even though the leaf is accepted as a whole.
pub(super) const FEW_BODIES: u32 = 4;

/// Returns the largest radius of an accepted cell, as a fraction of its distance, if cells are accepted by their angle
/// alone. A negative `opening` stands for unknown accelerations. Must match the function of this name in
/// `kernels/gravity/tree/step.cl`.
pub(super) fn angle_of(opening: f32) -> f32 {
    if opening < 0.0 { FIRST_ANGLE } else { LARGEST_ANGLE.min(ANGLE_SCALE * opening.sqrt().cbrt()) }
}

/// How the `tree` variant approximates forces: the compile-time parameters that change the error.
#[derive(Debug, Clone, Copy)]
pub(in crate::modes::gravity) struct Method {
    /// Whether cells have quadrupole moments in addition to their masses.
    pub has_quadrupoles: bool,
    /// Whether a cell is accepted if its estimated error is small compared with the bodies' last accelerations, instead
    /// of by its angle alone.
    pub uses_accelerations: bool,
    /// Whether a far cell acts once on a local expansion for a whole group of bodies, instead of on each body.
    pub has_expansions: bool,
}

impl Method {
    pub(in crate::modes::gravity) fn of(recipe: &Recipe) -> Self {
        Self {
            has_quadrupoles: recipe.knob("order") >= 2,
            uses_accelerations: recipe.knob("criterion") == 1,
            has_expansions: recipe.knob("expansions") == 1,
        }
    }

    /// Returns the usual relative error of the forces with the default value of the `opening` parameter, and the power
    /// of `opening` with which the error grows. Measured with all built-in scenes of 16 384 bodies, at values of
    /// `opening` from 0.00001 to 0.03: few scenes have a larger error, and none twice as large. Local expansions do not
    /// change the error.
    pub(in crate::modes::gravity) fn usual_error(self) -> (f64, f64) {
        match (self.has_quadrupoles, self.uses_accelerations) {
            (true, _) => (NORMAL_ERROR, 0.65),
            (false, true) => (4.0 * NORMAL_ERROR, 0.45),
            (false, false) => (6.0 * NORMAL_ERROR, 0.45),
        }
    }
}

/// Returns the names and values of the macros that pass the constants to the kernels.
pub(super) fn defines() -> Vec<(&'static str, String)> {
    let lengths = [
        ("LARGEST_ANGLE", LARGEST_ANGLE),
        ("FIRST_ANGLE", FIRST_ANGLE),
        ("ANGLE_SCALE", ANGLE_SCALE),
        ("ROUNDING", ROUNDING),
        ("FAR_RADII", FAR_RADII),
        ("FAR_SOFTENING", FAR_SOFTENING),
        ("OPENED_RADII", OPENED_RADII),
    ];
    let lengths = lengths.into_iter().map(|(name, value)| (name, format!("{value:?}f")));
    lengths.chain([("FEW_BODIES", FEW_BODIES.to_string())]).collect()
}
