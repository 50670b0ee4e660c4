//! Injected faults, which let tests simulate a lost device: an OpenCL call fails, or a wait never ends.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Kind of OpenCL call, as a target for injected faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// A call that allocates device memory.
    Allocate,
    /// A call that builds a program.
    Build,
    /// A call that queues a kernel.
    Kernel,
    /// A call that queues a copy to the host.
    Read,
    /// A call that queues a copy to the device.
    Write,
    /// A call that submits queued commands to the device.
    Flush,
    /// A call that waits for an event.
    Wait,
}

impl Call {
    /// All kinds of calls.
    pub const ALL: [Self; 7] =
        [Self::Allocate, Self::Build, Self::Kernel, Self::Read, Self::Write, Self::Flush, Self::Wait];
}

/// How a test makes an OpenCL call fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InjectedFault {
    /// The OpenCL call returns an error.
    Refused,
    /// The wait never ends; applies only to [`Call::Wait`].
    Hangs,
    /// The compiler rejects a build option; applies only to [`Call::Build`].
    Options,
}

/// Planned fault of a device, if any: the kind of OpenCL call, the number of calls left until the fault, and the fault.
#[derive(Debug, Default)]
pub(super) struct FaultPlan(Mutex<Option<(Call, u32, InjectedFault)>>);

impl FaultPlan {
    /// Plans `fault` for the `nth` OpenCL call of kind `call` from now on, counting from 1.
    pub(super) fn arm(&self, call: Call, nth: u32, fault: InjectedFault) {
        *self.plan() = Some((call, nth, fault));
    }

    /// Counts an OpenCL call, and returns the fault planned for this call, if any.
    pub(super) fn next(&self, call: Call) -> Option<InjectedFault> {
        let mut plan = self.plan();
        let (_, left, fault) = plan.as_mut().filter(|(planned, ..)| *planned == call)?;
        *left = left.saturating_sub(1);
        let (is_due, fault) = (*left == 0, *fault);
        is_due.then(|| {
            *plan = None;
            fault
        })
    }

    fn plan(&self) -> MutexGuard<'_, Option<(Call, u32, InjectedFault)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
