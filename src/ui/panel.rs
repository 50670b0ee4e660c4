//! The settings panel at the left of the window: one section for each group of settings.

use std::path::{Path, PathBuf};

use egui::{Button, DragValue, RichText, WidgetInfo, WidgetType, vec2};

use super::action::{Action, Collector};
use super::brush::Brush;
use super::chart_window::Measurement;
use super::export::Export;
use super::files::name_of;
use super::model::Model;
use super::numbers::auto_number;
use super::undo::UndoHistory;
use super::widgets::{
    Chip, button, checkbox, chips, enabled_button, note, row, section, shortcut_button, with_help,
};
use super::{appearance, heaviest, jump, kernel_section, keys, parameters, playback, theme};
use crate::engine::Config;
use crate::modes::MODES;
use crate::session::Stats;

/// Height of the panel, in points, below which the "Run" section scrolls with the other sections.
const LOW: f32 = 400.0;
/// Width left free for the scroll bar at the right of the sections, in points.
const SCROLL_BAR: f32 = 8.0;
/// Exclusive upper bound on the seeds that the "New seed" button chooses. It keeps the numbers short.
const DRAWN_SEEDS: u64 = 1_000_000;
/// Tooltip for the seed if the scene uses no random numbers.
const NOT_RANDOM: &str = "This scene uses no random numbers";

/// Data that the panel shows besides the model: speed measurement, kernel folder, undo history and recent files.
pub(super) struct Shown<'a> {
    pub measurement: &'a Measurement,
    /// The watched folder of edited kernels, if any.
    pub kernels: Option<&'a Path>,
    pub undo: &'a UndoHistory,
    /// Files that were opened or saved recently, newest first.
    pub recent: &'a [PathBuf],
}

/// Shows the panel with all its sections.
pub(super) fn show(
    ctx: &egui::Context,
    model: &mut Model,
    (brush, export): (&mut Brush, &mut Export),
    shown: &Shown,
    out: &mut Collector,
) {
    let margin = egui::Margin { left: 14, right: 8, top: 10, bottom: 8 };
    let frame = egui::Frame::NONE.fill(theme::of_context(ctx).surface).inner_margin(margin);
    let panel = egui::SidePanel::left("panel").default_width(330.0).width_range(300.0..=460.0);
    panel.frame(frame).show(ctx, |ui| {
        header(ui, out);
        let is_filming = export.filming.is_some();
        let scrolls_run = ui.available_height() < LOW;
        if !scrolls_run {
            ui.scope(|ui| {
                ui.set_max_width(ui.available_width() - SCROLL_BAR);
                playback::show(ui, model, is_filming, out);
            });
            ui.add_space(2.0);
        }
        egui::ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
            ui.set_max_width(ui.available_width() - SCROLL_BAR);
            if scrolls_run {
                playback::show(ui, model, is_filming, out);
            }
            scene(ui, model, shown, out);
            brush.show_rows(ui, model, out);
            parameters::show(ui, model.config, out);
            appearance::show(ui, model, out);
            kernel_section::show(ui, model, (shown.measurement, shown.kernels), out);
            devices(ui, model, out);
            export.show(ui, out);
        });
    });
}

fn header(ui: &mut egui::Ui, out: &mut Collector) {
    ui.horizontal(|ui| {
        ui.label(RichText::new("gravitile").heading().color(theme::of(ui).strong));
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            shortcut_button(ui, out, ("hide", "Hide"), Action::TogglePanel);
            shortcut_button(ui, out, ("keys", "Keys"), Action::ToggleHelp);
            shortcut_button(ui, out, ("plots", "Plots"), Action::TogglePlots);
            shortcut_button(ui, out, ("open lens", "Lens"), Action::ToggleLens);
        });
    });
}

/// Shows the button that brings back the hidden panel.
pub(super) fn show_hidden(ctx: &egui::Context, out: &mut Collector) {
    egui::Area::new("hidden panel".into())
        .anchor(egui::Align2::LEFT_TOP, [10.0, 10.0])
        .show(ctx, |ui| shortcut_button(ui, out, ("show", "☰ Panel"), Action::TogglePanel));
}

fn scene(ui: &mut egui::Ui, model: &mut Model, shown: &Shown, out: &mut Collector) {
    section(ui, "Scene", |ui| {
        undo(ui, (shown.undo, model.stats), out);
        shortcut_button(ui, out, ("compare", "Compare"), Action::Compare);
    });
    mode(ui, model.config, out);
    scenes(ui, model.config, out);
    bodies(ui, model, out);
    seed(ui, model.config, out);
    files(ui, shown.recent, out);
    heaviest::show(ui, model, out);
}

/// Shows the buttons *Undo* and *Redo*, from right to left.
fn undo(ui: &mut egui::Ui, (history, stats): (&UndoHistory, &Stats), out: &mut Collector) {
    for (key, text, action) in [("redo", "Redo", Action::Redo), ("undo", "Undo", Action::Undo)] {
        let redoes = action == Action::Redo;
        // The history learns of an edit with the next frame of the simulation.
        let is_possible = history.next(redoes).is_some() || (!redoes && stats.undos > 0);
        let hint = keys::hint(&action);
        let help = history.next(redoes).map_or_else(|| hint.to_owned(), |name| format!("{hint}: {name}"));
        if enabled_button(ui, out, (key, text, &help), is_possible) {
            out.actions.push(action);
        }
    }
}

fn mode(ui: &mut egui::Ui, config: &Config, out: &mut Collector) {
    row(ui, "Mode", "Kind of simulation", |ui, _| {
        let all = MODES.iter().map(|info| Chip::new(info.name, info.summary, *info == config.mode.info()));
        if let Some(clicked) = chips(ui, out, ("mode", "Mode"), all) {
            out.actions.push(Action::SelectMode(MODES[clicked]));
        }
    });
}

/// Shows the current scene as a button that opens the gallery of scenes.
fn scenes(ui: &mut egui::Ui, config: &Config, out: &mut Collector) {
    row(ui, "Scene", "Initial state of the simulation", |ui, label| {
        let name = format!("{}  ⏷", config.start.title);
        let button = Button::new(name).truncate().min_size(vec2(ui.available_width(), 0.0));
        let hint = keys::hint(&Action::ToggleGallery);
        let button = ui.add(button).on_hover_text(hint).labelled_by(label.id);
        out.button("scene", &button, Action::ToggleGallery);
    });
    note(ui, &config.start.summary);
}

fn files(ui: &mut egui::Ui, recent: &[PathBuf], out: &mut Collector) {
    ui.horizontal(|ui| {
        // Narrow gaps, so that the buttons fit in one row.
        ui.spacing_mut().item_spacing.x = 3.0;
        ui.spacing_mut().button_padding.x = 5.0;
        shortcut_button(ui, out, ("open", "Open…"), Action::Open);
        let menu = ui.menu_button("⏷", |ui| more_files(ui, recent, out)).response;
        let enabled = menu.enabled();
        // A screen reader cannot read the symbol.
        menu.widget_info(|| WidgetInfo::labeled(WidgetType::Button, enabled, "More"));
        out.record(
            "more files",
            &menu.on_hover_text("Open a recent file, or copy and paste the settings as text"),
        );
        shortcut_button(ui, out, ("save snapshot", "Save snapshot…"), Action::SaveSnapshot);
        shortcut_button(ui, out, ("save scene", "Save scene…"), Action::SaveScene);
    });
}

/// Shows the menu of recent files, and the commands that copy and paste the settings.
fn more_files(ui: &mut egui::Ui, recent: &[PathBuf], out: &mut Collector) {
    for (nth, path) in recent.iter().enumerate() {
        let help = format!("Open {}", path.display());
        button(ui, out, (&format!("recent {nth}"), &name_of(path), &help), Action::OpenFile(path.clone()));
    }
    if !recent.is_empty() {
        ui.separator();
    }
    let help = "Copy a shell command that opens this scene with these settings";
    button(ui, out, ("copy command line", "Copy as command line", help), Action::CopyCommandLine);
    let help = "Apply settings from the clipboard: a command line, or lines such as dt=0.01";
    button(ui, out, ("paste settings", "Paste settings", help), Action::PasteSettings);
}

fn bodies(ui: &mut egui::Ui, model: &mut Model, out: &mut Collector) {
    let Model { config, stats, max_bodies, .. } = model;
    let work = &config.mode.info().work;
    row(ui, work.label.0, work.label.1, |ui, label| match config.start.bodies {
        Some(fixed) => {
            let number = ui.add_enabled_ui(false, |ui| {
                auto_number(ui, out, ("bodies", label), &mut Some(fixed), fixed, fixed..=fixed);
            });
            number.response.on_hover_text(format!("The number of {} is fixed by this scene", work.things));
        }
        None => {
            auto_number(ui, out, ("bodies", label), &mut config.bodies, stats.bodies, 1..=*max_bodies);
        }
    });
}

fn seed(ui: &mut egui::Ui, config: &mut Config, out: &mut Collector) {
    let help =
        "Starting value of the random number generator: the same seed always gives the same initial state";
    row(ui, "Seed", help, |ui, label| {
        ui.add_enabled_ui(config.start.is_random(), |ui| {
            let size = [theme::COUNT_WIDTH, ui.spacing().interact_size.y];
            let number = DragValue::new(&mut config.seed).speed(0.1).update_while_editing(false);
            let help = "Drag, or click and type. Double-click the label to reset the seed to 1.";
            let number = ui.add_sized(size, number).labelled_by(label.id).on_hover_text(help);
            jump::reveal_and_focus("seed", &number);
            out.record("seed", &number.on_disabled_hover_text(NOT_RANDOM));
            if label.double_clicked() && ui.is_enabled() {
                config.seed = 1;
            }
            let draw = ui.button("🎲 New seed").on_hover_text("Choose a new seed at random");
            let draw = draw.on_disabled_hover_text(NOT_RANDOM);
            out.record("new seed", &draw);
            if draw.clicked() {
                config.seed = rand::random_range(0..DRAWN_SEEDS);
            }
        });
    });
}

/// If there are several devices, shows a checkbox for each device. At least one device stays checked.
fn devices(ui: &mut egui::Ui, model: &mut Model, out: &mut Collector) {
    let Model { config, pool, .. } = model;
    if pool.len() < 2 {
        return;
    }
    section(ui, "Devices", |_| {});
    for (place, info) in pool.iter().enumerate() {
        let was = config.devices.contains(&place);
        let is_only = was && config.devices.len() == 1;
        let mut on = was;
        let help = match is_only {
            true => "At least one device must stay selected",
            false => {
                "The selected devices share the work. A device that would slow the others down gets no work"
            }
        };
        let name = format!("{} · {}", info.index, info.name);
        ui.add_enabled_ui(!is_only, |ui| {
            let entry = checkbox(ui, &mut on, RichText::new(&name).color(theme::of(ui).text));
            out.record(format_args!("device {place}"), &with_help(entry, help));
        });
        if on && !was {
            config.devices.push(place);
            config.devices.sort_unstable();
        } else if was && !on {
            config.devices.retain(|other| *other != place);
        }
    }
}
