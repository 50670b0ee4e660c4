//! What is known of an OpenCL device, and opening it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use ocl::core::{
    self, CommandQueueProperties, ContextProperties, DeviceInfo as Query, DeviceInfoResult as Answer,
    DeviceType, PlatformInfo,
};

use super::fault::{Call, Fault, Faults};
use super::program::{self, ProgramCache};
use super::watch::{self, Awaited, Ended, Waiter};
use crate::error::{Error, Result};

/// What kind of processor a device is; better ones for this program first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A graphics processor.
    Gpu,
    /// Another accelerator.
    Accelerator,
    /// The host's own cores.
    Cpu,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.pad(match self {
            Kind::Gpu => "GPU",
            Kind::Accelerator => "accelerator",
            Kind::Cpu => "CPU",
        })
    }
}

/// What is known of a device without opening it.
#[derive(Debug, Clone, serde::Serialize)]
pub struct DeviceInfo {
    /// Its number in `gravitile devices` and `--device`.
    pub index: usize,
    /// Its name.
    pub name: String,
    /// The platform (vendor's implementation) that offers it.
    pub platform: String,
    /// What it is.
    pub kind: Kind,
    /// Cores, or streaming multiprocessors.
    pub compute_units: u32,
    /// Global memory in bytes.
    pub memory_bytes: u64,
    /// The largest single buffer in bytes.
    pub max_alloc_bytes: u64,
    /// Local memory of a work-group in bytes.
    pub local_bytes: u64,
    /// The most work-items in a work-group.
    pub max_work_group: usize,
    /// Whether it computes in double precision.
    pub fp64: bool,
    /// The driver's version.
    pub driver: String,
    /// The OpenCL version.
    pub opencl: String,
}

impl DeviceInfo {
    /// Whether PoCL offers it.
    pub fn is_pocl(&self) -> bool {
        is_pocl_name(&self.platform)
    }

    /// `device 0 (NVIDIA H200)`: there may be several of that name.
    pub fn label(&self) -> String {
        format!("device {} ({})", self.index, self.name)
    }
}

/// A device that was found.
#[derive(Debug, Clone)]
pub struct Found {
    /// What is known of it.
    pub info: DeviceInfo,
    pub(super) platform: core::PlatformId,
    pub(super) id: core::DeviceId,
    /// Tells it from others of the same processor, from 0.
    pub(super) twin: usize,
}

impl Found {
    /// None for a device that does not answer: it could not be used either.
    pub(super) fn query(platform: core::PlatformId, id: core::DeviceId) -> Option<Self> {
        let ask = |query| core::get_device_info(id, query).ok();
        let text = |query| ask(query).map(|answer| answer.to_string().trim().to_owned()).unwrap_or_default();
        let Answer::Available(true) = ask(Query::Available)? else { return None };
        let kind = match ask(Query::Type)? {
            Answer::Type(flags) if flags.contains(DeviceType::GPU) => Kind::Gpu,
            Answer::Type(flags) if flags.contains(DeviceType::CPU) => Kind::Cpu,
            _ => Kind::Accelerator,
        };
        let Answer::MaxComputeUnits(compute_units) = ask(Query::MaxComputeUnits)? else { return None };
        let Answer::GlobalMemSize(memory_bytes) = ask(Query::GlobalMemSize)? else { return None };
        let Answer::MaxMemAllocSize(max_alloc_bytes) = ask(Query::MaxMemAllocSize)? else { return None };
        let Answer::LocalMemSize(local_bytes) = ask(Query::LocalMemSize)? else { return None };
        let Answer::MaxWorkGroupSize(max_work_group) = ask(Query::MaxWorkGroupSize)? else { return None };
        let platform_name = core::get_platform_info(platform, PlatformInfo::Name);
        let info = DeviceInfo {
            index: 0,
            name: text(Query::Name),
            platform: platform_name.map(|name| name.to_string()).unwrap_or_default(),
            kind,
            compute_units,
            memory_bytes,
            max_alloc_bytes,
            local_bytes,
            max_work_group,
            fp64: text(Query::Extensions).split_whitespace().any(|name| name == "cl_khr_fp64"),
            driver: text(Query::DriverVersion),
            opencl: text(Query::Version),
        };
        Some(Self { info, platform, id, twin: 0 })
    }

    /// Opens the device: a context and in-order queues, with profiling where the device has it.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn open(self) -> Result<Device> {
        let context = open_context(std::slice::from_ref(&self))?;
        self.open_in(&context)
    }

    /// Opens the device in a context that it belongs to.
    pub(super) fn open_in(self, context: &core::Context) -> Result<Device> {
        let label = self.info.label();
        let open_queue = || {
            core::create_command_queue(context, self.id, Some(CommandQueueProperties::PROFILING_ENABLE))
                .or_else(|_| core::create_command_queue(context, self.id, None))
                .map_err(fail(&label, "opening a command queue"))
        };
        let queue = open_queue()?;
        let copies = match self.info.kind {
            // The cores that would copy are those that compute: the sooner the copy is done the better.
            Kind::Cpu => queue.clone(),
            Kind::Gpu | Kind::Accelerator => open_queue()?,
        };
        Ok(Device {
            info: Arc::new(self.info),
            platform: self.platform,
            twin: self.twin,
            id: self.id,
            context: context.clone(),
            queue,
            copies,
            programs: Arc::default(),
            health: Arc::new(Health::new()),
            edits: Arc::default(),
            built: Arc::default(),
        })
    }
}

/// Whether a platform of that name is PoCL.
pub(super) fn is_pocl_name(platform: &str) -> bool {
    platform.starts_with("Portable Computing Language")
}

/// A context of devices of one platform.
pub(super) fn open_context(devices: &[Found]) -> Result<core::Context> {
    let ids: Vec<_> = devices.iter().map(|found| found.id).collect();
    let properties = devices.first().map(|found| ContextProperties::new().platform(found.platform));
    let label = devices.first().map(|found| found.info.label()).unwrap_or_default();
    core::create_context(properties.as_ref(), &ids, None, None).map_err(fail(&label, "opening a context"))
}

/// An open device. Clones share the context, the queues, the cache of built programs, and edited kernels.
#[derive(Debug, Clone)]
pub struct Device {
    /// What is known of it.
    pub info: Arc<DeviceInfo>,
    platform: core::PlatformId,
    pub(super) twin: usize,
    pub(super) id: core::DeviceId,
    pub(super) context: core::Context,
    /// Kernels, and what they start from.
    pub(super) queue: core::CommandQueue,
    /// Copies to the host, which run beside the kernels of a GPU.
    pub(super) copies: core::CommandQueue,
    pub(super) programs: Arc<Mutex<ProgramCache>>,
    health: Arc<Health>,
    edits: Arc<Mutex<Arc<Edits>>>,
    /// Files that were built since this was last asked.
    built: Arc<Mutex<BTreeSet<&'static str>>>,
}

/// Whether a device answers.
#[derive(Debug)]
struct Health {
    /// Tells an opening of a device from every other, in errors.
    key: u64,
    /// Whether a wait did not end: then nothing of it is waited for or given back any more.
    lost: AtomicBool,
    faults: Faults,
    waiter: Waiter,
}

impl Health {
    fn new() -> Self {
        static OPENED: AtomicU64 = AtomicU64::new(1);
        Self {
            key: OPENED.fetch_add(1, Ordering::Relaxed),
            lost: AtomicBool::new(false),
            faults: Faults::default(),
            waiter: Waiter::default(),
        }
    }
}

/// What is built in place of the program's own kernels: texts by the names of files under `kernels/`.
pub type Edits = BTreeMap<String, String>;

impl Device {
    /// The device as it was found.
    pub fn found(&self) -> Found {
        Found { info: DeviceInfo::clone(&self.info), platform: self.platform, id: self.id, twin: self.twin }
    }

    /// Tells this opening of a device from every other: [`Error::OpenCl`] names it.
    pub fn key(&self) -> u64 {
        self.health.key
    }

    /// Whether it is one of PoCL's own: a CPU, or what a server has.
    pub(super) fn is_pocl(&self) -> bool {
        self.info.is_pocl()
    }

    /// Whether a wait for it did not end in time.
    pub fn is_lost(&self) -> bool {
        self.health.lost.load(Ordering::Relaxed)
    }

    /// For tests: lets the `nth` call of a kind from now on, counted from 1, fail.
    pub fn inject(&self, call: Call, nth: u32, fault: Fault) {
        self.health.faults.arm(call, nth, fault);
    }

    /// Fails where a test wants a call to fail, and for a lost device.
    pub(super) fn may(&self, call: Call, doing: &'static str) -> Result<()> {
        self.befalls(call, doing).map(|_| ())
    }

    /// The same; what befalls the call otherwise.
    pub(super) fn befalls(&self, call: Call, doing: &'static str) -> Result<Option<Fault>> {
        if self.is_lost() {
            return Err(self.error(doing, "the device did not answer before".to_owned()));
        }
        match self.health.faults.befalls(call) {
            Some(Fault::Refused) => {
                Err(self.error(doing, "the device is not available any more (a test's fault)".to_owned()))
            }
            fault => Ok(fault),
        }
    }

    /// What is built in place of the program's own kernels, on this device and its clones.
    pub fn edits(&self) -> Arc<Edits> {
        self.edits.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Builds `edits` in place of the program's own kernels from now on. What is built already stays as it is.
    pub fn set_edits(&self, edits: impl Into<Arc<Edits>>) {
        *self.edits.lock().unwrap_or_else(PoisonError::into_inner) = edits.into();
    }

    /// How many built programs are kept to be used again.
    pub fn programs(&self) -> usize {
        self.programs.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Lets go of those that were built of kernels that were edited otherwise than now.
    pub fn forget_edits(&self) {
        let mut programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        program::forget_edits(&mut programs, &self.edits());
    }

    /// The files under `kernels/` that were built for this device and its clones since this was last asked.
    pub fn take_built(&self) -> BTreeSet<&'static str> {
        std::mem::take(&mut *self.built.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn note_built(&self, files: impl Iterator<Item = &'static str>) {
        self.built.lock().unwrap_or_else(PoisonError::into_inner).extend(files);
    }

    /// An event that comes when all work queued until now has run. That work is handed over: another queue must not
    /// wait for what stays at the host.
    pub(super) fn mark(&self) -> Result<core::Event> {
        const DOING: &str = "handing over work";
        self.may(Call::Flush, DOING)?;
        let mut event = core::Event::null();
        core::enqueue_marker_with_wait_list(&self.queue, None::<&core::Event>, Some(&mut event), None)
            .and_then(|()| core::flush(&self.queue))
            .map_err(self.fail(DOING))?;
        Ok(event)
    }

    /// Waits for an event of the device; when it came, as far as that was seen.
    pub(super) fn wait(&self, event: &core::Event, doing: &'static str) -> Result<Instant> {
        self.end(self.watch(event), doing)
    }

    /// Begins a wait, so that several devices are waited for at once.
    pub(super) fn watch(&self, event: &core::Event) -> Awaited {
        match self.is_lost() {
            true => Awaited::Never,
            false => self.health.waiter.begin(event),
        }
    }

    /// Ends it.
    pub(super) fn end(&self, awaited: Awaited, doing: &'static str) -> Result<Instant> {
        if self.is_lost() {
            return Err(self.error(doing, "the device did not answer before".to_owned()));
        }
        let ended = match self.health.faults.befalls(Call::Wait) {
            None | Some(Fault::Options) => awaited.end(),
            Some(Fault::Hangs) => Awaited::Never.end(),
            Some(Fault::Refused) => {
                return Err(
                    self.error(doing, "the device is not available any more (a test's fault)".to_owned())
                );
            }
        };
        match ended {
            Ended::Done(at) => Ok(at),
            Ended::Failed(error) => Err(self.fail(doing)(error)),
            Ended::NotYet => {
                self.health.lost.store(true, Ordering::Relaxed);
                // Given back, they could be waited for.
                std::mem::forget((self.context.clone(), self.queue.clone(), self.copies.clone()));
                let seconds = watch::patience().as_secs_f64();
                Err(self.error(
                    doing,
                    format!(
                        "it did not answer within {seconds} s, far longer than that can take; it, its driver or its server hangs"
                    ),
                ))
            }
        }
    }

    /// Names what failed, and where.
    pub(super) fn fail(&self, doing: &'static str) -> impl FnOnce(core::Error) -> Error + use<'_> {
        move |error| self.error(doing, explain(&error))
    }

    fn error(&self, doing: &'static str, reason: String) -> Error {
        Error::OpenCl { doing, device: self.info.label(), key: self.key(), reason }
    }
}

fn fail<'d>(device: &'d str, doing: &'static str) -> impl FnOnce(core::Error) -> Error + use<'d> {
    move |error| Error::OpenCl { doing, device: device.to_owned(), key: 0, reason: explain(&error) }
}

/// A sentence for an OpenCL error; the code's name is kept for whoever looks it up.
fn explain(error: &core::Error) -> String {
    use core::Status as S;
    let Some(status) = error.api_status() else { return error.to_string().trim().to_owned() };
    let words = match status {
        S::CL_MEM_OBJECT_ALLOCATION_FAILURE | S::CL_OUT_OF_HOST_MEMORY | S::CL_INVALID_BUFFER_SIZE => {
            "there is not enough memory; take fewer bodies"
        }
        S::CL_OUT_OF_RESOURCES => {
            "the device ran out of resources; take fewer bodies or a smaller work-group"
        }
        S::CL_INVALID_WORK_GROUP_SIZE => "the device does not take this work-group size; take a smaller one",
        S::CL_DEVICE_NOT_AVAILABLE => "the device is not available any more",
        _ => "the driver refused",
    };
    format!("{words} ({status:?})")
}
