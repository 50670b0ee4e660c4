//! Which devices there are, and which are meant.

use std::ptr;
use std::sync::{Mutex, PoisonError};

use ocl::core::{self, DeviceType, PlatformInfo};

use super::cache;
use super::device::{DeviceInfo, Found, Kind, is_pocl_name};
use crate::error::{Error, Result};

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
    for index in 0..found.len() {
        let name = &found[index].info.name;
        let twin = found[..index].iter().filter(|other| other.info.name == *name).count();
        (found[index].info.index, found[index].twin) = (index, twin);
    }
    let name =
        |&platform: &_| core::get_platform_info(platform, PlatformInfo::Name).map(|name| name.to_string());
    let lacks_pocl = || platforms.iter().any(|platform| name(platform).is_ok_and(|name| is_pocl_name(&name)));
    match (found.is_empty(), platforms.len()) {
        (false, _) => Ok(found),
        (true, 1..) if lacks_pocl() && cache::refusal().is_some() => {
            Err(Error::Invalid(cache::refusal().unwrap_or_default()))
        }
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

/// The devices that `wanted` means, each once, in the order in which they are named: numbers of [`list`] or parts of
/// names, parted by commas; `all`; `gpus`; `sub:K` for K equal parts of the CPU's cores.
///
/// # Errors
/// If one of them is not there, or nothing is named.
pub fn select_several(wanted: &str) -> Result<Vec<Found>> {
    let mut chosen: Vec<Found> = Vec::new();
    for word in wanted.split(',').map(str::trim) {
        let lower = word.to_lowercase();
        let meant = match lower.as_str() {
            "all" => list()?,
            "gpus" => gpus()?,
            _ => match lower.strip_prefix("sub:") {
                Some(parts) => parts_of_cpu(word, parts)?,
                None => vec![select(Some(word))?],
            },
        };
        for found in meant {
            if !chosen.iter().any(|other| other.id.as_raw() == found.id.as_raw()) {
                chosen.push(found);
            }
        }
    }
    Ok(chosen)
}

/// All devices, and the places of `chosen` among them; of parts of a device only these.
///
/// # Errors
/// If there is none.
pub fn pool(chosen: Vec<Found>) -> Result<(Vec<Found>, Vec<usize>)> {
    let all = list()?;
    let place = |found: &Found| all.iter().position(|other| other.id.as_raw() == found.id.as_raw());
    match chosen.iter().map(place).collect() {
        Some(places) => Ok((all, places)),
        None => {
            let places = (0..chosen.len()).collect();
            Ok((chosen, places))
        }
    }
}

fn gpus() -> Result<Vec<Found>> {
    let gpus: Vec<_> = list()?.into_iter().filter(|found| found.info.kind == Kind::Gpu).collect();
    match gpus.is_empty() {
        true => Err(Error::Invalid("there is no GPU here".to_owned())),
        false => Ok(gpus),
    }
}

/// Whether the driver is one that aborts the program where parts of a device, or twins of it, are given back: an assertion
/// in the cache of kernels of PoCL 5.0, seen in Ubuntu 24.04's.
pub fn has_no_parts(device: &DeviceInfo) -> bool {
    device.kind == Kind::Cpu && device.driver.starts_with("5.0")
}

/// Equal parts of the cores of the first CPU, as devices of their own.
fn parts_of_cpu(word: &str, parts: &str) -> Result<Vec<Found>> {
    let invalid = |text: String| Err(Error::Invalid(text));
    let Some(cpu) = list()?.into_iter().find(|found| found.info.kind == Kind::Cpu) else {
        return invalid(format!("--devices {word}: there is no CPU device here"));
    };
    let units = cpu.info.compute_units;
    let count = match parts.parse::<u32>() {
        Ok(count) if (1..=units).contains(&count) => count,
        _ => {
            return invalid(format!(
                "--devices {word}: {} can be cut into 1 to {units} parts",
                cpu.info.name
            ));
        }
    };
    if has_no_parts(&cpu.info) {
        let driver = &cpu.info.driver;
        return invalid(format!(
            "--devices {word}: PoCL {driver} aborts with parts of a CPU; take another version"
        ));
    }
    // Two parts of three cores would leave one over: the first parts take one more.
    let sizes = (0..count).map(|nth| (units + count - 1 - nth) / count);
    let by_counts = core::ffi::CL_DEVICE_PARTITION_BY_COUNTS as isize;
    let properties: Vec<isize> =
        [by_counts].into_iter().chain(sizes.map(|size| size as isize)).chain([0, 0]).collect();
    let mut ids = vec![ptr::null_mut(); count as usize];
    let mut made = 0;
    // SAFETY: the list of properties ends with the counts' zero and its own, and there is room for as many ids as there
    // are counts. They are never given back: they live as long as the program.
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
        return invalid(format!("--devices {word}: the driver does not cut {} ({status})", cpu.info.name));
    }
    let part = |(nth, id): (usize, _)| {
        // SAFETY: the call above made it.
        let id = unsafe { core::DeviceId::from_raw(id) };
        let mut found = Found::query(cpu.platform, id)?;
        (found.info.index, found.twin) = (cpu.info.index, 1 + nth);
        found.info.name = format!("{}, part {} of {count}", cpu.info.name, nth + 1);
        // They share the host's memory.
        found.info.memory_bytes /= u64::from(count);
        Some(found)
    };
    let found: Vec<_> = ids.into_iter().enumerate().filter_map(part).collect();
    match found.len() == count as usize {
        true => Ok(found),
        false => invalid(format!("--devices {word}: not all parts of {} answer", cpu.info.name)),
    }
}
