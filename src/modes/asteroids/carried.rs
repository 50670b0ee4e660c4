//! Lists that a snapshot of asteroids contains in addition to the bodies, with a check for each list.

use std::any::Any;

use super::substeps::Schedule;
use crate::base::{FINITE_LIMIT, is_quarantined};
use crate::modes::carried::{Checked, each_body, ensure, has};
use crate::modes::{CarriedList, Carries};

/// Name of the list that holds the radius of each body, divided by the `radius` parameter.
pub(super) const SIZES: &str = "sizes";
/// Name of the list that holds the mass of each body, including bodies that are excluded because of non-finite values.
pub(super) const MASSES: &str = "masses";
/// Name of the list of collision records: for each body, number of hits, deepest overlap, and steps since the last hit.
pub(super) const CONTACT: &str = "contact";
/// Name of the list that holds the smallest and the largest size. A size is a radius divided by the `radius` parameter.
pub(super) const RADII: &str = "radii";
/// Name of the list that holds the schedule of substeps.
pub(super) const SUBSTEPS: &str = "substeps";

/// Value stored as the number of steps since the last hit if a body has never been hit.
pub(super) const NEVER: f32 = 1e9;

/// Largest allowed relative deviation of a body's stored size from its expected size. Allows for a few rounding errors.
const TOLERANCE: f64 = 1e-4;

pub(super) const CARRIES: &[CarriedList] = &[
    CarriedList { name: SIZES, most: |[bodies, _]| bodies, check: sizes },
    CarriedList {
        name: MASSES,
        most: |[bodies, _]| bodies,
        check: |with, list| {
            let bodies = with.bodies()?;
            each_body(bodies, list, "the mass of the body", |[mass], nth, is_held_out| {
                let right = bodies.positions[nth][3];
                (0.0..=FINITE_LIMIT).contains(mass) && (*mass == right || is_held_out)
            })
        },
    },
    CarriedList {
        name: CONTACT,
        most: |[bodies, _]| 4 * bodies,
        // The overlap is relative to the radius, so it may be infinite. The list affects only readings and colours.
        check: |with, list| {
            each_body(with.bodies()?, list, "numbers that are at least 0", |row: &[f32; 4], _, _| {
                row.iter().all(|x| *x >= 0.0)
            })
        },
    },
    CarriedList { name: RADII, most: |_| 2, check: radii },
    CarriedList {
        name: SUBSTEPS,
        most: |_| Schedule::<()>::NUMBERS,
        check: |with, list| {
            let mode: &dyn Any = with.mode;
            let schedule = mode.downcast_ref().and_then(|params| Schedule::from_list(list, params, |_| ()));
            schedule.map(drop).ok_or_else(|| format!("{list:?} are not valid numbers of substeps"))
        },
    },
];

/// Checks that sizes are proportional to the cube roots of the masses, with one factor for all bodies. The size may be
/// NaN for a body with non-finite values. It is 0 for a body without mass, or 1 if no body had mass.
fn sizes(with: &Carries, list: &[f32]) -> Checked {
    let (bodies, masses) = (with.bodies()?, with.other(MASSES)?);
    has(masses, bodies.len())?;
    let factor = |size: f32, mass: f32| f64::from(size) / f64::from(mass).cbrt();
    let moving = |nth: &usize| !is_quarantined(&bodies.velocities[*nth]);
    let first =
        (0..list.len().min(bodies.len())).filter(moving).find(|nth| list[*nth] > 0.0 && masses[*nth] > 0.0);
    let all = first.map(|nth| factor(list[nth], masses[nth]));
    let expected = "a size proportional to the cube root of the mass, with the same factor for all bodies";
    each_body(bodies, list, expected, |[size], nth, is_held_out| {
        let (mass, is_finite) = (masses[nth], (0.0..=FINITE_LIMIT).contains(size));
        let is_right = match mass == 0.0 || *size == 0.0 {
            true => mass == 0.0 && (*size == 0.0 || *size == 1.0),
            false => all.is_none_or(|all| (factor(*size, mass) / all - 1.0).abs() <= TOLERANCE),
        };
        is_held_out && (size.is_nan() || is_finite) || is_finite && is_right
    })
}

/// Checks the stored smallest and largest size, from which the `grid` variant derives the width of its cells. The range
/// must include the sizes of all bodies; it may be wider because bodies may have been excluded since.
fn radii(with: &Carries, list: &[f32]) -> Checked {
    has(list, 2)?;
    let [least, most] = extent(with.other(SIZES)?.iter().copied());
    let is_right =
        list[0] >= 0.0 && list[1] <= FINITE_LIMIT && (most == 0.0 || list[0] <= least && most <= list[1]);
    ensure(is_right && list[0] <= list[1], || {
        format!(
            "the sizes range from {least:e} to {most:e}, but the stored range is {:e} to {:e}",
            list[0], list[1]
        )
    })
}

/// Returns the smallest and the largest of the finite, positive `sizes`, or zeros if there are none.
pub(super) fn extent(sizes: impl Iterator<Item = f32>) -> [f32; 2] {
    let sizes = sizes.filter(|size| *size > 0.0 && size.is_finite());
    let [least, most] = sizes.fold([f32::INFINITY, 0.0f32], |[least, most], x| [x.min(least), x.max(most)]);
    [least.min(most), most]
}
