//! Tests that the micro-benchmarks compute what they should, which shows that no compiler removed their work, and that
//! the measured rates are consistent.

use crate::support::cpu;
use gravitile::compute::{DeviceInfo, DeviceKind, MicroKernel, Probe, Roofline};
use gravitile::modes::{Limit, MODES, ModeInfo, Recipe};

/// Start value of the sums; equal to the constant in `src/compute/roofline.rs`.
const SEED: f64 = 0.75;
const ROUNDS: u32 = 7;

/// A function that returns the contribution of a column to a work-item's result, and the sum of the absolute values of
/// the column's terms.
type Column = fn(Place) -> [f64; 2];

/// Position of a column in a work-item, and the number of operations on the column.
#[derive(Clone, Copy)]
struct Place {
    /// Number from 0 to 1 that determines the work-item's start values.
    share: f64,
    k: f64,
    lane: f64,
    operations: u32,
}

/// Checks the results of a micro-benchmark in its two forms. On CPUs, a work-item has columns of 16 numbers; on GPUs,
/// columns of one number, and `turns` operations per round. Both forms run on a CPU here.
fn check(what: &str, micro: &MicroKernel, columns: [usize; 2], turns: u32, column: Column) {
    for (kind, columns, lanes, turns) in
        [(DeviceKind::Cpu, columns[0], 16, 1), (DeviceKind::Gpu, columns[1], 1, turns)]
    {
        let results = Probe::for_kind(&cpu(), micro, kind).unwrap().results(ROUNDS).unwrap();
        assert!(!results.is_empty());
        let wanted: Vec<[f64; 2]> = (0..16)
            .map(|item| {
                let all = (0..columns).flat_map(|k| (0..lanes).map(move |lane| (k as f64, f64::from(lane))));
                let share = f64::from(item) / 16.0;
                let place = |(k, lane)| Place { share, k, lane, operations: ROUNDS * turns };
                all.map(place).map(column).fold([0.0; 2], |a, b| [a[0] + b[0], a[1] + b[1]])
            })
            .collect();
        for (item, result) in results.into_iter().enumerate() {
            let [wanted, scale] = wanted[item % 16];
            let off = (f64::from(result) - wanted).abs() / scale;
            assert!(off < 1e-4, "{what} for a {kind}, item {item}: {result} instead of {wanted}");
        }
    }
}

fn chain(place: Place, operation: impl Fn(f64) -> f64) -> [f64; 2] {
    let start = SEED * (1.0 + place.k) + place.share + place.lane;
    [(0..place.operations).fold(start, |a, _| operation(a)); 2]
}

#[test]
fn multiply_add_and_root_benchmarks_compute_correct_results() {
    check("multiply-adds", &MicroKernel::MULTIPLY_ADDS, [12; 2], 16, |at| {
        chain(at, |a| a * SEED + (1.0 - SEED))
    });
    check("roots", &MicroKernel::ROOTS, [12; 2], 16, |at| chain(at, |a| 1.0 / a.sqrt()));
}

#[test]
fn pair_benchmarks_of_every_mode_compute_correct_results() {
    for info in MODES {
        match info.name {
            "gravity" => check(info.name, info.limit.micro(), [3, 8], 6, gravity),
            "asteroids" => check(info.name, info.limit.micro(), [4, 8], 10, asteroids),
            // The fluid's speed is limited by copies in memory.
            "fluid" => assert!(matches!(info.limit, Limit::Copies { bytes: 72.0 })),
            name => panic!("kernels/{name}/limit.cl has no check"),
        }
    }
}

/// Returns the expected result of one column of `kernels/gravity/limit.cl`.
fn gravity(Place { share, k, lane, operations }: Place) -> [f64; 2] {
    let x = 0.25 * lane + share + k;
    let own = [x, 0.5 * x + 1.0, SEED - x];
    let mut other = [0.0, SEED, -SEED];
    let mut sums = [0.0; 2];
    for _ in 0..operations {
        let d: [f64; 3] = std::array::from_fn(|axis| other[axis] - own[axis]);
        let r2 = d.iter().map(|c| c * c).sum::<f64>() + 1.0 - SEED;
        // The kernel adds both terms with the same sign.
        let terms = d.map(|c| 2.0 * c / (r2 * r2.sqrt()));
        sums[0] += terms.iter().sum::<f64>();
        sums[1] += terms.iter().map(|c| c.abs()).sum::<f64>();
        other = [other[1], other[2], other[0] + 1.0 / 1024.0];
    }
    sums
}

/// Returns the expected result of one column of `kernels/asteroids/limit.cl`.
fn asteroids(Place { share, k, lane, operations }: Place) -> [f64; 2] {
    let x = share + k;
    let own = [x, SEED - x, SEED * k, 0.5 * x, 1.0];
    let mut other = [SEED - lane, 0.5 * lane, -SEED, lane + SEED, 0.25 * lane];
    let mut least = SEED;
    for _ in 0..operations {
        least = own.iter().zip(&other).map(|(a, b)| a * b).sum::<f64>().min(least);
        other.rotate_left(1);
        other[4] -= 1.0 / 1024.0;
    }
    [least, least.abs()]
}

#[test]
fn memory_benchmarks_transfer_all_bytes_in_cpu_and_gpu_form() {
    for kind in [DeviceKind::Cpu, DeviceKind::Gpu] {
        let results = |micro| Probe::for_kind(&cpu(), micro, kind).unwrap().results(ROUNDS).unwrap();
        // The fetched values are zero, so 12 vectors of sums keep their start value.
        let width = if kind == DeviceKind::Cpu { 16.0 } else { 4.0 };
        assert!(results(&MicroKernel::FETCHES).iter().all(|sum| f64::from(*sum) == 12.0 * width * SEED));
        assert!(results(&MicroKernel::COPIES).iter().all(|value| *value == 0.0));
    }
}

#[test]
fn measured_rates_are_consistent() {
    let device = cpu();
    let Roofline {
        multiply_adds_per_second: multiply_adds,
        roots_per_second: roots,
        fetched_bytes_per_second: fetched,
        copied_bytes_per_second: copied,
    } = Roofline::measure(&device, &mut |why| panic!("{why}"));
    let [multiply_adds, roots, fetched, copied] =
        [multiply_adds, roots, fetched, copied].map(|rate| rate.unwrap());
    // A device computes many multiply-adds in the time of one pair, even on a busy machine.
    for ModeInfo { name, limit, .. } in MODES {
        let limit = limit.at(Probe::new(&device, limit.micro()).unwrap().measure().unwrap());
        assert!(limit > 0.0 && limit < multiply_adds, "{name}: {limit} of {multiply_adds}");
    }
    for rate in [multiply_adds, roots, fetched, copied] {
        assert!(rate > 1e8 && rate.is_finite(), "{rate}");
    }
}

#[test]
fn a_probe_finishes_after_a_few_short_turns() {
    let mut probe = Probe::new(&cpu(), MODES[0].limit.micro()).unwrap();
    assert_eq!(probe.rate(), 0.0);
    let mut turns = 1;
    while probe.turn().unwrap() {
        turns += 1;
    }
    assert!(probe.rate() > 0.0);
    assert!((8..40).contains(&turns), "{turns} turns");
}

#[test]
fn bytes_per_pair_account_for_sharing_within_a_work_group() {
    let device = cpu().info;
    let recipe = |name| Recipe::guess(MODES[0].variant(name).unwrap(), &device, 65_536);
    let bytes = |name, work_group| recipe(name).with_work_group(work_group).bytes_per_pair();
    assert_eq!((bytes("naive", 64), bytes("vector", 2)), (16.0, 0.5));
    assert_eq!((bytes("tiled", 1), bytes("tiled", 64)), (16.0, 0.25));
}

/// Each of these variants saves loads, so its arithmetic intensity is higher than that of the one before it.
#[test]
fn the_intensity_grows_with_the_reuse_of_loads() {
    for (info, ladder) in MODES.iter().zip([
        ["naive", "private", "tiled"],
        ["naive", "tiled-both", "tiled"],
        ["split", "fused", "half"],
    ]) {
        let intensity = |name| {
            let recipe = Recipe::guess(info.variant(name).unwrap(), &DeviceInfo::default(), 100_000);
            (info.default)().counts(&recipe.with_work_group(64)).unwrap().intensity()
        };
        let all = ladder.map(intensity);
        assert!(all.is_sorted_by(|a, b| a < b), "{}: {all:?}", info.name);
    }
}

/// The counts of a variant that skips pairs depend on the bodies, so such a variant has no fixed counts.
#[test]
fn every_variant_that_computes_all_pairs_or_cells_has_operation_counts() {
    for info in MODES {
        for variant in info.variants {
            let recipe = Recipe::guess(variant, &DeviceInfo::default(), 100_000);
            let skips = ["tree", "grid"].contains(&variant.name);
            assert_eq!((info.default)().counts(&recipe).is_none(), skips, "{} {}", info.name, variant.name);
        }
    }
}
