//! Failures on demand, so that tests see what a lost device does: a call of OpenCL is refused, or a wait never ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// A kind of call that can fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// Reserving memory.
    Allocate,
    /// Building a program.
    Build,
    /// Queueing a kernel.
    Kernel,
    /// Queueing a copy to the host.
    Read,
    /// Queueing a copy to the device.
    Write,
    /// Handing over what is queued.
    Flush,
    /// Waiting for it.
    Wait,
}

impl Call {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Allocate, Self::Build, Self::Kernel, Self::Read, Self::Write, Self::Flush, Self::Wait];
}

/// How a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// With an error code.
    Refused,
    /// Only of [`Call::Wait`]: it never ends.
    Hangs,
    /// Only of [`Call::Build`]: the compiler does not take an option.
    Options,
}

/// What is to fail on a device.
#[derive(Debug, Default)]
pub(super) struct Faults {
    /// Whether there is anything at all: all that is looked at in the ordinary course.
    armed: AtomicBool,
    plan: Mutex<Option<(Call, u32, Fault)>>,
}

impl Faults {
    /// Lets the `nth` such call from now on fail, from 1.
    pub fn arm(&self, call: Call, nth: u32, fault: Fault) {
        *self.plan.lock().unwrap_or_else(PoisonError::into_inner) = Some((call, nth, fault));
        self.armed.store(true, Ordering::Relaxed);
    }

    /// What befalls this call.
    pub fn befalls(&self, call: Call) -> Option<Fault> {
        if !self.armed.load(Ordering::Relaxed) {
            return None;
        }
        let mut plan = self.plan.lock().unwrap_or_else(PoisonError::into_inner);
        match plan.as_mut() {
            Some((planned, nth, fault)) if *planned == call => {
                *nth = nth.saturating_sub(1);
                if *nth > 0 {
                    return None;
                }
                let fault = *fault;
                *plan = None;
                self.armed.store(false, Ordering::Relaxed);
                Some(fault)
            }
            _ => None,
        }
    }
}
