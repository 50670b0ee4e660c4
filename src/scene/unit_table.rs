//! The table `[units]` of a scene file.

use serde::{Deserialize, Serialize};
use toml::value::{Datetime, Time};

use crate::base::{Date, Unit, Units};

/// Keys of the table `[units]`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct UnitTable {
    length: Option<String>,
    time: Option<String>,
    mass: Option<String>,
    date: Option<Datetime>,
}

impl UnitTable {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Converts the table to units. On error, returns a description of the mistake.
    pub(super) fn read(&self) -> Result<Units, String> {
        let unit = |key: &str, text: &Option<String>| {
            let unit = text.as_deref().map(Unit::parse).transpose();
            unit.map_err(|what| format!("units.{key} {what}"))
        };
        let start = self.date.map(|date| {
            date_of(date).ok_or("units.date must be a date such as 2000-01-31, or a date with a time in UTC")
        });
        let units = Units {
            length: unit("length", &self.length)?,
            time: unit("time", &self.time)?,
            mass: unit("mass", &self.mass)?,
            start: start.transpose()?,
        };
        match units.start.is_none() || units.has_days() {
            true => Ok(units),
            false => Err("units.date requires units.time in s, min, h, d, yr, kyr, Myr or Gyr".to_owned()),
        }
    }

    /// Converts units to a table that [`UnitTable::read`] accepts.
    pub(super) fn of(units: &Units) -> Self {
        let text = |unit: &Option<Unit>| unit.as_ref().map(Unit::text);
        let [length, time, mass] = [&units.length, &units.time, &units.mass].map(text);
        Self { length, time, mass, date: units.start.and_then(datetime) }
    }
}

/// Converts a TOML date, with or without a time in UTC, to a [`Date`]. Returns `None` for a time without a date or in
/// another time zone.
fn date_of(Datetime { date, time, offset }: Datetime) -> Option<Date> {
    let date = date?;
    let seconds = time.map_or(0.0, |time| {
        let [hours, minutes, seconds] = [time.hour, time.minute, time.second].map(f64::from);
        3600.0 * hours + 60.0 * minutes + seconds + 1e-9 * f64::from(time.nanosecond)
    });
    let is_utc = offset.is_none_or(|offset| matches!(offset, toml::value::Offset::Z));
    is_utc.then(|| Date::new(date.year.into(), date.month, date.day, seconds / 86_400.0))
}

/// Converts a [`Date`] to a TOML date with a time in whole seconds, or returns `None` if TOML cannot represent its
/// year.
fn datetime(moment: Date) -> Option<Datetime> {
    let (year, month, day) = moment.parts()?;
    let seconds = (moment.0.rem_euclid(1.0) * 86_400.0).round().min(86_399.0) as u32;
    let [hour, minute, second] = [seconds / 3600, seconds / 60 % 60, seconds % 60].map(|part| part as u8);
    let date = toml::value::Date { year: u16::try_from(year).ok().filter(|year| *year <= 9999)?, month, day };
    let time = Time { hour, minute, second, nanosecond: 0 };
    Some(Datetime { date: Some(date), time: Some(time), offset: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Units, String> {
        toml::from_str::<UnitTable>(text).map_err(|error| error.to_string())?.read()
    }

    #[test]
    fn a_unit_table_round_trips_through_toml() {
        let text = "length = \"AU\"\ntime = \"58.13 days\"\nmass = \"M☉\"\ndate = 2000-01-01T12:00:00\n";
        let units = read(text).unwrap();
        assert_eq!(units.start, Some(Date::new(2000, 1, 1, 0.5)));
        assert_eq!(toml::to_string(&UnitTable::of(&units)).unwrap(), text);
        assert_eq!(read("date = 1999-12-31\ntime = \"yr\"").unwrap().start, Some(Date(10_956.0)));
        assert!(UnitTable::of(&read("").unwrap()).is_empty());
    }

    #[test]
    fn errors_in_a_unit_table_name_the_key() {
        for (text, word) in [
            ("length = \"5\"", "units.length"),
            ("mass = \"-1 kg\"", "units.mass"),
            ("date = 2000-01-01", "units.date requires"),
            ("time = \"fortnight\"\ndate = 2000-01-01", "units.date requires"),
            ("time = \"yr\"\ndate = 12:00:00", "units.date must"),
            ("time = \"yr\"\ndate = 2000-01-01T00:00:00+02:00", "units.date must"),
            ("colour = \"red\"", "colour"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(word), "{text:?}: {error}");
        }
    }
}
