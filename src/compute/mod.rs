//! OpenCL, and nothing but OpenCL: devices, programs, buffers and time. Knows no physics.

mod device;

pub use device::{Device, DeviceInfo, Found, Kind, list, select};

/// How far a burst is, and what it took.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Burst {
    /// Steps of the burst.
    pub steps: u32,
    /// The share that is done, 0 to 1.
    pub done: f32,
    /// Device time in seconds, once the burst is over.
    pub seconds: Option<f64>,
}

/// A read-back under way.
#[derive(Debug)]
pub struct Pending<'p>(std::marker::PhantomData<&'p mut ()>);
