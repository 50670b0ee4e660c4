//! Injected faults, with which tests simulate a lost device: an OpenCL call fails, or a wait never ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// A kind of OpenCL call that can fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// Allocating device memory.
    Allocate,
    /// Building a program.
    Build,
    /// Queueing a kernel.
    Kernel,
    /// Queueing a copy to the host.
    Read,
    /// Queueing a copy to the device.
    Write,
    /// Submitting queued commands to the device.
    Flush,
    /// Waiting for an event.
    Wait,
}

impl Call {
    /// Every kind of call.
    pub const ALL: [Self; 7] =
        [Self::Allocate, Self::Build, Self::Kernel, Self::Read, Self::Write, Self::Flush, Self::Wait];
}

/// The way in which a test makes an OpenCL call fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InjectedFault {
    /// The call returns an error.
    Refused,
    /// The wait never ends; applies only to [`Call::Wait`].
    Hangs,
    /// The compiler rejects a build option; applies only to [`Call::Build`].
    Options,
}

/// The fault planned for a device, if any.
#[derive(Debug, Default)]
pub(super) struct FaultPlan {
    /// Whether a fault is planned. If not, a call reads only this flag.
    armed: AtomicBool,
    plan: Mutex<Option<(Call, u32, InjectedFault)>>,
}

impl FaultPlan {
    /// Makes the `nth` call of this kind from now on fail, counted from 1.
    pub(super) fn arm(&self, call: Call, nth: u32, fault: InjectedFault) {
        *self.plan.lock().unwrap_or_else(PoisonError::into_inner) = Some((call, nth, fault));
        self.armed.store(true, Ordering::Relaxed);
    }

    /// Counts a call, and returns the fault planned for it.
    pub(super) fn next(&self, call: Call) -> Option<InjectedFault> {
        if !self.armed.load(Ordering::Relaxed) {
            return None;
        }
        let mut plan = self.plan.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, left, fault) = plan.as_mut().filter(|(planned, ..)| *planned == call)?;
        *left = left.saturating_sub(1);
        if *left > 0 {
            return None;
        }
        let fault = *fault;
        *plan = None;
        self.armed.store(false, Ordering::Relaxed);
        Some(fault)
    }
}
