//! What files may say of sizes, masses, contacts and substeps.

use std::any::Any;

use super::simulation::{CONTACT, MASSES, RADII, SIZES, SUBSTEPS, extent};
use super::substeps::Schedule;
use crate::bodies::{FINITE_LIMIT, is_quarantined};
use crate::modes::carried::{CarriedList, Carries, each_body, has};

/// How far sizes may be from the cube roots of masses, relative to them: rounding, a few times over.
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
        // The overlap is relative to the body's radius, which may be 0. Nothing is stepped by these, they are told.
        check: |with, list| {
            each_body(with.bodies()?, list, "numbers from 0", |row: &[f32; 4], _, _| {
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
            schedule.map(drop).ok_or_else(|| format!("{list:?} is no schedule of substeps"))
        },
    },
];

/// Sizes go with the cube roots of masses, by a factor that is the same for all: changes by hand keep it. Only bodies that are held out
/// have none. A body without mass has no size, but where sizes do not come from masses: then it is 1.
fn sizes(with: &Carries, list: &[f32]) -> Result<(), String> {
    let (bodies, masses) = (with.bodies()?, with.other(MASSES)?);
    has(masses, bodies.len())?;
    let factor = |size: f32, mass: f32| f64::from(size) / f64::from(mass).cbrt();
    let moving = |nth: &usize| !is_quarantined(&bodies.velocities[*nth]);
    let first =
        (0..list.len().min(bodies.len())).filter(moving).find(|nth| list[*nth] > 0.0 && masses[*nth] > 0.0);
    let all = first.map(|nth| factor(list[nth], masses[nth]));
    let expected = "a size that goes with the cube root of its mass, by the same factor for all";
    each_body(bodies, list, expected, |[size], nth, is_held_out| {
        let (mass, is_finite) = (masses[nth], (0.0..=FINITE_LIMIT).contains(size));
        let is_right = match mass == 0.0 || *size == 0.0 {
            true => mass == 0.0 && (*size == 0.0 || *size == 1.0),
            false => all.is_none_or(|all| (factor(*size, mass) / all - 1.0).abs() <= TOLERANCE),
        };
        is_held_out && (size.is_nan() || is_finite) || is_finite && is_right
    })
}

/// The smallest and the largest size that there were when bodies last came or went: cells are as large as the largest, so that nobody is
/// missed. Bodies that were held out since had a size too.
fn radii(with: &Carries, list: &[f32]) -> Result<(), String> {
    has(list, 2)?;
    let [least, most] = extent(with.other(SIZES)?.iter().copied());
    let is_right =
        list[0] >= 0.0 && list[1] <= FINITE_LIMIT && (most == 0.0 || list[0] <= least && most <= list[1]);
    match is_right && list[0] <= list[1] {
        true => Ok(()),
        false => {
            Err(format!("sizes are from {least:e} to {most:e}, not from {:e} to {:e}", list[0], list[1]))
        }
    }
}
