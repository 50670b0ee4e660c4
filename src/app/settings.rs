//! Settings that the program remembers, in a file that the user may edit or delete.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::base::{Error, Look, OutputFile, Partial, Result, files, invalid};
use crate::export::film::MOST_SIDE;
use crate::scene;

/// Maximum size of a settings file, in bytes.
const MOST_BYTES: u64 = 1 << 16;
/// Version of the file format, incremented whenever older programs would misread the file.
const VERSION: u32 = 1;
/// Accepted widths and heights of the window, in logical pixels.
const SIDES: std::ops::RangeInclusive<u32> = 320..=MOST_SIDE;

/// Settings that the program remembers between runs. A setting that is missing from the file takes its default value.
/// Settings that the program does not know, which a newer version may have written, are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    pub(super) version: u32,
    /// The window's width and height in logical pixels.
    pub size: (u32, u32),
    /// Whether the panel is shown.
    pub panel: bool,
    /// The folder in which file dialogs start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<PathBuf>,
    /// Scenes and snapshots that were opened or saved recently, newest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recent: Vec<PathBuf>,
    /// Appearance settings that the user has chosen: values by key, in the syntax of the `--look` option.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub look: BTreeMap<String, String>,
    /// Settings of a newer version of the program.
    #[serde(flatten)]
    pub(super) unknown: toml::Table,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            version: VERSION,
            size: (1280, 800),
            panel: true,
            folder: None,
            recent: Vec::new(),
            look: BTreeMap::new(),
            unknown: toml::Table::new(),
        }
    }
}

impl Settings {
    /// Returns the path of the settings file, or `None` if the user has no configuration folder.
    pub fn path() -> Option<PathBuf> {
        Some(dirs::config_dir()?.join("gravitile").join("settings.toml"))
    }

    /// Reads the settings file `path`. Returns the defaults if there is no such file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or is not a valid settings file.
    pub fn load(path: &Path) -> Result<Self> {
        let Some(text) = files::read_small(path, MOST_BYTES, "settings")? else { return Ok(Self::default()) };
        let text = String::from_utf8_lossy(&text);
        let mut settings: Self = files::from_toml(&text).map_err(|(at, what)| {
            let line = scene::line_of(&text, at.unwrap_or_default());
            Error::File { path: path.to_owned(), line, what }
        })?;
        if !(SIDES.contains(&settings.size.0) && SIDES.contains(&settings.size.1)) {
            settings.size = Self::default().size;
        }
        Ok(settings)
    }

    /// Returns whether the file `path` has a format that only newer versions of the program know.
    fn is_newer(path: &Path) -> bool {
        #[derive(Deserialize)]
        struct Header {
            version: u32,
        }
        let text = files::read_small(path, MOST_BYTES, "settings").ok().flatten().unwrap_or_default();
        files::from_toml::<Header>(&String::from_utf8_lossy(&text))
            .is_ok_and(|header| header.version > VERSION)
    }

    /// Reads the settings file `path`. Returns the settings, the file to save them to, and an error message if the file
    /// is invalid. Renames an invalid file to preserve it; if that fails, returns no file to save to. A file of a newer
    /// version of the program is left alone.
    pub fn open(path: PathBuf) -> (Self, Option<PathBuf>, Option<String>) {
        if Self::is_newer(&path) {
            let text = format!(
                "{} was written by a newer version of gravitile. The default settings are used. Changes to the settings will \
                 not be saved.",
                path.display()
            );
            return (Self::default(), None, Some(text));
        }
        let error = match Self::load(&path) {
            Ok(settings) => return (settings, Some(path), None),
            Err(error) => error,
        };
        let others = (2u32..).map(|nth| format!("bad-{nth}.toml"));
        let mut names =
            std::iter::once("bad.toml".to_owned()).chain(others).map(|end| path.with_extension(end));
        let aside = names.find(|name| !name.exists()).unwrap_or_default();
        let renamed = format!("The file was renamed to {}.", aside.display());
        let (file, advice) = match fs::rename(&path, &aside) {
            Ok(()) => (Some(path), renamed + " To use it again, correct it and restore its old name."),
            Err(_) => (None, "Changes to the settings will not be saved.".to_owned()),
        };
        (Self::default(), file, Some(format!("{error}. The default settings are used. {advice}")))
    }

    /// Writes the settings to the file `path`, creating its folder if necessary.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written. Any existing file is then left unchanged.
    pub fn save(&self, path: &Path) -> Result<()> {
        let text =
            toml::to_string_pretty(self).map_err(|error| invalid!("cannot write the settings: {error}"))?;
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(Error::io("write", folder))?;
        }
        OutputFile::create(path)?.replace(text.as_bytes())
    }
}

/// The settings of this run: the saved settings, and appearance settings that the command line sets for this run only.
#[derive(Default)]
pub(super) struct Preferences {
    /// The settings file; if `None`, no settings are saved.
    file: Option<PathBuf>,
    /// The settings as they were last read or written.
    pub saved: Settings,
    /// Appearance settings from the command line. Each is saved only if the user changes it while the program runs.
    overrides: Partial<Look>,
    /// Appearance settings that were in the settings file when the program started.
    initial: BTreeMap<String, String>,
}

impl Preferences {
    /// Reads the settings file if `remembered` is true; otherwise uses defaults. Also returns an error message, if any.
    pub(super) fn open(remembered: bool) -> (Self, Option<String>) {
        let file = Settings::path().filter(|_| remembered);
        let (saved, file, error) = file.map(Settings::open).unwrap_or_default();
        (Self { file, initial: saved.look.clone(), saved, ..Self::default() }, error)
    }

    /// Returns the user's appearance settings: the saved ones, and those `asked` for on the command line.
    pub(super) fn own_look(&mut self, asked: Partial<Look>) -> Partial<Look> {
        let mut own = Partial::default();
        for (key, text) in &self.saved.look {
            // Ignores unknown and invalid parameters, which another version of the program may have written.
            let _ = own.set(key, text);
        }
        own.extend(&asked);
        self.overrides = asked;
        own
    }

    /// Returns the appearance settings to save: the user's settings `own`, except the setting `follow`. If the command
    /// line has set a setting and the user has not changed it, keeps the value in the settings file, if any.
    pub(super) fn look(&self, own: &Partial<Look>) -> BTreeMap<String, String> {
        let chosen = own.iter().filter(|(key, _)| *key != "follow");
        let is_unknown = |key: &str, text: &str| Partial::<Look>::default().set(key, text).is_err();
        // A newer version of the program may have written a setting that this version does not know.
        let unknown = self.initial.iter().filter(|(key, text)| is_unknown(key, text));
        let mut remembered: BTreeMap<_, _> = unknown.map(|(key, text)| (key.clone(), text.clone())).collect();
        remembered.extend(chosen.map(|(key, value)| (key.to_owned(), value.to_string())));
        for (key, _) in self.overrides.iter().filter(|(key, value)| own.get(key) == Some(*value)) {
            remembered.remove(key);
            let initial = self.initial.get_key_value(key);
            remembered.extend(initial.map(|(key, text)| (key.clone(), text.clone())));
        }
        remembered
    }

    /// Writes the settings, if they have changed.
    pub(super) fn save(&mut self, settings: Settings) {
        let Some(path) = self.file.as_ref().filter(|_| settings != self.saved) else { return };
        match settings.save(path) {
            Ok(()) => self.saved = settings,
            // Only logs the error, because a message at each autosave would disturb the user more than it helps.
            Err(error) => tracing::warn!("{error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn look_settings_are_saved_but_command_line_overrides_are_not() {
        let look = |words: &[(&str, &str)]| {
            let mut look = Partial::default();
            words.iter().for_each(|(key, text)| look.set(key, text).unwrap());
            look
        };
        let preferences = |look: &BTreeMap<String, String>| Preferences {
            saved: Settings { look: look.clone(), ..Settings::default() },
            initial: look.clone(),
            ..Preferences::default()
        };
        let own = look(&[("exposure", "2"), ("trails", "0")]);
        let kept = Preferences::default().look(&own);
        assert_eq!(kept.len(), 2, "a default value is kept too, because a scene may set another one");
        assert_eq!(preferences(&kept).own_look(Partial::default()), own);
        assert!(Preferences::default().look(&look(&[("follow", "true")])).is_empty());
        for text in ["3", "0"] {
            let asked = look(&[("exposure", text)]);
            let mut preferences = preferences(&kept);
            let mut own = preferences.own_look(asked.clone());
            assert_eq!(own, look(&[("exposure", text), ("trails", "0")]));
            assert_eq!(preferences.look(&own), kept, "the override holds for one run");
            own.set("grid", "on").unwrap();
            assert_eq!(preferences.look(&own).len(), 3, "another parameter that was changed is remembered");
            own.set("exposure", "1").unwrap();
            assert_eq!(preferences.look(&own)["exposure"], "1", "so is an override that was changed");
        }
        let invalid =
            [("exposure", "many"), ("later", "1")].map(|(key, text)| (key.to_owned(), text.to_owned()));
        let mut preferences = preferences(&invalid.clone().into());
        assert!(preferences.own_look(Partial::default()).is_empty());
        assert_eq!(preferences.look(&Partial::default()), invalid.into(), "they are kept for that version");
        assert_eq!(preferences.look(&own)["exposure"], "2", "unless the user chooses another value");
    }

    #[test]
    fn settings_of_a_newer_version_are_preserved() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.toml");
        let text = "later = [1, 2]\npanel = true\n\n[look]\nsparkle = \"3\"\n\n[window]\nscale = 1.5\n";
        fs::write(&path, text).unwrap();
        let (settings, file, wrong) = Settings::open(path.clone());
        assert_eq!((&file, wrong), (&Some(path.clone()), None));
        Settings { panel: false, ..settings }.save(&path).unwrap();
        let kept: toml::Table = toml::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let expected = toml::from_str::<toml::Table>(text).unwrap();
        for key in ["later", "look", "window"] {
            assert_eq!(kept.get(key), expected.get(key), "{key}");
        }
        assert_eq!(kept["panel"].as_bool(), Some(false));
        // A format that this version would misread is left alone.
        let text = format!("version = {}\nsize = \"large\"\n", VERSION + 1);
        fs::write(&path, &text).unwrap();
        let (settings, file, wrong) = Settings::open(path.clone());
        assert_eq!((settings, file), (Settings::default(), None));
        let wrong = wrong.unwrap();
        assert!(wrong.contains("newer version") && wrong.contains("not be saved"), "{wrong}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }

    #[test]
    fn saved_settings_round_trip_and_an_invalid_file_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new").join("settings.toml");
        assert_eq!(Settings::load(&path).unwrap(), Settings::default());
        let other = Settings {
            size: (900, 700),
            panel: false,
            folder: Some("x".into()),
            recent: vec!["/a.toml".into(), "/b c.gravitile".into()],
            look: [("exposure".to_owned(), "2".to_owned())].into(),
            ..Settings::default()
        };
        other.save(&path).unwrap();
        assert_eq!(Settings::load(&path).unwrap(), other);
        for text in ["", "size = [1, 99999]\nzoom = nan\nlater = 3\n"] {
            fs::write(&path, text).unwrap();
            assert_eq!(Settings::load(&path).unwrap().size, (1280, 800));
        }
        for text in ["size = 3", "panel", "\u{0}", &"x = 1\n".repeat(20_000)] {
            fs::write(&path, text).unwrap();
            assert!(Settings::load(&path).is_err(), "{text}");
        }
    }

    #[test]
    fn saving_settings_is_retried_after_a_failed_write() {
        let folder = tempfile::tempdir().unwrap();
        let blocked = folder.path().join("file");
        fs::write(&blocked, "").unwrap();
        let path = blocked.join("settings.toml");
        let mut preferences = Preferences { file: Some(path.clone()), ..Preferences::default() };
        let settings = Settings { panel: false, ..Settings::default() };
        preferences.save(settings.clone());
        fs::remove_file(&blocked).unwrap();
        preferences.save(settings.clone());
        assert_eq!(Settings::load(&path).unwrap(), settings);
    }

    #[test]
    fn an_invalid_settings_file_is_reported_and_renamed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.toml");
        let (_, file, wrong) = Settings::open(path.clone());
        assert_eq!((file, wrong), (Some(path.clone()), None), "the file does not exist yet");
        let text = "panel = false\n\n[look]\nexposure = 2\n";
        fs::write(&path, text).unwrap();
        let (settings, file, wrong) = Settings::open(path.clone());
        let aside = folder.path().join("settings.bad.toml");
        let wrong = wrong.unwrap();
        assert!(wrong.contains("line 4") && wrong.contains(aside.to_str().unwrap()), "{wrong}");
        settings.save(&file.unwrap()).unwrap();
        assert_eq!(fs::read_to_string(&aside).unwrap(), text);
        // A second invalid file does not overwrite the first.
        fs::write(&path, "size = 3").unwrap();
        assert!(Settings::open(path).2.unwrap().contains("settings.bad-2.toml"));
        assert_eq!(fs::read_to_string(&aside).unwrap(), text);
        // A file that cannot be renamed is left alone: its new name would be too long.
        let path = folder.path().join("s".repeat(250) + ".toml");
        fs::write(&path, text).unwrap();
        let (_, file, wrong) = Settings::open(path.clone());
        assert!(file.is_none() && wrong.unwrap().contains("not be saved"));
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}
