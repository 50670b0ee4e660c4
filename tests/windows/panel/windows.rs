//! Tests shortcuts, the help window, error dialogs and the overlay of numbers.

use super::*;
use gravitile::base::edit::EditKind;
use gravitile::base::format;
use gravitile::modes::accuracy::SampleErrors;
use gravitile::session::ErrorColours;

#[test]
fn buttons_and_keys_trigger_the_same_actions() {
    let mut window = open(MODES[0]);
    for (label, key, action) in
        [("⏭ Step", Key::Period, Action::Step), ("⏮ Restart", Key::R, Action::Restart)]
    {
        click(&mut window, Role::Button, label);
        press(&mut window, key);
        assert_eq!(std::mem::take(&mut window.state_mut().actions), [action.clone(), action]);
    }
    assert!(!window.state().config.running, "a single step pauses");
    for key in [Key::S, Key::F] {
        press(&mut window, key);
    }
    window.key_press_modifiers(Modifiers::COMMAND, Key::Q);
    window.run();
    assert_eq!(window.state().actions, [Action::Step, Action::FrameAll, Action::Quit]);
}

#[test]
fn space_toggles_running_unless_a_field_is_being_edited() {
    let mut window = open(MODES[0]);
    assert!(window.state().config.running);
    press(&mut window, Key::Space);
    assert!(!window.state().config.running);
    click(&mut window, Role::Button, "▶ Run");
    assert!(window.state().config.running);

    click(&mut window, Role::SpinButton, "Bodies");
    for key in [Key::Space, Key::R] {
        press(&mut window, key);
    }
    assert!(window.state().config.running, "the field has the keyboard");
    assert_eq!(window.state().actions, []);
    let picture = window.state().picture.center();
    window.drag_at(picture);
    window.drop_at(picture);
    press(&mut window, Key::Space);
    assert!(!window.state().config.running, "a click beside it gives it back");
    click(&mut window, Role::SpinButton, "Bodies");
    press(&mut window, Key::Escape);
    press(&mut window, Key::Space);
    assert!(window.state().config.running, "so does Escape");
}

#[test]
fn the_help_lists_every_key() {
    for key in [Key::Questionmark, Key::F1] {
        let mut window = open(MODES[0]);
        assert!(window.query_by_label("Keys and mouse").is_none());
        press(&mut window, key);
        for control in CONTROLS {
            assert!(window.query_by_label(&control.text()).is_some(), "{}", control.text());
            assert!(window.query_by_label(control.help).is_some(), "{}", control.help);
        }
        press(&mut window, Key::Escape);
        assert!(window.query_by_label("Keys and mouse").is_none());
    }
}

#[test]
fn no_key_does_two_things() {
    let mut texts: Vec<String> =
        CONTROLS.iter().flat_map(|c| c.text().split(" or ").map(str::to_owned).collect::<Vec<_>>()).collect();
    let all = texts.len();
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), all);
}

#[test]
fn errors_queue_merge_and_stay_until_closed() {
    let mut window = open(MODES[0]);
    let ui = window.state_mut().ui();
    for _ in 0..3 {
        ui.alerts.error("No build", "It does not compile.", Some("tiled.cl:3: error: what is this".into()));
    }
    ui.alerts.error("Another", "Something else.", None);
    window.run();
    assert!(window.query_by_label("It does not compile.").is_some());
    assert!(window.query_by_label("This error occurred 3 times.").is_some());
    assert!(window.query_by_label("1 more").is_some());
    assert!(window.query_by_label("Something else.").is_none(), "one at a time");
    assert!(window.query_by_label("tiled.cl:3: error: what is this").is_some());
    // After a minute a message has faded, but an error stays.
    window.state_mut().ui().alerts.say("Something was done.");
    window.run_steps(3);
    assert!(window.query_by_label("Something was done.").is_some());
    let now = window.ctx.input(|input| input.time);
    window.input_mut().time = Some(now + 60.0);
    window.step();
    window.input_mut().time = None;
    window.run();
    assert!(window.query_by_label("Something was done.").is_none());
    assert!(window.query_by_label("It does not compile.").is_some());

    window.get_by_role_and_label(Role::Button, "Copy log").click();
    window.step();
    match &window.output().platform_output.commands[..] {
        [egui::OutputCommand::CopyText(text)] => assert!(text.starts_with("tiled.cl:3")),
        other => panic!("{other:?}"),
    }

    window.run_steps(30);
    click(&mut window, Role::Button, "Close");
    assert!(window.query_by_label("Something else.").is_some(), "then the next");
    press(&mut window, Key::Escape);
    assert!(window.query_by_label("Something else.").is_none());
}

#[test]
fn the_error_queue_keeps_the_shown_error_and_the_newest_ones() {
    let mut window = open(MODES[0]);
    for nth in 0..30 {
        window.state_mut().ui().alerts.error("No build", format!("Number {nth}."), None);
        window.step();
    }
    window.run();
    assert!(window.query_by_label("Number 0.").is_some(), "it is being read");
    assert!(window.query_by_label("19 more · 10 discarded").is_some());
    press(&mut window, Key::Escape);
    assert!(window.query_by_label("Number 11.").is_some());
    for _ in 0..19 {
        press(&mut window, Key::Escape);
    }
    assert!(window.query_by_label_contains("Number ").is_none());
    window.state_mut().ui().alerts.error("No build", "Another.", None);
    window.run();
    assert!(window.query_by_label_contains("discarded").is_none());
}

#[test]
fn failed_autosaves_share_one_dialog_until_saving_works_again() {
    let mut window = open(MODES[0]);
    let shown = |window: &Window, text: &str| window.query_by_label_contains(text).is_some();
    let fail = |window: &mut Window, reason: &str| {
        window.state_mut().ui().alerts.autosave_failed(reason.to_owned());
        window.run_steps(2);
    };
    window.state_mut().ui().alerts.error("Another", "Something else.", None);
    for reason in ["The disk is full at .tmpA", "The disk is full at .tmpB", "The disk is full at .tmpC"] {
        fail(&mut window, reason);
    }
    assert!(shown(&window, "1 more"), "one dialog beside the other");
    press(&mut window, Key::Escape);
    assert!(shown(&window, ".tmpC") && !shown(&window, ".tmpA"), "the newest reason");
    assert!(shown(&window, "This error occurred 3 times."));
    assert!(!shown(&window, "more"));
    // An error that the user has closed stays closed as long as its cause is the same.
    press(&mut window, Key::Escape);
    fail(&mut window, "The disk is full at .tmpC");
    assert!(!shown(&window, "disk is full"));
    fail(&mut window, "The folder is gone");
    assert!(shown(&window, "The folder is gone"));
    window.state_mut().ui().alerts.autosave_succeeded();
    window.run_steps(2);
    assert!(!shown(&window, "The folder is gone") && shown(&window, "Autosave works again"));
    fail(&mut window, "The folder is gone");
    assert!(shown(&window, "The folder is gone"), "it is told anew after it worked");
}

/// The help window and the command palette fit in the window at every text size.
#[test]
fn help_and_palette_fit_at_every_text_size() {
    for (size, zoom) in [(1280.0, 1.0), (1280.0, 1.5), (1280.0, 2.0), (900.0, 2.0), (640.0, 2.0)]
        .map(|(w, z)| (vec2(w, 720.0), z))
    {
        let mut window = open(MODES[0]);
        window.set_size(size / zoom);
        window.run();
        let all = egui::Rect::from_min_size(egui::Pos2::ZERO, size / zoom).expand(0.5);
        let area = |window: &Window, name: &str| {
            window.ctx.memory(|memory| memory.area_rect(egui::Id::new(name))).unwrap()
        };
        press(&mut window, Key::F1);
        window.run_steps(3);
        let help = area(&window, "Keys and mouse");
        assert!(all.contains_rect(help), "{zoom}: {help} in {all}");
        let no_less = if zoom == 1.0 { 700.0 } else { 0.6 * all.width() };
        assert!(help.width() > no_less, "{zoom}: {help} takes the room that there is");
        for control in CONTROLS {
            for text in [&control.text(), control.help] {
                let rect = window.get_by_label(text).rect();
                assert!(
                    help.x_range().contains(rect.left()) && help.x_range().contains(rect.right()),
                    "{zoom}: {text}"
                );
            }
        }
        press(&mut window, Key::F1);
        window.key_press_modifiers(Modifiers::COMMAND, Key::P);
        window.run_steps(3);
        let palette = area(&window, "search");
        assert!(all.contains_rect(palette), "{zoom}: {palette} in {all}");
        assert!(palette.width() > 250.0, "{zoom}: {palette}");
    }
}

#[test]
fn a_hidden_panel_keeps_the_overlay_and_can_be_restored() {
    let mut window = open(MODES[0]);
    let narrow = window.state().picture;
    press(&mut window, Key::H);
    assert!(window.query_by_role_and_label(Role::SpinButton, "Bodies").is_none());
    assert!(window.query_by_label_contains("interactions/s").is_some(), "the overlay stays");
    assert!(window.state().picture.width() > narrow.width() + 200.0, "the picture grows");
    click(&mut window, Role::Button, "☰ Panel");
    assert!(window.query_by_role_and_label(Role::SpinButton, "Bodies").is_some());
    assert_eq!(window.state().picture, narrow);
}

#[test]
fn the_overlay_shows_speed_force_error_and_excluded_bodies() {
    let mut window = open(MODES[0]);
    // The number of interactions per second is 1024² pairs, 1000 times a second.
    for text in ["1.05 G interactions/s", "(21.0 GFLOP/s)", "A reading", "1.00", "Force error", "–"] {
        assert!(window.query_all_by_label(text).next().is_some(), "{text}");
    }
    assert!(window.query_by_label_contains("not finite").is_none());
    window.state_mut().stats.nonfinite = 2;
    window.run();
    assert!(
        window.query_by_label_contains("2 bodies excluded, because their values are not finite").is_some()
    );
}

#[test]
fn the_legend_of_the_error_colours_describes_the_values() {
    let mut window = open(MODES[0]);
    let has = |window: &Window, text: &str| window.query_by_label(text).is_some();
    assert!(!has(&window, "Bodies measured"), "another colour");
    let legend = |measured| Some(ErrorColours { measured, decades: [-6, -3] });
    window.state_mut().stats.error_colours = legend(0);
    window.run();
    assert!(
        has(&window, &format!("0 of {}", format::count(1024))) && !has(&window, "1e-6"),
        "nothing has a colour"
    );
    window.state_mut().stats.error_colours = legend(640);
    window.run();
    let some = format!("640 of {}", format::count(1024));
    for text in ["Bodies measured", &some, "1e-6", "1e-3"] {
        assert!(has(&window, text), "{text}");
    }
    window.get_by_label("1e-6").hover();
    window.run_steps(40);
    for text in [
        "relative error of its force",
        "double precision",
        "logarithmic",
        "Grey bodies have not been measured",
    ] {
        assert!(window.query_by_label_contains(text).is_some(), "{text}");
    }
}

/// Returns whether the overlay shows the row `label`, which must then lie within the overlay.
fn shows(window: &Window, label: &str) -> bool {
    let Some(row) = window.query_by_label(label) else { return false };
    let overlay = window.ctx.memory(|memory| memory.area_rect("overlay").unwrap());
    assert!(overlay.contains_rect(row.rect()), "{} in {overlay}", row.rect());
    true
}

/// Returns whether the overlay shows its summary, and whether it shows all numbers.
fn unfolded(window: &Window) -> [bool; 2] {
    ["Frame rate", "Read back"].map(|label| shows(window, label))
}

#[test]
fn the_overlay_grows_once_statistics_are_available() {
    let mut window = open(MODES[0]);
    let height = |window: &Window| window.ctx.memory(|memory| memory.area_rect("overlay").unwrap()).height();
    let whole = height(&window);
    let stats = std::mem::take(&mut window.state_mut().stats);
    window.run();
    let waits = height(&window);
    window.state_mut().stats = stats;
    window.run();
    assert!(
        whole > 200.0 && waits < 60.0 && height(&window) == whole,
        "{whole}, {waits}, {}",
        height(&window)
    );
}

#[test]
fn the_overlay_folds_by_key_by_click_and_in_a_small_picture() {
    let mut window = open_folded(MODES[0]);
    assert_eq!(unfolded(&window), [true, false]);
    press(&mut window, Key::I);
    assert_eq!(unfolded(&window), [true, true]);
    click(&mut window, Role::Button, "Statistics");
    assert_eq!(unfolded(&window), [true, false]);
    assert!(window.query_by_label_contains("interactions/s").is_some());
    let mut small = open_folded(MODES[0]);
    small.set_size(vec2(640.0, 400.0));
    small.run();
    assert_eq!(unfolded(&small), [false, false]);
    press(&mut small, Key::I);
    assert!(unfolded(&small)[0], "a user can expand the overlay over a small picture");
    // In a small window, the overlay of numbers is hidden to leave room for the tools, whichever tool is selected.
    small.set_size(vec2(640.0, 260.0));
    for key in [Key::L, Key::A] {
        press(&mut small, key);
        small.run_steps(3);
        let [numbers, tools] = ["overlay", "tools"]
            .map(|name| small.ctx.memory(|it| it.area_rect(egui::Id::new(name))).unwrap());
        assert!(!numbers.intersects(tools), "{key:?}: {numbers} {tools}");
        assert!(small.ctx.content_rect().contains_rect(tools), "{key:?}: {tools}");
    }
}

#[test]
fn the_overlay_folds_and_unfolds_with_the_available_space() {
    let mut window = open_folded(MODES[0]);
    press(&mut window, Key::I);
    assert_eq!(unfolded(&window), [true, true], "unfolded by hand, where there was room");
    press(&mut window, Key::H);
    for (size, shows_summary) in
        [(vec2(640.0, 480.0), false), (vec2(1280.0, 800.0), true), (vec2(640.0, 400.0), false)]
    {
        window.set_size(size);
        window.run();
        assert_eq!(unfolded(&window), [shows_summary, false], "{size}");
    }
    press(&mut window, Key::I);
    window.set_size(vec2(630.0, 400.0));
    window.run();
    assert!(unfolded(&window)[0], "unfolded since");
    window.set_size(vec2(1280.0, 800.0));
    window.run();
    assert_eq!(unfolded(&window), [true, true], "unfolded since");
}

#[test]
fn the_overlay_compares_the_variants_used_so_far() {
    for info in MODES {
        let mut window = open(info);
        let rung = |variant: &Variant, relative_error| Rung {
            counts: None,
            variant: variant.name,
            pairs_per_second: 16.6e9,
            relative_error,
        };
        let stats = &mut window.state_mut().stats;
        stats.relative_error = Some(2.14e-6);
        stats.errors =
            Some(SampleErrors { count: 150, rms: 2.14e-6, median: 1e-6, p99: Some(6e-6), max: 9e-6 });
        stats.ladder = vec![rung(&info.variants[1], Some(2.14e-6))];
        window.run();
        assert!(window.query_by_label(info.error.0).is_some() && window.query_by_label("2.1e-6").is_some());
        assert!(window.query_by_label("6.0e-6 · 9.0e-6").is_some(), "99th percentile and maximum");
        assert!(window.query_by_label("Variants measured").is_none(), "one alone compares with nothing");

        window.state_mut().stats.ladder.push(rung(&info.variants[0], None));
        window.run();
        assert!(window.query_by_label("Variants measured").is_some());
        let heights =
            ["16.6 G/s        –", "16.6 G/s   2.1e-6"].map(|text| window.get_by_label(text).rect().top());
        assert!(heights[0] < heights[1], "the ladder is climbed from the top down");
    }
}

#[test]
fn the_overlay_uses_fluid_terms_in_the_fluid_mode() {
    let mut window = open(&modes::fluid::INFO);
    // The number of cell updates per second is 1024 cells, 1000 times a second.
    for text in ["1.02", "MLUPS"] {
        assert!(window.query_by_label_contains(text).is_some(), "{text}");
    }
    assert!(window.query_by_label("Momentum").is_none() && window.query_by_label("Mean speed").is_none());
    window.state_mut().stats.series = vec![[1.0, 0.01], [2.0, 0.0321]];
    window.run();
    assert!(window.query_by_label("Mean speed").is_some() && window.query_by_label("0.03210").is_some());
    // The advice is shown only if the number is out of range.
    for warns in [false, true] {
        let reading = Reading::new("mach", "Largest u/c", 0.4).help("what it means");
        let remedy = Remedy::Multiply("accel", 0.5);
        let readings = vec![reading.warns_of(warns, "Too fast: lower the push.", remedy)];
        let told = window.state_mut().stats.diagnostics.as_mut().unwrap();
        told.readings = readings;
        window.run();
        assert_eq!(window.query_by_label("Too fast: lower the push.").is_some(), warns);
        assert_eq!(window.query_by_role_and_label(Role::Button, "Lower Push").is_some(), warns);
    }
    let push = number(&window, "accel");
    click(&mut window, Role::Button, "Lower Push");
    let lower = number(&window, "accel") / push;
    assert!((0.47..0.53).contains(&lower), "{lower}");
}

fn number(window: &Window, key: &str) -> f32 {
    window.state().config.mode.values().float(key).unwrap()
}

fn set_number(window: &mut Window, key: &str, value: &str) {
    gravitile::base::params::set(window.state_mut().config.mode.as_mut(), key, value).unwrap();
}

#[test]
fn energy_drift_is_reported_with_a_button_to_shorten_the_step() {
    let mut window = open_folded(MODES[0]);
    set_number(&mut window, "dt", "0.004");
    let set = |window: &mut Window, drift, kinetic| {
        let stats = &mut window.state_mut().stats;
        let readings = Vec::new();
        stats.energy_drift = Some(drift);
        stats.diagnostics =
            Some(Diagnostics { kinetic, potential: -2.0, readings, ..Diagnostics::default() });
        window.run();
        window.query_by_label_contains("Energy drift").is_some()
    };
    // The third energy is nearly zero, so that a relative drift is not meaningful.
    for (drift, kinetic, warns) in
        [(0.09, 1.0, false), (0.4, 1.0, true), (0.4, 2.01, false), (-0.4, 1.0, true)]
    {
        assert_eq!(set(&mut window, drift, kinetic), warns, "{drift} with kinetic energy {kinetic}");
    }
    assert!(window.query_by_label("Energy drift 40 %: lower Time step to 0.002.").is_some());
    click(&mut window, Role::Button, "Lower Time step");
    assert_eq!(number(&window, "dt"), 0.002);
    window.run();
    assert!(window.query_by_label_contains("Energy drift").is_none(), "the user has acted");
    // After a change, the session measures the drift relative to the energy after the change.
    assert!(!set(&mut window, 0.0, 1.0) && set(&mut window, -0.45, 1.0), "new drift warns again");
    // At the end of the parameter's range, the warning has no button to change the parameter.
    set_number(&mut window, "dt", "0.00001");
    window.run();
    assert!(set(&mut window, 0.4, 1.0) && window.query_by_label("Energy drift 40 %").is_some());
    assert!(window.query_by_role_and_label(Role::Button, "Lower Time step").is_none());
}

#[test]
fn nonfinite_bodies_offer_a_restart_with_a_shorter_step() {
    let mut window = open_folded(MODES[0]);
    set_number(&mut window, "dt", "0.004");
    window.state_mut().stats.nonfinite = 2;
    window.run();
    click(&mut window, Role::Button, "Lower Time step and restart");
    assert_eq!(number(&window, "dt"), 0.002);
    assert_eq!(window.state().actions, [Action::Restart]);
}

#[test]
fn a_too_large_softening_is_reported_with_a_button_to_lower_the_value() {
    let mut window = open_folded(MODES[0]);
    for scene in MODES[0].scenes.iter() {
        window.state_mut().config.select_scene(scene);
        window.run();
        assert!(
            window.query_by_label_contains("too large for the closest orbits").is_none(),
            "{}",
            scene.name
        );
    }
    window.state_mut().config.select_scene(MODES[0].scene("solar-system").unwrap());
    set_number(&mut window, "eps", "0.05");
    window.run();
    // In this scene, the distance of the Moon from the Earth is 0.0026.
    let told = "Softening 0.05 is too large for the closest orbits: lower Softening to 0.00005.";
    assert!(window.query_by_label(told).is_some());
    click(&mut window, Role::Button, "Lower Softening");
    assert_eq!(number(&window, "eps"), 0.00005);
    assert!(window.query_by_label_contains("too large for the closest orbits").is_none());
}

/// The keys T and C act only in scenes that are not flat; in flat scenes, a message says why they do nothing.
#[test]
fn the_camera_does_not_rotate_in_a_flat_scene() {
    for key in [Key::T, Key::C] {
        let mut window = open(&modes::fluid::INFO);
        press(&mut window, key);
        let look = &window.state().look;
        assert!(!look.turn && !look.follow);
        assert!(window.query_by_label_contains("A flow is flat, so the camera does not rotate.").is_some());
        press(&mut window, Key::M);
        press(&mut window, key);
        let look = &window.state().look;
        assert_eq!([look.turn, look.follow], [key == Key::T, key == Key::C]);
    }
}

#[test]
fn the_brush_is_selected_by_checkbox_and_key_where_walls_can_be_painted() {
    let mut window = open(&modes::fluid::INFO);
    let brush = |window: &Window| window.state().brush;
    assert_eq!(brush(&window), None);
    click(&mut window, Role::CheckBox, "Brush");
    let radius = brush(&window).unwrap();
    assert!((0.005..0.2).contains(&radius));
    press(&mut window, Key::B);
    assert_eq!(brush(&window), None);
    press(&mut window, Key::B);
    assert_eq!(brush(&window), Some(radius));
    press(&mut window, Key::M);
    assert_eq!(brush(&window), None, "bodies are not painted over");
    assert!(window.query_by_role_and_label(Role::CheckBox, "Brush").is_none());
    press(&mut window, Key::B);
    assert!(
        window.query_by_label_contains("The brush works only in fluid mode.").is_some(),
        "it is said why not"
    );
    for _ in 1..MODES.len() {
        press(&mut window, Key::M);
    }
    assert_eq!(brush(&window), Some(radius), "it is still in hand");
    press(&mut window, Key::Escape);
    assert_eq!(brush(&window), None, "Escape lays it down");
}

/// Opens a window in which a flow has blown up and is paused.
fn blown_up() -> Window {
    let mut window = open(&modes::fluid::INFO);
    (window.state_mut().stats.mode, window.state_mut().stats.generation) = ("fluid", 1);
    window.run();
    window.state_mut().config.running = false;
    blow_up(&mut window, false);
    window.run_steps(40);
    assert!(is_told(&window));
    window
}

fn blow_up(window: &mut Window, can_undo: bool) {
    let mode = window.state().config.mode.clone();
    window.state_mut().ui().alerts.blew_up("The flow blew up.", mode.as_ref(), can_undo);
}

fn is_told(window: &Window) -> bool {
    window.query_by_label("The flow blew up.").is_some()
}

#[test]
fn a_blown_up_flow_offers_a_restart() {
    let mut window = blown_up();
    let restarts = window.get_all_by_role_and_label(Role::Button, "⏮ Restart").count();
    assert_eq!(restarts, 2, "in the panel and in the message");
    let last = window.get_all_by_role_and_label(Role::Button, "⏮ Restart").last().unwrap();
    last.click();
    window.run();
    assert_eq!(window.state().actions, [Action::RestartAndRun], "it ran before");
    assert!(!is_told(&window));
    press(&mut window, Key::R);
    assert_eq!(window.state().actions.last(), Some(&Action::Restart), "that is settled");
    // The button that changes a parameter for stability also restarts the scene.
    let mut window = blown_up();
    let viscosity = number(&window, "viscosity");
    click(&mut window, Role::Button, "Raise Viscosity and restart");
    let raised = number(&window, "viscosity") / viscosity;
    assert!((1.9..2.1).contains(&raised), "{raised}");
    assert_eq!(window.state().actions, [Action::RestartAndRun]);
    // Selecting another scene also clears the message.
    let mut window = blown_up();
    habits::find(&mut window, "scene porous");
    assert!(window.state().config.running && !is_told(&window));
}

#[test]
fn a_blown_up_flow_can_continue_from_before_the_last_stroke() {
    for by_key in [false, true] {
        let mut window = blown_up();
        window.state_mut().stats.undos = 1;
        blow_up(&mut window, true);
        window.run_steps(40);
        match by_key {
            true => {
                window.key_press_modifiers(Modifiers::COMMAND, Key::Z);
                window.run();
            }
            false => click(&mut window, Role::Button, "Undo last stroke"),
        }
        assert_eq!(window.state().actions, [Action::UndoAndRun]);
        assert!(!is_told(&window));
        window.key_press_modifiers(Modifiers::COMMAND, Key::Z);
        window.run();
        assert_eq!(window.state().actions.last(), Some(&Action::Undo), "that is settled");
    }
}

#[test]
fn a_blown_up_flow_is_reported_until_restored() {
    let whole: [fn(&mut Stats); 3] =
        [|stats| stats.step -= 1, |stats| stats.generation += 1, |stats| stats.mode = "gravity"];
    for change in whole {
        let mut window = blown_up();
        window.state_mut().stats.step += 1;
        window.run();
        assert!(is_told(&window), "a step on makes nothing whole");
        change(&mut window.state_mut().stats);
        window.run();
        assert!(!is_told(&window));
    }
    // A flow that blows up at once may be reported before its first frame is shown.
    let mut window = open(&modes::fluid::INFO);
    blow_up(&mut window, false);
    window.step();
    (window.state_mut().stats.step, window.state_mut().stats.generation) = (7, 2);
    window.run_steps(3);
    assert!(is_told(&window));
}

#[test]
fn a_new_dialog_ignores_clicks_for_a_short_time() {
    let is_open = |window: &Window| window.query_by_label("The disk is full.").is_some();
    let mut window = open(MODES[0]);
    window.drag_at(egui::pos2(700.0, 900.0));
    window.run_steps(2);
    window.state_mut().ui().alerts.error("Not saved", "The disk is full.", None);
    window.run_steps(40);
    window.drop_at(egui::pos2(700.0, 900.0));
    window.run_steps(2);
    let close = window.get_by_role_and_label(Role::Button, "Close").rect().center();
    let press_it = |window: &mut Window, steps| {
        window.drag_at(close);
        window.run_steps(steps);
        window.drop_at(close);
        window.run_steps(2);
    };
    press_it(&mut window, 2);
    assert!(is_open(&window), "that click was not meant for it, soon after what was held when it opened");
    // Repeated clicks also close the dialog.
    for _ in 0..6 {
        press_it(&mut window, 3);
    }
    assert!(!is_open(&window));
}

#[test]
fn undone_edits_are_reported() {
    let mut window = open(MODES[0]);
    let mut undo = |kinds: &[EditKind], presses: usize, words: &str| {
        let stats = &mut window.state_mut().stats;
        (stats.undos, stats.last_edit) = (kinds.len(), kinds.last().copied());
        window.run_steps(3);
        for _ in 0..presses {
            window.key_press_modifiers(Modifiers::COMMAND, Key::Z);
        }
        window.run_steps(3);
        assert!(window.query_by_label(words).is_none(), "not before it is");
        let left = &kinds[..kinds.len() - presses];
        let stats = &mut window.state_mut().stats;
        (stats.undos, stats.last_edit) = (left.len(), left.last().copied());
        window.run_steps(3);
        assert!(window.query_by_label(words).is_some(), "{words}");
    };
    let kinds = [EditKind::Attract, EditKind::Launch, EditKind::Removal, EditKind::Change, EditKind::Change];
    undo(&kinds, 2, "Undid 2 edits; 3 more can be undone");
    undo(&kinds[..3], 1, "Undid the deletion; 2 more can be undone");
    undo(&kinds[..2], 1, "Undid the launch; 1 more can be undone");
    undo(&kinds[..1], 1, "Undid the attraction; nothing more to undo");
    // Edits that were dropped from the history, or belong to another scene, do not count as undone.
    undo(&[EditKind::Stroke], 1, "Undid the brush stroke; nothing more to undo");
    window.state_mut().stats.undos = 4;
    window.run_steps(3);
    window.state_mut().stats.undos = 2;
    window.run_steps(3);
    window.key_press_modifiers(Modifiers::COMMAND, Key::Z);
    window.run_steps(3);
    (window.state_mut().stats.undos, window.state_mut().stats.generation) = (0, 9);
    window.run_steps(3);
    assert!(window.query_by_label_contains("Undid 2").is_none());
    assert!(window.query_by_label_contains("Undid 1").is_none());
}

#[test]
fn the_main_controls_are_visible_without_scrolling() {
    for info in MODES {
        let mut window = open_folded(info);
        window.set_size(vec2(1280.0, 800.0));
        window.run();
        let Described { floats, flags, options } = described(&window);
        let infos = floats.iter().map(|it| it.0).chain(flags.iter().map(|it| it.0));
        let infos = infos.chain(options.iter().map(|it| it.0)).filter(|info| !info.advanced);
        let keys =
            ["pause", "restart", "steps per frame", "scene", "bodies", "open", "palette ice", "exposure"];
        // The other modes have more parameters, so that fewer settings of the picture are visible without scrolling.
        let of_bodies = ["trails", "more picture", "kernel"].into_iter().filter(|_| *info == MODES[0]);
        let keys = keys.into_iter().chain(of_bodies);
        let rects = window.state().rects.clone();
        for key in keys.chain(infos.map(|info| info.key)) {
            let found = rects.iter().find(|(name, _)| name == key);
            let (_, rect) = found.unwrap_or_else(|| panic!("{}: no {key}", info.name));
            assert!(rect.is_positive() && rect.bottom() <= 800.0, "{}: {key} at {rect}", info.name);
        }
        for hidden in ["variant", "work-group", "stars"] {
            assert!(!rects.iter().any(|(name, _)| name == hidden), "{hidden} is folded");
        }
    }
}

#[test]
fn the_run_button_stays_visible_while_the_panel_scrolls() {
    let mut window = open(MODES[0]);
    window.set_size(vec2(1280.0, 500.0));
    window.run();
    let place = |window: &Window, key: &str| {
        window.state().rects.iter().find(|(name, _)| name == key).unwrap().1.center()
    };
    let before = ["pause", "scene"].map(|key| place(&window, key));
    window.hover_at(before[1]);
    let (unit, delta) = (egui::MouseWheelUnit::Point, vec2(0.0, -120.0));
    window.event(egui::Event::MouseWheel { unit, delta, modifiers: Modifiers::NONE });
    window.run_steps(60);
    assert_eq!(place(&window, "pause"), before[0]);
    assert!(place(&window, "scene").y < before[1].y - 50.0);
}

#[test]
fn the_legend_gives_the_values_at_the_ends_of_the_colours() {
    let mut window = open_folded(MODES[0]);
    let has = |window: &Window, text: &str| window.query_by_label(text).is_some();
    // The value range of the test is 0.25 to 4, or 10^0.25 to 10^4 if the values are logarithms.
    for (colour, texts) in [
        ("speed", ["Speed", "0.25", "4.0"]),
        ("mass", ["Mass", "1.8", "1.0e4"]),
        ("cost", ["Cost", "0.25", "4.0"]),
    ] {
        choose(&mut window, "colour", colour);
        for text in texts {
            assert!(has(&window, text), "{colour}: {text}");
        }
    }
    window.state_mut().config.select_scene(MODES[0].scene("solar-system").unwrap());
    window.run();
    choose(&mut window, "colour", "speed");
    // With lengths in AU and times in units of 1/(2π) years, a speed of 1 is 29.8 km/s.
    assert!(has(&window, "km/s") && has(&window, "7.4"), "speeds have the scene's unit");
    choose(&mut window, "colour", "origin");
    assert!(!has(&window, "0.25") && !has(&window, "Cost"), "labels have no scale");
}

#[test]
fn the_legend_of_a_flow_shows_the_selected_field() {
    let mut window = open_folded(modes::find("fluid").unwrap());
    for (field, texts) in [
        ("speed", ["Speed", "cells/step", "4.0"]),
        ("vorticity", ["Vorticity", "1/step", "4.0"]),
        ("density", ["Density", "0.25", "4.0"]),
        ("walls", ["Speed", "cells/step", "4.0"]),
    ] {
        choose(&mut window, "field", field);
        for text in texts {
            assert!(window.query_by_label(text).is_some(), "{field}: {text}");
        }
    }
}

#[test]
fn bodies_out_of_view_are_reported_with_a_button_to_show_them() {
    let mut window = open_folded(MODES[0]);
    let told = |window: &Window| window.query_by_label("All bodies are out of view.").is_some();
    assert!(!told(&window));
    window.state_mut().sees_bodies = false;
    window.run();
    assert!(told(&window));
    click(&mut window, Role::Button, "Show all (F)");
    assert_eq!(window.state().actions, [Action::FrameAll]);
    window.state_mut().sees_bodies = true;
    window.run();
    assert!(!told(&window));
}

#[test]
fn the_overlay_is_hidden_if_the_picture_is_too_narrow() {
    let mut window = open_folded(MODES[0]);
    window.set_size(vec2(400.0, 300.0));
    window.run();
    assert!(window.query_by_label_contains("interactions/s").is_none());
    assert!(window.query_by_label("Mouse").is_none());
    press(&mut window, Key::H);
    assert!(window.query_by_label_contains("interactions/s").is_some(), "there is room without the panel");
}

#[test]
fn no_row_exceeds_the_width_of_the_panel() {
    for info in MODES {
        let window = open(info);
        let rects = &window.state().rects;
        let right = |wanted: &str| rects.iter().find(|(name, _)| name == wanted).unwrap().1.right();
        for name in ["restart", "save scene", "scene", "edit kernels"] {
            assert!(right(name) <= right("restart") + 0.5, "{name}: {} {}", right(name), right("restart"));
        }
    }
}

#[test]
fn before_the_first_frame_the_window_shows_starting() {
    let mut window = open(MODES[0]);
    window.state_mut().stats = Stats::default();
    window.run();
    assert_eq!(window.get_all_by_label("Starting…").count(), 2, "panel and overlay");
    assert!(window.query_by_label_contains("interactions/s").is_none());
    click(&mut window, Role::RadioButton, "bodies: auto");
    assert_eq!(window.state().config, Config::new(MODES[0]), "empty numbers are not taken over");
}

#[test]
fn every_control_registers_its_rectangle() {
    for info in MODES {
        let window = open(info);
        let rects = &window.state().rects;
        let Described { floats, flags, options } = described(&window);
        let keys = floats.iter().map(|f| f.0.key).chain(flags.iter().map(|f| f.0.key));
        let keys = keys.chain(options.iter().map(|o| o.0.key));
        let fixed =
            ["pause", "step", "restart", "mode", "scene", "bodies", "bodies auto", "seed", "new seed"];
        let more = ["variant", "variant auto", "work-group", "steps per frame", "free run", "reset all"];
        for key in keys.chain(fixed).chain(more) {
            let found: Vec<_> = rects.iter().filter(|(name, _)| name == key).collect();
            assert_eq!(found.len(), 1, "{key}");
            assert!(found[0].1.is_positive(), "{key} is somewhere");
        }
    }
}

#[test]
fn a_file_dialog_keeps_its_size() {
    for key in [Key::S, Key::O] {
        let mut window = open(MODES[0]);
        window.set_size(vec2(1280.0, 800.0));
        window.key_press_modifiers(Modifiers::COMMAND, key);
        window.run_steps(10);
        let size = |window: &Window| {
            let rects = &window.state().rects;
            rects.iter().find(|(name, _)| name == "file dialog").unwrap().1.size()
        };
        let first = size(&window);
        window.run_steps(300);
        assert_eq!(size(&window), first, "{key:?}");
    }
}

#[test]
fn the_presentation_mode_shows_only_the_picture() {
    let mut window = open(MODES[0]);
    let is_bare = |window: &Window| {
        let texts = ["gravitile", "Statistics", "It is said."];
        texts.map(|text| window.query_all_by_label_contains(text).next().is_none())
    };
    let whole = window.ctx.content_rect();
    for ends in [Key::F5, Key::Escape, Key::F11, Key::H] {
        window.state_mut().ui().alerts.say("It is said.");
        window.run();
        assert_eq!(is_bare(&window), [false; 3]);
        press(&mut window, Key::F5);
        assert_eq!(is_bare(&window), [true; 3]);
        let App { picture, rects, .. } = window.state();
        assert_eq!((*picture, rects.len()), (whole, 0));
        assert_eq!(window.output().platform_output.cursor_icon, egui::CursorIcon::None);
        press(&mut window, Key::Space);
        assert!(window.state_mut().ui().presents, "keys that show nothing act as usual");
        press(&mut window, ends);
        let is_open = !window.state_mut().ui().presents;
        assert!(is_open && !is_bare(&window)[1], "{ends:?}");
    }
    assert_eq!(window.state().actions, [], "the window follows what the panel shows");
    // The error is still shown, and Escape closes the error first.
    press(&mut window, Key::F5);
    window.state_mut().ui().alerts.error("Behind it", "An error.", None);
    window.run();
    assert!(window.query_by_label("An error.").is_some());
    press(&mut window, Key::Escape);
    assert!(window.query_by_label("An error.").is_none() && window.state_mut().ui().presents);
    press(&mut window, Key::Escape);
    press(&mut window, Key::F11);
    assert_eq!(window.state().actions, [Action::ToggleFullScreen]);
}
