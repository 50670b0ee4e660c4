//! Stand-in for the connection to MPI in a program built without the feature `mpi`. Starting the connection fails.

use crate::base::{Result, invalid};

/// A connection to MPI, which cannot exist without the feature `mpi`.
#[derive(Debug)]
pub(super) enum Net {}

/// Placeholder for the type of an MPI transfer, which is never created without MPI.
pub(super) type Request = usize;

#[allow(clippy::unused_self, reason = "the functions have the signatures of the connection to MPI")]
impl Net {
    pub(super) fn start() -> Result<(Self, usize, usize)> {
        Err(invalid!(
            "a launcher such as mpirun started several copies of gravitile, but this program was built without MPI; \
             build it with `cargo build --release --features mpi`, or start it without the launcher"
        ))
    }

    pub(super) unsafe fn send(&self, _: usize, _: i32, _: *const u8, _: usize) -> Request {
        match *self {}
    }

    pub(super) unsafe fn receive(&self, _: usize, _: i32, _: *mut u8, _: usize) -> Request {
        match *self {}
    }

    pub(super) fn is_done(&self, _: &mut Request) -> bool {
        match *self {}
    }

    pub(super) fn probe(&self, _: usize, _: i32) -> Option<usize> {
        match *self {}
    }

    pub(super) fn abort(&self, _: i32) {
        match *self {}
    }

    pub(super) fn finalize(&self) {
        match *self {}
    }
}
