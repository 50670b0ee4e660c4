//! Tests barriers under Oclgrind, a simulated device that reports data races between work-items. A missing barrier
//! causes a data race; PoCL hides most such errors, because it runs the items of a work-group in a fixed order.

use crate::support::oclgrind::{BARRIER, Parts, under_oclgrind};
use gravitile::base::state::Matter;
use gravitile::compute::Device;
use gravitile::modes::{MODES, ModeInfo, Recipe, Variant};
use gravitile::scene::Setup;

/// Number of bodies: enough for several tiles, the last of which is incomplete.
const BODIES: usize = 70;
/// Variant and index of a barrier that is needed only with a quarter of a million cells or more.
const NOT_SEEN: (&str, usize) = ("grid", 3);
/// Number of work-items per work-group: enough for both stages of a sum, and for two steps per launch on a grid.
const WORK_GROUP: usize = 24;
const WIDTH: u32 = 4;

#[test]
fn every_barrier_is_needed_and_none_is_missing() {
    let Some(parts) = under_oclgrind(module_path!(), "every_barrier_is_needed_and_none_is_missing", inside)
    else {
        return;
    };
    assert!(parts >= MODES.iter().flat_map(|info| info.variants).count());
}

/// Runs every variant unchanged, and then without each of its barriers in turn.
fn inside(device: &Device, parts: &mut Parts) {
    for info in MODES {
        // The tree's kernels for CPUs have no barriers, and Oclgrind cannot hold their private lists.
        for variant in info.variants.iter().filter(|variant| !variant.has_fixed_group) {
            if parts.next(&format!("{} {}", info.name, variant.name)) {
                run(device, info, variant);
            }
            for (nth, (at, _)) in variant.source.match_indices(BARRIER).enumerate() {
                let title = format!("{} {} without barrier {nth}", info.name, variant.name);
                if (variant.name, nth) == NOT_SEEN || !parts.next(&title) {
                    continue;
                }
                let mut source = variant.source.to_owned();
                source.replace_range(at..at + BARRIER.len(), "");
                let source = Box::leak(source.into_boxed_str());
                run(device, info, Box::leak(Box::new(Variant { source, ..*variant })));
            }
        }
    }
}

fn run(device: &Device, info: &'static ModeInfo, variant: &'static Variant) {
    let mut mode = (info.default)();
    mode.unseen();
    let state = info.scenes[0].generate(&Setup { bodies: BODIES, seed: 1, params: &mode.values() });
    let recipe = Recipe::guess(variant, &device.info, BODIES)
        .with_work_group(WORK_GROUP)
        .with_knob("split", 4)
        .with_knob("unroll", 8)
        // Several blocks, so that several tiles may run at the same time.
        .with_knob("block", 32)
        .with_knob("k", 2)
        .with_knob("width", WIDTH);
    let mut simulation = mode.build(device, recipe, &state).unwrap();
    // In a flow of three steps, the last step is not combined with another one in a launch.
    simulation.start(if info.work.matter == Matter::Flow { 3 } else { 1 });
    while simulation.advance().unwrap() {}
    simulation.finish().unwrap();
}
