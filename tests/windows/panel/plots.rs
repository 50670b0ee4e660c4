//! Tests plots of quantities over time, in their window and in files.

use super::*;
use gravitile::modes::distributions::Distributions;

/// Simulates the results of the given steps, each shown for several frames.
fn run_on(window: &mut Window, steps: std::ops::Range<u64>) {
    for step in steps {
        let stats = &mut window.state_mut().stats;
        (stats.mode, stats.generation, stats.step, stats.time) = ("gravity", 1, step, step as f64 * 0.01);
        stats.energy_drift = Some(1e-6 * step as f64);
        stats.diagnostics.as_mut().unwrap().kinetic = step as f64;
        // Plots keep ten points per second, and a frame of the test takes a fiftieth of a second.
        window.run_steps(6);
    }
    // Waits for the plots, which are drawn twice a second.
    window.run_steps(30);
}

#[test]
fn plots_open_by_key_and_by_button_and_show_the_available_values() {
    let mut window = open(MODES[0]);
    assert!(!window.state().plots);
    press(&mut window, Key::P);
    assert!(window.state().plots && window.query_by_label("No data yet. Start the simulation.").is_some());
    run_on(&mut window, 1..6);
    for label in ["Steps per second", "Frame time, ms"] {
        assert!(window.query_by_label(label).is_some(), "{label}");
    }
    // The overlay contains the same names.
    assert_eq!(window.get_all_by_label("Energy drift").count(), 2);
    assert!(window.query_by_label("Reynolds number").is_none(), "there is none in gravity");
    press(&mut window, Key::P);
    assert!(!window.state().plots && window.query_by_label("Steps per second").is_none());
    click(&mut window, Role::Button, "Plots");
    assert!(window.state().plots);
}

/// The lines of plots are redrawn only twice a second, because drawing them on a CPU takes as long as many steps.
#[test]
fn plot_lines_are_redrawn_twice_a_second() {
    let mut window = open(MODES[0]);
    press(&mut window, Key::P);
    run_on(&mut window, 1..8);
    let mut drawn = Vec::new();
    for step in 8..58 {
        let stats = &mut window.state_mut().stats;
        (stats.step, stats.time, stats.energy_drift) = (step, step as f64 * 0.01, Some(1e-6 * step as f64));
        stats.diagnostics.as_mut().unwrap().kinetic = step as f64;
        window.run_steps(2);
        drawn.push(texts(&window));
    }
    // The test runs for two seconds.
    drawn.dedup();
    assert!((3..=6).contains(&drawn.len()), "{} times", drawn.len());
}

#[test]
fn plotted_values_can_be_saved_as_csv() {
    let mut window = open(MODES[0]);
    run_on(&mut window, 1..4);
    press(&mut window, Key::P);
    click(&mut window, Role::Button, "Save CSV");
    assert_eq!(window.state().actions, [Action::SavePlots]);
    window.state_mut().ui().plots.saved = Some("a/place.csv".to_owned());
    window.run();
    assert!(window.query_by_label("Saved as a/place.csv").is_some());

    let mut file = Vec::new();
    window.state_mut().ui().plots.history.write_csv(&mut file).unwrap();
    let text = String::from_utf8(file).unwrap();
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0][..4], ["seconds", "step", "time", "energy_drift"]);
    let steps: Vec<&str> = rows[1..].iter().map(|row| row[1]).collect();
    assert_eq!(steps, ["1", "2", "3"], "kept from the start, though they were hidden");
    assert_eq!(rows[2][3], "0.000002");
}

#[test]
fn a_plot_without_measurements_keeps_its_place() {
    let mut window = open(MODES[0]);
    press(&mut window, Key::P);
    let mut told = |drift: Option<f64>, step: u64| {
        let stats = &mut window.state_mut().stats;
        (stats.mode, stats.generation, stats.step, stats.time) = ("gravity", 1, step, step as f64 * 0.01);
        stats.energy_drift = drift;
        stats.diagnostics.as_mut().unwrap().kinetic = step as f64;
        window.run_steps(30);
        let words = ["Not measured yet", "Only one measurement so far", "at most ten times per second"];
        words.map(|words| window.query_by_label_contains(words).is_some())
    };
    told(None, 1);
    assert_eq!(told(None, 2), [true, false, true]);
    assert_eq!(told(Some(1e-6), 3), [false, true, true]);
    assert_eq!(told(Some(2e-6), 4), [false, false, true]);
}

#[test]
fn an_axis_with_relative_values_is_labelled() {
    let mut window = open(MODES[0]);
    press(&mut window, Key::P);
    let spin = |window: &mut Window, spin: f64| {
        let sums = window.state_mut().stats.diagnostics.as_mut().unwrap();
        sums.angular_momentum = [0.0, 0.0, spin];
    };
    spin(&mut window, 0.25);
    run_on(&mut window, 1..2);
    spin(&mut window, 0.25 + 1e-9);
    run_on(&mut window, 2..4);
    assert_eq!(window.query_all_by_label("relative to the axis centre").count(), 1);
}

/// Returns the texts in the window of plots, including the numbers along the axes.
fn texts(window: &Window) -> Vec<String> {
    fn collect(shape: &egui::Shape, rect: egui::Rect, texts: &mut Vec<String>) {
        match shape {
            egui::Shape::Text(text) if rect.contains(text.pos) => texts.push(text.galley.text().to_owned()),
            egui::Shape::Vec(shapes) => shapes.iter().for_each(|shape| collect(shape, rect, texts)),
            _ => {}
        }
    }
    let rect = window.ctx.memory(|memory| memory.area_rect(egui::Id::new("Plots"))).unwrap();
    let mut texts = Vec::new();
    window.output().shapes.iter().for_each(|shape| collect(&shape.shape, rect, &mut texts));
    texts
}

#[test]
fn the_wheel_zooms_a_plot_and_the_zoom_can_be_reset() {
    let mut window = open(MODES[0]);
    press(&mut window, Key::P);
    run_on(&mut window, 1..8);
    window.run_steps(10);
    let whole = texts(&window);
    let name = window
        .get_all_by_label("Energy drift")
        .map(|label| label.rect())
        .min_by(|a, b| a.left().total_cmp(&b.left()));
    let plot = name.unwrap().left_bottom() + vec2(150.0, 40.0);
    for resets in ["Reset zoom", "a double click"] {
        window.hover_at(plot);
        window.run_steps(2);
        let unit = egui::MouseWheelUnit::Point;
        window.event(egui::Event::MouseWheel { unit, delta: vec2(0.0, 200.0), modifiers: Modifiers::NONE });
        window.run_steps(30);
        assert_ne!(texts(&window), whole, "it is zoomed");
        match resets {
            "Reset zoom" => click(&mut window, Role::Button, resets),
            _ => {
                for _ in 0..2 {
                    window.drag_at(plot);
                    window.drop_at(plot);
                }
            }
        }
        window.run_steps(30);
        assert_eq!(texts(&window), whole, "{resets}");
    }
}

/// Returns bodies of a cluster at rest in a spiral of directions, whose density falls outwards, with random-like
/// speeds.
fn cluster() -> Bodies {
    let mut bodies = Bodies::default();
    for nth in 0..4000u32 {
        let (share, turn) = ((nth as f32 + 0.5) / 4000.0, nth as f32 * 2.4);
        let (z, r) = (2.0 * share - 1.0, ((nth * 7919 % 4000) as f32 + 0.5) / 4000.0);
        let rho = (1.0 - z * z).sqrt();
        let speed = 0.5 + r;
        let direction = [rho * turn.cos(), rho * turn.sin(), z];
        bodies.push(direction.map(|c| c * r), direction.map(|c| c * speed), 1.0 / 4000.0);
    }
    bodies
}

#[test]
fn distributions_have_their_own_page_and_are_computed_only_while_it_is_shown() {
    let mut window = open(MODES[0]);
    press(&mut window, Key::P);
    let asks = |window: &mut Window| window.state_mut().ui().plots.shows_distributions();
    assert!(!asks(&mut window));
    click(&mut window, Role::RadioButton, "Page: Distributions");
    assert!(asks(&mut window) && window.query_by_label("Computing…").is_some());
    click(&mut window, Role::Button, "Save CSV");
    assert!(window.state().actions.is_empty(), "there is nothing to save yet");

    let plummer = MODES[0].scene("plummer").unwrap();
    let wanted = MODES[0].distributions;
    let distributions = Distributions::of(&cluster(), wanted, plummer.density(), (77, 0.5));
    window.state_mut().stats.distributions = Some(Arc::new(distributions));
    window.run_steps(3);
    let title = "Density by distance from the densest point";
    for label in [title, "Plummer: a = 0.589, from the scene", "Speeds relative to the centre of mass"] {
        assert!(window.query_by_label(label).is_some(), "{label}");
    }
    for part in ["Maxwell in 3 dimensions, rms 1.04", "Step 77, time 0.5000"] {
        assert!(window.query_by_label_contains(part).is_some(), "{part}");
    }
    click(&mut window, Role::RadioButton, "Density law: NFW");
    assert!(window.query_by_label_contains("NFW: scale radius").is_some());
    assert!(window.query_by_label_contains("from the scene").is_none(), "the scene has another law");

    click(&mut window, Role::Button, "Save CSV");
    assert_eq!(window.state().actions, [Action::SavePlots]);
    let stats = window.state().stats.clone();
    let plots = &window.state_mut().ui().plots;
    let mut file = Vec::new();
    plots.write_csv(&stats, &mut file).unwrap();
    assert_eq!(plots.file_name(), "distributions");
    let text = String::from_utf8(file).unwrap();
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0], ["distribution", "from", "to", "bodies", "value", "law", "law_value"]);
    assert!(rows.iter().all(|row| row.len() == rows[0].len()));
    let counted = |name: &str| -> usize {
        rows.iter().filter(|row| row[0] == name).map(|row| row[3].parse::<usize>().unwrap()).sum()
    };
    assert!(counted("density") > 3950 && counted("speed") == 4000, "{}", counted("density"));
    assert!(rows.iter().any(|row| row[5] == "NFW") && rows.iter().any(|row| row[5] == "Maxwell"));

    press(&mut window, Key::P);
    assert!(!asks(&mut window), "the window is closed");
}

#[test]
fn the_distributions_page_says_why_a_distribution_is_missing() {
    let mut window = open(MODES[2]);
    press(&mut window, Key::P);
    click(&mut window, Role::RadioButton, "Page: Distributions");
    assert!(window.query_by_label_contains("fluid has no bodies").is_some());
    let mut window = open(MODES[0]);
    press(&mut window, Key::P);
    click(&mut window, Role::RadioButton, "Page: Distributions");
    let none = Distributions::of(&Bodies::default(), MODES[0].distributions, Default::default(), (0, 0.0));
    window.state_mut().stats.distributions = Some(Arc::new(none));
    window.run_steps(3);
    for label in
        ["There are too few bodies for a density profile.", "The bodies do not move relative to each other."]
    {
        assert!(window.query_by_label(label).is_some(), "{label}");
    }
}

#[test]
fn kinetic_and_potential_energy_share_a_plot() {
    let mut window = open(MODES[0]);
    press(&mut window, Key::P);
    window.state_mut().stats.diagnostics.as_mut().unwrap().potential = -20.0;
    run_on(&mut window, 1..6);
    let at = |label: &str| window.get_by_label(label).rect();
    let [kinetic, potential] = ["Kinetic energy", "Potential energy"].map(at);
    assert_eq!(kinetic.top(), potential.top());
    assert!(potential.left() - kinetic.right() < 60.0, "in one title");
    assert!(window.query_by_label("-20.0").is_some(), "the latest value of the second curve");
}
