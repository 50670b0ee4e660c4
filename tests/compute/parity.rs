//! Compares every variant of every mode with the f64 reference, with the code of `gravitile check`, and tests that this
//! code detects errors.

use gravitile::commands::check::{self, Case};
use gravitile::compute::Device;
use gravitile::modes::MODES;

/// A short run compares one in this many cases at each work-group size, and one in this many combinations of
/// compile-time parameters.
const SHARE: usize = 30;
/// A short run compares each variant at one in this many work-group sizes.
const SHARE_OF_SIZES: usize = 4;

/// Compares every variant with the reference: at all work-group sizes, in all cases, and with all compile-time
/// parameters. If `all` is false, compares only a part of these.
fn every_variant_agrees(device: &Device, all: bool) {
    for info in MODES {
        let cases = check::cases(info).unwrap();
        for (rung, variant) in info.variants.iter().enumerate() {
            for (nth, mut plan) in check::plans(&device.info, variant).into_iter().enumerate() {
                // Each work-group size takes cases that the previous sizes left out.
                let is_chosen = |at: usize| all || (at + 6 * nth).is_multiple_of(SHARE);
                let with_knobs = plan.recipes.len() > 1;
                // Most compilers compile a kernel again for each work-group size, which takes longer than running it.
                if !all && !with_knobs && !(rung + nth).is_multiple_of(SHARE_OF_SIZES) {
                    continue;
                }
                if with_knobs {
                    let mut at = 6 * (SHARE - nth)..;
                    plan.recipes.retain(|_| is_chosen(at.next().unwrap()));
                }
                let chosen = cases.iter().enumerate().filter(|(at, _)| with_knobs || is_chosen(*at));
                let row = check::row(device, &plan, chosen.map(|(_, case)| case)).unwrap();
                assert!(row.passes(), "{row:?}");
                // An error of exactly zero would mean that nothing was compared.
                assert!(row.worst > 1e-9 && row.cases >= if all { 6 } else { 1 }, "{row:?}");
            }
        }
    }
}

#[test]
fn every_variant_agrees_on_the_cpu() {
    every_variant_agrees(&crate::support::cpu(), false);
}

/// Runs all cases with the first variant of each mode. `every_variant_agrees_on_the_cpu` runs all variants, but only some
/// cases with each.
#[test]
#[ignore = "long: scripts/test --all runs it"]
fn the_first_variant_of_each_mode_agrees_in_all_cases() {
    let device = crate::support::cpu();
    for info in MODES {
        let plans = check::plans(&device.info, &info.variants[0]);
        let row = check::row(&device, &plans[2], &check::cases(info).unwrap()).unwrap();
        assert!(row.passes(), "{row:?}");
    }
}

#[test]
#[ignore = "long: scripts/test --all runs it"]
fn every_variant_agrees_on_the_cpu_in_all_cases() {
    every_variant_agrees(&crate::support::cpu(), true);
}

#[test]
fn every_variant_agrees_on_a_gpu() {
    if let Some(device) = crate::support::gpu() {
        every_variant_agrees(&device, true);
    }
}

#[test]
fn faults_injected_into_kernels_are_detected() {
    let device = crate::support::cpu();
    let cases: Vec<Case> = check::cases(crate::support::gravity()).unwrap();
    let mistakes = [
        ("naive", "j < n", "j + 1 < n"),
        ("private", "x_in[j], eps2", "x_in[j], eps2 * 1.001f"),
        ("tiled", "start < n", "start + WORK_GROUP <= n"),
        ("tiled", "start + lane < n ? x_in[start + lane] : (float4)(0.0f)", "x_in[min(start + lane, n - 1)]"),
        ("unrolled", "PULL(k + 7)", "PULL(k + 6)"),
        ("unrolled", "for (; k < WORK_GROUP; ++k)", "for (; k + 1 < WORK_GROUP; ++k)"),
        ("vector", "first + k < n", "first + k + 1 < n"),
        ("blocked", "lane < SLOTS && i < n", "lane < SLOTS && i + 1 < n"),
        ("blocked", "s < SHARES", "s + 1 < SHARES"),
        ("blocked", "j < n ? x_in[j] : (float4)(0.0f)", "x_in[min(j, n - 1)]"),
        ("blocked", "body.w == 0.0f", "false"),
        ("mutual", "i < n ? x_in[i] : (float4)(0.0f)", "x_in[min(i, n - 1)]"),
        ("mutual", "other.w * f", "m * f"),
        ("mutual", "distance == 0", "false"),
        ("mutual", "s < 2 * depth", "s + 1 < 2 * depth"),
        ("mutual", "start > 0 ||", ""),
    ];
    for (name, right, wrong) in mistakes {
        let variant = crate::support::mistaken(crate::support::gravity(), name, right, wrong);
        let plans = check::plans(&device.info, variant);
        let mut rows = plans.iter().flat_map(|plan| {
            // The search ends after the first cases that show the mistake.
            cases.chunks(6).map(|cases| check::row(&device, plan, cases).unwrap())
        });
        assert!(rows.any(|row| !row.passes()), "`{wrong}` in {name} is not found");
    }
}
