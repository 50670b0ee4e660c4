//! Tables of a scene file whose keys are parameters, such as `[params]`, `[look]` and `[camera]`.

use std::collections::BTreeMap;

use toml::{Spanned, Value};

use crate::base::{ChangeEffect, Error, ParamValue, Params, Partial, Result, SetError};

/// Keys and values of a table, with the position of each value in the text.
pub(super) type Table = BTreeMap<String, Spanned<Value>>;

/// Reads the table `name` of the scene file `text`. The table may set the parameters of `P` that affect the picture.
/// `advice` ends the error message for an unknown key; it says where such keys belong.
pub(super) fn read<P: Params + Default + Clone>(
    text: &str,
    (name, advice): (&str, &str),
    table: &Table,
) -> Result<Partial<P>> {
    let mut values = Partial::default();
    for (key, value) in table {
        let wrong = |what| Error::Scene { line: Some(line_of(text, value.span().start)), what };
        let word = word(value.get_ref())
            .ok_or_else(|| wrong(format!("{name}.{key} must be a number, true, false or text")))?;
        values.set(key, &word).map_err(|error| match error {
            SetError::UnknownKey { .. } => wrong(format!("[{name}]: {error}{advice}")),
            SetError::BadValue { .. } => wrong(format!("[{name}]: {error}")),
        })?;
        let mut of_picture = values.clone();
        of_picture.retain(ChangeEffect::View);
        if of_picture.get(key).is_none() {
            let what = format!("[{name}] must not set {key}, because it changes the window; remove {key}");
            return Err(wrong(what));
        }
    }
    Ok(values)
}

/// Converts `values` to a table that [`read`] accepts. Leaves out parameters that do not affect the picture.
pub(super) fn written<P: Params + Default + Clone>(values: &Partial<P>) -> Table {
    let mut of_picture = values.clone();
    of_picture.retain(ChangeEffect::View);
    of_picture.iter().map(|(key, value)| (key.to_owned(), Spanned::new(0..0, toml_value(value)))).collect()
}

/// Returns a TOML value in the format of `--set`, or `None` for types that no parameter has, such as lists.
pub(super) fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(_) | Value::Float(_) | Value::Boolean(_) => Some(value.to_string()),
        Value::Datetime(_) | Value::Array(_) | Value::Table(_) => None,
    }
}

pub(super) fn toml_value(value: ParamValue) -> Value {
    match value {
        // Uses the shortest decimal that parses back to the same number: 0.05 rather than 0.05000000074505806.
        ParamValue::Float(x) => Value::Float(x.to_string().parse().unwrap_or(x.into())),
        ParamValue::Flag(on) => Value::Boolean(on),
        ParamValue::Option(name) => Value::String(name.to_owned()),
    }
}

/// Returns the 1-based number of the line that contains the byte at offset `byte`.
pub(crate) fn line_of(text: &str, byte: usize) -> u64 {
    let before = text.as_bytes().get(..byte).unwrap_or_default();
    before.iter().filter(|letter| **letter == b'\n').count() as u64 + 1
}
