//! OpenCL, and nothing but OpenCL: devices, programs, buffers and time. Knows no physics.

mod buffer;
mod cache;
mod device;
mod devices;
mod exchange;
mod fault;
mod lane;
mod pinned;
mod program;
mod roofline;
mod select;
mod timing;
mod watch;

pub use buffer::{Buffer, Pending};
pub use cache::{cache_note, prepare_cache};
pub use device::{Device, DeviceInfo, Edits, Found, Kind};
pub use devices::Devices;
pub use exchange::{Exchange, Field, Mail};
pub use fault::{Call, Fault};
pub use lane::{Lane, Pass};
pub use program::{Arg, Kernel, Program, ROOT, Range, Source};
pub use roofline::{Micro, Probe, Roofline};
pub use select::{has_no_parts, list, pool, select, select_several};
