//! Plain data and helpers that all other modules use. Nothing in this folder uses OpenCL, OpenGL or a window.

pub(crate) mod advice;
pub mod bodies;
pub mod body_names;
pub mod cells;
pub mod divergence;
pub mod edit;
pub mod error;
pub mod files;
pub mod flow;
pub mod format;
pub mod light;
pub mod look;
pub mod memory;
pub mod orbit;
pub mod params;
pub mod partial;
pub mod state;
pub mod units;

pub use self::bodies::{Bodies, FINITE_LIMIT, Points, Shape, is_quarantined, sample_stride};
pub use self::body_names::BodyNames;
pub use self::cells::{CellCounts, CellRequest, Cells, Corners, MOST_BOXES, WalkCounts};
pub use self::divergence::{Divergence, DivergenceLog};
pub use self::edit::{Attractor, CLUSTER, Edit, EditKind, GravitySample, Launch, SelectedBody};
pub(crate) use self::error::invalid;
pub use self::error::{Error, Plain, Result};
pub use self::files::{Draft, Name, Names, OutputFile};
pub use self::flow::{
    DIRECTIONS, Flow, Image, MAX_CELLS, MAX_TRACERS, SPEEDS, Stroke, Tones, WEIGHTS, Walls,
};
pub use self::light::{LightImage, LightRequest, Sprites};
pub use self::look::{Look, Palette, SceneCamera};
pub use self::memory::Memory;
pub use self::orbit::{Orbit, OrbitCentre};
pub use self::params::{
    ChangeEffect, Choice, Info, Opt, ParamValue, ParamValues, Params, Scale, SetError, Visitor,
};
pub(crate) use self::params::{choice, parameters};
pub use self::partial::Partial;
pub use self::state::{Matter, State};
pub use self::units::{Date, Unit, Units};
