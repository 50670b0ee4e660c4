//! Undo and redo. The history lists changes of settings and manual edits of the bodies in the order in which they were made.

use egui::{Event, PointerButton};

use super::mode_memory::ModeMemory;
use crate::base::{EditKind, Look, ParamValues, Partial, params};
use crate::engine::{Config, Tuned};
use crate::session::Stats;

/// Maximum number of steps in the undo history.
const MOST_STEPS: usize = 200;
/// Maximum number of settings that the name of a change lists.
const MOST_NAMES: usize = 3;

/// A step of the undo history.
#[derive(Debug)]
enum Step {
    /// A change of settings, which the user interface undoes.
    Change(Box<Change>),
    /// A manual edit of the bodies or the obstacles, which the simulation undoes.
    Edit(EditKind),
}

/// A change of one or several settings, for example by dragging a slider.
#[derive(Debug)]
struct Change {
    /// Labels of the changed settings, or the number of settings if there are many.
    name: String,
    /// Running number of the key or mouse button press that made the change.
    press: u64,
    before: Settings,
    after: Settings,
}

/// Result of undoing or redoing a step.
#[derive(Debug, PartialEq)]
pub(super) enum Outcome {
    /// A change of settings was undone or redone.
    Changed {
        /// Labels of the changed settings, or the number of settings if there are many.
        name: String,
        /// Whether this restarts the scene from its initial state.
        restarts: bool,
    },
    /// The simulation must undo or redo an edit of this kind.
    Edit(EditKind),
}

/// Settings whose changes can be undone. Excludes pausing, the direction of time and following a body.
#[derive(Debug, Clone, PartialEq)]
struct Settings {
    config: Config,
    look: Look,
}

/// Steps that can be undone, and undone steps that can be redone.
#[derive(Debug, Default)]
pub struct UndoHistory {
    /// Steps to undo, oldest first.
    past: Vec<Step>,
    /// Undone steps, in the order in which they were undone.
    future: Vec<Step>,
    /// Settings as they were last recorded. If the current settings differ, the user has changed them.
    recorded: Option<Settings>,
    /// Number of presses of keys and mouse buttons so far.
    presses: u64,
    /// Whether the last press was the second press of a double click.
    is_double: bool,
    /// Mode and generation of the scene to which the edits belong; see [`Stats::generation`].
    scene: (&'static str, u64),
    /// Number of manual edits that the history has recorded.
    edits: u64,
}

impl Settings {
    fn new(config: &Config, look: &Look) -> Self {
        let (config, look) = (config.clone(), look.clone());
        let config = Config { running: true, reverse: false, tuned: Tuned::default(), run: 0, ..config };
        Self { config, look: Look { follow: false, ..look } }
    }

    /// Returns the labels of the settings that differ from `before`, or `None` if there are none.
    fn changes(&self, before: &Self) -> Option<String> {
        let ((old, new), (mode, earlier)) =
            ((&before.config, &self.config), (&self.config.mode, &before.config.mode));
        if mode.info() != earlier.info() {
            return Some("Mode".to_owned());
        }
        if old.start != new.start {
            return Some("Scene".to_owned());
        }
        let named = [
            (old.bodies != new.bodies, mode.info().work.label.0),
            (old.seed != new.seed, "Seed"),
            (old.variant != new.variant, "Variant"),
            (old.work_group != new.work_group, "Work-group"),
            (old.knobs != new.knobs, "Kernel tuning"),
            (old.steps_per_frame != new.steps_per_frame, "Steps/frame"),
            (old.free_run != new.free_run, "Free run"),
            (old.devices != new.devices, "Devices"),
        ];
        let mut names: Vec<_> =
            named.into_iter().filter(|(differs, _)| *differs).map(|(_, name)| name).collect();
        let look = ParamValues::collect(&mut before.look.clone());
        let changes = params::labelled_changes(&earlier.values(), &mut *mode.clone());
        let changes = changes.into_iter().chain(params::labelled_changes(&look, &mut self.look.clone()));
        names.extend(changes.map(|(label, _)| label));
        match names.len() {
            0 => None,
            1..=MOST_NAMES => Some(names.join(", ")),
            count => Some(format!("{count} settings")),
        }
    }
}

impl Change {
    /// Undoes the change, or repeats it if `redoes` is true. Returns `None` if this changes no setting.
    fn apply(
        &self,
        redoes: bool,
        modes: &mut ModeMemory,
        (config, look): (&mut Config, &mut Look),
    ) -> Option<Outcome> {
        let (from, to) = if redoes { (&self.before, &self.after) } else { (&self.after, &self.before) };
        let (before, look_before) = (config.clone(), look.clone());
        modes.select(to.config.mode.info(), config);
        *config = config.clone().with_changes(&from.config, &to.config);
        Partial::changes(&from.look, &to.look).apply(look);
        let restarts = before.mode.info() == config.mode.info()
            && (before.reseeds(config) || before.bodies != config.bodies);
        let has_changed = (&before, &look_before) != (&*config, &*look);
        has_changed.then(|| Outcome::Changed { name: self.name.clone(), restarts })
    }
}

impl UndoHistory {
    /// Counts the presses and records the manual edits since the last frame. Ignores changes of settings that the user
    /// did not make, such as those after a device failure. `present` contains the statistics of the live simulation, or
    /// is `None` while the screen shows a past moment.
    pub(super) fn begin_frame(
        &mut self,
        ctx: &egui::Context,
        (config, look): (&Config, &Look),
        present: Option<&Stats>,
    ) {
        ctx.input(|input| {
            self.presses += input.events.iter().filter(|event| is_press(event)).count() as u64;
            self.is_double = input.pointer.button_double_clicked(PointerButton::Primary);
        });
        present.into_iter().for_each(|stats| self.record_edits(stats));
        self.recorded = Some(Settings::new(config, look));
    }

    /// Adds the edits that the simulation has made since the last frame, and removes those that it can no longer undo.
    fn record_edits(&mut self, stats: &Stats) {
        let scene = (stats.mode, stats.generation);
        if std::mem::replace(&mut self.scene, scene) != scene {
            for steps in [&mut self.past, &mut self.future] {
                steps.retain(|step| matches!(step, Step::Change(_)));
            }
        }
        let made = stats.edits.saturating_sub(std::mem::replace(&mut self.edits, stats.edits));
        let Some(kind) = stats.last_edit.filter(|_| made > 0) else { return };
        for _ in 0..made.min(stats.undos as u64) {
            self.push(Step::Edit(kind));
        }
        let is_edit = |step: &Step| matches!(step, Step::Edit(_));
        let mut forgotten = self.past.iter().filter(|step| is_edit(step)).count().saturating_sub(stats.undos);
        self.past.retain(|step| {
            let is_kept = forgotten == 0 || !is_edit(step);
            forgotten -= usize::from(!is_kept);
            is_kept
        });
    }

    /// Records the settings that have changed since they were last recorded. Changes during one press form one step.
    pub(super) fn record(&mut self, config: &Config, look: &Look) {
        let after = Settings::new(config, look);
        let Some(before) = self.recorded.replace(after.clone()) else { return };
        let Some(name) = after.changes(&before) else { return };
        let first = self.presses.saturating_sub(self.is_double.into());
        match self.past.last_mut() {
            Some(Step::Change(change)) if change.press >= first => {
                self.future.clear();
                match after.changes(&change.before) {
                    Some(name) => (change.name, change.after) = (name, after),
                    None => drop(self.past.pop()),
                }
            }
            _ => {
                let change = Change { name, press: self.presses, before, after };
                self.push(Step::Change(Box::new(change)));
            }
        }
    }

    /// Records a change from `before` to `after` that the user made outside the panel, for example by opening a file.
    pub fn add(&mut self, before: (&Config, &Look), after: (&Config, &Look)) {
        (self.presses, self.is_double) = (self.presses + 1, false);
        self.recorded = Some(Settings::new(before.0, before.1));
        self.record(after.0, after.1);
    }

    fn push(&mut self, step: Step) {
        self.future.clear();
        self.past.push(step);
        if self.past.len() > MOST_STEPS {
            self.past.remove(0);
        }
    }

    /// Undoes the last step, or redoes the last undone step if `redoes` is true. Skips changes that would have no
    /// effect because the simulation rejected them. Returns `None` if there is no step.
    pub(super) fn go(
        &mut self,
        redoes: bool,
        modes: &mut ModeMemory,
        (config, look): (&mut Config, &mut Look),
    ) -> Option<Outcome> {
        self.record(config, look);
        let (from, to) = match redoes {
            true => (&mut self.future, &mut self.past),
            false => (&mut self.past, &mut self.future),
        };
        let (step, outcome) = std::iter::from_fn(|| from.pop()).find_map(|step| {
            let outcome = match &step {
                Step::Change(change) => change.apply(redoes, modes, (&mut *config, &mut *look)),
                Step::Edit(kind) => Some(Outcome::Edit(*kind)),
            };
            outcome.map(|outcome| (step, outcome))
        })?;
        to.push(step);
        self.recorded = Some(Settings::new(config, look));
        Some(outcome)
    }

    /// Removes the last edit from the history, even if settings have changed since. Called when the simulation undoes
    /// this edit.
    pub(super) fn remove_last_edit(&mut self) {
        if let Some(at) = self.past.iter().rposition(|step| matches!(step, Step::Edit(_))) {
            self.past.remove(at);
        }
        self.future.clear();
    }

    /// Returns the number of steps that can be undone.
    pub(super) fn len(&self) -> usize {
        self.past.len()
    }

    /// Returns the name of the step that would be undone next, or redone if `redoes` is true.
    pub(super) fn next(&self, redoes: bool) -> Option<&str> {
        let steps = if redoes { &self.future } else { &self.past };
        steps.last().map(|step| match step {
            Step::Change(change) => change.name.as_str(),
            Step::Edit(kind) => kind.name(),
        })
    }

    /// Forgets all steps, because a snapshot has replaced all settings and bodies.
    pub fn clear(&mut self) {
        *self = Self { presses: self.presses, scene: self.scene, edits: self.edits, ..Self::default() };
    }
}

/// Returns whether `event` is the press of a key or a mouse button.
fn is_press(event: &Event) -> bool {
    matches!(
        event,
        Event::PointerButton { pressed: true, .. } | Event::Key { pressed: true, repeat: false, .. }
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modes::MODES;

    /// An undo history with the settings whose changes it records.
    struct Desk {
        history: UndoHistory,
        modes: ModeMemory,
        config: Config,
        look: Look,
    }

    impl Desk {
        fn new() -> Self {
            let (config, look) = (Config::new(MODES[0]), Look::default());
            Self { history: UndoHistory::default(), modes: ModeMemory::default(), config, look }
        }

        /// Changes settings during the press with the number `press`.
        fn change(&mut self, press: u64, change: impl FnOnce(&mut Config, &mut Look)) {
            self.history.presses = press;
            self.history.recorded = Some(Settings::new(&self.config, &self.look));
            change(&mut self.config, &mut self.look);
            self.history.record(&self.config, &self.look);
        }

        fn go(&mut self, redoes: bool) -> Option<Outcome> {
            self.history.go(redoes, &mut self.modes, (&mut self.config, &mut self.look))
        }
    }

    fn edits(made: u64, undos: usize) -> Stats {
        Stats { edits: made, undos, last_edit: Some(EditKind::Launch), ..Stats::default() }
    }

    #[test]
    fn a_drag_is_undone_as_one_step() {
        let mut desk = Desk::new();
        for seed in [5, 6, 7] {
            desk.change(1, |config, _| config.seed = seed);
        }
        desk.change(2, |_, look| look.exposure = 2.0);
        assert_eq!(desk.history.len(), 2);
        assert!(desk.go(false).is_some() && desk.config.seed == 7 && desk.look.exposure == 0.0);
        let restarts = Outcome::Changed { name: "Seed".to_owned(), restarts: true };
        assert_eq!((desk.go(false), desk.config.seed), (Some(restarts), 1));
        assert_eq!(desk.go(false), None);
        assert!(desk.go(true).is_some() && desk.go(true).is_some() && desk.go(true).is_none());
        assert_eq!((desk.config.seed, desk.look.exposure), (7, 2.0));
        // A drag back to the start is no step.
        for seed in [8, 7] {
            desk.change(9, |config, _| config.seed = seed);
        }
        assert_eq!(desk.history.len(), 2);
    }

    #[test]
    fn edits_and_setting_changes_are_undone_in_reverse_order() {
        let mut desk = Desk::new();
        desk.history.record_edits(&edits(1, 1));
        desk.change(1, |config, _| config.seed = 2);
        desk.history.record_edits(&edits(2, 2));
        let launch = || Some(Outcome::Edit(EditKind::Launch));
        assert_eq!(desk.go(false), launch());
        // The simulation has undone the edit.
        desk.history.record_edits(&edits(2, 1));
        assert!(desk.go(false).is_some() && desk.config.seed == 1);
        assert_eq!((desk.go(false), desk.go(false)), (launch(), None));
        assert_eq!(desk.go(true), launch());
        // A new edit makes it impossible to redo.
        desk.history.record_edits(&edits(3, 2));
        assert_eq!((desk.go(true), desk.history.len()), (None, 2));
        // The simulation keeps a limited number of edits, and none of an earlier scene.
        desk.history.record_edits(&edits(4, 2));
        assert_eq!(desk.history.len(), 2);
        desk.history.record_edits(&Stats { generation: 9, ..edits(4, 0) });
        assert_eq!(desk.history.len(), 0);
    }

    #[test]
    fn undo_skips_changes_that_the_simulation_rejected() {
        let mut desk = Desk::new();
        desk.change(1, |config, _| config.seed = 2);
        desk.change(2, |config, _| config.work_group = Some(3));
        desk.config.work_group = None;
        desk.history.recorded = None;
        assert!(desk.go(false).is_some());
        assert_eq!((desk.config.seed, desk.go(false)), (1, None));
    }

    #[test]
    fn undo_and_redo_of_a_mode_change_restore_the_settings_of_each_mode() {
        let mut desk = Desk::new();
        desk.change(1, |config, _| config.bodies = Some(77));
        let Desk { history, modes, config, look } = &mut desk;
        history.presses = 2;
        modes.select(MODES[1], config);
        history.record(config, look);
        desk.change(3, |config, _| config.bodies = Some(55));
        assert!(desk.go(false).is_some() && desk.config.bodies.is_none());
        let back = Outcome::Changed { name: "Mode".to_owned(), restarts: false };
        assert_eq!(desk.go(false), Some(back));
        assert_eq!((desk.config.mode.info(), desk.config.bodies), (MODES[0], Some(77)));
        assert!(desk.go(true).is_some() && desk.go(true).is_some());
        assert_eq!((desk.config.mode.info(), desk.config.bodies), (MODES[1], Some(55)));
    }

    #[test]
    fn pausing_and_following_are_not_recorded_as_undo_steps() {
        let mut desk = Desk::new();
        desk.change(1, |config, look| {
            (config.running, config.reverse, config.run, look.follow) = (false, true, 3, true);
        });
        assert_eq!(desk.history.len(), 0);
    }
}
