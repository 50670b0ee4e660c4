//! Tests the Lens window: the times of the kernels of a step.

use gravitile::engine::{KernelTime, Profile};

use super::*;

fn kernel(kernel: &'static str, calls: f64, seconds: f64) -> KernelTime {
    KernelTime { kernel, calls, seconds, work_group: 256, local_bytes: 4096, items: 65_536.0 }
}

#[test]
fn the_lens_tells_the_time_of_each_kernel() {
    let mut window = open(MODES[0]);
    let asks = |window: &mut Window| window.state_mut().ui().lens.shows_kernel_times();
    assert!(!asks(&mut window), "nothing is measured while the window is closed");
    press(&mut window, Key::K);
    assert!(asks(&mut window));
    window.state_mut().stats.running = false;
    window.run_steps(3);
    let hint = "Run the simulation to measure how long each kernel takes.";
    assert!(window.query_by_label(hint).is_some());

    let kernels = vec![kernel("sort_things", 3.0, 150e-6), kernel("walk_far", 1.0, 1.05e-3)];
    let profile = Profile { device: "A device".to_owned(), steps: 4.0, step_seconds: 1.5e-3, kernels };
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
