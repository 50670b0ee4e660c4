//! OpenCL, and nothing but OpenCL: devices, programs, buffers and time. Knows no physics.

mod buffer;
mod device;
mod lane;
mod pinned;
mod program;
mod roofline;
mod timing;

pub use buffer::{Buffer, Pending};
pub use device::{Device, DeviceInfo, Found, Kind, list, select};
pub use lane::{Lane, Pass};
pub use program::{Arg, Kernel, Program, ROOT, Range, Source};
pub use roofline::{Micro, Probe, Roofline};
