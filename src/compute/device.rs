//! Open OpenCL devices: contexts, queues, memory allocation, waits and errors.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ocl::core::{self, CommandQueueProperties, ContextProperties, MemFlags};

use super::events::{self, TIMEOUT_VARIABLE, Wait, Waiter};
use super::fault::{Call, FaultPlan, InjectedFault};
use super::found::{DeviceInfo, DeviceKind, FoundDevice};
use super::recorder::{Recorder, Recording};
use super::source::{KernelEdits, ProgramCache};
use crate::base::{Error, Result, invalid};

impl FoundDevice {
    /// Opens the device: creates a context and in-order queues, with profiling if the driver supports it.
    ///
    /// # Errors
    /// Returns an error if the driver refuses to open the device, or if the timeout set by the user is invalid.
    pub fn open(self) -> Result<Device> {
        let context = open_context(std::slice::from_ref(&self))?;
        self.open_in(&context)
    }

    pub(super) fn open_in(self, context: &core::Context) -> Result<Device> {
        static OPENED: AtomicU64 = AtomicU64::new(1);
        let health = Health {
            key: OPENED.fetch_add(1, Ordering::Relaxed),
            lost: AtomicBool::new(false),
            timeout: events::timeout()?,
            faults: FaultPlan::default(),
            waiter: Waiter::default(),
        };
        let open_queue = || {
            core::create_command_queue(context, self.id, Some(CommandQueueProperties::PROFILING_ENABLE))
                .or_else(|_| core::create_command_queue(context, self.id, None))
                .map_err(|error| opening_error(&self.info, "opening a command queue", &error))
        };
        let queue = open_queue()?;
        let copies = match self.info.kind {
            // On a CPU the same cores copy and compute, so a second queue would only delay the copy.
            DeviceKind::Cpu => queue.clone(),
            DeviceKind::Gpu | DeviceKind::Accelerator => open_queue()?,
        };
        Ok(Device {
            info: Arc::new(self.info),
            platform: self.platform,
            instance: self.instance,
            id: self.id,
            context: context.clone(),
            queue,
            copies,
            programs: Arc::default(),
            health: Arc::new(health),
            edits: Arc::default(),
            built: Arc::default(),
            recorder: Arc::default(),
        })
    }
}

/// Opens a context for devices of one platform.
pub(super) fn open_context(devices: &[FoundDevice]) -> Result<core::Context> {
    let Some(first) = devices.first() else {
        return Err(invalid!("no device was selected; choose at least one"));
    };
    let ids: Vec<_> = devices.iter().map(|found| found.id).collect();
    let properties = ContextProperties::new().platform(first.platform);
    core::create_context(Some(&properties), &ids, None, None)
        .map_err(|error| opening_error(&first.info, "opening a context", &error))
}

fn opening_error(info: &DeviceInfo, doing: &'static str, error: &core::Error) -> Error {
    Error::OpenCl { doing, device: info.label(), key: 0, reason: explain(error) }
}

/// An open device. Clones share the context, the queues, the built programs and the edited kernels.
#[derive(Debug, Clone)]
pub struct Device {
    /// Properties of the device.
    pub info: Arc<DeviceInfo>,
    platform: core::PlatformId,
    /// Number, starting at 0, that distinguishes devices with the same name or the parts of a split device.
    pub(super) instance: usize,
    pub(super) id: core::DeviceId,
    pub(super) context: core::Context,
    /// Queue for kernels and uploads.
    pub(super) queue: core::CommandQueue,
    /// Queue for copies from and to the host, which a GPU can perform while kernels run.
    pub(super) copies: core::CommandQueue,
    programs: Arc<Mutex<ProgramCache>>,
    health: Arc<Health>,
    edits: Arc<Mutex<Arc<KernelEdits>>>,
    /// Kernel files that have been built since the last call to [`Device::take_built`].
    built: Arc<Mutex<BTreeSet<&'static str>>>,
    pub(super) recorder: Arc<Recorder>,
}

/// Identity and health of an open device.
#[derive(Debug)]
struct Health {
    /// Unique number that changes each time a device is opened.
    key: u64,
    /// Whether a wait for the device timed out. The program no longer waits for a lost device, and leaks its OpenCL
    /// objects.
    lost: AtomicBool,
    timeout: Duration,
    faults: FaultPlan,
    waiter: Waiter,
}

impl Device {
    /// Returns the [`FoundDevice`] that describes the device and can open it again.
    pub(super) fn found(&self) -> FoundDevice {
        let Self { platform, id, instance, .. } = *self;
        FoundDevice { info: DeviceInfo::clone(&self.info), platform, id, instance }
    }

    /// Returns a unique number that changes each time a device is opened. [`Error::OpenCl`] contains this number.
    pub fn key(&self) -> u64 {
        self.health.key
    }

    /// Returns whether the device is lost, that is, whether a wait for the device timed out.
    pub fn is_lost(&self) -> bool {
        self.health.lost.load(Ordering::Relaxed)
    }

    /// Injects `fault` into the `nth` OpenCL call of kind `call` from now on, counting from 1. For tests only.
    pub fn inject(&self, call: Call, nth: u32, fault: InjectedFault) {
        self.health.faults.arm(call, nth, fault);
    }

    /// Returns an error if the device is lost, or if a test injected a fault that makes this call fail.
    pub(super) fn check(&self, call: Call, doing: &'static str) -> Result<()> {
        self.injected_fault(call, doing).map(drop)
    }

    /// Returns the fault that a test injected into this call, if any. Fails on an injected error or a lost device.
    pub(super) fn injected_fault(&self, call: Call, doing: &'static str) -> Result<Option<InjectedFault>> {
        if self.is_lost() {
            return Err(self.error(doing, "the device has stopped responding".to_owned()));
        }
        match self.health.faults.next(call) {
            Some(InjectedFault::Refused) => {
                Err(self.error(doing, "the device is no longer available (injected by a test)".to_owned()))
            }
            fault => Ok(fault),
        }
    }

    /// Returns the edited kernel sources that replace built-in kernels on this device and its clones.
    pub fn edits(&self) -> Arc<KernelEdits> {
        lock(&self.edits).clone()
    }

    /// Sets the edited kernel sources that replace built-in kernels in programs built from now on.
    pub fn set_edits(&self, edits: impl Into<Arc<KernelEdits>>) {
        *lock(&self.edits) = edits.into();
    }

    /// Returns the number of built programs in the cache.
    pub fn programs(&self) -> usize {
        self.program_cache().len()
    }

    pub(super) fn program_cache(&self) -> MutexGuard<'_, ProgramCache> {
        lock(&self.programs)
    }

    /// Removes programs with outdated kernel edits from the cache.
    pub fn forget_edits(&self) {
        self.program_cache().forget_edits_except(&self.edits());
    }

    /// Returns the kernel files built for this device and its clones since the last call of this method.
    pub fn take_built(&self) -> BTreeSet<&'static str> {
        std::mem::take(&mut *lock(&self.built))
    }

    /// Records kernel files as built; [`Device::take_built`] returns them.
    pub(super) fn note_built(&self, files: impl Iterator<Item = &'static str>) {
        lock(&self.built).extend(files);
    }

    /// Begins to record the kernels that the device runs, and discards the previous recording. The recording holds at
    /// most `most` launches.
    pub fn begin_recording(&self, most: usize) {
        self.recorder.begin(most);
    }

    /// Ends the recording. Later launches are not recorded. [`Device::take_recording`] returns the recording.
    pub fn end_recording(&self) {
        self.recorder.stop();
    }

    /// Ends the recording and returns it. Waits until all recorded launches have ended.
    ///
    /// # Errors
    /// Returns an error if the driver does not report the times of kernels.
    pub fn take_recording(&self) -> Result<Recording> {
        self.recorder.stop();
        if let Some(last) = self.recorder.last_event() {
            self.wait(&last, "running a kernel")?;
        }
        self.recorder.take()
    }

    /// Records that a pass over all bodies or cells begins, if a recording is in progress.
    pub fn begin_pass(&self) {
        self.recorder.begin_pass();
    }

    pub(super) fn allocate(&self, flags: MemFlags, bytes: usize, doing: &'static str) -> Result<core::Mem> {
        self.check(Call::Allocate, doing)?;
        // SAFETY: no host memory is passed.
        unsafe { core::create_buffer(&self.context, flags, bytes, None::<&[u8]>) }.map_err(self.fail(doing))
    }

    /// Submits queued work, and returns an event that completes when the work ends. Other queues can wait for this
    /// event.
    pub(super) fn submit(&self) -> Result<core::Event> {
        const DOING: &str = "submitting work";
        self.check(Call::Flush, DOING)?;
        let mut event = core::Event::null();
        core::enqueue_marker_with_wait_list(&self.queue, None::<&core::Event>, Some(&mut event), None)
            .and_then(|()| core::flush(&self.queue))
            .map_err(self.fail(DOING))?;
        Ok(event)
    }

    /// Waits for an event on the device. Returns the time at which the program noticed that the event had completed.
    pub(super) fn wait(&self, event: &core::Event, doing: &'static str) -> Result<Instant> {
        self.finish_wait(self.start_wait(event), doing)
    }

    /// Starts waiting for an event without blocking, so that the program can wait for several devices at once.
    pub(super) fn start_wait(&self, event: &core::Event) -> Wait {
        match self.is_lost() {
            true => Wait::Never,
            false => self.health.waiter.begin(event),
        }
    }

    /// Blocks until the event of `wait` completes. A timeout marks the device as lost.
    pub(super) fn finish_wait(&self, wait: Wait, doing: &'static str) -> Result<Instant> {
        let hangs = self.injected_fault(Call::Wait, doing)? == Some(InjectedFault::Hangs);
        match if hangs { Wait::Never } else { wait }.finish(self.health.timeout) {
            Some(outcome) => outcome.map_err(self.fail(doing)),
            None => {
                self.health.lost.store(true, Ordering::Relaxed);
                // Leaks the objects, because releasing an object may wait for the device.
                std::mem::forget((self.context.clone(), self.queue.clone(), self.copies.clone()));
                let seconds = self.health.timeout.as_secs_f64();
                let reason = format!(
                    "the device did not respond within {seconds} s, so the device, its driver or its server has probably \
                     stopped; to wait longer, set {TIMEOUT_VARIABLE} to more seconds"
                );
                Err(self.error(doing, reason))
            }
        }
    }

    /// Returns a closure that adds the device and the failed action `doing` to an OpenCL error.
    pub(super) fn fail(&self, doing: &'static str) -> impl FnOnce(core::Error) -> Error + use<'_> {
        move |error| self.error(doing, explain(&error))
    }

    fn error(&self, doing: &'static str, reason: String) -> Error {
        Error::OpenCl { doing, device: self.info.label(), key: self.key(), reason }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns a sentence that explains an OpenCL error and names its error code.
fn explain(error: &core::Error) -> String {
    use core::Status as S;
    let Some(status) = error.api_status() else { return error.to_string().trim().to_owned() };
    let words = match status {
        S::CL_MEM_OBJECT_ALLOCATION_FAILURE | S::CL_OUT_OF_HOST_MEMORY | S::CL_INVALID_BUFFER_SIZE => {
            "there is not enough memory; choose fewer bodies"
        }
        S::CL_OUT_OF_RESOURCES => {
            "the device ran out of resources; choose fewer bodies or a smaller work-group"
        }
        S::CL_INVALID_WORK_GROUP_SIZE => {
            "the device does not support this work-group size; choose a smaller one"
        }
        S::CL_DEVICE_NOT_AVAILABLE => "the device is no longer available",
        _ => "the driver reported an error",
    };
    format!("{words} ({status:?})")
}
