//! Tests the chart window, which shows measured speeds, and the files that it writes.

use gravitile::engine::tuning::{Study, Trial};
use gravitile::export::chart::{Axis, Chart};
use gravitile::ui::ChartFormat;

use super::*;

/// Returns a trial for every variant with work-groups of size `work_group`. Each variant is twice as fast as the
/// previous one.
fn trials(app: &App, bodies: usize, work_group: usize) -> Vec<Trial> {
    let guess = |variant| Recipe::guess(variant, &app.device, bodies).with_work_group(work_group);
    let trial = |(rung, variant)| Trial {
        accuracy: "1e-3",
        recipe: guess(variant),
        bodies,
        pairs_per_second: 1e9 * 2f64.powi(rung) * work_group as f64,
        is_rough: false,
    };
    (0..).zip(app.config.mode.info().variants).map(trial).collect()
}

fn study(window: &mut Window, button: &str) {
    click(window, Role::Button, button);
}

#[test]
fn a_study_shows_its_chart_in_a_window_that_can_be_closed() {
    for info in MODES {
        for (button, study_of, title) in [
            ("Auto-tune", Study::Tune, "settings, in the order tried"),
            ("Work-groups", Study::WorkGroups, "work-group size"),
            (info.work.label.0, Study::Bodies, "number of"),
        ] {
            let mut window = open(info);
            let told = format!("1\u{2009}024 {} · a device", info.work.things);
            assert!(window.query_by_label("Chart").is_none(), "nothing was measured yet");
            study(&mut window, button);
            assert_eq!(window.state().actions, [Action::StartStudy(study_of)]);
            assert!(window.query_by_label("Chart").is_some());
            assert!(window.query_by_label_contains(&format!("/s by {title}")).is_some(), "{title}");
            for trial in trials(window.state(), 1024, 8) {
                window.state_mut().ui().measurement.add(0.5, trial);
            }
            window.run();
            for variant in info.variants {
                let legend = window.query_all_by_role_and_label(Role::Label, variant.name).count();
                assert_eq!(legend, 1, "{} is in the legend", variant.name);
            }
            assert!(window.query_by_label_contains(&told).is_some());

            // While the measurement runs, the chart window has a stop button; later it has none.
            let stop = |window: &Window| window.query_all_by_role_and_label(Role::Button, "Stop").count();
            assert_eq!(stop(&window), 2, "in the panel and in the window");
            window.state_mut().ui().measurement.running = None;
            window.run();
            assert_eq!(stop(&window), 0);

            click(&mut window, Role::Button, "Close window");
            assert!(window.query_by_label("Chart").is_none());
            click(&mut window, Role::Button, "Show chart");
            assert!(window.query_by_label_contains(&told).is_some(), "it is kept");
            assert_eq!(
                window.state_mut().ui().measurement.chart.as_ref().unwrap().lines().len(),
                info.variants.len()
            );
        }
    }
}

#[test]
fn the_chart_does_not_cover_the_panel_or_the_overlay() {
    let mut window = open(MODES[0]);
    study(&mut window, "Bodies");
    // In a window of this height the button is out of sight. The position of the chart is reset as if it had never been
    // shown.
    window.set_size(vec2(1280.0, 720.0));
    window.ctx.memory_mut(|memory| memory.reset_areas());
    window.run();
    for trial in trials(window.state(), 4096, 8) {
        window.state_mut().ui().measurement.add(0.5, trial);
    }
    window.run();
    let rect = window.ctx.memory(|memory| memory.area_rect("Chart").unwrap());
    let overlay = window.ctx.memory(|memory| memory.area_rect("overlay").unwrap());
    assert!(window.state().picture.contains_rect(rect), "{rect:?} beside the panel");
    assert!(!overlay.intersects(rect), "{rect:?} beside {overlay:?}");
}

#[test]
fn the_chart_can_be_saved_once_results_exist() {
    let mut window = open(MODES[0]);
    study(&mut window, "Bodies");
    window.state_mut().actions.clear();
    click(&mut window, Role::Button, "Save PNG");
    assert_eq!(window.state().actions, [], "an empty chart is not saved");
    for trial in trials(window.state(), 256, 8) {
        window.state_mut().ui().measurement.add(1.0, trial);
    }
    window.state_mut().ui().measurement.running = None;
    window.run();
    for (button, kind) in [("Save PNG", ChartFormat::Png), ("Save CSV", ChartFormat::Csv)] {
        click(&mut window, Role::Button, button);
        assert_eq!(std::mem::take(&mut window.state_mut().actions), [Action::SaveChart(kind)]);
    }
    window.state_mut().ui().measurement.saved = Some("here.png".into());
    window.run();
    assert!(window.query_by_label("Saved as here.png").is_some());
}

#[test]
fn the_chart_draws_the_best_trial_per_position_and_lists_all() {
    let app = App::new(MODES[0]);
    let mut chart = Chart::new(Axis::WorkGroup, &app.config, &app.device);
    let slow = trials(&app, 256, 64)[0];
    let fast = Trial { pairs_per_second: 2.0 * slow.pairs_per_second, ..slow };
    let small = trials(&app, 256, 8)[0];
    chart.trials = vec![slow, fast, slow, small];
    let lines = chart.lines();
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0].points, [(8, small), (64, fast)]);

    let mut csv = Vec::new();
    ChartFormat::Csv.write(&[chart], &mut csv).unwrap();
    assert_eq!(
        String::from_utf8(csv).unwrap(),
        "device,driver,mode,scene,variant,bodies,work_group,knobs,unit,per_second\n\
         a device,,gravity,spiral,naive,256,64,,interactions,64000000000\n\
         a device,,gravity,spiral,naive,256,64,,interactions,128000000000\n\
         a device,,gravity,spiral,naive,256,64,,interactions,64000000000\n\
         a device,,gravity,spiral,naive,256,8,,interactions,8000000000\n"
    );
}

#[test]
#[ignore = "long: scripts/test --all runs it"]
fn a_saved_chart_has_the_colours_of_its_lines() {
    let app = App::new(MODES[0]);
    let mut chart = Chart::new(Axis::WorkGroup, &app.config, &app.device);
    let draw = |charts: &[Chart]| {
        let mut png = Vec::new();
        ChartFormat::Png.write(charts, &mut png).unwrap();
        image::load_from_memory(&png).unwrap().into_rgb8()
    };
    let colours = |picture: &image::RgbImage| {
        let bright = |pixel: &&image::Rgb<u8>| {
            let [r, g, b] = pixel.0;
            r.max(g).max(b) - r.min(g).min(b) > 60
        };
        let mut counts = std::collections::BTreeMap::<_, usize>::new();
        picture.pixels().filter(bright).for_each(|pixel| *counts.entry(pixel.0).or_default() += 1);
        counts.into_values().filter(|&count| count > 300).count()
    };
    let empty = draw(std::slice::from_ref(&chart));
    assert_eq!((empty.dimensions(), colours(&empty)), ((1600, 1000), 0));
    for work_group in [1, 8, 64] {
        chart.trials.extend(trials(&app, 256, work_group));
    }
    let two = draw(&[chart.clone(), chart.clone()]);
    assert_eq!((two.dimensions(), colours(&two)), ((1600, 2000), MODES[0].variants.len()));
    assert_eq!(two.get_pixel(0, 0), two.get_pixel(1599, 1999), "one ground");
}

#[test]
fn hovering_over_a_marker_shows_its_values() {
    let mut window = open(MODES[0]);
    study(&mut window, "Bodies");
    let trial = trials(window.state(), 1024, 8)[0];
    window.state_mut().ui().measurement.add(1.0, trial);
    window.run();
    let rect = window.ctx.memory(|memory| memory.area_rect("Chart").unwrap());
    let told = "naive × 8\n8.00 G interactions/s\n1\u{2009}024 bodies";
    assert!(window.query_by_label(told).is_none());
    let rows = (0..).map(|row| rect.top() + 20.0 * row as f32).take_while(|&y| y < rect.bottom());
    let found = rows.filter(|&y| {
        // The only point is in the middle of the axes.
        (0..6).any(|column| {
            window.hover_at(egui::pos2(rect.center().x + 10.0 * column as f32, y));
            window.run();
            window.query_by_label(told).is_some()
        })
    });
    assert!((1..=2).contains(&found.count()));
}
