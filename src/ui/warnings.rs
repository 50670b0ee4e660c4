//! Warnings about the running simulation. If a parameter can remove the cause of a warning, a button changes the
//! parameter.

use std::sync::Arc;

use egui::RichText;

use super::action::{Action, Collector};
use super::model::Model;
use super::{keys, theme};
use crate::base::{format, params};
use crate::modes::{Mode, Remedy};
use crate::scene::{Scene, softening};

/// Relative drift of the energy above which a warning is shown.
const WORRYING_DRIFT: f64 = 0.1;
/// Smallest change of the energy that causes a warning, as a fraction of the kinetic energy plus |potential energy|.
/// If kinetic and potential energy nearly cancel, even a small error is large relative to the total energy.
const WORRYING_CHANGE: f64 = 0.02;
/// Ratio of the softening length to the longest length that preserves close orbits, above which a warning is shown. At
/// 4, an ellipse turns by about 3° in each revolution.
const MUCH_SOFTER: f32 = 4.0;

/// A button that removes the cause of a warning or an error.
#[derive(Debug, PartialEq)]
pub(super) struct Fix {
    /// Text of the button.
    label: String,
    /// The change that the button makes, such as "lower Time step to 0.005".
    change: String,
    actions: Vec<Action>,
}

impl Fix {
    /// Returns a button that changes a parameter of `mode`, or `None` if the parameter cannot change any further.
    pub(super) fn of(mode: &dyn Mode, remedy: Remedy) -> Option<Self> {
        match remedy {
            Remedy::Multiply(key, factor) => {
                // Two digits are enough, and easy to read.
                let text = format::significant(f64::from(mode.values().float(key)? * factor), 2);
                Self::number(mode, if factor < 1.0 { "lower" } else { "raise" }, key, text.parse().ok()?)
            }
            Remedy::Choose(key, option) => {
                let change = format!("set {} to {option}", label(mode, key)?);
                let label = format::capitalised(&change);
                Some(Self { label, change, actions: vec![Action::SetOption(key, option)] })
            }
        }
    }

    /// Returns a button that sets the numeric parameter `key` to `value`, or `None` if `value` is out of range. The
    /// text of the button begins with `verb`.
    fn number(mode: &dyn Mode, verb: &str, key: &'static str, value: f32) -> Option<Self> {
        params::set(mode.boxed().as_mut(), key, &value.to_string()).ok()?;
        let label = format!("{verb} {}", label(mode, key)?);
        let (change, label) = (format!("{label} to {value}"), format::capitalised(&label));
        Some(Self { label, change, actions: vec![Action::SetNumber(key, value)] })
    }

    /// Returns a button for an action that has a shortcut.
    pub(super) fn action(label: &str, action: Action) -> Self {
        let change = keys::hint(&action).to_owned();
        Self { label: label.to_owned(), change, actions: vec![action] }
    }

    /// Returns this button, changed so that a click also restarts the scene.
    pub(super) fn restarting(mut self) -> Self {
        self.label += " and restart";
        self.change += ", and restart the scene";
        self.actions.push(Action::Restart);
        self
    }

    /// Shows the button for a warning or an error. A click requests the actions that remove the cause.
    pub(super) fn show(&self, ui: &mut egui::Ui, out: &mut Collector) {
        let button = ui.button(&self.label).on_hover_text(format::capitalised(&self.change));
        out.record(format_args!("fix {}", self.label), &button);
        if button.clicked() {
            out.actions.extend(self.actions.iter().cloned());
        }
    }
}

/// Returns the label of the parameter `key` in the panel.
fn label(mode: &dyn Mode, key: &str) -> Option<&'static str> {
    params::infos(mode.boxed().as_mut()).into_iter().find(|info| info.key == key).map(|info| info.label)
}

/// A warning, and the button that removes its cause.
pub(super) struct Warning {
    pub text: String,
    /// Explanation in the tooltip; may be empty.
    help: &'static str,
    fix: Option<Fix>,
}

impl Warning {
    /// Returns a warning about `problem` that also says what `fix` changes.
    fn new(problem: String, fix: Option<Fix>) -> Self {
        let text = fix.as_ref().map_or(problem.clone(), |fix| format!("{problem}: {}.", fix.change));
        Self { text, help: "", fix }
    }

    /// Shows the text of the warning and, below it, the button that removes its cause, if any.
    pub(super) fn show(&self, ui: &mut egui::Ui, out: &mut Collector) {
        let text = RichText::new(&self.text).small().color(theme::of(ui).warning);
        let text = ui.label(text);
        if !self.help.is_empty() {
            text.on_hover_text(self.help);
        }
        self.fix.iter().for_each(|fix| fix.show(ui, out));
    }
}

/// Cached result: the longest softening length that preserves the close orbits of a scene.
#[derive(Debug, Default)]
pub(super) struct CloseOrbits {
    scene: Option<Arc<Scene>>,
    longest: Option<f32>,
}

impl CloseOrbits {
    /// Returns the longest softening length that preserves the close orbits of `scene`. Returns `None` if there are no
    /// close orbits, or if a generator creates the bodies.
    fn longest(&mut self, scene: &Arc<Scene>) -> Option<f32> {
        if !self.scene.as_ref().is_some_and(|known| Arc::ptr_eq(known, scene)) {
            self.longest = softening::for_scene(scene, f32::INFINITY);
            self.scene = Some(scene.clone());
        }
        self.longest
    }
}

/// Energy drift that was shown when the user last changed the parameter that limits the drift. The value is outdated
/// until the energy is measured again.
#[derive(Debug, Default)]
pub(super) struct PastDrift {
    /// Number of the run, and value of the parameter that limits the drift, in the last frame.
    seen: Option<(u64, f32)>,
    drift: Option<f64>,
}

impl PastDrift {
    /// Returns whether `drift`, the current energy drift, was measured before the last change of the parameter that
    /// limits it.
    fn is_outdated(&mut self, model: &Model, drift: f64) -> bool {
        let mode = model.config.mode.as_ref();
        let Remedy::Multiply(key, _) = mode.info().stabilizer else { return false };
        let Some(value) = mode.values().float(key) else { return false };
        let run = model.stats.generation;
        match self.seen.replace((run, value)) {
            Some((old, _)) if old != run => self.drift = None,
            Some((_, old)) if old != value => self.drift = Some(drift),
            _ => {}
        }
        self.drift == Some(drift)
    }
}

/// Returns the warnings about the simulation, most important first.
pub(super) fn warnings(model: &Model, (orbits, past): (&mut CloseOrbits, &mut PastDrift)) -> Vec<Warning> {
    let mode = model.config.mode.as_ref();
    let readings = model.stats.diagnostics.iter().flat_map(|diagnostics| &diagnostics.readings);
    let advice = readings.filter_map(|reading| {
        let fix = reading.remedy.and_then(|remedy| Fix::of(mode, remedy));
        Some(Warning { text: reading.advice?.to_owned(), help: "", fix })
    });
    let all = [excluded(model), energy_drift(model, past), softening(model, orbits)];
    all.into_iter().flatten().chain(advice).collect()
}

/// Returns a warning if the simulation excludes bodies whose values are not finite.
fn excluded(model: &Model) -> Option<Warning> {
    let (mode, things) = (model.config.mode.as_ref(), model.stats.config.mode.info().work.things);
    let count = Some(model.stats.nonfinite).filter(|count| *count > 0)?;
    Some(Warning {
        text: format!(
            "{} {things} excluded, because their values are not finite",
            format::count(count as u64)
        ),
        help: "Positions or velocities became too large for the computation. Undo the last edit, or restart with a smaller time step.",
        fix: Fix::of(mode, mode.info().stabilizer).map(Fix::restarting),
    })
}

/// Returns a warning if the total energy is no longer conserved.
fn energy_drift(model: &Model, past: &mut PastDrift) -> Option<Warning> {
    let (total, sums) = (model.stats.energy_drift?, model.stats.diagnostics.as_ref()?);
    if past.is_outdated(model, total) {
        return None;
    }
    let drift = total.abs();
    // The energy at the start is at least |energy| / (1 + |total|).
    let change = drift / (1.0 + total.abs()) * sums.energy().abs();
    let scale = sums.kinetic + sums.potential.abs();
    let mode = model.config.mode.as_ref();
    (drift > WORRYING_DRIFT && change > WORRYING_CHANGE * scale).then(|| {
        let problem = format!("Energy drift {:.0} %", 100.0 * total.abs());
        Warning::new(problem, Fix::of(mode, mode.info().stabilizer))
    })
}

/// Returns a warning if the softening length is so long that it changes close orbits.
fn softening(model: &Model, orbits: &mut CloseOrbits) -> Option<Warning> {
    const KEY: &str = "eps";
    let mode = model.config.mode.as_ref();
    let (eps, longest) = (mode.values().float(KEY)?, orbits.longest(&model.config.start)?);
    (eps > MUCH_SOFTER * longest).then(|| {
        let problem = format!("Softening {eps} is too large for the closest orbits");
        Warning::new(problem, Fix::number(mode, "lower", KEY, longest))
    })
}
