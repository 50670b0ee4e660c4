//! Tests pictures, films and edited kernels in the panel.

use std::time::Duration;

use super::*;
use gravitile::base::params::Choice;
use gravitile::export::film::{Format, Progress};
use gravitile::ui::{FilmPlan, PictureSize};

fn unfolded() -> Window {
    let mut window = open(MODES[0]);
    click(&mut window, Role::Button, "Export");
    window
}

fn last(window: &Window) -> &Action {
    window.state().actions.last().unwrap()
}

/// Returns the settings of the film that the last action starts.
fn film(window: &Window) -> FilmPlan {
    assert_eq!(*last(window), Action::RecordFilm);
    window.state().ui.as_ref().unwrap().export.plan()
}

/// Returns the size of the picture that the last action saves.
fn picture(window: &Window) -> PictureSize {
    assert_eq!(*last(window), Action::SavePicture);
    window.state().ui.as_ref().unwrap().export.plan().size
}

#[test]
fn a_saved_picture_has_the_requested_size() {
    let mut window = unfolded();
    for (name, times) in [("2×", 2), ("4×", 4), ("1×", 1)] {
        click(&mut window, Role::RadioButton, &format!("Size: {name}"));
        press(&mut window, Key::F12);
        assert_eq!(picture(&window), PictureSize::Times(times));
    }
    click(&mut window, Role::RadioButton, "Size: pixels");
    click(&mut window, Role::Button, "Save picture");
    assert_eq!(picture(&window), PictureSize::Pixels(1920, 1080));
    for (side, typed) in ["640", "99999"].into_iter().enumerate() {
        let field = |window: &Window| {
            let fields = window.get_all_by_role_and_label(Role::SpinButton, "Size");
            fields.map(|field| field.rect().center()).nth(side).unwrap()
        };
        let at = field(&window);
        window.drag_at(at);
        window.drop_at(at);
        window.run();
        window.event(egui::Event::Text(typed.to_owned()));
        press(&mut window, Key::Enter);
    }
    press(&mut window, Key::F12);
    assert_eq!(picture(&window), PictureSize::Pixels(640, 16_384));
    let panel = window.state().picture.left();
    for (name, rect) in
        window.state().rects.iter().filter(|(name, _)| ["width", "height"].contains(&name.as_str()))
    {
        assert!(rect.right() < panel, "{name}: {rect} ends in the panel, at {panel}");
    }
}

#[test]
fn size_and_film_settings_can_be_reset() {
    let mut window = unfolded();
    for (name, chip) in [("Size", "4×"), ("Film", "PNG")] {
        let choose = format!("{name}: {chip}");
        for resets in ["a double click", "a button"] {
            click(&mut window, Role::RadioButton, &choose);
            window.run_steps(60);
            match resets {
                "a button" => click(&mut window, Role::Button, &format!("Reset {name}")),
                _ => (0..2).for_each(|_| window.get_by_role_and_label(Role::Label, name).click()),
            }
            window.run();
            press(&mut window, Key::F9);
            let (format, size) = (Format::usual(), PictureSize::Times(1));
            assert_eq!(film(&window), FilmPlan { format, frames: 150, rate: 30, size }, "{name}, {resets}");
        }
    }
}

#[test]
fn a_film_can_be_recorded_stopped_and_cancelled() {
    let mut window = unfolded();
    for (format, name) in Format::OPTIONS.iter().map(|(format, opt)| (*format, opt.name)).rev() {
        click(&mut window, Role::RadioButton, &format!("Film: {name}"));
        press(&mut window, Key::F9);
        let size = PictureSize::Times(1);
        assert_eq!(film(&window), FilmPlan { format, frames: 150, rate: 30, size });
    }
    type_number(&mut window, "Length", "2");
    click(&mut window, Role::Button, "⏺ Record");
    assert!(matches!(film(&window), FilmPlan { frames: 60, .. }), "{:?}", last(&window));
    click(&mut window, Role::Button, "Reset Length");
    press(&mut window, Key::F9);
    assert!(matches!(film(&window), FilmPlan { frames: 150, rate: 30, .. }));
    type_number(&mut window, "Length", "2");
    let elapsed = Duration::from_secs(3);
    window.state_mut().ui().export.filming = Some(Progress { done: 12, pictures: 60, elapsed });
    window.run();
    assert!(window.query_by_label("Filming: 12 of 60 pictures, about 15 s left").is_some());
    assert!(window.query_all_by_role_and_label(Role::Button, "■ Stop and save").count() > 0);
    for running in [true, false] {
        window.state_mut().config.running = running;
        window.run();
        assert!(window.query_by_label("Recording").is_some() && window.query_by_label("Paused").is_none());
        assert!(window.query_by_role_and_label(Role::Button, "⏺ Recording").is_some());
    }
    let cancel = window.get_all_by_role_and_label(Role::Button, "Cancel").next().unwrap();
    cancel.click();
    window.run();
    assert_eq!(*last(&window), Action::CancelFilm, "from the panel");
    press(&mut window, Key::F9);
    assert_eq!(*last(&window), Action::FinishFilm);
    let running = window.state().config.running;
    let told = window.state().actions.len();
    for key in [Key::Space, Key::S] {
        press(&mut window, key);
        assert_eq!((window.state().config.running, window.state().actions.len()), (running, told));
        assert!(
            window.query_by_label_contains("not available while a film is being recorded").is_some(),
            "it is said why not"
        );
    }
    // Cancel is at the bottom of the picture, so that it can be reached with the panel hidden.
    press(&mut window, Key::H);
    click(&mut window, Role::Button, "Cancel");
    assert_eq!(*last(&window), Action::CancelFilm);
    press(&mut window, Key::H);
    window.state_mut().ui().export.filming = None;
    window.run();
    assert!(window.query_by_role_and_label(Role::Button, "⏺ Record").is_some());
}

#[test]
fn refused_kernel_edits_are_shown_until_fixed() {
    let mut window = open(MODES[0]);
    window.get_by_role_and_label(Role::Button, "Edit…").click();
    // The dialog is drawn in every frame while it reads a folder.
    window.run_steps(4);
    assert!(
        window.query_by_label_contains("Choose a folder for the kernels").is_some(),
        "a folder is asked for"
    );
    let mut window = open(MODES[0]);
    window.state_mut().ui().kernels = Some("some/folder".into());
    window.run();
    assert!(window.query_by_label("some/folder").is_some());
    for log in ["a.cl:1:2: first", "a.cl:3:4: second"] {
        window.state_mut().ui().alerts.kernel_failed("It does not build.".into(), Some(log.into()));
        window.run();
        assert!(window.query_by_label(log).is_some(), "{log}");
    }
    assert!(window.query_by_label_contains("more").is_none(), "the newest alone");
    window.state_mut().ui().alerts.kernel_runs("Runs now: a.cl");
    window.run();
    assert!(window.query_by_label_contains("second").is_none());
    assert!(window.query_by_label("Runs now: a.cl").is_some());
    click(&mut window, Role::Button, "Built-in kernels");
    assert_eq!(*last(&window), Action::UseBuiltInKernels);
}
