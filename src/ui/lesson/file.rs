//! Lessons: guided tours of the window, read from TOML files.
//!
//! `docs/lessons.md` describes the format.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use serde::Deserialize;

use crate::base::files::{from_toml, read_bounded};
use crate::base::{Error, Result, invalid};
use crate::compute::DeviceKind;
use crate::ui::lens::Page;

/// Maximum size of a lesson file, in bytes.
const MOST_BYTES: u64 = 1 << 20;

/// Built-in lessons: their names, and the contents of their TOML files.
const BUILT_IN: &[(&str, &str)] =
    &[("kernels", include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/lessons/kernels.toml")))];

/// A guided tour of the window.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lesson {
    /// Title of the lesson.
    pub title: String,
    /// What the lesson teaches, in a few words.
    #[serde(default)]
    pub summary: String,
    /// The steps, in order; at least one.
    #[serde(rename = "step")]
    pub steps: Vec<Step>,
}

/// A step of a lesson, with different texts for CPUs and GPUs where necessary.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Title of the step.
    pub title: String,
    /// Name of the control to outline, if any.
    pub point: Option<String>,
    /// Page of the Lens window to show, if any.
    pub page: Option<Page>,
    settings: Option<String>,
    #[serde(default)]
    text: String,
    question: Option<String>,
    answer: Option<String>,
    #[serde(default)]
    gpu: Part,
    #[serde(default)]
    cpu: Part,
}

/// Part of a lesson step for one kind of device: text to append, and replacements for settings, question and answer.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    settings: Option<String>,
    #[serde(default)]
    text: String,
    question: Option<String>,
    answer: Option<String>,
}

impl Step {
    fn part(&self, kind: DeviceKind) -> &Part {
        if kind == DeviceKind::Cpu { &self.cpu } else { &self.gpu }
    }

    /// Returns the command-line options of `gravitile view` that set up the step on a device of this kind, if any.
    pub fn settings(&self, kind: DeviceKind) -> Option<&str> {
        self.part(kind).settings.as_deref().or(self.settings.as_deref())
    }

    /// Returns the paragraphs of the text for a device of this kind.
    pub fn paragraphs(&self, kind: DeviceKind) -> impl Iterator<Item = &str> {
        [self.text.as_str(), &self.part(kind).text]
            .into_iter()
            .flat_map(|text| text.split("\n\n"))
            .map(str::trim)
            .filter(|paragraph| !paragraph.is_empty())
    }

    /// Returns the step's question and its answer for a device of this kind; `None` if the step has no question.
    pub fn question(&self, kind: DeviceKind) -> Option<(&str, &str)> {
        let part = self.part(kind);
        let question = part.question.as_deref().or(self.question.as_deref())?;
        Some((question, part.answer.as_deref().or(self.answer.as_deref()).unwrap_or_default()))
    }
}

impl Lesson {
    /// Returns the built-in lessons.
    pub fn built_in() -> &'static [Arc<Self>] {
        static ALL: LazyLock<Vec<Arc<Lesson>>> = LazyLock::new(|| {
            let lesson = |(name, text): &(&str, &str)| match Lesson::parse(text) {
                Ok(lesson) => Arc::new(lesson),
                Err(error) => unreachable!("assets/lessons/{name}.toml: {error}"),
            };
            BUILT_IN.iter().map(lesson).collect()
        });
        &ALL
    }

    /// Loads the built-in lesson called `name`, or the lesson in the file at this path.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or is not a valid lesson.
    pub fn load(name: &Path) -> Result<Self> {
        if let Some((_, text)) = BUILT_IN.iter().find(|(built_in, _)| Path::new(built_in) == name) {
            return Self::parse(text);
        }
        if name.extension().is_none() {
            let names: Vec<_> = BUILT_IN.iter().map(|(name, _)| *name).collect();
            return Err(invalid!(
                "there is no lesson called `{}`; choose {}, or give the path of a TOML file",
                name.display(),
                names.join(", ")
            ));
        }
        let bytes = read_bounded(name, MOST_BYTES, "a lesson")?;
        let text = String::from_utf8(bytes)
            .map_err(|_| invalid!("{}: the lesson file is not UTF-8 text", name.display()))?;
        Self::parse(&text).map_err(|error| invalid!("{}: {error}", name.display()))
    }

    fn parse(text: &str) -> Result<Self> {
        let lesson: Self = from_toml(text).map_err(|(at, what)| {
            let line = at.map(|at| 1 + text[..at].matches('\n').count());
            Error::Invalid(line.map_or(what.clone(), |line| format!("line {line}: {what}")))
        })?;
        if lesson.steps.is_empty() {
            return Err(invalid!("a lesson needs at least one step"));
        }
        Ok(lesson)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_lessons_have_texts_and_questions_for_every_device() {
        for lesson in Lesson::built_in() {
            assert_eq!(lesson.steps.len(), 6);
            for step in &lesson.steps {
                for kind in [DeviceKind::Cpu, DeviceKind::Gpu] {
                    assert!(step.paragraphs(kind).count() >= 2, "{}", step.title);
                    let (question, answer) = step.question(kind).unwrap();
                    assert!(question.ends_with('?') && answer.ends_with('.'), "{}", step.title);
                }
            }
        }
    }

    #[test]
    fn a_lesson_step_can_add_text_and_replace_settings_per_device_kind() {
        let text = "title = 'T'\n[[step]]\ntitle = 'S'\nsettings = 'all'\ntext = \"one\\n\\ntwo\"\nquestion = 'Q?'\nanswer = 'A.'\n\
                    [step.gpu]\nsettings = 'gpu'\ntext = 'three'\nquestion = 'G?'\nanswer = 'B.'";
        let step = &Lesson::parse(text).unwrap().steps[0];
        assert_eq!(
            [DeviceKind::Cpu, DeviceKind::Gpu].map(|kind| step.settings(kind).unwrap()),
            ["all", "gpu"]
        );
        assert_eq!(step.paragraphs(DeviceKind::Cpu).collect::<Vec<_>>(), ["one", "two"]);
        assert_eq!(step.paragraphs(DeviceKind::Accelerator).collect::<Vec<_>>(), ["one", "two", "three"]);
        assert_eq!(step.question(DeviceKind::Cpu), Some(("Q?", "A.")));
        assert_eq!(step.question(DeviceKind::Gpu), Some(("G?", "B.")));
    }

    #[test]
    fn an_invalid_lesson_is_rejected_with_the_line_number() {
        for (text, told) in [
            ("title = 'T'", "missing field `step`"),
            ("title = 'T'\nstep = []", "at least one step"),
            ("title = 'T'\n[[step]]\ntitle = 'S'\npage = 'cellar'", "line 4: unknown variant `cellar`"),
            ("title = 'T'\n[[step]]\ntitle = 'S'\nhint = 1", "line 4: unknown field `hint`"),
        ] {
            let error = Lesson::parse(text).unwrap_err().to_string();
            assert!(error.contains(told), "{error}");
        }
        let error = Lesson::load(Path::new("cooking")).unwrap_err().to_string();
        assert!(error.contains("no lesson called `cooking`; choose kernels, or"), "{error}");
        assert!(Lesson::load(Path::new("kernels")).is_ok());
        assert!(Lesson::load(Path::new("nowhere/a.toml")).unwrap_err().to_string().contains("nowhere"));
    }
}
