//! Every variant of every mode against the f64 reference, by the same table walk as `gravitile check`; and that
//! this walk finds what is wrong.

mod support;

use gravitile::commands::check::{self, Case};
use gravitile::compute::{Device, DeviceInfo};
use gravitile::engine::max_work_group;
use gravitile::modes::{MODES, Variant};

fn work_groups(device: &DeviceInfo, variant: &Variant) -> Vec<usize> {
    check::work_groups(max_work_group(device, variant))
}

fn every_variant_agrees(device: &Device) {
    for info in MODES {
        let cases = check::cases(info).unwrap();
        for variant in info.variants {
            for work_group in work_groups(&device.info, variant) {
                let row = check::row(device, variant, work_group, &cases).unwrap();
                assert!(row.passes(), "{row:?}");
                // An error of exactly nothing would mean that nothing was compared.
                assert!(row.worst > 1e-9 && row.cases >= 9, "{row:?}");
            }
        }
    }
}

#[test]
fn every_variant_agrees_on_the_cpu() {
    every_variant_agrees(&support::cpu());
}

#[test]
fn every_variant_agrees_on_a_gpu() {
    if let Some(device) = support::gpu() {
        every_variant_agrees(&device);
    }
}

/// A variant like `name` with a mistake in it.
fn mistaken(name: &str, right: &str, wrong: &str) -> &'static Variant {
    let variant = support::gravity().variant(name).unwrap();
    assert!(variant.source.contains(right), "{name} has no `{right}` any more");
    Box::leak(Box::new(Variant {
        name: variant.name,
        summary: variant.summary,
        file: variant.file,
        source: Box::leak(variant.source.replacen(right, wrong, 1).into_boxed_str()),
        local_bytes: variant.local_bytes,
        bodies_per_item: variant.bodies_per_item,
        all_pairs: variant.all_pairs,
    }))
}

#[test]
fn mistakes_are_found() {
    let device = support::cpu();
    let cases: Vec<Case> = check::cases(support::gravity()).unwrap();
    let mistakes = [
        ("naive", "j < n", "j + 1 < n"),
        ("private", "x_in[j], eps2", "x_in[j], eps2 * 1.001f"),
        ("tiled", "start < n", "start + WORK_GROUP <= n"),
        ("tiled", "start + lane < n ? x_in[start + lane] : (float4)(0.0f)", "x_in[min(start + lane, n - 1)]"),
        ("unrolled", "PULL(k + 7)", "PULL(k + 6)"),
        ("unrolled", "for (; k < WORK_GROUP; ++k)", "for (; k + 1 < WORK_GROUP; ++k)"),
    ];
    for (name, right, wrong) in mistakes {
        let variant = mistaken(name, right, wrong);
        let rows = work_groups(&device.info, variant)
            .into_iter()
            .map(|work_group| check::row(&device, variant, work_group, &cases).unwrap());
        assert!(rows.into_iter().any(|row| !row.passes()), "`{wrong}` in {name} is not found");
    }
}
