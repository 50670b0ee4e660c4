//! Simulation modes. A mode consists of a struct of parameters, a list of kernel variants, a set of scenes and a
//! reference implementation in f64. A new mode needs a folder here, a folder of kernels, and a row in [`MODES`].

pub mod accuracy;
pub mod asteroids;
mod body_errors;
pub(crate) mod carried;
pub mod checks;
mod counts;
mod diagnostics;
pub mod distributions;
mod edits;
mod fleet;
pub mod fluid;
pub mod gravity;
mod kernels;
mod limit;
mod mode;
mod packed;
mod reduction;
mod sharing;
mod variant;
mod work;

use self::accuracy::{Effect, Judged, Sample};
use self::edits::{AttractKernels, Attracted};
use self::fleet::{Assignment, Cursor, Need, Plan, SharedSimulation, Traffic};
use self::kernels::{Define, flags, source, sources};
use self::packed::PackedPoints;
use self::reduction::Reduction;
use self::variant::{common_multiple, variants};

pub use self::body_errors::BodyErrors;
pub use self::counts::Counts;
pub use self::diagnostics::{Diagnostics, Reading, Remedy};
pub use self::fleet::orders::{Blueprint, Link, Order, Parcel, bits, pack, set_bits, unpack, words};
pub use self::limit::{Busy, Limit, Pair};
pub use self::mode::{
    Attraction, CarriedList, Carries, ColourScale, Extra, Mode, ModeInfo, ScaleUnit, Simulation, Start,
};
pub use self::sharing::{DeviceRecipe, Member, Sharing, Team};
pub use self::variant::{Knob, MAX_KNOBS, Recipe, Together, Variant};
pub use self::work::{Series, Sizes, Work};

/// Table of all simulation modes. The panel, the command line, `check`, `bench` and the tests iterate over this table.
pub static MODES: &[&ModeInfo] = &[&gravity::INFO, &asteroids::INFO, &fluid::INFO];

/// Returns the simulation mode called `name`, or `None` if there is no such mode.
pub fn find(name: &str) -> Option<&'static ModeInfo> {
    MODES.iter().copied().find(|info| info.name == name)
}
