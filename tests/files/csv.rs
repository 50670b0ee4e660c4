//! Tests bodies in CSV files: no digit is lost, and every file is either read or refused with the number of the line.

use std::fs;
use std::path::Path;

use gravitile::base::bodies::{Bodies, FINITE_LIMIT};
use gravitile::base::body_names::BodyNames;
use gravitile::base::error::Error;
use gravitile::base::files::OutputFile;
use gravitile::base::params;
use gravitile::engine::config::Config;
use gravitile::scene::csv;
use proptest::prelude::*;

use crate::support::{engine, gravity};

const HEADER: &str = "x,y,z,vx,vy,vz,m\n";
const ROW: &str = "1,2,3,4,5,6,7\n";

/// Writes `text` to a file and reads it as CSV.
fn load(text: impl AsRef<[u8]>) -> Result<Bodies, Error> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bodies.csv");
    fs::write(&path, text).unwrap();
    csv::load(&path).map(|(bodies, _)| bodies)
}

fn save_to(path: &Path, bodies: &Bodies) -> Result<(), Error> {
    OutputFile::create(path)?.save(|file| csv::write(file, bodies, &BodyNames::default()))
}

fn save(bodies: &Bodies) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bodies.csv");
    save_to(&path, bodies).unwrap();
    fs::read_to_string(path).unwrap()
}

fn one_body() -> Bodies {
    let mut bodies = Bodies::default();
    bodies.push([1.0, 2.0, 3.0], [4.0, 5.0, 6.0], 7.0);
    bodies
}

#[test]
fn a_plain_file_loads() {
    assert_eq!(load(format!("{HEADER}{ROW}")).unwrap(), one_body());
    assert_eq!(save(&one_body()), "x,y,z,vx,vy,vz,m\n1.0,2.0,3.0,4.0,5.0,6.0,7.0\n");
}

#[test]
fn variations_in_whitespace_line_ends_and_number_formats_are_accepted() {
    for text in [
        "x,y,z,vx,vy,vz,m\r\n1,2,3,4,5,6,7\r\n",
        "\u{feff}x,y,z,vx,vy,vz,m\n1,2,3,4,5,6,7\n",
        "\u{feff}\r\n x , y,z,vx,vy,vz,m\n\n  1,\t2 ,3,4,5,6,7  \n\n \r\n\n",
        "x,y,z,vx,vy,vz,m\n+1.0,2e0,.3e1,4.,0.05E2,6,7",
    ] {
        assert_eq!(load(text).unwrap(), one_body(), "{text:?}");
    }
}

#[test]
fn every_fault_is_reported_with_line_and_field() {
    let too_fast = format!("{HEADER}{ROW}1,2,3,4,-1.1e18,6,7\n");
    let too_long = format!("{HEADER}{ROW}{}", "1".repeat(5000));
    let padded = format!("{HEADER}{}1,2,3,4,5,6,7", " ".repeat(5000));
    let after_blanks = format!("{HEADER}\r\n\n{ROW}\n1,2,,4,5,6,7\n");
    let cases: &[(&[u8], u64, &[&str])] = &[
        (b"", 1, &["empty", "x,y,z,vx,vy,vz,m"]),
        (b"\n\n", 1, &["empty"]),
        (b"x,y,z,vx,vy,vz,m\n", 2, &["no bodies"]),
        (b"x,y,z,vx,vy,vz,m\n\n\n", 4, &["no bodies"]),
        (b"x,y,w,vx,vy,vz,m\n1,2,3,4,5,6,7\n", 1, &["field 3", "\"w\"", "expected x,y,z,vx,vy,vz,m"]),
        (b"x,y,z,vx,vy,vz\n1,2,3,4,5,6\n", 1, &["lacks the column m", "expected x,y,z"]),
        (b"x,y,z,vx,vy,vz,m,q\n1,2,3,4,5,6,7,8\n", 1, &["field 8", "\"q\"", "optionally name"]),
        (b"x,y,z,vx,vy,vz,m,mass\n1,2,3,4,5,6,7,8\n", 1, &["\"mass\"", "twice"]),
        (b"x;y;z;vx;vy;vz;m\n1;2;3;4;5,5;6;7\n1,2,3,4,5,6,7\n", 3, &["field x", "\"1,2,3"]),
        (b"m,name,x,y,z,vx,vy,vz\n-1,a,1,2,3,4,5,6\n", 2, &["field m", "\"-1\""]),
        (b"1,2,3,4,5,6,7\n", 1, &["field 1 of the header", "\"1\""]),
        (b"x,y,z,vx,vy,vz,m\n1,2,3,4,5,6,7\n1,2,3,4,5,6\n", 3, &["field m is missing", "expected 7 fields"]),
        (b"x,y,z,vx,vy,vz,m\n1,2,3,4,5,6,7,eight\n", 2, &["\"eight\"", "unexpected field"]),
        (b"x,y,z,vx,vy,vz,m\n1,2,3,four,5,6,7\n", 2, &["field vx", "\"four\"", "a number"]),
        (b"x,y,z,vx,vy,vz,m\n1,2,3,4,5,nan,7\n", 2, &["field vz", "\"nan\""]),
        (b"x,y,z,vx,vy,vz,m\n1,-inf,3,4,5,6,7\n", 2, &["field y", "\"-inf\""]),
        (b"x,y,z,vx,vy,vz,m\n1e39,2,3,4,5,6,7\n", 2, &["field x", "to 1e18"]),
        (too_fast.as_bytes(), 3, &["field vy", "from -1e18"]),
        (b"x,y,z,vx,vy,vz,m\n1,2,3,4,5,6,-1\n", 2, &["field m", "from 0.0"]),
        (b"x,y,z,vx,vy,vz,m\n1,2,3,4,5,6,NaN\n", 2, &["field m"]),
        (after_blanks.as_bytes(), 6, &["field z", "\"\""]),
        (b"x,y,z,vx,vy,vz,m\n1,2,3,4,\xff,6,7\n", 2, &["UTF-8"]),
        (b"x,y,z,vx,vy,vz,m\n1,2,3,4,5,6,\x1b[2J\0\n", 2, &["field m", "\\u{1b}[2J\\0"]),
        (too_long.as_bytes(), 3, &["longer than 1024 bytes"]),
        (padded.as_bytes(), 2, &["longer than 1024 bytes"]),
    ];
    for (text, expected, words) in cases {
        let shown = String::from_utf8_lossy(&text[..text.len().min(60)]);
        match load(text) {
            Err(Error::File { line, what, .. }) => {
                assert_eq!(line, *expected, "{shown:?}: {what}");
                for word in *words {
                    assert!(what.contains(word), "{shown:?}: {what:?} says nothing of {word:?}");
                }
            }
            other => panic!("{shown:?} gave {other:?}"),
        }
    }
}

#[test]
fn the_message_names_file_line_and_field() {
    let text = load(format!("{HEADER}1,2,3,4,5,6,seven")).unwrap_err().to_string();
    let message = "bodies.csv, line 2: field m is \"seven\"; expected a number from 0.0 to 1e18";
    assert!(text.ends_with(message), "{text}");
}

#[test]
fn missing_files_and_folders_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path().join("missing.csv"), folder.path().to_owned()] {
        assert!(matches!(csv::load(&path), Err(Error::Io { doing: "read", .. })), "{path:?}");
    }
}

#[test]
fn a_failed_save_changes_no_files() {
    let folder = tempfile::tempdir().unwrap();
    let names = || fs::read_dir(folder.path()).unwrap().map(|f| f.unwrap().file_name()).collect::<Vec<_>>();
    let taken = folder.path().join("taken");
    fs::create_dir(&taken).unwrap();
    for path in [taken.clone(), folder.path().join("nowhere/bodies.csv")] {
        let saved = save_to(&path, &one_body());
        assert!(matches!(saved, Err(Error::Io { doing: "write", .. })), "{path:?}: {saved:?}");
        assert_eq!(names(), ["taken"]);
    }
    let file = folder.path().join("bodies.csv");
    fs::write(&file, "old").unwrap();
    save_to(&file, &one_body()).unwrap();
    assert_eq!(csv::load(&file).unwrap().0, one_body());
    assert_eq!(names().len(), 2);
}

#[test]
fn a_bare_file_name_refers_to_the_working_folder() {
    let name = Path::new("bare-name-of-tests-csv.csv");
    let saved = save_to(name, &one_body()).and_then(|()| csv::load(name)).map(|(bodies, _)| bodies);
    fs::remove_file(name).unwrap();
    assert_eq!(saved.unwrap(), one_body());
}

#[test]
fn quarantined_bodies_are_saved_as_they_are_and_not_loaded() {
    let mut bodies = one_body();
    bodies.push([0.0; 3], [f32::NAN; 3], 0.0);
    let text = save(&bodies);
    assert!(text.ends_with("\n0.0,0.0,0.0,NaN,NaN,NaN,0.0\n"), "{text}");
    assert!(
        matches!(load(text), Err(Error::File { line: 3, what, .. }) if what.starts_with("field vx is \"NaN\""))
    );
}

/// Generates any coordinate that a file may hold, from random bits: tiny and huge numbers, and both zeros.
fn number() -> impl Strategy<Value = f32> {
    any::<u32>().prop_map(f32::from_bits).prop_filter("in range", |x| x.abs() <= FINITE_LIMIT)
}

fn some_bodies() -> impl Strategy<Value = Bodies> {
    let body = ([number(), number(), number()], [number(), number(), number()], number());
    prop::collection::vec(body, 1..20).prop_map(|rows| {
        let mut bodies = Bodies::default();
        rows.into_iter().for_each(|(at, v, m)| bodies.push(at, v, m.abs()));
        bodies
    })
}

proptest! {
    #[test]
    fn saved_bodies_load_to_the_same_bits(bodies in some_bodies()) {
        let loaded = load(save(&bodies)).unwrap();
        let bits = |rows: &[[f32; 4]]| rows.iter().flatten().map(|x| x.to_bits()).collect::<Vec<_>>();
        prop_assert_eq!(bits(&loaded.positions), bits(&bodies.positions));
        prop_assert_eq!(bits(&loaded.velocities), bits(&bodies.velocities));
    }

    #[test]
    fn a_damaged_file_loads_or_is_refused_with_a_line_number(
        bodies in some_bodies(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        end in any::<prop::sample::Index>(),
    ) {
        let mut text = save(&bodies).into_bytes();
        for (at, byte) in damage {
            let at = at.index(text.len());
            text[at] = byte;
        }
        text.truncate(end.index(text.len() + 1));
        match load(&text) {
            Ok(loaded) => {
                prop_assert!(!loaded.is_empty());
                let all = loaded.positions.iter().chain(&loaded.velocities).flatten();
                prop_assert!(all.into_iter().all(|x| x.abs() <= FINITE_LIMIT));
                prop_assert!(loaded.positions.iter().all(|p| p[3] >= 0.0));
            }
            Err(Error::File { line, .. }) => {
                let lines = text.split(|byte| *byte == b'\n').count() as u64;
                prop_assert!((1..=lines + 1).contains(&line), "line {} of {}", line, lines);
            }
            Err(other) => prop_assert!(false, "{}", other),
        }
    }
}

/// Bodies from a file keep their orbits. With the usual softening length, Mercury's orbit would rotate by an eighth of
/// a circle during one of Mercury's periods.
#[test]
fn mercury_keeps_its_orbit() {
    let text = "name,m,x,y,z,vx,vy,vz\nSun,1,0,0,0,0,0,0\nMercury,0,0.3075,0,0,0,1.9803,0\n";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mercury.csv");
    fs::write(&path, text).unwrap();
    let (bodies, names) = csv::load(&path).unwrap();
    let start = bodies.positions[1];
    let mut config = Config::of_bodies(gravity(), "mercury.csv".as_ref(), bodies, names);
    assert_eq!(config.start.names.to_list(), ["Sun", "Mercury"]);
    let after_a_turn = |config: &Config| {
        let mut engine = engine(config.clone());
        // The semi-major axis is 0.3871, so the period is 1.5133.
        engine.run(15_133, |_| ()).unwrap();
        let end = engine.bodies().unwrap().positions[1];
        (end[0] - start[0]).hypot(end[1] - start[1])
    };
    params::set(config.mode.as_mut(), "dt", "0.0001").unwrap();
    assert!(after_a_turn(&config) < 0.01);
    params::set(config.mode.as_mut(), "eps", "0.05").unwrap();
    assert!(after_a_turn(&config) > 0.1);
}
