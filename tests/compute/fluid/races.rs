//! Runs every kernel of the mode fluid under Oclgrind, unchanged and without each of its barriers.

use gravitile::base::bodies::Points;
use gravitile::compute::{Arg, Buffer, Device, KernelSource, Lane, Pass, Program};
use gravitile::modes::fluid::{Fluid, FluidSimulation, VARIANTS};
use gravitile::modes::{Simulation, Variant};

use super::{modes, obstacles, recipe, run, stirred};
use crate::support::oclgrind::{BARRIER, Parts, under_oclgrind};

const PRELUDE: &str = include_str!("../../../kernels/prelude.cl");
const CELL: &str = include_str!("../../../kernels/fluid/cell.cl");
const GRID: &str = include_str!("../../../kernels/fluid/grid.cl");
const FLOW: &str = include_str!("../../../kernels/fluid/flow.cl");

/// Number of work-items per work-group. It exceeds the number of partial sums in a two-stage sum, so that each stage
/// has to wait.
const WORK_GROUP: usize = 24;
const WIDTH: u32 = 8;

#[test]
fn every_barrier_is_needed_and_none_is_missing() {
    let test = "every_barrier_is_needed_and_none_is_missing";
    let Some(parts) = under_oclgrind(module_path!(), test, inside) else { return };
    assert_eq!(parts, VARIANTS.len() + 2 + 4 + 1 + 2);
}

/// Returns copies of `text`, each without one of its barriers.
fn without_each(text: &str) -> impl Iterator<Item = String> {
    text.match_indices(BARRIER).map(|(at, _)| [&text[..at], &text[at + BARRIER.len()..]].concat())
}

fn inside(device: &Device, parts: &mut Parts) {
    // Uses vectors, some of them incomplete at the ends of rows, and each way of driving the flow once.
    for (variant, mode) in VARIANTS.iter().rev().zip(modes().iter().rev().cycle()) {
        if !parts.next(&format!("{} {:?}", variant.name, mode.drive)) {
            continue;
        }
        let mut simulation = stepped(device, variant, mode);
        simulation.paint_discs(&[[10, 3]], 1, true).unwrap();
        simulation.paint_discs(&[[7, 3]], 2, false).unwrap();
        simulation.publish(Points::default(), None).unwrap().wait().unwrap();
        // The kernels for diagnostics do not depend on the grid and are slow under Oclgrind, so they run only once.
        if variant == &VARIANTS[0] {
            simulation.diagnostics().unwrap();
        }
    }
    // The function that sums over a work-group is in a file that all variants share. It is replaced in each variant by
    // a changed copy.
    let sum = &GRID[GRID.find("INLINED void store_group_sum").unwrap()..GRID.rfind("#endif").unwrap()];
    for (nth, sum) in without_each(sum).enumerate() {
        if !parts.next(&format!("soa without barrier {nth}")) {
            continue;
        }
        let variant = &VARIANTS[2];
        let source = [&sum, variant.source].concat().replace("store_group_sum", "mistaken_sum");
        let source = Box::leak(source.into_boxed_str());
        stepped(device, Box::leak(Box::new(Variant { source, ..*variant })), &modes()[0]);
    }
    let temporal = VARIANTS.iter().find(|variant| variant.name == "temporal").unwrap();
    for (nth, source) in without_each(temporal.source).enumerate() {
        if parts.next(&format!("temporal without barrier {nth}")) {
            let source = Box::leak(source.into_boxed_str());
            stepped(device, Box::leak(Box::new(Variant { source, ..*temporal })), &modes()[0]);
        }
    }
    if parts.next("add_sums") {
        assert_eq!(add_sums(device, FLOW), [300.0; 2]);
    }
    for (nth, flow) in without_each(FLOW).enumerate() {
        if parts.next(&format!("add_sums without barrier {nth}")) {
            add_sums(device, &flow);
        }
    }
}

fn stepped(device: &Device, variant: &'static Variant, mode: &Fluid) -> FluidSimulation {
    let mut flow = stirred(obstacles(21, 7), mode.density);
    flow.tracers = vec![[-1.0; 2]; 9];
    let mut simulation = mode.build(device, recipe(variant, device, WORK_GROUP, WIDTH), &flow).unwrap();
    // Variants with several steps per launch compute the first two steps in one launch.
    run(&mut simulation, 3);
    simulation
}

fn add_sums(device: &Device, flow: &str) -> Vec<f32> {
    let text = [PRELUDE, CELL, GRID, flow].concat();
    let source = KernelSource { file: "flow.cl", text: Box::leak(text.into_boxed_str()) };
    let kernel = Program::build(device, &[source], &[]).unwrap().kernel("add_sums").unwrap();
    let sums = Buffer::from_slice(device, &[1.0f32; 600]).unwrap();
    let series = Buffer::<f32>::new(device, 2).unwrap();
    let args = [Arg::Uint(300), (&sums).into(), (&series).into(), Arg::Uint(0), Arg::Float(1.0)];
    let mut lane = Lane::new(device);
    lane.whole(Pass { kernel: &kernel, args: &args, items: 2 * 256, group: 256, cost: 0.0 }).unwrap();
    lane.finish().unwrap();
    series.read().unwrap()
}
