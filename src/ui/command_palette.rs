//! Command palette: a search field for all actions and settings.

use std::path::PathBuf;
use std::sync::Arc;

use egui::text_edit::TextEditState;
use egui::{Align2, Id, Key, Modifiers, RichText, ScrollArea, TextEdit, vec2};

use super::action::{Action, Collector};
use super::palette_entries::{Entry, Searched, found};
use super::theme;
use crate::base::BodyNames;
use crate::modes::ModeInfo;
use crate::scene::Scene;

/// Maximum number of entries that the command palette shows without scrolling.
const LINES: usize = 12;
/// Preferred width of the command palette, in points.
const WIDTH: f32 = 520.0;
/// Minimum free space beside and below the command palette, in points.
const BESIDE: f32 = 34.0;
/// Maximum free space above the command palette, in points.
const ABOVE: f32 = 60.0;
/// Minimum width and height of the command palette, in points.
const MIN_SIZE: f32 = 20.0;

/// Cached result of a search in the command palette, with the inputs from which it was computed.
#[derive(Debug)]
struct Search {
    typed: String,
    names: BodyNames,
    mode: &'static ModeInfo,
    start: Arc<Scene>,
    recent: Vec<PathBuf>,
    /// The matching entries, best matches first.
    found: Vec<Entry>,
}

impl Search {
    fn new(typed: &str, searched @ (config, names, recent): Searched) -> Self {
        let found = found(typed, searched);
        let (mode, start) = (config.mode.info(), config.start.clone());
        Self { typed: typed.to_owned(), names: names.clone(), mode, start, recent: recent.to_vec(), found }
    }

    /// Returns whether a new search for `typed` would find the same entries.
    fn is_current(&self, typed: &str, (config, names, recent): Searched) -> bool {
        let is_same_scene = self.mode == config.mode.info() && self.start == config.start;
        self.typed == typed && self.names == *names && self.recent == recent && is_same_scene
    }
}

#[derive(Debug, Default)]
pub(super) struct CommandPalette {
    pub is_open: bool,
    typed: String,
    /// Index of the selected entry.
    chosen: usize,
    search: Option<Search>,
}

impl CommandPalette {
    /// Closes the command palette and releases the keyboard focus.
    pub(super) fn close(&mut self, ctx: &egui::Context) {
        if std::mem::take(self).is_open {
            ctx.memory_mut(|memory| memory.surrender_focus(field_id()));
        }
    }

    /// Opens the command palette if the last of `actions` requests it. While the palette is open, closes it on any
    /// action or on a click outside it.
    fn update(&mut self, ctx: &egui::Context, actions: &[Action]) {
        match actions.last() {
            Some(Action::OpenPalette) if !self.is_open => {
                TextEdit::store_state(ctx, field_id(), TextEditState::default());
                *self = Self { is_open: true, ..Self::default() };
            }
            Some(_) => self.close(ctx),
            None if is_pressed_outside(ctx) => self.close(ctx),
            None => {}
        }
    }

    /// Shows the command palette if it is open, and collects the action of the chosen entry.
    pub(super) fn show(&mut self, ctx: &egui::Context, searched: Searched, out: &mut Collector) {
        self.update(ctx, &out.actions);
        if !self.is_open {
            return;
        }
        let pressed = |key| ctx.input_mut(|input| input.consume_key(Modifiers::NONE, key));
        let [escape, enter, up, down] = [Key::Escape, Key::Enter, Key::ArrowUp, Key::ArrowDown].map(pressed);
        // The palette may cover the panel, because large text leaves little room beside the panel.
        let all = ctx.content_rect();
        let width = WIDTH.min(all.width() - 2.0 * BESIDE).max(MIN_SIZE);
        let place = all.center_top() + vec2(0.0, ABOVE.min(0.1 * all.height()));
        let window = egui::Window::new("Commands").id(window_id()).title_bar(false).resizable(false);
        let shown = window.pivot(Align2::CENTER_TOP).fixed_pos(place).show(ctx, |ui| {
            ui.set_width(width);
            self.text_field(ui, out);
            ui.add_space(4.0);
            self.list(ui, searched, enter, isize::from(down) - isize::from(up))
        });
        let chosen = shown.and_then(|shown| shown.inner).flatten();
        match chosen {
            // Gestures have no action, and leave the palette open.
            Some(Some(Entry { action: None, .. })) | None if !escape => {}
            chosen => {
                out.actions.extend(chosen.flatten().and_then(|entry| entry.action));
                self.close(ctx);
            }
        }
    }

    fn text_field(&mut self, ui: &mut egui::Ui, out: &mut Collector) {
        // Takes the keyboard focus back in each frame, because other widgets may request the focus.
        ui.memory_mut(|memory| memory.request_focus(field_id()));
        let edit = TextEdit::singleline(&mut self.typed).hint_text("Type to search commands and settings");
        let edit = ui
            .add(edit.id(field_id()).desired_width(f32::INFINITY))
            .on_hover_text("Type words in any order. Press ⏶ or ⏷ to select, Enter to run, Escape to close.");
        out.record("search", &edit);
        if edit.changed() {
            self.chosen = 0;
        }
    }

    /// Shows the matching entries, and moves the selection by `lines`. Once the user presses Enter or clicks an entry, returns
    /// `Some` with the chosen entry, or `Some(None)` if no entry matches.
    fn list(
        &mut self,
        ui: &mut egui::Ui,
        searched: Searched,
        enter: bool,
        lines: isize,
    ) -> Option<Option<Entry>> {
        self.search.take_if(|search| !search.is_current(&self.typed, searched));
        let search = self.search.get_or_insert_with(|| Search::new(&self.typed, searched));
        let found = &search.found;
        let last = found.len().saturating_sub(1);
        self.chosen = self.chosen.saturating_add_signed(lines).min(last);
        let mut chosen = enter.then_some(self.chosen);
        let height = LINES as f32 * (ui.spacing().interact_size.y + ui.spacing().item_spacing.y);
        let bottom = ui.ctx().content_rect().bottom();
        let height = height.min(bottom - ui.cursor().top() - BESIDE).max(MIN_SIZE);
        ScrollArea::vertical().max_height(height).auto_shrink([false, true]).show(ui, |ui| {
            if found.is_empty() {
                ui.label(RichText::new("No matching commands or settings").color(theme::of(ui).weak));
            }
            for (nth, entry) in found.iter().enumerate() {
                let response = line(ui, entry, nth == self.chosen);
                if nth == self.chosen && lines != 0 {
                    response.scroll_to_me(None);
                }
                if response.clicked() {
                    chosen = Some(nth);
                }
            }
        });
        chosen.map(|nth| found.get(nth).cloned())
    }
}

fn window_id() -> Id {
    Id::new("search")
}

fn field_id() -> Id {
    window_id().with("typed")
}

/// Returns whether a mouse button was pressed outside the command palette.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Config;
    use crate::modes::MODES;

    #[test]
    fn a_palette_search_is_repeated_only_if_the_results_could_change() {
        let names: BodyNames = (0..1000).map(|nth| format!("Star {nth}")).collect();
        let config = Config::new(MODES[0]);
        let search = Search::new("star", (&config, &names, &[]));
        assert!(search.found.len() > 50);
        // Changing a number in the panel changes no entry.
        let paused = Config { running: false, seed: 7, ..config.clone() };
        assert!(search.is_current("star", (&paused, &names.clone(), &[])));
        assert!(!search.is_current("sta", (&config, &names, &[])));
        assert!(!search.is_current("star", (&config, &BodyNames::default(), &[])));
        assert!(!search.is_current("star", (&Config::new(MODES[1]), &names, &[])));
        let other = Config { start: MODES[0].scenes[1].clone(), ..config };
        assert!(!search.is_current("star", (&other, &names, &[])));
    }
}
