//! Formats numbers for display with few digits and with a width that stays steady while the value changes.

/// SI prefixes from 10⁻⁹ to 10¹⁸. The empty prefix has index 3.
const PREFIXES: [&str; 10] = ["n", "µ", "m", "", "k", "M", "G", "T", "P", "E"];

/// Formats a number with three significant digits and an SI prefix, such as `18.4 G`, to be followed by a unit.
pub fn si(value: f64) -> String {
    let exponent = exponent(value, 3);
    let group = exponent.div_euclid(3).clamp(-3, 6);
    let scaled = value / 10f64.powi(3 * group);
    let decimals = (2 - (exponent - 3 * group)).clamp(0, 2) as usize;
    format!("{scaled:.decimals$} {}", PREFIXES[(group + 3) as usize])
}

/// Formats a number with an SI prefix and up to three significant digits, without trailing zeros, such as `200 M`.
pub fn si_short(value: f64) -> String {
    let text = si(value);
    let (number, prefix) = text.split_once(' ').unwrap_or((&text, ""));
    format!("{} {prefix}", without_zeros(number))
}

/// Formats a number with `digits` significant digits. Very large and very small numbers are written with an exponent.
pub fn significant(value: f64, digits: usize) -> String {
    let exponent = exponent(value, digits);
    let last = digits as i32 - 1;
    if (-4..=last + 2).contains(&exponent) {
        format!("{value:.*}", (last - exponent).max(0) as usize)
    } else {
        format!("{value:.*e}", last as usize)
    }
}

/// Formats a number for an input field: at most five significant digits and eight characters, without trailing zeros.
pub fn field(value: f64) -> String {
    let texts = [5, 4, 3].map(|digits| short(value, digits));
    let fits = texts.iter().position(|text| text.chars().count() <= 8);
    texts[fits.unwrap_or(2)].clone()
}

fn short(value: f64, digits: usize) -> String {
    let text = significant(value, digits);
    let (mantissa, exponent) = text.split_at(text.find('e').unwrap_or(text.len()));
    format!("{}{exponent}", without_zeros(mantissa))
}

/// Removes trailing zeros from the fractional part of a decimal number.
fn without_zeros(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

/// Formats a whole number with thin spaces between groups of three digits.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push('\u{2009}');
        }
        text.push(digit);
    }
    text
}

/// Formats an estimated duration in seconds, rounded up to at most two digits, such as `20 s`, `5 min` or `2 h`.
pub fn duration(seconds: f64) -> String {
    let up = |unit: f64| (seconds / unit).ceil().max(1.0) as u64;
    match seconds {
        ..=10.0 => format!("{} s", up(1.0)),
        ..=90.0 => format!("{} s", 5 * up(5.0)),
        ..=5400.0 => format!("{} min", up(60.0)),
        _ => format!("{} h", up(3600.0)),
    }
}

/// Returns the decimal exponent of `value` rounded to `digits` digits: 3 for 999.6 at three digits, 0 for zero.
fn exponent(value: f64, digits: usize) -> i32 {
    let text = format!("{value:.*e}", digits - 1);
    text.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0)
}

/// Returns `text` with an initial capital.
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_letter_is_capitalised() {
        assert_eq!(["", "élan Vital", "ß"].map(capitalised), ["", "Élan Vital", "SS"]);
    }

    #[test]
    fn si_formatting_keeps_three_significant_digits() {
        for (value, text) in [
            (0.0, "0.00 "),
            (1.0, "1.00 "),
            (59.94, "59.9 "),
            (999.4, "999 "),
            (999.6, "1.00 k"),
            (18.4e9, "18.4 G"),
            (0.92e9, "920 M"),
            (6.1e13, "61.0 T"),
            (0.0123, "12.3 m"),
            (4.2e-7, "420 n"),
            (-1500.0, "-1.50 k"),
            (3e21, "3000 E"),
            (f64::NAN, "NaN "),
            (f64::INFINITY, "inf "),
        ] {
            assert_eq!(si(value), text);
        }
    }

    #[test]
    fn short_si_formatting_drops_trailing_zeros() {
        for (value, text) in [(1e9, "1 G"), (2e8, "200 M"), (0.5, "500 m"), (1.5e6, "1.5 M"), (1e8, "100 M")]
        {
            assert_eq!(si_short(value), text);
        }
    }

    #[test]
    fn significant_formatting_uses_an_exponent_for_large_and_small_values() {
        for (value, text) in [
            (0.0, "0.00"),
            (7.4, "7.40"),
            (99.96, "100"),
            (12345.0, "12345"),
            (123456.0, "1.23e5"),
            (0.00012, "0.000120"),
            (0.0000123, "1.23e-5"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(significant(value, 3), text);
        }
    }

    #[test]
    fn field_formatting_drops_trailing_zeros() {
        for (value, text) in [
            (f64::from(0.005_f32), "0.005"),
            (f64::from(1e-5_f32), "1e-5"),
            (f64::from(2.5e-5_f32), "2.5e-5"),
            (1.0, "1"),
            (10.0, "10"),
            (0.0, "0"),
            (f64::from(0.9987_f32), "0.9987"),
            (200_000.0, "200000"),
            (0.012_256_2, "0.012256"),
            (0.001_683_5, "0.001684"),
            (8.337_6e-5, "8.338e-5"),
            (-1.234_56e-7, "-1.23e-7"),
        ] {
            assert_eq!(field(value), text);
        }
    }

    #[test]
    fn counts_are_formatted_with_digits_in_groups_of_three() {
        for (n, text) in
            [(0, "0"), (999, "999"), (1000, "1\u{2009}000"), (1048576, "1\u{2009}048\u{2009}576")]
        {
            assert_eq!(count(n), text);
        }
    }

    #[test]
    fn a_duration_is_rounded_up_to_a_round_number() {
        for (seconds, text) in [
            (0.0, "1 s"),
            (3.2, "4 s"),
            (17.0, "20 s"),
            (88.0, "90 s"),
            (91.0, "2 min"),
            (270.0, "5 min"),
            (5401.0, "2 h"),
        ] {
            assert_eq!(duration(seconds), text);
        }
    }
}
