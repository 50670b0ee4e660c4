//! Collects the results of the widgets of one frame.

use std::fmt::Display;

use egui::{Rect, Response};

use super::action::Action;

/// Actions, messages and places of controls from one frame.
#[derive(Default)]
pub(super) struct Collector {
    /// Actions, in the order in which the user requested them.
    pub actions: Vec<Action>,
    /// Names and places of all controls, in points; none unless a test asks for them.
    pub controls: Option<Vec<(String, Rect)>>,
    /// Message about a number that was typed and not accepted.
    pub message: Option<String>,
}

impl Collector {
    /// Records the place of the control `key`, if places are recorded.
    pub(super) fn record(&mut self, key: impl Display, response: &Response) {
        self.record_rect(key, response.rect);
    }

    /// Records that the control `key` covers `rect`, if places are recorded.
    pub(super) fn record_rect(&mut self, key: impl Display, rect: Rect) {
        if let Some(controls) = &mut self.controls {
            controls.push((key.to_string(), rect));
        }
    }

    /// Records the button `key`, and collects `action` if the button was clicked.
    pub(super) fn button(&mut self, key: impl Display, button: &Response, action: Action) {
        self.record(key, button);
        self.actions.extend(button.clicked().then_some(action));
    }
}
