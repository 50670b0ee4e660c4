//! Tests that long work is cut into slices, and that every work-item runs once, however the work is cut.

use crate::support::own_cpu;
use std::ops::{Deref, DerefMut};
use std::sync::mpsc::{Sender, channel};

use gravitile::base::memory::Memory;
use gravitile::compute::{Arg, Buffer, Call, InjectedFault, KernelSource, Lane, Pass, Pending, Program};

const COUNT: KernelSource = KernelSource {
    file: "count.cl",
    text: "__kernel void count_up(const uint n, __global uint *runs) {\n    const uint i = get_global_id(0);\n    if (i < n)\n        runs[i] += 1;\n}\n",
};

#[test]
fn a_pass_is_split_into_slices_and_every_item_runs_once() {
    let device = own_cpu();
    let kernel = Program::build(&device, &[COUNT], &[]).unwrap().kernel("count_up").unwrap();
    // The costs range from work so cheap that it is not cut to work of which a single work-group takes too long.
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
                // Nothing waits for the device, so no time is measured, and the work is cut as at the start.
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
fn device_time_is_reported_once() {
    let device = own_cpu();
    let kernel = Program::build(&device, &[COUNT], &[]).unwrap().kernel("count_up").unwrap();
    let runs = Buffer::<u32>::zeroed(&device, 1 << 20).unwrap();
    let args = [Arg::Uint(1 << 20), (&runs).into()];
    let mut lane = Lane::new(&device);
    lane.whole(Pass::cheap(&kernel, &args, 1 << 20)).unwrap();
    lane.finish().unwrap();
    assert!(lane.take_seconds() > 0.0);
    assert_eq!(lane.take_seconds(), 0.0);
}

/// A kernel that keeps a CPU busy for a while and then writes its result.
const SLOW: KernelSource = KernelSource {
    file: "slow.cl",
    text: "__kernel void slow(const uint n, __global uint *out) {\n    uint x = get_global_id(0);\n    for (uint i = 0; i < n; ++i)\n        x = x * 1664525u + 1013904223u;\n    out[get_global_id(0)] = x | 1u;\n}\n",
};

/// Host memory that sends its contents through a channel when it is freed.
struct Witness(Vec<u32>, Sender<Vec<u32>>);

impl Deref for Witness {
    type Target = [u32];
    fn deref(&self) -> &[u32] {
        &self.0
    }
}

impl DerefMut for Witness {
    fn deref_mut(&mut self) -> &mut [u32] {
        &mut self.0
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        self.1.send(std::mem::take(&mut self.0)).unwrap();
    }
}

/// Starts a copy from the device, passes it to `end` before it is complete, and checks that the copy was complete when
/// its memory was freed.
fn freed_when_complete(end: impl FnOnce(Pending<Memory<u32>>)) {
    const ITEMS: usize = 4096;
    let device = own_cpu();
    let kernel = Program::build(&device, &[SLOW], &[]).unwrap().kernel("slow").unwrap();
    let out = Buffer::<u32>::zeroed(&device, ITEMS).unwrap();
    let mut lane = Lane::new(&device);
    lane.whole(Pass::cheap(&kernel, &[Arg::Uint(50_000), (&out).into()], ITEMS)).unwrap();
    let (sender, freed) = channel();
    // SAFETY: the vector is never resized, and only the owner uses it.
    let memory = unsafe { Memory::new(Witness(vec![0; ITEMS], sender)) };
    end(out.read_into(memory).unwrap());
    let contents = freed.recv().unwrap();
    assert_eq!(contents.len(), ITEMS);
    assert!(contents.iter().all(|value| *value != 0), "memory was freed while the device was writing to it");
}

#[test]
fn dropping_a_pending_copy_waits_for_its_end() {
    freed_when_complete(drop);
}

#[test]
fn a_closure_gets_the_memory_of_a_copy_after_its_end() {
    freed_when_complete(|pending| drop(pending.map(drop)));
    freed_when_complete(|pending| {
        pending.map(drop).wait().unwrap();
    });
}

#[test]
fn failed_waits_leak_the_memory_of_a_copy() {
    let device = own_cpu();
    let buffer = Buffer::from_slice(&device, &[7_u32; 64]).unwrap();
    for is_dropped in [true, false] {
        let (sender, freed) = channel();
        // SAFETY: the vector is never resized, and only the owner uses it.
        let pending = buffer.read_into(unsafe { Memory::new(Witness(vec![0; 64], sender)) }).unwrap();
        device.inject(Call::Wait, 1, InjectedFault::Refused);
        match is_dropped {
            true => drop(pending),
            false => assert!(pending.wait().is_err()),
        }
        assert!(freed.try_recv().is_err(), "the device may still write to the memory");
    }
}

#[test]
fn an_upload_in_several_parts_is_complete() {
    let values: Vec<u32> = (0..5_000_001).collect();
    assert!(Buffer::from_slice(&own_cpu(), &values).unwrap().read().unwrap() == values);
}

#[test]
fn a_kernel_refuses_missing_arguments() {
    let device = own_cpu();
    let kernel = Program::build(&device, &[COUNT], &[]).unwrap().kernel("count_up").unwrap();
    let error = Lane::new(&device).whole(Pass::cheap(&kernel, &[Arg::Uint(1)], 1)).unwrap_err();
    assert!(error.to_string().contains("count_up has 2 arguments, but gravitile passes 1"), "{error}");
}
