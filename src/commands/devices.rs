//! `gravitile devices`: lists the OpenCL devices.

use std::process::ExitCode;

use super::open_devices::find;
use super::report::print_json;
use crate::base::error::Result;
use crate::cli::Devices;
use crate::compute;

pub(super) fn call(args: &Devices) -> Result<ExitCode> {
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
            "     {} compute units · {} memory, {} in one buffer, {} local · work-groups up to {} · f64: {}",
            info.compute_units,
            bytes(info.memory_bytes),
            bytes(info.max_alloc_bytes),
            bytes(info.local_bytes),
            info.max_work_group,
            if info.fp64 { "yes" } else { "no" },
        );
        println!("     {} · driver {}", info.opencl, info.driver);
    }
    println!("\n→ marks the default device. Choose another with --device NUMBER, or with part of its name.");
    println!(
        "Use several devices together with --devices 0,1, all or gpus; --devices sub:2 splits a CPU in two."
    );
    Ok(ExitCode::SUCCESS)
}

fn bytes(count: u64) -> String {
    indicatif::BinaryBytes(count).to_string()
}
