//! Tests the controls for the direction and the speed of time, and for seeking a step.

use super::*;

#[test]
fn running_backwards_is_offered_where_possible_and_otherwise_explained() {
    let mut window = open(MODES[0]);
    click(&mut window, Role::CheckBox, "Backwards");
    assert!(window.state().config.reverse);
    press(&mut window, Key::V);
    assert!(!window.state().config.reverse);

    for (set, word) in
        [(("integrator", "euler"), "Only the integrators"), (("decay", "0.95"), "A decay below 1")]
    {
        let mut window = open(MODES[0]);
        gravitile::base::params::set(window.state_mut().config.mode.as_mut(), set.0, set.1).unwrap();
        window.run();
        assert!(window.get_by_role_and_label(Role::CheckBox, "Backwards").accesskit_node().is_disabled());
        press(&mut window, Key::V);
        assert!(!window.state().config.reverse);
        assert!(window.query_by_label_contains(word).is_some(), "it is said why");
    }
    for info in &MODES[1..] {
        let window = open(info);
        assert!(window.get_by_role_and_label(Role::CheckBox, "Backwards").accesskit_node().is_disabled());
    }
}

#[test]
fn a_simulation_already_running_backwards_can_be_turned_forwards() {
    let mut window = open(MODES[0]);
    window.state_mut().config.reverse = true;
    gravitile::base::params::set(window.state_mut().config.mode.as_mut(), "integrator", "euler").unwrap();
    window.run();
    click(&mut window, Role::CheckBox, "Backwards");
    assert!(!window.state().config.reverse);
}

#[test]
fn the_speed_changes_by_factors_of_two_within_limits() {
    let mut window = open(MODES[0]);
    press(&mut window, Key::CloseBracket);
    assert_eq!(window.state().config.steps_per_frame, Some(8), "4 were in force");
    click(&mut window, Role::Button, "2×");
    assert_eq!(window.state().config.steps_per_frame, Some(16));
    click(&mut window, Role::Button, "½×");
    for _ in 0..6 {
        press(&mut window, Key::OpenBracket);
    }
    assert_eq!(window.state().config.steps_per_frame, Some(1));
}

#[test]
fn a_typed_step_starts_a_seek_that_can_be_stopped() {
    let mut window = open(MODES[0]);
    type_number(&mut window, "step", "2500");
    assert_eq!(window.state().actions, [Action::GoTo(Some(2500))]);
    assert!(!window.state().config.running, "it pauses there");
    window.state_mut().stats.goal = Some(2500);
    window.run();
    click(&mut window, Role::Button, "Stop here");
    assert_eq!(window.state().actions[1..], [Action::GoTo(None)]);
}

#[test]
fn the_clock_controls_are_not_clipped_or_covered() {
    for width in [1280.0, 640.0] {
        let mut window = open(MODES[0]);
        window.set_size(vec2(width, 2000.0));
        (window.state_mut().stats.step, window.state_mut().stats.time) = (9_999_999, 0.123_456);
        window.run();
        let panel = window.state().picture.left();
        let time = window.get_by_label("time 0.1235").rect();
        let back = window.get_by_role_and_label(Role::CheckBox, "Backwards").rect();
        assert!(!time.intersects(back) && time.right() < panel && back.right() < panel, "{time} {back}");
        window.state_mut().stats.goal = Some(999_999_999_999);
        window.run();
        let stay = window.get_by_role_and_label(Role::Button, "Stop here").rect();
        assert!(stay.right() < panel - 8.0 && stay.width() > 60.0, "{stay}, the panel ends at {panel}");
    }
}

#[test]
fn a_newly_chosen_scene_runs_forwards() {
    let mut window = open(MODES[0]);
    window.state_mut().config.reverse = true;
    habits::find(&mut window, "scene figure");
    assert!(!window.state().config.reverse);
    assert_eq!(window.state().config.start.name, "figure-eight");
}
