//! `gravitile devices`: lists the OpenCL devices. Also opens the devices that the options of other commands select.

use std::process::ExitCode;

use super::cpus::{self, Speeds};
use super::report::print_json;
use crate::base::{Result, format::significant};
use crate::cli::{self, DevicesArgs, KernelArgs, Simulation, Subject};
use crate::compute::{self, Device, DeviceInfo, Devices, FoundDevice, KernelEdits};
use crate::engine::kernel_lab;

pub(super) fn call(args: &cli::Devices) -> Result<ExitCode> {
    if args.measure {
        Speeds::measure(&compute::list()?);
    }
    let (devices, chosen) = compute::pool(find(&args.device)?)?;
    let speeds = Speeds::load();
    let taken: Vec<usize> = chosen.iter().map(|&place| devices[place].info.index).collect();
    if args.json {
        let infos: Vec<_> = devices.iter().map(|device| &device.info).collect();
        let measured: Vec<_> = infos.iter().map(|info| speeds.of(info).flatten()).collect();
        print_json(&serde_json::json!({
            "devices": infos, "taken": taken[0], "together": taken, "steps_per_second": measured,
        }));
        return Ok(ExitCode::SUCCESS);
    }
    for (place, device) in devices.iter().enumerate() {
        let info = &device.info;
        let mark = if chosen.contains(&place) { "→" } else { " " };
        println!("{mark} {}  {} ({}, {})", info.index, info.name, info.kind, info.platform);
        println!(
            "     {} compute units · {} of memory, at most {} per buffer, {} local memory · work-groups up to {} · double precision (f64): {}",
            info.compute_units,
            bytes(info.memory_bytes),
            bytes(info.max_alloc_bytes),
            bytes(info.local_bytes),
            info.max_work_group,
            if info.fp64 { "yes" } else { "no" },
        );
        println!("     OpenCL version {}, driver version {}", info.opencl, info.driver);
        match speeds.of(info) {
            Some(Some(speed)) => {
                println!(
                    "     measured: {} steps per second (gravity, {} bodies)",
                    significant(speed, 3),
                    cpus::BODIES
                );
            }
            Some(None) => println!("     measured: failed"),
            None => {}
        }
    }
    if let Some(sentence) = speeds.sentence(&devices) {
        println!("\nMeasured: {sentence}. To measure again, add --measure.");
    }
    println!(
        "\n→ marks the device that gravitile uses. To use another one, add --device with its number or part of its name."
    );
    println!(
        "To compute on several devices together, add --devices with their numbers (such as 0,1), `all` or `gpus`."
    );
    println!("To split a CPU into two devices, add --devices sub:2.");
    Ok(ExitCode::SUCCESS)
}

fn bytes(count: u64) -> String {
    indicatif::BinaryBytes(count).to_string()
}

/// Opens the device that the options select, with edited kernels if the options name a kernel folder.
pub(super) fn open(args: &Subject) -> Result<Device> {
    let edits = edits(&args.kernels)?;
    let found = one(args.device.device.as_deref())?;
    note([&found]);
    let device = found.open()?;
    device.set_edits(edits);
    Ok(device)
}

pub(super) fn edits(args: &KernelArgs) -> Result<KernelEdits> {
    Ok(args.kernels.as_deref().map(kernel_lab::read).transpose()?.unwrap_or_default())
}

/// Returns a suffix for table headings that names the edited kernels, or an empty string if there are none.
pub(super) fn edited(device: &Device) -> String {
    let names: Vec<String> = device.edits().keys().cloned().collect();
    if names.is_empty() { String::new() } else { format!(" · edited: {}", names.join(", ")) }
}

/// Returns the device with the number or name `wanted`. If `wanted` is `None`, returns the first GPU or else the
/// fastest CPU. In an MPI run, the ranks on a host then take different devices in turn.
fn one(wanted: Option<&str>) -> Result<FoundDevice> {
    if wanted.is_some() {
        return compute::select(wanted);
    }
    let mut all = compute::list()?;
    let Some(ranks) = compute::ranks() else {
        let place = cpus::preferred(&all);
        return Ok(all.swap_remove(place));
    };
    // A CPU beside GPUs would only slow them down.
    let kind = all[0].info.kind;
    all.retain(|found| found.info.kind == kind);
    let nth = if ranks.size() > 1 { compute::local_rank() % all.len() } else { 0 };
    Ok(all.swap_remove(nth))
}

pub(super) fn find(args: &DevicesArgs) -> Result<Vec<FoundDevice>> {
    let found = match &args.devices {
        Some(devices) => compute::select_several(devices)?,
        None => vec![one(args.one.device.as_deref())?],
    };
    note(&found);
    Ok(found)
}

/// Prints a note if PoCL is among the devices and its usual cache folder is not writable, and a note if a driver is
/// faulty.
pub(super) fn note<'f>(found: impl IntoIterator<Item = &'f FoundDevice>) {
    if compute::launched_rank() != 0 {
        return;
    }
    let infos: Vec<&DeviceInfo> = found.into_iter().map(|found| &found.info).collect();
    if let Some(note) = compute::cache_note().filter(|_| infos.iter().any(|info| info.is_pocl())) {
        eprintln!("note: {note}");
    }
    if let Some(info) = infos.iter().find(|info| info.is_llvmpipe()) {
        eprintln!(
            "note: {} (driver: Rusticl) is slow, and some of its results are wrong (see `gravitile check`); install PoCL to \
             compute on the CPU",
            info.label()
        );
    }
}

/// Opens the devices that the options select, with edited kernels if the options name a kernel folder.
pub(super) fn open_several(args: &Simulation) -> Result<Devices> {
    let edits = edits(&args.kernels)?;
    let devices = Devices::all(find(&args.device)?)?.with_ranks(compute::ranks());
    devices.set_edits(edits);
    Ok(devices)
}
