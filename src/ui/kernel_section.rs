//! "Kernel" section of the panel: variant, work-group, compile-time parameters and measurements.

use std::path::Path;

use egui::text::LayoutJob;
use egui::{Align, FontSelection, ProgressBar, RichText};

use super::action::{Action, Collector};
use super::chart_window::Measurement;
use super::model::Model;
use super::widgets::{auto_list, auto_row, button, folded, note, note_with_height_of, row, small};
use super::{jump, theme, widgets};
use crate::base::format;
use crate::engine::{Config, Study, Trial};
use crate::export::chart::Chart;
use crate::modes::Recipe;

/// Names of the controls in the "Kernel tuning" section to which a lesson can point.
const TUNING: [&str; 4] = ["sweep work-groups", "sweep bodies", "tune", "chart"];

/// Shows the Kernel section of the panel. `folder` contains the user's edited kernels, if any.
pub(super) fn show(
    ui: &mut egui::Ui,
    model: &mut Model,
    (measurement, folder): (&Measurement, Option<&Path>),
    out: &mut Collector,
) {
    ui.add_space(10.0);
    let is_here = |key: &str| ["variant", "work-group"].iter().any(|own| key.starts_with(own));
    let unfolds = jump::target(ui.ctx()).is_some_and(|key| is_here(&key) || TUNING.contains(&&*key));
    let help = "How the device computes a step: the kernel variant, its settings, and measurements of speed";
    let title = title(ui, model.stats.variant);
    folded(ui, out, ("kernel", title, help), unfolds, |ui, out| {
        variant(ui, model, out);
        work_group(ui, model, out);
        shape(ui, model, out);
        row(ui, "Source code", "OpenCL C source code of the kernels", |ui, _| {
            sources(ui, (folder, model.stats.runs_edited_kernels()), out);
        });
        tuning(ui, model, measurement, out);
    });
}

/// Returns the title of the "Kernel" section, which includes the name of the variant in use.
fn title(ui: &egui::Ui, variant: &str) -> LayoutJob {
    let mut title = LayoutJob::default();
    let texts = [widgets::title(ui, "Kernel"), small(ui, format!("   {variant}"))];
    texts
        .into_iter()
        .for_each(|text| text.append_to(&mut title, ui.style(), FontSelection::Default, Align::Center));
    title
}

/// Shows the button that starts or stops kernel editing, and the folder that contains the edited kernels, if any.
fn sources(ui: &mut egui::Ui, (folder, is_edited): (Option<&Path>, bool), out: &mut Collector) {
    let built_in = |ui: &mut egui::Ui, out: &mut Collector| {
        let help = "Use the built-in kernels again. The files in your kernel folder are kept";
        button(ui, out, ("own kernels", "Built-in kernels", help), Action::UseBuiltInKernels);
    };
    let Some(folder) = folder else {
        let help = "Copy the kernels' OpenCL C source code to a folder, where you can edit it. Each change runs as soon as you save the file";
        button(ui, out, ("edit kernels", "Edit…", help), Action::EditKernels);
        if is_edited {
            built_in(ui, out);
        }
        return;
    };
    built_in(ui, out);
    let text = folder.display().to_string();
    let name = egui::Label::new(RichText::new(&text).color(theme::of(ui).weak)).truncate();
    ui.add(name).on_hover_text(format!("Kernels in {text} run as soon as they are saved"));
}

fn variant(ui: &mut egui::Ui, model: &mut Model, out: &mut Collector) {
    let Model { config, stats, .. } = model;
    let info = config.mode.info();
    let in_use = info.variant(stats.variant);
    let options: Vec<_> = info.variants.iter().map(|it| (it, it.name.to_owned(), it.summary)).collect();
    let help = "Version of the kernel, listed from slowest to fastest. All versions compute the same step in different ways";
    auto_row(ui, out, ("variant", "Variant", help), &options, (&mut config.variant, in_use));
    if let Some(variant) = config.variant.or(in_use) {
        note_with_height_of(ui, variant.summary, info.variants.iter().map(|it| it.summary));
    }
}

fn work_group(ui: &mut egui::Ui, model: &mut Model, out: &mut Collector) {
    let Model { config, stats, device, recipe, .. } = model;
    let sizes = recipe.map(|recipe| recipe.work_groups(device)).unwrap_or_default();
    let option = |size: &usize| (*size, size.to_string(), "Work-items per work-group");
    let options: Vec<_> = sizes.iter().map(option).collect();
    let texts = ("work-group", "Work-group", "Number of work-items that run together and share local memory");
    auto_list(ui, out, texts, &options, (&mut config.work_group, stats.work_group));
}

/// Lets the user choose the work-group's width and height if the kernel variant has two-dimensional work-groups.
fn shape(ui: &mut egui::Ui, model: &mut Model, out: &mut Collector) {
    let Model { config, recipe: Some(recipe), .. } = model else { return };
    let Some(name) = recipe.variant.width_knob else { return };
    let Some((knob, in_use)) = recipe.knobs().find(|(knob, _)| knob.name == name) else { return };
    let widths = knob.options.iter().copied().filter(|width| *width as usize <= recipe.work_group);
    let options: Vec<_> = widths
        .map(|width| {
            let shape = format!("{width}×{}", recipe.work_group / width as usize);
            (width, shape, "Columns × rows of work-items")
        })
        .collect();
    // A work-group that is too small has the largest width that fits.
    let fitting = |wanted: u32| options.iter().rev().map(|option| option.0).find(|width| *width <= wanted);
    let mut chosen = config.knobs.get(name).and_then(|&width| fitting(width));
    let texts = ("group shape", "Group shape", "Columns × rows of work-items in a work-group");
    if auto_row(ui, out, texts, &options, (&mut chosen, fitting(in_use))) {
        set_knob(config, name, chosen);
    }
}

/// Sets the compile-time parameter `name` to `choice`, or to `auto` if `choice` is `None`.
fn set_knob(config: &mut Config, name: &'static str, choice: Option<u32>) {
    match choice {
        Some(value) => config.knobs.insert(name, value),
        None => config.knobs.remove(name),
    };
}

/// Shows the collapsible "Kernel tuning" section, which contains compile-time parameters and speed measurements.
fn tuning(ui: &mut egui::Ui, model: &mut Model, measurement: &Measurement, out: &mut Collector) {
    let Model { config, recipe: Some(recipe), .. } = model else { return };
    let title = RichText::new("Kernel tuning").color(theme::of(ui).text);
    let help = "Compile-time parameters of the variant, and measurements of speed";
    let unfolds = jump::target(ui.ctx()).is_some_and(|key| TUNING.contains(&&*key));
    folded(ui, out, ("tuning", title, help), unfolds, |ui, out| {
        knobs(ui, config, recipe, out);
        measurements(ui, config, measurement, out);
    });
}

fn knobs(ui: &mut egui::Ui, config: &mut Config, recipe: &Recipe, out: &mut Collector) {
    let others = recipe.knobs().filter(|(knob, _)| Some(knob.name) != recipe.variant.width_knob);
    for (knob, in_use) in others {
        let option = |option: &u32| match (knob.choice(*option), knob.is_switch(), option) {
            (Some((name, help)), _, _) => (*option, name.to_owned(), help),
            (None, true, 0) => (0, "off".to_owned(), knob.summary),
            (None, true, _) => (*option, "on".to_owned(), knob.summary),
            (None, false, size) => (*size, size.to_string(), knob.summary),
        };
        let options: Vec<_> = knob.options.iter().map(option).collect();
        // If `auto` chooses the variant, it keeps the default methods.
        let counts = config.variant.is_some() || !knob.is_method;
        let mut chosen = config.knobs.get(knob.name).copied().filter(|_| counts);
        let label = if knob.label.is_empty() { knob.name } else { knob.label };
        if auto_row(ui, out, (knob.name, label, knob.summary), &options, (&mut chosen, Some(in_use))) {
            set_knob(config, knob.name, chosen);
            if knob.is_method && chosen.is_some() {
                config.variant = Some(recipe.variant);
            }
        }
    }
}

/// Shows the buttons that start speed measurements, or the progress of a running measurement, and the fastest result.
fn measurements(ui: &mut egui::Ui, config: &Config, measurement: &Measurement, out: &mut Collector) {
    let label = config.mode.info().work.label.0;
    row(
        ui,
        "Measure",
        "Measure the speed on this device. The simulation pauses during the measurement",
        |ui, _| {
            if let Some(share) = measurement.running {
                let help = "Stop measuring and continue the simulation";
                button(ui, out, ("end study", "Stop", help), Action::StopStudy);
                ui.add(ProgressBar::new(share).desired_height(8.0));
                return;
            }
            // Narrow gaps, so that the buttons fit beside the label.
            ui.spacing_mut().item_spacing.x = 3.0;
            ui.spacing_mut().button_padding.x = 5.0;
            let help = "Measure every variant with every work-group size";
            button(
                ui,
                out,
                ("sweep work-groups", "Work-groups", help),
                Action::StartStudy(Study::WorkGroups),
            );
            let help = "Measure every variant with increasing numbers of bodies or cells";
            button(ui, out, ("sweep bodies", label, help), Action::StartStudy(Study::Bodies));
        },
    );
    let is_chart_hidden = measurement.chart.is_some() && !measurement.is_open;
    if measurement.running.is_none() || is_chart_hidden {
        row(ui, "", "", |ui, _| {
            if measurement.running.is_none() {
                let help = "Search for the fastest variant, work-group size and compile-time parameters. The search \
                            takes about half a minute; `auto` uses the result from then on";
                button(ui, out, ("tune", "Auto-tune", help), Action::StartStudy(Study::Tune));
            }
            if is_chart_hidden {
                let help = "Show the results of the last measurement";
                button(ui, out, ("chart", "Show chart", help), Action::ShowChart);
            }
        });
    }
    if let Some(chart) = &measurement.chart {
        fastest(ui, chart);
    }
}

/// Shows which variant and settings were fastest in a speed measurement.
fn fastest(ui: &mut egui::Ui, chart: &Chart) {
    let trials = &chart.trials;
    let fastest = trials.iter().max_by(|a, b| a.pairs_per_second.total_cmp(&b.pairs_per_second));
    let Some(Trial { recipe, bodies, pairs_per_second, .. }) = fastest else { return };
    let Recipe { variant, work_group, .. } = recipe;
    let work = &chart.info.work;
    let speed = format!("{} {}/s", format::si(*pairs_per_second).trim_end(), work.unit);
    let (bodies, things) = (format::count(*bodies as u64), work.things);
    let (tried, knobs) = (trials.len(), recipe.words());
    let knobs = if knobs.is_empty() { knobs } else { format!(", {knobs}") };
    let name = variant.name;
    let settings = format!("{name} with work-group size {work_group}{knobs}");
    note(ui, &format!("Fastest of {tried} measurements: {settings}, with {speed} for {bodies} {things}"));
}
