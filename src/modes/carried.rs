//! Checks the lists that a snapshot contains in addition to the state.
//!
//! A mode describes each list by a row of [`ModeInfo::carries`](super::ModeInfo::carries). Reading a snapshot fails if
//! it contains a list without a row, or a list that fails the check of its row.
//!
//! A list from a file must hold numbers that the kernels can produce. NaN is allowed only for bodies that the
//! simulation excludes because of non-finite values. Other non-finite numbers would look like a failed simulation.

use super::{Carries, Extra, Mode};
use crate::base::{Bodies, Error, Result, State, invalid, is_quarantined};

/// Checks that `state` and `extra`, read from a file, could be the result of a simulation of `mode`.
pub(crate) fn check(mode: &dyn Mode, state: &State, extra: &Extra) -> Result<()> {
    let info = mode.info();
    state.check().map_err(Error::Invalid)?;
    let carries = Carries { mode, state, extra };
    for (name, list) in extra {
        let row = info.carried(name).ok_or_else(|| {
            invalid!(
                "the mode {} does not use the data {name:?}; the file may be damaged or from another version",
                info.name
            )
        })?;
        (row.check)(&carries, list).map_err(|what| invalid!("the list {name:?} is invalid: {what}"))?;
    }
    Ok(())
}

/// Result of checking a list from a file. The error states what is wrong and what is expected.
pub(crate) type Checked = Result<(), String>;

/// Returns `Ok` if `is_right` is true, and otherwise an error with the text that `what` returns.
pub(super) fn ensure(is_right: bool, what: impl FnOnce() -> String) -> Checked {
    if is_right { Ok(()) } else { Err(what()) }
}

/// Checks that a list from a file contains `expected` numbers.
pub(super) fn has(list: &[f32], expected: usize) -> Checked {
    ensure(list.len() == expected, || format!("it has {} numbers; expected {expected}", list.len()))
}

/// Checks that `list` has `W` numbers for each body and that `allows` accepts them. `allows` gets the numbers, the
/// body's index, and whether the body has non-finite values. `expected` describes valid numbers in the error message.
pub(super) fn each_body<const W: usize>(
    bodies: &Bodies,
    list: &[f32],
    expected: &str,
    allows: impl Fn(&[f32; W], usize, bool) -> bool,
) -> Checked {
    has(list, W * bodies.len())?;
    let is_right = |(nth, row)| allows(row, nth, is_quarantined(&bodies.velocities[nth]));
    match list.as_chunks::<W>().0.iter().enumerate().find(|row| !is_right(*row)) {
        Some((nth, row)) => Err(format!("body {nth} has {row:?}; expected {expected}")),
        None => Ok(()),
    }
}

/// Returns the list called `name` from a snapshot, which must contain `len` numbers.
pub(super) fn list<'a>(extra: &'a Extra, name: &str, len: usize) -> Result<&'a [f32]> {
    match extra.get(name) {
        Some(list) if list.len() == len => Ok(list),
        _ => Err(invalid!("the data {name} is missing or does not contain {len} numbers")),
    }
}
