//! Finding OpenCL devices and opening one.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use ocl::core::{self, DeviceInfo as Query, DeviceInfoResult as Answer};
use ocl::enums::{PlatformInfo, PlatformInfoResult};
use ocl::flags::{CommandQueueProperties, DeviceType};

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
    platform: ocl::Platform,
    id: ocl::Device,
}

/// Every device of every platform, the preferred one first: GPUs, then accelerators, then CPUs.
///
/// # Errors
/// If there is none, with what was found instead.
pub fn list() -> Result<Vec<Found>> {
    // An ICD loader without platforms answers with an error; to a person that is an empty list.
    let platforms = core::get_platform_ids().unwrap_or_default();
    let mut found: Vec<Found> = Vec::new();
    for id in &platforms {
        let platform = ocl::Platform::new(*id);
        // A platform without devices answers with an error too.
        let devices = ocl::Device::list(platform, Some(DeviceType::ALL)).unwrap_or_default();
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
        match lower.parse::<usize>() {
            Ok(number) => device.info.index == number,
            Err(_) => !lower.is_empty() && names.contains(&lower),
        }
    };
    match found.iter().position(meant) {
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
    fn query(platform: ocl::Platform, id: ocl::Device) -> Option<Self> {
        if !id.is_available().unwrap_or(false) {
            return None;
        }
        let text = |query| id.info(query).map(|a| a.to_string().trim().to_owned()).unwrap_or_default();
        let kind = match id.info(Query::Type).ok()? {
            Answer::Type(flags) if flags.contains(DeviceType::GPU) => Kind::Gpu,
            Answer::Type(flags) if flags.contains(DeviceType::CPU) => Kind::Cpu,
            _ => Kind::Accelerator,
        };
        let Answer::MaxComputeUnits(compute_units) = id.info(Query::MaxComputeUnits).ok()? else {
            return None;
        };
        let Answer::GlobalMemSize(memory_bytes) = id.info(Query::GlobalMemSize).ok()? else { return None };
        let Answer::MaxMemAllocSize(max_alloc_bytes) = id.info(Query::MaxMemAllocSize).ok()? else {
            return None;
        };
        let Answer::LocalMemSize(local_bytes) = id.info(Query::LocalMemSize).ok()? else { return None };
        let platform_name = match platform.info(PlatformInfo::Name) {
            Ok(PlatformInfoResult::Name(name)) => name,
            _ => String::new(),
        };
        let info = DeviceInfo {
            index: 0,
            name: id.name().ok()?.trim().to_owned(),
            platform: platform_name,
            kind,
            compute_units,
            memory_bytes,
            max_alloc_bytes,
            local_bytes,
            max_work_group: id.max_wg_size().ok()?,
            fp64: text(Query::Extensions).split_whitespace().any(|name| name == "cl_khr_fp64"),
            driver: text(Query::DriverVersion),
            opencl: text(Query::Version),
        };
        Some(Self { info, platform, id })
    }

    /// Opens the device: a context and an in-order queue, with profiling where the device has it.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn open(self) -> Result<Device> {
        let fail = |doing| {
            let device = self.info.name.clone();
            move |source: ocl::Error| Error::OpenCl { doing, device, source: Box::new(source) }
        };
        let context = ocl::Context::builder()
            .platform(self.platform)
            .devices(self.id)
            .build()
            .map_err(fail("opening a context"))?;
        let queue = ocl::Queue::new(&context, self.id, Some(CommandQueueProperties::PROFILING_ENABLE))
            .or_else(|_| ocl::Queue::new(&context, self.id, None))
            .map_err(fail("opening a command queue"))?;
        let programs = Arc::new(Mutex::new(HashMap::new()));
        Ok(Device { info: Arc::new(self.info), id: self.id, context, queue, programs })
    }
}

/// An open device. Clones share the context, the queue and the cache of built programs.
#[derive(Debug, Clone)]
pub struct Device {
    /// What is known of it.
    pub info: Arc<DeviceInfo>,
    pub(super) id: ocl::Device,
    pub(super) context: ocl::Context,
    pub(super) queue: ocl::Queue,
    /// Programs by source and options: changing back to a variant costs nothing.
    pub(super) programs: Arc<Mutex<HashMap<(String, String), ocl::Program>>>,
}

impl Device {
    /// Names what failed, and where.
    pub(super) fn fail(&self, doing: &'static str) -> impl FnOnce(ocl::Error) -> Error + use<> {
        let device = self.info.name.clone();
        move |source| Error::OpenCl { doing, device, source: Box::new(source) }
    }
}
