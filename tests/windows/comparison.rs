//! Tests the comparison of two simulations in the real window.

use crate::support::window::{Display, Rect, Report, Viewer, has_light, spot, until};

/// Command-line options with so few bodies that frames come fast.
const SMALL: &str = "--scene plummer --bodies 512 --variant tiled --clean --size 1280x800";
/// A part of the right half of the picture: left, top, width and height in pixels.
const RIGHT: Rect = [830.0, 200.0, 400.0, 380.0];

/// Begins a comparison, and waits until both simulations run.
fn compare(viewer: &Viewer) {
    viewer.key("d");
    until("the copy has started", || has_light(&viewer.pixels(RIGHT)).then_some(()));
    for _ in 0..5 {
        viewer.alters("both run", RIGHT, || ());
    }
}

/// Pauses the comparison, and waits until both simulations show their last step.
fn pause(viewer: &Viewer) {
    viewer.key("space");
    viewer.still([340.0, 0.0, 930.0, 740.0]);
}

fn moment(stats: &serde_json::Value) -> [u64; 2] {
    ["generation", "step"].map(|key| stats[key].as_u64().unwrap_or_else(|| panic!("no {key} in {stats}")))
}

fn told(report: &Report) -> Vec<&str> {
    report.events.iter().map(|event| event.what.as_str()).collect()
}

#[test]
fn equal_simulations_stay_identical_and_a_changed_one_can_be_kept() {
    let display = Display::open();
    let viewer = display.view(&format!("{SMALL} --look bloom=on stars=1"));
    viewer.runs();
    compare(&viewer);
    pause(&viewer);
    let both = viewer.quit();
    assert_eq!(moment(&both.stats), moment(&both.compared), "the same step");
    assert_eq!((both.divergence, both.stats["variant"].as_str()), (Some([0.0; 2]), Some("tiled")));
    assert!(both.stats["step"].as_u64().unwrap() > 10);

    let viewer = display.view(SMALL);
    compare(&viewer);
    viewer.key("x");
    viewer.act("key ctrl+p frame type naive");
    viewer.act("frame key Return frame");
    let slider = both.control("dt");
    viewer.drag(&spot(slider, 0.8, 0.5), &spot(slider, 0.25, 0.5));
    for _ in 0..5 {
        viewer.alters("both go on", RIGHT, || ());
    }
    viewer.click(both.control("swap halves"));
    pause(&viewer);
    viewer.key("s");
    viewer.still(RIGHT);
    // The active simulation was at the right before the swap.
    viewer.click(both.control("keep left"));
    viewer.key("space");
    viewer.runs();
    let kept = viewer.quit();
    let expected = [
        "compare",
        "editother",
        "variant=naive",
        "swaphalves",
        "running=false",
        "step",
        "keep(left)",
        "running=true",
    ];
    let found: Vec<_> =
        told(&kept).into_iter().filter(|what| !what.starts_with("dt=") && *what != "quit").collect();
    assert_eq!(found, expected);
    assert!(kept.compared.is_null() && kept.divergence.is_none());
    assert_eq!(kept.stats["variant"], "naive");
    let dt = kept.config["params"]["dt"].as_f64().unwrap();
    let [time, step] = ["time", "step"].map(|key| kept.stats[key].as_f64().unwrap());
    assert!(
        dt < 0.009 && time < 0.0099 * step,
        "it has the clock of the one with small steps: {time} at {step}"
    );
    assert!(step > kept.step_at("running=true") as f64, "it goes on");
    assert_eq!(kept.stats["generation"], 1);
}

#[test]
#[ignore = "long: scripts/test --all runs it"]
fn ending_a_comparison_restores_the_original_and_scenes_apply_to_both() {
    let display = Display::open();
    let viewer = display.view(SMALL);
    compare(&viewer);
    viewer.key("x");
    viewer.act("key ctrl+p frame type mutual");
    viewer.act("frame key Return frame");
    viewer.key("r");
    for _ in 0..5 {
        viewer.alters("both run again", RIGHT, || ());
    }
    viewer.key("F9");
    pause(&viewer);
    viewer.key("s");
    viewer.still(RIGHT);
    let both = viewer.quit();
    assert_eq!(moment(&both.stats), moment(&both.compared));
    assert_eq!(both.stats["generation"], 2, "{:?}", both.events);
    assert_eq!([&both.stats["variant"], &both.compared["variant"]], ["mutual", "tiled"]);
    let [rms, largest] = both.divergence.unwrap();
    assert!(rms > 0.0 && rms < largest && largest < 1e-3, "{rms} {largest}");
    assert!(!both.events.iter().any(|event| event.what.contains("film")), "a film is refused");

    let viewer = display.view(SMALL);
    compare(&viewer);
    viewer.key("x");
    viewer.key("d");
    viewer.runs();
    let alone = viewer.quit();
    assert!(alone.compared.is_null());
    assert_eq!(
        (told(&alone), &alone.stats["generation"]),
        (vec!["compare", "editother", "compare", "quit"], &1.into())
    );
}
