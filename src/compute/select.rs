//! Finds devices, and selects devices by number or name.

use std::ptr;
use std::sync::{Mutex, PoisonError};

use ocl::core::{self, DeviceType, PlatformInfo};

use super::found::{DeviceInfo, DeviceKind, FoundDevice, PART, is_pocl_name};
#[cfg(windows)]
use super::opencl_dll;
use super::pocl_cache;
use crate::base::{Error, Result, invalid};

/// Returns the devices of all platforms: GPUs first, then accelerators, then CPUs.
///
/// # Errors
/// Returns an error if there is no device; the message says why.
pub fn list() -> Result<Vec<FoundDevice>> {
    // PoCL 3.1 reports no device to a thread that asks while another thread's query runs.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    #[cfg(windows)]
    if !opencl_dll::is_installed() {
        return Err(Error::NoDevice(": OpenCL.dll, which GPU drivers install, is missing".to_owned()));
    }
    // An ICD loader without platforms returns an error. The error is treated as an empty list.
    let platforms = if has_platform() { core::get_platform_ids().unwrap_or_default() } else { Vec::new() };
    let mut found: Vec<FoundDevice> = Vec::new();
    for &platform in &platforms {
        // A platform without devices returns an error too.
        let devices = core::get_device_ids(platform, Some(DeviceType::ALL), None).unwrap_or_default();
        found.extend(devices.into_iter().filter_map(|id| FoundDevice::query(platform, id)));
    }
    found.sort_by_key(|device| device.info.kind);
    for index in 0..found.len() {
        let name = &found[index].info.name;
        let instance = found[..index].iter().filter(|other| other.info.name == *name).count();
        (found[index].info.index, found[index].instance) = (index, instance);
    }
    let is_pocl = |&platform: &_| {
        core::get_platform_info(platform, PlatformInfo::Name)
            .is_ok_and(|name| is_pocl_name(&name.to_string()))
    };
    match pocl_cache::refusal() {
        _ if !found.is_empty() => Ok(found),
        _ if platforms.is_empty() => Err(Error::NoDevice(String::new())),
        Some(reason) if platforms.iter().any(is_pocl) => Err(Error::Invalid(reason)),
        _ => Err(Error::NoDevice(format!(" (OpenCL platforms: {}, none with a device)", platforms.len()))),
    }
}

/// Returns whether there is an OpenCL platform. Without a platform, `ocl` would retry for ten seconds.
fn has_platform() -> bool {
    let mut count = 0;
    // SAFETY: no array for platforms is passed, and `count` outlives the call.
    let status = unsafe { core::ffi::clGetPlatformIDs(0, ptr::null_mut(), &mut count) };
    status == core::Status::CL_SUCCESS as i32 && count > 0
}

/// Returns the device whose number in [`list`] is `wanted`, or whose name or platform contains `wanted`, ignoring case.
/// If `wanted` is `None`, returns the first device.
///
/// # Errors
/// Returns an error if there is no device, or no device matches.
pub fn select(wanted: Option<&str>) -> Result<FoundDevice> {
    let mut found = list()?;
    let Some(wanted) = wanted else { return Ok(found.swap_remove(0)) };
    let lower = wanted.trim().to_lowercase();
    let meant = |device: &FoundDevice| {
        let names = format!("{}\n{}", device.info.name, device.info.platform).to_lowercase();
        !lower.is_empty() && names.contains(&lower)
    };
    // A number too large for the list may still be part of a name, such as a model number.
    let counted = lower.parse::<usize>().ok().filter(|number| *number < found.len());
    match counted.or_else(|| found.iter().position(meant)) {
        Some(at) => Ok(found.swap_remove(at)),
        None => {
            let names = found.iter().map(|device| format!("{} ({})", device.info.index, device.info.name));
            let known = names.collect::<Vec<_>>().join(", ");
            Err(invalid!("there is no device `{wanted}`; choose one of {known}"))
        }
    }
}

/// Returns the devices listed in `wanted`, in that order and without duplicates. `wanted` is a comma-separated list of
/// device numbers in [`list`], parts of device names, `all`, `gpus`, or `sub:K` for K nearly equal parts of the CPU.
///
/// # Errors
/// Returns an error if a name matches no device.
pub fn select_several(wanted: &str) -> Result<Vec<FoundDevice>> {
    let mut chosen: Vec<FoundDevice> = Vec::new();
    for word in wanted.split(',').map(str::trim) {
        let lower = word.to_lowercase();
        let meant = match lower.as_str() {
            "all" => list()?,
            "gpus" => list()?.into_iter().filter(|found| found.info.kind == DeviceKind::Gpu).collect(),
            _ => match lower.strip_prefix("sub:") {
                Some(parts) => split_cpu(word, parts)?,
                None => vec![select(Some(word))?],
            },
        };
        if meant.is_empty() {
            return Err(invalid!("no GPU was found"));
        }
        for found in meant {
            if !chosen.iter().any(|other| other.is_same(&found)) {
                chosen.push(found);
            }
        }
    }
    Ok(chosen)
}

/// Returns a pool of devices, and the indices of the `chosen` devices in the pool. The pool contains all devices, or
/// only the `chosen` ones if any of these is a part of a split device.
///
/// # Errors
/// Returns an error if there is no device.
pub fn pool(chosen: Vec<FoundDevice>) -> Result<(Vec<FoundDevice>, Vec<usize>)> {
    let all = list()?;
    let index = |found: &FoundDevice| all.iter().position(|other| other.is_same(found));
    match chosen.iter().map(index).collect() {
        Some(indices) => Ok((all, indices)),
        None => {
            let indices = (0..chosen.len()).collect();
            Ok((chosen, indices))
        }
    }
}

/// Returns whether the device's driver crashes when sub-devices are released, as PoCL 5.0 in Ubuntu 24.04 does.
pub fn aborts_on_sub_devices(device: &DeviceInfo) -> bool {
    device.is_pocl() && device.driver.starts_with("5.0")
}

/// Splits the first CPU into `parts` sub-devices with nearly equal numbers of cores. Error messages quote `word`.
fn split_cpu(word: &str, parts: &str) -> Result<Vec<FoundDevice>> {
    let invalid = |text: String| Err(invalid!("--devices {word}: {text}"));
    let Some(cpu) = list()?.into_iter().find(|found| found.info.kind == DeviceKind::Cpu) else {
        return invalid("no CPU device was found".to_owned());
    };
    let DeviceInfo { compute_units: units, name, driver, .. } = &cpu.info;
    let Some(count) = parts.parse::<u32>().ok().filter(|count| (1..=*units).contains(count)) else {
        return invalid(format!("{name} can be split into 1 to {units} parts"));
    };
    if aborts_on_sub_devices(&cpu.info) {
        return invalid(format!("PoCL {driver} crashes when a CPU is split; use another version of PoCL"));
    }
    // If the cores do not divide evenly, the first parts get one extra core.
    let sizes = (0..count).map(|nth| (units + count - 1 - nth) / count);
    let by_counts = core::ffi::CL_DEVICE_PARTITION_BY_COUNTS as isize;
    let properties: Vec<isize> =
        [by_counts].into_iter().chain(sizes.map(|size| size as isize)).chain([0, 0]).collect();
    let mut ids = vec![ptr::null_mut(); count as usize];
    let mut made = 0;
    // SAFETY: the properties end with one zero for the counts and one for the list, and `ids` has room for `count` ids.
    // Sub-devices are never released, so the ids stay valid.
    let status = unsafe {
        let (properties, ids) = (properties.as_ptr(), ids.as_mut_ptr());
        core::ffi::clCreateSubDevices(cpu.id.as_raw(), properties, count, ids, &mut made)
    };
    if status != core::Status::CL_SUCCESS as i32 || made != count {
        return invalid(format!("the driver cannot split {name} ({status})"));
    }
    let part = |(nth, id): (usize, _)| {
        // SAFETY: the call above created the sub-device.
        let id = unsafe { core::DeviceId::from_raw(id) };
        let mut found = FoundDevice::query(cpu.platform, id)?;
        (found.info.index, found.instance) = (cpu.info.index, 1 + nth);
        found.info.name = format!("{name}{PART}{} of {count}", nth + 1);
        // All parts share the memory of the host.
        found.info.memory_bytes /= u64::from(count);
        Some(found)
    };
    let found: Vec<_> = ids.into_iter().enumerate().filter_map(part).collect();
    match found.len() == count as usize {
        true => Ok(found),
        false => invalid(format!("some parts of {name} do not respond")),
    }
}
