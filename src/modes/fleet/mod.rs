//! A simulation on several devices. Each device has a whole simulation, and steps a share of it.
//!
//! After each stage of a pass, the devices exchange what the others need, through the host. Shares follow measured speeds.
//! A device that only slows the others gets no share. If one device alone is the fastest, it steps as if there were no
//! others. Long bursts are cut, because shares change only between bursts.

mod search;
mod shared;
mod shares;
mod simulation;
mod transfers;
mod trials;

pub(super) use self::shared::{Assignment, Cursor, Need, Plan, SharedSimulation, Traffic};
pub(super) use self::simulation::together;
