//! The settings as text: a command line that opens the current scene, and settings that the user pastes.

use crate::base::{ChangeEffect, Look, Partial, Plain, Result, SetError, invalid, params};
use crate::engine::Config;
use crate::modes::{MODES, ModeInfo};
use crate::scene::{self, Scene};

/// Maximum number of characters of pasted text that an error message quotes.
const MOST_QUOTED: usize = 60;

/// Returns a shell command that opens the scene of `config` with the settings in `config` and `look`. The command names
/// only the settings that differ from those of the scene.
///
/// # Errors
/// Returns an error if the scene is neither built in nor in a file.
pub(crate) fn command_line(config: &Config, look: &Look) -> Result<String> {
    let Config { start, bodies, seed, variant, work_group, steps_per_frame, .. } = config;
    let info = config.mode.info();
    let mut words = vec!["gravitile view".to_owned(), origin(info, start)?];
    let mut add = |option: &str, values: &[String]| {
        if !values.is_empty() {
            words.push(format!("--{option} {}", values.join(" ")));
        }
    };
    let one = |value: Option<String>| value.into_iter().collect::<Vec<_>>();
    add("bodies", &one(bodies.filter(|_| start.bodies.is_none()).map(|bodies| bodies.to_string())));
    // The default seed is 1, but a scene file may set another one.
    let is_usual = !start.is_random() || (*seed == 1 && start.file.is_none());
    add("seed", &one((!is_usual).then(|| seed.to_string())));
    add("variant", &one(variant.map(|variant| variant.name.to_owned())));
    add("work-group", &one(work_group.map(|size| size.to_string())));
    add("knob", &knobs(config));
    add("set", &changed_parameters(config));
    add("look", &changed_look(start, look));
    add("steps-per-frame", &one(steps_per_frame.map(|steps| steps.to_string())));
    words.extend(config.free_run.then(|| "--free-run".to_owned()));
    Ok(words.join(" "))
}

/// Returns the command-line options that select `scene`, such as `--scene merger`.
fn origin(info: &'static ModeInfo, scene: &Scene) -> Result<String> {
    if info.scene(&scene.name).is_some_and(|built_in| **built_in == *scene) {
        return Ok(format!("--scene {}", scene.name));
    }
    let Some(path) = scene.file.as_ref().and_then(|path| path.to_str()) else {
        let advice = "save it (Ctrl+Shift+S), open the saved file (Ctrl+O), and copy the command line again";
        return Err(invalid!("the scene {} is neither built in nor stored in a file; {advice}", scene.name));
    };
    let quoted = shlex::try_quote(path).map_err(|error| invalid!("{path}: {error}"))?;
    Ok(match path.ends_with(&format!(".{}", scene::file::EXTENSION)) {
        true => format!("--scene {quoted}"),
        false if info == MODES[0] => format!("--load {quoted}"),
        false => format!("--mode {} --load {quoted}", info.name),
    })
}

/// Returns the compile-time parameters of the selected variant, or of all variants, in the syntax of `--knob`.
fn knobs(config: &Config) -> Vec<String> {
    let variants = config.mode.info().variants.iter();
    let variants = variants.filter(|own| config.variant.is_none_or(|variant| variant.name == own.name));
    let known: Vec<_> = variants.flat_map(|variant| variant.knobs).collect();
    let word = |(name, value): (&&'static str, &u32)| {
        let knob = known.iter().find(|knob| knob.name == *name)?;
        Some(format!("{name}={}", knob.word(*value)))
    };
    config.knobs.iter().filter_map(word).collect()
}

/// Returns the parameters of the mode that differ from those of the scene, in the syntax of `--set`.
fn changed_parameters(config: &Config) -> Vec<String> {
    let mut mode = config.mode.info().mode_for(&config.start);
    let mut changed = Vec::new();
    for (key, value) in config.mode.values().iter() {
        // Setting one parameter may set another one that depends on it.
        if mode.values().get(key) != Some(value) {
            let set = params::set(mode.as_mut(), key, &value.to_string());
            debug_assert!(set.is_ok(), "{set:?}");
            changed.push(format!("{key}={value}"));
        }
    }
    changed
}

/// Returns the settings of the picture that differ from those of the scene, in the syntax of `--look`.
fn changed_look(scene: &Scene, look: &Look) -> Vec<String> {
    let mut changed = Partial::changes(&scene.look.complete(), look);
    changed.retain(ChangeEffect::View);
    changed.iter().map(|(key, value)| format!("{key}={value}")).collect()
}

/// Settings that the user has pasted.
#[derive(Debug, PartialEq)]
pub(crate) enum Pasted {
    /// Arguments of a command line, without the name of the program.
    Command(Vec<String>),
    /// Keys and values of parameters.
    Values(Vec<(String, String)>),
}

impl Pasted {
    /// Reads a command line, or lines of the form `key=value`. Skips empty lines and comments.
    ///
    /// # Errors
    /// Returns an error if `text` is neither a command line nor a list of `key=value` lines.
    pub(crate) fn read(text: &str) -> Result<Self> {
        let mut words = shlex::split(text).unwrap_or_default();
        // A backslash at the end of a line may leave an empty word.
        words.retain(|word| !word.is_empty());
        if let Some(at) = words.iter().position(|word| word == "view" || word.starts_with("--")) {
            return Ok(Self::Command(words.split_off(at)));
        }
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let value = |line: &str| {
            let quoted = Plain(line, MOST_QUOTED);
            let (key, value) = line.split_once('=').ok_or_else(|| {
                invalid!("`{quoted}` is neither a command line such as `gravitile view --scene merger`, nor a setting such as `dt=0.01`")
            })?;
            Ok((key.trim().to_owned(), value.trim().trim_matches('"').to_owned()))
        };
        let values = lines.map(value).collect::<Result<Vec<_>>>()?;
        match values.is_empty() {
            true => Err(invalid!("the clipboard contains no text")),
            false => Ok(Self::Values(values)),
        }
    }
}

/// Sets parameters of the mode and settings of the picture by their keys.
///
/// # Errors
/// Returns an error, and changes nothing, if a key is unknown or a value is not allowed.
pub(super) fn set_all(values: &[(String, String)], config: &mut Config, look: &mut Look) -> Result<()> {
    let (mut mode, mut next) = (config.mode.clone(), look.clone());
    for (key, text) in values {
        let of_mode = params::set(mode.as_mut(), key, text);
        let Err(SetError::UnknownKey { known, .. }) = of_mode else {
            of_mode?;
            continue;
        };
        match params::set(&mut next, key, text) {
            Err(SetError::UnknownKey { key, known: of_picture }) => {
                let known = format!("{known}; the settings of the picture are {of_picture}");
                return Err(SetError::UnknownKey { key, known }.into());
            }
            of_picture => of_picture?,
        }
    }
    (config.mode, *look) = (mode, next);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<(String, String)> {
        match Pasted::read(text) {
            Ok(Pasted::Values(values)) => values,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_command_line_contains_only_settings_that_differ_from_the_scene() {
        let mut config = Config::new(MODES[0]);
        let mut look = config.start.look.complete();
        assert_eq!(command_line(&config, &look).unwrap(), "gravitile view --scene spiral");
        params::set(config.mode.as_mut(), "eps", "0.125").unwrap();
        (config.seed, look.exposure) = (7, 1.5);
        let text = command_line(&config, &look).unwrap();
        assert_eq!(text, "gravitile view --scene spiral --seed 7 --set eps=0.125 --look exposure=1.5");
    }

    #[test]
    fn a_command_line_quotes_file_names_and_a_scene_without_a_file_is_an_error() {
        let mut scene = Scene::clone(&MODES[0].scenes[0]);
        let text = |scene: &Scene| {
            let config = Config { start: scene.clone().into(), ..Config::new(MODES[0]) };
            command_line(&config, &scene.look.complete())
        };
        assert!(text(&scene).unwrap_err().to_string().contains("Ctrl+Shift+S"));
        scene.file = Some("/my scenes/it's.toml".into());
        let command = text(&scene).unwrap();
        let Pasted::Command(words) = Pasted::read(&command).unwrap() else { panic!("{command}") };
        assert_eq!(words, ["view", "--scene", "/my scenes/it's.toml", "--seed", "1"]);
        scene.file = Some("/bodies.csv".into());
        assert!(text(&scene).unwrap().starts_with("gravitile view --load /bodies.csv"));
    }

    #[test]
    fn pasted_command_lines_and_key_value_lines_are_distinguished() {
        for text in ["$ scripts/run --set dt=0.1", "gravitile \\\n  --set dt=0.1"] {
            assert_eq!(Pasted::read(text).unwrap(), Pasted::Command(vec!["--set".into(), "dt=0.1".into()]));
        }
        let read = values("# mine\n\ndt = 0.1\ncolour = \"speed\"\n");
        let expected = [("dt", "0.1"), ("colour", "speed")];
        assert_eq!(read, expected.map(|(key, value)| (key.to_owned(), value.to_owned())));
        for text in ["", "# nothing", "Dear all", "it's", &"long ".repeat(1 << 20)] {
            let error = Pasted::read(text).unwrap_err().to_string();
            assert!(error.chars().count() < 250, "{error}");
        }
    }

    #[test]
    fn pasted_values_are_either_all_applied_or_all_rejected() {
        let mut config = Config::new(MODES[0]);
        let mut look = Look::default();
        let before = (config.clone(), look.clone());
        for (text, reason) in [
            ("eps=0.125\nno_such=1", "unknown parameter `no_such`"),
            ("eps=0.125\nno_such=1", "exposure"),
            ("exposure=1\neps=-5", "eps=-5 is not allowed"),
            ("eps=0.125\nexposure=99", "exposure=99 is not allowed"),
        ] {
            let error = set_all(&values(text), &mut config, &mut look).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
            assert_eq!((&config, &look), (&before.0, &before.1), "{text}");
        }
        set_all(&values("eps=0.125\nexposure=1"), &mut config, &mut look).unwrap();
        assert_eq!((config.mode.values().float("eps"), look.exposure), (Some(0.125), 1.0));
    }
}
