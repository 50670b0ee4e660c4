//! Barriers, seen by Oclgrind: a simulated device that reports every two work-items of which one touches what the other
//! writes without a barrier between them. PoCL runs the items of a work-group in an order that hides most such mistakes.

use std::process::Command;

use gravitile::compute::{self, Device};
use gravitile::modes::{MODES, ModeInfo, Recipe, Variant};
use gravitile::scene::Setup;

/// Set for the process that runs inside Oclgrind.
const INSIDE: &str = "GRAVITILE_INSIDE_OCLGRIND";
const BARRIER: &str = "barrier(CLK_LOCAL_MEM_FENCE);";
/// Several tiles and a tail.
const BODIES: usize = 70;
/// The barrier of `grid` that takes a quarter of a million cells to be needed.
const NOT_SEEN: (&str, usize) = ("grid", 3);
const WORK_GROUP: usize = 8;

#[test]
fn every_barrier_is_needed_and_none_is_missing() {
    if std::env::var_os(INSIDE).is_some() {
        return inside(&compute::select(None).unwrap().open().unwrap());
    }
    if Command::new("oclgrind").arg("--version").output().is_err() {
        return eprintln!("SKIPPED: there is no Oclgrind here to look for races");
    }
    let output = Command::new("oclgrind")
        // Else it falls silent after a thousand.
        .args(["--data-races", "--max-errors", "1000000"])
        .arg(std::env::current_exe().unwrap())
        .args(["--nocapture", "--exact", "every_barrier_is_needed_and_none_is_missing"])
        .env(INSIDE, "1")
        .output()
        .unwrap();
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{log}");
    let mut kernels = 0;
    for part in log.split("\n=== ").skip(1) {
        let (title, found) = part.split_once('\n').unwrap_or((part, ""));
        assert_eq!(found.contains("data race"), title.contains("without"), "{title}:\n{found}");
        kernels += 1;
    }
    assert!(kernels > MODES.iter().flat_map(|info| info.variants).count(), "{log}");
}

/// Runs every variant as it is, and again without each of its barriers.
fn inside(device: &Device) {
    for info in MODES {
        for variant in info.variants {
            run(device, info, variant, "");
            for (nth, (at, _)) in variant.source.match_indices(BARRIER).enumerate() {
                if (variant.name, nth) == NOT_SEEN {
                    continue;
                }
                let mut source = variant.source.to_owned();
                source.replace_range(at..at + BARRIER.len(), "");
                let source = Box::leak(source.into_boxed_str());
                run(
                    device,
                    info,
                    Box::leak(Box::new(Variant { source, ..*variant })),
                    &format!(" without barrier {nth}"),
                );
            }
        }
    }
}

fn run(device: &Device, info: &'static ModeInfo, variant: &'static Variant, what: &str) {
    eprintln!("\n=== {} {}{what}", info.name, variant.name);
    let mode = (info.default)();
    let bodies = (info.scenes[0].generate)(&Setup { bodies: BODIES, seed: 1, params: &mode.values() });
    let recipe = Recipe::guess(variant, &device.info, BODIES)
        .with_work_group(WORK_GROUP)
        .with_knob("split", 4)
        .with_knob("unroll", 8);
    let mut simulation = mode.build(device, recipe, &bodies).unwrap();
    simulation.start(1);
    while simulation.advance().unwrap() {}
    simulation.finish().unwrap();
}
