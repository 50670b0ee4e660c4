//! The command palette: everything that can be done, found by typing.

use std::ops::RangeInclusive;

use egui::text_edit::TextEditState;
use egui::{Align2, Event, Id, Key, Modifiers, RichText, ScrollArea, TextEdit, vec2};

use super::keys::{self, CONTROLS, Command};
use super::widgets::Sink;
use super::{share, theme};
use crate::config::Config;
use crate::look::Look;
use crate::modes::MODES;
use crate::params::{Info, Opt, Params, Scale, Visitor};
use crate::trial::Study;

/// Lines that are shown at once.
const LINES: usize = 12;
/// How wide it is where there is room, what stays free beside it and above it, and the least that is left of it.
const WIDTH: f32 = 520.0;
const BESIDE: f32 = 34.0;
const ABOVE: f32 = 60.0;
const LEAST: f32 = 20.0;

/// Words that others say for what a line says: a line with the first is found by the second too.
const ALSO: &[(&str, &str)] = &[
    ("film", "video movie animation gif mp4 capture"),
    ("picture;", "screenshot image photo png capture export"),
    ("colour", "color colormap"),
    ("galaxies", "galaxy"),
    ("andromeda", "galaxy"),
    ("palette", "color colour colormap"),
    ("theme", "mode color colour appearance"),
    ("larger text", "font size zoom bigger scale ui"),
    ("smaller text", "font size zoom scale ui"),
    ("text and controls", "font size zoom scale ui"),
    ("twice as many steps", "quicker faster speed up"),
    ("half as many steps", "slower speed down"),
    ("open a snapshot", "load import file resume"),
    ("save a snapshot", "store export file"),
    ("save the scene", "store export file"),
    ("run or pause", "play stop start continue"),
    ("restart", "reset again"),
    ("quit", "exit close leave"),
    ("plots", "graph chart diagram export"),
    ("undo", "back revert"),
    ("delete", "remove kill"),
    ("brush", "draw wall erase"),
    ("fastest", "tune benchmark"),
    ("measure", "benchmark"),
];

/// What the panel has besides parameters, what bodies there are and what is shared, by the control's key.
const SETTINGS: &[(&str, &str)] = &[
    ("go to step", "go to step: any one, further on or back"),
    ("seed", "setting seed: the same gives the same bodies, for ever"),
    ("work-group", "setting work-group: work-items that run together"),
    ("steps per frame", "setting steps/frame: steps between two pictures"),
];

/// Something that can be done, or only read about.
struct Entry {
    text: String,
    keys: String,
    /// What it is found by besides.
    also: String,
    command: Option<Command>,
}

impl Entry {
    fn new(text: impl Into<String>, command: Command) -> Self {
        Self { text: text.into(), keys: String::new(), also: String::new(), command: Some(command) }
    }

    /// How late it comes among what is found by `typed`, if it is.
    fn rank(&self, typed: &str) -> Option<u8> {
        let text = self.text.to_lowercase();
        let all = format!("{text} {} {}", self.keys, self.also).to_lowercase();
        let also = ALSO.iter().filter(|(word, _)| all.contains(word)).map(|(_, also)| *also);
        let also = also.collect::<Vec<_>>().join(" ");
        let has = |texts: [&str; 2]| {
            typed.split_whitespace().all(|word| texts.iter().any(|text| text.contains(word)))
        };
        // An option's text begins with what it is one of, and others' with what kind of line they are.
        let is_option = matches!(self.command, Some(Command::Choose(..)));
        let begins = text.strip_prefix("setting ").unwrap_or(&text).starts_with(typed) && !is_option;
        let title = text.split(':').next().unwrap_or_default();
        let is_it = title.strip_prefix("parameter ") == Some(typed);
        let ranks = [begins || is_it, has([title, &also]), true];
        has([&all, &also]).then(|| ranks.iter().position(|fits| *fits).unwrap_or(0) as u8)
    }
}

/// What was typed, and which line is chosen.
#[derive(Debug, Default)]
pub(super) struct Search {
    is_open: bool,
    typed: String,
    chosen: usize,
}

impl Search {
    /// Closes it, and gives the keyboard back.
    pub fn close(&mut self, ctx: &egui::Context) {
        if std::mem::take(self).is_open {
            ctx.memory_mut(|memory| memory.surrender_focus(field()));
        }
    }

    /// Opens it anew or closes it, if that is asked for. Whoever asks for something else since, or presses beside it, has done with
    /// it.
    fn hear(&mut self, ctx: &egui::Context, config: &Config, commands: &mut Vec<Command>) {
        let mut asked = commands.iter().rposition(|command| *command == Command::Search);
        if let Some(at) = &mut asked {
            let (opens, taken) = self.hear_before(ctx, config);
            if let Some(command) = taken {
                commands.insert(*at, command);
                *at += 1;
            }
            self.close(ctx);
            if opens {
                *self = Self { is_open: true, typed: typed_with_key(ctx), chosen: 0 };
            }
        } else if is_pressed_beside(ctx) {
            self.close(ctx);
        }
        if commands.len() > asked.map_or(0, |at| at + 1) {
            self.close(ctx);
        }
    }

    /// Hears what was pressed in this frame before the key that asks for it, which is not meant for what that opens. Whether that
    /// opens it, and what was chosen before.
    fn hear_before(&mut self, ctx: &egui::Context, config: &Config) -> (bool, Option<Command>) {
        let (mut is_open, mut taken) = (self.is_open, None);
        ctx.input_mut(|input| {
            let key = input.events.iter().rposition(keys::is_search).unwrap_or(0);
            let later = input.events.split_off(key);
            input.events.retain(|event| match event {
                Event::Key { key: Key::Enter, pressed: true, .. } if is_open => {
                    let chosen = found(&self.typed, config).get(self.chosen).map(|entry| entry.command);
                    // What can only be read about stays where it is read.
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

    /// Opens or closes it as it is asked for; shows it, and asks for what was chosen.
    pub fn show(&mut self, ctx: &egui::Context, config: &Config, sink: &mut Sink) {
        self.hear(ctx, config, &mut sink.commands);
        if !self.is_open {
            return;
        }
        let pressed = |key| ctx.input_mut(|input| input.consume_key(Modifiers::NONE, key));
        let [leaves, takes] = [Key::Escape, Key::Enter].map(pressed);
        let (up, down) = (pressed(Key::ArrowUp), pressed(Key::ArrowDown));
        let mut taken = None;
        // Over the panel too: where text is large, little is free beside it.
        let all = ctx.content_rect();
        let above = ABOVE.min(0.1 * all.height());
        let width = WIDTH.min(all.width() - 2.0 * BESIDE).max(LEAST);
        let place = all.center_top() + vec2(0.0, above);
        let window = egui::Window::new("Commands").id(window()).title_bar(false).resizable(false);
        window.pivot(Align2::CENTER_TOP).fixed_pos(place).show(ctx, |ui| {
            ui.set_width(width);
            // Whatever else asks for the keyboard.
            ui.memory_mut(|memory| memory.request_focus(field()));
            let edit = TextEdit::singleline(&mut self.typed).hint_text("What to do? Type a few letters");
            let edit = ui
                .add(edit.id(field()).desired_width(f32::INFINITY))
                .on_hover_text("words in any order; ⏶ ⏷ choose, Enter does it, Escape closes");
            sink.note("search", &edit);
            if edit.changed() {
                self.chosen = 0;
            }
            let found = found(&self.typed, config);
            let last = found.len().saturating_sub(1);
            let moved = self.chosen + usize::from(down);
            self.chosen = moved.saturating_sub(usize::from(up)).min(last);
            let mut chosen = takes.then_some(self.chosen);
            ui.add_space(4.0);
            let height = LINES as f32 * (ui.spacing().interact_size.y + ui.spacing().item_spacing.y);
            let height = height.min(all.bottom() - ui.cursor().top() - BESIDE).max(LEAST);
            ScrollArea::vertical().max_height(height).auto_shrink([false, true]).show(ui, |ui| {
                if found.is_empty() {
                    ui.label(RichText::new("Nothing found").color(theme::of(ui).weak));
                }
                for (nth, entry) in found.iter().enumerate() {
                    let response = line(ui, entry, nth == self.chosen);
                    if nth == self.chosen && (up || down) {
                        response.scroll_to_me(None);
                    }
                    if response.clicked() {
                        chosen = Some(nth);
                    }
                }
            });
            taken = chosen.map(|nth| found.get(nth).map(|entry| entry.command));
        });
        match taken {
            // What can only be read about stays where it is read.
            Some(Some(None)) | None if !leaves => {}
            taken => {
                sink.commands.extend(taken.flatten().flatten());
                self.close(ctx);
            }
        }
    }
}

/// The window's name, and that of the field that is typed into.
fn window() -> Id {
    Id::new("search")
}

fn field() -> Id {
    window().with("typed")
}

/// Takes what was typed after the key that opens it, in the same frame: the field hears it from the next one on, and goes on at
/// its end.
fn typed_with_key(ctx: &egui::Context) -> String {
    TextEdit::store_state(ctx, field(), TextEditState::default());
    ctx.input_mut(|input| {
        let key = input.events.iter().rposition(keys::is_search).unwrap_or(0);
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

/// Whether the mouse was pressed elsewhere than on the window, as it was shown last.
fn is_pressed_beside(ctx: &egui::Context) -> bool {
    let rect = ctx.memory(|memory| memory.area_rect(window()));
    let at = ctx.input(|input| input.pointer.interact_pos().filter(|_| input.pointer.any_pressed()));
    at.zip(rect).is_some_and(|(at, rect)| !rect.contains(at))
}

fn line(ui: &mut egui::Ui, entry: &Entry, is_chosen: bool) -> egui::Response {
    let colours = theme::of(ui);
    let text = RichText::new(&entry.text).color(match (is_chosen, entry.command) {
        (true, _) => colours.strong,
        (false, Some(_)) => colours.text,
        (false, None) => colours.weak,
    });
    let keys = RichText::new(&entry.keys).small().color(colours.accent);
    let fill = if is_chosen { colours.accent_fill } else { egui::Color32::TRANSPARENT };
    let button = egui::Button::new((text, egui::Atom::grow(), keys)).fill(fill).truncate();
    ui.add(button.min_size(vec2(ui.available_width(), 0.0)))
}

/// What all typed words are in: first what begins with what was typed, then what is called so, then what tells of it.
fn found(typed: &str, config: &Config) -> Vec<Entry> {
    let typed = typed.trim().to_lowercase();
    let mut found: Vec<_> = entries(config).filter_map(|entry| Some((entry.rank(&typed)?, entry))).collect();
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, entry)| entry).collect()
}

/// All that there is: the shortcuts and gestures, and what has a button alone.
fn entries(config: &Config) -> impl Iterator<Item = Entry> {
    let controls = CONTROLS.iter().map(|control| Entry {
        text: control.help.to_owned(),
        keys: control.text(),
        also: String::new(),
        command: control.command(),
    });
    let modes = MODES
        .iter()
        .map(|info| Entry::new(format!("mode {}: {}", info.name, info.summary), Command::Mode(info)));
    let scenes = MODES.iter().flat_map(|info| {
        info.scenes.iter().map(move |scene| {
            let text = format!("scene {}, {}", scene.title, info.name);
            let also = format!("{} {}", scene.name, scene.summary);
            Entry { also, ..Entry::new(text, Command::Scene(info, scene)) }
        })
    });
    let more = [
        ("free run: step without waiting for the screen, or no longer", Command::FreeRun),
        ("edit the kernels in a folder, while they run", Command::EditKernels),
        ("go back to the program's own kernels", Command::OwnKernels),
        ("cancel the film", Command::CancelFilm),
        ("reset every parameter to what suits the scene", Command::ResetAll),
        ("go with the selected body, or no longer", Command::FollowBody),
        ("save the plots as CSV", Command::SavePlots),
        ("variant auto: let the program choose the kernel", Command::Variant(None)),
        ("measure which work-group size is fast", Command::Study(Study::WorkGroups)),
        ("measure how speed goes with the number of bodies", Command::Study(Study::Bodies)),
        ("search for the fastest kernel", Command::Study(Study::Tune)),
        ("measure no more", Command::EndStudy),
        ("show what was measured", Command::Chart),
    ];
    let more = more.into_iter().map(|(text, command)| Entry::new(text, command));
    let views = (1..=9).flat_map(|number| {
        [
            Entry::new(format!("go back to view {number}"), Command::Recall(number)),
            Entry::new(format!("keep the view under {number}"), Command::Keep(number)),
        ]
    });
    let variants = config.mode.info().variants.iter().map(|variant| {
        let text = format!("variant {}: {}", variant.name, variant.summary);
        Entry::new(text, Command::Variant(Some(variant)))
    });
    let work = &config.mode.info().work;
    let settings =
        SETTINGS.iter().chain(&share::SETTINGS).filter(|(key, _)| *key != "seed" || config.start.is_random());
    let settings = settings.map(|(key, text)| Entry::new(*text, Command::Jump(key)));
    let number = Entry::new(format!("setting {}: how many there are", work.label.0), Command::Jump("bodies"));
    let settings = settings.chain(config.start.bodies.is_none().then_some(number));
    let mut parameters = Parameters::default();
    config.mode.clone().visit(&mut parameters);
    Look::default().visit(&mut parameters);
    let all = controls.chain(modes).chain(scenes).chain(more).chain(views);
    all.chain(variants).chain(parameters.places).chain(parameters.options).chain(settings)
}

/// A line for each parameter, that leads to where it is set, and one for each of its options.
#[derive(Default)]
struct Parameters {
    places: Vec<Entry>,
    options: Vec<Entry>,
}

impl Parameters {
    fn add(&mut self, info: &Info, command: Command) {
        let text = format!("parameter {}: {}", info.label, info.help);
        self.places.push(Entry { keys: info.key.to_owned(), ..Entry::new(text, command) });
    }
}

impl Visitor for Parameters {
    fn float(&mut self, info: &Info, _: &mut f32, _: RangeInclusive<f32>, _: Scale) {
        self.add(info, Command::Jump(info.key));
    }

    fn flag(&mut self, info: &Info, _: &mut bool) {
        self.add(info, Command::Flip(info.key));
    }

    fn option(&mut self, info: &Info, _: &mut usize, options: &[&'static Opt]) {
        self.add(info, Command::Jump(info.key));
        let label = info.label.to_lowercase();
        self.options.extend(options.iter().map(|opt| {
            let text = format!("{label} {}: {}", opt.name, opt.help);
            Entry::new(text, Command::Choose(info.key, opt.name))
        }));
    }
}
