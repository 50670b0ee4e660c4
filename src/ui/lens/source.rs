//! "Source" page of the Lens window: the kernel that runs, as it is compiled, compared with the previous variant.

use std::path::Path;
use std::sync::Arc;

use egui::{Align, Color32, Label, Layout, Rect, RichText, ScrollArea, TextStyle, pos2, vec2};

use super::editor::Editor;
use crate::compute::ProgramSource;
use crate::engine::listing::{self, Change, Line, Listing};
use crate::modes::{Recipe, Variant};
use crate::ui::action::Collector;
use crate::ui::model::Model;
use crate::ui::widgets::{Chip, checkbox, chips, small};
use crate::ui::{highlighter, theme};

/// Width of the margin before the code, in characters. It contains the line number, and `+` or `−` for an added or
/// removed line.
const MARGIN: usize = 7;
/// Width of the coloured bar at the left edge of an added or removed line, in points.
const EDGE: f32 = 3.0;
/// Opacity of the background of an added or removed line.
const TINT: f32 = 0.13;

/// State of the "Source" page.
#[derive(Debug, Default)]
pub struct Source {
    /// Name of the kernel file that the user chose; if `None`, the page shows a file that differs from the previous
    /// variant's.
    file: Option<&'static str>,
    shows_removed: bool,
    shows_names: bool,
    /// Index of the note to which the code was last scrolled; `None` if the code has not been scrolled to a note yet.
    note: Option<usize>,
    /// Whether the code must scroll to the note with the index `note` in this frame.
    scrolls: bool,
    /// Editor of the kernel file that is shown.
    pub editor: Editor,
    cache: Option<Cache>,
}

/// Cached listings of the program that runs, compared with the previous kernel variant.
#[derive(Debug)]
struct Cache {
    source: Arc<ProgramSource>,
    variant: &'static str,
    /// Name of the variant that precedes `variant` in the mode's list, if any.
    previous: Option<&'static str>,
    listings: Result<Vec<Listing>, String>,
}

/// A row of the source listing.
enum Row<'a> {
    Code(&'a Line),
    /// A line of an explanatory note on the code below.
    Note(String),
}

impl Source {
    /// Shows the "Source" page. `folder` contains the user's edited kernels, if any.
    pub(super) fn show(
        &mut self,
        ui: &mut egui::Ui,
        model: &Model,
        folder: Option<&Path>,
        out: &mut Collector,
    ) {
        let info = model.stats.config.mode.info();
        let (Some(source), Some(variant)) = (&model.stats.source, info.variant(model.stats.variant)) else {
            ui.label("Start the simulation to see the source code of its kernel.");
            return;
        };
        let is_cached = |cache: &Cache| {
            let same = Arc::ptr_eq(&cache.source, source) || cache.source == *source;
            same && cache.variant == variant.name
        };
        let cache = match self.cache.take().filter(is_cached) {
            Some(cache) => cache,
            None => {
                self.note = None;
                Cache::new(model, variant, source)
            }
        };
        match &cache.listings {
            Ok(listings) => self.show_listings(ui, (&cache, listings), folder, out),
            Err(error) => drop(ui.label(error)),
        }
        self.cache = Some(cache);
    }

    fn show_listings(
        &mut self,
        ui: &mut egui::Ui,
        (cache, listings): (&Cache, &[Listing]),
        folder: Option<&Path>,
        out: &mut Collector,
    ) {
        let Some(own) = listings.last() else { return };
        let is_chosen = |listing: &&Listing| Some(listing.file.file) == self.file;
        let changed = [own].into_iter().chain(listings).find(|listing| listing.added() > 0).unwrap_or(own);
        let shown = listings.iter().find(is_chosen).unwrap_or(changed);
        ui.horizontal(|ui| {
            ui.label(RichText::new(cache.variant).strong().color(theme::of(ui).strong));
            ui.label(small(
                ui,
                match cache.previous {
                    Some(previous) => format!("compared with the previous variant, {previous}"),
                    None => "the first variant, so nothing is compared".to_owned(),
                },
            ));
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let help = "Edit this file and run it; the built-in kernel stays available";
                let edit = checkbox(ui, &mut self.editor.is_open, "Edit").on_hover_text(help);
                out.record("source edit", &edit);
            });
        });
        let chips_of_files = listings.iter().rev().map(|listing| {
            let name = listing.file.file;
            let help = match listing.added() {
                0 => format!("{name}: the same in both variants"),
                lines => format!("{name}: {lines} lines added or changed"),
            };
            (name, short_name(name, own.file.file), help, listing.added() > 0)
        });
        let files: Vec<_> = chips_of_files.collect();
        let options = files.iter().map(|(name, short, help, is_changed)| {
            let selected = *name == shown.file.file;
            Chip { in_use: *is_changed && !selected, ..Chip::new(short, help, selected) }
        });
        if let Some(clicked) = chips(ui, out, ("source file", "File"), options) {
            (self.file, self.note) = (Some(files[clicked].0), None);
        }
        if self.editor.is_open {
            return self.editor.show(ui, (&cache.source, shown.file), folder, out);
        }
        self.show_switches(ui, shown, out);
        self.show_code(ui, (&cache.source, shown), out);
        let text = match cache.previous {
            Some(_) => {
                "A + and a coloured edge mark lines that were added or changed. An outline marks files with such lines. Code that is not compiled (excluded by `#if`) is not shown."
            }
            None => "Code that is not compiled (excluded by `#if`) is not shown.",
        };
        ui.add(Label::new(small(ui, text)).wrap());
    }

    fn show_switches(&mut self, ui: &mut egui::Ui, listing: &Listing, out: &mut Collector) {
        ui.horizontal_wrapped(|ui| {
            let help = "Also show the lines of the previous variant that are missing from this variant";
            let removed = checkbox(ui, &mut self.shows_removed, "Removed lines").on_hover_text(help);
            out.record("source removed", &removed);
            let help = "Show the names of macros instead of their values";
            let names = checkbox(ui, &mut self.shows_names, "Names of macros").on_hover_text(help);
            out.record("source names", &names);
            let notes = listing.lines.iter().filter(|line| line.note.is_some()).count();
            let at = self.note.map_or(0, |note| note + 1);
            let label = "Next note";
            let help = "Scroll to the next note about a change";
            let next = ui.add_enabled(notes > 0, egui::Button::new(format!("{label} ({at}/{notes})")));
            let next = next.on_hover_text(help);
            out.record("source note", &next);
            if next.clicked() {
                self.note = Some(self.note.map_or(0, |note| note + 1) % notes);
                self.scrolls = true;
            }
        });
    }

    fn show_code(
        &mut self,
        ui: &mut egui::Ui,
        (source, listing): (&ProgramSource, &Listing),
        out: &mut Collector,
    ) {
        let is_used = |name: &str| listing.lines.iter().any(|line| line.text.contains(name));
        let values: Vec<_> = source.defines.iter().filter(|(name, _)| is_used(name)).cloned().collect();
        let told =
            values.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(" · ");
        let shown_as = if self.shows_names {
            "compiled with these values"
        } else {
            "in the code, their values are shown on a blue background"
        };
        if !values.is_empty() {
            ui.add(Label::new(small(ui, format!("Macros ({shown_as}): {told}"))).wrap());
        }
        let font = TextStyle::Monospace.resolve(ui.style());
        let character = ui.fonts_mut(|fonts| fonts.glyph_width(&font, '0'));
        let height = ui.text_style_height(&TextStyle::Monospace).ceil() + 1.0;
        let note_width = ui.available_width() - character * (MARGIN + 2) as f32;
        let (rows, places_of_notes) = self.rows(ui, listing, note_width);
        let longest =
            listing.lines.iter().map(|line| line.text.trim_end().chars().count()).max().unwrap_or(0);
        let width = (longest + MARGIN + 1) as f32 * character;
        let mut area = ScrollArea::both().id_salt(("source", listing.file.file)).auto_shrink(false);
        area = area.max_height(highlighter::code_height(ui));
        let scrolls = std::mem::take(&mut self.scrolls);
        if let Some(&row) = self.note.filter(|_| scrolls).and_then(|note| places_of_notes.get(note)) {
            area = area.vertical_scroll_offset(row.saturating_sub(2) as f32 * height);
        }
        let frame = egui::Frame::NONE.fill(theme::of(ui).sunken).inner_margin(4);
        let frame = frame.show(ui, |ui| {
            ui.spacing_mut().item_spacing = vec2(0.0, 0.0);
            ui.spacing_mut().interact_size.y = height;
            let values = if self.shows_names { &[][..] } else { &values };
            area.show_rows(ui, height, rows.len(), |ui, range| {
                ui.set_min_width(width);
                rows[range].iter().for_each(|row| show_row(ui, row, (height, character), values));
            });
        });
        out.record("source code", &frame.response);
    }

    /// Returns the rows of the listing, and the index of the first row of each note.
    fn rows<'a>(&self, ui: &egui::Ui, listing: &'a Listing, width: f32) -> (Vec<Row<'a>>, Vec<usize>) {
        let (mut rows, mut places) = (Vec::new(), Vec::new());
        for line in &listing.lines {
            if line.change == Change::Removed && !self.shows_removed {
                continue;
            }
            if let Some(note) = &line.note {
                places.push(rows.len());
                let font = TextStyle::Body.resolve(ui.style());
                let galley =
                    ui.fonts_mut(|fonts| fonts.layout(note.clone(), font, Color32::PLACEHOLDER, width));
                rows.extend(galley.rows.iter().map(|row| Row::Note(row.row.text())));
            }
            rows.push(Row::Code(line));
        }
        (rows, places)
    }
}

impl Cache {
    fn new(model: &Model, variant: &'static Variant, source: &Arc<ProgramSource>) -> Self {
        let (info, mode) = (model.stats.config.mode.info(), &model.stats.config.mode);
        let previous = listing::previous(info, variant);
        let program = previous.map(|previous| {
            mode.source(&Recipe::guess(previous, model.device, model.stats.bodies), model.device)
        });
        let listings = program
            .transpose()
            .and_then(|program| listing::listings(info, variant, source, program.as_ref()))
            .map_err(|error| error.to_string());
        Self {
            source: source.clone(),
            variant: variant.name,
            previous: previous.map(|previous| previous.name),
            listings,
        }
    }
}

/// Returns the kernel file name `name` without the mode's folder, which is the first component of the file name `own`.
fn short_name<'a>(name: &'a str, own: &str) -> &'a str {
    let folder = own.split_inclusive('/').next().unwrap_or_default();
    name.strip_prefix(folder).unwrap_or(name)
}

fn show_row(
    ui: &mut egui::Ui,
    row: &Row,
    (height, character): (f32, f32),
    values: &[(&'static str, String)],
) {
    let colours = theme::of(ui);
    let place = Rect::from_min_size(ui.cursor().min, vec2(ui.available_width(), height));
    let margin = MARGIN as f32 * character;
    ui.horizontal(|ui| match row {
        Row::Note(text) => {
            let box_ = Rect::from_min_max(pos2(place.left() + margin - 6.0, place.top()), place.max);
            ui.painter().rect_filled(box_, 0.0, colours.raised);
            ui.add_space(margin);
            ui.add(Label::new(RichText::new(text).color(colours.strong)).extend());
        }
        Row::Code(line) => {
            let (sign, tint) = match line.change {
                Change::Same => (' ', None),
                Change::Added => ('+', Some(colours.line_of(2))),
                Change::Removed => ('−', Some(colours.line_of(5))),
            };
            if let Some(tint) = tint {
                ui.painter().rect_filled(place, 0.0, tint.gamma_multiply(TINT));
                let edge = Rect::from_min_size(place.min, vec2(EDGE, height));
                ui.painter().rect_filled(edge, 0.0, tint);
            }
            let number = RichText::new(format!("{:>4} {sign}", line.number)).monospace();
            let number = number.color(tint.unwrap_or(colours.weak));
            ui.add_sized([margin, height], Label::new(number).extend());
            let values = if line.change == Change::Removed { &[] } else { values };
            let code = highlighter::highlighted(ui, line.text.trim_end(), values);
            ui.add(Label::new(code).extend());
        }
    });
}
