//! OpenCL devices, programs, buffers and timing, without any physics.
//!
//! Kernels are trusted like the program's own code: OpenCL does not check the addresses that a kernel uses, and a CPU
//! device shares the memory of the program.
//!
//! # Errors
//! Functions that use a device return an error if the driver refuses the call, memory runs out, or the device fails or
//! stops answering. The comments of these functions list only other errors.

#![allow(
    clippy::missing_errors_doc,
    reason = "the failure of a device is explained once, for the whole module"
)]

mod buffer;
mod device;
mod devices;
mod events;
mod exchange;
mod fault;
mod found;
mod lane;
#[cfg(windows)]
mod opencl_dll;
mod pending;
mod pinned;
mod pocl_cache;
mod program;
mod ranks;
mod recorder;
mod roofline;
mod select;
mod source;

pub use buffer::Buffer;
pub use device::Device;
pub use devices::Devices;
pub use exchange::{Exchange, Rows, Staging};
pub use fault::{Call, InjectedFault};
pub use found::{DeviceInfo, DeviceKind, FoundDevice};
pub use lane::{Lane, Pass};
pub use pending::Pending;
pub use pocl_cache::{cache_note, prepare_cache};
pub use program::{Arg, Kernel, Program, ROOT};
pub use ranks::{Ranks, launched_rank, local_rank, ranks, start_ranks};
pub use recorder::{Launch, Recording};
pub use roofline::{MicroKernel, Probe, Roofline};
pub use select::{aborts_on_sub_devices, list, pool, select, select_several};
pub(crate) use source::kernel_source;
pub use source::{KernelEdits, KernelSource, ProgramSource};
