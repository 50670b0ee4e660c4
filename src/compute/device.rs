//! Finding OpenCL devices and opening one.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use ocl::core::{
    self, CommandQueueProperties, ContextProperties, DeviceInfo as Query, DeviceInfoResult as Answer,
    DeviceType, PlatformInfo,
};

use super::program::ProgramCache;

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

/// A device that was found.
#[derive(Debug, Clone)]
pub struct Found {
    /// What is known of it.
    pub info: DeviceInfo,
    platform: core::PlatformId,
    id: core::DeviceId,
}

/// Every device of every platform, the preferred one first: GPUs, then accelerators, then CPUs.
///
/// # Errors
/// If there is none, with what was found instead.
pub fn list() -> Result<Vec<Found>> {
    // PoCL 3.1 answers "no device" to a second thread that asks while the first is still being answered.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    // An ICD loader without platforms answers with an error; to a person that is an empty list.
    let platforms = if has_platform() { core::get_platform_ids().unwrap_or_default() } else { Vec::new() };
    let mut found: Vec<Found> = Vec::new();
    for &platform in &platforms {
        // A platform without devices answers with an error too.
        let devices = core::get_device_ids(platform, Some(DeviceType::ALL), None).unwrap_or_default();
        found.extend(devices.into_iter().filter_map(|id| Found::query(platform, id)));
    }
    found.sort_by_key(|device| device.info.kind);
    for (index, device) in found.iter_mut().enumerate() {
        device.info.index = index;
    }
    match (found.is_empty(), platforms.len()) {
        (false, _) => Ok(found),
        (true, 0) => Err(Error::NoDevice(String::new())),
        (true, n) => Err(Error::NoDevice(format!(" ({n} OpenCL platform(s), none with a device)"))),
    }
}

/// Whether there is any platform. Where there is none, `ocl` would go on asking for ten seconds.
fn has_platform() -> bool {
    let mut count = 0;
    // SAFETY: room for no platform is offered, and `count` outlives the call.
    let status = unsafe { core::ffi::clGetPlatformIDs(0, std::ptr::null_mut(), &mut count) };
    status == core::Status::CL_SUCCESS as i32 && count > 0
}

/// The device that `wanted` means: a number of [`list`], part of a name or platform (any case), or without
/// a wish the first.
///
/// # Errors
/// If there is no device, or none that is meant.
pub fn select(wanted: Option<&str>) -> Result<Found> {
    let mut found = list()?;
    let Some(wanted) = wanted else { return Ok(found.swap_remove(0)) };
    let lower = wanted.trim().to_lowercase();
    let meant = |device: &Found| {
        let names = format!("{}\n{}", device.info.name, device.info.platform).to_lowercase();
        !lower.is_empty() && names.contains(&lower)
    };
    // A number that counts no device may still be part of a name, such as that of a model.
    let counted = lower.parse::<usize>().ok().filter(|number| *number < found.len());
    match counted.or_else(|| found.iter().position(meant)) {
        Some(at) => Ok(found.swap_remove(at)),
        None => {
            let known: Vec<String> =
                found.iter().map(|d| format!("{} ({})", d.info.index, d.info.name)).collect();
            Err(Error::Invalid(format!(
                "there is no device `{wanted}`; the devices are {}",
                known.join(", ")
            )))
        }
    }
}

impl Found {
    /// None for a device that does not answer: it could not be used either.
    fn query(platform: core::PlatformId, id: core::DeviceId) -> Option<Self> {
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
        Some(Self { info, platform, id })
    }

    /// Opens the device: a context and in-order queues, with profiling where the device has it.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn open(self) -> Result<Device> {
        let fail = |doing| fail(&self.info.name, doing);
        let properties = ContextProperties::new().platform(self.platform);
        let context = core::create_context(Some(&properties), &[self.id], None, None)
            .map_err(fail("opening a context"))?;
        let open_queue = || {
            core::create_command_queue(&context, self.id, Some(CommandQueueProperties::PROFILING_ENABLE))
                .or_else(|_| core::create_command_queue(&context, self.id, None))
                .map_err(fail("opening a command queue"))
        };
        let queue = open_queue()?;
        let copies = match self.info.kind {
            // The cores that would copy are those that compute: the sooner the copy is done the better.
            Kind::Cpu => queue.clone(),
            Kind::Gpu | Kind::Accelerator => open_queue()?,
        };
        Ok(Device {
            info: Arc::new(self.info),
            id: self.id,
            context,
            queue,
            copies,
            programs: Arc::default(),
        })
    }
}

/// An open device. Clones share the context, the queues and the cache of built programs.
#[derive(Debug, Clone)]
pub struct Device {
    /// What is known of it.
    pub info: Arc<DeviceInfo>,
    pub(super) id: core::DeviceId,
    pub(super) context: core::Context,
    /// Kernels, and what they start from.
    pub(super) queue: core::CommandQueue,
    /// Copies to the host, which run beside the kernels of a GPU.
    pub(super) copies: core::CommandQueue,
    pub(super) programs: Arc<Mutex<ProgramCache>>,
}

impl Device {
    /// An event that comes when all work queued until now has run. That work is handed over: another queue must not
    /// wait for what stays at the host.
    pub(super) fn mark(&self) -> Result<core::Event> {
        let mut event = core::Event::null();
        core::enqueue_marker_with_wait_list(&self.queue, None::<&core::Event>, Some(&mut event), None)
            .and_then(|()| core::flush(&self.queue))
            .map_err(self.fail("handing over work"))?;
        Ok(event)
    }

    /// Names what failed, and where.
    pub(super) fn fail(&self, doing: &'static str) -> impl FnOnce(core::Error) -> Error + use<'_> {
        fail(&self.info.name, doing)
    }
}

fn fail<'d>(device: &'d str, doing: &'static str) -> impl FnOnce(core::Error) -> Error + use<'d> {
    move |error| Error::OpenCl { doing, device: device.to_owned(), reason: explain(&error) }
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
