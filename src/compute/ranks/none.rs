//! Replaces the connection to MPI in a program that is built without the feature `mpi`. It cannot be started.

use crate::base::{Result, invalid};

/// A connection that cannot exist.
#[derive(Debug)]
pub(super) enum Net {}

/// Stands for a transfer, which only a connection can begin.
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
