//! File dialogs and drag and drop. The application opens and saves the files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use egui::{Align2, Id, RichText};
use egui_file_dialog::{DialogState, FileDialog};

use super::action::{Action, Collector};
use super::theme;
use crate::base::Plain;
use crate::engine::{FileKind, snapshot};
use crate::scene::file;

/// Purpose of a file dialog: to open a file, to save one, or to choose a folder for kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Open,
    SaveSnapshot,
    SaveScene,
    EditKernels,
}

/// Name of the file filter that shows all file types in [`FileKind::ALL`].
const ALL: &str = "All supported files";

/// Maximum number of recent files.
const MOST_RECENT: usize = 8;
/// Maximum number of characters of a file's name that a menu shows.
const MOST_NAME: usize = 60;

/// Horizontal gap between widgets, in points, that the file dialog's layout assumes.
const FIELD_GAP: f32 = 8.0;

/// The open file dialog, if any, and the folder in which file dialogs open.
#[derive(Default)]
pub struct Files {
    open: Option<(Purpose, FileDialog)>,
    /// Folder in which file dialogs open: the one that contains the last chosen file.
    pub folder: Option<PathBuf>,
    /// Scenes and snapshots that were opened or saved recently, newest first.
    pub recent: Vec<PathBuf>,
}

impl Files {
    /// Opens a file dialog; `name` is the suggested file name without its extension.
    pub(super) fn ask(&mut self, purpose: Purpose, name: &str) {
        let mut dialog = FileDialog::new()
            .id("file dialog")
            .anchor(Align2::CENTER_CENTER, egui::Vec2::ZERO)
            .default_size([640.0, 420.0])
            .err_icon("!")
            .default_file_icon("📄")
            .default_folder_icon("📁");
        if let Some(folder) = &self.folder {
            dialog = dialog.initial_directory(folder.clone());
        }
        let dialog = match purpose {
            Purpose::Open => {
                let all = FileKind::ALL.iter().flat_map(|(.., extensions)| *extensions).copied().collect();
                dialog = filter(dialog.title("Open"), ALL, all);
                for (_, name, extensions) in FileKind::ALL {
                    dialog = filter(dialog, name, extensions.to_vec());
                }
                dialog = dialog.default_file_filter(ALL);
                dialog.pick_file();
                dialog
            }
            Purpose::EditKernels => {
                dialog = dialog.title("Choose a folder for the kernels");
                dialog.pick_directory();
                dialog
            }
            Purpose::SaveSnapshot => save(dialog, "Save snapshot", name, snapshot::EXTENSION),
            Purpose::SaveScene => save(dialog, "Save scene", name, file::EXTENSION),
        };
        self.open = Some((purpose, dialog));
    }

    /// Adds a file that was opened or saved to the recent files, or moves it to the front of them.
    pub fn remember(&mut self, path: &Path) {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        if path.to_str().is_none() {
            // The settings file can contain only text.
            return;
        }
        self.forget(&path);
        self.recent.insert(0, path);
        self.recent.truncate(MOST_RECENT);
    }

    /// Removes a file from the recent files. Returns whether it was one of them.
    pub fn forget(&mut self, path: &Path) -> bool {
        let count = self.recent.len();
        self.recent.retain(|recent| recent != path);
        self.recent.len() < count
    }

    /// Returns whether a file dialog is open. An open file dialog receives all keys.
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Shows the open file dialog, if any; collects the chosen file and any files that were dropped on the window.
    pub(super) fn show(&mut self, ctx: &egui::Context, out: &mut Collector) {
        let dropped = ctx.input(|input| input.raw.dropped_files.clone());
        out.actions.extend(dropped.into_iter().filter_map(|file| file.path).map(Action::OpenFile));
        show_drop_hint(ctx);
        let Some((purpose, dialog)) = &mut self.open else { return };
        // If the space between items were smaller than FIELD_GAP, the dialog's name field would widen the dialog in each frame.
        let style = ctx.style();
        ctx.style_mut(|style| style.spacing.item_spacing.x = FIELD_GAP);
        dialog.update(ctx);
        ctx.set_style(style);
        if let Some(rect) = ctx.memory(|memory| memory.area_rect(Id::new("file dialog"))) {
            out.record_rect("file dialog", rect);
        }
        let picked = dialog.take_picked();
        let is_open = picked.is_none() && matches!(dialog.state(), DialogState::Open);
        if let Some(path) = picked {
            self.folder = path.parent().map(PathBuf::from);
            out.actions.push(match purpose {
                Purpose::Open => Action::OpenFile(path),
                Purpose::SaveSnapshot => Action::SaveSnapshotTo(path),
                Purpose::SaveScene => Action::SaveSceneTo(path),
                Purpose::EditKernels => Action::EditKernelsIn(path),
            });
        }
        if !is_open {
            self.open = None;
        }
    }
}

/// Returns the name of the file `path` for display.
pub(super) fn name_of(path: &Path) -> String {
    Plain(path.file_name().unwrap_or(path.as_os_str()).to_string_lossy(), MOST_NAME).to_string()
}

/// Shows a hint while a file is dragged over the window.
fn show_drop_hint(ctx: &egui::Context) {
    if ctx.input(|input| input.raw.hovered_files.is_empty()) {
        return;
    }
    egui::Area::new("drop".into()).anchor(Align2::CENTER_CENTER, egui::Vec2::ZERO).show(ctx, |ui| {
        egui::Frame::window(ui.style()).inner_margin(24).show(ui, |ui| {
            ui.label(RichText::new("Drop to open").heading().color(theme::of(ui).strong));
        });
    });
}

/// Opens `dialog` for saving a file; `name` is the suggested file name without the `extension`.
fn save(dialog: FileDialog, title: &str, name: &str, extension: &str) -> FileDialog {
    let mut dialog = dialog
        .title(title)
        .default_file_name(&format!("{name}.{extension}"))
        .add_save_extension(title, extension)
        .default_save_extension(title);
    dialog.save_file();
    dialog
}

/// Adds a filter to `dialog` that shows only files with these extensions.
fn filter(dialog: FileDialog, name: &str, extensions: Vec<&'static str>) -> FileDialog {
    let fits = move |path: &Path| {
        let extension = path.extension().unwrap_or_default();
        extensions.iter().any(|known| extension.eq_ignore_ascii_case(known))
    };
    dialog.add_file_filter(name, Arc::new(fits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recent_files_are_listed_newest_first_without_duplicates() {
        let mut files = Files::default();
        for name in 0..10 {
            files.remember(Path::new(&format!("/a/{name}.toml")));
        }
        files.remember(Path::new("/a/5.toml"));
        let names: Vec<_> = files.recent.iter().map(|path| name_of(path)).collect();
        assert_eq!(names.join(" "), "5.toml 9.toml 8.toml 7.toml 6.toml 4.toml 3.toml 2.toml");
        assert!(files.forget(Path::new("/a/9.toml")) && !files.forget(Path::new("/a/9.toml")));
        assert_eq!(files.recent.len(), 7);
        files.remember(Path::new("relative.toml"));
        assert!(files.recent[0].is_absolute(), "it is found from another folder too");
    }
}
