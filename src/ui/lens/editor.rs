//! Kernel editor, on the "Source" page of the Lens window. Builds the edited kernel while the old one keeps running.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use egui::text::LayoutJob;
use egui::{
    Align2, Button, Color32, Galley, Key, Label, Modifiers, Rect, RichText, ScrollArea, TextBuffer, TextEdit,
    TextStyle, pos2,
};

use crate::compute::{KernelEdits, KernelSource, ProgramSource};
use crate::ui::action::{Action, Collector};
use crate::ui::widgets::{button, small, with_help};
use crate::ui::{highlighter, theme};

/// State of the kernel editor.
#[derive(Debug, Default)]
pub struct Editor {
    /// Whether the "Source" page shows the editor instead of the read-only listing.
    pub(super) is_open: bool,
    /// Texts of the kernel files in the editor, by file name.
    drafts: BTreeMap<&'static str, String>,
    build: Build,
    /// Cached syntax highlighting of the text, and whether it was made for the dark theme.
    coloured: Option<(bool, LayoutJob)>,
}

/// State of the last build that the user started in the editor.
#[derive(Debug, Default)]
enum Build {
    #[default]
    None,
    Running,
    Failed(Vec<BuildError>),
}

/// An error that the compiler reported.
#[derive(Debug, Clone, PartialEq)]
struct BuildError {
    /// Name of the file and number of the line; `None` if the message names no line.
    place: Option<(String, usize)>,
    text: String,
}

impl BuildError {
    /// Returns the errors in a compiler's log, or the whole log if it has no errors in a known form.
    fn all(log: &str) -> Vec<Self> {
        let errors: Vec<_> = log.lines().filter_map(Self::of_line).collect();
        let whole = Self { place: None, text: log.trim().to_owned() };
        if errors.is_empty() { vec![whole] } else { errors }
    }

    /// Parses a log line such as `tiled.cl:8:2: error: message` or, as PoCL writes it, `error: tiled.cl:8:2: message`.
    fn of_line(line: &str) -> Option<Self> {
        let parts: Vec<&str> = line.split(": ").collect();
        let is_kind = |part: &&str| ["error", "fatal error"].contains(&part.trim());
        let kind = parts.iter().take(2).position(is_kind)?;
        let mut place = parts.get(1 - kind)?.split(':');
        let (file, number) = (place.next()?.trim().to_owned(), place.next()?.parse().ok()?);
        Some(Self { place: Some((file, number)), text: parts[2..].join(": ") })
    }

    fn is_in(&self, file: &str) -> bool {
        self.place.as_ref().is_some_and(|(name, _)| name == file)
    }
}

impl Editor {
    /// Records the result of building edited kernels. If the build failed, `failure` is the compiler's log or another
    /// message. Returns whether the editor shows the result, which it does if it is open and has started the build.
    pub fn finish_build(&mut self, failure: Option<&str>) -> bool {
        let was_running = matches!(self.build, Build::Running);
        if was_running {
            self.build = failure.map_or(Build::None, |log| Build::Failed(BuildError::all(log)));
        }
        was_running && self.is_open
    }

    /// Shows the editor for a file of the program `source`. `folder` contains the user's edited kernels, if any.
    pub(super) fn show(
        &mut self,
        ui: &mut egui::Ui,
        (source, file): (&ProgramSource, KernelSource),
        folder: Option<&Path>,
        out: &mut Collector,
    ) {
        let running = source.text(&file);
        let draft = self.drafts.entry(file.file).or_insert_with(|| running.to_owned());
        let is_running = draft == running;
        let wants_build = ui.input_mut(|input| input.consume_key(Modifiers::COMMAND, Key::Enter));
        let mut leaves = false;
        ui.horizontal_wrapped(|ui| {
            let is_busy = matches!(self.build, Build::Running);
            let help =
                "Build the kernel and run it (Ctrl+Enter). If it does not compile, the old kernel keeps running";
            let build = with_help(ui.add_enabled(!is_busy && !is_running, Button::new("Build")), help);
            out.record("source build", &build);
            if (build.clicked() || wants_build) && !is_busy && !is_running {
                self.build = Build::Running;
                out.actions.push(Action::RunKernels(with_file(&source.edits, &file, draft)));
            }
            let help = "Discard the changes to this file and run the built-in kernel";
            let back = ui.button("Back to the original").on_hover_text(help);
            out.record("source back", &back);
            leaves = back.clicked();
            match folder {
                Some(folder) => {
                    let help = format!("Save this file to {}, and run the kernels from that folder", folder.display());
                    let action = Action::SaveKernel(file.file, draft.clone());
                    button(ui, out, ("source save", "Save to folder", &help), action);
                }
                None => {
                    let help =
                        "Choose a folder for the kernels, where you can save this file and edit it with other programs";
                    button(ui, out, ("source folder", "Folder…", help), Action::EditKernels);
                }
            }
            let state = match &self.build {
                Build::Running => "Building… The old kernel keeps running.",
                _ if is_running && draft == file.text => "The built-in kernel is running.",
                _ if is_running => "The edited kernel is running.",
                Build::Failed(_) => "The kernel does not compile. The old kernel keeps running.",
                Build::None => "The changes are not built yet.",
            };
            ui.label(small(ui, state));
        });
        if leaves {
            self.drafts.remove(file.file);
            (self.is_open, self.build, self.coloured) = (false, Build::None, None);
            if source.edits.contains_key(file.file) {
                out.actions.push(Action::RunKernels(with_file(&source.edits, &file, file.text)));
            }
            return;
        }
        let errors = if let Build::Failed(errors) = &self.build { &errors[..] } else { &[] };
        show_errors(ui, errors);
        let texts = (draft, &mut self.coloured);
        show_text(ui, texts, (file.file, errors), out);
    }
}

/// Returns a copy of `edits` in which the text of `file` is `text`.
fn with_file(edits: &KernelEdits, file: &KernelSource, text: &str) -> KernelEdits {
    let mut edits = edits.clone();
    match text == file.text {
        true => drop(edits.remove(file.file)),
        false => drop(edits.insert(file.file.to_owned(), text.to_owned())),
    }
    edits
}

fn show_errors(ui: &mut egui::Ui, errors: &[BuildError]) {
    for BuildError { place, text } in errors.iter().take(5) {
        let place = place.as_ref().map_or_else(String::new, |(file, line)| format!("{file}:{line}: "));
        let text = RichText::new(place + text).small().color(theme::of(ui).warning);
        ui.add(Label::new(text).wrap());
    }
}

/// Shows the text field of the editor, with line numbers, and with each compiler error after the line that it concerns.
fn show_text(
    ui: &mut egui::Ui,
    (draft, coloured): (&mut String, &mut Option<(bool, LayoutJob)>),
    (file, errors): (&'static str, &[BuildError]),
    out: &mut Collector,
) {
    let font = TextStyle::Monospace.resolve(ui.style());
    let character = ui.fonts_mut(|fonts| fonts.glyph_width(&font, '0'));
    let margin = 5.0 * character;
    let errors: Vec<_> = errors.iter().filter(|error| error.is_in(file)).collect();
    let of_error = |error: &&BuildError| error.text.chars().count() + 4;
    let longest = draft.lines().map(|line| line.chars().count()).max().unwrap_or(0)
        + errors.iter().map(of_error).max().unwrap_or(0);
    let width = ((longest + 2) as f32 * character).max(ui.available_width() - margin);
    let mut layouter = |ui: &egui::Ui, text: &dyn TextBuffer, _: f32| -> Arc<Galley> {
        let is_dark = ui.visuals().dark_mode;
        let is_same = |(dark, job): &(bool, LayoutJob)| *dark == is_dark && job.text == text.as_str();
        let known = coloured.take().filter(is_same);
        let (_, job) = coloured
            .insert(known.unwrap_or_else(|| (is_dark, highlighter::highlighted(ui, text.as_str(), &[]))));
        ui.fonts_mut(|fonts| fonts.layout_job(job.clone()))
    };
    let area = ScrollArea::both()
        .id_salt(("editor", file))
        .auto_shrink(false)
        .max_height(highlighter::code_height(ui));
    area.show(ui, |ui| {
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = 0.0;
            ui.add_space(margin);
            let edit = TextEdit::multiline(draft).id_salt(("kernel", file)).code_editor();
            let edit = edit.desired_width(width).layouter(&mut layouter).show(ui);
            out.record("source text", &edit.response);
            edit.response.widget_info(|| {
                egui::WidgetInfo::labeled(egui::WidgetType::TextEdit, true, format!("Source code of {file}"))
            });
            let (colours, painter) = (theme::of(ui), ui.painter());
            let visible = ui.clip_rect().y_range();
            // Lines do not wrap, so each row of the text is a line.
            for (number, row) in (1..).zip(&edit.galley.rows) {
                let row = row.rect().translate(edit.galley_pos.to_vec2());
                if !visible.intersects(row.y_range()) {
                    continue;
                }
                let left = pos2(edit.response.rect.left() - 0.5 * character, row.center().y);
                let error = errors.iter().find(|error| error.place.as_ref().is_some_and(|at| at.1 == number));
                let colour = if error.is_some() { colours.warning } else { colours.weak };
                painter.text(left, Align2::RIGHT_CENTER, number.to_string(), font.clone(), colour);
                if let Some(error) = error {
                    mark(painter, (row, edit.response.rect), &error.text, (colours.warning, font.clone()));
                }
            }
        });
    });
}

/// Highlights a line that has a compiler error, and writes the error `message` after the end of the line.
fn mark(
    painter: &egui::Painter,
    (row, text): (Rect, Rect),
    message: &str,
    (colour, font): (Color32, egui::FontId),
) {
    let line = Rect::from_x_y_ranges(text.x_range(), row.y_range());
    painter.rect_filled(line, 0.0, colour.gamma_multiply(0.15));
    let at = pos2(row.right() + 2.0 * font.size, row.center().y);
    painter.text(at, Align2::LEFT_CENTER, format!("◀ {message}"), font, colour);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_errors_are_parsed_from_compiler_logs() {
        let at = |file: &str, line, text: &str| BuildError {
            place: Some((file.to_owned(), line)),
            text: text.to_owned(),
        };
        let expected = [
            at("gravity/tiled.cl", 18, "use of undeclared identifier 'sun': it sets"),
            at("gravity/force.cl", 3, "too many errors"),
        ];
        // As clang and NVIDIA's compiler write it.
        let log = "gravity/tiled.cl:18:19: error: use of undeclared identifier 'sun': it sets\n        sun = attract();\n        ^\ngravity/force.cl:3: fatal error: too many errors\n2 errors generated.";
        assert_eq!(BuildError::all(log), expected);
        let log = "error: gravity/tiled.cl:18:19: use of undeclared identifier 'sun': it sets\nfatal error: gravity/force.cl:3: too many errors\nDevice pthread failed to build the program";
        assert_eq!(BuildError::all(log), expected);
        let whole = BuildError { place: None, text: "the device refuses it".to_owned() };
        assert_eq!(BuildError::all("the device refuses it\n"), [whole]);
    }

    #[test]
    fn restoring_the_original_kernel_text_removes_the_edit() {
        let file = KernelSource { file: "a.cl", text: "own" };
        let others = KernelEdits::from([("b.cl".to_owned(), "b".to_owned())]);
        let edited = with_file(&others, &file, "new");
        assert_eq!(edited.get("a.cl").map(String::as_str), Some("new"));
        assert_eq!(edited.len(), 2);
        assert_eq!(with_file(&edited, &file, "own"), others);
    }
}
