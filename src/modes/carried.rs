//! What a mode carries on besides its state, and what a file may say of it.
//!
//! A mode lists all of it in [`ModeInfo::carries`], a row for each list of its [`Extra`]. Whoever reads a snapshot goes by these rows: a
//! list without one is refused, and so is a list that its row does not allow. So a list that a mode begins to carry has to say what
//! it may hold, or no snapshot with it can be read again, which `tests/snapshots.rs` shows for every variant.
//!
//! The rule for numbers from files: they are such as the kernels could have left behind. A body that is held out may have NaN where
//! kernels leave NaN. Anything else that is not finite is refused with a sentence: it would be shown as a simulation in
//! which something went wrong, though nothing did but the file.

use super::{Extra, Mode, ModeInfo};
use crate::bodies::{Bodies, is_quarantined};
use crate::error::{Error, Result};
use crate::state::State;

/// A list of numbers that a mode carries on from step to step besides its [`State`].
#[derive(Debug)]
pub struct CarriedList {
    /// Its name in [`Extra`] and in files.
    pub name: &'static str,
    /// The most numbers of a scene of so many bodies, or of a grid of `[nx, ny]` cells; bodies count as a grid of one row. Nothing else is
    /// known before a list is read.
    pub most: fn([usize; 2]) -> usize,
    /// Says what is wrong with it, and what is expected.
    pub check: fn(&Carries, &[f32]) -> std::result::Result<(), String>,
}

/// What a list has to agree with.
pub struct Carries<'a> {
    /// The mode with its parameters.
    pub mode: &'a dyn Mode,
    /// The bodies or the flow, which were checked before.
    pub state: &'a State,
    /// All lists, not all of which were checked before.
    pub extra: &'a Extra,
}

impl ModeInfo {
    /// The row of the list `name`.
    pub fn carried(&self, name: &str) -> Option<&'static CarriedList> {
        self.carries.iter().find(|list| list.name == name)
    }
}

/// Makes sure that `state` and `extra` from a file are such as `mode` could have left behind.
///
/// # Errors
/// What is wrong, and what is expected.
pub fn check(mode: &dyn Mode, state: &State, extra: &Extra) -> Result<()> {
    let info = mode.info();
    state.check().map_err(Error::Invalid)?;
    let carries = Carries { mode, state, extra };
    for (name, list) in extra {
        let row = info
            .carried(name)
            .ok_or_else(|| Error::Invalid(format!("{} carries no list {name:?}", info.name)))?;
        (row.check)(&carries, list)
            .map_err(|what| Error::Invalid(format!("the list {name:?} does not fit: {what}")))?;
    }
    Ok(())
}

impl<'a> Carries<'a> {
    /// The bodies.
    pub fn bodies(&self) -> std::result::Result<&'a Bodies, String> {
        self.state.bodies().map_err(|error| error.to_string())
    }

    /// Another of the lists.
    pub fn other(&self, name: &str) -> std::result::Result<&'a [f32], String> {
        self.extra.get(name).map(Vec::as_slice).ok_or_else(|| format!("there is no list {name:?}"))
    }
}

/// Makes sure that a list has `expected` numbers.
pub(super) fn has(list: &[f32], expected: usize) -> std::result::Result<(), String> {
    match list.len() == expected {
        true => Ok(()),
        false => Err(format!("it has {} numbers; expected {expected}", list.len())),
    }
}

/// Makes sure that `list` has `W` numbers for each of `bodies`, and that each such row is one that `allows` takes for a body that is held
/// out or not; `expected` says what that is.
pub(super) fn each_body<const W: usize>(
    bodies: &Bodies,
    list: &[f32],
    expected: &str,
    allows: impl Fn(&[f32; W], usize, bool) -> bool,
) -> std::result::Result<(), String> {
    has(list, W * bodies.len())?;
    for (nth, row) in list.as_chunks::<W>().0.iter().enumerate() {
        if !allows(row, nth, is_quarantined(&bodies.velocities[nth])) {
            return Err(format!("body {nth} has {row:?}; expected {expected}"));
        }
    }
    Ok(())
}
