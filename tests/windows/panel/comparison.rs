//! Tests the captions and the card that the picture shows while two simulations are compared.

use std::collections::BTreeMap;

use gravitile::base::Divergence;
use gravitile::base::params;

use super::*;

/// Makes the window compare its simulation, in the `active` half, with one of another variant and another time step.
fn compare(window: &mut Window, active: Half) {
    let app = window.state_mut();
    let info = app.config.mode.info();
    params::set(app.config.mode.as_mut(), "dt", "0.01").unwrap();
    let mut config = app.config.clone();
    params::set(config.mode.as_mut(), "dt", "0.02").unwrap();
    app.stats = Stats {
        mode: info.name,
        generation: 1,
        step: 640,
        work_group: 64,
        device_ms_per_step: 2.0,
        relative_error: Some(1.5e-6),
        energy_drift: Some(-2.5e-4),
        knobs: BTreeMap::new(),
        ..app.stats.clone()
    };
    let other = Stats {
        config: Arc::new(config),
        variant: info.variants[3].name,
        work_group: 32,
        device_ms_per_step: 0.5,
        relative_error: Some(7.5e-8),
        energy_drift: Some(1.25e-3),
        ..app.stats.clone()
    };
    let mut log = DivergenceLog::default();
    for step in 0..20 {
        let rms = 1e-7 * 2f64.powi(step);
        log.note(step as u64, Divergence { rms, largest: 10.0 * rms });
    }
    app.compared = Some((active, other, log));
    window.run_steps(3);
}

fn has(window: &Window, label: &str) -> bool {
    window.query_by_label(label).is_some()
}

#[test]
fn each_half_shows_its_differing_settings() {
    let mut window = open_folded(MODES[0]);
    assert!(!has(&window, "Edited in panel") && !has(&window, "Divergence"));
    compare(&mut window, Half::Left);
    let [own, others] = [0, 3].map(|nth| MODES[0].variants[nth].name);
    for label in [own, others, "work-group 64 · Time step 0.01", "work-group 32 · Time step 0.02"] {
        assert!(window.query_all_by_label(label).next().is_some(), "{label}");
    }
    // The labels contain the speeds: 1000 ms / 2 ms and 1000 ms / 0.5 ms.
    for label in ["500 steps/s", "2.00 ksteps/s", "1.5e-6", "7.5e-8", "-2.50e-4", "+1.25e-3"] {
        assert!(has(&window, label), "{label}");
    }
    assert!(has(&window, "rms 5.2e-2 · largest 5.2e-1"));
    // The captions replace the statistics and the toolbar.
    assert!(!has(&window, "Frame rate") && !has(&window, "Mouse"));

    let caption = |window: &Window| window.get_by_label("Edited in panel").rect().center().x;
    let middle = window.state().picture.center().x;
    assert!(caption(&window) < middle);
    window.state_mut().compared.as_mut().unwrap().0 = Half::Right;
    window.run_steps(3);
    assert!(caption(&window) > middle, "the active simulation is at the right");

    window.state_mut().compared.as_mut().unwrap().1.bodies = 0;
    window.run_steps(3);
    assert!(has(&window, "Starting…") && !has(&window, "2.00 ksteps/s"));
    window.state_mut().compared = None;
    window.run_steps(3);
    assert!(has(&window, "Frame rate") && !has(&window, "Divergence"));
}

#[test]
fn keys_and_buttons_compare_swap_keep_and_end() {
    let mut window = open_folded(MODES[0]);
    click(&mut window, Role::Button, "Compare");
    press(&mut window, Key::D);
    assert_eq!(std::mem::take(&mut window.state_mut().actions), [Action::Compare, Action::Compare]);
    compare(&mut window, Half::Left);
    press(&mut window, Key::X);
    for label in ["Edit", "Swap", "Keep left", "Keep right", "End"] {
        click(&mut window, Role::Button, label);
    }
    let chosen = [
        Action::EditOther,
        Action::EditOther,
        Action::SwapHalves,
        Action::Keep(Half::Left),
        Action::Keep(Half::Right),
        Action::Compare,
    ];
    assert_eq!(std::mem::take(&mut window.state_mut().actions), chosen);
    choose(&mut window, "pace", "free run");
    assert!(window.state().config.free_run);
    choose(&mut window, "pace", "same step");
    assert!(!window.state().config.free_run);
}

#[test]
fn actions_on_a_single_simulation_are_refused_during_a_comparison() {
    let mut window = open_folded(MODES[0]);
    compare(&mut window, Half::Right);
    window.state_mut().actions.clear();
    for key in [Key::F9, Key::L, Key::B, Key::Delete] {
        press(&mut window, key);
        assert!(
            window.query_by_label_contains("not available while two simulations are compared").is_some(),
            "{key:?}"
        );
    }
    let app = window.state_mut();
    assert!(app.actions.is_empty() && app.edits.is_empty(), "{:?}", app.actions);
    assert_eq!(app.tools.tool, Tool::Look);
    app.compared = None;
    window.run_steps(3);
    press(&mut window, Key::L);
    assert_eq!(window.state().tools.tool, Tool::Launch);
}
