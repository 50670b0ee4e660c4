//! Tests the Lens window: the times of the kernels of a step, the source code with its editor, and the roofline.

use gravitile::compute::{KernelEdits, ProgramSource, Roofline};
use gravitile::engine::{KernelTime, Profile};
use gravitile::export::roofline_chart::{RooflineChart, RooflinePoint};
use gravitile::modes::Counts;
use gravitile::session::WatchList;
use gravitile::ui::ChartFormat;

use super::*;

fn kernel(kernel: &'static str, calls: f64, seconds: f64) -> KernelTime {
    KernelTime { kernel, calls, seconds, work_group: 256, local_bytes: 4096, items: 65_536.0 }
}

#[test]
fn the_lens_shows_the_time_of_each_kernel() {
    let mut window = open(MODES[0]);
    let asks = |window: &mut Window| window.state_mut().ui().lens.watched().kernels;
    assert!(!asks(&mut window), "nothing is measured while the window is closed");
    press(&mut window, Key::K);
    assert!(asks(&mut window));
    window.state_mut().stats.running = false;
    window.run_steps(3);
    let hint = "Run the simulation to measure how long each kernel takes.";
    assert!(window.query_by_label(hint).is_some());

    let kernels = vec![kernel("sort_things", 3.0, 150e-6), kernel("walk_far", 1.0, 1.05e-3)];
    let profile = Profile {
        device: "A device".to_owned(),
        steps: 4.0,
        step_seconds: 1.5e-3,
        overhead_seconds: 0.0,
        kernels,
    };
    window.state_mut().stats.profiles = [profile].into();
    window.run_steps(3);
    let shown =
        ["1.50 ms per step", "on A device", "sort_things", "3.0", "150.0", "10 %", "walk_far", "70 %"];
    for label in shown.into_iter().chain(["no kernel", "300.0", "20 %"]) {
        assert!(window.query_by_label(label).is_some(), "{label}");
    }
    assert_eq!(window.get_all_by_label("4096 B").count(), 2);
    assert!(window.query_by_label(hint).is_none());
    press(&mut window, Key::K);
    assert!(!asks(&mut window) && window.query_by_label("walk_far").is_none());
    click(&mut window, Role::Button, "Lens");
    assert!(asks(&mut window));
}

/// Peak rates of an imaginary device.
const PEAKS: Roofline = Roofline {
    multiply_adds_per_second: Some(50e9),
    roots_per_second: Some(4e9),
    fetched_bytes_per_second: Some(200e9),
    copied_bytes_per_second: Some(20e9),
};

/// Returns the measured speed of a gravity variant that computes 20 operations per pair.
fn rung(variant: usize, pairs_per_second: f64, bytes: Option<f64>) -> Rung {
    Rung {
        variant: MODES[0].variants[variant].name,
        pairs_per_second,
        relative_error: None,
        counts: bytes.map(|bytes| Counts { operations: 20.0, bytes }),
    }
}

#[test]
fn the_roofline_has_a_marker_for_each_variant_used() {
    let mut window = open(MODES[0]);
    press(&mut window, Key::K);
    choose(&mut window, "lens", "Roofline");
    assert_eq!(window.state_mut().ui().lens.watched(), WatchList { peaks: true, ..WatchList::default() });
    assert!(window.query_by_label("Run the simulation to measure its speed.").is_some());

    let stats = &mut window.state_mut().stats;
    stats.mode = "gravity";
    stats.ladder = vec![rung(0, 1e9, Some(16.0)), rung(2, 3e9, Some(0.25)), rung(1, 2e9, None)];
    window.run_steps(3);
    assert!(window.query_by_label_contains("Each line appears when its measurement is done").is_some());
    window.state_mut().stats.peaks = PEAKS;
    window.run_steps(3);
    assert!(window.query_by_label_contains("Point at a marker").is_some());
    let chart = window.state_mut().ui().lens.roofline.chart.clone().unwrap();
    let points: Vec<_> = chart
        .points
        .iter()
        .map(|point| (point.variant, point.counts.intensity(), point.operations_per_second()))
        .collect();
    let [first, _, third] = [0, 1, 2].map(|nth| &MODES[0].variants[nth]);
    assert_eq!(points, [(first, 1.25, 20e9), (third, 80.0, 60e9)]);
    assert_eq!((chart.current, chart.peaks), (Some(first), PEAKS));

    window.state_mut().actions.clear();
    for (button, format) in [("Save PNG", ChartFormat::Png), ("Save CSV", ChartFormat::Csv)] {
        click(&mut window, Role::Button, button);
        assert_eq!(std::mem::take(&mut window.state_mut().actions), [Action::SaveRoofline(format)]);
    }
    window.state_mut().ui().lens.roofline.saved = Some("here.csv".into());
    window.state_mut().stats.variant = MODES[0].variants[1].name;
    window.run_steps(3);
    assert!(window.query_by_label("Saved as here.csv").is_some());
    assert!(window.query_by_label_contains("has no marker").is_some());
    press(&mut window, Key::K);
    assert_eq!(window.state_mut().ui().lens.watched(), WatchList::default());
}

/// Compares the roofline chart of given numbers with a stored picture; `GRAVITILE_KEEP_PICTURES=1` stores a new one.
#[test]
fn the_roofline_chart_matches_the_stored_picture() {
    let draw = |speed: f64| {
        let info = MODES[0];
        let mut chart = RooflineChart::new((info, 65_536, "spiral"), &App::new(info).device, PEAKS);
        let point = |nth: usize, speed: f64, bytes| RooflinePoint {
            variant: &info.variants[nth],
            counts: Counts { operations: 20.0, bytes },
            work_per_second: speed,
        };
        chart.points = vec![point(0, 0.4e9, 16.0), point(1, 1e9, 4.0), point(2, speed, 0.25)];
        chart.current = Some(&info.variants[2]);
        let mut png = Vec::new();
        ChartFormat::Png.write_rooflines(&[chart], &mut png).unwrap();
        image::load_from_memory(&png).unwrap().into_rgb8()
    };
    let differing = |a: &image::RgbImage, b: &image::RgbImage| {
        a.pixels().zip(b.pixels()).filter(|(a, b)| (0..3).any(|k| a.0[k].abs_diff(b.0[k]) > 16)).count()
    };
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/roofline.png");
    let picture = draw(3e9);
    if std::env::var_os("GRAVITILE_KEEP_PICTURES").is_some() {
        picture.save(&path).unwrap();
    }
    let kept = image::open(&path).unwrap().into_rgb8();
    assert_eq!(picture.dimensions(), kept.dimensions());
    let differ = differing(&picture, &kept);
    assert!(differ < 50, "{differ} pixels");
    let other = differing(&draw(3.3e9), &kept);
    assert!(other > 500, "a marker at another place changes only {other} pixels");
}

/// Opens the page "Source" while the gravity variant `variant` runs in work-groups of 32.
fn open_source(variant: &'static str) -> Window {
    let mut window = open(MODES[0]);
    let app = window.state_mut();
    let variant = MODES[0].variant(variant).unwrap();
    let recipe = Recipe::guess(variant, &app.device, 1024).with_work_group(32);
    let source = app.config.mode.source(&recipe, &app.device).unwrap();
    (app.stats.variant, app.stats.source) = (variant.name, Some(Arc::new(source)));
    press(&mut window, Key::K);
    click(&mut window, Role::RadioButton, "Page: Source");
    window
}

fn shows(window: &Window, text: &str) -> bool {
    window.query_all_by_label_contains(text).next().is_some()
}

#[test]
fn the_source_is_compared_with_the_previous_variant() {
    let mut window = open(MODES[0]);
    press(&mut window, Key::K);
    click(&mut window, Role::RadioButton, "Page: Source");
    assert!(shows(&window, "Start the simulation to see the source code"));
    assert_eq!(
        window.state_mut().ui().lens.watched(),
        WatchList::default(),
        "nothing is measured for this page"
    );

    let mut window = open_source("tiled");
    let texts = ["compared with the previous variant, private", "WORK_GROUP = 32", "+"];
    let code = ["__local float4 tile[32];", "Local memory is small", "Each work-item loads one body"];
    for text in texts.into_iter().chain(code) {
        assert!(shows(&window, text), "{text}");
    }
    let (of_private, name) = ("for (uint j = 0; j < n; ++j)", "tile[WORK_GROUP]");
    assert!(!shows(&window, of_private) && !shows(&window, name));
    click(&mut window, Role::CheckBox, "Removed lines");
    click(&mut window, Role::CheckBox, "Names of macros");
    assert!(shows(&window, name), "{name}");
    assert!(shows(&window, of_private), "{of_private}");

    // A file without a change, and a branch that is not compiled.
    click(&mut window, Role::RadioButton, "File: force.cl");
    assert!(shows(&window, "float s = reciprocal_root(r2 + eps2);"));
    assert!(!shows(&window, "float s = reciprocal_root(fmax(r2, eps2));"));
}

#[test]
fn a_source_note_out_of_view_is_scrolled_into_view() {
    let mut window = open_source("mutual");
    window.set_size(vec2(1280.0, 600.0));
    window.run();
    let note = "A last kernel adds up the slots";
    assert!(!shows(&window, note), "only the rows in sight are shown");
    for _ in 0..7 {
        click_control(&mut window, "source note");
    }
    assert!(shows(&window, "Next note (7/7)"));
    assert!(shows(&window, note));
}

#[test]
fn a_kernel_is_edited_and_built_while_the_old_one_runs() {
    let mut window = open_source("tiled");
    click(&mut window, Role::CheckBox, "Edit");
    assert!(shows(&window, "The built-in kernel is running."));
    let build = |window: &mut Window| {
        window.key_press_modifiers(Modifiers::COMMAND, Key::Enter);
        window.run_steps(3);
        std::mem::take(&mut window.state_mut().actions)
    };
    assert_eq!(build(&mut window), [], "nothing has changed");

    let field = |window: &Window| {
        let field = window.get_by_label("Source code of gravity/tiled.cl");
        field.focus();
        field.type_text("// mine\n");
    };
    field(&window);
    window.run_steps(3);
    assert!(shows(&window, "The changes are not built yet."));
    let [Action::RunKernels(edits)] = &build(&mut window)[..] else { panic!("it is not built") };
    let text = &edits["gravity/tiled.cl"];
    assert!(text.contains("// mine") && text.contains("barrier(CLK_LOCAL_MEM_FENCE);"), "{text}");
    assert!(shows(&window, "Building… The old kernel keeps running."));
    assert_eq!(build(&mut window), [], "one build at a time");

    // The compiler rejects the first edited text and accepts the second.
    let log = "gravity/tiled.cl:3:5: error: what is this\n1 error generated.";
    assert!(window.state_mut().ui().lens.source.editor.finish_build(Some(log)));
    window.run_steps(3);
    assert!(shows(&window, "gravity/tiled.cl:3: what is this"));
    assert!(shows(&window, "The kernel does not compile. The old kernel keeps running."));
    field(&window);
    window.run_steps(3);
    let [Action::RunKernels(edits)] = &build(&mut window)[..] else { panic!("it is not built again") };
    let edits = Arc::new(edits.clone());
    assert!(window.state_mut().ui().lens.source.editor.finish_build(None));
    let app = window.state_mut();
    let running = app.stats.source.as_ref().unwrap();
    app.stats.source = Some(Arc::new(ProgramSource { edits, ..ProgramSource::clone(running) }));
    window.run_steps(3);
    assert!(shows(&window, "The edited kernel is running.") && !shows(&window, "what is this"));
    assert!(!window.state_mut().ui().lens.source.editor.finish_build(None), "it did not ask for this");
    assert!(shows(&window, "Built-in kernels"), "the panel leads back too");

    // The edited kernel is saved only on request, and only if a folder is chosen.
    assert!(!shows(&window, "Save to folder") && shows(&window, "Folder…"));
    window.state_mut().ui().kernels = Some("some/folder".into());
    window.run_steps(3);
    click(&mut window, Role::Button, "Save to folder");
    let saved = std::mem::take(&mut window.state_mut().actions);
    assert!(matches!(&saved[..], [Action::SaveKernel("gravity/tiled.cl", text)] if text.contains("// mine")));

    click(&mut window, Role::Button, "Back to the original");
    assert_eq!(window.state().actions, [Action::RunKernels(KernelEdits::new())]);
    assert!(shows(&window, "Removed lines"), "the listing is shown again");
}
