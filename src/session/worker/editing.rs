//! State of the selection, and of edits that span several commands, such as attractions and brush strokes.

use crate::base::Attractor;

/// An attraction or repulsion of bodies by the user's pointer.
pub(super) struct Attraction {
    pub attractor: Attractor,
    /// Number of computed steps for which the attraction must still be applied; may be fractional.
    pub owed: f64,
    /// Whether the attraction has changed any bodies. If so, undo can revert the changes.
    pub has_acted: bool,
}

#[derive(Default)]
pub(super) struct EditState {
    /// Index of the selected body, whose properties each frame reports; `None` if no body is selected.
    pub selected: Option<usize>,
    /// `Some` while the window may still use outdated body indices. The value says whether a frame with the current
    /// indices has been published.
    renumbered: Option<bool>,
    /// The attraction by the user's pointer, if any.
    pub attraction: Option<Attraction>,
    /// Whether the next brush stroke continues the last one. If so, undo removes both strokes.
    pub stroke_goes_on: bool,
}

impl EditState {
    /// Returns whether the window may still use outdated body indices after bodies were removed or replaced.
    pub(super) fn is_renumbered(&self) -> bool {
        self.renumbered.is_some()
    }

    /// Records that a frame was published whose bodies have their current indices.
    pub(super) fn published(&mut self) {
        self.renumbered = self.renumbered.map(|_| true);
    }

    /// Records that the window took the newest frame.
    pub(super) fn frame_taken(&mut self) {
        self.renumbered = self.renumbered.filter(|is_published| !is_published);
    }

    /// Records that `body` was removed, which shifts the indices of all later bodies.
    pub(super) fn removed(&mut self, body: usize) {
        self.renumbered = Some(false);
        self.selected = match self.selected {
            Some(selected) if selected > body => Some(selected - 1),
            selected => selected.filter(|selected| *selected != body),
        };
    }

    /// Clears the selection, and ends the attraction and the brush stroke. Called after the bodies have been replaced.
    pub(super) fn reset(&mut self) {
        *self = Self { renumbered: Some(false), ..Self::default() };
    }

    /// Starts or moves the attraction by the pointer, or ends it if `attractor` is `None`. Starts one only if
    /// `has_bodies` is true. Returns the attraction if it ended.
    pub(super) fn attract(&mut self, attractor: Option<Attractor>, has_bodies: bool) -> Option<Attraction> {
        match (attractor, &mut self.attraction) {
            (Some(attractor), Some(attraction)) => attraction.attractor = attractor,
            (Some(attractor), None) if has_bodies => {
                self.attraction = Some(Attraction { attractor, owed: 0.0, has_acted: false });
            }
            (Some(_), None) => {}
            (None, _) => return self.attraction.take(),
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn body_indices_are_valid_again_once_a_renumbered_frame_has_been_taken() {
        let mut edits = EditState { selected: Some(5), ..EditState::default() };
        edits.removed(3);
        assert_eq!((edits.selected, edits.is_renumbered()), (Some(4), true));
        edits.frame_taken();
        assert!(edits.is_renumbered(), "that frame was older");
        edits.published();
        edits.frame_taken();
        assert!(!edits.is_renumbered());
        edits.removed(4);
        assert_eq!(edits.selected, None);
    }

    #[test]
    fn an_attractor_can_be_moved_and_removed_and_requires_bodies() {
        let at = |x| Attractor { at: [x, 0.0, 0.0], strength: 1.0, reach: 1.0 };
        let mut edits = EditState::default();
        assert!(edits.attract(Some(at(1.0)), false).is_none() && edits.attraction.is_none());
        edits.attract(Some(at(1.0)), true);
        edits.attract(Some(at(2.0)), true);
        assert_eq!(edits.attract(None, true).map(|ended| ended.attractor), Some(at(2.0)));
        assert!(edits.attract(None, true).is_none());
    }
}
