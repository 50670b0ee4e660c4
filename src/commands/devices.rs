//! `gravitile devices`: lists the OpenCL devices. Also opens the devices that the options of other commands select.

use std::process::ExitCode;

use super::report::print_json;
use crate::base::Result;
use crate::cli::{self, DevicesArgs, KernelArgs, Simulation, Subject};
use crate::compute::{self, Device, Devices, FoundDevice, KernelEdits};
use crate::engine::kernel_lab;

pub(super) fn call(args: &cli::Devices) -> Result<ExitCode> {
    let (devices, chosen) = compute::pool(find(&args.device)?)?;
    let taken: Vec<usize> = chosen.iter().map(|&place| devices[place].info.index).collect();
    if args.json {
        let infos: Vec<_> = devices.iter().map(|device| &device.info).collect();
        print_json(&serde_json::json!({ "devices": infos, "taken": taken[0], "together": taken }));
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
    let found = compute::select(args.device.device.as_deref())?;
    note_cache([&found]);
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

/// Returns the device with the given number or name. Without one, each rank on a host takes another device.
fn one(wanted: Option<&str>) -> Result<FoundDevice> {
    let Some(ranks) = compute::ranks().filter(|_| wanted.is_none()) else { return compute::select(wanted) };
    let mut all = compute::list()?;
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
    note_cache(&found);
    Ok(found)
}

/// Prints a note about a substitute cache folder if a device belongs to PoCL and PoCL's usual folder is not writable.
pub(super) fn note_cache<'f>(found: impl IntoIterator<Item = &'f FoundDevice>) {
    if let Some(note) = compute::cache_note()
        .filter(|_| compute::launched_rank() == 0 && found.into_iter().any(|found| found.info.is_pocl()))
    {
        eprintln!("note: {note}");
    }
}

/// Opens the devices that the options select, with edited kernels if the options name a kernel folder.
pub(super) fn open_several(args: &Simulation) -> Result<Devices> {
    let edits = edits(&args.kernels)?;
    let devices = Devices::all(find(&args.device)?)?.with_ranks(compute::ranks());
    devices.set_edits(edits);
    Ok(devices)
}
