//! Long work in slices: every work-item runs once, however a pass is cut.

mod support;

use gravitile::compute::{Arg, Buffer, Lane, Pass, Program, Source};
use support::cpu;

const COUNT: Source = Source {
    file: "count.cl",
    text: "__kernel void count_up(const uint n, __global uint *runs) {\n    const uint i = get_global_id(0);\n    if (i < n)\n        runs[i] += 1;\n}\n",
};

#[test]
fn a_pass_is_cut_and_every_item_runs_once() {
    let device = cpu();
    let kernel = Program::build(&device, &[COUNT], &[]).unwrap().kernel("count_up").unwrap();
    // From a pass that is too cheap to be cut to one of which a single work-group takes too long.
    for (cost, least_slices) in [(0.0, 1), (1.0, 1), (2e4, 8), (1e9, 10)] {
        for (items, group) in [(1, 1), (1000, 7), (4096, 64), (5000, 64)] {
            let runs = Buffer::<u32>::zeroed(&device, items).unwrap();
            let args = [Arg::Uint(items as u32), (&runs).into()];
            let pass = Pass { kernel: &kernel, args: &args, items, group, cost };
            let mut lane = Lane::new(&device);
            let (mut from, mut slices) = (0, 0);
            while from < items {
                from = lane.slice(pass, from).unwrap();
                slices += 1;
                // Without a wait the lane learns nothing and cuts on as it began.
            }
            lane.finish().unwrap();
            assert!(
                runs.read().unwrap().iter().all(|&times| times == 1),
                "cost {cost}, {items} items of {group}"
            );
            if items > 4000 {
                assert!(slices >= least_slices, "cost {cost}: only {slices} slices of {items} items");
            }
        }
    }
}

#[test]
fn device_time_is_told_once() {
    let device = cpu();
    let kernel = Program::build(&device, &[COUNT], &[]).unwrap().kernel("count_up").unwrap();
    let runs = Buffer::<u32>::zeroed(&device, 1 << 20).unwrap();
    let args = [Arg::Uint(1 << 20), (&runs).into()];
    let mut lane = Lane::new(&device);
    lane.whole(Pass::cheap(&kernel, &args, 1 << 20)).unwrap();
    lane.finish().unwrap();
    assert!(lane.take_seconds() > 0.0);
    assert_eq!(lane.take_seconds(), 0.0);
}
