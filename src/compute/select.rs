//! Finds devices, and selects devices by number or name.

use std::ptr;
use std::sync::{Mutex, PoisonError};

use ocl::core::{self, DeviceType, PlatformInfo};

use super::found::{DeviceInfo, DeviceKind, FoundDevice, is_pocl_name};
use super::pocl_cache;
use crate::base::error::{Error, Result};

/// Returns all devices of all platforms: GPUs first, then accelerators, then CPUs.
///
/// # Errors
/// Returns an error if there is no device; the message tells why.
pub fn list() -> Result<Vec<FoundDevice>> {
    // PoCL 3.1 reports no device to a thread that asks while another thread's query runs.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    // An ICD loader without platforms returns an error, which stands for an empty list.
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
    let name =
        |&platform: &_| core::get_platform_info(platform, PlatformInfo::Name).map(|name| name.to_string());
    let has_pocl = || platforms.iter().any(|platform| name(platform).is_ok_and(|name| is_pocl_name(&name)));
    match (found.is_empty(), platforms.len()) {
        (false, _) => Ok(found),
        (true, 0) => Err(Error::NoDevice(String::new())),
        (true, n) => Err(match pocl_cache::refusal().filter(|_| has_pocl()) {
            Some(reason) => Error::Invalid(reason),
            None => Error::NoDevice(format!(" ({n} OpenCL platform(s), none with a device)")),
        }),
    }
}

/// Returns whether there is a platform. Without one, `ocl` would retry for ten seconds.
fn has_platform() -> bool {
    let mut count = 0;
    // SAFETY: no room for platforms is offered, and `count` outlives the call.
    let status = unsafe { core::ffi::clGetPlatformIDs(0, ptr::null_mut(), &mut count) };
    status == core::Status::CL_SUCCESS as i32 && count > 0
}

/// Returns the device that `wanted` names by its number in [`list`] or by a part of its name or platform in any case.
/// Without `wanted`, returns the first device.
///
/// # Errors
/// Returns an error if there is no device, or none matches.
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
            let known: Vec<String> =
                found.iter().map(|d| format!("{} ({})", d.info.index, d.info.name)).collect();
            Err(Error::Invalid(format!(
                "there is no device `{wanted}`; the devices are {}",
                known.join(", ")
            )))
        }
    }
}

/// Returns the devices that `wanted` names, each once and in this order. Names are separated by commas: numbers of
/// [`list`], parts of names, `all`, `gpus`, or `sub:K` for K equal parts of the CPU's cores.
///
/// # Errors
/// Returns an error if a name matches no device.
pub fn select_several(wanted: &str) -> Result<Vec<FoundDevice>> {
    let mut chosen: Vec<FoundDevice> = Vec::new();
    for word in wanted.split(',').map(str::trim) {
        let lower = word.to_lowercase();
        let meant = match lower.as_str() {
            "all" => list()?,
            "gpus" => gpus()?,
            _ => match lower.strip_prefix("sub:") {
                Some(parts) => split_cpu(word, parts)?,
                None => vec![select(Some(word))?],
            },
        };
        for found in meant {
            if !chosen.iter().any(|other| other.is_same(&found)) {
                chosen.push(found);
            }
        }
    }
    Ok(chosen)
}

/// Returns all devices and the indices of `chosen` among them. If `chosen` contains parts of a device, returns only `chosen`.
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

fn gpus() -> Result<Vec<FoundDevice>> {
    let gpus: Vec<_> = list()?.into_iter().filter(|found| found.info.kind == DeviceKind::Gpu).collect();
    match gpus.is_empty() {
        true => Err(Error::Invalid("there is no GPU".to_owned())),
        false => Ok(gpus),
    }
}

/// Returns whether the driver aborts the program when it releases sub-devices: PoCL 5.0 of Ubuntu 24.04 fails an
/// assertion in its kernel cache.
pub fn aborts_on_sub_devices(device: &DeviceInfo) -> bool {
    device.kind == DeviceKind::Cpu && device.driver.starts_with("5.0")
}

/// Splits the cores of the first CPU into equal parts, each a sub-device.
fn split_cpu(word: &str, parts: &str) -> Result<Vec<FoundDevice>> {
    let invalid = |text: String| Err(Error::Invalid(text));
    let Some(cpu) = list()?.into_iter().find(|found| found.info.kind == DeviceKind::Cpu) else {
        return invalid(format!("--devices {word}: there is no CPU device"));
    };
    let units = cpu.info.compute_units;
    let count = match parts.parse::<u32>() {
        Ok(count) if (1..=units).contains(&count) => count,
        _ => {
            return invalid(format!(
                "--devices {word}: {} can be split into 1 to {units} parts",
                cpu.info.name
            ));
        }
    };
    if aborts_on_sub_devices(&cpu.info) {
        let driver = &cpu.info.driver;
        return invalid(format!(
            "--devices {word}: PoCL {driver} aborts with parts of a CPU; use another version"
        ));
    }
    // The first parts take one core more where the cores do not divide evenly.
    let sizes = (0..count).map(|nth| (units + count - 1 - nth) / count);
    let by_counts = core::ffi::CL_DEVICE_PARTITION_BY_COUNTS as isize;
    let properties: Vec<isize> =
        [by_counts].into_iter().chain(sizes.map(|size| size as isize)).chain([0, 0]).collect();
    let mut ids = vec![ptr::null_mut(); count as usize];
    let mut made = 0;
    // SAFETY: the properties end with one zero for the counts and one for the list, and `ids` has room for `count` ids.
    // Sub-devices are never released, so the ids stay valid.
    let status = unsafe {
        core::ffi::clCreateSubDevices(
            cpu.id.as_raw(),
            properties.as_ptr(),
            count,
            ids.as_mut_ptr(),
            &mut made,
        )
    };
    if status != core::Status::CL_SUCCESS as i32 || made != count {
        return invalid(format!("--devices {word}: the driver cannot split {} ({status})", cpu.info.name));
    }
    let part = |(nth, id): (usize, _)| {
        // SAFETY: the call above created the sub-device.
        let id = unsafe { core::DeviceId::from_raw(id) };
        let mut found = FoundDevice::query(cpu.platform, id)?;
        (found.info.index, found.instance) = (cpu.info.index, 1 + nth);
        found.info.name = format!("{}, part {} of {count}", cpu.info.name, nth + 1);
        // All parts share the memory of the host.
        found.info.memory_bytes /= u64::from(count);
        Some(found)
    };
    let found: Vec<_> = ids.into_iter().enumerate().filter_map(part).collect();
    match found.len() == count as usize {
        true => Ok(found),
        false => invalid(format!("--devices {word}: some parts of {} do not answer", cpu.info.name)),
    }
}
