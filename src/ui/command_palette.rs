//! Command palette: a search field for all actions and settings.

use egui::text_edit::TextEditState;
use egui::{Align2, Event, Id, Key, Modifiers, RichText, ScrollArea, TextEdit, vec2};

use super::action::Action;
use super::collector::Collector;
use super::palette_entries::{Entry, found};
use super::{keys, theme};
use crate::engine::config::Config;

/// Number of entries that are visible at once.
const LINES: usize = 12;
/// Preferred width of the palette, in points.
const WIDTH: f32 = 520.0;
/// Free space at the sides and below, in points.
const BESIDE: f32 = 34.0;
/// Free space above the palette, in points.
const ABOVE: f32 = 60.0;
/// Smallest width and height, in points.
const MIN_SIZE: f32 = 20.0;

/// Keys of the palette that were pressed in a frame.
struct Keys {
    escape: bool,
    enter: bool,
    up: bool,
    down: bool,
}

/// State of the command palette.
#[derive(Debug, Default)]
pub(super) struct CommandPalette {
    is_open: bool,
    typed: String,
    /// Index of the selected entry.
    chosen: usize,
}

impl CommandPalette {
    /// Closes the palette, and releases the keyboard.
    pub(super) fn close(&mut self, ctx: &egui::Context) {
        if std::mem::take(self).is_open {
            ctx.memory_mut(|memory| memory.surrender_focus(field_id()));
        }
    }

    /// Opens or closes the palette if `actions` ask for it; a later action, or a click outside, closes it too.
    fn update(&mut self, ctx: &egui::Context, config: &Config, actions: &mut Vec<Action>) {
        let mut asked = actions.iter().rposition(|action| *action == Action::OpenPalette);
        if let Some(at) = &mut asked {
            let (opens, taken) = self.handle_earlier_events(ctx, config);
            if let Some(action) = taken {
                actions.insert(*at, action);
                *at += 1;
            }
            self.close(ctx);
            if opens {
                *self = Self { is_open: true, typed: take_text_after_shortcut(ctx), chosen: 0 };
            }
        } else if is_pressed_outside(ctx) {
            self.close(ctx);
        }
        if actions.len() > asked.map_or(0, |at| at + 1) {
            self.close(ctx);
        }
    }

    /// Handles the frame's events before the palette's shortcut, which do not go to the palette that the shortcut opens.
    ///
    /// Returns whether the shortcut opens the palette, and the action that was chosen before it.
    fn handle_earlier_events(&mut self, ctx: &egui::Context, config: &Config) -> (bool, Option<Action>) {
        let (mut is_open, mut taken) = (self.is_open, None);
        ctx.input_mut(|input| {
            let key = input.events.iter().rposition(keys::opens_palette).unwrap_or(0);
            let later = input.events.split_off(key);
            input.events.retain(|event| match event {
                Event::Key { key: Key::Enter, pressed: true, .. } if is_open => {
                    let chosen =
                        found(&self.typed, config).get(self.chosen).map(|entry| entry.action.clone());
                    // Gestures have no action, and leave the palette open.
                    (is_open, taken) = (chosen == Some(None), chosen.flatten());
                    false
                }
                Event::Key { key: Key::Escape | Key::Enter, pressed: true, .. } => {
                    is_open = false;
                    false
                }
                Event::Text(text) if is_open => {
                    (self.typed, self.chosen) = (format!("{}{text}", self.typed), 0);
                    false
                }
                _ => true,
            });
            input.events.extend(later);
        });
        (!is_open, taken)
    }

    /// Shows the palette if it is open, and collects the action of the chosen entry.
    pub(super) fn show(&mut self, ctx: &egui::Context, config: &Config, out: &mut Collector) {
        self.update(ctx, config, &mut out.actions);
        if !self.is_open {
            return;
        }
        let pressed = |key| ctx.input_mut(|input| input.consume_key(Modifiers::NONE, key));
        let keys = Keys {
            escape: pressed(Key::Escape),
            enter: pressed(Key::Enter),
            up: pressed(Key::ArrowUp),
            down: pressed(Key::ArrowDown),
        };
        // The palette may cover the panel, because large text leaves little room beside the panel.
        let all = ctx.content_rect();
        let width = WIDTH.min(all.width() - 2.0 * BESIDE).max(MIN_SIZE);
        let place = all.center_top() + vec2(0.0, ABOVE.min(0.1 * all.height()));
        let window = egui::Window::new("Commands").id(window_id()).title_bar(false).resizable(false);
        let shown = window.pivot(Align2::CENTER_TOP).fixed_pos(place).show(ctx, |ui| {
            ui.set_width(width);
            self.text_field(ui, out);
            ui.add_space(4.0);
            self.list(ui, config, &keys)
        });
        let chosen = shown.and_then(|shown| shown.inner).flatten();
        match chosen {
            // Gestures have no action, and leave the palette open.
            Some(Some(Entry { action: None, .. })) | None if !keys.escape => {}
            chosen => {
                out.actions.extend(chosen.flatten().and_then(|entry| entry.action));
                self.close(ctx);
            }
        }
    }

    fn text_field(&mut self, ui: &mut egui::Ui, out: &mut Collector) {
        // Takes the keyboard back in each frame, because other widgets may ask for it.
        ui.memory_mut(|memory| memory.request_focus(field_id()));
        let edit = TextEdit::singleline(&mut self.typed).hint_text("Type to search commands and settings");
        let edit = ui
            .add(edit.id(field_id()).desired_width(f32::INFINITY))
            .on_hover_text("Words in any order. ⏶ ⏷ select, Enter runs, Escape closes.");
        out.record("search", &edit);
        if edit.changed() {
            self.chosen = 0;
        }
    }

    /// Shows the entries that were found. Returns `Some` if the user chose an entry, with `None` inside if nothing was found.
    fn list(&mut self, ui: &mut egui::Ui, config: &Config, keys: &Keys) -> Option<Option<Entry>> {
        let mut found = found(&self.typed, config);
        let last = found.len().saturating_sub(1);
        let moved = self.chosen + usize::from(keys.down);
        self.chosen = moved.saturating_sub(usize::from(keys.up)).min(last);
        let mut chosen = keys.enter.then_some(self.chosen);
        let height = LINES as f32 * (ui.spacing().interact_size.y + ui.spacing().item_spacing.y);
        let bottom = ui.ctx().content_rect().bottom();
        let height = height.min(bottom - ui.cursor().top() - BESIDE).max(MIN_SIZE);
        ScrollArea::vertical().max_height(height).auto_shrink([false, true]).show(ui, |ui| {
            if found.is_empty() {
                ui.label(RichText::new("Nothing found").color(theme::of(ui).weak));
            }
            for (nth, entry) in found.iter().enumerate() {
                let response = line(ui, entry, nth == self.chosen);
                if nth == self.chosen && (keys.up || keys.down) {
                    response.scroll_to_me(None);
                }
                if response.clicked() {
                    chosen = Some(nth);
                }
            }
        });
        chosen.map(|nth| (nth < found.len()).then(|| found.swap_remove(nth)))
    }
}

fn window_id() -> Id {
    Id::new("search")
}

fn field_id() -> Id {
    window_id().with("typed")
}

/// Removes and returns the text that was typed after the palette's shortcut in this frame: the text field receives events only
/// from the next frame on.
fn take_text_after_shortcut(ctx: &egui::Context) -> String {
    TextEdit::store_state(ctx, field_id(), TextEditState::default());
    ctx.input_mut(|input| {
        let key = input.events.iter().rposition(keys::opens_palette).unwrap_or(0);
        let mut typed = String::new();
        for event in input.events.split_off(key) {
            match event {
                Event::Text(text) => typed += &text,
                other => input.events.push(other),
            }
        }
        typed
    })
}

/// Returns whether a mouse button was pressed outside the palette.
fn is_pressed_outside(ctx: &egui::Context) -> bool {
    let rect = ctx.memory(|memory| memory.area_rect(window_id()));
    let at = ctx.input(|input| input.pointer.interact_pos().filter(|_| input.pointer.any_pressed()));
    at.zip(rect).is_some_and(|(at, rect)| !rect.contains(at))
}

fn line(ui: &mut egui::Ui, entry: &Entry, is_chosen: bool) -> egui::Response {
    let colours = theme::of(ui);
    let text = RichText::new(&entry.text).color(match (is_chosen, &entry.action) {
        (true, _) => colours.strong,
        (false, Some(_)) => colours.text,
        (false, None) => colours.weak,
    });
    let keys = RichText::new(&entry.keys).small().color(colours.accent);
    let fill = if is_chosen { colours.accent_fill } else { egui::Color32::TRANSPARENT };
    let button = egui::Button::new((text, egui::Atom::grow(), keys)).fill(fill).truncate();
    ui.add(button.min_size(vec2(ui.available_width(), 0.0)))
}
