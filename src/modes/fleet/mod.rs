//! A simulation on several devices. Each device has a whole simulation, and steps a share of the work.
//!
//! After each stage of a pass, the devices exchange data through the host. Shares follow measured speeds. A device that
//! only slows the other devices gets no share. If a single device is the fastest choice, it runs without exchanges. Long
//! bursts are cut, because shares change only between bursts.

mod search;
mod shared;
mod shares;
mod simulation;
mod transfers;
mod trials;

pub(super) use self::shared::{Assignment, Cursor, Need, Plan, SharedSimulation, Traffic};
pub(super) use self::simulation::together;
