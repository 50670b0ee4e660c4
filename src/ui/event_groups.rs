//! Splits the events of one frame into groups, each of which needs its own pass of egui.
//!
//! egui reads all events of a pass before any widget runs. In a slow frame a widget would then see where the pointer went
//! after the button was released, and a text field would receive the letters typed before the shortcut that opens it.

use egui::{Event, Key};

/// The most groups of one frame; further events join the last group, so that a slow frame cannot grow without bound.
const MAX_GROUPS: usize = 16;

/// Splits the events of one frame into groups, in order. There is at least one group, which may be empty.
pub fn split_events(events: Vec<Event>) -> Vec<Vec<Event>> {
    let mut groups = vec![Vec::new()];
    let mut ends = false;
    for event in events {
        let is_full = groups.len() == MAX_GROUPS;
        if let Some(group) = groups.last_mut()
            && (is_full || group.is_empty() || !(ends || starts_group(&event)))
        {
            ends = ends_group(&event);
            group.push(event);
        } else {
            ends = ends_group(&event);
            groups.push(vec![event]);
        }
    }
    groups
}

/// Returns whether the event is a shortcut that may open a text field, and so must not share a pass with earlier events.
fn starts_group(event: &Event) -> bool {
    matches!(event, Event::Key { pressed: true, repeat: false, modifiers, .. } if modifiers.command)
}

/// Returns whether the event may move the keyboard focus or end a drag, and so must not share a pass with later events.
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
    use egui::{Modifiers, PointerButton, Pos2, pos2};

    use super::*;

    fn key(key: Key, modifiers: Modifiers) -> Event {
        Event::Key { key, physical_key: None, pressed: true, repeat: false, modifiers }
    }

    fn text(text: &str) -> Event {
        Event::Text(text.to_owned())
    }

    fn button(pos: Pos2, pressed: bool) -> Event {
        Event::PointerButton { pos, button: PointerButton::Primary, pressed, modifiers: Modifiers::NONE }
    }

    #[test]
    fn a_letter_before_a_shortcut_has_a_pass_of_its_own() {
        let letter = [key(Key::T, Modifiers::NONE), text("t")];
        let shortcut = key(Key::P, Modifiers::COMMAND);
        let events = [&letter[..], std::slice::from_ref(&shortcut), &letter[..]].concat();
        assert_eq!(split_events(events), [letter.to_vec(), vec![shortcut], letter.to_vec()]);
    }

    #[test]
    fn enter_and_escape_end_a_group() {
        for last in [Key::Enter, Key::Escape] {
            let (first, then) = (key(last, Modifiers::NONE), text("7"));
            assert_eq!(split_events(vec![first.clone(), then.clone()]), [vec![first], vec![then]]);
        }
    }

    #[test]
    fn a_drag_ends_before_the_pointer_moves_on() {
        let moved = |x| Event::PointerMoved(pos2(x, 0.0));
        let press = vec![moved(1.0), button(pos2(1.0, 0.0), true)];
        let release = vec![moved(2.0), moved(3.0), button(pos2(3.0, 0.0), false)];
        let later = vec![moved(9.0)];
        let events = [press.clone(), release.clone(), later.clone()].concat();
        assert_eq!(split_events(events), [press, release, later]);
    }

    #[test]
    fn ordinary_events_share_one_pass() {
        let typed = vec![key(Key::A, Modifiers::NONE), text("a"), key(Key::B, Modifiers::NONE), text("b")];
        assert_eq!(split_events(typed.clone()), [typed]);
        assert_eq!(split_events(Vec::new()), [Vec::new()]);
    }

    #[test]
    fn the_number_of_groups_is_bounded_and_no_event_is_lost() {
        let events = vec![key(Key::Enter, Modifiers::NONE); 100];
        let groups = split_events(events.clone());
        assert_eq!(groups.len(), MAX_GROUPS);
        assert_eq!(groups.concat(), events);
    }
}
