//! What a simulation starts from, and is put aside as: bodies, or a flow on a grid.

use crate::bodies::Bodies;
use crate::error::{Error, Result};
use crate::lattice::Flow;

/// What a mode steps. It decides how it is kept in files, and what there is to tell of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matter {
    /// Bodies, with energy and momentum; in files as CSV.
    Bodies,
    /// A fluid on a grid; in the files of the teaching code.
    Flow,
}

/// All that a simulation is, on the host. `T` is `f32` towards the device, `f64` in the references.
#[derive(Debug, Clone, PartialEq)]
pub enum State<T = f32> {
    /// Of [`Matter::Bodies`].
    Bodies(Bodies<T>),
    /// Of [`Matter::Flow`].
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
    /// How many bodies or cells there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Bodies(bodies) => bodies.len(),
            Self::Flow(flow) => flow.walls.cells(),
        }
    }

    /// What it is made of.
    pub fn matter(&self) -> Matter {
        match self {
            Self::Bodies(_) => Matter::Bodies,
            Self::Flow(_) => Matter::Flow,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T> State<T> {
    /// The bodies.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it is a flow.
    pub fn into_bodies(self) -> Result<Bodies<T>> {
        match self {
            Self::Bodies(bodies) => Ok(bodies),
            Self::Flow(_) => Err(no_bodies()),
        }
    }

    /// The bodies, to be looked at.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it is a flow.
    pub fn bodies(&self) -> Result<&Bodies<T>> {
        match self {
            Self::Bodies(bodies) => Ok(bodies),
            Self::Flow(_) => Err(no_bodies()),
        }
    }

    /// The bodies, to be changed.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it is a flow.
    pub fn bodies_mut(&mut self) -> Result<&mut Bodies<T>> {
        match self {
            Self::Bodies(bodies) => Ok(bodies),
            Self::Flow(_) => Err(no_bodies()),
        }
    }

    /// The flow.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it is bodies.
    pub fn into_flow(self) -> Result<Flow<T>> {
        match self {
            Self::Flow(flow) => Ok(flow),
            Self::Bodies(_) => Err(no_flow()),
        }
    }

    /// The flow, to be looked at.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it is bodies.
    pub fn flow(&self) -> Result<&Flow<T>> {
        match self {
            Self::Flow(flow) => Ok(flow),
            Self::Bodies(_) => Err(no_flow()),
        }
    }

    /// The flow, to be changed.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it is bodies.
    pub fn flow_mut(&mut self) -> Result<&mut Flow<T>> {
        match self {
            Self::Flow(flow) => Ok(flow),
            Self::Bodies(_) => Err(no_flow()),
        }
    }
}

impl State {
    /// Whether it is a flow with numbers that are none: nothing comes of it any more. Bodies without are held out one by one.
    pub fn has_blown_up(&self) -> bool {
        match self {
            Self::Bodies(_) => false,
            Self::Flow(flow) => flow.has_blown_up(),
        }
    }

    /// Makes sure that a state from a file is such as the kernels leave behind (see [`Bodies::check`] and [`Flow::check`]).
    ///
    /// # Errors
    /// What is wrong, and what is expected.
    pub fn check(&self) -> std::result::Result<(), String> {
        match self {
            Self::Bodies(bodies) => bodies.check(),
            Self::Flow(flow) => flow.check(),
        }
    }

    /// The same in double precision, exactly.
    pub fn to_f64(&self) -> State<f64> {
        match self {
            Self::Bodies(bodies) => State::Bodies(bodies.to_f64()),
            Self::Flow(flow) => State::Flow(flow.to_f64()),
        }
    }
}

fn no_bodies() -> Error {
    Error::Invalid("bodies are wanted, and this is a flow".to_owned())
}

fn no_flow() -> Error {
    Error::Invalid("a flow is wanted, and these are bodies".to_owned())
}
