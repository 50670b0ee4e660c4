//! Reads and writes bodies as CSV: a header such as `x,y,z,vx,vy,vz,m,name`, then one body per line, in N-body units.
//!
//! The columns may have any order; `mass` stands for `m`, and `name` may be absent. A comma, a semicolon or a tab
//! separates the fields. A field may be quoted as in `"a, b"`. With semicolons, decimal commas are accepted.
//!
//! Files are untrusted: the number of bodies and the length of a line are limited, every number is checked, and errors
//! name the line and the field. Spaces around fields and empty lines are accepted.

use std::borrow::Cow;
use std::io::{self, BufRead, Write};
use std::path::Path;

use super::lines::{Fault, Lines, parse_file, quoted};
use crate::base::body_names::MAX_NAMED;
use crate::base::{Bodies, BodyNames, FINITE_LIMIT, Result};

/// Maximum number of bodies in a CSV file.
pub const MAX_BODIES: usize = 1 << 24;

/// Maximum size of a CSV file in bytes: 1024 bytes per line.
const MOST_BYTES: u64 = (MAX_BODIES as u64 + 1) * 1024;

/// Names of the numeric columns, in the order in which [`write()`] writes them.
pub const HEADER: [&str; 7] = ["x", "y", "z", "vx", "vy", "vz", "m"];

/// Reads the bodies from the CSV file `path`, and their names if the file has a column `name`.
///
/// # Errors
/// Returns an error if the file cannot be read. Returns an error with the line and the field if a column is missing,
/// unknown or repeated, a line has too few or too many fields, a field is not a finite number of at most
/// [`FINITE_LIMIT`] in size, a mass is negative, or the number of bodies is 0 or above [`MAX_BODIES`].
pub fn load(path: &Path) -> Result<(Bodies, BodyNames)> {
    parse_file(path, (MOST_BYTES, "a CSV file"), |lines| read(lines, MAX_BODIES))
}

/// Parses CSV text with at most `most` bodies. On error, returns the 1-based line number and a description.
pub(super) fn parse(text: &str, most: usize) -> Result<(Bodies, BodyNames), (u64, String)> {
    read(Lines::new(text.as_bytes()), most).map_err(|fault| match fault {
        // Reading from memory cannot fail.
        Fault::Io(why) => (1, why.to_string()),
        Fault::At(line, what) => (line, what),
    })
}

/// Writes `bodies` to `file` as CSV, with a column `name` if any body has a name.
///
/// Every number is written as the shortest text that parses back to the same bits. The velocity of a quarantined body
/// (see [`Bodies`]) is written as `NaN`; [`load`] rejects such a file and names the line.
///
/// # Errors
/// Returns an error if writing to `file` fails.
pub fn write(file: &mut dyn Write, bodies: &Bodies, names: &BodyNames) -> io::Result<()> {
    writeln!(file, "{}{}", header(), if names.is_empty() { "" } else { ",name" })?;
    for (body, ([x, y, z, m], [vx, vy, vz, _])) in bodies.positions.iter().zip(&bodies.velocities).enumerate()
    {
        write!(file, "{x:?},{y:?},{z:?},{vx:?},{vy:?},{vz:?},{m:?}")?;
        match names.get(body) {
            Some(name) => writeln!(file, ",\"{}\"", name.replace('"', "\"\""))?,
            None if names.is_empty() => writeln!(file)?,
            None => writeln!(file, ",")?,
        }
    }
    Ok(())
}

fn read(mut lines: Lines<impl BufRead>, most: usize) -> Result<(Bodies, BodyNames), Fault> {
    if !lines.advance()? {
        return Err(Fault::At(1, format!("the file is empty; expected the header {}", header())));
    }
    let columns = Columns::of(lines.text()).map_err(|what| lines.wrong(what))?;
    let (mut bodies, mut names) = (Bodies::default(), Vec::new());
    while lines.advance()? {
        if bodies.len() == most {
            return Err(lines.wrong(format!("there are more than {most} bodies")));
        }
        let ([x, y, z, vx, vy, vz, m], name) = columns.row(lines.text()).map_err(|what| lines.wrong(what))?;
        bodies.push([x, y, z], [vx, vy, vz], m);
        if let Some(name) = name.filter(|_| names.len() < MAX_NAMED) {
            names.push(name.into_owned());
        }
    }
    match bodies.is_empty() {
        true => {
            let what = "the file contains no bodies; expected one per line after the header";
            Err(Fault::At(lines.number + 1, what.to_owned()))
        }
        false => Ok((bodies, names.into_iter().collect())),
    }
}

fn header() -> String {
    HEADER.join(",")
}

/// Field separator of a CSV file, and the quantity in each column.
struct Columns {
    separator: char,
    /// For each column, the index of its quantity in [`HEADER`]; the length of [`HEADER`] for the column of names.
    roles: Vec<usize>,
}

impl Columns {
    /// Parses the header line of a CSV file.
    fn of(text: &str) -> Result<Self, String> {
        let separator =
            [',', ';', '\t'].into_iter().find(|separator| text.contains(*separator)).unwrap_or(',');
        let expected = || format!("expected {} and optionally name, in any order", header());
        let mut roles = Vec::new();
        for (nth, field) in fields(text, separator).enumerate() {
            let field = field.to_lowercase();
            let name = if field == "mass" { "m" } else { &field };
            let role = HEADER.iter().chain(&["name"]).position(|column| *column == name);
            let wrong = |what: &str| {
                format!("field {} of the header, {}, {what}; {}", nth + 1, quoted(&field), expected())
            };
            let role = role.ok_or_else(|| wrong("is not the name of a column"))?;
            if roles.contains(&role) {
                return Err(wrong("occurs twice"));
            }
            roles.push(role);
        }
        match HEADER.iter().enumerate().find(|(role, _)| !roles.contains(role)) {
            Some((_, missing)) => Err(format!("the header lacks the column {missing}; {}", expected())),
            None => Ok(Self { separator, roles }),
        }
    }

    /// Parses a line of a CSV file: the numbers of a body, in the order of [`HEADER`], and its name if the file has
    /// names.
    fn row<'a>(&self, text: &'a str) -> Result<([f32; HEADER.len()], Option<Cow<'a, str>>), String> {
        let mut fields = fields(text, self.separator);
        let (mut row, mut name) = ([0.0; HEADER.len()], None);
        for role in &self.roles {
            let column = HEADER.get(*role).copied().unwrap_or("name");
            let Some(field) = fields.next() else {
                return Err(format!("field {column} is missing; expected {} fields", self.roles.len()));
            };
            match row.get_mut(*role) {
                Some(value) => *value = self.number(column, &field)?,
                None => name = Some(field),
            }
        }
        match fields.next() {
            Some(extra) => {
                Err(format!("unexpected field {}; expected only {} fields", quoted(&extra), self.roles.len()))
            }
            None => Ok((row, name)),
        }
    }

    fn number(&self, column: &str, field: &str) -> Result<f32, String> {
        let lowest = if column == "m" { 0.0 } else { -FINITE_LIMIT };
        let parsed = match self.separator {
            ';' => field.replace(',', ".").parse::<f32>(),
            _ => field.parse(),
        };
        match parsed {
            Ok(value) if (lowest..=FINITE_LIMIT).contains(&value) => Ok(value),
            _ => Err(format!(
                "field {column} is {}; expected a number from {lowest:?} to {FINITE_LIMIT:?}",
                quoted(field)
            )),
        }
    }
}

/// Returns the fields of a line without the spaces around them. A quoted field may contain the separator; two quotes
/// `""` inside a quoted field stand for one quote.
fn fields(text: &str, separator: char) -> impl Iterator<Item = Cow<'_, str>> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let mut is_quoted = false;
        let text = rest?.trim_start_matches(' ');
        let starts_quoted = text.starts_with('"');
        let end = text.find(|letter| {
            is_quoted ^= starts_quoted && letter == '"';
            letter == separator && !is_quoted
        });
        let field = end.map_or(text, |end| &text[..end]).trim();
        rest = end.map(|end| &text[end + separator.len_utf8()..]);
        let inner = field.strip_prefix('"').and_then(|field| field.strip_suffix('"'));
        Some(inner.map_or(Cow::Borrowed(field), |inner| Cow::Owned(inner.replace("\"\"", "\""))))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_bodies_in_a_csv_file_is_limited() {
        let text = "x,y,z,vx,vy,vz,m\n0,0,0,0,0,0,1\n0,0,0,0,0,0,1\n";
        assert!(parse(text, 2).is_ok_and(|(bodies, _)| bodies.len() == 2));
        assert!(matches!(parse(text, 1), Err((3, what)) if what.contains("more than 1")));
    }

    #[test]
    fn csv_columns_may_have_any_order_and_any_separator() {
        let (bodies, names) =
            parse("name,mass,vx,vy,vz,x,y,z\n\"a, \"\"b\"\"\",7,4,5,6,1,2,3\n,7,4,5,6,1,2,3\n", 9).unwrap();
        assert_eq!((bodies.positions[0], bodies.velocities[0]), ([1.0, 2.0, 3.0, 7.0], [4.0, 5.0, 6.0, 0.0]));
        assert_eq!((names.get(0), names.get(1)), (Some("a, \"b\""), None));
        for text in [
            "x;y;z;vx;vy;vz;Mass;Name\n1;2,0;3;4;5;6;7;Sun",
            "x\ty\tz\tvx\tvy\tvz\tm\tname\n1\t2\t3\t4\t5\t6\t7\tSun",
        ] {
            let (bodies, names) = parse(text, 9).unwrap();
            assert_eq!((bodies.positions[0], names.get(0)), ([1.0, 2.0, 3.0, 7.0], Some("Sun")), "{text:?}");
        }
    }

    #[test]
    fn bodies_and_names_round_trip_through_csv() {
        let text = "x,y,z,vx,vy,vz,m,name\n1,2,3,4,5,6,7,\"Halley, 1P; \"\"dirty\"\"\"\n1,2,3,4,5,6,7,\n";
        let (bodies, names) = parse(text, 9).unwrap();
        let mut written = Vec::new();
        write(&mut written, &bodies, &names).unwrap();
        assert_eq!(parse(&String::from_utf8(written).unwrap(), 9).unwrap(), (bodies, names));
    }
}
