//! Tests the gallery, opening files by dialog and by drop, the offer to continue, and messages that fade.

use std::fs;
use std::path::Path;

use super::*;

#[test]
fn the_gallery_has_a_picture_of_every_scene_and_changes_the_mode_too() {
    for info in MODES {
        for scene in info.scenes.iter() {
            let picture = image::load_from_memory(scene.thumbnail).unwrap().to_rgb8();
            assert_eq!(picture.dimensions(), (320, 200), "{}", scene.name);
            let bright = picture.pixels().filter(|pixel| pixel.0.iter().any(|part| *part > 60)).count();
            assert!(bright > 40, "{} is dark: {bright}", scene.name);
            assert!(scene.title.chars().count() <= 20, "the gallery cuts off the title {:?}", scene.title);
        }
    }
    let mut window = open(MODES[0]);
    window.state_mut().config.running = false;
    click(&mut window, Role::Button, &format!("{}  ⏷", MODES[0].scenes[0].title));
    for info in MODES {
        for scene in info.scenes.iter() {
            assert!(window.query_by_role_and_label(Role::Button, &scene.title).is_some(), "{}", scene.title);
        }
    }
    let rings = modes::find("asteroids").unwrap().scene("rings").unwrap();
    click(&mut window, Role::Button, "Saturn's rings");
    assert_eq!(window.state().config.start, *rings);
    assert_eq!(window.state().config.mode, rings_mode());
    assert!(!window.state().config.running, "what is not about the scene stays");
    press(&mut window, Key::M);
    press(&mut window, Key::M);
    assert_eq!(window.state().config.mode.info(), MODES[0]);
    assert_eq!(window.state().config.start, MODES[0].scenes[0], "the mode before is as it was left");
    press(&mut window, Key::O);
    press(&mut window, Key::Escape);
    assert!(window.query_by_label("Scenes").is_none());
}

fn rings_mode() -> Box<dyn modes::Mode> {
    let info = modes::find("asteroids").unwrap();
    info.mode_for(info.scene("rings").unwrap())
}

#[test]
fn messages_appear_above_a_pending_offer() {
    let mut window = open(MODES[0]);
    window.state_mut().ui().alerts.toasts.offer = Some("Disc galaxy · step 7".to_owned());
    window.state_mut().ui().alerts.say("Saved a.png");
    window.run();
    window.run();
    let [said, offer] = ["Saved a.png", "Disc galaxy · step 7"].map(|text| window.get_by_label(text).rect());
    assert!(said.bottom() < offer.top() && said.bottom() > offer.top() - 60.0, "{said} over {offer}");
}

#[test]
fn an_offer_to_continue_stays_until_answered() {
    for (button, action) in [("Continue", Action::ContinuePrevious), ("Not now", Action::DeclinePrevious)] {
        let mut window = open(MODES[0]);
        window.state_mut().ui().alerts.toasts.offer = Some("Disc galaxy · step 7".to_owned());
        window.run();
        assert!(window.query_by_label("Disc galaxy · step 7").is_some());
        press(&mut window, Key::Space);
        assert!(!window.state().config.running, "it is not in the way of keys");
        click(&mut window, Role::Button, button);
        assert_eq!(window.state().actions, [action]);
        assert!(window.query_by_label("Disc galaxy · step 7").is_none());
    }
}

#[test]
fn a_refused_mode_stays_available_and_an_opened_file_keeps_the_devices() {
    let mut window = open(MODES[0]);
    let other = Config { bodies: Some(77), seed: 5, devices: vec![1], ..Config::new(MODES[1]) };
    window.state_mut().ui().modes.left = vec![other.clone()];
    window.state_mut().config.devices = vec![1];
    for _ in 0..2 {
        let before = window.state().config.clone();
        press(&mut window, Key::M);
        let wanted = window.state().config.clone();
        assert_eq!((wanted.mode.info(), wanted.bodies, wanted.seed), (MODES[1], Some(77), 5));
        window.state_mut().ui().modes.rejected(&wanted, &before);
        window.state_mut().config = before;
    }
    let App { ui, config, .. } = window.state_mut();
    for next in MODES.iter().map(|info| Config::new(info)) {
        ui.as_mut().unwrap().modes.adopt(next.clone(), config);
        assert_eq!((config.mode.info(), &config.devices[..]), (next.mode.info(), &[1][..]));
    }
}

/// Choosing a scene restarts it. Only changing the mode continues a run.
#[test]
fn choosing_a_scene_anywhere_restarts_the_simulation() {
    let mut window = open(MODES[0]);
    let rings = rings_mode().info();
    let scene = |window: &Window| (window.state().config.mode.info(), window.state().config.start.clone());
    let begins = |window: &mut Window, choose: &dyn Fn(&mut Window)| {
        let before = window.state().config.clone();
        choose(window);
        before.reseeds(&window.state().config) || before.mode.info() != window.state().config.mode.info()
    };
    let title = |info: &'static ModeInfo| info.scenes[0].title.clone();
    // Chooses the current scene again, in the gallery and in the palette.
    for choose in [
        &(|window: &mut Window| {
            press(window, Key::O);
            click(window, Role::Button, &title(MODES[0]));
        }) as &dyn Fn(&mut Window),
        &|window: &mut Window| habits::find(window, &format!("scene {}", title(MODES[0]))),
    ] {
        assert!(begins(&mut window, choose));
        assert_eq!(scene(&window), (MODES[0], MODES[0].scenes[0].clone()));
        // Choosing the scene is not a change that can be undone.
        assert!(window.get_by_role_and_label(Role::Button, "Undo").accesskit_node().is_disabled());
    }
    // Choosing a scene of another mode also restarts it; choosing only the mode continues its run.
    habits::find(&mut window, "scene rings");
    let ran = window.state().config.clone();
    habits::find(&mut window, "mode gravity");
    habits::find(&mut window, "mode asteroids");
    assert!(window.state().config.mode.info() == rings && !ran.reseeds(&window.state().config));
    habits::find(&mut window, "mode gravity");
    habits::find(&mut window, "scene rings");
    assert!(ran.start == window.state().config.start && ran.reseeds(&window.state().config));
}

/// The palette and the menu beside *Open…* list recent files.
#[test]
fn recent_files_are_opened_from_the_palette_and_the_menu() {
    let mut window = open(MODES[0]);
    for name in ["first.toml", "second one.gravitile"] {
        window.state_mut().ui().files.remember(&Path::new("/somewhere").join(name));
    }
    window.run();
    let path = |name: &str| Action::OpenFile(Path::new("/somewhere").join(name));
    habits::find(&mut window, "open recent first");
    assert_eq!(window.state().actions.last(), Some(&path("first.toml")));
    habits::find(&mut window, "somewhere second");
    assert_eq!(window.state().actions.last(), Some(&path("second one.gravitile")));
    for (label, action) in [
        ("second one.gravitile", path("second one.gravitile")),
        ("first.toml", path("first.toml")),
        ("Copy as command line", Action::CopyCommandLine),
        ("Paste settings", Action::PasteSettings),
    ] {
        click(&mut window, Role::Button, "More");
        click(&mut window, Role::Button, label);
        assert_eq!(window.state().actions.last(), Some(&action), "{label}");
    }
    for (typed, action) in
        [("copy as command", Action::CopyCommandLine), ("paste settings", Action::PasteSettings)]
    {
        habits::find(&mut window, typed);
        assert_eq!(window.state().actions.last(), Some(&action), "{typed}");
    }
}

#[test]
fn messages_disappear_after_some_seconds() {
    let mut window = open(MODES[0]);
    window.state_mut().ui().alerts.say("Saved a.gravitile");
    window.step();
    window.step();
    assert!(window.query_by_label("Saved a.gravitile").is_some());
    // Each frame takes 20 ms.
    (0..260).for_each(|_| window.step());
    assert!(window.query_by_label("Saved a.gravitile").is_none());
}

#[test]
fn a_file_dropped_on_the_window_is_opened() {
    let mut window = open(MODES[0]);
    let file = egui::HoveredFile { path: Some("x.toml".into()), ..Default::default() };
    window.input_mut().hovered_files.push(file);
    window.step();
    window.step();
    assert!(window.query_by_label("Drop to open").is_some());
    window.input_mut().hovered_files.clear();
    let file = egui::DroppedFile { path: Some("x.toml".into()), ..Default::default() };
    window.input_mut().dropped_files.push(file);
    window.run();
    assert_eq!(window.state().actions, [Action::OpenFile("x.toml".into())]);
    assert!(window.query_by_label("Drop to open").is_none());
}

#[test]
fn file_dialogs_open_and_save_files() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mine.toml"), "").unwrap();
    fs::write(folder.path().join("other.txt"), "").unwrap();
    let ask = |key: Key, modifiers: Modifiers| {
        let mut window = open(MODES[0]);
        window.state_mut().ui().files.folder = Some(folder.path().to_owned());
        window.key_press_modifiers(modifiers, key);
        // The dialog reads the folder in another thread.
        settle(&mut window);
        assert!(window.state().config.running, "keys belong to the dialog");
        window
    };
    let mut window = ask(Key::O, Modifiers::COMMAND);
    assert!(window.query_by_label_contains("other.txt").is_none(), "it cannot be opened");
    window.get_by_label_contains("mine.toml").click();
    settle(&mut window);
    click(&mut window, Role::Button, "🗀  Open");
    assert_eq!(window.state().actions, [Action::OpenFile(canonical(folder.path()).join("mine.toml"))]);

    for (modifiers, name) in
        [(Modifiers::COMMAND, "spiral.gravitile"), (Modifiers::COMMAND | Modifiers::SHIFT, "spiral.toml")]
    {
        let mut window = ask(Key::S, modifiers);
        click(&mut window, Role::Button, "📥  Save");
        let path = canonical(folder.path()).join(name);
        let action = match name {
            "spiral.toml" => Action::SaveSceneTo(path),
            _ => Action::SaveSnapshotTo(path),
        };
        assert_eq!(window.state().actions, [action]);
    }
    let mut window = ask(Key::O, Modifiers::COMMAND);
    press(&mut window, Key::Escape);
    press(&mut window, Key::Space);
    assert!(!window.state().config.running, "without a dialog keys do what they did");
    assert_eq!(window.state().actions, []);
}

fn canonical(path: &Path) -> std::path::PathBuf {
    path.canonicalize().unwrap()
}

fn settle(window: &mut Window) {
    for _ in 0..10 {
        std::thread::sleep(std::time::Duration::from_millis(20));
        window.step();
    }
}
