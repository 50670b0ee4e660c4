//! The micro-kernels compute what they say, so that no compiler left the work out; rates hang together.

mod support;

use gravitile::compute::{Micro, Probe, Program, Roofline};
use gravitile::modes::{MODES, ModeInfo, Recipe};
use support::cpu;

/// As in `src/compute/roofline.rs`.
const SEED: f64 = 0.75;
const LANES: usize = 16;
const ROUNDS: u32 = 7;

/// What item `item` writes, as a sum over `columns` and lanes of `column(start share of the item, column, lane)`, and the
/// sum of the sizes of its terms.
fn sum(item: usize, columns: usize, column: impl Fn(f64, f64, f64) -> [f64; 2]) -> [f64; 2] {
    let share = (item % 16) as f64 / 16.0;
    let all = (0..columns).flat_map(|k| (0..LANES).map(move |lane| (k as f64, lane as f64)));
    all.map(|(k, lane)| column(share, k, lane)).fold([0.0; 2], |a, b| [a[0] + b[0], a[1] + b[1]])
}

fn check(what: &str, micro: &Micro, columns: usize, column: impl Fn(f64, f64, f64) -> [f64; 2]) {
    let results = Probe::new(&cpu(), micro).unwrap().results(ROUNDS).unwrap();
    assert!(!results.is_empty());
    for (item, result) in results.into_iter().enumerate() {
        let [wanted, scale] = sum(item, columns, &column);
        let off = (f64::from(result) - wanted).abs() / scale;
        assert!(off < 1e-4, "{what}, item {item}: {result} instead of {wanted}");
    }
}

fn chain(operation: impl Fn(f64) -> f64) -> impl Fn(f64, f64, f64) -> [f64; 2] {
    move |share, k, lane| {
        let start = SEED * (1.0 + k) + share + lane;
        [(0..ROUNDS).fold(start, |a, _| operation(a)); 2]
    }
}

#[test]
fn multiply_adds_and_roots_are_carried_out() {
    check("multiply-adds", &Micro::MULTIPLY_ADDS, 12, chain(|a| a * SEED + (1.0 - SEED)));
    check("roots", &Micro::ROOTS, 12, chain(|a| 1.0 / a.sqrt()));
}

#[test]
fn pairs_of_every_mode_are_carried_out() {
    for info in MODES {
        match info.name {
            "gravity" => check(info.name, &info.pair.micro, 3, gravity),
            "asteroids" => check(info.name, &info.pair.micro, 4, asteroids),
            name => panic!("kernels/{name}/limit.cl has no check"),
        }
    }
}

/// As in `kernels/gravity/limit.cl`.
fn gravity(share: f64, k: f64, lane: f64) -> [f64; 2] {
    let x = 0.25 * lane + share + k;
    let own = [x, 0.5 * x + 1.0, SEED - x];
    let mut other = [0.0, SEED, -SEED];
    let mut sums = [0.0; 2];
    for _ in 0..ROUNDS {
        let d: [f64; 3] = std::array::from_fn(|axis| other[axis] - own[axis]);
        let r2 = d.iter().map(|c| c * c).sum::<f64>() + 1.0 - SEED;
        let terms = d.map(|c| SEED * c / (r2 * r2.sqrt()));
        sums[0] += terms.iter().sum::<f64>();
        sums[1] += terms.iter().map(|c| c.abs()).sum::<f64>();
        other = [other[1], other[2], other[0] + 1.0 / 1024.0];
    }
    sums
}

/// As in `kernels/asteroids/limit.cl`.
fn asteroids(share: f64, k: f64, lane: f64) -> [f64; 2] {
    let x = share + k;
    let own = [x, SEED - x, SEED * k, 0.5 * x, 1.0];
    let mut other = [SEED - lane, 0.5 * lane, -SEED, lane + SEED, 0.25 * lane];
    let mut least = SEED;
    for _ in 0..ROUNDS {
        least = own.iter().zip(&other).map(|(a, b)| a * b).sum::<f64>().min(least);
        other.rotate_left(1);
        other[4] -= 1.0 / 1024.0;
    }
    [least, least.abs()]
}

/// On a GPU a column is a single number. There may be none here, but there is a compiler.
#[test]
fn the_form_for_gpus_builds() {
    let build = |chains: &str, micro: &Micro| {
        let defines = [("LANES", "1"), ("CHAINS", chains), ("FETCHED", "32"), ("ROOT", "1")];
        Program::build(&cpu(), &micro.files(), &defines.map(|(name, value)| (name, value.to_owned())))
            .unwrap();
    };
    build("12", &Micro::ROOTS);
    for info in MODES {
        build("4", &info.pair.micro);
    }
}

#[test]
fn rates_hang_together() {
    let device = cpu();
    let Roofline {
        multiply_adds_per_second: multiply_adds,
        roots_per_second: roots,
        fetched_bytes_per_second: fetched,
        copied_bytes_per_second: copied,
    } = Roofline::measure(&device).unwrap();
    // A device does many multiply-adds in the time of a pair: no load of the machine turns that round.
    for ModeInfo { name, pair, .. } in MODES {
        let limit = Probe::new(&device, &pair.micro).unwrap().measure().unwrap();
        assert!(limit > 0.0 && limit < multiply_adds, "{name}: {limit} of {multiply_adds}");
    }
    for rate in [multiply_adds, roots, fetched, copied] {
        assert!(rate > 1e8 && rate.is_finite(), "{rate}");
    }
}

#[test]
fn a_probe_is_done_after_some_short_turns() {
    let mut probe = Probe::new(&cpu(), &MODES[0].pair.micro).unwrap();
    assert_eq!(probe.rate(), 0.0);
    let mut turns = 1;
    while probe.turn().unwrap() {
        assert!(probe.rate() > 0.0);
        turns += 1;
    }
    assert!((8..40).contains(&turns), "{turns} turns");
}

#[test]
fn a_variant_fetches_what_its_items_do_not_share() {
    let device = cpu().info;
    let recipe = |name| Recipe::guess(MODES[0].variant(name).unwrap(), &device, 65_536);
    let bytes = |name, work_group| recipe(name).with_work_group(work_group).bytes_per_pair();
    assert_eq!((bytes("naive", 64), bytes("vector", 2)), (16.0, 0.5));
    assert_eq!((bytes("tiled", 1), bytes("tiled", 64)), (16.0, 0.25));
}
