//! Devices that were found but are not open yet.

use std::fmt;

use ocl::core::{self, DeviceInfo as Query, DeviceInfoResult as Answer, DeviceType, PlatformInfo};

/// Kind of processor. The variants are in order of preference.
#[derive(
    Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum DeviceKind {
    /// A graphics processor.
    #[default]
    Gpu,
    /// An accelerator other than a GPU.
    Accelerator,
    /// The processor cores of the host.
    Cpu,
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.pad(match self {
            DeviceKind::Gpu => "GPU",
            DeviceKind::Accelerator => "accelerator",
            DeviceKind::Cpu => "CPU",
        })
    }
}

/// Properties of a device that can be read without opening it.
#[derive(Debug, Default, Clone, serde::Serialize, serde::Deserialize)]
pub struct DeviceInfo {
    /// Number of the device, as printed by `gravitile devices` and accepted by `--device`.
    pub index: usize,
    /// Device name reported by the driver, followed by the part number if the device is a part of a split CPU.
    pub name: String,
    /// Name of the OpenCL platform, that is, of a vendor's implementation of OpenCL.
    pub platform: String,
    /// Kind of processor: GPU, accelerator or CPU.
    pub kind: DeviceKind,
    /// Number of compute units, such as the cores of a CPU or the streaming multiprocessors of a GPU.
    pub compute_units: u32,
    /// Size of the device's global memory, in bytes.
    pub memory_bytes: u64,
    /// Size of the largest buffer that can be allocated, in bytes.
    pub max_alloc_bytes: u64,
    /// Size of the local memory available to a work-group, in bytes.
    pub local_bytes: u64,
    /// Maximum number of work-items in a work-group.
    pub max_work_group: usize,
    /// Whether the device supports double precision.
    pub fp64: bool,
    /// Driver version, as text.
    pub driver: String,
    /// OpenCL version that the device supports, as text.
    pub opencl: String,
}

/// Separator between the device name and the part number in the name of a part of a split device.
pub(super) const PART: &str = ", part ";

impl DeviceInfo {
    /// Returns the device name; for a part of a split device, returns the name of the whole device.
    pub fn model(&self) -> &str {
        self.name.split(PART).next().unwrap_or_default()
    }

    /// Returns whether the device belongs to PoCL, an OpenCL platform that computes on CPUs.
    pub fn is_pocl(&self) -> bool {
        is_pocl_name(&self.platform)
    }

    /// Returns whether this is llvmpipe, Mesa's software renderer, which Rusticl offers if `RUSTICL_ENABLE` names it.
    pub fn is_llvmpipe(&self) -> bool {
        self.platform == "rusticl" && self.name.starts_with("llvmpipe")
    }

    /// Returns a label such as `device 0 (NVIDIA H200)`, which is unique even if several devices have the same name.
    pub fn label(&self) -> String {
        format!("device {} ({})", self.index, self.name)
    }
}

/// A device that was found and can be opened.
#[derive(Debug, Clone)]
pub struct FoundDevice {
    /// Properties of the device.
    pub info: DeviceInfo,
    pub(super) platform: core::PlatformId,
    pub(super) id: core::DeviceId,
    /// Number, starting at 0, that distinguishes devices with the same name or the parts of a split device.
    pub(super) instance: usize,
}

impl FoundDevice {
    /// Reads the properties of a device. Returns `None` if the device is unavailable or lacks a required property.
    pub(super) fn query(platform: core::PlatformId, id: core::DeviceId) -> Option<Self> {
        let ask = |query| core::get_device_info(id, query).ok();
        let text = |query| ask(query).map(|answer| answer.to_string().trim().to_owned()).unwrap_or_default();
        let Answer::Available(true) = ask(Query::Available)? else { return None };
        let kind = match ask(Query::Type)? {
            Answer::Type(flags) if flags.contains(DeviceType::GPU) => DeviceKind::Gpu,
            Answer::Type(flags) if flags.contains(DeviceType::CPU) => DeviceKind::Cpu,
            _ => DeviceKind::Accelerator,
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
        Some(Self { info, platform, id, instance: 0 })
    }

    /// Returns whether `other` is the same OpenCL device.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.id.as_raw() == other.id.as_raw()
    }
}

pub(super) fn is_pocl_name(platform: &str) -> bool {
    platform.starts_with("Portable Computing Language")
}
