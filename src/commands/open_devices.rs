//! Opens the OpenCL devices that the command line names.

use crate::base::error::Result;
use crate::cli::{DeviceArgs, DevicesArgs, KernelArgs, Simulation};
use crate::compute::{self, Device, Devices, FoundDevice, KernelEdits};
use crate::engine::kernel_lab;

/// Opens one device, with the kernels of a folder if the options name one.
pub(super) fn open(wanted: &DeviceArgs, kernels: &KernelArgs) -> Result<Device> {
    let edits = edits(kernels)?;
    let found = compute::select(wanted.device.as_deref())?;
    note_cache([&found]);
    let device = found.open()?;
    device.set_edits(edits);
    Ok(device)
}

pub(super) fn edits(args: &KernelArgs) -> Result<KernelEdits> {
    Ok(args.kernels.as_deref().map(kernel_lab::read).transpose()?.unwrap_or_default())
}

/// Returns a list of the replaced kernels, for the line above a table.
pub(super) fn edited(device: &Device) -> String {
    let names: Vec<String> = device.edits().keys().cloned().collect();
    if names.is_empty() { String::new() } else { format!(" · edited: {}", names.join(", ")) }
}

/// Finds the devices that the options name.
pub(super) fn find(args: &DevicesArgs) -> Result<Vec<FoundDevice>> {
    let found = match &args.devices {
        Some(devices) => compute::select_several(devices)?,
        None => vec![compute::select(args.one.device.as_deref())?],
    };
    note_cache(&found);
    Ok(found)
}

/// Prints where PoCL caches its kernels if a device belongs to PoCL and the usual folder is not writable.
pub(super) fn note_cache<'f>(found: impl IntoIterator<Item = &'f FoundDevice>) {
    if let Some(note) = compute::cache_note().filter(|_| found.into_iter().any(|found| found.info.is_pocl()))
    {
        eprintln!("note: {note}");
    }
}

/// Opens the devices, with the kernels of a folder if the options name one.
pub(super) fn open_several(args: &Simulation) -> Result<Devices> {
    let edits = edits(&args.kernels)?;
    let devices = Devices::all(find(&args.device)?)?;
    devices.set_edits(edits);
    Ok(devices)
}
