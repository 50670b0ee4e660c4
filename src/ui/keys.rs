//! What keys and mouse do: one table, which the shortcuts, the help window and the hints on buttons read.

use std::collections::BTreeSet;
use std::sync::Arc;

use egui::{Event, Key, KeyboardShortcut, Modifiers};

use crate::modes::{ModeInfo, Variant};
use crate::scene::Scene;
use crate::trial::Study;

/// What a key or a button of the panel asks for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Command {
    RunPause,
    Search,
    Mode(&'static ModeInfo),
    Scene(&'static ModeInfo, &'static Arc<Scene>),
    NextMode,
    Step,
    Reverse,
    Slower,
    Faster,
    GoTo(Option<u64>),
    Restart,
    FrameAll,
    Brush,
    Launch,
    Pull,
    Undo,
    Delete,
    LetGo,
    ResetView,
    Follow,
    Turn,
    Grid,
    /// The view that was kept under a number.
    Recall(u8),
    /// Keep the view under a number.
    Keep(u8),
    Panel,
    /// Fold or unfold the overlay.
    Numbers,
    Larger,
    Smaller,
    UsualSize,
    /// Show where a parameter, or what else the panel has, is set.
    Jump(&'static str),
    /// Choose an option of a parameter: its key, and the option's name.
    Choose(&'static str, &'static str),
    /// Flip a switch, and show it: its key.
    Flip(&'static str),
    FreeRun,
    Variant(Option<&'static Variant>),
    ResetAll,
    FollowBody,
    SavePlots,
    Help,
    Close,
    Study(Study),
    EndStudy,
    Chart,
    Scenes,
    Open,
    SaveSnapshot,
    SaveScene,
    EditKernels,
    OwnKernels,
    Picture,
    Record,
    CancelFilm,
    Continue,
    NotNow,
    Plots,
    Quit,
}

impl Command {
    /// Whether it opens something that is typed into.
    fn asks(self) -> bool {
        matches!(self, Self::Search | Self::Open | Self::SaveSnapshot | Self::SaveScene | Self::EditKernels)
    }
}

/// How a person brings something about.
#[derive(Debug)]
pub enum Trigger {
    /// Any of these keys.
    Keys(&'static [KeyboardShortcut]),
    /// In words: the camera reads the mouse over the picture, egui the keys that zoom.
    Words(&'static str),
}

/// One row of [`CONTROLS`].
#[derive(Debug)]
pub struct Control {
    /// What to press or move.
    pub trigger: Trigger,
    /// What it does, in a few words.
    pub help: &'static str,
    command: Option<Command>,
}

/// Every shortcut and every gesture.
pub static CONTROLS: &[Control] = &[
    keys(Command::RunPause, &[plain(Key::Space)], "run or pause"),
    keys(Command::Step, &[plain(Key::Period), plain(Key::S)], "pause and advance one step; hold to go on"),
    keys(Command::Reverse, &[plain(Key::V)], "let time go backwards or forwards"),
    keys(Command::Slower, &[plain(Key::OpenBracket)], "half as many steps between two pictures"),
    keys(Command::Faster, &[plain(Key::CloseBracket)], "twice as many steps between two pictures"),
    keys(Command::Restart, &[plain(Key::R)], "restart the scene"),
    keys(Command::NextMode, &[plain(Key::M)], "switch to the next mode, which goes on where it was left"),
    keys(Command::Scenes, &[plain(Key::O)], "open or close the gallery of scenes"),
    keys(
        Command::Open,
        &[KeyboardShortcut::new(Modifiers::COMMAND, Key::O)],
        "open a snapshot, a scene or bodies; dropping the file on the window does the same",
    ),
    // Before that without Shift, which would hear it too.
    keys(
        Command::SaveScene,
        &[KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::S)],
        "save the scene and its parameters, to begin there",
    ),
    keys(
        Command::SaveSnapshot,
        &[KeyboardShortcut::new(Modifiers::COMMAND, Key::S)],
        "save a snapshot, to go on exactly here",
    ),
    keys(
        Command::Picture,
        &[plain(Key::F12)],
        "save a picture; dropped on the window, it goes on where it was taken",
    ),
    keys(Command::Record, &[plain(Key::F9)], "record a film, or end and keep it"),
    keys(Command::FrameAll, &[plain(Key::F)], "bring every body into view"),
    keys(Command::ResetView, &[plain(Key::Home)], "look from where it was looked at first"),
    keys(Command::Follow, &[plain(Key::C)], "go with the centre of mass, or no longer"),
    keys(Command::Turn, &[plain(Key::T)], "slowly turn about what is looked at, or no longer"),
    words("1 … 9", "go back to the view of this mode that was kept under this number"),
    words("Ctrl+1 … Ctrl+9", "keep the view of this mode under this number, as long as the window is open"),
    keys(Command::Grid, &[plain(Key::G)], "draw the grid and the axes, or no longer"),
    keys(
        Command::Brush,
        &[plain(Key::B)],
        "take or lay down the brush for obstacles, where there is a fluid",
    ),
    keys(Command::Launch, &[plain(Key::L)], "launch bodies with the mouse, or no longer"),
    keys(Command::Pull, &[plain(Key::A)], "attract or repel bodies with the mouse, or no longer"),
    keys(
        Command::Undo,
        &[KeyboardShortcut::new(Modifiers::COMMAND, Key::Z)],
        "undo the last launch, pull, stroke of the brush or change to a body; time goes back there too",
    ),
    keys(Command::Delete, &[plain(Key::Delete)], "delete the selected body"),
    keys(Command::Plots, &[plain(Key::P)], "open or close the plots"),
    keys(Command::Panel, &[plain(Key::H)], "hide or show the panel"),
    keys(Command::Numbers, &[plain(Key::I)], "fold or unfold the numbers over the picture"),
    keys(Command::Larger, &[with_ctrl(Key::Plus), with_ctrl(Key::Equals)], "larger text and controls"),
    keys(Command::Smaller, &[with_ctrl(Key::Minus)], "smaller text and controls"),
    keys(Command::UsualSize, &[with_ctrl(Key::Num0)], "text and controls as large as the screen asks for"),
    keys(
        Command::Search,
        &[
            KeyboardShortcut::new(Modifiers::COMMAND, Key::P),
            KeyboardShortcut::new(Modifiers::COMMAND, Key::K),
        ],
        "find a command by typing",
    ),
    keys(Command::Help, &[plain(Key::Questionmark), plain(Key::F1)], "open or close this help"),
    keys(
        Command::Close,
        &[plain(Key::Escape)],
        "close a message or this help; give up a launch, lay down a tool or the brush, let go of a body",
    ),
    keys(Command::Quit, &[KeyboardShortcut::new(Modifiers::COMMAND, Key::Q)], "quit"),
    words("Click", "take hold of a body: see, follow and change it"),
    words("Drag", "turn the view"),
    words("Right or middle drag, Shift+drag", "move the view"),
    words("Wheel", "zoom"),
    words("Drag with the brush", "paint obstacles; right drag or Shift+drag erases"),
    words("Drag to launch", "draw the velocity from where it begins; Shift+drag launches a cluster"),
    words("Hold to pull", "attract while time goes on; the right button or Shift repels"),
];

const fn plain(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::NONE, key)
}

const fn with_ctrl(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::COMMAND, key)
}

const fn keys(command: Command, keys: &'static [KeyboardShortcut], help: &'static str) -> Control {
    Control { trigger: Trigger::Keys(keys), help, command: Some(command) }
}

const fn words(gesture: &'static str, help: &'static str) -> Control {
    Control { trigger: Trigger::Words(gesture), help, command: None }
}

impl Control {
    /// What to press, as text: `. or S`.
    pub fn text(&self) -> String {
        match self.trigger {
            Trigger::Keys(keys) => keys.iter().map(name).collect::<Vec<_>>().join(" or "),
            Trigger::Words(gesture) => gesture.to_owned(),
        }
    }

    /// What it asks for, if it is not read by others.
    pub(super) fn command(&self) -> Option<Command> {
        self.command
    }

    fn listens_to(&self, pressed: &Modifiers, key: Key) -> bool {
        match self.trigger {
            Trigger::Keys(keys) => {
                // What Shift or Alt makes of other keys depends on the keyboard.
                let is_letter = (Key::A..=Key::Z).contains(&key);
                let fits = |wanted: Modifiers| {
                    let exactly = pressed.shift == wanted.shift && pressed.alt == wanted.alt;
                    pressed.matches_logically(wanted) && (exactly || !is_letter)
                };
                keys.iter().any(|k| k.logical_key == key && fits(k.modifiers))
            }
            Trigger::Words(_) => false,
        }
    }
}

fn name(shortcut: &KeyboardShortcut) -> String {
    let Modifiers { command, shift, .. } = shortcut.modifiers;
    let held =
        [("Ctrl+", command), ("Shift+", shift)].map(|(name, held)| if held { name } else { "" }).concat();
    format!("{held}{}", shortcut.logical_key.symbol_or_name())
}

/// `help (keys)` for the button that does the same as a key.
pub(super) fn hint(command: Command) -> String {
    let row = CONTROLS.iter().find(|row| row.command == Some(command));
    row.map(|row| format!("{} ({})", row.help, row.text())).unwrap_or_default()
}

/// What a digit from 1 asks for, alone or with Ctrl.
fn numbered(key: Key, held: &Modifiers) -> Option<Command> {
    const DIGITS: [Key; 9] =
        [Key::Num1, Key::Num2, Key::Num3, Key::Num4, Key::Num5, Key::Num6, Key::Num7, Key::Num8, Key::Num9];
    let number = DIGITS.iter().position(|digit| *digit == key)? as u8 + 1;
    match (held.command, held.alt || held.shift) {
        (true, false) => Some(Command::Keep(number)),
        (false, false) => Some(Command::Recall(number)),
        (_, true) => None,
    }
}

/// The keys that are down, by their place on the keyboard: what a key is called may change before it is let go of, as that of
/// `?` does once Shift is up. egui goes by its name, and takes each later press for a repeat of one that never ended.
#[derive(Debug, Default)]
pub(super) struct Held(BTreeSet<(Key, bool)>);

impl Held {
    /// Takes in an event; whether it is a key that goes down.
    fn goes_down(&mut self, event: &Event) -> bool {
        match *event {
            Event::Key { key, physical_key, pressed: true, .. } => {
                self.0.insert((physical_key.unwrap_or(key), physical_key.is_some()))
            }
            Event::Key { physical_key: Some(place), pressed: false, .. } => {
                self.0.remove(&(place, true));
                false
            }
            // Of a key without a place it cannot be known under which name it went down.
            Event::Key { physical_key: None, pressed: false, .. } => {
                self.0.retain(|(_, has_place)| *has_place);
                false
            }
            // What is let go of elsewhere is not heard here.
            Event::WindowFocused(false) => {
                self.0.clear();
                false
            }
            _ => false,
        }
    }
}

/// The commands whose keys were pressed. Keys that mean something to a focused field stay with it; `typed` is whether there was
/// one at the end of the last frame, which egui tells no more once Escape is among them.
pub(super) fn pressed(ctx: &egui::Context, held: &mut Held, typed: bool) -> Vec<Command> {
    let is_escape = |event: &Event| matches!(event, Event::Key { key: Key::Escape, pressed: true, .. });
    let escapes = ctx.input(|input| input.events.iter().any(is_escape));
    let mut typing = ctx.wants_keyboard_input() || (typed && escapes);
    let mut pressed = |event: &Event| {
        let goes_down = held.goes_down(event);
        // A held key steps on and on, but must not make the others flicker.
        let command = command(event, typing).filter(|command| goes_down || *command == Command::Step);
        // From there on a quick hand types into what opens, ...
        typing |= command.is_some_and(Command::asks);
        // ... and Escape leaves what is typed into, and does nothing else.
        typing &= !is_escape(event);
        command
    };
    ctx.input(|input| input.events.iter().filter_map(&mut pressed).collect())
}

/// Whether the event opens the palette.
pub(super) fn is_search(event: &Event) -> bool {
    command(event, false) == Some(Command::Search)
}

fn command(event: &Event, typing: bool) -> Option<Command> {
    let &Event::Key { key, pressed: true, modifiers, .. } = event else { return None };
    let in_table = || CONTROLS.iter().find(|row| row.listens_to(&modifiers, key))?.command;
    let command = numbered(key, &modifiers).or_else(in_table)?;
    // Typed text has an undo of its own.
    let writes =
        (!modifiers.command && ![Key::F1, Key::F9, Key::F12].contains(&key)) || command == Command::Undo;
    (!(typing && writes)).then_some(command)
}
