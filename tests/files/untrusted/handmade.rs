//! Makes malicious files: things that are not regular files, decompression bombs, and wrong ranges, counts and nesting.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use super::damage::{FLOATS, TEXTS};
use super::formats::{
    Format, carrying, chunk, joined, parts, sealed, sealed_as, tipsy_file, unsealed, with_words,
};

/// Content that is put in place of a valid file.
#[derive(Clone)]
pub(super) enum Made {
    Bytes(Vec<u8>),
    /// A sparse file: these bytes, followed by zeros up to this length, which take no space on the disk.
    Sparse(Vec<u8>, u64),
    Link(&'static str),
    Pipe,
    Folder,
    Missing,
}

impl Made {
    pub(super) fn put(&self, path: &Path) {
        let _ = fs::remove_file(path).or_else(|_| fs::remove_dir(path));
        match self {
            Self::Bytes(bytes) => fs::write(path, bytes).unwrap(),
            Self::Sparse(head, length) => {
                let mut file = File::create(path).unwrap();
                file.write_all(head).unwrap();
                file.set_len(*length).unwrap();
            }
            #[cfg(unix)]
            Self::Link(target) => std::os::unix::fs::symlink(target, path).unwrap(),
            #[cfg(unix)]
            Self::Pipe => {
                let name = std::ffi::CString::new(path.as_os_str().as_encoded_bytes()).unwrap();
                // SAFETY: the name ends with a zero and outlives the call.
                assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
            }
            Self::Folder => fs::create_dir(path).unwrap(),
            #[cfg(not(unix))]
            Self::Link(_) | Self::Pipe => {}
            Self::Missing => {}
        }
    }
}

/// Returns at least 200 damaged files of a format, each with a name.
pub(super) fn all(format: &Format, whole: &[Vec<u8>]) -> Vec<(String, Made)> {
    let mut made = of_any(&whole[0]);
    let bytes = match format.name {
        "snapshot" => snapshots(whole).into_iter().chain(refused(whole)).collect(),
        "picture" => pictures(whole),
        "scene" => texts(whole, " = ").into_iter().chain(scenes()).collect(),
        "settings" => texts(whole, " = ").into_iter().chain(settings()).collect(),
        "tuned" => texts(whole, ":").into_iter().chain(nested()).collect(),
        "csv" => texts(whole, ",").into_iter().chain(csv_files()).collect(),
        "params" | "obstacles" => texts(whole, "\n").into_iter().chain(numbers(&whole[0])).collect(),
        "tipsy" => tipsy_files(),
        _ => kernels(&whole[0]),
    };
    made.extend(bytes.into_iter().map(|(name, bytes)| (name, Made::Bytes(bytes))));
    made
}

type Named = Vec<(String, Vec<u8>)>;

/// Returns damaged files for errors that are possible in any format.
fn of_any(whole: &[u8]) -> Vec<(String, Made)> {
    let mut made = vec![
        ("nothing".to_owned(), Made::Bytes(Vec::new())),
        ("missing".to_owned(), Made::Missing),
        ("folder".to_owned(), Made::Folder),
        ("pipe".to_owned(), Made::Pipe),
    ];
    for target in
        ["/dev/zero", "/dev/null", "/dev/urandom", "/dev/full", "/dev/stdin", "/dev/tty", "/", "nowhere", "."]
    {
        made.push((format!("link to {target}"), Made::Link(target)));
    }
    for shift in [10, 20, 24, 26, 28, 30, 34, 40] {
        made.push((format!("2^{shift} zeros"), Made::Sparse(Vec::new(), 1 << shift)));
        made.push((format!("whole and 2^{shift} zeros"), Made::Sparse(whole.to_vec(), 1 << shift)));
        made.push((
            format!("half and 2^{shift} zeros"),
            Made::Sparse(whole[..whole.len() / 2].to_vec(), 1 << shift),
        ));
    }
    let mut push = |name: String, bytes: Vec<u8>| made.push((name, Made::Bytes(bytes)));
    for length in [1, 2, 3, 4, 7, 8, 15, 16, 20, 27, 28, 29, 31, 32, 33, 64, 100] {
        push(format!("cut at {length}"), whole[..length.min(whole.len())].to_vec());
        push(format!("cut by {length}"), whole[..whole.len().saturating_sub(length)].to_vec());
    }
    for byte in [b'[', b'{', b'"', b'\'', b',', b'\n', b' ', b'9', b'#', b'=', b'.', 0xff, 0x1b] {
        push(format!("a megabyte of {byte}"), vec![byte; 1 << 20]);
        push(format!("whole and 200000 times {byte}"), [whole, &vec![byte; 200_000]].concat());
    }
    for (name, with) in [
        ("a byte order mark", "\u{feff}".as_bytes()),
        ("no UTF-8", b"\xc3\x28\xff"),
        ("a NUL", b"\0"),
        ("an escape", b"\x1b]0;title\x07\x1b[31m"),
        ("a change of direction", "\u{202e}".as_bytes()),
    ] {
        for at in [0, whole.len() / 3, whole.len() / 2, whole.len()] {
            push(format!("{name} at {at}"), [&whole[..at], with, &whole[at..]].concat());
        }
    }
    push("twice".to_owned(), [whole, whole].concat());
    push("UTF-16".to_owned(), whole.iter().flat_map(|byte| [*byte, 0]).collect());
    push(
        "other line ends".to_owned(),
        whole.iter().flat_map(|byte| if *byte == b'\n' { b"\r\n".to_vec() } else { vec![*byte] }).collect(),
    );
    made
}

/// Returns texts in which the value after one `separator` is replaced by another value.
fn texts(whole: &[Vec<u8>], separator: &str) -> Named {
    let mut made = Vec::new();
    for (nth, bytes) in whole.iter().enumerate().take(12) {
        let text = String::from_utf8(bytes.clone()).unwrap();
        for (at, _) in text.match_indices(separator).take(24) {
            let from = at + separator.len();
            let len = text[from..].find([',', '\n', '}', ']', ' ']).unwrap_or(text.len() - from);
            for value in TEXTS {
                let name = format!("{value} at byte {from} of {nth}");
                made.push((name, [&text[..from], value, &text[from + len..]].concat().into_bytes()));
            }
            if at % 7 == 0 {
                made.push((
                    format!("no value at byte {from} of {nth}"),
                    [&text[..from], &text[from + len..]].concat().into_bytes(),
                ));
            }
        }
    }
    // Keeps about 400 of the texts.
    let stride = made.len().div_ceil(400).max(1);
    made.into_iter().step_by(stride).collect()
}

fn nested() -> Named {
    let deep = |open: &str, close: &str, depth: usize| open.repeat(depth) + &close.repeat(depth);
    let mut made = Vec::new();
    for depth in [10, 100, 1000, 100_000] {
        made.push((format!("{depth} deep, lists"), format!("a = {}\n", deep("[", "]", depth)).into_bytes()));
        made.push((
            format!("{depth} deep, tables"),
            format!("a = {}1{}\n", "{a=".repeat(depth), "}".repeat(depth)).into_bytes(),
        ));
        made.push((format!("{depth} deep, keys"), format!("{}a = 1\n", "a.".repeat(depth)).into_bytes()));
        made.push((format!("{depth} deep, headers"), format!("[{}a]\n", "a.".repeat(depth)).into_bytes()));
        made.push((format!("{depth} deep, JSON"), deep("[", "]", depth).into_bytes()));
        made.push((
            format!("{depth} deep, JSON objects"),
            format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth)).into_bytes(),
        ));
    }
    made
}

fn scenes() -> Named {
    let mut made = nested();
    let mut push = |name: &str, text: String| made.push((name.to_owned(), text.into_bytes()));
    let head = "mode = \"gravity\"\ngenerator = \"plummer\"\n";
    push("a long title", format!("{head}title = \"{}\"\n", "A".repeat(15 << 20)));
    for mega in [1, 5] {
        push("a long title in codes", format!("{head}title = \"{}\"\n", "\\u0041".repeat(mega << 17)));
        push("a long key", format!("{head}{} = 1\n", "k".repeat(mega << 20)));
        push("a long parameter", format!("{head}[params]\ndt = \"{}\"\n", "9".repeat(mega << 20)));
        push("a long generator", format!("mode = \"gravity\"\ngenerator = \"{}\"\n", "p".repeat(mega << 20)));
        push("a long mode", format!("mode = \"{}\"\n", "m".repeat(mega << 20)));
        push("many keys", "a=1\n".repeat(mega << 18));
        push(
            "many keys of a table",
            format!(
                "{head}[params]\n{}",
                (0..mega << 16).map(|nth| format!("k{nth}=1\n")).collect::<String>()
            ),
        );
        push("many texts", format!("a = [{}]\n", "'',".repeat(mega << 18)));
        push("empty rows", format!("mode = \"fluid\"\nwalls = \"\"\"{}\"\"\"\n", "\n".repeat(mega << 20)));
        push(
            "short rows",
            format!("mode = \"fluid\"\nwalls = \"\"\"\n{}\"\"\"\n", "...\n".repeat(mega << 18)),
        );
        push("one row", format!("mode = \"fluid\"\nwalls = \"\"\"\n{}\"\"\"\n", ".".repeat(mega << 20)));
        push("commas", format!("mode = \"gravity\"\norbits = \"\"\"{}\"\"\"\n", ",".repeat(mega << 20)));
        push(
            "commas of bodies",
            format!("mode = \"gravity\"\nbodies = \"\"\"{}\"\"\"\n", ",".repeat(mega << 20)),
        );
        push(
            "many bodies",
            format!(
                "mode = \"gravity\"\nbodies = \"\"\"x,y,z,vx,vy,vz,m\n{}\"\"\"\n",
                "0,0,0,0,0,0,1\n".repeat(mega << 15)
            ),
        );
        push(
            "many orbits",
            format!("mode = \"gravity\"\norbits = \"\"\"{}\"\"\"\n", "a,,1\n".repeat(mega << 15)),
        );
    }
    for text in ["\\u001b[2J", "\\u0007", "\\u202e", "\\n\\n\\n", "\\u009b31m", "\\u0000"] {
        for key in ["title", "summary", "mode", "generator", "bodies", "walls", "orbits"] {
            push("codes", format!("mode = \"gravity\"\ngenerator = \"plummer\"\n{key} = \"a{text}b\"\n"));
            push("codes in keys", format!("{head}\"{key}{text}\" = 1\n[params]\n\"{text}\" = 1\n"));
        }
    }
    for twice in ["mode = \"gravity\"", "[params]", "[params]\ndt = 0.1\ndt = 0.2", "[start]\n[start]"] {
        push("twice", format!("{head}{twice}\n{twice}\n"));
    }
    for value in TEXTS {
        for key in ["count", "length", "steps", "pace", "bodies", "title"] {
            push("a value", format!("{key} = {value}\n{head}"));
        }
        for key in [
            "look",
            "look.trails",
            "look.turn",
            "look.palette",
            "camera",
            "camera.pitch",
            "camera.zoom",
            "camera.x",
        ] {
            push("a value", format!("{head}{key} = {value}\n"));
        }
        for key in ["params.dt", "params.eps", "arguments.w0", "start.bodies", "start.seed"] {
            push("a value", format!("{head}{key} = {value}\n"));
        }
        push(
            "a body",
            format!("mode = \"gravity\"\nbodies = \"x,y,z,vx,vy,vz,m\\n{value},0,0,0,0,0,1\"\n")
                .replace("\"\\u001b[31mred\"", "\\u001b"),
        );
    }
    made
}

fn settings() -> Named {
    let mut made = nested();
    for value in TEXTS {
        for key in ["size", "panel", "folder", "look", "look.exposure", "look.palette", "other"] {
            made.push((format!("{key} = {value}"), format!("{key} = {value}\n").into_bytes()));
        }
        made.push((format!("sides of {value}"), format!("size = [{value}, {value}]\n").into_bytes()));
    }
    made
}

fn csv_files() -> Named {
    let mut made = Vec::new();
    let line = |fields: usize| vec!["1"; fields].join(",");
    for fields in [0, 1, 5, 6, 8, 9, 500, 600] {
        made.push((format!("{fields} fields"), format!("x,y,z,vx,vy,vz,m\n{}\n", line(fields)).into_bytes()));
        made.push((
            format!("{fields} fields in a header"),
            format!("{}\n{}\n", line(fields), line(7)).into_bytes(),
        ));
    }
    for field in 0..7 {
        for value in TEXTS.into_iter().chain([
            "1.00000001e18",
            "-1e-45",
            "0x1p3",
            "1_000",
            "٣",
            "+1",
            "1e",
            ".",
            "--1",
        ]) {
            let mut fields = ["1"; 7];
            fields[field] = value;
            made.push((
                format!("{value} in field {field}"),
                format!("x,y,z,vx,vy,vz,m\n{}\n", fields.join(",")).into_bytes(),
            ));
        }
    }
    made.push((
        "many bodies".to_owned(),
        ("x,y,z,vx,vy,vz,m\n".to_owned() + &"0,0,0,0,0,0,1\n".repeat(1 << 18)).into_bytes(),
    ));
    made
}

/// Returns lists of numbers in which one line or one number is replaced.
fn numbers(whole: &[u8]) -> Named {
    let text = String::from_utf8(whole.to_vec()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let mut made = Vec::new();
    let mut push = |name: String, lines: Vec<&str>| made.push((name, (lines.join("\n") + "\n").into_bytes()));
    for nth in 0..lines.len() {
        let with = |line: &[&'static str]| [&lines[..nth], line, &lines[nth + 1..]].concat();
        push(format!("without line {nth}"), [&lines[..nth], &lines[nth + 1..]].concat());
        push(format!("line {nth} twice"), [&lines[..=nth], &lines[nth..]].concat());
        for value in TEXTS {
            push(format!("{value} in line {nth}"), with(&[value]));
        }
        for value in [
            "0 0 1 1",
            "0 0",
            "8 0 1",
            "0 8 1",
            "-1 0 1",
            "0 0 2",
            "0 0 0",
            "1e0 0 1",
            "268435456 1 1",
            "nan nan nan",
        ] {
            push(format!("{value} in line {nth}"), with(&[value]));
        }
    }
    let all = (0..64).map(|nth| format!("{} {} 1\n", nth % 8, nth / 8)).collect::<String>();
    made.push(("all cells".to_owned(), all.into_bytes()));
    made.push(("a large grid".to_owned(), b"1048576\n256\n100\n10\n0.1\n0.005\n1.85\n".to_vec()));
    made.push(("a larger grid".to_owned(), b"1048576\n257\n100\n10\n0.1\n0.005\n1.85\n".to_vec()));
    made
}

fn tipsy_files() -> Named {
    let mut made = Vec::new();
    for is_big in [false, true] {
        let whole = tipsy_file(is_big);
        let mut put = |name: String, at: usize, word: u32| {
            let mut bytes = whole.clone();
            bytes[at..at + 4].copy_from_slice(&if is_big { word.to_be_bytes() } else { word.to_le_bytes() });
            made.push((name, bytes));
        };
        for field in 2..8 {
            for count in [0, 1, 2, 4, 5, 7, 8, 1 << 24, (1 << 24) + 1, 1 << 31, u32::MAX] {
                put(format!("{count} in word {field}"), 4 * field, count);
            }
        }
        for field in 0..7 {
            for value in FLOATS {
                put(format!("{value} in field {field}"), 32 + 4 * field, value.to_bits());
            }
        }
    }
    made
}

fn kernels(whole: &[u8]) -> Named {
    (1..90).map(|nth| (format!("{nth} times"), whole.repeat(nth * nth * 3))).collect()
}

/// Returns snapshots in which a list has other numbers, another length or another place, or in which the text differs;
/// and decompression bombs.
fn snapshots(whole: &[Vec<u8>]) -> Named {
    let mut made = Vec::new();
    for (of, file) in whole.iter().enumerate() {
        let (words, lists) = parts(file);
        for nth in 0..lists.len() {
            let name = lists[nth].0.clone();
            let mut push = |what: String, list: Vec<u8>| {
                let mut lists = lists.clone();
                lists[nth].1 = list;
                made.push((format!("{name} of {of}: {what}"), joined(words.clone(), &lists)));
            };
            let list = &lists[nth].1;
            for value in FLOATS {
                let bytes = value.to_le_bytes();
                // These positions cover most of the meanings that numbers have in rows of several numbers.
                for at in [0, 1, 2, 3, 7, list.len() / 8, (list.len() / 4).saturating_sub(1)] {
                    let mut list = list.clone();
                    list.iter_mut().skip(4 * at).zip(bytes).for_each(|(byte, new)| *byte = new);
                    push(format!("{value} at {at}"), list);
                }
                push(format!("{value} in all"), bytes.iter().copied().cycle().take(list.len()).collect());
            }
            for more in [1, 4, 8, 16, 36] {
                push(format!("{more} bytes more"), [&list[..], &vec![0; more]].concat());
                push(format!("{more} bytes fewer"), list[..list.len().saturating_sub(more)].to_vec());
            }
            push("none".to_owned(), Vec::new());
            push("twice as long".to_owned(), [&list[..], list].concat());
            for other in [
                "9.positions",
                "positions",
                "00.positions",
                "0.extra.other",
                "0.extra.",
                "",
                &lists[0].0,
                "0.scene.positions",
            ] {
                let mut lists = lists.clone();
                lists[nth].0 = other.to_owned();
                made.push((format!("{name} of {of} called {other:?}"), joined(words.clone(), &lists)));
            }
            let mut fewer = lists.clone();
            fewer.remove(nth);
            made.push((format!("{name} of {of} is missing"), joined(words.clone(), &fewer)));
            // The text claims that the list is longer than it is.
            let text = toml::to_string(&words).unwrap();
            for length in [1i64 << 30, 3 << 30, i64::MAX, -1, 0] {
                let right = format!("[\"{name}\", {}]", list.len());
                assert!(text.contains(&right));
                let text = text.replace(&right, &format!("[\"{name}\", {length}]"));
                let all: Vec<u8> = lists.iter().flat_map(|(_, list)| list.clone()).collect();
                made.push((format!("{name} of {of} says {length}"), with_words(&text, &all)));
            }
        }
        let text = toml::to_string(&words).unwrap();
        let all: Vec<u8> = lists.iter().flat_map(|(_, list)| list.clone()).collect();
        for (name, words) in texts(&[text.clone().into_bytes()], " = ") {
            made.push((
                format!("word {name} of {of}"),
                sealed(&[&(words.len() as u32).to_le_bytes()[..], &words, &all].concat()),
            ));
        }
        for (name, words) in nested() {
            made.push((
                format!("words {name}"),
                with_words(&(text.clone() + std::str::from_utf8(&words).unwrap()), &all),
            ));
        }
    }
    // Keeps about 900 of the snapshots, of every kind.
    let stride = made.len().div_ceil(900).max(1);
    let mut made: Named = made.into_iter().step_by(stride).collect();
    made.extend(bombs(&whole[0]));
    made
}

/// Returns small files that decompress to large ones.
fn bombs(whole: &[u8]) -> Named {
    let (words, lists) = parts(whole);
    let text = toml::to_string(&words).unwrap();
    let zeros = |mega: usize| vec![0; mega << 20];
    let mut made = Vec::new();
    for mega in [64, 200] {
        made.push((format!("{mega} MB behind the lists"), sealed(&[unsealed(whole), zeros(mega)].concat())));
        made.push((format!("{mega} MB of nothing"), sealed(&zeros(mega))));
        made.push((format!("{mega} MB that say 1"), sealed_as(&zeros(mega), 1)));
        let count = (((mega << 20) - 4) as u32).to_le_bytes();
        for byte in *b"a\n[#'" {
            made.push((
                format!("{mega} MB of words, all {byte}"),
                sealed(&[&count[..], &vec![byte; (mega << 20) - 4]].concat()),
            ));
        }
        // The text part claims the same lengths as the lists of zeros.
        let (mut words, mut lists) = (words.clone(), lists.clone());
        let run = words["runs"].as_array_mut().unwrap()[0].as_table_mut().unwrap();
        run.insert("size".to_owned(), ((mega << 16) as i64).into());
        lists[0].1 = zeros(mega);
        lists[1].1 = zeros(mega);
        made.push((format!("{mega} MB of bodies without a mass"), joined(words, &lists)));
    }
    let keys: String = (0..1 << 20).map(|nth| format!("k{nth} = 1\n")).collect();
    made.push(("a million keys".to_owned(), with_words(&keys, &[])));
    let title = text.replacen("title = \"", &format!("title = \"{}", "A".repeat(15 << 20)), 1);
    let all: Vec<u8> = lists.into_iter().flat_map(|(_, list)| list).collect();
    made.push(("a long title".to_owned(), with_words(&title, &all)));
    for length in [0, 1, 27, 1 << 20, 1 << 35, (1 << 35) + 1, u64::MAX] {
        made.push((format!("it says that it has {length} bytes"), sealed_as(&unsealed(whole), length)));
    }
    made
}

/// Prefix of the names of those files that must be refused.
pub(super) const REFUSED: &str = "refused: ";

/// Returns snapshots of 300 MB of zeros that claim to be the lists of flows, and a snapshot with one mode twice.
fn refused(whole: &[Vec<u8>]) -> Named {
    const CELLS: usize = 2900;
    let table = |text: &str| toml::from_str::<toml::Table>(text).unwrap();
    let of = |file: usize, grid: [usize; 2], size: usize, lists: &[(&str, usize)]| {
        let (mut words, _) = parts(&whole[file]);
        let runs = words["runs"].as_array_mut().unwrap();
        runs.truncate(1);
        let run = runs[0].as_table_mut().unwrap();
        let [nx, ny] = grid;
        let grid = table(&format!("nx = {nx}\nny = {ny}\nlength = 1.0\nstep = 0\nrest = 0.1\n"));
        run.insert("grid".to_owned(), grid.into());
        run.insert("size".to_owned(), (size as i64).into());
        let rows = lists.iter().map(|(name, bytes)| {
            toml::Value::Array(vec![format!("0.{name}").into(), (*bytes as i64).into()])
        });
        words.insert("lists".to_owned(), rows.collect::<Vec<_>>().into());
        let words = toml::to_string(&words).unwrap();
        let zeros = lists.iter().map(|(_, bytes)| bytes).sum();
        let head = [&(words.len() as u32).to_le_bytes()[..], words.as_bytes()].concat();
        super::formats::sealed_with_zeros(&head, zeros)
    };
    let size = CELLS * CELLS;
    let flow = [("solid", size), ("deviations", 36 * size), ("tracers", 0), ("told", 0)];
    let halves =
        [("solid", 9), ("deviations", 36 * 9), ("tracers", 0), ("told", 0), ("extra.halves", 36 * size)];
    let (words, lists) = parts(&whole[3]);
    let mut twice = words.clone();
    let runs = twice["runs"].as_array_mut().unwrap();
    runs.push(runs[0].clone());
    let again = lists.iter().map(|(name, list)| (name.replacen("0.", "1.", 1), list.clone()));
    let both: Vec<_> = lists.iter().cloned().chain(again).collect();
    [
        ("a flow at rest", of(3, [CELLS; 2], size, &flow)),
        ("bodies with a grid", of(0, [CELLS; 2], size, &flow)),
        ("cells that are not the size", of(3, [3; 2], size, &halves)),
        ("more halves than cells", of(3, [3; 2], 9, &halves)),
        ("two scenes of a mode", joined(twice, &both)),
    ]
    .into_iter()
    .map(|(name, bytes)| (format!("{REFUSED}{name}"), bytes))
    .collect()
}

fn pictures(whole: &[Vec<u8>]) -> Named {
    let snapshot =
        |picture: &[u8]| match gravitile::engine::snapshot::Carried::read(std::io::Cursor::new(picture)) {
            Ok(gravitile::engine::snapshot::Carried::Snapshot(snapshot)) => snapshot.to_bytes().ok(),
            _ => None,
        };
    let carried: Vec<Vec<u8>> = whole.iter().filter_map(|picture| snapshot(picture)).collect();
    let scenes = whole.last().map(|picture| picture[16..].to_vec()).unwrap_or_default();
    let mut made = Vec::new();
    made.extend(
        snapshots(&carried).into_iter().step_by(4).map(|(name, bytes)| (name, carrying(b"gvSt", &bytes))),
    );
    made.extend(self::scenes().into_iter().step_by(4).map(|(name, bytes)| (name, carrying(b"gvSc", &bytes))));
    let magic = b"\x89PNG\r\n\x1a\n";
    let noise: Vec<u8> = (0..15u32 << 20).map(|nth| (nth.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    for name in [b"zTXt", b"iTXt", b"IDAT", b"gvSt", b"gvSc", b"gvXx"] {
        made.push((format!("15 MB of {name:?}"), carrying(name, &noise)));
        made.push((
            format!("{name:?} before what is carried"),
            [&magic[..], &chunk(name, &noise[..99]), &whole[0][8..]].concat(),
        ));
    }
    for length in [0, 1, 1 << 24, (1 << 24) + 1, i32::MAX as u32, u32::MAX] {
        for name in [b"zTXt", b"gvSt", b"gvSc", b"\0\0\0\0"] {
            made.push((
                format!("{name:?} of {length} bytes"),
                [&magic[..], &length.to_be_bytes(), name, &scenes].concat(),
            ));
        }
    }
    made.push(("many chunks".to_owned(), [&magic[..], &chunk(b"teXt", &[]).repeat(1 << 18)].concat()));
    made
}
