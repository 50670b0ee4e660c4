//! Tests the mouse tools and the card with the selected body.

use super::*;
use gravitile::base::cells::{CellCounts, WalkCounts};
use gravitile::ui::Caption;

fn body(body: usize) -> SelectedBody {
    SelectedBody {
        body,
        mass: 0.25,
        position: [1.0, 2.0, 3.0],
        velocity: [0.5, -0.25, 0.125],
        acceleration: [0.0, 3.0, 4.0],
        heaviest: Some((0, 4.5)),
        energy: -1.5,
        orbit: None,
    }
}

/// Opens a window with a selected body.
pub(super) fn holding() -> Window {
    let mut window = open_folded(MODES[0]);
    window.state_mut().stats.selected = Some(body(41));
    window.run();
    window
}

#[test]
fn the_body_card_shows_the_available_values() {
    let mut window = holding();
    for text in ["Body 41", "Mass", "Velocity x", "Position", "Acceleration", "5.000", "-1.500"] {
        assert!(window.query_by_label(text).is_some(), "{text}");
    }
    assert!(window.query_by_label("Cells opened").is_none());
    let walk = WalkCounts { opened: 163, taken: 1577, pairs: 951, ..WalkCounts::default() };
    window.state_mut().stats.cells = Some(CellCounts { depth: 4, boxes: 1740, walk: Some(walk) });
    window.run();
    for text in ["Cells opened", "163", "Cells used", "1\u{2009}577", "Pairs", "951"] {
        assert!(window.query_by_label(text).is_some(), "{text}");
    }
    window.state_mut().stats.selected = None;
    window.run();
    assert!(window.query_by_label("Body 41").is_none());
}

#[test]
fn the_body_card_shows_the_elements_of_the_orbit() {
    use gravitile::base::{Orbit, OrbitCentre};
    let mut window = holding();
    assert!(window.query_by_label("Orbit").is_some() && window.query_by_label("Period").is_none());
    // At the pericentre 1, e = r v²/GM − 1.
    let orbit = |centre, speed: f64| {
        let state = (glam::DVec3::X, glam::DVec3::new(0.0, 0.0, speed));
        Orbit::new(centre, glam::DVec3::ZERO, 1.0, state)
    };
    let mut show = |orbit| {
        window.state_mut().stats.selected = Some(SelectedBody { orbit, ..body(41) });
        window.run();
        let texts =
            ["the other bodies", "body 7", "2.0000", "0.5000", "90.00°", "17.77", "3.000", "no, it escapes"];
        texts.map(|text| window.query_by_label(text).is_some())
    };
    let bound = orbit(OrbitCentre::Others, 1.5f64.sqrt());
    assert_eq!(show(bound), [true, false, false, true, true, true, true, false]);
    let unbound = orbit(OrbitCentre::Body(7), 2.0);
    assert_eq!(show(unbound), [false, true, false, false, true, false, true, true]);
}

/// In a scene with names and units, the card shows names and units, and numbers that the user types are converted to
/// scene units.
#[test]
fn the_body_card_shows_names_and_units() {
    let mut window = open(MODES[0]);
    window.state_mut().config.select_scene(MODES[0].scene("solar-system").unwrap());
    window.state_mut().stats.names = ["Sun", "Mercury"].into_iter().collect();
    window.state_mut().stats.selected = Some(SelectedBody { body: 1, ..body(1) });
    window.run();
    for text in ["Mercury", "Body 1", "Mass (M☉)", "4.500 AU from Sun", "Position (AU)", "Velocity x (km/s)"]
    {
        assert!(window.query_by_label(text).is_some(), "{text}");
    }
    type_number(&mut window, "Velocity y (km/s)", "29.7847");
    let Some(Edit::Change { velocity: Some([_, y, _]), .. }) = window.state().edits.last().copied() else {
        panic!("{:?}", window.state().edits)
    };
    assert!((y - 1.0).abs() < 1e-3, "{y}");
}

/// The names of bodies in the picture do not overlap. The switch *Names* in the section *Picture* shows or hides them.
#[test]
fn names_in_the_picture_do_not_overlap() {
    let mut window = open(MODES[0]);
    let bodies =
        [("Sun", [0.0, 0.0]), ("Earth", [0.001, 0.0]), ("Venus", [0.05, 0.0]), ("Mercury", [0.0, 0.2])];
    let caption = |(body, (name, at)): (usize, (&str, [f32; 2]))| Caption {
        body,
        name: name.to_owned(),
        at,
        is_selected: false,
    };
    window.state_mut().markers.captions.names = bodies.into_iter().enumerate().map(caption).collect();
    window.run();
    let rects = &window.state().rects;
    let named: Vec<_> = rects.iter().filter(|(name, _)| name.starts_with("name ")).collect();
    let names: Vec<_> = named.iter().map(|(name, _)| &name[5..]).collect();
    assert_eq!(names, ["Sun", "Venus", "Mercury"], "the Earth is too near the Sun");
    for (nth, (_, rect)) in named.iter().enumerate() {
        assert!(named[..nth].iter().all(|(_, other)| !rect.intersects(*other)));
    }
}

/// The overlay shows the date beside the step, and the scale bar has the scene's unit of length.
#[test]
fn the_solar_system_has_a_date_and_a_scale() {
    let mut window = open(MODES[0]);
    window.state_mut().config.select_scene(MODES[0].scene("solar-system").unwrap());
    window.state_mut().stats.time = std::f64::consts::TAU;
    window.run();
    assert!(window.query_all_by_label("2000-12-31").count() == 2, "in the panel and over the picture");
    assert!(window.query_by_label_contains(" AU").is_some());
    window.state_mut().look.scale_bar = gravitile::base::look::ScaleBar::Off;
    window.run();
    assert!(window.query_by_label_contains(" AU").is_none());
    window.state_mut().ui().plots.is_open = true;
    window.run();
    assert!(window.query_by_label_contains("simulated time (yr)").is_some());
}

#[test]
fn mass_and_velocity_can_be_typed() {
    let mut window = holding();
    type_number(&mut window, "Velocity y", "0.75");
    type_number(&mut window, "Velocity x", "-2");
    let velocity = |velocity| Edit::Change { body: 41, mass: None, velocity: Some(velocity) };
    assert_eq!(window.state().edits, [velocity([0.5, 0.75, 0.125]), velocity([-2.0, -0.25, 0.125])]);
    click(&mut window, Role::SpinButton, "Velocity z");
    // The simulation changes the velocity while the user looks at the field.
    window.state_mut().stats.selected.as_mut().unwrap().velocity[2] = 7.0;
    press(&mut window, Key::Enter);
    click(&mut window, Role::SpinButton, "Velocity z");
    press(&mut window, Key::Escape);
    assert_eq!(window.state().edits.len(), 2, "to look at a number is no change");
    // The field displays this mass as 0.2500.
    type_number(&mut window, "Mass", "0.250004");
    assert_eq!(window.state().edits[2..], [Edit::Change { body: 41, mass: Some(0.250004), velocity: None }]);
}

#[test]
fn a_value_dragged_for_one_body_is_not_applied_to_another() {
    for next in [None, Some(body(7))] {
        let mut window = holding();
        let at = window.get_by_role_and_label(Role::SpinButton, "Velocity x").rect().center();
        window.drag_at(at);
        for right in [20.0, 40.0] {
            window.hover_at(at + vec2(right, 0.0));
            window.run();
        }
        window.state_mut().stats.selected = next;
        window.run();
        window.drop_at(at + vec2(40.0, 0.0));
        window.run();
        for held in [body(7), body(41)] {
            window.state_mut().stats.selected = Some(held);
            window.run();
            assert_eq!(window.state().edits, [], "{next:?}, then {}", held.body);
            assert!(
                window.get_by_role_and_label(Role::SpinButton, "Velocity x").value().as_deref()
                    == Some("0.5000")
            );
        }
    }
}

#[test]
fn a_body_can_be_followed_deleted_and_deselected() {
    let mut window = holding();
    press(&mut window, Key::C);
    click(&mut window, Role::Button, "Follow");
    assert!(window.state().tools.follows && !window.state().look.follow, "one thing at a time");
    press(&mut window, Key::C);
    assert!(!window.state().tools.follows && window.state().look.follow);
    click(&mut window, Role::Button, "Delete");
    press(&mut window, Key::Delete);
    click(&mut window, Role::Button, "Deselect");
    press(&mut window, Key::Escape);
    use Action::{DeleteBody, Deselect};
    assert_eq!(window.state().actions, [DeleteBody, DeleteBody, Deselect, Deselect]);
    window.state_mut().stats.selected = None;
    window.run();
    press(&mut window, Key::Delete);
    press(&mut window, Key::Escape);
    assert_eq!(window.state().actions.len(), 4, "there is none in hand");
}

#[test]
fn tools_are_selected_and_deselected_by_key_and_by_button() {
    for info in &MODES[..2] {
        let mut window = open(info);
        assert_eq!(window.state().tools.tool, Tool::Look);
        for (key, name, tool) in [(Key::L, "launch", Tool::Launch), (Key::A, "attract", Tool::Attract)] {
            press(&mut window, key);
            assert_eq!(window.state().tools.tool, tool);
            press(&mut window, key);
            assert_eq!(window.state().tools.tool, Tool::Look);
            click(&mut window, Role::RadioButton, &format!("Mouse: {name}"));
            assert_eq!(window.state().tools.tool, tool);
            press(&mut window, Key::Escape);
            assert_eq!(window.state().tools.tool, Tool::Look);
        }
    }
}

#[test]
fn mass_and_strength_are_set_while_their_tool_is_selected() {
    let mut window = open(MODES[0]);
    press(&mut window, Key::L);
    type_number(&mut window, "Mass", "0.02");
    assert_eq!(window.state().tools.mass_share, 0.02);
    press(&mut window, Key::A);
    assert!(window.query_by_label("Mass").is_none());
    type_number(&mut window, "Strength", "400");
    assert_eq!(window.state().tools.strength, 20.0, "within limits");
}

#[test]
fn body_tools_are_unavailable_in_the_fluid_mode() {
    let mut window = open(MODES[2]);
    assert!(window.query_by_label("Mouse: launch").is_none());
    for key in [Key::L, Key::A] {
        press(&mut window, key);
        assert_eq!(window.state().tools.tool, Tool::Look);
        assert!(window.query_by_label_contains("This mode has no bodies to select").is_some());
    }
}

#[test]
fn edits_are_undone_by_key_and_by_button() {
    let disabled =
        |window: &Window| window.get_by_role_and_label(Role::Button, "Undo").accesskit_node().is_disabled();
    for info in MODES {
        let mut window = open(info);
        assert!(disabled(&window));
        window.state_mut().stats.undos = 1;
        window.run();
        assert!(!disabled(&window));
        click(&mut window, Role::Button, "Undo");
        window.key_press_modifiers(Modifiers::COMMAND, Key::Z);
        window.run();
        assert_eq!(window.state().actions, [Action::Undo, Action::Undo], "{}", info.name);
    }
}

#[test]
fn a_message_says_that_attraction_acts_only_while_running() {
    let mut window = open(MODES[0]);
    press(&mut window, Key::A);
    assert!(window.query_by_label_contains("Hold the left button to attract").is_some());
    press(&mut window, Key::Space);
    assert!(window.query_by_label_contains("Paused. Press Space to run").is_some());
    let row = CONTROLS.iter().find(|row| row.text() == "Press with the attract tool").unwrap();
    assert!(row.help.contains("while the simulation runs"));
}

#[test]
fn escape_cancels_a_launch_then_deselects_the_tool() {
    let mut window = open(MODES[0]);
    press(&mut window, Key::L);
    window.state_mut().markers.aim = Some([[0.0; 2], [0.1; 2]]);
    press(&mut window, Key::Escape);
    assert_eq!(
        (window.state().actions.as_slice(), window.state().tools.tool),
        (&[Action::CancelGesture][..], Tool::Launch)
    );
    window.state_mut().markers = Markers::default();
    press(&mut window, Key::Escape);
    assert_eq!((window.state().actions.len(), window.state().tools.tool), (1, Tool::Look));
}

#[test]
fn mass_and_strength_can_be_reset() {
    let mut window = open(MODES[0]);
    for (key, label) in [(Key::L, "Mass"), (Key::A, "Strength")] {
        press(&mut window, key);
        type_number(&mut window, label, "0.7");
        assert_ne!((window.state().tools.mass_share, window.state().tools.strength), (1e-3, 0.3));
        click(&mut window, Role::Button, &format!("Reset {label}"));
        assert_eq!((window.state().tools.mass_share, window.state().tools.strength), (1e-3, 0.3));
    }
}

/// The tools and the overlay of numbers never overlap, and stay within the picture at every text size.
#[test]
fn the_tools_and_the_overlay_never_overlap() {
    for tool in [Tool::Look, Tool::Launch] {
        for zoom in [0.8, 1.0, 1.25, 1.5, 2.0] {
            let mut window = open(MODES[0]);
            window.state_mut().tools.tool = tool;
            window.set_size(vec2(1280.0, 800.0) / zoom);
            for folded in ["as it comes", "the other way"] {
                window.run();
                window.run();
                let area = |name: &str| {
                    let area = window.ctx.memory(|memory| memory.area_rect(egui::Id::new(name)));
                    area.unwrap_or_else(|| panic!("no {name}"))
                };
                let [tools, numbers] = ["tools", "overlay"].map(area);
                assert!(!tools.intersects(numbers), "{zoom}, {folded}: {tools} and {numbers}");
                let picture = window.state().picture.expand(0.5);
                for rect in [tools, numbers] {
                    let is_inside =
                        picture.x_range().contains(rect.left()) && picture.x_range().contains(rect.right());
                    assert!(is_inside, "{zoom}, {folded}: {rect} in {picture}");
                }
                press(&mut window, Key::I);
            }
        }
    }
}

#[test]
fn a_tiny_window_causes_no_panic() {
    for size in [vec2(20.0, 100.0), vec2(340.0, 30.0), vec2(120.0, 400.0), vec2(1.0, 1.0)] {
        for (modifiers, key) in [
            (Modifiers::NONE, Key::L),
            (Modifiers::NONE, Key::O),
            (Modifiers::NONE, Key::P),
            (Modifiers::NONE, Key::F1),
            (Modifiers::COMMAND, Key::P),
        ] {
            let mut window = holding();
            window.state_mut().ui().alerts.error("An error", "It says so.", Some("with a log".to_owned()));
            window.key_press_modifiers(modifiers, key);
            window.run_steps(3);
            window.set_size(size);
            window.run_steps(3);
            window.set_size(vec2(1280.0, 800.0));
            window.run();
            assert!(window.query_by_label("Mouse").is_some());
        }
    }
}

#[test]
fn the_tools_are_laid_out_in_one_line() {
    let window = open(MODES[0]);
    let look = window.get_by_role_and_label(Role::RadioButton, "Mouse: look").rect();
    let attract = window.get_by_role_and_label(Role::RadioButton, "Mouse: attract").rect();
    let mouse = window.get_by_label("Mouse").rect();
    assert_eq!(look.top(), attract.top());
    assert!(look.left() - mouse.right() < 12.0, "{mouse} {look}");
}

#[test]
fn the_camera_follows_the_most_recent_choice() {
    let follows = |window: &Window| (window.state().tools.follows, window.state().look.follow);
    let mut window = holding();
    click(&mut window, Role::Button, "Follow");
    assert_eq!(follows(&window), (true, false));
    for by in ["parameter follow", "follow the centre"] {
        habits::find(&mut window, by);
        assert_eq!(follows(&window), (false, true), "{by}");
        habits::find(&mut window, "follow the selected");
        assert_eq!(follows(&window), (true, false), "{by}");
    }
}

/// While a new configuration is being applied, numbers keep the units, date and legend of the frame on the screen.
#[test]
fn displayed_numbers_belong_to_the_frame_until_the_next_one_arrives() {
    let mut window = open(MODES[0]);
    window.state_mut().config.select_scene(MODES[0].scene("solar-system").unwrap());
    window.state_mut().stats.selected = Some(body(1));
    window.run();
    let shown = |window: &Window| {
        let count = |text: &str| window.query_all_by_label_contains(text).count();
        ["2000-01-01", " AU", "Mass (M☉)", "interactions/s", "Speed", "MLUPS"].map(|text| count(text) > 0)
    };
    let of_frame = [true, true, true, true, true, false];
    assert_eq!(shown(&window), of_frame);
    window.state_mut().lags = true;
    click(&mut window, Role::RadioButton, "Mode: fluid");
    assert_eq!(window.state().config.mode.info(), MODES[2]);
    assert_eq!(shown(&window), of_frame, "the frame still shows the solar system");
    window.state_mut().lags = false;
    window.run();
    assert_eq!(shown(&window)[..4], [false; 4]);
    assert!(shown(&window)[5], "the fluid has units of its own");
}

#[test]
fn the_heaviest_bodies_are_listed_and_followed_with_a_click() {
    let mut window = open_folded(MODES[0]);
    assert!(window.query_by_label("Heaviest bodies").is_none(), "all bodies have the same mass");
    window.state_mut().stats.names = ["Sun", "", "Jupiter"].into_iter().collect();
    window.state_mut().heaviest = vec![(0, 1.0), (2, 9.5e-4), (1234, 2e-7)];
    window.run();
    assert!(window.query_by_label_contains("Jupiter").is_none(), "the list is folded at first");
    click(&mut window, Role::Button, "Heaviest bodies");
    for text in ["Sun", "Jupiter", "Body 1\u{2009}234", "0.000950"] {
        assert!(window.query_all_by_label_contains(text).next().is_some(), "{text}");
    }
    click_control(&mut window, "heavy 2");
    assert_eq!(window.state().actions, [Action::Follow(2)]);
    window.state_mut().config.select_scene(MODES[0].scene("solar-system").unwrap());
    window.run();
    assert!(window.query_all_by_label_contains("M☉").next().is_some(), "masses have the scene's unit");
}
