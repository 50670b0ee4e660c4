//! The table of modes.

use super::{ModeInfo, asteroids, fluid, gravity};

/// Every mode. Panel, command line, `check`, `bench` and the tests walk this table.
pub static MODES: &[&ModeInfo] = &[&gravity::INFO, &asteroids::INFO, &fluid::INFO];

/// The mode called `name`.
pub fn find(name: &str) -> Option<&'static ModeInfo> {
    MODES.iter().copied().find(|info| info.name == name)
}
