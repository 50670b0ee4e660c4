//! The connection to MPI, with non-blocking transfers of bytes. No other file calls MPI.

use std::mem::{MaybeUninit, zeroed};
use std::ptr::{from_mut, null_mut};

use mpi::ffi;

use crate::base::{Result, invalid};

/// Value of MPI_THREAD_SERIALIZED in Open MPI and MPICH: several threads call MPI, but never at the same time.
const SERIALIZED: i32 = 2;

/// The connection of this process to all ranks of its MPI run. MPI ends the program if a call fails.
#[derive(Debug)]
pub(super) struct Net(());

/// A message transfer that has begun and may not have ended yet.
#[derive(Debug)]
pub(super) struct Request(ffi::MPI_Request);

#[allow(clippy::unused_self, reason = "a value of the type proves that MPI has been started")]
impl Net {
    /// Starts MPI. Returns the connection, the rank of this process, and the number of ranks.
    pub(super) fn start() -> Result<(Self, usize, usize)> {
        let (mut level, mut rank, mut size) = (0, 0, 0);
        // SAFETY: MPI is started once, before other threads exist, and the results outlive the calls.
        unsafe {
            ffi::MPI_Init_thread(null_mut(), null_mut(), SERIALIZED, &mut level);
            ffi::MPI_Comm_rank(ffi::RSMPI_COMM_WORLD, &mut rank);
            ffi::MPI_Comm_size(ffi::RSMPI_COMM_WORLD, &mut size);
        }
        match level >= SERIALIZED {
            true => Ok((Self(()), rank as usize, size as usize)),
            false => Err(invalid!(
                "this MPI library does not support threads, which gravitile needs; use another MPI library"
            )),
        }
    }

    /// Begins to send `len` bytes to the rank `to`.
    ///
    /// # Safety
    /// The bytes must stay valid and unchanged until [`Net::is_done`] returns true.
    pub(super) unsafe fn send(&self, to: usize, tag: i32, from: *const u8, len: usize) -> Request {
        // SAFETY: MPI fills in the request, and the caller vouches for the memory.
        unsafe {
            let (bytes, world) = (ffi::RSMPI_UINT8_T, ffi::RSMPI_COMM_WORLD);
            let mut request = MaybeUninit::uninit();
            ffi::MPI_Isend(from.cast(), len as i32, bytes, to as i32, tag, world, request.as_mut_ptr());
            Request(request.assume_init())
        }
    }

    /// Begins to receive `len` bytes from the rank `from`.
    ///
    /// # Safety
    /// The memory must stay valid and unused until [`Net::is_done`] returns true.
    pub(super) unsafe fn receive(&self, from: usize, tag: i32, to: *mut u8, len: usize) -> Request {
        // SAFETY: MPI fills in the request, and the caller vouches for the memory.
        unsafe {
            let (bytes, world) = (ffi::RSMPI_UINT8_T, ffi::RSMPI_COMM_WORLD);
            let mut request = MaybeUninit::uninit();
            ffi::MPI_Irecv(to.cast(), len as i32, bytes, from as i32, tag, world, request.as_mut_ptr());
            Request(request.assume_init())
        }
    }

    /// Returns whether the message transfer `request` has ended.
    pub(super) fn is_done(&self, request: &mut Request) -> bool {
        let mut done = 0;
        // SAFETY: the request comes from MPI, which replaces it by a null request at the end.
        unsafe { ffi::MPI_Test(from_mut(&mut request.0), &mut done, ffi::RSMPI_STATUS_IGNORE) };
        done != 0
    }

    /// Returns the length, in bytes, of the next message with the given tag from a rank, or `None` if none has arrived.
    pub(super) fn probe(&self, from: usize, tag: i32) -> Option<usize> {
        let (mut there, mut len) = (0, 0);
        // SAFETY: a status is plain data that MPI fills in.
        unsafe {
            let mut status: ffi::MPI_Status = zeroed();
            ffi::MPI_Iprobe(from as i32, tag, ffi::RSMPI_COMM_WORLD, &mut there, &mut status);
            if there != 0 {
                ffi::MPI_Get_count(&status, ffi::RSMPI_UINT8_T, &mut len);
            }
        }
        (there != 0).then_some(len as usize)
    }

    /// Ends all ranks with the exit code `code`.
    pub(super) fn abort(&self, code: i32) {
        // SAFETY: MPI has been started. The call does not return.
        unsafe { ffi::MPI_Abort(ffi::RSMPI_COMM_WORLD, code) };
    }

    /// Shuts down MPI. All ranks must call this function.
    pub(super) fn finalize(&self) {
        // SAFETY: MPI has been started, and all transfers have ended.
        unsafe { ffi::MPI_Finalize() };
    }
}
