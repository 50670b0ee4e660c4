//! The panel: everything that can be set, top to bottom in the order in which a person needs it.

use std::path::Path;

use egui::{Button, CollapsingHeader, DragValue, ProgressBar, RichText, vec2};

use super::fields::{self, Fields};
use super::keys::{self, Command};
use super::share::Share;
use super::widgets::{
    Auto, Chip, Sink, auto_chips, auto_number, button as command, chips, resettable, row, seize, slider,
    switch, tick,
};
use super::{Brush, Lab, Model, format, hand, picture, theme, time};
use crate::config::Config;
use crate::modes::{MODES, Recipe, Variant, Work};
use crate::params::Scale;
use crate::trial::{Study, Trial};

/// Seeds that are drawn stay short enough to remember and to type.
const DRAWN_SEEDS: u64 = 1_000_000;

/// What is at hand besides what is shown.
pub(super) struct Tools<'a> {
    pub lab: &'a Lab,
    pub brush: &'a mut Brush,
    pub share: &'a mut Share,
    /// The folder of kernels that is watched.
    pub kernels: Option<&'a Path>,
}

/// Shows the panel at the left of what is still free.
pub(super) fn show(ctx: &egui::Context, model: &mut Model, tools: Tools, sink: &mut Sink) {
    let Tools { lab, brush, share, kernels } = tools;
    let margin = egui::Margin { left: 14, right: 8, top: 10, bottom: 8 };
    let frame = egui::Frame::NONE.fill(theme::of_all(ctx).surface).inner_margin(margin);
    egui::SidePanel::left("panel").default_width(330.0).width_range(300.0..=460.0).frame(frame).show(
        ctx,
        |ui| {
            header(ui, sink);
            egui::ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
                ui.set_max_width(ui.available_width() - 8.0);
                time::show(ui, model, share.filming.is_some(), sink);
                scene(ui, model, sink);
                obstacles(ui, model, brush, sink);
                picture::show(ui, model.look, sink);
                kernel(ui, model, (lab, kernels), sink);
                devices(ui, model, sink);
                parameters(ui, model.config, sink);
                share.show(ui, sink);
            });
        },
    );
}

fn header(ui: &mut egui::Ui, sink: &mut Sink) {
    ui.horizontal(|ui| {
        ui.label(RichText::new("gravitile").heading().color(theme::of(ui).strong));
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            command(ui, sink, ("hide", "Hide", &keys::hint(Command::Panel)), Command::Panel);
            command(ui, sink, ("keys", "Keys", &keys::hint(Command::Help)), Command::Help);
            command(ui, sink, ("plots", "Plots", &keys::hint(Command::Plots)), Command::Plots);
        });
    });
}

/// What is left of a hidden panel: the button that brings it back.
pub(super) fn show_hidden(ctx: &egui::Context, sink: &mut Sink) {
    egui::Area::new("hidden panel".into())
        .anchor(egui::Align2::LEFT_TOP, [10.0, 10.0])
        .show(ctx, |ui| command(ui, sink, ("show", "☰ Panel", &keys::hint(Command::Panel)), Command::Panel));
}

/// A heading.
pub(super) fn section(ui: &mut egui::Ui, title: &str) {
    ui.add_space(6.0);
    ui.label(RichText::new(title).strong().color(theme::of(ui).accent));
}

/// One line under a control that says what is chosen.
pub(super) fn note(ui: &mut egui::Ui, text: &str) {
    ui.horizontal_top(|ui| {
        ui.spacing_mut().interact_size.y = 0.0;
        // Room for two lines, so that another choice does not move what stands below.
        ui.set_min_height(2.0 * ui.text_style_height(&egui::TextStyle::Small));
        ui.add_space(theme::LABEL_WIDTH + ui.spacing().item_spacing.x);
        ui.add(egui::Label::new(RichText::new(text).small().color(theme::of(ui).weak)).wrap());
    });
}

fn scene(ui: &mut egui::Ui, model: &mut Model, sink: &mut Sink) {
    section(ui, "Scene");
    mode(ui, model.config, sink);
    scenes(ui, model.config, sink);
    bodies(ui, model, sink);
    seed(ui, model.config, sink);
    files(ui, sink);
}

fn mode(ui: &mut egui::Ui, config: &Config, sink: &mut Sink) {
    let current = config.mode.info();
    row(ui, "Mode", "What is simulated.", |ui, _| {
        let all = MODES.iter().map(|info| Chip {
            name: info.name,
            help: info.summary,
            selected: std::ptr::eq(*info, current),
            in_force: false,
        });
        if let Some(clicked) = chips(ui, sink, ("mode", "Mode"), all) {
            sink.commands.push(Command::Mode(MODES[clicked]));
        }
    });
}

/// What was chosen in the gallery, as the button that opens it.
fn scenes(ui: &mut egui::Ui, config: &Config, sink: &mut Sink) {
    row(ui, "Scene", "Where it begins.", |ui, label| {
        let name = format!("{}  ⏷", config.start.title);
        let button = Button::new(name).truncate().min_size(vec2(ui.available_width(), 0.0));
        let button = ui.add(button).on_hover_text(keys::hint(Command::Scenes)).labelled_by(label.id);
        sink.note("scene", &button);
        if button.clicked() {
            sink.commands.push(Command::Scenes);
        }
    });
    note(ui, &config.start.summary);
}

/// Buttons for what is kept in files.
fn files(ui: &mut egui::Ui, sink: &mut Sink) {
    row(ui, "File", "What is kept in files; a file that is dropped on the window is opened too.", |ui, _| {
        // Beside the label, as far as there is room.
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = vec2(3.0, 3.0);
            ui.spacing_mut().button_padding.x = 4.0;
            for (key, text, which) in [
                ("open", "Open…", Command::Open),
                ("save snapshot", "Save…", Command::SaveSnapshot),
                ("save scene", "Save scene…", Command::SaveScene),
            ] {
                command(ui, sink, (key, text, &keys::hint(which)), which);
            }
        });
    });
}

fn bodies(ui: &mut egui::Ui, model: &mut Model, sink: &mut Sink) {
    let Model { config, stats, max_bodies, .. } = model;
    let work = &config.mode.info().work;
    row(ui, work.label.0, work.label.1, |ui, label| match config.start.bodies {
        Some(fixed) => {
            let number = ui.add_enabled_ui(false, |ui| {
                auto_number(ui, sink, ("bodies", label), &mut Some(fixed), fixed, fixed..=fixed);
            });
            number.response.on_hover_text(format!("this scene has its own number of {}", work.things));
        }
        None => {
            auto_number(ui, sink, ("bodies", label), &mut config.bodies, stats.bodies, 1..=*max_bodies);
        }
    });
}

fn seed(ui: &mut egui::Ui, config: &mut Config, sink: &mut Sink) {
    let help = "The same seed gives the same bodies, for ever.";
    row(ui, "Seed", help, |ui, label| {
        ui.add_enabled_ui(config.start.is_random(), |ui| {
            let size = [theme::COUNT_WIDTH, ui.spacing().interact_size.y];
            let number = DragValue::new(&mut config.seed).speed(0.1).update_while_editing(false);
            let help = "drag, or click and type; a double click on its name goes back to 1";
            let number = ui.add_sized(size, number).labelled_by(label.id).on_hover_text(help);
            seize("seed", &number);
            sink.note("seed", &number.on_disabled_hover_text("nothing is random in this scene"));
            if label.double_clicked() && ui.is_enabled() {
                config.seed = 1;
            }
            let draw = ui.button("🎲 New seed").on_hover_text("draw another seed");
            let draw = draw.on_disabled_hover_text("nothing is random in this scene");
            sink.note("new seed", &draw);
            if draw.clicked() {
                config.seed = rand::random_range(0..DRAWN_SEEDS);
            }
        });
    });
}

/// The brush, where there is something to paint.
fn obstacles(ui: &mut egui::Ui, model: &Model, brush: &mut Brush, sink: &mut Sink) {
    if !model.config.mode.info().paints {
        return;
    }
    let help = keys::hint(Command::Brush);
    row(ui, "Brush", &format!("Paint obstacles with the mouse: {help}."), |ui, label| {
        switch(ui, sink, "brush", ("Brush", label, &help), &mut brush.in_hand);
        hand::undo(ui, model.stats, sink);
    });
    let words = ("brush size", "Brush width", "How wide the brush is.");
    ui.add_enabled_ui(brush.in_hand, |ui| {
        resettable(ui, sink, words, &mut brush.radius, Brush::RADIUS, |ui, sink, label, radius| {
            slider(ui, sink, (words.0, label, words.2), radius, (Brush::RADII, Scale::Log), Brush::RADIUS);
        });
    });
    note(ui, "drag paints, right drag or Shift+drag erases");
}

fn kernel(ui: &mut egui::Ui, model: &mut Model, (lab, kernels): (&Lab, Option<&Path>), sink: &mut Sink) {
    ui.add_space(10.0);
    ui.horizontal(|ui| {
        ui.label(RichText::new("Kernel").strong().color(theme::of(ui).accent));
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| sources(ui, kernels, sink));
    });
    variant(ui, model, sink);
    work_group(ui, model, sink);
    shape(ui, model, sink);
    tuning(ui, model, lab, sink);
    let Model { config, stats, .. } = model;
    row(ui, "Steps/frame", "Steps between two pictures: the length of a burst.", |ui, label| {
        let in_force = stats.steps_per_frame;
        let range = 1..=time::MAX_STEPS_PER_FRAME;
        ui.spacing_mut().item_spacing.x = 3.0;
        auto_number(ui, sink, ("steps per frame", label), &mut config.steps_per_frame, in_force, range);
        time::factors(ui, sink);
    });
    let help = "Step without waiting for the screen: fastest, but the picture leaves steps out.";
    row(ui, "Free run", help, |ui, label| {
        switch(ui, sink, "free run", ("Free run", label, help), &mut config.free_run);
    });
}

/// Which devices compute, where there is a choice; at least one does.
fn devices(ui: &mut egui::Ui, model: &mut Model, sink: &mut Sink) {
    let Model { config, pool, .. } = model;
    if pool.len() < 2 {
        return;
    }
    section(ui, "Devices");
    for (place, info) in pool.iter().enumerate() {
        let was = config.devices.contains(&place);
        let is_only = was && config.devices.len() == 1;
        let mut on = was;
        let help = match is_only {
            true => "at least one device has to compute",
            false => {
                "several devices share the work of a step; a device that would slow the others gets no work"
            }
        };
        let name = format!("{} · {}", info.index, info.name);
        ui.add_enabled_ui(!is_only, |ui| {
            let entry = tick(ui, &mut on, RichText::new(&name).color(theme::of(ui).text));
            let entry = entry.on_hover_text(help).on_disabled_hover_text(help);
            sink.note(format!("device {place}"), &entry);
        });
        if on && !was {
            config.devices.push(place);
            config.devices.sort_unstable();
        } else if was && !on {
            config.devices.retain(|other| *other != place);
        }
    }
}

fn variant(ui: &mut egui::Ui, model: &mut Model, sink: &mut Sink) {
    let Model { config, stats, .. } = model;
    let info = config.mode.info();
    let place = |wanted: &Variant| info.variants.iter().position(|variant| variant == wanted);
    let in_force = info.variant(stats.variant);
    let options = info.variants.iter().map(|variant| (variant.name, variant.summary));
    row(ui, "Variant", "The same step, computed another way; slowest first.", |ui, label| {
        let auto = Auto { chosen: config.variant.and_then(place), in_force: in_force.and_then(place) };
        if let Some(clicked) = auto_chips(ui, sink, ("variant", "Variant", label), options, auto) {
            config.variant = clicked.map(|rung| &info.variants[rung]);
        }
    });
    if let Some(variant) = config.variant.or(in_force) {
        note(ui, variant.summary);
    }
}

/// The way to edit the kernels' text, and where that is.
fn sources(ui: &mut egui::Ui, folder: Option<&Path>, sink: &mut Sink) {
    let Some(folder) = folder else {
        let help = "write the kernels, OpenCL C, to a folder and watch it: a file that is saved runs at once";
        return command(ui, sink, ("edit kernels", "Edit…", help), Command::EditKernels);
    };
    let help = "go back to the program's own kernels; the files stay";
    command(ui, sink, ("own kernels", "Built-in kernels", help), Command::OwnKernels);
    let text = folder.display().to_string();
    let name = egui::Label::new(RichText::new(&text).color(theme::of(ui).weak)).truncate();
    ui.add(name).on_hover_text(format!("{text} is watched: save a file, and it runs"));
}

fn work_group(ui: &mut egui::Ui, model: &mut Model, sink: &mut Sink) {
    let Model { config, stats, device, recipe, .. } = model;
    let sizes = recipe.map(|recipe| recipe.work_groups(device)).unwrap_or_default();
    let place = |wanted: usize| sizes.iter().position(|&size| size == wanted);
    let names: Vec<String> = sizes.iter().map(usize::to_string).collect();
    row(ui, "Work-group", "Work-items that run together and share local memory.", |ui, label| {
        let auto = Auto { chosen: config.work_group.and_then(place), in_force: place(stats.work_group) };
        let options = names.iter().map(|name| (name.as_str(), "so many work-items to a work-group"));
        if let Some(clicked) = auto_chips(ui, sink, ("work-group", "Work-group", label), options, auto) {
            config.work_group = clicked.map(|size| sizes[size]);
        }
    });
}

/// How wide and how high a work-group is that covers a part of a grid.
fn shape(ui: &mut egui::Ui, model: &mut Model, sink: &mut Sink) {
    let Model { config, recipe: Some(recipe), .. } = model else { return };
    let Some(name) = recipe.variant.width_knob else { return };
    let Some((knob, in_force)) = recipe.knobs().find(|(knob, _)| knob.name == name) else { return };
    let fits = knob.options.iter().copied().filter(|width| *width as usize <= recipe.work_group);
    let widths: Vec<u32> = fits.collect();
    let place = |wanted: u32| widths.iter().rposition(|&width| width <= wanted);
    let names: Vec<String> =
        widths.iter().map(|width| format!("{width}×{}", recipe.work_group / *width as usize)).collect();
    row(ui, "Group shape", "Work-items of a work-group beside each other, and rows of them.", |ui, label| {
        let chosen = config.knobs.get(name).and_then(|&width| place(width));
        let auto = Auto { chosen, in_force: place(in_force) };
        let options = names.iter().map(|name| (name.as_str(), "work-items beside each other × rows of them"));
        match auto_chips(ui, sink, ("group shape", "Group shape", label), options, auto) {
            Some(Some(at)) => config.knobs.insert(name, widths[at]),
            Some(None) => config.knobs.remove(name),
            None => None,
        };
    });
}

/// What else the variant is compiled with and what is the fastest, for whoever looks for it.
fn tuning(ui: &mut egui::Ui, model: &mut Model, lab: &Lab, sink: &mut Sink) {
    let Model { config, recipe: Some(recipe), .. } = model else { return };
    let header = CollapsingHeader::new(RichText::new("Tuning").color(theme::of(ui).text)).id_salt("tuning");
    let header = header.show(ui, |ui| {
        knobs(ui, config, recipe, sink);
        studies(ui, &config.mode.info().work, lab, sink);
    });
    let help = "what a variant is compiled with, and measurements of what is fast";
    sink.note("tuning", &header.header_response.on_hover_text(help));
}

fn knobs(ui: &mut egui::Ui, config: &mut Config, recipe: &Recipe, sink: &mut Sink) {
    let others = recipe.knobs().filter(|(knob, _)| Some(knob.name) != recipe.variant.width_knob);
    for (knob, in_force) in others {
        let place = |wanted: u32| knob.options.iter().position(|&option| option == wanted);
        let name = |option: &u32| match (knob.is_switch(), option) {
            (true, 0) => "off".to_owned(),
            (true, _) => "on".to_owned(),
            (false, size) => size.to_string(),
        };
        let names: Vec<String> = knob.options.iter().map(name).collect();
        row(ui, knob.name, knob.summary, |ui, label| {
            let chosen = config.knobs.get(knob.name).and_then(|&value| place(value));
            let auto = Auto { chosen, in_force: place(in_force) };
            let options = names.iter().map(|name| (name.as_str(), knob.summary));
            match auto_chips(ui, sink, (knob.name, knob.name, label), options, auto) {
                Some(Some(option)) => config.knobs.insert(knob.name, knob.options[option]),
                Some(None) => config.knobs.remove(knob.name),
                None => None,
            };
        });
    }
}

/// Buttons that measure; while one does, how far it is.
fn studies(ui: &mut egui::Ui, work: &Work, lab: &Lab, sink: &mut Sink) {
    row(ui, "Measure", "What is fast on this device; the simulation stands still meanwhile.", |ui, _| {
        if let Some((_, share)) = lab.under_way {
            command(ui, sink, ("end study", "Stop", "go on with the simulation"), Command::EndStudy);
            ui.add(ProgressBar::new(share).desired_height(8.0));
            return;
        }
        // As narrow as chips: all of them beside the label.
        ui.spacing_mut().item_spacing.x = 3.0;
        ui.spacing_mut().button_padding.x = 5.0;
        for (key, text, help, study) in [
            (
                "tune",
                "Tune",
                "try variants, work-groups and knobs for half a minute; `auto` takes the fastest from then on",
                Study::Tune,
            ),
            (
                "sweep work-groups",
                "Work-groups",
                "measure every variant with every work-group size",
                Study::WorkGroups,
            ),
            ("sweep bodies", work.label.0, "measure every variant with more and more of them", Study::Bodies),
        ] {
            command(ui, sink, (key, text, help), Command::Study(study));
        }
    });
    if lab.chart.is_some() && !lab.is_open {
        row(ui, "", "", |ui, _| {
            command(ui, sink, ("chart", "Show chart", "what was measured last, drawn"), Command::Chart);
        });
    }
    let Some(chart) = &lab.chart else { return };
    let trials = &chart.trials;
    let fastest = trials.iter().max_by(|a, b| a.pairs_per_second.total_cmp(&b.pairs_per_second));
    if let Some(Trial { recipe, bodies, pairs_per_second, .. }) = fastest {
        let Recipe { variant, work_group, .. } = recipe;
        let speed = format!("{} {}/s", format::si(*pairs_per_second).trim_end(), chart.info.work.unit);
        let (bodies, things) = (format::count(*bodies as u64), work.things);
        note(
            ui,
            &format!(
                "Fastest of {}: {} × {work_group} {}, {speed} with {bodies} {things}",
                trials.len(),
                variant.name,
                recipe.words()
            ),
        );
    }
}

fn parameters(ui: &mut egui::Ui, config: &mut Config, sink: &mut Sink) {
    let default = fields::default_mode(config);
    let defaults = default.values();
    section(ui, "Parameters");
    config.mode.visit(&mut Fields { ui, sink, defaults: &defaults });
    ui.add_space(4.0);
    let reset = ui.add_enabled(config.mode.values() != defaults, Button::new("↺ Reset all"));
    let help = "every parameter back to what suits the scene";
    let reset = reset.on_hover_text(help).on_disabled_hover_text(help);
    sink.note("reset all", &reset);
    if reset.clicked() {
        config.mode = default;
    }
}
