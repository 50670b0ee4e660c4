//! Table of shortcuts and gestures. Keyboard input, the help window and tooltips use this table.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use egui::{Event, Key, KeyboardShortcut, Modifiers};

use super::action::{Action, Tool};

/// How the user triggers an action: with keys or with a mouse gesture.
#[derive(Debug)]
pub enum Trigger {
    /// Keyboard shortcuts. Any one of them triggers the action.
    Keys(&'static [KeyboardShortcut]),
    /// Description of a mouse gesture, or of keys that other code handles.
    Words(&'static str),
}

/// A shortcut or gesture and its description: one row of [`CONTROLS`].
#[derive(Debug)]
pub struct Control {
    /// Shortcut or mouse gesture that triggers the action.
    pub trigger: Trigger,
    /// Short description of the action.
    pub help: &'static str,
    /// Action that the shortcuts trigger; `None` if the trigger is only a description.
    pub(super) action: Option<Action>,
}

/// All keyboard shortcuts and mouse gestures, in the order of the help window.
pub static CONTROLS: &[Control] = &[
    keys(Action::RunPause, &[plain(Key::Space)], "Run or pause"),
    keys(Action::Step, &[plain(Key::Period), plain(Key::S)], "Pause and advance one step; hold to repeat"),
    keys(Action::Reverse, &[plain(Key::V)], "Reverse time: run backwards or forwards"),
    keys(Action::Slower, &[plain(Key::OpenBracket)], "Slower: halve the steps per frame"),
    keys(Action::Faster, &[plain(Key::CloseBracket)], "Faster: double the steps per frame"),
    keys(Action::Restart, &[plain(Key::R)], "Restart the scene"),
    keys(Action::NextMode, &[plain(Key::M)], "Switch to the next mode"),
    keys(Action::ToggleGallery, &[plain(Key::O)], "Show or hide the scene gallery"),
    keys(Action::Open, &[with_ctrl(Key::O)], "Open a file: snapshot, scene, picture or bodies"),
    // Ctrl+Shift+S must come before Ctrl+S, which would match with Shift too.
    keys(
        Action::SaveScene,
        &[KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::S)],
        "Save the scene and its parameters as a starting point for later",
    ),
    keys(
        Action::SaveSnapshot,
        &[with_ctrl(Key::S)],
        "Save a snapshot to continue later from exactly this step",
    ),
    keys(
        Action::SavePicture,
        &[plain(Key::F12)],
        "Save a picture, which you can open later to continue from this step",
    ),
    keys(Action::RecordFilm, &[plain(Key::F9)], "Record a film, or stop and save it"),
    keys(Action::FrameAll, &[plain(Key::F)], "Zoom to fit: bring everything into view"),
    keys(Action::ResetView, &[plain(Key::Home)], "Reset the camera"),
    keys(Action::FollowCentre, &[plain(Key::C)], "Follow the centre of mass, or stop following"),
    keys(Action::ToggleRotation, &[plain(Key::T)], "Rotate the camera slowly, or stop rotating"),
    words("1 … 9", "Go to the stored view with this number"),
    words("Ctrl+1 … Ctrl+9", "Store the view under this number until the window closes"),
    keys(Action::ToggleGrid, &[plain(Key::G)], "Show or hide the grid and the axes"),
    keys(Action::ToggleBrush, &[plain(Key::B)], "Turn the obstacle brush on or off"),
    keys(Action::ToggleTool(Tool::Launch), &[plain(Key::L)], "Select or deselect the launch tool"),
    keys(Action::ToggleTool(Tool::Attract), &[plain(Key::A)], "Select or deselect the attract tool"),
    keys(
        Action::Undo,
        &[with_ctrl(Key::Z)],
        "Undo the last change or edit. Undoing an edit also returns the simulation to the step at which the edit was made.",
    ),
    keys(
        Action::Redo,
        &[KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::Z), with_ctrl(Key::Y)],
        "Redo the last undone change or edit",
    ),
    keys(Action::DeleteBody, &[plain(Key::Delete)], "Delete the selected body"),
    keys(Action::TogglePlots, &[plain(Key::P)], "Show or hide the plots"),
    keys(
        Action::ToggleLens,
        &[plain(Key::K)],
        "Show or hide the Lens window: times, source code and roofline of the kernels",
    ),
    keys(Action::Compare, &[plain(Key::D)], "Compare two simulations side by side, or end the comparison"),
    keys(
        Action::EditOther,
        &[plain(Key::X)],
        "Switch the panel to the other of the two compared simulations",
    ),
    keys(
        Action::ToggleTimeline,
        &[plain(Key::J)],
        "Show or hide the timeline: view, replay or continue from recorded moments",
    ),
    words(
        "Left, Right",
        "Previous or next recorded frame while the timeline is open; with Shift, move by ten frames",
    ),
    keys(Action::GoLive, &[plain(Key::End)], "Return to the live simulation"),
    keys(Action::TogglePanel, &[plain(Key::H)], "Show or hide the panel"),
    keys(Action::ToggleFullScreen, &[plain(Key::F11)], "Turn full screen on or off"),
    keys(
        Action::TogglePresentation,
        &[plain(Key::F5)],
        "Start or end the presentation: only the picture, in full screen",
    ),
    keys(Action::ToggleNumbers, &[plain(Key::I)], "Collapse or expand the statistics over the picture"),
    keys(
        Action::LargerText,
        &[with_ctrl(Key::Plus), with_ctrl(Key::Equals)],
        "Make text and controls larger",
    ),
    keys(Action::SmallerText, &[with_ctrl(Key::Minus)], "Make text and controls smaller"),
    keys(Action::DefaultTextSize, &[with_ctrl(Key::Num0)], "Reset the size of text and controls"),
    keys(Action::OpenPalette, &[with_ctrl(Key::P), with_ctrl(Key::K)], "Search commands and settings"),
    keys(Action::ToggleHelp, &[plain(Key::Questionmark), plain(Key::F1)], "Show or hide this help"),
    keys(
        Action::Dismiss,
        &[plain(Key::Escape)],
        "Close a message or window, end the presentation, cancel a drag, or deselect the tool, the brush or the body",
    ),
    keys(Action::Quit, &[with_ctrl(Key::Q)], "Quit"),
    words("Click", "Select a body to inspect, follow or change it"),
    words("Drag", "Rotate the view"),
    words("Right or middle drag, Shift+drag", "Move the view"),
    words("Wheel", "Zoom"),
    words("Drag with the brush", "Paint obstacles; right-drag or Shift+drag to erase"),
    words("Drag with the launch tool", "Launch a body along the arrow; Shift+drag launches a cluster"),
    words(
        "Press with the attract tool",
        "Attract bodies while the simulation runs; hold the right button or Shift to repel them",
    ),
];

const fn plain(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::NONE, key)
}

const fn with_ctrl(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::COMMAND, key)
}

const fn keys(action: Action, keys: &'static [KeyboardShortcut], help: &'static str) -> Control {
    Control { trigger: Trigger::Keys(keys), help, action: Some(action) }
}

const fn words(gesture: &'static str, help: &'static str) -> Control {
    Control { trigger: Trigger::Words(gesture), help, action: None }
}

impl Control {
    /// Returns the shortcuts or the gesture as text, such as `. or S`.
    pub fn text(&self) -> String {
        match self.trigger {
            Trigger::Keys(keys) => keys.iter().map(name).collect::<Vec<_>>().join(" or "),
            Trigger::Words(gesture) => gesture.to_owned(),
        }
    }

    fn listens_to(&self, pressed: &Modifiers, key: Key) -> bool {
        let Trigger::Keys(keys) = self.trigger else { return false };
        // Some keyboards need Shift or Alt for keys that are not letters.
        let is_letter = (Key::A..=Key::Z).contains(&key);
        let fits = |wanted: Modifiers| {
            let exactly = pressed.shift == wanted.shift && pressed.alt == wanted.alt;
            pressed.matches_logically(wanted) && (exactly || !is_letter)
        };
        keys.iter().any(|k| k.logical_key == key && fits(k.modifiers))
    }
}

fn name(shortcut: &KeyboardShortcut) -> String {
    let Modifiers { command, shift, .. } = shortcut.modifiers;
    let (ctrl, shift) = (if command { "Ctrl+" } else { "" }, if shift { "Shift+" } else { "" });
    format!("{ctrl}{shift}{}", shortcut.logical_key.symbol_or_name())
}

/// Tooltips that [`hint`] returns, one for each row of [`CONTROLS`].
static HINTS: LazyLock<Vec<String>> =
    LazyLock::new(|| CONTROLS.iter().map(|row| format!("{} ({})", row.help, row.text())).collect());

/// Returns a tooltip with an action's description and keys, or an empty string if the action has no shortcut.
pub(super) fn hint(action: &Action) -> &'static str {
    let row = CONTROLS.iter().position(|row| row.action.as_ref() == Some(action));
    row.map_or("", |row| &HINTS[row])
}

/// Returns the action of a digit key: 1 to 9 recall a stored view, or store the current view if Ctrl is held.
fn numbered(key: Key, held: &Modifiers) -> Option<Action> {
    const DIGITS: [Key; 9] =
        [Key::Num1, Key::Num2, Key::Num3, Key::Num4, Key::Num5, Key::Num6, Key::Num7, Key::Num8, Key::Num9];
    let number = DIGITS.iter().position(|digit| *digit == key)? as u8 + 1;
    match (held.command, held.alt || held.shift) {
        (true, false) => Some(Action::StoreView(number)),
        (false, false) => Some(Action::RecallView(number)),
        (_, true) => None,
    }
}

#[derive(Debug, Default)]
pub(super) struct Keyboard {
    /// Keys that are held down. The flag is true for a physical key. It is false for a logical key, used if the
    /// physical key is unknown. Logical keys, which egui compares, can mislead: if Shift is released before `?`, egui
    /// sees `/` released, and mistakes the next press of `?` for a repeat.
    down: BTreeSet<(Key, bool)>,
    /// Whether a text field had the keyboard focus at the end of the last frame.
    had_focus: bool,
}

impl Keyboard {
    /// Updates the set of held keys; returns whether `event` is a new press of a key rather than a repeat.
    fn goes_down(&mut self, event: &Event) -> bool {
        match *event {
            Event::Key { key, physical_key, pressed: true, .. } => {
                return self.down.insert((physical_key.unwrap_or(key), physical_key.is_some()));
            }
            Event::Key { physical_key: Some(place), pressed: false, .. } => {
                self.down.remove(&(place, true));
            }
            // Without the physical key, the logical key at the time of the press is unknown.
            Event::Key { physical_key: None, pressed: false, .. } => {
                self.down.retain(|(_, has_place)| *has_place);
            }
            // The window receives no key releases while another window has the keyboard.
            Event::WindowFocused(false) => self.down.clear(),
            _ => {}
        }
        false
    }

    /// Returns the actions whose keys were pressed, ignoring keys that a focused text field or the open palette uses.
    pub(super) fn pressed_actions(&mut self, ctx: &egui::Context, palette_is_open: bool) -> Vec<Action> {
        let is_escape = |event: &Event| matches!(event, Event::Key { key: Key::Escape, pressed: true, .. });
        // egui takes the focus from a text field as soon as Escape is pressed.
        let escapes = ctx.input(|input| input.events.iter().any(is_escape));
        let typing = palette_is_open || ctx.wants_keyboard_input() || (self.had_focus && escapes);
        let mut pressed = |event: &Event| {
            let goes_down = self.goes_down(event);
            // Of all actions, only a step repeats while its key is held down.
            action(event, typing).filter(|action| goes_down || *action == Action::Step)
        };
        ctx.input(|input| input.events.iter().filter_map(&mut pressed).collect())
    }

    /// Records, at the end of a frame, whether a text field has the keyboard focus.
    pub(super) fn end_frame(&mut self, ctx: &egui::Context) {
        self.had_focus = ctx.wants_keyboard_input();
    }
}

fn action(event: &Event, typing: bool) -> Option<Action> {
    let &Event::Key { key, pressed: true, modifiers, .. } = event else { return None };
    let in_table = || CONTROLS.iter().find(|row| row.listens_to(&modifiers, key))?.action.clone();
    let action = numbered(key, &modifiers).or_else(in_table)?;
    // A text field handles characters, undo and redo itself.
    let is_text = (!modifiers.command && !(Key::F1..=Key::F12).contains(&key))
        || [Action::Undo, Action::Redo].contains(&action);
    (!(typing && is_text)).then_some(action)
}
