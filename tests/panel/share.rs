//! Pictures, films and kernels to edit, as the panel asks for them.

use super::*;
use gravitile::film::Format;
use gravitile::ui::{PictureSize, Plan};

fn unfolded() -> Window {
    let mut window = open(MODES[0]);
    click(&mut window, Role::Button, "Share");
    window
}

fn last(window: &Window) -> Action {
    *window.state().actions.last().unwrap()
}

#[test]
fn a_picture_is_as_large_as_it_is_asked_to_be() {
    let mut window = unfolded();
    for (name, times) in [("2×", 2), ("4×", 4), ("1×", 1)] {
        click(&mut window, Role::RadioButton, &format!("Size: {name}"));
        press(&mut window, Key::F12);
        assert_eq!(last(&window), Action::Picture(PictureSize::Times(times)));
    }
    click(&mut window, Role::RadioButton, "Size: pixels");
    click(&mut window, Role::Button, "Save picture");
    assert_eq!(last(&window), Action::Picture(PictureSize::Pixels(1920, 1080)));
}

#[test]
fn a_film_is_recorded_ended_and_cancelled() {
    let mut window = unfolded();
    for (format, name) in Format::ALL.into_iter().map(|format| (format, format.words().0)).rev() {
        click(&mut window, Role::RadioButton, &format!("Film: {name}"));
        press(&mut window, Key::F9);
        let size = PictureSize::Times(1);
        assert_eq!(last(&window), Action::Record(Plan { format, frames: 150, rate: 30, size }));
    }
    type_number(&mut window, "Length", "2");
    click(&mut window, Role::Button, "● Record");
    assert!(matches!(last(&window), Action::Record(Plan { frames: 60, .. })), "{:?}", last(&window));
    click(&mut window, Role::Button, "Reset Length");
    press(&mut window, Key::F9);
    assert!(matches!(last(&window), Action::Record(Plan { frames: 150, rate: 30, .. })));
    type_number(&mut window, "Length", "2");
    window.state_mut().ui().filming(Some((12, 60)));
    window.run();
    assert!(window.query_by_label_contains("12 of 60").is_some());
    press(&mut window, Key::F9);
    assert_eq!(last(&window), Action::EndFilm { keeps: true });
    let running = window.state().config.running;
    let told = window.state().actions.len();
    for key in [Key::Space, Key::S] {
        press(&mut window, key);
        assert_eq!((window.state().config.running, window.state().actions.len()), (running, told));
        assert!(window.query_by_label_contains("A film steps by itself").is_some(), "it is said why not");
    }
    // At the foot of the picture, so that it can be ended with the panel hidden.
    press(&mut window, Key::H);
    click(&mut window, Role::Button, "Cancel");
    assert_eq!(last(&window), Action::EndFilm { keeps: false });
    press(&mut window, Key::H);
    window.state_mut().ui().filming(None);
    window.run();
    assert!(window.query_by_role_and_label(Role::Button, "● Record").is_some());
}

#[test]
fn kernels_are_edited_and_what_is_refused_is_told_until_it_is_mended() {
    let mut window = open(MODES[0]);
    window.get_by_role_and_label(Role::Button, "Edit…").click();
    // It is drawn again and again while it reads a folder.
    window.run_steps(4);
    assert!(window.query_by_label_contains("Folder for kernels").is_some(), "a folder is asked for");
    let mut window = open(MODES[0]);
    window.state_mut().ui().watched(Some("some/folder".into()));
    window.run();
    assert!(window.query_by_label("some/folder").is_some());
    for log in ["a.cl:1:2: first", "a.cl:3:4: second"] {
        window.state_mut().ui().kernel_refused("It does not build.".into(), Some(log.into()));
        window.run();
        assert!(window.query_by_label(log).is_some(), "{log}");
    }
    assert!(window.query_by_label_contains("more").is_none(), "the newest alone");
    window.state_mut().ui().kernel_builds("Runs now: a.cl");
    window.run();
    assert!(window.query_by_label_contains("second").is_none());
    assert!(window.query_by_label("Runs now: a.cl").is_some());
    click(&mut window, Role::Button, "Built-in kernels");
    assert_eq!(last(&window), Action::OwnKernels);
}
