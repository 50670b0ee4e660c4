//! Settings that are kept from one start of the program to the next, in a file that a person may edit or delete.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::files::{self, Output};
use crate::film::MOST_SIDE;
use crate::look::Look;
use crate::params::{self, Value, Values};
use crate::scene;

/// More than the file can be meant to have.
const MOST_BYTES: u64 = 1 << 16;
/// Sizes of a window that can be meant.
const SIDES: std::ops::RangeInclusive<u32> = 320..=MOST_SIDE;

/// What is kept. What the file does not say is as it comes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The window's width and height in logical pixels.
    pub size: (u32, u32),
    /// Whether the panel is shown.
    pub panel: bool,
    /// Where dialogs begin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<PathBuf>,
    /// How the picture looks, where that is not as it comes: as `--look` takes it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub look: BTreeMap<String, String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { size: (1280, 800), panel: true, folder: None, look: BTreeMap::new() }
    }
}

impl Settings {
    /// The file in the user's folder for settings; none where there is no such folder.
    pub fn path() -> Option<PathBuf> {
        Some(dirs::config_dir()?.join("gravitile").join("settings.toml"))
    }

    /// What the file `path` says. A file that is not there says nothing.
    ///
    /// # Errors
    /// If it cannot be read or is no such file.
    pub fn load(path: &Path) -> Result<Self> {
        let Some(text) = files::read_small(path, MOST_BYTES, "settings")? else { return Ok(Self::default()) };
        let text = String::from_utf8_lossy(&text);
        let settings: Self = files::from_toml(&text).map_err(|(at, what)| Error::File {
            path: path.to_owned(),
            line: scene::file::line_of(&text, at.unwrap_or_default()),
            what,
        })?;
        let (width, height) = settings.size;
        let usual = Self::default();
        Ok(Self {
            size: if [width, height].iter().all(|side| SIDES.contains(side)) {
                settings.size
            } else {
                usual.size
            },
            ..settings
        })
    }

    /// The same, with the file that they are to be written to and what is wrong with it. One that is refused is set aside: a slip
    /// costs nobody what the file says. Where that is not possible it is not written to.
    pub fn open(path: PathBuf) -> (Self, Option<PathBuf>, Option<String>) {
        let error = match Self::load(&path) {
            Ok(settings) => return (settings, Some(path), None),
            Err(error) => error,
        };
        let mut names = (1u32..).map(|nth| match nth {
            1 => path.with_extension("bad.toml"),
            nth => path.with_extension(format!("bad-{nth}.toml")),
        });
        let aside = names.find(|name| !name.exists()).unwrap_or_default();
        match fs::rename(&path, &aside) {
            Ok(()) => {
                let text = format!(
                    "{error}. Settings are as they come; the file is set aside as {}: mend it and give it its name back.",
                    aside.display()
                );
                (Self::default(), Some(path), Some(text))
            }
            Err(_) => {
                (Self::default(), None, Some(format!("{error}. Settings are as they come, and not kept.")))
            }
        }
    }

    /// What is worth to be kept of `look`. Whom it follows is about the scene.
    pub fn of_look(look: &Look) -> BTreeMap<String, String> {
        let usual = Values::collect(&mut Look::default());
        let others = Values::collect(&mut look.clone());
        let others = others.iter().filter(|(key, value)| usual.get(key) != Some(*value) && *key != "follow");
        others.map(|(key, value)| (key.to_owned(), value.to_string())).collect()
    }

    /// Gives `look` what was kept, but for what was asked for by name. What is no longer understood is left out.
    pub fn dress(&self, look: &mut Look, named: &BTreeSet<String>) {
        for (key, text) in self.look.iter().filter(|(key, _)| !named.contains(*key)) {
            // A newer or older program may have said it.
            let _ = params::set(look, key, text);
        }
    }

    /// Writes the file `path`, and its folder.
    ///
    /// # Errors
    /// If it cannot be written; an older file is then still whole.
    pub fn save(&self, path: &Path) -> Result<()> {
        let text = toml::to_string_pretty(self)
            .map_err(|error| Error::Invalid(format!("the settings cannot be written: {error}")))?;
        if let Some(folder) = path.parent() {
            let error = |source| Error::Io { doing: "write", path: folder.to_owned(), source };
            fs::create_dir_all(folder).map_err(error)?;
        }
        Output::create(path)?.replace(text.as_bytes())
    }
}

/// What was asked for this once: as long as nobody changes it, it is not kept, and what was kept before is.
#[derive(Debug, Default)]
pub(super) struct Once {
    asked: Vec<(&'static str, Value)>,
    kept: BTreeMap<String, String>,
}

impl Once {
    /// Of a `look` in which what is `named` was asked for.
    pub fn new(look: &Look, named: &BTreeSet<String>, settings: &Settings) -> Self {
        let values = Values::collect(&mut look.clone());
        let asked = values.iter().filter(|(key, _)| named.contains(*key)).collect();
        Self { asked, kept: settings.look.clone() }
    }

    /// What of `worth`, which is worth to be kept of `look`, is to be kept.
    pub fn leave_out(&self, mut worth: BTreeMap<String, String>, look: &Look) -> BTreeMap<String, String> {
        let now = Values::collect(&mut look.clone());
        for (key, _) in self.asked.iter().filter(|(key, value)| now.get(key) == Some(*value)) {
            worth.remove(*key);
            worth.extend(self.kept.get_key_value(*key).map(|(key, text)| (key.clone(), text.clone())));
        }
        worth
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_is_kept_but_what_is_asked_for_counts() {
        let mut look = Look::default();
        params::set(&mut look, "exposure", "2").unwrap();
        let kept = Settings { look: Settings::of_look(&look), ..Settings::default() };
        assert_eq!(kept.look.len(), 1);
        let mut again = Look::default();
        kept.dress(&mut again, &BTreeSet::new());
        assert_eq!(again, look);
        // Also what it would be by itself.
        for text in ["3", "0"] {
            let mut asked = Look::default();
            params::set(&mut asked, "exposure", text).unwrap();
            let before = asked.clone();
            let named = BTreeSet::from(["exposure".to_owned()]);
            kept.dress(&mut asked, &named);
            assert_eq!(asked, before);
            let once = Once::new(&asked, &named, &kept);
            let left = |look: &Look| once.leave_out(Settings::of_look(look), look);
            assert_eq!(left(&asked), kept.look, "it was asked for once");
            params::set(&mut asked, "grid", "on").unwrap();
            assert_eq!(left(&asked).len(), 2, "what else was changed is kept");
            params::set(&mut asked, "exposure", "1").unwrap();
            assert_eq!(left(&asked)["exposure"], "1", "so is what was changed since");
        }
        let nonsense =
            [("exposure", "many"), ("later", "1")].map(|(key, text)| (key.to_owned(), text.to_owned()));
        Settings { look: nonsense.into(), ..Settings::default() }.dress(&mut again, &BTreeSet::new());
        assert_eq!(again, look);
    }

    #[test]
    fn what_is_kept_is_found_again_and_nonsense_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new").join("settings.toml");
        assert_eq!(Settings::load(&path).unwrap(), Settings::default());
        let other =
            Settings { size: (900, 700), panel: false, folder: Some("x".into()), ..Settings::default() };
        other.save(&path).unwrap();
        assert_eq!(Settings::load(&path).unwrap(), other);
        for (text, size) in [("", (1280, 800)), ("size = [1, 99999]\nzoom = nan\nlater = 3\n", (1280, 800))] {
            fs::write(&path, text).unwrap();
            let settings = Settings::load(&path).unwrap();
            assert_eq!(settings.size, size);
        }
        for text in ["size = 3", "panel", "\u{0}", &"x = 1\n".repeat(20_000)] {
            fs::write(&path, text).unwrap();
            assert!(Settings::load(&path).is_err(), "{text}");
        }
    }

    #[test]
    fn a_file_with_a_slip_is_told_and_set_aside_and_not_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.toml");
        let (_, file, wrong) = Settings::open(path.clone());
        assert_eq!((file, wrong), (Some(path.clone()), None), "there is none yet");
        let text = "panel = false\n\n[look]\nexposure = 2\n";
        fs::write(&path, text).unwrap();
        let (settings, file, wrong) = Settings::open(path.clone());
        let aside = folder.path().join("settings.bad.toml");
        let wrong = wrong.unwrap();
        assert!(wrong.contains("line 4") && wrong.contains(aside.to_str().unwrap()), "{wrong}");
        settings.save(&file.unwrap()).unwrap();
        assert_eq!(fs::read_to_string(&aside).unwrap(), text);
        // Another slip costs nobody the first.
        fs::write(&path, "size = 3").unwrap();
        assert!(Settings::open(path).2.unwrap().contains("settings.bad-2.toml"));
        assert_eq!(fs::read_to_string(&aside).unwrap(), text);
        // One that cannot be moved stays as it is: a name cannot be longer.
        let path = folder.path().join("s".repeat(250) + ".toml");
        fs::write(&path, text).unwrap();
        let (_, file, wrong) = Settings::open(path.clone());
        assert!(file.is_none() && wrong.unwrap().contains("not kept"));
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}
