//! Tests the stored results of tuning: `auto` uses them, and ignores an invalid or outdated file.

use std::fs;

use crate::support::{cpu, gravity, scene};
use gravitile::base::params;
use gravitile::compute::{DeviceInfo, DeviceKind};
use gravitile::engine::Resolved;
use gravitile::engine::config::Config;
use gravitile::engine::tuned::Tuned;
use gravitile::engine::tuning::{self, Study, Trial};
use gravitile::modes::{MODES, Recipe};
use gravitile::scene::Scene;
use std::ops::ControlFlow;
use std::sync::Arc;

const BODIES: usize = 4096;
/// Default value of the parameter `accuracy`.
const ACCURACY: &str = "1e-3";

/// Returns unusual kernel settings, which no automatic guess would choose.
fn odd(device: &DeviceInfo) -> Recipe {
    let variant = gravity().variant("vector").unwrap();
    Recipe::guess(variant, device, BODIES).with_work_group(3).with_knob("vectors", 1).with_knob("lanes", 8)
}

fn with(device: &DeviceInfo, recipe: &Recipe) -> Tuned {
    let mut tuned = Tuned::default();
    tuned.remember(device, gravity(), (BODIES, ACCURACY), (recipe, 1e9));
    tuned
}

fn resolve(tuned: &Tuned, bodies: usize, device: &DeviceInfo, change: impl Fn(&mut Config)) -> Recipe {
    let mut config = Config { tuned: tuned.clone(), ..scene("plummer", Some(bodies), &[]) };
    change(&mut config);
    Resolved::new(&config, device).unwrap().recipe
}

#[test]
fn every_default_knob_value_is_a_selectable_option() {
    let cpu = DeviceInfo::clone(&cpu().info);
    for device in [DeviceInfo { kind: DeviceKind::Gpu, ..cpu.clone() }, cpu] {
        for variant in MODES.iter().flat_map(|info| info.variants) {
            for bodies in [1, 1000, 12_288, 65_536, 262_144, 1 << 20] {
                for (knob, value) in Recipe::guess(variant, &device, bodies).knobs() {
                    assert!(knob.options.contains(&value), "{} {} {value}", variant.name, knob.name);
                }
            }
        }
    }
}

#[test]
fn auto_keeps_the_default_methods() {
    let device = cpu().info;
    let tree = gravity().variant("tree").unwrap();
    let set = |config: &mut Config| config.knobs.extend([("order", 0), ("leaf", 16)]);
    let by_auto = resolve(&Tuned::default(), 1 << 15, &device, set);
    assert_eq!((by_auto.variant, by_auto.knob("order"), by_auto.knob("leaf")), (tree, 2, 16));
    let by_hand = resolve(&Tuned::default(), 1 << 15, &device, |config| {
        set(config);
        config.variant = Some(tree);
    });
    assert_eq!([by_hand.knob("order"), by_hand.knob("leaf")], [0, 16]);
    assert!(by_hand.words().contains("order=monopole") && !by_auto.words().contains("order"));
    // Settings that were stored by a version of the program that had no parameters for methods.
    let old = [("leaf".to_owned(), 16), ("group".to_owned(), 64)].into();
    let old = Recipe::of_words(tree, &device, 1, &old).unwrap();
    assert_eq!(old, Recipe::guess(tree, &device, 1).with_knob("leaf", 16).with_knob("group", 64));
    // Nor had they a parameter for the sets of groups, which GPUs did not have.
    let gpu = DeviceInfo { kind: DeviceKind::Gpu, max_work_group: 1024, ..DeviceInfo::clone(&device) };
    let old = [("leaf".to_owned(), 16), ("group".to_owned(), 64)].into();
    assert_eq!(Recipe::of_words(tree, &gpu, 32, &old).unwrap().knob("set"), 0);
    assert_eq!(Recipe::guess(tree, &gpu, 1 << 20).knob("set"), 256);
    for knob in MODES.iter().flat_map(|info| info.variants).flat_map(|variant| variant.knobs) {
        if knob.is_method {
            assert_eq!(knob.options.last(), Some(&(knob.guess)(&device, BODIES)), "{}", knob.name);
            assert_eq!(knob.options.len(), knob.choices.len(), "{}", knob.name);
        }
    }
}

#[test]
fn auto_uses_tuning_results_for_a_similar_number_of_bodies() {
    let device = cpu().info;
    let found = odd(&device);
    let tuned = with(&device, &found);
    for (bodies, is_found) in [(BODIES, true), (3000, true), (5700, true), (2800, false), (6000, false)] {
        let guess = resolve(&Tuned::default(), bodies, &device, |_| ());
        assert!(found != guess);
        let expected = if is_found { found } else { guess };
        assert!(resolve(&tuned, bodies, &device, |_| ()) == expected, "{bodies}");
    }
    let chosen = resolve(&tuned, BODIES, &device, |config| {
        config.knobs.insert("vectors", 4);
        config.work_group = Some(5);
    });
    assert_eq!(chosen, found.with_knob("vectors", 4).with_work_group(5), "what is chosen by hand counts");
    let tiled = gravity().variant("tiled").unwrap();
    let other = resolve(&tuned, BODIES, &device, |config| config.variant = Some(tiled));
    assert_eq!(other, Recipe::guess(tiled, &device, BODIES));
}

#[test]
fn settings_that_depend_on_the_number_of_bodies_are_guessed_beyond_the_measured_numbers() {
    let device = DeviceInfo { kind: DeviceKind::Gpu, max_work_group: 1024, ..DeviceInfo::clone(&cpu().info) };
    let tree = gravity().variant("tree").unwrap();
    let measured = 1 << 18;
    let found = Recipe::guess(tree, &device, measured).with_knob("leaf", 16);
    let mut tuned = Tuned::default();
    tuned.remember(&device, gravity(), (measured, ACCURACY), (&found, 1e9));
    let with = |bodies| resolve(&tuned, bodies, &device, |config| config.variant = Some(tree));
    assert_eq!(with(measured), found);
    assert_eq!(with(1 << 20), found.with_knob("set", 256));
}

#[test]
fn a_tuning_result_applies_only_to_its_device_driver_and_mode() {
    let device = cpu().info;
    let tuned = with(&device, &odd(&device));
    let guess = resolve(&Tuned::default(), BODIES, &device, |_| ());
    for other in [
        DeviceInfo { name: "another".into(), ..DeviceInfo::clone(&device) },
        DeviceInfo { driver: "a newer one".into(), ..DeviceInfo::clone(&device) },
    ] {
        assert_eq!(resolve(&tuned, BODIES, &other, |_| ()), guess);
    }
    let mut asteroids = Config::new(MODES[1]);
    (asteroids.tuned, asteroids.bodies) = (tuned, Some(BODIES));
    assert_eq!(Resolved::new(&asteroids, &device).unwrap().recipe.variant.name, "grid");
}

#[test]
fn the_fastest_variant_and_its_newest_tuning_result_are_used() {
    let device = cpu().info;
    let mut tuned = with(&device, &odd(&device));
    let tiled = Recipe::guess(gravity().variant("tiled").unwrap(), &device, BODIES).with_work_group(48);
    tuned.remember(&device, gravity(), (BODIES, ACCURACY), (&tiled, 2e9));
    assert_eq!(resolve(&tuned, BODIES, &device, |_| ()), tiled);
    tuned.remember(&device, gravity(), (BODIES, ACCURACY), (&tiled.with_work_group(24), 0.5e9));
    assert_eq!(resolve(&tuned, BODIES, &device, |_| ()), odd(&device));
}

#[test]
fn saved_tuning_results_are_loaded_unless_broken_or_stale() {
    let device = cpu().info;
    let tuned = with(&device, &odd(&device));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep").join("tuned.json");
    assert_eq!(Tuned::load(&path).unwrap(), Tuned::default(), "no file is an empty list");
    tuned.save(&path).unwrap();
    assert_eq!(Tuned::load(&path).unwrap(), tuned);

    // After a restart, the program reads the results of another device and uses different settings.
    let another = DeviceInfo { name: "another".into(), ..DeviceInfo::clone(&device) };
    with(&another, &odd(&device)).save(&path).unwrap();
    let both = Tuned::load(&path).unwrap();
    assert_eq!(resolve(&both, BODIES, &device, |_| ()), odd(&device));
    assert_eq!(resolve(&both, BODIES, &another, |_| ()), odd(&device));
    fs::remove_file(&path).unwrap();
    tuned.save(&path).unwrap();

    let text = fs::read_to_string(&path).unwrap();
    let guess = resolve(&Tuned::default(), BODIES, &device, |_| ());
    let fingerprint = text.lines().find(|line| line.contains("fingerprint")).unwrap();
    for (right, wrong) in [
        ("\"vector\"", "\"no such variant\""),
        (fingerprint, "\"fingerprint\": 1,"),
        ("\"lanes\": 8", "\"lanes\": 7"),
        ("\"lanes\": 8", "\"planes\": 8"),
        ("\"work_group\": 3", "\"work_group\": 0"),
        ("\"work_group\": 3", "\"work_group\": 99999999"),
    ] {
        assert!(text.contains(right), "{text}");
        fs::write(&path, text.replace(right, wrong)).unwrap();
        let stale = Tuned::load(&path).unwrap();
        assert_eq!(resolve(&stale, BODIES, &device, |_| ()), guess, "{wrong}");
    }
    for broken in ["", "{", "[]", &text[..text.len() / 2], &text.replace("\"version\": 1", "\"version\": 2")]
    {
        fs::write(&path, broken).unwrap();
        let error = Tuned::load(&path).unwrap_err().to_string();
        assert!(error.contains("tuned.json"), "{error}");
    }
    // A file of a newer version is neither read nor replaced.
    let newer = text.replace("\"version\": 1", "\"version\": 2");
    fs::write(&path, &newer).unwrap();
    let error = Tuned::default().save(&path).unwrap_err().to_string();
    assert!(error.contains("newer version") && error.contains("tuned.json"), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), newer);
    fs::write(&path, vec![b' '; 2 << 20]).unwrap();
    assert!(Tuned::load(&path).is_err(), "a huge file is not read");
}

#[test]
fn rough_tuning_trials_are_not_remembered() {
    let device = cpu().info;
    let trial = |name: &str, pairs_per_second, is_rough| {
        let recipe = Recipe::guess(gravity().variant(name).unwrap(), &device, BODIES).with_work_group(8);
        Trial { recipe, bodies: BODIES, accuracy: ACCURACY, pairs_per_second, is_rough }
    };
    let trials = [trial("naive", 3e9, true), trial("tiled", 2e9, false), trial("vector", 1e9, false)];
    let mut tuned = Tuned::default();
    tuning::remember(&mut tuned, &device, gravity(), &trials);
    assert_eq!(resolve(&tuned, BODIES, &device, |_| ()), trials[1].recipe);
    let naive = resolve(&tuned, BODIES, &device, |config| config.variant = gravity().variant("naive"));
    assert_eq!(naive.work_group, 64, "what is guessed");
}

#[test]
fn a_tuning_search_tries_every_variant_and_stops_on_request() {
    let device = cpu();
    let mut config = scene("plummer", Some(256), &[("accuracy", "exact")]);
    let mut trials: Vec<Trial> = Vec::new();
    let mut shares = vec![0.0];
    Study::Tune
        .run(&device, &config, &mut |share, trial| {
            trials.push(*trial);
            shares.push(share);
            ControlFlow::Continue(())
        })
        .unwrap();
    assert!(shares.is_sorted() && shares.iter().all(|share| (0.0..=1.0).contains(share)), "{shares:?}");
    let best = Trial::best_of_each(&trials);
    let mut names: Vec<_> = best.iter().map(|trial| trial.recipe.variant.name).collect();
    names.sort_unstable();
    // `auto` may not choose the tree, whose forces are approximate.
    let allowed = gravity().variants.iter().filter(|variant| config.mode.allows(variant));
    let mut expected: Vec<_> = allowed.map(|variant| variant.name).collect();
    expected.sort_unstable();
    assert!(names == expected && !names.contains(&"tree"), "{names:?}");
    assert!(best.is_sorted_by(|a, b| a.pairs_per_second <= b.pairs_per_second));
    assert!(trials.len() > best.len(), "and at neighbours of the fastest");
    // No settings are tried twice.
    for (nth, trial) in trials.iter().enumerate() {
        assert!(trials[..nth].iter().all(|earlier| earlier.recipe != trial.recipe), "{trial:?}");
        assert!(trial.bodies == 256 && trial.pairs_per_second > 0.0);
    }

    config.bodies = Some(1 << 20);
    for study in [Study::Tune, Study::WorkGroups, Study::Bodies] {
        let mut calls = 0;
        let mut report = |_: f32, trial: &Trial| {
            calls += 1;
            assert!(trial.bodies <= 1 << 16, "a step of a million bodies would take minutes");
            ControlFlow::Break(())
        };
        study.run(&device, &config, &mut report).unwrap();
        assert_eq!(calls, 1, "{study:?}");
    }
}

#[test]
fn auto_takes_the_fastest_variant_for_each_accuracy() {
    let device = cpu().info;
    let guess = |name: &str| Recipe::guess(gravity().variant(name).unwrap(), &device, BODIES);
    let trial = |name: &str, accuracy, pairs_per_second| Trial {
        recipe: guess(name),
        bodies: BODIES,
        accuracy,
        pairs_per_second,
        is_rough: false,
    };
    // This device is slow with the tree if the forces must be accurate to 1e-4.
    let trials = [
        trial("vector", "1e-4", 3e9),
        trial("tree", "1e-4", 2e9),
        trial("vector", "1e-3", 3e9),
        trial("tree", "1e-3", 4e9),
    ];
    let mut tuned = Tuned::default();
    tuning::remember(&mut tuned, &device, gravity(), &trials);
    let chosen = |tuned: &Tuned, accuracy: &str, bodies| {
        let set = |config: &mut Config| {
            params::set(config.mode.as_mut(), "accuracy", accuracy).unwrap();
        };
        resolve(tuned, bodies, &device, set).variant.name
    };
    assert_eq!(chosen(&tuned, "1e-3", BODIES), "tree");
    assert_eq!(chosen(&tuned, "1e-4", BODIES), "vector");
    // For the accuracy `exact` and for other numbers of bodies there are no measurements, so `auto` guesses.
    assert_eq!(chosen(&tuned, "exact", BODIES), "vector");
    assert_eq!(
        [256, 1024, 65_536].map(|bodies| chosen(&tuned, "1e-4", bodies)),
        ["vector", "vector", "tree"]
    );
    assert_eq!([1024, 65_536].map(|bodies| chosen(&tuned, "exact", bodies)), ["vector", "mutual"]);
}

#[test]
fn auto_knows_from_how_many_bodies_the_tree_is_faster() {
    let cpu = DeviceInfo { kind: DeviceKind::Cpu, ..DeviceInfo::clone(&cpu().info) };
    let gpu = DeviceInfo { kind: DeviceKind::Gpu, ..cpu.clone() };
    for (device, accuracy, from) in
        [(&cpu, "1e-3", 3_072), (&cpu, "1e-4", 4_096), (&gpu, "1e-3", 28_672), (&gpu, "1e-4", 36_864)]
    {
        let set = |config: &mut Config| {
            params::set(config.mode.as_mut(), "accuracy", accuracy).unwrap();
        };
        let chosen =
            [from - 1, from].map(|bodies| resolve(&Tuned::default(), bodies, device, set).variant.name);
        assert!(chosen[0] != "tree" && chosen[1] == "tree", "{accuracy}: {chosen:?}");
    }
}

#[test]
fn the_default_number_of_bodies_grows_with_the_device() {
    let of = |kind, compute_units, accuracy: &str, variant: Option<&str>| {
        let memory = 1 << 38;
        let device = DeviceInfo {
            kind,
            compute_units,
            memory_bytes: memory,
            max_alloc_bytes: memory,
            ..DeviceInfo::clone(&cpu().info)
        };
        let mut config = Config::new(gravity());
        params::set(config.mode.as_mut(), "accuracy", accuracy).unwrap();
        config.variant = variant.and_then(|name| gravity().variant(name));
        Resolved::new(&config, &device).unwrap().bodies
    };
    let (small, big) = (DeviceKind::Cpu, DeviceKind::Gpu);
    assert_eq!([1, 2, 6, 64].map(|units| of(small, units, "1e-3", None)), [8_192, 16_384, 49_152, 131_072]);
    assert_eq!(
        [1, 20, 132, 999].map(|units| of(big, units, "1e-4", None)),
        [8_192, 131_072, 1 << 20, 1 << 20]
    );
    // The default number of bodies is smaller for variants that compute all pairs, because their work grows as N².
    assert_eq!([small, big].map(|kind| of(kind, 132, "exact", None)), [4_096, 65_536]);
    assert_eq!([small, big].map(|kind| of(kind, 132, "1e-3", Some("tiled"))), [4_096, 65_536]);
    assert_eq!(of(small, 2, "exact", Some("tree")), 16_384);
    // Some scenes look best with few bodies, or need time for several steps per frame.
    let in_scene = |auto_bodies, auto_share, bodies| {
        let mut config = Config { bodies, ..Config::new(gravity()) };
        config.start = Arc::new(Scene { auto_bodies, auto_share, ..Scene::clone(&config.start) });
        Resolved::new(&config, &DeviceInfo { compute_units: 2, ..DeviceInfo::clone(&cpu().info) })
            .unwrap()
            .bodies
    };
    assert_eq!([500, 1 << 20].map(|most| in_scene(Some(most), None, None)), [500, 16_384]);
    assert_eq!([None, Some(500)].map(|most| in_scene(most, Some(0.25), None)), [4_096, 500]);
    assert_eq!(in_scene(None, Some(1e-30), None), 1);
    assert_eq!(in_scene(Some(500), Some(0.25), Some(600)), 600, "a number that the user chose is kept");
}
