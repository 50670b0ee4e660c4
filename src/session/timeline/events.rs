//! Events of a run, such as edits and changed settings, which are found by comparing successive frames.

use crate::base::{format, params};
use crate::session::frame::Stats;

/// Kind of an [`Event`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// A parameter, the variant or another setting of the simulation has changed.
    Setting,
    /// The user has changed the bodies or the obstacles by hand, or has undone such a change.
    Edit,
    /// The scene has been restarted, or continues from a snapshot or an earlier moment.
    Start,
    /// The window has shown a warning to the user.
    Warning,
}

/// An event in the record of a run, such as an edit, a changed setting or a warning.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Time of the event, in seconds since recording began (see [`RecordedFrame::at`](super::RecordedFrame::at)).
    pub at: f64,
    /// Number of steps since the scene began.
    pub step: u64,
    /// Kind of the event, such as an edit or a warning.
    pub kind: EventKind,
    /// Description of the event, for example `Gravity G = 2`.
    pub text: String,
}

/// Returns the kind and description of each event between two successive frames, given their statistics.
pub(super) fn between(before: &Stats, after: &Stats) -> Vec<(EventKind, String)> {
    if before.generation != after.generation {
        let text = match after.step {
            0 => format!("Scene started: {}", after.config.start.title),
            step => format!("Continued from step {step}"),
        };
        return vec![(EventKind::Start, text)];
    }
    let mut events = Vec::new();
    if after.edits > before.edits {
        let name = after.last_edit.map_or("the change", |edit| edit.name());
        events.push((EventKind::Edit, format::capitalised(name.trim_start_matches("the "))));
    } else if after.undos != before.undos && after.changes != before.changes {
        events.push((EventKind::Edit, if after.undos < before.undos { "Undo" } else { "Redo" }.to_owned()));
    }
    let (old, new) = (&before.config, &after.config);
    let changes = params::labelled_changes(&old.mode.values(), new.mode.clone().as_mut());
    let changes = changes.into_iter().map(|(label, value)| format!("{label} = {value}"));
    let variant = (before.variant != after.variant).then(|| format!("Variant {}", after.variant));
    let group = (before.work_group != after.work_group && before.variant == after.variant)
        .then(|| format!("Work-group size {}", after.work_group));
    let reverse = (old.reverse != new.reverse)
        .then(|| if new.reverse { "Time runs backwards" } else { "Time runs forwards" }.to_owned());
    let settings = changes.chain(variant).chain(group).chain(reverse);
    events.extend(settings.map(|text| (EventKind::Setting, text)));
    events
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::base::EditKind;
    use crate::engine::Config;
    use crate::modes::MODES;

    #[test]
    fn timeline_events_name_the_changed_settings_and_edits() {
        let config = Config::new(MODES[0]);
        let before = Stats {
            generation: 1,
            step: 7,
            config: Arc::new(config.clone()),
            variant: "a",
            ..Stats::default()
        };
        assert_eq!(between(&before, &Stats { step: 9, ..before.clone() }), []);
        let mut changed = config.clone();
        params::set(changed.mode.as_mut(), "g", "2").unwrap();
        let after = Stats {
            config: Arc::new(changed),
            variant: "b",
            edits: 1,
            undos: 1,
            last_edit: Some(EditKind::Launch),
            ..before.clone()
        };
        let texts: Vec<_> = between(&before, &after).into_iter().map(|(_, text)| text).collect();
        assert_eq!(texts, ["Launch", "Gravity G = 2", "Variant b"]);
        let undone = Stats { undos: 0, changes: 1, ..after.clone() };
        assert_eq!(between(&after, &undone), [(EventKind::Edit, "Undo".to_owned())]);
        let again = Stats { generation: 2, step: 5, ..before.clone() };
        assert_eq!(between(&before, &again), [(EventKind::Start, "Continued from step 5".to_owned())]);
    }
}
