//! A simulation on several devices: each has a whole one of its own, of which it steps a share.
//!
//! After each stage of a step the devices exchange what the others need, through the host. Shares follow the speeds that
//! were measured, and who only slows the others gets none: where one device alone is quickest it steps as if there were no
//! others. Long bursts are cut, since shares change between two bursts only.

mod search;
mod shared;
mod shares;
mod simulation;
mod transfers;
mod trials;

pub(super) use self::shared::{Assignment, Need, Plan, SharedSimulation, Traffic};
pub(super) use self::simulation::Fleet;
