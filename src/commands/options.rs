//! Parses the values of options that several commands share.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

use crate::base::{Error, Look, Params, Partial, Result, SetError, invalid, params};
use crate::cli::Subject;
use crate::export::film::MOST_SIDE;
use crate::modes::{self, MODES, Mode, ModeInfo, Variant};

pub(super) fn mode(name: &str) -> Result<&'static ModeInfo> {
    modes::find(name).ok_or_else(|| unknown("mode", name, MODES.iter().map(|info| info.name)))
}

pub(super) fn modes_for(name: Option<&str>) -> Result<Vec<&'static ModeInfo>> {
    name.map_or_else(|| Ok(MODES.to_vec()), |name| Ok(vec![mode(name)?]))
}

pub(super) fn variant(info: &'static ModeInfo, name: &str) -> Result<&'static Variant> {
    let names = info.variants.iter().map(|variant| variant.name);
    info.variant(name).ok_or_else(|| unknown("variant", name, names.chain(["auto"])))
}

/// Returns the selected modes, each with its selected kernel variants. Fails if a named variant exists in no mode.
pub(super) fn ladders(args: &Subject) -> Result<Vec<(&'static ModeInfo, Vec<&'static Variant>)>> {
    let (modes, names) = (modes_for(args.mode.as_deref())?, &args.variant);
    let known = || modes.iter().flat_map(|info| info.variants).map(|variant| variant.name);
    if let Some(name) = names.iter().find(|name| !known().any(|known| known == *name)) {
        return Err(unknown("variant", name, known()));
    }
    let is_wanted = |variant: &&'static Variant| names.is_empty() || names.iter().any(|n| n == variant.name);
    Ok(modes.iter().map(|info| (*info, info.variants.iter().filter(is_wanted).collect())).collect())
}

/// Names of knobs (compile-time parameters of a kernel), each with the values to try.
pub(super) type Trials = Vec<(&'static str, Vec<u32>)>;

/// Parses `--knob NAME=VALUE,…`. Each knob (compile-time parameter) must exist in at least one of `variants`.
pub(super) fn knobs(variants: &[&'static Variant], words: &[String]) -> Result<Trials> {
    words.iter().map(|word| trial(variants, word)).collect()
}

fn trial(variants: &[&'static Variant], word: &str) -> Result<(&'static str, Vec<u32>)> {
    let known = || variants.iter().flat_map(|variant| variant.knobs);
    let (name, values) =
        word.split_once('=').ok_or_else(|| invalid!("--knob {word}: expected NAME=VALUE"))?;
    let knob = known().find(|knob| knob.name == name.trim());
    let knob = knob.ok_or_else(|| match known().next() {
        Some(_) => unknown("knob", name, known().map(|knob| knob.name)),
        None => invalid!("--knob {word}: this variant has no compile-time parameters"),
    })?;
    let value = |text: &str| knob.read(text.trim());
    let values: Option<Vec<u32>> = values.split(',').map(value).collect();
    let values = values.ok_or_else(|| {
        let options: Vec<String> = knob.options.iter().map(|value| knob.word(*value)).collect();
        invalid!("--knob {word}: {name} must be one of {}", join(&options))
    })?;
    Ok((knob.name, values))
}

/// Returns the value of each knob (compile-time parameter), or an error if a knob has several values.
pub(super) fn one_each(words: &[String], trials: Trials) -> Result<BTreeMap<&'static str, u32>> {
    let only = |((name, values), word): ((&'static str, Vec<u32>), &String)| match values[..] {
        [value] => Ok((name, value)),
        _ => Err(several_values("--knob", word)),
    };
    trials.into_iter().zip(words).map(only).collect()
}

/// Returns the error for an option that was given several values but accepts only one.
pub(super) fn several_values(option: &str, values: &str) -> Error {
    invalid!("{option} {values}: give one value; only `bench` without --devices accepts several")
}

/// Joins numbers into a list such as `1, 2, 4`.
pub(super) fn join(numbers: &[impl ToString]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Parses `--look`. Returns the drawing settings (look) that the user gave.
pub(super) fn look(words: &[String]) -> Result<Partial<Look>> {
    let mut look = Partial::default();
    for word in words {
        let (key, value) = assignment("--look", word)?;
        look.set(key, value)?;
    }
    Ok(look)
}

/// Applies `--set` to the mode's parameters. If a parameter belongs to another mode, the error names that mode.
pub(super) fn set_mode(mode: &mut dyn Mode, assignments: &[String]) -> Result<()> {
    let name = mode.info().name;
    set_all(mode, "--set", assignments).map_err(|error| match error {
        Error::Param(SetError::UnknownKey { key, known }) => {
            let has = |info: &&&ModeInfo| (info.default)().values().get(&key).is_some();
            let owners: Vec<_> = MODES.iter().filter(has).map(|info| format!("--mode {}", info.name)).collect();
            match owners.is_empty() {
                true => Error::Param(SetError::UnknownKey { key, known }),
                false => invalid!(
                    "--mode {name} has no parameter `{key}`, but {} has it; the parameters of {name} are {known}",
                    owners.join(" and ")
                ),
            }
        }
        error => error,
    })
}

pub(super) fn set_all(
    params: &mut (impl Params + ?Sized),
    option: &str,
    assignments: &[String],
) -> Result<()> {
    for word in assignments {
        let (key, value) = assignment(option, word)?;
        params::set(params, key, value)?;
    }
    Ok(())
}

/// Splits an argument such as `bloom=on` into a key and a value. `option` is named in error messages.
fn assignment<'a>(option: &str, word: &'a str) -> Result<(&'a str, &'a str)> {
    let (key, value) = word.split_once('=').ok_or_else(|| invalid!("{option} {word}: expected KEY=VALUE"))?;
    Ok((key.trim(), value))
}

/// Returns the error for an unknown scene. It lists the scenes of one mode, or of all modes if `of` is `None`.
pub(super) fn no_scene(name: &str, of: Option<&'static ModeInfo>) -> Error {
    let modes = || MODES.iter().copied().filter(|info| of.is_none_or(|of| of == *info));
    let list = |info: &ModeInfo| info.scenes.iter().map(|it| it.name.as_str()).collect::<Vec<_>>().join(", ");
    let all: Vec<_> = modes().map(|info| format!("{} ({})", info.name, list(info))).collect();
    let near = modes().flat_map(|info| info.scenes.iter()).find(|scene| is_near(name, &scene.name));
    let near = near.map(|scene| format!(" (did you mean {}?)", scene.name)).unwrap_or_default();
    invalid!("unknown scene `{name}`{near}; available scenes: {}", all.join("; "))
}

/// Returns whether `typed` may be a misspelling of `name`: one contains the other, or they differ in a few letters.
fn is_near(typed: &str, name: &str) -> bool {
    let typed = typed.to_lowercase();
    let is_part = typed.len() > 2 && (name.contains(&typed) || typed.contains(name));
    let edits = strsim::levenshtein(&typed, name);
    is_part || 3 * edits <= name.chars().count()
}

fn unknown(what: &str, name: &str, known: impl Iterator<Item = &'static str>) -> Error {
    // Several modes have variants with the same name.
    let mut seen = BTreeSet::new();
    let known: Vec<_> = known.filter(|name| seen.insert(*name)).collect();
    invalid!("unknown {what} `{name}`; choose one of {}", known.join(", "))
}

/// Parses a whole number of at least 1. Returns `None` for `auto`.
pub(super) fn number_or_auto<T: FromStr + PartialOrd + From<u8>>(
    option: &str,
    text: &str,
) -> Result<Option<T>> {
    if text == "auto" {
        return Ok(None);
    }
    match text.parse() {
        Ok(number) if number >= T::from(1) => Ok(Some(number)),
        _ => Err(invalid!("{option} {text}: expected auto or a whole number of at least 1")),
    }
}

/// Parses a picture size in pixels, such as `1280x720`.
pub(super) fn size(text: &str) -> Result<(u32, u32)> {
    let parsed = text.split_once('x').and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
    match parsed {
        Some((w @ 1..=MOST_SIDE, h @ 1..=MOST_SIDE)) => Ok((w, h)),
        _ => Err(invalid!(
            "--size {text}: expected WxH, such as 1280x720, from 1x1 to {MOST_SIDE}x{MOST_SIDE}"
        )),
    }
}
