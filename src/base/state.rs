//! State of a simulation in host memory: bodies, or a flow on a grid.

use crate::base::bodies::Bodies;
use crate::base::error::{Error, Result};
use crate::base::flow::Flow;

/// Kind of matter that a mode simulates. It determines the file formats and the diagnostics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matter {
    /// Bodies, which have energy and momentum and are stored in CSV files.
    Bodies,
    /// A fluid on a grid, stored in the file format of the University of Bristol's lattice Boltzmann teaching code.
    Flow,
}

/// State of a simulation in host memory. `T` is `f32` for devices and `f64` for reference results.
#[derive(Debug, Clone, PartialEq)]
pub enum State<T = f32> {
    /// Positions, masses and velocities of bodies.
    Bodies(Bodies<T>),
    /// A flow on a grid, with its obstacles and tracers.
    Flow(Flow<T>),
}

impl<T> From<Bodies<T>> for State<T> {
    fn from(bodies: Bodies<T>) -> Self {
        Self::Bodies(bodies)
    }
}

impl<T> From<Flow<T>> for State<T> {
    fn from(flow: Flow<T>) -> Self {
        Self::Flow(flow)
    }
}

impl<T: Copy + Default> State<T> {
    /// Returns the number of bodies or cells.
    pub fn len(&self) -> usize {
        match self {
            Self::Bodies(bodies) => bodies.len(),
            Self::Flow(flow) => flow.walls.cells(),
        }
    }

    /// Returns the kind of matter that the state describes.
    pub fn matter(&self) -> Matter {
        match self {
            Self::Bodies(_) => Matter::Bodies,
            Self::Flow(_) => Matter::Flow,
        }
    }

    /// Returns whether the state has no bodies or cells.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Defines methods that return the bodies or the flow in a state, or an error if it contains the other kind of matter.
macro_rules! contents {
    ($kind:ident, $wrong:literal, $($name:ident($self:ident: $receiver:ty) -> $content:ty;)+) => {
        impl<T> State<T> {
            $(
                #[doc = concat!("Returns the content of a [`State::", stringify!($kind), "`].")]
                ///
                /// # Errors
                /// Returns [`Error::Invalid`] if the state is of another kind.
                pub fn $name($self: $receiver) -> Result<$content> {
                    match $self {
                        Self::$kind(content) => Ok(content),
                        _ => Err(Error::Invalid($wrong.to_owned())),
                    }
                }
            )+
        }
    };
}
contents! {
    Bodies, "this works only with bodies, but the simulation is a fluid",
    into_bodies(self: Self) -> Bodies<T>;
    bodies(self: &Self) -> &Bodies<T>;
    bodies_mut(self: &mut Self) -> &mut Bodies<T>;
}
contents! {
    Flow, "this works only with a fluid, but the simulation has bodies",
    into_flow(self: Self) -> Flow<T>;
    flow(self: &Self) -> &Flow<T>;
    flow_mut(self: &mut Self) -> &mut Flow<T>;
}

impl State {
    /// Returns whether a flow contains non-finite values, from which it cannot recover; always false for [`Bodies`].
    pub fn has_blown_up(&self) -> bool {
        match self {
            Self::Bodies(_) => false,
            Self::Flow(flow) => flow.has_blown_up(),
        }
    }

    /// Checks that the values of a state read from a file are valid.
    ///
    /// # Errors
    /// Returns an error that names the first invalid value and says which values are valid.
    pub fn check(&self) -> std::result::Result<(), String> {
        match self {
            Self::Bodies(bodies) => bodies.check(),
            Self::Flow(flow) => flow.check(),
        }
    }

    /// Converts the state to double precision without rounding.
    pub fn to_f64(&self) -> State<f64> {
        match self {
            Self::Bodies(bodies) => State::Bodies(bodies.to_f64()),
            Self::Flow(flow) => State::Flow(flow.to_f64()),
        }
    }
}
