//! Confirms undo requests once the simulation has carried them out.

use crate::base::edit::EditKind;
use crate::session::Stats;

/// Undo requests that the simulation has not confirmed yet.
#[derive(Debug, Default)]
pub(super) struct UndoTracker {
    /// Number of the scene's start that the requests belong to.
    generation: u64,
    requested: usize,
    /// Number of edits that could be undone at the last frame, and the kind of the newest.
    undoable: (usize, Option<EditKind>),
}

impl UndoTracker {
    /// Counts a request to undo an edit.
    pub(super) fn request(&mut self) {
        self.requested += 1;
    }

    /// Counts a request to undo an edit, unless every one of the `undos` edits already has a request.
    pub(super) fn request_within(&mut self, undos: usize) {
        self.requested = (self.requested + 1).min(undos);
    }

    /// Compares `stats` with those of the previous frame; returns a message about the undone edits, if any.
    pub(super) fn update(&mut self, stats: &Stats) -> Option<String> {
        let (before, kind) = std::mem::replace(&mut self.undoable, (stats.undos, stats.last_edit));
        let is_same = std::mem::replace(&mut self.generation, stats.generation) == stats.generation;
        // The list of edits also shrinks without a request, when its oldest entries are dropped.
        let undone = before.saturating_sub(stats.undos).min(self.requested);
        self.requested = if is_same { self.requested - undone } else { 0 };
        if !is_same || undone == 0 {
            return None;
        }
        let what = match (undone, kind) {
            (1, Some(kind)) => format!("Undid {}", kind.name()),
            _ => format!("Undid {undone} edits"),
        };
        Some(match stats.undos {
            0 => format!("{what}; nothing more to undo"),
            more => format!("{what}; {more} more can be undone"),
        })
    }
}
