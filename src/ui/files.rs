//! Files by dialog and by drag and drop: what a person wants opened or saved. The window does it.

use std::path::PathBuf;
use std::sync::Arc;

use egui::{Align2, RichText};
use egui_file_dialog::{DialogState, FileDialog};

use super::theme;
use super::widgets::Sink;
use crate::scene::{file, tipsy};
use crate::snapshot;

/// What a person wants done with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileWish {
    /// Show what is in it.
    Open(PathBuf),
    /// Write a snapshot to it.
    SaveSnapshot(PathBuf),
    /// Write the scene to it.
    SaveScene(PathBuf),
    /// Edit the kernels in this folder.
    EditKernels(PathBuf),
}

/// What a dialog is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Open,
    SaveSnapshot,
    SaveScene,
    EditKernels,
}

/// What can be opened, in words for a person and as names end.
pub const OPENED: [(&str, &[&str]); 5] = [
    ("Snapshot", &[snapshot::EXTENSION]),
    ("Scene", &[file::EXTENSION]),
    ("Picture that carries one", &[snapshot::PICTURE]),
    ("Bodies (CSV)", &["csv"]),
    ("Bodies (Tipsy)", &tipsy::EXTENSIONS),
];

/// What a field of the dialog has beside its text.
const FIELD_MARGINS: f32 = 8.0;

/// The dialog, if one is open.
#[derive(Default)]
pub(super) struct Files {
    open: Option<(Purpose, FileDialog)>,
    /// Where the last file was.
    folder: Option<PathBuf>,
}

impl std::fmt::Debug for Files {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Files").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl Files {
    /// Opens a dialog; `name` is what a file that is saved would be called.
    pub fn ask(&mut self, purpose: Purpose, name: &str) {
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
        match purpose {
            Purpose::Open => {
                let all: Vec<&str> = OPENED.iter().flat_map(|(_, extensions)| *extensions).copied().collect();
                dialog = filter(dialog.title("Open"), "All that can be opened", all);
                for (name, extensions) in OPENED {
                    dialog = filter(dialog, name, extensions.to_vec());
                }
                dialog = dialog.default_file_filter("All that can be opened");
                dialog.pick_file();
            }
            Purpose::EditKernels => {
                dialog = dialog.title("Folder for kernels");
                dialog.pick_directory();
            }
            Purpose::SaveSnapshot | Purpose::SaveScene => {
                let (title, extension) = match purpose {
                    Purpose::SaveScene => ("Save scene", file::EXTENSION),
                    _ => ("Save snapshot", snapshot::EXTENSION),
                };
                dialog = dialog
                    .title(title)
                    .default_file_name(&format!("{name}.{extension}"))
                    .add_save_extension(title, extension)
                    .default_save_extension(title);
                dialog.save_file();
            }
        }
        self.open = Some((purpose, dialog));
    }

    /// Whether a dialog is open: keys belong to it then.
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Where dialogs begin, and where they were last used.
    pub fn folder(&mut self) -> &mut Option<PathBuf> {
        &mut self.folder
    }

    /// Shows the dialog; what it came to, and what was dropped on the window.
    pub fn show(&mut self, ctx: &egui::Context, sink: &mut Sink) -> Vec<FileWish> {
        let dropped = ctx.input(|input| input.raw.dropped_files.clone());
        let mut wishes: Vec<_> =
            dropped.into_iter().filter_map(|file| file.path).map(FileWish::Open).collect();
        self.hint(ctx);
        let Some((purpose, dialog)) = &mut self.open else { return wishes };
        // Its field for a name takes this much room for granted; with less it would widen the dialog in each frame.
        let style = ctx.style();
        ctx.style_mut(|style| style.spacing.item_spacing.x = FIELD_MARGINS);
        dialog.update(ctx);
        ctx.set_style(style);
        if let Some(rect) = ctx.memory(|memory| memory.area_rect(egui::Id::new("file dialog"))) {
            sink.rects.push(("file dialog".to_owned(), rect));
        }
        if let Some(path) = dialog.take_picked() {
            self.folder = path.parent().map(PathBuf::from);
            wishes.push(match purpose {
                Purpose::Open => FileWish::Open(path),
                Purpose::SaveSnapshot => FileWish::SaveSnapshot(path),
                Purpose::SaveScene => FileWish::SaveScene(path),
                Purpose::EditKernels => FileWish::EditKernels(path),
            });
            self.open = None;
        } else if !matches!(dialog.state(), DialogState::Open) {
            self.open = None;
        }
        wishes
    }

    /// Something is held over the window: what would happen to it.
    fn hint(&self, ctx: &egui::Context) {
        if ctx.input(|input| input.raw.hovered_files.is_empty()) {
            return;
        }
        egui::Area::new("drop".into()).anchor(Align2::CENTER_CENTER, egui::Vec2::ZERO).show(ctx, |ui| {
            egui::Frame::window(ui.style()).inner_margin(24).show(ui, |ui| {
                ui.label(RichText::new("Drop to open").heading().color(theme::of(ui).strong));
            });
        });
    }
}

fn filter(dialog: FileDialog, name: &str, extensions: Vec<&'static str>) -> FileDialog {
    let fits = move |path: &std::path::Path| {
        let extension = path.extension().unwrap_or_default();
        extensions.iter().any(|known| extension.eq_ignore_ascii_case(known))
    };
    dialog.add_file_filter(name, Arc::new(fits))
}
