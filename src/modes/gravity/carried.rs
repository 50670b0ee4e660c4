//! Lists that a snapshot of gravity contains in addition to the state, with a check for each list.

use crate::base::{Bodies, Edit, FINITE_LIMIT, Result, invalid};
use crate::modes::CarriedList;
use crate::modes::carried::{Checked, each_body, ensure, has};

/// Name of the list that holds the acceleration and the energy error of each body.
pub(super) const ACCELERATION: &str = "acceleration";
pub(super) const COMMON_MASS: &str = "common_mass";

pub(super) const CARRIES: &[CarriedList] = &[
    CarriedList {
        name: ACCELERATION,
        most: |[bodies, _]| 4 * bodies,
        // A larger acceleration would move the body out of bounds within a step.
        check: |with, list| {
            let most = 2.0 * f64::from(FINITE_LIMIT) / with.mode.time_step();
            let expected =
                "an acceleration that keeps the body within bounds for a step, and an energy of at least 0";
            each_body(with.bodies()?, list, expected, |row: &[f32; 4], _, is_held_out| {
                let [pull @ .., missed] = row;
                let is_bounded = pull.iter().all(|a| f64::from(a.abs()) <= most);
                is_held_out || is_bounded && (0.0..=f32::MAX).contains(missed)
            })
        },
    },
    CarriedList {
        name: COMMON_MASS,
        most: |_| 1,
        check: |with, list| {
            has(list, 1)?;
            let mut masses = with.bodies()?.positions.iter().map(|x| x[3]);
            let is_theirs = masses.all(|mass| mass == 0.0 || mass == list[0]);
            ensure(is_theirs && (0.0..=FINITE_LIMIT).contains(&list[0]), || {
                format!("some bodies have a mass that is neither 0 nor {:e}", list[0])
            })
        },
    },
    CarriedList {
        name: LOW_PARTS,
        most: |[bodies, _]| 8 * bodies,
        check: |with, list| {
            let bodies = with.bodies()?;
            has(list, 8 * bodies.len())?;
            check_low_parts(bodies, list.as_chunks().0)
        },
    },
    CarriedList {
        name: LAST_SIZES,
        most: |[bodies, _]| bodies,
        check: |with, list| {
            has(list, with.bodies()?.len())?;
            let are_sizes = list.iter().all(|size| (0.0..=f32::MAX).contains(size));
            ensure(are_sizes, || "the magnitude of an acceleration is negative or not finite".to_owned())
        },
    },
];

/// Name of the list of acceleration magnitudes, one per body, divided by G. They set the error limits of the tree.
pub(super) const LAST_SIZES: &str = "tree_accelerations";

/// Name of the list of low parts (rounding errors): those of all positions, then those of all velocities. The list
/// exists if `compensated` is on. Each low part has four numbers, as in [`Bodies`]; the fourth is 0.
pub(super) const LOW_PARTS: &str = "low_parts";

/// Updates the low parts (rounding errors) after an edit. A velocity that the user set gets a low part of 0.
pub(super) fn edit_low_parts(low: &mut Vec<f32>, edit: &Edit, before: usize, after: usize) -> Result<()> {
    if low.len() != 8 * before {
        return Err(invalid!("the data {LOW_PARTS} does not contain the expected {} numbers", 8 * before));
    }
    let velocities = low.split_off(4 * before);
    let mut rows = [std::mem::take(low), velocities];
    for (nth, row) in rows.iter_mut().enumerate() {
        match edit {
            Edit::Launch(_) => row.resize(4 * after, 0.0),
            Edit::Remove(body) => drop(row.drain(4 * body..4 * body + 4)),
            Edit::Change { body, velocity: Some(_), .. } if nth == 1 => row[4 * body..4 * body + 4].fill(0.0),
            Edit::Change { .. } => {}
        }
    }
    *low = rows.concat();
    Ok(())
}

/// Checks that the low parts of positions are too small to change the positions when added, and that the low parts of
/// velocities are finite. After an edit or due to decay, a velocity may be smaller than its low part.
fn check_low_parts(bodies: &Bodies, low: &[[f32; 4]]) -> Checked {
    let (places, velocities) = low.split_at(bodies.len());
    let is_cut_off = |(high, low): (&[f32; 4], &[f32; 4])| (0..3).all(|k| high[k] + low[k] == high[k]);
    let is_finite = |low: &[f32; 4]| low.iter().all(|c| c.abs() <= FINITE_LIMIT);
    let is_right = bodies.positions.iter().zip(places).all(is_cut_off) && velocities.iter().all(is_finite);
    ensure(is_right, || "its numbers are too large to be rounding errors".to_owned())
}
