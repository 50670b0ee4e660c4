//! Tests reading and writing the files of the teaching code.

use std::fs;
use std::path::PathBuf;

use gravitile::base::error::Result;
use gravitile::base::flow::{Flow, Walls};
use gravitile::scene::fluid::files::{Case, load_case, load_obstacles, write_final_state, write_mean_speeds};

const CASE: [&str; 7] = ["4", "5", "100", "10", "0.1", "0.005", "1.85"];

fn with_file<T>(text: &str, read: impl FnOnce(&PathBuf) -> T) -> T {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("input");
    fs::write(&path, text).unwrap();
    read(&path)
}

fn case(lines: &[&str]) -> Result<Case> {
    with_file(&lines.join("\n"), |path| load_case(path))
}

fn walls(text: &str) -> Result<Walls> {
    with_file(text, |path| load_obstacles(path, &case(&CASE).unwrap()))
}

#[test]
fn parameters_are_read() {
    let expected =
        Case { nx: 4, ny: 5, steps: 100, reynolds_dim: 10, density: 0.1, accel: 0.005, omega: 1.85 };
    assert_eq!(case(&CASE).unwrap(), expected);
    let with_blanks = format!("\u{feff}{}\r\n\r\n", CASE.join(" \r\n"));
    assert_eq!(with_file(&with_blanks, |path| load_case(path)).unwrap(), expected);
}

#[test]
fn bad_parameters_are_refused_by_line() {
    for (line, bad, words) in [
        (1, "2", "nx is"),
        (1, "x", "nx is \"x\""),
        (2, "9999999", "ny is"),
        (3, "-1", "steps is"),
        (3, "1e3", "steps is"),
        (4, "0", "reynolds_dim is"),
        (5, "0", "density is"),
        (5, "-0.1", "density is"),
        (5, "inf", "density is"),
        (6, "NaN", "accel is"),
        (6, "0", "accel is \"0\"; expected a number from 1e-8 to 0.5"),
        (7, "2", "omega is \"2\"; expected a number from 0.01 to 1.999"),
        (7, "1.9995", "omega is"),
        (7, "0", "omega is"),
    ] {
        let mut lines = CASE;
        lines[line - 1] = bad;
        let why = case(&lines).unwrap_err().to_string();
        assert!(why.contains(&format!("line {line}: ")) && why.contains(words), "{bad}: {why}");
    }
    let why = case(&CASE[..6]).unwrap_err().to_string();
    assert!(why.contains("line 7: the line with omega is missing"), "{why}");
    let why = case(&[&CASE[..], &["1"]].concat()).unwrap_err().to_string();
    assert!(why.contains("line 8: unexpected line \"1\""), "{why}");
    let why = case(&["1000000", "1000000"]).unwrap_err().to_string();
    assert!(why.contains("line 2: ") && why.contains("too many"), "{why}");
}

#[test]
fn obstacles_are_read() {
    let read = walls("0 0 1\n\n1 3 1\n0 0 1\n").unwrap();
    let expected = Walls::new(4, 5, 10.0, |x, y| (x, y) == (0, 0) || (x, y) == (1, 3));
    assert_eq!(read, expected);
    assert_eq!(walls("").unwrap().free(), 20);
}

#[test]
fn bad_obstacles_are_refused_by_line() {
    for (text, line, words) in [
        ("0 0 1\n4 0 1\n", 2, "x is \"4\"; expected a whole number from 0 to 3"),
        ("0 5 1", 1, "y is"),
        ("-1 0 1", 1, "x is"),
        ("0 0 0", 1, "blocked is \"0\"; expected 1"),
        ("0 0", 1, "not three numbers"),
        ("0 0 1 1", 1, "not three numbers"),
        ("a b c", 1, "x is"),
    ] {
        let why = walls(text).unwrap_err().to_string();
        assert!(why.contains(&format!("line {line}: ")) && why.contains(words), "{text}: {why}");
    }
    let all: String = (0..20).map(|i| format!("{} {} 1\n", i % 4, i / 4)).collect();
    let why = walls(&all).unwrap_err().to_string();
    assert!(why.contains("line 20: all cells are blocked"), "{why}");
}

#[test]
fn results_are_written_in_the_format_of_the_checker() {
    let mut flow = Flow::at_rest(Walls::new(2, 1, 1.0, |x, _| x == 1), 0.1, 0);
    flow.cells[0][1] += 0.01;
    let mut text = Vec::new();
    write_final_state(&mut text, &flow, 0.1).unwrap();
    let text = String::from_utf8(text).unwrap();
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(' ').collect()).collect();
    assert_eq!(
        rows[1],
        [
            "1",
            "0",
            "0.000000000000E+00",
            "0.000000000000E+00",
            "0.000000000000E+00",
            "3.333333383004E-02",
            "1"
        ]
    );
    assert_eq!((rows[0].len(), rows[0][0], rows[0][6]), (7, "0", "0"));
    let number = |k: usize| rows[0][k].parse::<f64>().unwrap();
    assert!((number(2) - 0.01 / 0.11).abs() < 1e-6 && number(3) == 0.0 && number(4) == number(2));
    assert!((number(5) - 0.11 / 3.0).abs() < 1e-6);

    let mut text = Vec::new();
    write_mean_speeds(&mut text, &[1.25e-2, 1e-100, 12.0]).unwrap();
    let expected = "0:\t1.250000000000E-02\n1:\t1.000000000000E-100\n2:\t1.200000000000E+01\n";
    assert_eq!(String::from_utf8(text).unwrap(), expected);
}
