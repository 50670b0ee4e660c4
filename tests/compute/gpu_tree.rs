//! Tests kernels of the GPU's tree one by one, also on the CPU: sort keys, the sort, and expansions of far cells.

use glam::DVec3;
use gravitile::base::bodies::Bodies;
use gravitile::compute::{Arg, Buffer, Device, KernelSource, Lane, Pass, Program};

use crate::support::{cpu, engine, gpu, scene};
use crate::tree::{ball, spread};

/// Builds, for any device, the kernels that sort bodies on a GPU.
fn kernels_of_sort(device: &Device, sorters: usize) -> Program {
    let text = [
        include_str!("../../kernels/prelude.cl"),
        include_str!("../../kernels/gravity/tree/grid.cl"),
        include_str!("../../kernels/gravity/tree/gpu/warp.cl"),
        include_str!("../../kernels/gravity/tree/gpu/order.cl"),
    ];
    let source = KernelSource { file: "order.cl", text: Box::leak(text.concat().into_boxed_str()) };
    let defines = [("LEVELS", 13), ("OPEN_ENDED", 16), ("HILBERT", 1), ("SORTERS", sorters)];
    Program::build(device, &[source], &defines.map(|(name, n)| (name, n.to_string()))).unwrap()
}

/// Number of digits of the keys that a GPU sorts, number of values of a digit, and number of keys in a tile.
const MOVES: usize = 5;
const DIGITS: usize = 256;
const TILE: usize = 4096;

/// Returns the digit of number `nth` of a key.
fn digit(key: u64, nth: usize) -> usize {
    (key >> (8 * nth)) as usize % DIGITS
}

/// Returns the keys and ids after one move of the GPU's sort, which sorts by the digit of number `nth`. The work-groups
/// of the first `skipped` tiles do not run; the places of their keys stay 0.
fn moved(
    device: &Device,
    sorters: usize,
    (keys, ids): (&[u64], &[u32]),
    nth: usize,
    skipped: usize,
) -> (Vec<u64>, Vec<u32>) {
    let (n, tiles) = (keys.len(), keys.len().div_ceil(TILE));
    let mut totals = vec![0; MOVES * (DIGITS + 1)];
    for key in keys {
        totals[nth * DIGITS + digit(*key, nth)] += 1;
    }
    totals[MOVES * DIGITS + nth] = skipped as u32;
    let totals = Buffer::from_slice(device, &totals).unwrap();
    let states = Buffer::from_slice(device, &vec![0u32; MOVES * tiles * DIGITS]).unwrap();
    let (keys, ids) = (Buffer::from_slice(device, keys).unwrap(), Buffer::from_slice(device, ids).unwrap());
    let (sorted, sorted_ids) = (
        Buffer::from_slice(device, &vec![0u64; n]).unwrap(),
        Buffer::from_slice(device, &vec![0u32; n]).unwrap(),
    );
    let program = kernels_of_sort(device, sorters);
    let kernel = &program.kernel("scatter").unwrap();
    let args = [
        &[n, nth, tiles].map(|count| Arg::Uint(count as u32))[..],
        &[(&totals).into(), (&states).into(), (&keys).into(), (&ids).into()],
        &[(&sorted).into(), (&sorted_ids).into()],
    ]
    .concat();
    let mut lane = Lane::new(device);
    let items = (tiles - skipped) * sorters;
    lane.whole(Pass { kernel, args: &args, items, group: sorters, cost: 0.0 }).unwrap();
    lane.finish().unwrap();
    (sorted.read().unwrap(), sorted_ids.read().unwrap())
}

/// Returns `count` sort keys, many of which occur more than once, and their ids.
fn keys(count: usize) -> (Vec<u64>, Vec<u32>) {
    let key = |nth: usize| (nth as u64 % 3000).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 25;
    ((0..count).map(key).collect(), (0..count as u32).collect())
}

fn keys_are_sorted_stably(device: &Device) {
    for (sorters, count) in [512, 256]
        .into_iter()
        .flat_map(|sorters| [1, 33, TILE, TILE + 1, 5 * TILE + 1000].map(|count| (sorters, count)))
    {
        let (start, mut ids) = keys(count);
        let mut found = start.clone();
        for nth in 0..MOVES {
            (found, ids) = moved(device, sorters, (&found, &ids), nth, 0);
        }
        let mut right: Vec<_> = start.into_iter().zip(0..).collect();
        right.sort();
        assert!(found.into_iter().zip(ids).eq(right), "{count} keys, {sorters} work-items");
    }
}

#[test]
fn sort_keys_are_sorted_stably_on_the_cpu() {
    keys_are_sorted_stably(&cpu());
}

#[test]
fn sort_keys_are_sorted_stably_on_a_gpu() {
    gpu().iter().for_each(keys_are_sorted_stably);
}

/// The work-group of the last tile runs alone, so the counts of all other tiles are missing.
fn missing_counts_of_keys_are_counted(device: &Device) {
    let (tiles, nth) = (3, 1);
    let (start, ids) = keys((tiles - 1) * TILE + 1000);
    let mut right: Vec<_> = start.iter().copied().zip(ids.iter().copied()).collect();
    right.sort_by_key(|(key, _)| digit(*key, nth));
    let is_in_last_tile = |id: u32| id as usize >= (tiles - 1) * TILE;
    let right: Vec<_> =
        right.into_iter().map(|(key, id)| if is_in_last_tile(id) { (key, id) } else { (0, 0) }).collect();
    for sorters in [512, 256] {
        let (found, found_ids) = moved(device, sorters, (&start, &ids), nth, tiles - 1);
        assert!(found.into_iter().zip(found_ids).eq(right.iter().copied()), "{sorters} work-items");
    }
}

#[test]
fn missing_counts_of_sort_keys_are_counted_on_the_cpu() {
    missing_counts_of_keys_are_counted(&cpu());
}

#[test]
fn missing_counts_of_sort_keys_are_counted_on_a_gpu() {
    gpu().iter().for_each(missing_counts_of_keys_are_counted);
}

/// Runs on the CPU the kernels that make the sort keys on a GPU. Returns how many different keys there are. Also checks
/// the ids, and how often the digits of the keys occur.
fn different_keys(positions: &[[f32; 4]]) -> usize {
    const GROUP: usize = 256;
    const GROUPS: usize = 16;
    let device = cpu();
    let program = kernels_of_sort(&device, 512);
    let n = positions.len();
    let x = Buffer::from_slice(&device, positions).unwrap();
    let (extent, ids) =
        (Buffer::<f32>::new(&device, 16 * GROUPS).unwrap(), Buffer::<u32>::new(&device, n).unwrap());
    let keys = Buffer::<u64>::new(&device, n).unwrap();
    let totals = Buffer::<u32>::new(&device, MOVES * (DIGITS + 1)).unwrap();
    let states = Buffer::from_slice(&device, &vec![1u32; n.div_ceil(TILE) * MOVES * DIGITS]).unwrap();
    let mut lane = Lane::new(&device);
    let mut queue = |name, args: &[Arg], items| {
        let kernel = program.kernel(name).unwrap();
        lane.whole(Pass { kernel: &kernel, args, items, group: GROUP, cost: 0.0 }).unwrap();
    };
    let (count, columns) = (Arg::Uint(n as u32), Arg::Uint(GROUPS as u32));
    queue("measure_extent", &[count, (&x).into(), (&extent).into(), (&totals).into()], GROUP * GROUPS);
    let args = [
        count,
        (&x).into(),
        (&extent).into(),
        columns,
        (&keys).into(),
        (&ids).into(),
        (&totals).into(),
        (&states).into(),
    ];
    // There are fewer work-items than bodies, so each work-item handles several bodies.
    queue("make_keys", &args, GROUP);
    lane.finish().unwrap();
    let mut ids = ids.read().unwrap();
    ids.sort_unstable();
    assert!(ids.into_iter().eq(0..n as u32));
    assert!(states.read().unwrap().iter().all(|state| *state == 0));
    let mut keys = keys.read().unwrap();
    let mut right = vec![0; MOVES * (DIGITS + 1)];
    for (key, nth) in keys.iter().flat_map(|key| (0..MOVES).map(move |nth| (key, nth))) {
        right[nth * DIGITS + digit(*key, nth)] += 1;
    }
    assert!(totals.read().unwrap() == right);
    keys.sort_unstable();
    keys.dedup();
    keys.len()
}

#[test]
fn sort_keys_distinguish_bodies_despite_distant_outliers() {
    let near = engine(scene("plummer", Some(5000), &[])).bodies().unwrap().positions;
    assert!(different_keys(&near) > 4950);
    for (step, factor) in [(100, 1e5), (1000, 1e12)] {
        let mut far = near.clone();
        for position in far.iter_mut().step_by(step) {
            position[..3].iter_mut().for_each(|x| *x *= factor);
        }
        let keys = different_keys(&far);
        assert!(keys > 4850, "{keys} keys with {factor:e}");
    }
    assert_eq!(different_keys(&[[1.0; 4]; 3]), 1);
    assert_eq!(different_keys(&[[0.0; 4], [1e15, 0.0, 0.0, 1.0]]), 2);
}

/// Returns the root mean square error of the field of a cell on the GPU's expansion around bodies near it, relative to
/// the field of its mass.
fn expansion_error(device: &Device, eps: f32) -> f64 {
    const PROBE: &str = "
__kernel void probe(const float eps2, __global const float4 *cell, const float trace, __global const float4 *target,
                    __global const float4 *x, __global float4 *a)
{
    const uint i = get_global_id(0);
    float s[TERMS];
    for (uint k = 0; k < TERMS; ++k)
        s[k] = 0.0f;
    Bodies own;
    own.x[0] = x[i].xyz;
    own.a[0] = (float3)(0.0f);
    expand(s, target[0].xyz, target[0].w, cell[0], cell[1], cell[2], trace, eps2);
    evaluate(s, target[0].xyz, target[0].w, &own);
    a[i] = (float4)(own.a[0], 0.0f);
}";
    const TARGET_RADIUS: f32 = 0.05;
    let text = [
        include_str!("../../kernels/prelude.cl"),
        include_str!("../../kernels/root.cl"),
        include_str!("../../kernels/gravity/force.cl"),
        include_str!("../../kernels/gravity/columns.cl"),
        include_str!("../../kernels/gravity/tree/step.cl"),
        include_str!("../../kernels/gravity/tree/grid.cl"),
        include_str!("../../kernels/gravity/tree/gpu/warp.cl"),
        include_str!("../../kernels/gravity/tree/gpu/order.cl"),
        include_str!("../../kernels/gravity/tree/gpu/cells.cl"),
        include_str!("../../kernels/gravity/tree/gpu/walk.cl"),
        PROBE,
    ];
    let source = KernelSource { file: "probe.cl", text: Box::leak(text.concat().into_boxed_str()) };
    let on = ["HILBERT", "EXPANSIONS", "ACCELERATION_CRITERION"].map(|name| (name, 1));
    let whole = [
        ("LEVELS", 13),
        ("OPEN_ENDED", 16),
        ("GROUP", 32),
        ("LEAF", 32),
        ("SET", 0),
        ("ORDER", 2),
        ("FEW_BODIES", 4),
        ("SORTERS", 512),
        ("ROOT", 0),
    ];
    let limits =
        ["LARGEST_ANGLE", "FIRST_ANGLE", "ROUNDING", "FAR_RADII", "FAR_SOFTENING"].map(|name| (name, 1));
    let defines: Vec<_> =
        on.into_iter().chain(whole).chain(limits).map(|(name, n)| (name, n.to_string())).collect();
    let program = Program::build(device, &[source], &defines).unwrap();

    let [mut inside, mut near] = [Bodies::default(), Bodies::default()];
    ball(&mut inside, 100, [0.2, -0.1, 0.2], 0.1, |nth| 1.0 + spread(nth, 0.618));
    ball(&mut near, 100, [0.0; 3], TARGET_RADIUS, |_| 1.0);
    let place = |body: &[f32; 4]| DVec3::new(body[0].into(), body[1].into(), body[2].into());
    let mass: f64 = inside.positions.iter().map(|body| f64::from(body[3])).sum();
    let centre = inside.positions.iter().map(|body| place(body) * f64::from(body[3])).sum::<DVec3>() / mass;
    let radius = inside.positions.iter().map(|body| (place(body) - centre).length()).fold(0.0, f64::max);
    let moment = |i: usize, j: usize| {
        let product =
            |body: &[f32; 4]| f64::from(body[3]) * (place(body) - centre)[i] * (place(body) - centre)[j];
        inside.positions.iter().map(product).sum::<f64>() / (mass * radius * radius)
    };
    let trace = moment(0, 0) + moment(1, 1) + moment(2, 2);
    let [x, y, z] = centre.to_array();
    let rows = [
        [x, y, z, mass],
        [3.0 * moment(1, 2), radius, 0.0, 0.0],
        [3.0 * moment(0, 0) - trace, 3.0 * moment(0, 1), 3.0 * moment(0, 2), 3.0 * moment(1, 1) - trace],
    ]
    .map(|row| row.map(|value| value as f32));
    let [cell, target] =
        [&rows[..], &[[0.0, 0.0, 0.0, TARGET_RADIUS]]].map(|rows| Buffer::from_slice(device, rows).unwrap());
    let x = Buffer::from_slice(device, &near.positions).unwrap();
    let found = Buffer::<[f32; 4]>::new(device, near.positions.len()).unwrap();
    let args = [
        Arg::Float(eps * eps),
        (&cell).into(),
        Arg::Float(trace as f32),
        (&target).into(),
        (&x).into(),
        (&found).into(),
    ];
    let mut lane = Lane::new(device);
    let kernel = &program.kernel("probe").unwrap();
    lane.whole(Pass { kernel, args: &args, items: near.positions.len(), group: 1, cost: 0.0 }).unwrap();
    lane.finish().unwrap();
    let eps2 = f64::from(eps * eps);
    let pull = |body: &[f32; 4], at: DVec3| {
        let d = place(body) - at;
        d * f64::from(body[3]) * (d.length_squared() + eps2).powf(-1.5)
    };
    let miss = |(found, body): (&[f32; 4], &[f32; 4])| {
        let right: DVec3 = inside.positions.iter().map(|other| pull(other, place(body))).sum();
        (place(found) - right).length_squared()
    };
    let found = found.read().unwrap();
    let all: f64 = found.iter().zip(&near.positions).map(miss).sum();
    (all / found.len() as f64).sqrt() * (centre.length_squared() + eps2) / mass
}

fn expansions_are_as_accurate_with_softening(device: &Device) {
    let [sharp, soft] = [1e-4, 0.2].map(|eps| expansion_error(device, eps));
    assert!(sharp < 2e-3 && soft < 4.0 * sharp, "{sharp:e}, with softening {soft:e}");
}

#[test]
fn expansions_are_as_accurate_with_softening_on_the_cpu() {
    expansions_are_as_accurate_with_softening(&cpu());
}

#[test]
fn expansions_are_as_accurate_with_softening_on_a_gpu() {
    gpu().iter().for_each(expansions_are_as_accurate_with_softening);
}
