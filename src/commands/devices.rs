//! `gravitile devices`: what there is to compute on.

use std::process::ExitCode;

use super::print_json;
use crate::cli::Devices;
use crate::compute;
use crate::error::Result;

pub(super) fn call(args: &Devices) -> Result<ExitCode> {
    let devices = compute::list()?;
    let taken = super::find(&args.device)?[0].info.index;
    if args.json {
        let infos: Vec<_> = devices.iter().map(|device| &device.info).collect();
        print_json(&serde_json::json!({ "devices": infos, "taken": taken }));
        return Ok(ExitCode::SUCCESS);
    }
    for device in &devices {
        let info = &device.info;
        let mark = if info.index == taken { "→" } else { " " };
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
    println!("\n→ is what gravitile takes; choose with --device NUMBER or part of a name.");
    Ok(ExitCode::SUCCESS)
}

fn bytes(count: u64) -> String {
    indicatif::BinaryBytes(count).to_string()
}
