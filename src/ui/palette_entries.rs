//! Entries of the command palette, and how typed words find them.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use super::action::Action;
use super::compared::Half;
use super::export;
use super::files::name_of;
use super::keys::CONTROLS;
use super::lesson::Lesson;
use crate::base::{BodyNames, Info, Look, Opt, Params, Scale, Visitor};
use crate::engine::{Config, Study};
use crate::modes::MODES;

/// Search synonyms, as pairs of texts. Typing a word of the second text also finds entries that contain the first text.
const SYNONYMS: &[(&str, &str)] = &[
    ("film", "video movie animation gif mp4 capture"),
    ("save a picture", "screenshot image photo png capture export"),
    ("colour", "color colormap"),
    ("galaxies", "galaxy"),
    ("andromeda", "galaxy"),
    ("palette", "color colour colormap"),
    ("theme", "mode color colour appearance"),
    ("text and controls", "font size zoom bigger scale ui"),
    ("double the steps", "quicker speed up"),
    ("halve the steps", "speed down"),
    ("open a file", "load import resume"),
    ("save a snapshot", "store export file as"),
    ("save the scene", "store export file as"),
    ("run or pause", "play stop start continue"),
    ("restart", "reset again"),
    ("quit", "exit close leave"),
    ("plots", "graph chart diagram export"),
    ("compare two", "split side by side two at once difference divergence"),
    ("undo", "back revert"),
    ("copy as command line", "share export clipboard shell"),
    ("paste settings", "import clipboard apply"),
    ("delete", "remove kill"),
    ("brush", "draw wall erase"),
    ("fastest", "tune benchmark"),
    ("measure", "benchmark"),
    ("zoom to fit", "frame all bodies view"),
    ("camera", "view look"),
    ("statistics", "numbers overlay"),
    ("full screen", "fullscreen maximise maximize"),
    ("presentation", "slideshow present hide interface"),
];

/// Command palette entries for settings that are not parameters: pairs of a control's identifier and the entry's text.
const SETTINGS: &[(&str, &str)] = &[
    ("go to step", "Go to step: type an earlier or later step"),
    ("seed", "Seed: starting value of the random number generator"),
    ("work-group", "Work-group: number of work-items that run together"),
    ("steps per frame", "Steps/frame: simulation steps per displayed frame"),
];

/// Command palette entries for actions without a shortcut: pairs of the entry's text and the action.
const COMMANDS: [(&str, Action); 18] = [
    ("Free run on or off: compute steps without waiting for the screen", Action::ToggleFreeRun),
    (
        "Edit kernels: copy their source code to a folder, and run each change when you save it",
        Action::EditKernels,
    ),
    ("Use the built-in kernels again", Action::UseBuiltInKernels),
    ("Cancel the film", Action::CancelFilm),
    ("Reset all parameters to the scene's defaults", Action::ResetParameters),
    (
        "Copy as command line: a shell command that opens this scene with these settings",
        Action::CopyCommandLine,
    ),
    (
        "Paste settings: apply a command line, or lines such as dt=0.01, from the clipboard",
        Action::PasteSettings,
    ),
    ("Follow the selected body, or stop following", Action::FollowBody),
    ("Save the plots as CSV", Action::SavePlots),
    ("Variant auto: let the program choose the kernel variant", Action::SelectVariant(None)),
    ("Measure the speed of every work-group size", Action::StartStudy(Study::WorkGroups)),
    ("Measure the speed with different numbers of bodies or cells", Action::StartStudy(Study::Bodies)),
    ("Auto-tune: search for the fastest kernel settings", Action::StartStudy(Study::Tune)),
    ("Swap the left and right sides of the comparison", Action::SwapHalves),
    ("Keep left: end the comparison, and continue with the left simulation", Action::Keep(Half::Left)),
    ("Keep right: end the comparison, and continue with the right simulation", Action::Keep(Half::Right)),
    ("Stop measuring", Action::StopStudy),
    ("Show the chart of the last measurement", Action::ShowChart),
];

/// Maximum number of named bodies that a search finds.
const MOST_NAMES: usize = 100;

/// An entry of the command palette: an action, or the description of a mouse gesture.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub text: String,
    /// Small text at the end of the entry: the action's shortcut, or the parameter's identifier.
    pub keys: String,
    /// Additional text that is searched but not shown in the palette.
    also: String,
    /// Action to perform when the user chooses the entry; `None` for a gesture.
    pub action: Option<Action>,
}

impl Entry {
    fn new(text: impl Into<String>, action: Action) -> Self {
        Self { text: text.into(), keys: String::new(), also: String::new(), action: Some(action) }
    }

    /// Returns the entry's rank in a search for the lower-case text `typed`: 0 is the best match, `None` means no match.
    fn rank(&self, typed: &str) -> Option<u8> {
        let text = self.text.to_lowercase();
        let all = format!("{text} {} {}", self.keys, self.also).to_lowercase();
        let synonyms = SYNONYMS.iter().filter(|(word, _)| all.contains(word)).map(|(_, words)| *words);
        let synonyms = synonyms.collect::<Vec<_>>().join(" ");
        let has = |texts: [&str; 2]| {
            typed.split_whitespace().all(|word| texts.iter().any(|text| text.contains(word)))
        };
        // The text of an option begins with the name of its parameter, which has its own entry.
        let is_option = matches!(self.action, Some(Action::SetOption(..)));
        let begins = text.starts_with(typed) && !is_option;
        let title = text.split(':').next().unwrap_or_default();
        let is_parameter = title.strip_prefix("parameter ") == Some(typed);
        let ranks = [begins || is_parameter, has([title, &synonyms]), true];
        has([&all, &synonyms]).then(|| ranks.iter().position(|fits| *fits).unwrap_or(0) as u8)
    }
}

/// What the command palette searches besides its fixed entries: the configuration, the names of the bodies, and the
/// recent files.
pub(super) type Searched<'a> = (&'a Config, &'a BodyNames, &'a [PathBuf]);

/// Returns the command palette entries that match all words of `typed`, best matches first.
pub(super) fn found(typed: &str, (config, names, recent): Searched) -> Vec<Entry> {
    let typed = typed.trim().to_lowercase();
    let entries =
        entries(config).chain(recent.iter().map(|path| opened(path))).chain(followed(&typed, names));
    let mut found: Vec<_> = entries.filter_map(|entry| Some((entry.rank(&typed)?, entry))).collect();
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, entry)| entry).collect()
}

/// Returns the entry that opens the recent file `path`.
fn opened(path: &Path) -> Entry {
    let also = path.display().to_string();
    let text = format!("Open recent: {}", name_of(path));
    Entry { also, ..Entry::new(text, Action::OpenFile(path.to_owned())) }
}

/// Returns an entry for each named body whose name contains a word of `typed`, up to [`MOST_NAMES`] bodies. Returns no entries
/// if nothing was typed, because there may be thousands of names.
fn followed(typed: &str, names: &BodyNames) -> impl Iterator<Item = Entry> {
    let words: Vec<_> = typed.split_whitespace().filter(|word| !"follow".starts_with(word)).collect();
    let is_search = !typed.is_empty();
    let fits = move |name: &str| is_search && words.iter().all(|word| name.to_lowercase().contains(word));
    let fitting = names.iter().filter(move |(_, name)| fits(name)).take(MOST_NAMES);
    fitting.map(|(body, name)| Entry::new(format!("Follow {name}"), Action::Follow(body)))
}

/// Returns all entries of the command palette except those that follow a named body, unfiltered.
fn entries(config: &Config) -> impl Iterator<Item = Entry> {
    let controls = CONTROLS.iter().map(|control| Entry {
        text: control.help.to_owned(),
        keys: control.text(),
        also: String::new(),
        action: control.action.clone(),
    });
    let modes = MODES
        .iter()
        .map(|info| Entry::new(format!("Mode {}: {}", info.name, info.summary), Action::SelectMode(info)));
    let scenes = MODES.iter().flat_map(|info| {
        info.scenes.iter().map(move |scene| {
            let text = format!("Scene {}, {}", scene.title, info.name);
            let also = format!("{} {}", scene.name, scene.summary);
            Entry { also, ..Entry::new(text, Action::SelectScene(info, scene)) }
        })
    });
    let more = COMMANDS.into_iter().map(|(text, action)| Entry::new(text, action));
    let lessons = Lesson::built_in().iter().map(|lesson| {
        let text = format!("Lesson “{}”: {}", lesson.title, lesson.summary);
        Entry::new(text, Action::StartLesson(lesson.clone()))
    });
    let views = (1..=9).flat_map(|number| {
        [
            Entry::new(format!("Go to view {number}"), Action::RecallView(number)),
            Entry::new(format!("Store the current view as view {number}"), Action::StoreView(number)),
        ]
    });
    let variants = config.mode.info().variants.iter().map(|variant| {
        let text = format!("Variant {}: {}", variant.name, variant.summary);
        Entry::new(text, Action::SelectVariant(Some(variant)))
    });
    let work = &config.mode.info().work;
    let settings = SETTINGS
        .iter()
        .chain(&export::SETTINGS)
        .filter(|(key, _)| *key != "seed" || config.start.is_random());
    let settings = settings.map(|(key, text)| Entry::new(*text, Action::ShowSetting(key)));
    let number =
        Entry::new(format!("{}: number of {}", work.label.0, work.things), Action::ShowSetting("bodies"));
    let settings = settings.chain(config.start.bodies.is_none().then_some(number));
    let settings = settings.map(|entry| Entry { also: "setting".to_owned(), ..entry });
    let mut parameters = Parameters::default();
    config.mode.clone().visit(&mut parameters);
    Look::default().visit(&mut parameters);
    let all = controls.chain(modes).chain(scenes).chain(more).chain(lessons).chain(views);
    all.chain(variants).chain(parameters.places).chain(parameters.options).chain(settings)
}

/// Command palette entries for parameters and their options.
#[derive(Default)]
struct Parameters {
    places: Vec<Entry>,
    options: Vec<Entry>,
}

impl Parameters {
    fn add(&mut self, info: &Info, action: Action) {
        let text = format!("Parameter {}: {}", info.label, info.help);
        self.places.push(Entry { keys: info.key.to_owned(), ..Entry::new(text, action) });
    }
}

impl Visitor for Parameters {
    fn float(&mut self, info: &Info, _: &mut f32, _: RangeInclusive<f32>, _: Scale) {
        self.add(info, Action::ShowSetting(info.key));
    }

    fn flag(&mut self, info: &Info, _: &mut bool) {
        self.add(info, Action::ToggleFlag(info.key));
    }

    fn option(&mut self, info: &Info, _: &mut usize, options: &[&'static Opt]) {
        self.add(info, Action::ShowSetting(info.key));
        self.options.extend(options.iter().map(|opt| {
            let text = format!("{} {}: {}", info.label, opt.name, opt.help);
            Entry::new(text, Action::SetOption(info.key, opt.name))
        }));
    }
}
