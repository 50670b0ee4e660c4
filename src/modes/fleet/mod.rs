//! A simulation on several devices. Each device holds a complete simulation and computes a share of each step.
//!
//! A step consists of passes, and a pass of stages. After each stage, the devices exchange data through the host.
//! Shares follow measured speeds. A device that would only slow down the others gets no share. If a single device is
//! fastest, it runs alone. Long bursts of steps are split because shares change only between bursts.
//!
//! In an MPI run, each rank has some of the devices. Rank 0 decides, and sends [`orders`] to the other ranks.

mod assignment;
pub(super) mod orders;
mod search;
mod shared;
mod shares;
mod simulation;
mod transfers;
mod trials;

pub(super) use self::assignment::{Assignment, Need};
pub(super) use self::shared::{Cursor, Plan, SharedSimulation, Traffic};
pub(super) use self::simulation::together;
