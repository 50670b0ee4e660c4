//! Splits the input events of one frame into groups that egui processes in separate passes.
//!
//! egui reads all events of a pass before it runs any widget. If a slow frame had a single pass, a drag could end at a
//! pointer position from after the release, and a new text field could receive letters typed before its shortcut.

use egui::{Event, Key};

/// Maximum number of event groups in a frame. It limits the time that a frame takes. Further events join the last
/// group.
const MAX_GROUPS: usize = 16;

/// Splits the events of one frame, in order, into groups for separate egui passes. Returns at least one group.
pub fn split_events(events: Vec<Event>) -> Vec<Vec<Event>> {
    let (mut groups, mut group) = (Vec::new(), Vec::new());
    for event in events {
        let is_last = groups.len() + 1 == MAX_GROUPS;
        let splits = group.last().is_some_and(ends_group) || starts_group(&event);
        if splits && !is_last && !group.is_empty() {
            groups.push(std::mem::take(&mut group));
        }
        group.push(event);
    }
    groups.push(group);
    groups
}

/// Returns whether `event` must be the first of its group. Shortcuts must, because a shortcut may open a text field.
fn starts_group(event: &Event) -> bool {
    matches!(event, Event::Key { pressed: true, repeat: false, modifiers, .. } if modifiers.command)
}

/// Returns whether `event` must be the last of its group because it may move the keyboard focus or end a drag.
fn ends_group(event: &Event) -> bool {
    match event {
        Event::PointerButton { .. } => true,
        Event::Key { key, pressed: true, repeat: false, modifiers, .. } => {
            modifiers.command || matches!(key, Key::Enter | Key::Escape | Key::Tab)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use egui::{Modifiers, PointerButton, pos2};

    use super::*;

    fn key(key: Key, modifiers: Modifiers) -> Event {
        Event::Key { key, physical_key: None, pressed: true, repeat: false, modifiers }
    }

    /// Asserts that [`split_events`] splits the concatenation of `groups` into exactly these groups.
    fn assert_split(groups: &[&[Event]]) {
        assert_eq!(split_events(groups.concat()), groups);
    }

    #[test]
    fn events_that_move_the_keyboard_focus_end_a_group() {
        let letter = [key(Key::T, Modifiers::NONE), Event::Text("t".to_owned())];
        assert_split(&[&letter, &[key(Key::P, Modifiers::COMMAND)], &letter]);
        for last in [Key::Enter, Key::Escape] {
            assert_split(&[&[key(last, Modifiers::NONE)], &[Event::Text("7".to_owned())]]);
        }
        assert_split(&[&[letter.clone(), letter].concat()]);
        assert_split(&[&[]]);
    }

    #[test]
    fn a_press_or_release_of_a_mouse_button_ends_a_group() {
        let moved = |x| Event::PointerMoved(pos2(x, 0.0));
        let button = |x, pressed| {
            let (pos, modifiers) = (pos2(x, 0.0), Modifiers::NONE);
            Event::PointerButton { pos, button: PointerButton::Primary, pressed, modifiers }
        };
        let release = [moved(2.0), moved(3.0), button(3.0, false)];
        assert_split(&[&[moved(1.0), button(1.0, true)], &release, &[moved(9.0)]]);
    }

    #[test]
    fn the_number_of_event_groups_is_bounded_and_no_event_is_lost() {
        let events = vec![key(Key::Enter, Modifiers::NONE); 100];
        let groups = split_events(events.clone());
        assert_eq!((groups.len(), groups.concat()), (MAX_GROUPS, events));
    }
}
