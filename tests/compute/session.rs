//! Tests the simulation on its own thread (commands, frames, notices), and changes of its configuration.

use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::support::odd::{FOR_EVER, Gate, Odd};
use crate::support::watched::{Watched, wait_for};
use crate::support::{cpu, engine, gpu, gravity, mistaken, scene};
use gravitile::base::bodies::Points;
use gravitile::base::error::Error;
use gravitile::base::flow::{Image, Stroke};
use gravitile::base::orbit::OrbitCentre;
use gravitile::base::params::{self, ChangeEffect};
use gravitile::base::state::State;
use gravitile::compute::Device;
use gravitile::engine::config::Config;
use gravitile::engine::kernel_lab;
use gravitile::engine::{Engine, Preview};
use gravitile::modes::accuracy::LEAST_SAMPLE;
use gravitile::modes::gravity::variants::NAIVE;
use gravitile::modes::{Diagnostics, MODES, Variant};
use gravitile::session::{
    CaptureRequest, Command, Continuation, Frame, Notice, Pairing, Session, Stats, Turns, WatchList,
};

fn small() -> Config {
    scene("plummer", Some(256), &[])
}

/// A variant whose kernel does not compile, because of an error in line 3.
static BROKEN: Variant = Variant {
    name: "broken",
    summary: "for tests",
    file: "gravity/broken.cl",
    source: "// first\n// second\n__kernel void advance(const uint n) { n = nonsense; }\n",
    ..NAIVE
};

#[test]
fn successive_frames_advance_the_step_and_the_clock() {
    let mut watched = Watched::new(Config { steps_per_frame: Some(3), ..small() });
    let first = watched.frame();
    assert_eq!(
        (first.stats.generation, first.points.positions.len(), first.points.values.len()),
        (1, 256, 256)
    );
    let mut last = first.stats.step;
    for _ in 0..10 {
        let frame = watched.frame();
        assert_eq!(frame.stats.step, last + 3);
        assert!((frame.stats.time - frame.stats.step as f64 * 0.01).abs() < 1e-6);
        last = frame.stats.step;
    }
    assert!(watched.wakes.load(Ordering::Relaxed) >= 11);
    let measured = watched.frame_where(|frame| frame.stats.diagnostics.is_some());
    assert!(measured.stats.steps_per_second > 0.0 && measured.stats.device_ms_per_step > 0.0);
    assert_eq!(measured.stats.energy_drift, None, "one measurement tells of no change");
    let drift = watched.frame_where(|frame| frame.stats.energy_drift.is_some()).stats.energy_drift;
    assert!(drift.is_some_and(|drift| drift != 0.0 && drift.abs() < 1e-2), "{drift:?}");
}

/// While the kernels are built, the first frame shows a preview: the same points as the first frame of the simulation.
#[test]
fn a_preview_shows_the_scene_before_the_simulation_starts() {
    let scenes = [
        ("plummer", Some(256), &[][..]),
        ("plummer", Some(256), &[("colour", "stars")]),
        ("pythagorean", None, &[]),
        ("belt", Some(256), &[]),
        ("belt", Some(256), &[("colour", "acceleration")]),
        ("billiards", Some(256), &[("colour", "hit")]),
        ("box-128", None, &[]),
        ("cylinder", None, &[("tracers", "512")]),
    ];
    for (name, bodies, set) in scenes {
        let config = Config { running: true, free_run: true, ..scene(name, bodies, set) };
        let (built, gate) = mpsc::channel();
        let engine = move |show: &mut dyn FnMut(Preview)| {
            Engine::with_preview(cpu(), config, |preview| {
                show(preview);
                gate.recv().unwrap();
            })
        };
        let mut session = Session::spawn_with_preview(engine, || ()).unwrap();
        wait_for(|| session.frame().0.stats.generation == 1);
        let preview = session.shown().clone();
        assert!(!preview.stats.has_started() && !preview.points.positions.is_empty(), "{name}");
        built.send(()).unwrap();
        wait_for(|| session.frame().0.stats.has_started());
        let first = session.shown();
        assert_eq!(first.stats.step, 0);
        assert_eq!((first.stats.mode, first.stats.generation), (preview.stats.mode, 1));
        let [first, preview] = [&first.points, &preview.points].map(|points| {
            let Points { positions, values, image, colours, shape, .. } = points;
            (&positions[..], &values[..], image, *colours, *shape)
        });
        assert_eq!(first, preview, "{name}");
    }
}

#[test]
fn scenes_whose_colours_need_a_simulation_have_no_preview() {
    let config = scene("plummer", Some(256), &[("colour", "acceleration")]);
    let show = |_| panic!("accelerations are not known yet");
    assert_eq!(Engine::with_preview(cpu(), config, show).unwrap().size(), 256);
}

#[test]
fn a_frame_shows_its_own_step_while_the_next_burst_runs() {
    frames_show_their_steps(&cpu());
}

/// A GPU may copy results while kernels run; a CPU does one after the other. On both, a frame shows its own step.
#[test]
fn a_frame_shows_its_own_step_while_the_next_burst_runs_on_a_gpu() {
    if let Some(device) = gpu() {
        frames_show_their_steps(&device);
    }
}

/// Checks that a frame shows its own step although other steps run before and after it, and that memory is reused.
fn frames_show_their_steps(device: &Device) {
    let engine = |config| Engine::new(device.clone(), config).unwrap();
    for (info, variant) in MODES.iter().flat_map(|info| info.variants.iter().map(move |v| (info, v))) {
        let config = Config { bodies: Some(1000), variant: Some(variant), ..Config::new(info) };
        let (mut runs, mut stops) = (engine(config.clone()), engine(config));
        let start = |engine: &mut Engine, steps| {
            engine.start(steps);
            while engine.advance().unwrap() {}
        };
        let mut points = Points::default();
        let mut last = stops.state().unwrap();
        for burst in 1..6 {
            start(&mut runs, burst);
            let pending = runs.publish(points).unwrap();
            start(&mut runs, 3);
            points = pending.wait().unwrap().0;

            stops.run(burst, |_| ()).unwrap();
            let state = stops.state().unwrap();
            let (still, _) = stops.publish(Points::default()).unwrap().wait().unwrap();
            let what = format!("{} {} in burst {burst}", info.name, variant.name);
            assert!(points.positions == still.positions && points.values == still.values, "{what}");
            assert!(points.image == still.image && points.series == still.series, "{what}");
            if let State::Bodies(bodies) = &state {
                assert!(places(&points.positions) == places(&bodies.positions), "{what}");
            }
            assert!(state != last, "{what}: nothing moves");
            last = state;
            stops.run(3, |_| ()).unwrap();
        }
    }
}

/// Returns the positions without the fourth number, whose meaning differs between the lists.
fn places(rows: &[[f32; 4]]) -> Vec<[f32; 3]> {
    rows.iter().map(|[x, y, z, _]| [*x, *y, *z]).collect()
}

/// Two simulations, one of which is a copy of the other, show the same bits at the same steps. They use the device in
/// turn.
#[test]
fn a_copy_of_a_simulation_has_the_same_bits_at_the_same_steps() {
    for info in MODES {
        let config = Config { bodies: Some(1000), steps_per_frame: Some(3), ..Config::new(info) };
        let mut first = Watched::new(config);
        first.frame_where(|frame| frame.stats.step > 6);
        let (answer, fork) = crossbeam_channel::bounded(1);
        let [own, others] = Turns::pair().map(|turns| Command::Pair(Some(Pairing { turns, every: Some(8) })));
        first.session.send(own);
        first.session.send(Command::Fork(answer));
        let mut second = Watched::of(move || fork.recv().unwrap()?.engine());
        second.session.send(others);
        let [a, b] = [&mut first, &mut second].map(|watched| {
            // Every frame shows a multiple of 8, so these steps are shown.
            [40, 80].map(|step| {
                let Frame { points, stats, .. } = watched.frame_where(|frame| frame.stats.step == step);
                (stats.generation, stats.time, points.positions, points.image)
            })
        });
        assert!(a == b, "{}", info.name);
    }
}

fn interval(interval: Duration) -> Command {
    Command::SetFrameInterval { interval, is_software: false }
}

#[test]
fn the_automatic_burst_length_adapts_to_the_frame_interval() {
    let mut watched = Watched::new(Config { free_run: true, ..small() });
    // Simulates a screen with one picture per minute, and then one with a thousand million pictures per second.
    watched.session.send(interval(Duration::from_secs(60)));
    let most = watched.frame_where(|frame| frame.stats.steps_per_frame > 8).stats.steps_per_frame;
    watched.session.send(interval(Duration::from_nanos(1)));
    watched.frame_where(|frame| frame.stats.steps_per_frame == 1);
    watched.session.send(interval(Duration::from_millis(16)));
    watched.configure(&small());
    let watchable = watched.frame_where(|frame| (2..most).contains(&frame.stats.steps_per_frame));
    assert!(watchable.stats.device_busy > 0.0 && watchable.stats.device_busy_overall > 0.0);
    assert!(watchable.stats.device_busy <= 1.0 && watchable.stats.device_busy_overall <= 1.0);
}

#[test]
fn slow_drawing_does_not_slow_the_simulation() {
    let (_, most) = gravity().work.burst;
    let mut watched = Watched::new(small());
    watched.session.send(interval(Duration::from_secs_f64(1.125 / 60.0)));
    let bursts: Vec<_> = (0..80).map(|_| f64::from(watched.frame().stats.steps_per_frame)).collect();
    let mean = bursts[16..].iter().sum::<f64>() / (bursts.len() - 16) as f64;
    assert!((mean / f64::from(most) - 1.125).abs() < 0.02, "{mean} in place of {most}: {bursts:?}");
}

#[test]
fn error_colours_complete_while_paused_and_reset_when_forces_change() {
    // With so many bodies, a single check is too short to cover all of them.
    const BODIES: usize = 6000;
    let with = |opening| {
        let config = scene("plummer", Some(BODIES), &[("colour", "error"), ("opening", opening)]);
        Config { running: false, variant: gravity().variant("tree"), ..config }
    };
    let mut watched = Watched::new(with("0.0001"));
    let measured = |frame: &Frame| frame.stats.error_colours.unwrap().measured;
    let known = |frame: &Frame| frame.points.values.iter().filter(|v| **v != Points::UNMEASURED).count();
    let first = watched.frame();
    assert_eq!((measured(&first), known(&first)), (0, 0), "no step, no error");
    let mut ends = Vec::new();
    for opening in ["0.0001", "0.1"] {
        watched.configure(&with(opening));
        watched.send(Command::Step);
        let some = watched.frame_where(|frame| measured(frame) > 0);
        assert_eq!(known(&some), measured(&some));
        let all = watched.frame_where(|frame| measured(frame) == BODIES);
        assert_eq!((known(&all), all.stats.step), (BODIES, some.stats.step));
        assert!(all.stats.errors.unwrap().count > 256, "the bodies take turns without an upper limit");
        let decades = all.stats.error_colours.unwrap().decades;
        assert_eq!(decades.map(|exponent| exponent as f32), all.value_range);
        ends.push(decades);
    }
    assert!(
        ends[0][0] < ends[1][0] && ends[0][1] < ends[1][1],
        "a larger opening has larger errors: {ends:?}"
    );
    watched.configure(&with("0.01"));
    let forgotten = watched.frame_where(|frame| measured(frame) < BODIES);
    assert_eq!((measured(&forgotten), known(&forgotten)), (0, 0));
    assert!(watched.is_still(), "without a step there is nothing to measure");
    watched.configure(&Config { running: false, ..scene("plummer", Some(BODIES), &[]) });
    watched.frame_where(|frame| frame.stats.error_colours.is_none() && known(frame) == BODIES);
}

#[test]
fn the_accuracy_of_each_variant_is_reported() {
    let info = gravity();
    let of = |variant| Config { variant: Some(variant), ..small() };
    let mut watched = Watched::new(of(&info.variants[0]));
    for (seen, variant) in info.variants.iter().enumerate() {
        watched.configure(&of(variant));
        let first = watched.frame_where(|frame| frame.stats.variant == variant.name);
        assert_eq!(first.stats.relative_error, None, "it is not yet judged");
        let own = |stats: &Stats| stats.ladder.iter().find(|rung| rung.variant == variant.name).cloned();
        let stats = watched.frame_where(|f| own(&f.stats).is_some_and(|r| r.relative_error.is_some())).stats;
        assert!(
            stats.relative_error.is_some_and(|error| error > 0.0 && error < variant.tolerance),
            "{stats:?}"
        );
        let errors = stats.errors.unwrap();
        assert_eq!(Some(errors.rms), stats.relative_error);
        let in_order = errors.median <= errors.p99.unwrap() && errors.p99.unwrap() <= errors.max;
        assert!(errors.count >= LEAST_SAMPLE && in_order && errors.max >= errors.rms, "{errors:?}");
        let rung = own(&stats).unwrap();
        assert!(rung.relative_error == stats.relative_error && rung.pairs_per_second > 0.0);
        assert_eq!(stats.ladder.len(), seen + 1, "the others are remembered");
    }
    let wrong = mistaken(info, "tiled", "sum, own.xyz, tile[k], eps2", "sum, own.xyz, tile[k], 2.0f * eps2");
    watched.configure(&of(wrong));
    let told = |frame: &Frame| frame.stats.relative_error.is_some_and(|error| error > wrong.tolerance);
    watched.frame_where(told);
    // Nothing has been measured for another number of bodies.
    watched.configure(&Config { bodies: Some(100), ..small() });
    let fresh = watched.frame_where(|frame| frame.stats.bodies == 100).stats;
    assert_eq!((fresh.relative_error, fresh.ladder), (None, Vec::new()));
}

#[test]
fn frames_contain_tree_cells_only_while_requested() {
    let tree = Config { running: false, variant: gravity().variant("tree"), ..small() };
    let mut watched = Watched::new(tree.clone());
    let first = watched.frame();
    assert_eq!((first.points.cells, first.stats.cells), (None, None));
    watched.session.send(Command::ShowCells(Some(2)));
    let frame = watched.frame_where(|frame| frame.points.cells.is_some());
    let cells = frame.points.cells.unwrap();
    assert_eq!((frame.stats.cells, cells.counts.depth), (Some(cells.counts), 2));
    watched.session.send(Command::Select(Some(3)));
    let walk = |frame: &Frame| frame.stats.cells.and_then(|counts| counts.walk);
    assert!(walk(&watched.frame_where(|frame| walk(frame).is_some())).unwrap().pairs > 0);
    watched.configure(&Config { variant: gravity().variant("vector"), ..tree });
    watched.frame_where(|frame| frame.stats.variant == "vector" && frame.points.cells.is_none());
    watched.session.send(Command::ShowCells(None));
    watched.frame_where(|frame| frame.stats.cells.is_none());
}

#[test]
fn the_error_of_a_single_step_is_measured_while_paused() {
    let mut watched = Watched::new(Config { running: false, ..small() });
    assert_eq!(watched.frame().stats.relative_error, None);
    watched.session.send(Command::Step);
    let judged = watched.frame_where(|frame| frame.stats.relative_error.is_some());
    assert_eq!(judged.stats.step, 1);
    watched.configure(&Config { running: false, variant: Some(&gravity().variants[0]), ..small() });
    let other = watched.frame_where(|frame| frame.stats.variant == gravity().variants[0].name);
    assert_eq!(other.stats.relative_error, None, "it is another variant's");
}

#[test]
fn the_peak_speed_is_measured_during_the_run() {
    let mut watched = Watched::new(small());
    assert_eq!(watched.frame().stats.limit, None, "it was measured before the first picture");
    let stats = watched.frame_where(|frame| frame.stats.limit.is_some()).stats;
    assert!(stats.limit.unwrap() > 0.0 && stats.share_of_limit().unwrap() > 0.0);
    // Each mode has its own limit of the speed. Variants that do not evaluate all pairs have no limit.
    let asteroids = Config { bodies: Some(256), ..Config::new(&gravitile::modes::asteroids::INFO) };
    let with = |name| Config { variant: asteroids.mode.info().variant(name), ..asteroids.clone() };
    watched.configure(&with("tiled"));
    let other = watched.frame_where(|frame| frame.stats.mode == "asteroids" && frame.stats.limit.is_some());
    assert_ne!(other.stats.limit, stats.limit);
    watched.configure(&with("grid"));
    assert_eq!(watched.frame_where(|frame| frame.stats.variant == "grid").stats.limit, None);
}

#[test]
fn no_step_is_computed_until_the_previous_frame_is_taken() {
    let mut watched = Watched::new(Config { steps_per_frame: Some(1), ..small() });
    wait_for(|| watched.wakes.load(Ordering::Relaxed) > 0);
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(watched.wakes.load(Ordering::Relaxed), 1, "a frame was made that nobody asked for");
    watched.frame();
    watched.frame();

    let mut free = Watched::new(Config { steps_per_frame: Some(1), free_run: true, ..small() });
    let is_ahead = |frame: u64| {
        std::thread::sleep(Duration::from_millis(20));
        free.frame().stats.step > frame
    };
    assert!((1..500).any(is_ahead), "free run waits for the screen: no more steps than frames");
}

#[test]
fn pause_step_and_restart_take_effect() {
    let paused = Config { running: false, ..small() };
    let mut watched = Watched::new(paused.clone());
    let start = watched.frame();
    assert_eq!(start.stats.step, 0);
    assert!(watched.is_still(), "it steps though it is paused");
    for step in 1..=3 {
        watched.session.send(Command::Step);
        let frame = watched.frame_where(|frame| frame.stats.step > step - 1);
        assert_eq!(frame.stats.step, step);
    }
    assert!(watched.is_still());
    watched.session.send(Command::Restart);
    let again = watched.frame_where(|frame| frame.stats.generation == 2);
    assert_eq!(again.stats.step, 0);
    assert_eq!(again.points.positions, start.points.positions);
    watched.configure(&Config { running: true, ..paused });
    watched.frame_where(|frame| frame.stats.step > 3);
}

#[test]
fn a_new_configuration_interrupts_a_long_step_immediately() {
    // The closed gate makes this step endless.
    let gate = Gate::default();
    gate.close(FOR_EVER);
    let long = Odd::behind(&gate, small());
    let mut watched = Watched::new(long.clone());
    watched.frame();
    wait_for(|| gate.has_held());
    watched.configure(&Config { bodies: Some(64), ..long });
    watched.frame_where(|frame| frame.stats.bodies == 64);
    // Quitting does not wait for the step either.
    gate.close(FOR_EVER);
    wait_for(|| gate.has_held());
    drop(watched);
}

#[test]
fn an_invalid_configuration_is_rejected_and_the_old_one_keeps_running() {
    let mut watched = Watched::new(small());
    watched.frame();
    watched.configure(&Config { variant: Some(&BROKEN), ..small() });
    let Notice::Rejected { error: Error::Build { file, log, .. }, current, .. } = watched.notice() else {
        panic!("another notice");
    };
    assert_eq!((file.as_str(), *current), ("gravity/broken.cl", small()));
    assert!(log.contains("broken.cl:3:"), "the log does not name the line: {log}");
    let step = watched.frame().stats.step;
    watched.frame_where(|frame| frame.stats.step > step);

    watched.configure(&Config { work_group: Some(1 << 20), ..small() });
    assert!(matches!(watched.notice(), Notice::Rejected { error: Error::Invalid(_), .. }));
}

#[test]
fn a_failed_start_is_reported() {
    let mut watched = Watched::new(Config { bodies: Some(0), ..small() });
    assert!(matches!(watched.notice(), Notice::Failed(Error::Invalid(_))));
}

#[test]
fn each_configuration_change_has_the_smallest_necessary_effect() {
    let mut engine = engine(small());
    engine.run(5, |_| ()).unwrap();
    let mut state = engine.state().unwrap();
    let mut change = |edit: &dyn Fn(&mut Config), expected: Option<ChangeEffect>| {
        let mut config = engine.config().clone();
        edit(&mut config);
        assert_eq!(engine.configure(config).unwrap(), expected);
        let now = engine.state().unwrap();
        let keeps = expected != Some(ChangeEffect::Reseed);
        assert_eq!(now == state, keeps, "{expected:?}");
        assert_eq!(engine.clock().0 > 0, keeps);
        engine.run(1, |_| ()).unwrap();
        state = engine.state().unwrap();
    };
    let set = |key: &'static str, value: &'static str| {
        move |config: &mut Config| params::set(config.mode.as_mut(), key, value).unwrap()
    };
    change(&|_| (), None);
    change(&|config| config.running = false, None);
    change(&set("dt", "0.0017"), Some(ChangeEffect::Live));
    change(&set("integrator", "euler"), Some(ChangeEffect::Live));
    change(&set("softening", "clamp"), Some(ChangeEffect::Rebuild));
    for variant in gravity().variants.iter().rev() {
        change(&move |config| config.variant = Some(variant), Some(ChangeEffect::Rebuild));
    }
    change(&|config| config.work_group = Some(7), Some(ChangeEffect::Rebuild));
    change(&|config| config.seed = 2, Some(ChangeEffect::Reseed));
    change(&|config| config.bodies = Some(100), Some(ChangeEffect::Reseed));
    change(&|config| config.select_scene(gravity().scene("cube").unwrap()), Some(ChangeEffect::Reseed));
    // A scene with a fixed number of bodies ignores the user's number.
    change(&|config| config.select_scene(gravity().scene("two-body").unwrap()), Some(ChangeEffect::Reseed));
}

/// Returns a small, paused configuration of each mode.
fn one_of_each() -> Vec<Config> {
    let config = |info| Config { bodies: Some(256), running: false, ..Config::new(info) };
    MODES.iter().map(|info| config(info)).collect()
}

#[test]
fn each_mode_continues_where_it_was_left() {
    let configs = one_of_each();
    let count = configs.len();
    let mut watched = Watched::new(configs[0].clone());
    watched.frame();
    let mut seen: Vec<Option<Frame>> = vec![None; count];
    for turn in 0..4 * count {
        let (config, next) = (&configs[turn % count], &configs[(turn + 1) % count]);
        let is_of = |config: &Config, frame: &Frame| frame.stats.mode == config.mode.info().name;
        let step = seen[turn % count].as_ref().map_or(0, |frame| frame.stats.step);
        watched.session.send(Command::Step);
        let frame = watched.frame_where(|frame| is_of(config, frame) && frame.stats.step == step + 1);
        if let Some(before) = &seen[turn % count] {
            assert_eq!(frame.stats.generation, before.stats.generation, "turn {turn}: it began anew");
        }
        // The state of a mode is the same, bit for bit, when the mode is selected again.
        watched.configure(next);
        watched.frame_where(|frame| is_of(next, frame));
        watched.configure(config);
        let back = watched.frame_where(|frame| is_of(config, frame));
        assert_eq!(back.stats.step, frame.stats.step);
        assert_eq!(back.points.positions, frame.points.positions, "turn {turn}");
        assert_eq!(back.points.values, frame.points.values, "turn {turn}");
        assert_eq!(back.points.image, frame.points.image, "turn {turn}");
        watched.configure(next);
        watched.frame_where(|frame| is_of(next, frame));
        seen[turn % count] = Some(frame);
    }
    // Modes can also be changed while the simulation runs. A mode with a new seed restarts.
    let mut last = vec![5; count];
    for turn in 0..4 * count {
        let config = Config { running: true, ..configs[turn % count].clone() };
        watched.configure(&config);
        let of_mode = |frame: &Frame| frame.stats.mode == config.mode.info().name;
        let frame = watched.frame_where(of_mode);
        let (is, was) = (frame.stats.step, last[turn % count]);
        assert!(is >= was || turn < count, "turn {turn}: {is} after {was}");
        last[turn % count] =
            watched.frame_where(|frame| of_mode(frame) && frame.stats.step > was + 3).stats.step;
    }
    watched.configure(&Config { seed: 9, running: true, ..configs[0].clone() });
    let fresh = watched.frame_where(|frame| frame.stats.mode == configs[0].mode.info().name);
    assert!(fresh.stats.step < last[0] && fresh.stats.generation == count as u64 + 1);
}

#[test]
fn a_suspended_mode_continues_bit_for_bit_as_if_never_left() {
    for (config, other) in one_of_each().iter().zip(one_of_each().iter().cycle().skip(1)) {
        let (mut left, mut stays) = (engine(config.clone()), engine(config.clone()));
        for steps in [7, 20] {
            left.run(steps, |_| ()).unwrap();
            stays.run(steps, |_| ()).unwrap();
            left.configure(other.clone()).unwrap();
            left.run(3, |_| ()).unwrap();
            left.configure(config.clone()).unwrap();
            assert!(left.state().unwrap() == stays.state().unwrap(), "{:?}", config.mode);
        }
        left.run(20, |_| ()).unwrap();
        stays.run(20, |_| ()).unwrap();
        assert!(left.state().unwrap() == stays.state().unwrap(), "{:?}", config.mode);
    }
}

fn fluid(scene: &str, set: &[(&str, &str)]) -> Config {
    let info = &gravitile::modes::fluid::INFO;
    let mut config = Config { bodies: Some(3000), ..Config::new(info) };
    config.select_scene(info.scene(scene).unwrap());
    for (key, value) in set {
        params::set(config.mode.as_mut(), key, value).unwrap();
    }
    config
}

/// Returns the number of solid pixels in a frame's image.
fn solid(frame: &Frame) -> usize {
    frame.points.image.values.iter().filter(|value| **value == Image::WALL).count()
}

#[test]
fn obstacles_are_painted_erased_and_kept() {
    let config = Config { running: false, ..fluid("channel", &[]) };
    let mut watched = Watched::new(config.clone());
    let bare = watched.frame();
    let stroke = Stroke { from: [-0.2, 0.0], to: [0.2, 0.05], radius: 0.05, solid: true, begins: true };
    watched.session.send(Command::Paint(stroke));
    let painted = watched.frame_where(|frame| solid(frame) > solid(&bare));
    // The stroke is 0.4 by 0.1 with round ends; cells are 2/93 wide.
    let cells = (0.4 * 0.1 + 0.05f64.powi(2) * std::f64::consts::PI) * (93.0f64 / 2.0).powi(2);
    let more = (solid(&painted) - solid(&bare)) as f64;
    assert!((0.7..1.4).contains(&(more / cells)), "{more} instead of {cells}");
    // The fluid flows around the new obstacle, which remains after a visit to another mode.
    watched.configure(&small());
    watched.frame_where(|frame| frame.stats.mode == "gravity");
    watched.configure(&Config { running: true, ..config.clone() });
    let runs = watched.frame_where(|frame| frame.stats.mode == "fluid" && frame.stats.step > 50);
    assert_eq!(solid(&runs), solid(&painted));
    watched.session.send(Command::Paint(Stroke { solid: false, radius: 0.1, ..stroke }));
    watched.frame_where(|frame| solid(frame) < solid(&painted));
    // A stroke that makes all cells solid is refused, and so is a stroke over bodies.
    let all = Stroke { from: [-1.0, 0.0], to: [1.0, 0.0], radius: 1.0, solid: true, begins: true };
    watched.session.send(Command::Paint(all));
    assert!(matches!(watched.notice(), Notice::Refused(Error::Invalid(_))));
    watched.configure(&small());
    watched.frame_where(|frame| frame.stats.mode == "gravity");
    watched.session.send(Command::Paint(stroke));
    assert!(matches!(watched.notice(), Notice::Refused(Error::Invalid(_))));
}

#[test]
fn a_flow_that_blows_up_stops_and_is_reported() {
    let config = fluid("porous", &[("drive", "inlet"), ("omega", "1.999"), ("inlet", "0.3")]);
    let mut watched = Watched::new(Config { steps_per_frame: Some(20), ..config.clone() });
    let mut heard = None;
    wait_for(|| {
        watched.session.frame();
        heard = watched.next_notice();
        heard.is_some()
    });
    let Some(Notice::BlownUp { text, is_painted: false, current }) = heard else { panic!("{heard:?}") };
    assert!(
        text.contains("blew up")
            && *current == Config { running: false, steps_per_frame: Some(20), ..config.clone() }
    );
    watched.session.frame();
    assert!(watched.is_still(), "it steps on");
    watched.session.send(Command::Restart);
    let fresh = watched.frame_where(|frame| frame.stats.generation == 2);
    assert!(fresh.stats.step == 0 && !fresh.stats.running && fresh.stats.series.is_empty());
}

#[test]
fn per_step_values_of_a_mode_are_recorded() {
    let mut watched = Watched::new(Config { steps_per_frame: Some(10), ..fluid("porous", &[]) });
    let frame = watched.frame_where(|frame| frame.stats.step >= 100);
    let series = &frame.stats.series;
    assert!(series.len() >= 90 && series.is_sorted_by(|a, b| a[0] < b[0]), "{series:?}");
    assert!(series[..6].is_sorted_by(|a, b| a[1] < b[1]), "it is pushed from rest: {series:?}");
    let mut alone = engine(fluid("porous", &[]));
    alone.run(10, |_| ()).unwrap();
    let first: Vec<f64> = series[..10].iter().map(|[_, value]| *value).collect();
    assert_eq!(first, alone.series().unwrap());
    watched.configure(&small());
    assert!(watched.frame_where(|frame| frame.stats.mode == "gravity").stats.series.is_empty());
}

/// Waits until the energy and momentum of a paused simulation have been measured at the step `step`.
fn measured_at(watched: &mut Watched, step: u64) -> (Stats, Diagnostics) {
    let told = |frame: &Frame| frame.stats.step == step && frame.stats.energy_drift.is_some();
    watched.frame_where(told);
    assert!(watched.is_still());
    let last = watched.session.shown().stats.clone();
    let diagnostics = last.diagnostics.clone().unwrap();
    (last, diagnostics)
}

#[test]
fn a_paused_simulation_reports_the_measurements_of_its_own_step() {
    let config = Config { running: false, ..small() };
    let mut right = engine(config.clone());
    right.diagnostics().unwrap();
    let mut watched = Watched::new(config.clone());
    // Seeks forward, then back to an earlier step, which restarts the scene.
    for (goal, steps) in [(400, 400), (100, 100)] {
        right.restart().unwrap();
        right.diagnostics().unwrap();
        right.run(steps, |_| ()).unwrap();
        watched.session.send(Command::Seek(Some(goal)));
        let (stats, sums) = measured_at(&mut watched, goal);
        let (is, drift) = right.diagnostics().unwrap();
        assert!((sums.kinetic / is.kinetic - 1.0).abs() < 1e-5, "step {goal}: {sums:?} instead of {is:?}");
        assert!((stats.energy_drift.unwrap() - drift.unwrap()).abs() < 1e-5, "step {goal}: {drift:?}");
    }
    watched.session.send(Command::Step);
    let (_, stepped) = measured_at(&mut watched, 101);
    right.run(1, |_| ()).unwrap();
    assert!((stepped.kinetic / right.diagnostics().unwrap().0.kinetic - 1.0).abs() < 1e-5);

    // Changing the colour does not affect the measurement.
    let mut other = config;
    params::set(other.mode.as_mut(), "colour", "origin").unwrap();
    watched.configure(&other);
    let before = watched.session.shown().points.colours;
    let frame = watched.frame_where(|frame| frame.points.colours != before);
    assert_eq!((frame.stats.diagnostics, frame.stats.energy_drift.is_some()), (Some(stepped), true));
}

#[test]
fn the_colour_range_resets_when_the_meaning_of_colours_changes() {
    let config = Config { steps_per_frame: Some(1), ..small() };
    let mut watched = Watched::new(config.clone());
    let first = watched.frame().points.colours;
    assert_eq!(watched.frame_where(|frame| frame.stats.step > 3).points.colours, first);
    let mut other = config.clone();
    params::set(other.mode.as_mut(), "dt", "0.002").unwrap();
    watched.configure(&other);
    let changes = watched.session.shown().stats.changes;
    let faster = watched.frame_where(|frame| frame.stats.changes > changes);
    assert_eq!(faster.points.colours, first, "they mean the same");
    params::set(other.mode.as_mut(), "colour", "origin").unwrap();
    watched.configure(&other);
    let second = watched.frame_where(|frame| frame.points.colours != first).points.colours;
    watched.session.send(Command::Restart);
    let fresh = watched.frame_where(|frame| frame.stats.generation == 2);
    assert_ne!(fresh.points.colours, second, "another seeding");
}

/// Returns the time until `count` further measurements are reported.
fn measurements(watched: &mut Watched, count: usize) -> Duration {
    let mut last = watched.frame().stats.diagnostics;
    let mut times = Vec::new();
    while times.len() <= count {
        let told = watched.frame_where(|frame| frame.stats.diagnostics != last).stats.diagnostics;
        times.push(Instant::now());
        last = told;
    }
    times[count] - times[0]
}

#[test]
fn watched_values_are_measured_more_often() {
    let mut watched = Watched::new(small());
    watched.session.send(Command::Watch(WatchList::default()));
    let seldom = measurements(&mut watched, 2);
    assert!(seldom >= Duration::from_secs(1), "{seldom:?}: once a second is enough for numbers");
    watched.session.send(Command::Watch(WatchList { energy: true, ..WatchList::default() }));
    // Measurements may use only a part of the time, so on a busy machine many are delayed.
    let often: Vec<_> =
        (0..20).map(|_| measurements(&mut watched, 2)).take_while(|it| *it >= seldom).collect();
    assert!(often.len() < 20, "{seldom:?} and {often:?}");
}

#[test]
fn a_requested_picture_is_captured_even_if_the_program_quits() {
    let mut watched = Watched::new(Config { free_run: true, ..small() });
    watched.frame();
    watched.send(Command::Capture(CaptureRequest::default()));
    let heard = watched.close(String::new());
    assert!(heard.iter().any(|notice| matches!(notice, Notice::Captured(_))), "{heard:?}");
}

/// Reading the newest frame does not count as taking it, because a hidden window reads it for the autosave.
#[test]
fn the_newest_frame_can_be_read_without_being_taken() {
    let mut watched = Watched::new(Config { free_run: true, ..small() });
    let shown = watched.frame().stats.step;
    wait_for(|| watched.newest().stats.step > shown);
    let newest = watched.newest().stats.step;
    let (frame, is_new) = watched.session.frame();
    assert!(is_new && frame.stats.step == newest, "no other frame is made before this one is taken");
}

#[test]
fn distributions_are_computed_only_while_watched_even_if_paused() {
    let mut watched = Watched::new(scene("plummer", Some(2000), &[]));
    watched.frame_where(|frame| frame.stats.step > 20);
    assert!(watched.frame().stats.distributions.is_none());
    watched.session.send(Command::Watch(WatchList { distributions: true, ..WatchList::default() }));
    let first = watched.frame_where(|frame| frame.stats.distributions.is_some()).stats.distributions.clone();
    let first = first.unwrap();
    let speeds = first.speeds.as_ref().unwrap();
    assert_eq!(
        speeds.bins.iter().map(|bin| bin.bodies).sum::<usize>() as f64,
        2000.0 * (1.0 - speeds.beyond)
    );
    assert!(first.density.is_some() && first.step > 0);
    let later = |frame: &Frame| frame.stats.distributions.as_ref().is_some_and(|it| it.step > first.step);
    watched.frame_where(later);

    watched.configure(&Config { running: false, ..scene("plummer", Some(2000), &[]) });
    // The distributions follow the last step, although no frame is due in a pause.
    watched.frame_where(|frame| {
        let stats = &frame.stats;
        !stats.running && stats.distributions.as_ref().is_some_and(|it| it.step == stats.step)
    });
    watched.session.send(Command::Watch(WatchList::default()));
    watched.session.send(Command::Step);
    watched.frame_where(|frame| frame.stats.distributions.is_none());
}

#[test]
fn the_orbit_of_a_selected_body_is_reported() {
    // The scene has two bodies on an orbit with the semi-major axis 1, the eccentricity 0.7 and the period 2π.
    let two = scene("two-body", None, &[("eps", "0.00001"), ("dt", "0.002")]);
    let mut watched = Watched::new(two);
    watched.session.send(Command::Select(Some(1)));
    let of = |frame: &Frame| frame.stats.selected.and_then(|selected| selected.orbit);
    let orbit = of(&watched.frame_where(|frame| of(frame).is_some() && frame.stats.step > 100)).unwrap();
    assert_eq!(orbit.centre, OrbitCentre::Body(0));
    assert!(
        (orbit.semi_major_axis - 1.0).abs() < 1e-3 && (orbit.eccentricity - 0.7).abs() < 1e-3,
        "{orbit:?}"
    );
    assert!((orbit.period.unwrap() / std::f64::consts::TAU - 1.0).abs() < 2e-3, "{orbit:?}");

    let mut watched = Watched::new(scene("plummer", Some(500), &[]));
    watched.session.send(Command::Select(Some(3)));
    let orbit = of(&watched.frame_where(|frame| of(frame).is_some())).unwrap();
    assert_eq!(orbit.centre, OrbitCentre::Others);

    let mut belt = Config::new(MODES[1]);
    belt.bodies = Some(500);
    let mut watched = Watched::new(belt);
    watched.session.send(Command::Select(Some(3)));
    let orbit = of(&watched.frame_where(|frame| of(frame).is_some())).unwrap();
    assert!(orbit.centre == OrbitCentre::Planet && orbit.eccentricity < 0.5, "{orbit:?}");
}

/// Continues the run from the moment that the frame `moment` shows, and returns the new frame of that moment.
fn continue_from(watched: &mut Watched, moment: &Frame) -> Frame {
    let stats = &moment.stats;
    let (point, config) = (stats.restore_point.clone().unwrap(), (*stats.config).clone());
    let back = Continuation { point, config, step: stats.step, view: "a view".to_owned() };
    let before = watched.newest().stats.generation;
    watched.session.send(Command::ContinueFrom(Box::new(back)));
    let notice = watched.notice();
    assert!(matches!(&notice, Notice::Resumed { view, .. } if view == "a view"), "{notice:?}");
    watched.frame_where(|frame| {
        frame.stats.generation > before && frame.stats.goal.is_none() && frame.stats.step == stats.step
    })
}

/// Continuing from an earlier moment of the run restores that moment bit for bit, with its parameters.
#[test]
fn a_run_continues_from_any_moment_exactly() {
    let cases = [
        (0, "tree", "dt", "0.0031"),
        (0, "blocked", "g", "1.37"),
        (1, "grid", "dt", "0.002"),
        (2, "soa", "accel", "0.0027"),
    ];
    for (mode, variant, key, value) in cases {
        let info = MODES[mode];
        let mut config = Config {
            bodies: Some(700),
            steps_per_frame: Some(3),
            variant: info.variant(variant).or(info.variants.last()),
            ..Config::new(info)
        };
        let mut watched = Watched::new(config.clone());
        assert!(watched.frame().stats.restore_point.is_none(), "nobody asked for points");
        watched.session.send(Command::Watch(WatchList { restore_points: true, ..WatchList::default() }));
        let first = watched.frame_where(|frame| frame.stats.step > 20 && frame.stats.restore_point.is_some());
        assert_eq!(first.stats.restore_point.as_ref().unwrap().step(), 0, "only steps since the start");
        params::set(config.mode.as_mut(), key, value).unwrap();
        assert!(*first.stats.config != config);
        watched.configure(&config);
        let begun =
            watched.frame_where(|frame| *frame.stats.config == config && frame.stats.restore_point.is_some());
        let second = watched.frame_where(|frame| {
            frame.stats.step > begun.stats.step + 20 && frame.stats.restore_point.is_some()
        });
        let point = second.stats.restore_point.as_ref().unwrap();
        assert!(
            (first.stats.step..second.stats.step).contains(&point.step()),
            "{variant} {key}: a point at step {} for steps {} and {}",
            point.step(),
            first.stats.step,
            second.stats.step
        );
        for moment in [&first, &second, &first] {
            let again = continue_from(&mut watched, moment);
            let what = format!("{} {variant} at step {}", info.name, moment.stats.step);
            // Tracers move once in a burst. They are not compared, because bursts have other lengths when the run
            // continues.
            if info.work.tools.is_ok() {
                assert!(again.points.positions == moment.points.positions, "{what}");
                assert!(again.points.values == moment.points.values, "{what}");
            }
            assert!(again.points.image == moment.points.image, "{what}");
            assert_eq!(again.stats.config.mode.values(), moment.stats.config.mode.values(), "{what}");
            assert!(!again.stats.running && again.stats.undos == 0, "{what}");
        }
        assert!(
            first.points.positions != second.points.positions || first.points.image != second.points.image
        );
    }
}

/// Steps from a restore point are exact only with the kernels that computed the moment, so other kernels are refused.
#[test]
fn a_run_does_not_continue_from_a_moment_of_other_kernels() {
    let mut watched = Watched::new(Config { steps_per_frame: Some(3), variant: Some(&NAIVE), ..small() });
    watched.session.send(Command::Watch(WatchList { restore_points: true, ..WatchList::default() }));
    let moment = watched.frame_where(|frame| frame.stats.step > 20 && frame.stats.restore_point.is_some());
    let (_, own) = kernel_lab::own().find(|(file, _)| *file == "gravity/naive.cl").unwrap();
    watched.session.send(Command::EditKernels([("gravity/naive.cl".to_owned(), format!("{own}\n"))].into()));
    assert!(matches!(watched.notice(), Notice::KernelsReplaced(Ok(_))));
    let stats = &moment.stats;
    let back = |stats: &Stats| Continuation {
        point: stats.restore_point.clone().unwrap(),
        config: (*stats.config).clone(),
        step: stats.step,
        view: String::new(),
    };
    watched.session.send(Command::ContinueFrom(Box::new(back(stats))));
    let notice = watched.notice();
    assert!(
        matches!(&notice, Notice::ResumeRefused(error) if error.to_string().contains("different kernels")),
        "{notice:?}"
    );
    let later = watched
        .frame_where(|frame| frame.stats.step > stats.step + 20 && frame.stats.restore_point.is_some());
    continue_from(&mut watched, &later);
    watched.session.send(Command::EditKernels(Default::default()));
    assert!(matches!(watched.notice(), Notice::KernelsReplaced(Ok(_))));
    continue_from(&mut watched, &moment);
}

#[test]
#[ignore = "long: scripts/test --all runs it"]
fn a_run_continues_from_a_moment_that_was_computed_backwards() {
    let forwards = Config { steps_per_frame: Some(3), variant: gravity().variant("blocked"), ..small() };
    let mut watched = Watched::new(forwards.clone());
    watched.session.send(Command::Watch(WatchList { restore_points: true, ..WatchList::default() }));
    // Restore points are at least a quarter of a second apart.
    watched.frame_where(|frame| frame.stats.step > 20_000);
    watched.configure(&Config { reverse: true, ..forwards.clone() });
    let back = watched.frame_where(|frame| {
        let point = frame.stats.restore_point.as_ref();
        point.is_some_and(|point| frame.stats.step + 20 < point.step())
    });
    assert!(back.stats.config.reverse);
    watched.configure(&forwards);
    let again = continue_from(&mut watched, &back);
    assert!(again.points.positions == back.points.positions);
    assert!(again.stats.config.reverse);

    watched.configure(&Config::new(MODES[1]));
    watched.frame_where(|frame| frame.stats.mode == MODES[1].name);
    let (point, config) = (back.stats.restore_point.clone().unwrap(), (*back.stats.config).clone());
    let moment = Continuation { point, config, step: 1, view: String::new() };
    watched.session.send(Command::ContinueFrom(Box::new(moment)));
    assert!(matches!(watched.notice(), Notice::ResumeRefused(_)), "another mode runs");
}
