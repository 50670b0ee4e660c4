//! Performs actions on the user interface and on the model.

use super::action::{Action, Tool};
use super::chart_window::Measurement;
use super::files::Purpose;
use super::interface::Ui;
use super::model::Model;
use super::playback;
use super::undo::Outcome;
use crate::base::{ParamValue, ParamValues, look, params};
use crate::export::chart::Chart;
use crate::modes::MODES;

/// Message about an action that is refused while two simulations are compared.
pub const ONE_SIMULATION: &str =
    "This action is not available while two simulations are compared. Press D to end the comparison.";

impl Ui {
    /// Performs an action on the user interface or the model. Returns the action that the window must perform, if any.
    pub(super) fn apply(&mut self, action: Action, model: &mut Model) -> Option<Action> {
        if action.advances_time() && self.export.filming.is_some() {
            let text = "This action is not available while a film is being recorded. Press F9 to stop recording and save the film.";
            self.alerts.say(text);
            return None;
        }
        if model.compared.is_some() && action.needs_one_simulation() {
            self.alerts.say(ONE_SIMULATION);
            return None;
        }
        self.presents &= !action.ends_presentation();
        model.config.running |= action.replaces_run() && self.alerts.clear_blow_up();
        let action = self.apply_to_run(action, model)?;
        let action = self.apply_to_settings(action, model)?;
        self.apply_to_windows(action, model)
    }

    /// Performs an action that controls time, the mode or the scene. Returns an action for other code to perform, if any.
    fn apply_to_run(&mut self, action: Action, model: &mut Model) -> Option<Action> {
        let is_past = model.is_past();
        let (config, stats) = (&mut *model.config, model.stats);
        match action {
            Action::RunPause if is_past => return Some(Action::ReplayOrPause),
            Action::RunPause => config.running ^= true,
            Action::Step | Action::GoTo(_) => {
                config.running = false;
                return Some(action);
            }
            Action::Reverse => match config.mode.backwards() {
                Err(reason) if !config.reverse => self.alerts.say(reason),
                _ => config.reverse ^= true,
            },
            Action::Slower => playback::change_speed(config, stats.steps_per_frame, false),
            Action::Faster => playback::change_speed(config, stats.steps_per_frame, true),
            Action::Restart if self.alerts.clear_blow_up() => return Some(Action::RestartAndRun),
            Action::SelectMode(info) => self.modes.select(info, config),
            Action::NextMode => {
                let at = MODES.iter().position(|info| *info == config.mode.info()).unwrap_or(0);
                self.modes.select(MODES[(at + 1) % MODES.len()], config);
            }
            Action::SelectScene(info, scene) => {
                self.modes.select(info, config);
                config.select_scene(scene);
                // The scene starts again, even if the mode was last used with the same scene.
                config.run += 1;
                // A scene cannot run back beyond its start.
                config.reverse = false;
            }
            // Undoes the last edit, which made the simulation unstable, even if settings have changed since.
            Action::Undo if stats.undos > 0 && self.alerts.clear_blow_up() => {
                self.alerts.undo.request(stats.undos);
                self.undo.remove_last_edit();
                return Some(Action::UndoAndRun);
            }
            Action::Undo | Action::Redo => return self.undo_or_redo(action, model),
            action => return Some(action),
        }
        None
    }

    /// Undoes or redoes a step of the history. Returns the action if the simulation must undo or redo an edit.
    fn undo_or_redo(&mut self, action: Action, model: &mut Model) -> Option<Action> {
        let Model { config, look, stats, .. } = model;
        let redoes = action == Action::Redo;
        let verb = if redoes { "Redid" } else { "Undid" };
        match self.undo.go(redoes, &mut self.modes, (config, look)) {
            Some(Outcome::Changed { name, restarts }) => {
                let note = if restarts { "; the scene restarts" } else { "" };
                self.alerts.say(format!("{verb} change: {name}{note}"));
                None
            }
            Some(Outcome::Edit(kind)) if redoes => {
                self.alerts.say(format!("{verb} {}", kind.name()));
                Some(action)
            }
            None if redoes => {
                self.alerts.say("There is nothing to redo.");
                None
            }
            // If the history is empty, the simulation reports that there is nothing to undo.
            Some(Outcome::Edit(_)) | None => {
                self.alerts.undo.request(stats.undos);
                Some(action)
            }
        }
    }

    /// Performs an action on settings, mouse tools, the brush or the selected body. Returns an action that other code must
    /// perform, if any.
    fn apply_to_settings(&mut self, action: Action, model: &mut Model) -> Option<Action> {
        let is_past = model.is_past();
        let Model { config, look, tools, stats, .. } = model;
        match action {
            Action::ToggleTool(_) | Action::ToggleBrush if is_past => {
                self.alerts
                    .say("The tools are off while a recorded moment is shown. Press End to return to the live simulation.");
            }
            Action::ToggleFreeRun => {
                config.free_run ^= true;
                self.show_switch("free run", config.free_run);
            }
            Action::SelectVariant(variant) => config.variant = variant,
            Action::ResetParameters => config.mode = config.mode.info().mode_for(&config.start),
            Action::SetOption(key, option) => {
                let of_mode = params::set(config.mode.as_mut(), key, option);
                let _ = of_mode.or_else(|_| params::set(*look, key, option));
            }
            Action::SetNumber(key, number) => {
                let set = params::set(config.mode.as_mut(), key, &number.to_string());
                debug_assert!(set.is_ok(), "{set:?}");
            }
            Action::ToggleFlag(key) => {
                let all = [config.mode.values(), ParamValues::collect(*look)];
                let is_on = all.iter().find_map(|values| values.get(key)) == Some(ParamValue::Flag(true));
                self.show_switch(key, !is_on);
                let option = if is_on { "off" } else { "on" };
                return self.apply_to_settings(Action::SetOption(key, option), model);
            }
            Action::ShowSetting(key) => {
                self.panel = true;
                self.jump = Some(key.into());
            }
            Action::FollowCentre | Action::ToggleRotation => match (config.mode.info().work.orbit, action) {
                (Ok(()), Action::FollowCentre) => look.follow ^= true,
                (Ok(()), _) => look.turn ^= true,
                (Err(reason), _) => self.alerts.say(reason),
            },
            Action::ToggleGrid => look.grid ^= true,
            Action::LargerText => look.scale = look.scale.next(true),
            Action::SmallerText => look.scale = look.scale.next(false),
            Action::DefaultTextSize => look.scale = look::Size::One,
            Action::DeleteBody => return stats.selected.map(|_| action),
            Action::ToggleTool(tool) => match config.mode.info().work.tools {
                Ok(()) => tools.tool = if tools.tool == tool { Tool::Look } else { tool },
                Err(reason) => self.alerts.say(reason),
            },
            Action::ToggleBrush => match config.mode.info().work.brush {
                Ok(()) => self.brush.is_on ^= true,
                Err(reason) => self.alerts.say(reason),
            },
            Action::FollowBody => tools.follows = stats.selected.is_some() && !tools.follows,
            action => return Some(action),
        }
        None
    }

    /// Performs an action on a window or dialog over the picture. Returns an action that other code must perform, if any.
    fn apply_to_windows(&mut self, action: Action, model: &mut Model) -> Option<Action> {
        let is_filming = self.export.filming.is_some();
        let name = || model.config.start.file_name();
        match action {
            // The command palette has already opened at the start of the frame.
            Action::OpenPalette => {}
            Action::TogglePanel => self.panel ^= true,
            Action::TogglePresentation => self.presents ^= true,
            Action::ToggleFullScreen if self.presents => self.presents = false,
            Action::ToggleNumbers => self.fold.toggle(),
            Action::ToggleHelp => self.help ^= true,
            Action::TogglePlots => self.plots.is_open ^= true,
            Action::ToggleLens => self.lens.is_open ^= true,
            Action::OpenLens(page) => self.lens.open(page),
            Action::PointAt(key) => {
                self.panel = true;
                self.jump = Some(key.into());
            }
            Action::StartLesson(lesson) => self.start_lesson(lesson),
            Action::ToggleTimeline => {
                self.timeline ^= true;
                return (!self.timeline && model.is_past()).then_some(Action::GoLive);
            }
            Action::ToggleGallery => self.gallery.is_open ^= true,
            Action::ShowChart => self.measurement.is_open = true,
            Action::StartStudy(study) => {
                let chart = Some(Chart::of(study, model.config, model.device));
                self.measurement = Measurement { running: Some(0.0), chart, is_open: true, saved: None };
                return Some(action);
            }
            Action::Open => self.files.ask(Purpose::Open, ""),
            Action::SaveSnapshot => self.files.ask(Purpose::SaveSnapshot, &name()),
            Action::SaveScene => self.files.ask(Purpose::SaveScene, &name()),
            Action::EditKernels => self.files.ask(Purpose::EditKernels, ""),
            Action::SavePlots => return self.plots.has_data(model.stats).then_some(action),
            Action::RecordFilm if is_filming => return Some(Action::FinishFilm),
            Action::ContinuePrevious | Action::DeclinePrevious => {
                self.alerts.toasts.offer = None;
                return Some(action);
            }
            Action::Dismiss => return self.dismiss(model),
            action => return Some(action),
        }
        None
    }

    /// Dismisses the first of these that is active: dialog, presentation, window, drag, tool, brush, selection. Returns an
    /// action if other code must perform the dismissal.
    fn dismiss(&mut self, model: &mut Model) -> Option<Action> {
        let Model { config, tools, markers, stats, .. } = model;
        if self.alerts.dialogs.close() {
        } else if self.presents {
            self.presents = false;
        } else if self.gallery.is_open {
            self.gallery.is_open = false;
        } else if self.help {
            self.help = false;
        } else if markers.aim.is_some() || markers.attractor.is_some() {
            return Some(Action::CancelGesture);
        } else if tools.active(config) != Tool::Look {
            tools.tool = Tool::Look;
        } else if self.brush.active(config).is_some() {
            self.brush.is_on = false;
        } else {
            return stats.selected.map(|_| Action::Deselect);
        }
        None
    }

    /// Scrolls the panel to the checkbox `key`. If the panel is hidden, shows a message with the checkbox's new state
    /// instead.
    fn show_switch(&mut self, key: &'static str, is_on: bool) {
        if self.panel {
            self.jump = Some(key.into());
            return;
        }
        let mut name = key.replace('_', " ");
        name[..1].make_ascii_uppercase();
        self.alerts.say(format!("{name} is {}", if is_on { "on" } else { "off" }));
    }
}
