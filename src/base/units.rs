//! Units of length, time and mass of a scene, and the date on which the scene starts.

use crate::base::error::Plain;
use crate::base::format;

/// Maximum number of characters in the name of a unit.
const MAX_NAME: usize = 16;
/// Names of units of length that can be converted, and their sizes in metres.
const LENGTHS: &[(&[&str], f64)] = &[
    (&["m"], 1.0),
    (&["km"], 1e3),
    (&["AU", "au"], AU),
    (&["ly"], 9.460_730_472_580_8e15),
    (&["pc"], PARSEC),
    (&["kpc"], 1e3 * PARSEC),
    (&["Mpc"], 1e6 * PARSEC),
];
/// Names of units of time that can be converted, and their sizes in seconds.
const TIMES: &[(&[&str], f64)] = &[
    (&["s"], 1.0),
    (&["min"], 60.0),
    (&["h"], 3600.0),
    (&["d", "day", "days"], DAY),
    (&["yr", "year", "years"], YEAR),
    (&["kyr"], 1e3 * YEAR),
    (&["Myr"], 1e6 * YEAR),
    (&["Gyr"], 1e9 * YEAR),
];
/// Astronomical unit (IAU 2012) in metres.
const AU: f64 = 149_597_870_700.0;
/// Parsec (IAU 2015) in metres: 648 000 / π astronomical units.
const PARSEC: f64 = AU * 648_000.0 / std::f64::consts::PI;
/// Day in seconds.
const DAY: f64 = 86_400.0;
/// Julian year in seconds.
const YEAR: f64 = 365.25 * DAY;

/// Size of a scene unit, such as 58.13 days.
#[derive(Debug, Clone, PartialEq)]
pub struct Unit {
    /// Size of one scene unit, measured in the unit `name`.
    pub size: f64,
    /// Name of the unit, such as `AU`.
    pub name: String,
}

impl Unit {
    /// Reads the size of a scene unit: a name, such as `AU`, or a number and a name, such as `58.13 days`.
    ///
    /// # Errors
    /// Returns a description of the mistake if there is no name or if the number is not positive.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let (number, name) = text.split_once(char::is_whitespace).unwrap_or(("", text));
        let (size, name) = match number.parse::<f64>() {
            Ok(size) => (size, name.trim()),
            Err(_) => (1.0, text),
        };
        let has_name = !name.is_empty() && name.parse::<f64>().is_err();
        match has_name && size > 0.0 && (1e-30..=1e30).contains(&size) {
            true => Ok(Self { size, name: Plain(name, MAX_NAME).to_string() }),
            false => {
                Err("must be the name of a unit, or a positive number and a name, such as \"58.13 days\""
                    .into())
            }
        }
    }

    /// Returns the unit as text that [`Unit::parse`] reads, such as `58.13 days`.
    pub fn text(&self) -> String {
        if self.size == 1.0 { self.name.clone() } else { format!("{} {}", self.size, self.name) }
    }

    fn in_table(&self, table: &[(&[&str], f64)]) -> Option<f64> {
        let found = table.iter().find(|(names, _)| names.contains(&self.name.as_str()));
        found.map(|(_, size)| self.size * size)
    }
}

/// Units of a scene. A quantity without a unit is shown as a plain number in scene units.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Units {
    /// Unit of length.
    pub length: Option<Unit>,
    /// Unit of time.
    pub time: Option<Unit>,
    /// Unit of mass.
    pub mass: Option<Unit>,
    /// Moment at which the scene starts; requires a unit of time that can be converted to days.
    pub start: Option<Date>,
}

impl Units {
    /// Returns whether the scene has no units.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the unit of speed: km/s if the units of length and time can be converted to metres and seconds,
    /// otherwise their quotient, such as `AU/yr`. Returns `None` if length or time has no unit.
    pub fn speed(&self) -> Option<Unit> {
        let (length, time) = (self.length.as_ref()?, self.time.as_ref()?);
        Some(match (length.in_table(LENGTHS), time.in_table(TIMES)) {
            (Some(metres), Some(seconds)) => Unit { size: 1e-3 * metres / seconds, name: "km/s".to_owned() },
            _ => Unit { size: length.size / time.size, name: format!("{}/{}", length.name, time.name) },
        })
    }

    /// Returns the calendar date at the simulated time `time`, if the scene has a date.
    pub fn date(&self, time: f64) -> Option<Date> {
        let days = self.time.as_ref()?.in_table(TIMES)? / DAY;
        self.start.map(|start| Date(start.0 + time * days))
    }

    /// Returns whether simulated time can be converted to days. Only then can the scene have a date.
    pub fn has_days(&self) -> bool {
        self.time.as_ref().is_some_and(|time| time.in_table(TIMES).is_some())
    }
}

/// Formats a quantity in scene units with `digits` significant digits, converted to `unit` if there is one.
pub fn quantity(value: f64, unit: Option<&Unit>, digits: usize) -> String {
    match unit {
        Some(Unit { size, name }) => format!("{} {name}", format::significant(value * size, digits)),
        None => format::significant(value, digits),
    }
}

/// Formats the label of a quantity, with the name of its unit in parentheses if there is one.
pub fn labelled(label: &str, unit: Option<&Unit>) -> String {
    unit.map_or_else(|| label.to_owned(), |unit| format!("{label} ({})", unit.name))
}

/// A moment as a number of days since the start of 1 January 1970 in the Gregorian calendar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Date(pub f64);

impl Date {
    /// Returns the moment `days` days after the start of the given day in the Gregorian calendar. `month` and `day`
    /// count from 1.
    pub fn new(year: i64, month: u8, day: u8, days: f64) -> Self {
        // Years start in March, so that the leap day is the last day of a year.
        let (month, day) = (i64::from(month), i64::from(day));
        let year = year - i64::from(month <= 2);
        let since_march = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
        let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
        // 1 January 1970 is day 719 468 after 1 March of year 0.
        Self((365 * year + leap_days + since_march - 719_468) as f64 + days)
    }

    /// Returns year, month and day in the Gregorian calendar, or `None` beyond a million years.
    pub fn parts(self) -> Option<(i64, u8, u8)> {
        const DAYS_IN_400_YEARS: i64 = 146_097;
        if self.0.is_nan() || self.0.abs() >= 3.6e8 {
            return None;
        }
        let day = self.0.floor() as i64 + 719_468;
        let (era, day) = (day.div_euclid(DAYS_IN_400_YEARS), day.rem_euclid(DAYS_IN_400_YEARS));
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153;
        let day = day - (153 * month + 2) / 5 + 1;
        let year = 400 * era + year + i64::from(month >= 10);
        Some((year, ((month + 2) % 12 + 1) as u8, day as u8))
    }
}

/// Shows the date as `2000-01-31`.
impl std::fmt::Display for Date {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self.parts() {
            Some((year, month, day)) => write!(f, "{year:04}-{month:02}-{day:02}"),
            None => f.write_str("–"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_parsed_as_an_optional_size_and_a_name() {
        let unit = |text: &str| Unit::parse(text).map(|unit| (unit.size, unit.name)).ok();
        assert_eq!(unit("AU"), Some((1.0, "AU".into())));
        assert_eq!(unit(" 58.13  days "), Some((58.13, "days".into())));
        assert_eq!(unit("solar masses"), Some((1.0, "solar masses".into())));
        for wrong in ["", "5", "0 AU", "-1 AU", "inf AU", "NaN AU", "1e99 AU", "1 2"] {
            assert_eq!(unit(wrong), None, "{wrong:?}");
        }
        assert_eq!(Unit::parse("58.13 days").unwrap().text(), "58.13 days");
    }

    #[test]
    fn the_speed_unit_is_km_per_second_if_length_and_time_units_are_known() {
        let units = |length: &str, time: &str| Units {
            length: Unit::parse(length).ok(),
            time: Unit::parse(time).ok(),
            ..Units::default()
        };
        let speed = units("AU", "0.15915494 yr").speed().unwrap();
        assert!((speed.size - 29.785).abs() < 1e-2 && speed.name == "km/s", "{speed:?}");
        assert_eq!(units("2 cubit", "4 moon").speed(), Unit::parse("0.5 cubit/moon").ok());
        assert_eq!(units("AU", "").speed(), None);
        assert_eq!(quantity(0.25, units("4 AU", "").length.as_ref(), 3), "1.00 AU");
    }

    #[test]
    fn dates_convert_to_and_from_the_gregorian_calendar() {
        for (year, month, day, days) in [
            (1970, 1, 1, 0.0),
            (2000, 1, 1, 10_957.0),
            (2000, 2, 29, 11_016.0),
            (1900, 3, 1, -25_508.0),
            (2026, 11, 24, 20_781.0),
        ] {
            let date = Date::new(year, month, day, 0.0);
            assert_eq!((date.0, date.parts()), (days, Some((year, month, day))));
        }
        for day in (-800_000..800_000).step_by(37) {
            let (year, month, day_of_month) = Date(f64::from(day)).parts().unwrap();
            assert_eq!(Date::new(year, month, day_of_month, 0.0).0, f64::from(day));
        }
        let units = Units {
            time: Unit::parse("1 yr").ok(),
            start: Some(Date::new(2000, 1, 1, 0.5)),
            ..Units::default()
        };
        assert_eq!(units.date(0.0).unwrap().to_string(), "2000-01-01");
        assert_eq!(units.date(1.0).unwrap().to_string(), "2000-12-31");
        assert_eq!(Date(f64::NAN).to_string(), "–");
    }
}
