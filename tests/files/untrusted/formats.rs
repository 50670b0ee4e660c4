//! Lists every file format that the program reads, each with valid files, a function that reads a file, and checks of
//! the contents.

use std::io::{Cursor, Read};
use std::path::Path;
use std::sync::LazyLock;

use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use gravitile::app::settings::Settings;
use gravitile::base::bodies::{Bodies, FINITE_LIMIT};
use gravitile::base::body_names::BodyNames;
use gravitile::base::error::{Error, Result};
use gravitile::base::state::State;
use gravitile::engine::config::Config;
use gravitile::engine::kernel_lab;
use gravitile::engine::snapshot::{Carried, Run, Snapshot, embed};
use gravitile::engine::tuned::Tuned;
use gravitile::modes::MODES;
use gravitile::scene::fluid::files::{load_case, load_obstacles};
use gravitile::scene::{Origin, Scene, csv, tipsy};
use rand::RngExt;
use rand::rngs::StdRng;

use super::damage::damaged;
use crate::support::{cpu, engine};

/// A file format that the program reads.
pub(super) struct Format {
    pub name: &'static str,
    /// Name of a test file in this format. The name starts with a folder if the program reads a folder.
    pub file: &'static str,
    /// Function that returns valid files in this format. It may need a device.
    pub whole: fn() -> Vec<Vec<u8>>,
    /// Function that reads the file, checks the contents, and returns the memory in bytes that the contents may take.
    pub read: fn(&Path) -> Result<u64>,
    /// Function that returns a file with errors inside the part that checksums protect.
    pub damaged: fn(&[u8], &mut StdRng) -> Vec<u8>,
}

/// All formats that consist of single files.
pub(super) static FORMATS: [Format; 9] = [
    Format {
        name: "snapshot",
        file: "a.gravitile",
        whole: || SNAPSHOTS.clone(),
        read: |path| Ok(check_snapshot(&Snapshot::load(path)?)),
        damaged: damaged_snapshot,
    },
    Format {
        name: "picture",
        file: "a.png",
        whole: pictures,
        read: |path| match Carried::load(path)? {
            Carried::Snapshot(snapshot) => Ok(check_snapshot(&snapshot)),
            Carried::Scene(config) => Ok(check_scene(&config)),
        },
        damaged: damaged_picture,
    },
    Format {
        name: "scene",
        file: "a.toml",
        whole: scenes,
        read: |path| Ok(check_scene(&Config::load(path)?)),
        damaged,
    },
    Format {
        name: "csv",
        file: "a.csv",
        whole: csv_files,
        read: |path| Ok(check_loaded(&csv::load(path)?.0)),
        damaged,
    },
    Format {
        name: "tipsy",
        file: "a.tipsy",
        whole: || [false, true].map(tipsy_file).into(),
        read: |path| Ok(check_loaded(&tipsy::load(path)?)),
        damaged,
    },
    Format {
        name: "params",
        file: "a.params",
        whole: || vec![CASE.as_bytes().to_vec()],
        read: |path| {
            let case = load_case(path)?;
            let cells = case.nx * case.ny;
            assert!(case.nx >= 3 && case.ny >= 3 && cells <= 1 << 28, "{case:?}");
            let numbers = [case.density, case.accel, case.omega];
            assert!(numbers.iter().all(|x| (1e-8..=10.0).contains(x)), "{case:?}");
            Ok(0)
        },
        damaged,
    },
    Format {
        name: "obstacles",
        file: "a.dat",
        whole: || vec![b"0 0 1\n1 0 1\n2 5 1\n7 7 1\n".to_vec()],
        read: |path| {
            let case = path.with_extension("case");
            std::fs::write(&case, CASE).unwrap();
            let walls = load_obstacles(path, &load_case(&case)?)?;
            assert!(walls.solid.len() == 64 && walls.free() > 0);
            Ok(64)
        },
        damaged,
    },
    Format {
        name: "settings",
        file: "settings.toml",
        whole: || {
            vec![
                b"size = [900, 700]\npanel = false\nfolder = \"/tmp\"\n\n[look]\nexposure = \"2\"\n".to_vec(),
            ]
        },
        read: |path| {
            let settings = Settings::load(path)?;
            let (width, height) = settings.size;
            assert!([width, height].iter().all(|side| (320..=1 << 15).contains(side)), "{settings:?}");
            let again = path.with_extension("again");
            settings.save(&again)?;
            // Compares text, because a value that another version wrote may be NaN, which is not equal to itself.
            assert_eq!(format!("{:?}", Settings::load(&again)?), format!("{settings:?}"));
            Ok(0)
        },
        damaged,
    },
    Format {
        name: "tuned",
        file: "tuned.json",
        whole: || {
            let winner = r#"{"device":"a","driver":"b","mode":"gravity","bodies":4096,"variant":"tiled","fingerprint":12,"work_group":64,"knobs":{"unroll":4},"pairs_per_second":1e9}"#;
            vec![format!(r#"{{"version":1,"winners":[{winner},{winner}]}}"#).into_bytes()]
        },
        read: |path| {
            let tuned = Tuned::load(path)?;
            let again = path.with_extension("again");
            let _ = std::fs::remove_file(&again);
            tuned.save(&again)?;
            Tuned::load(&again).map(|_| 0)
        },
        damaged,
    },
];

/// The format of a kernel folder. It is not in [`FORMATS`], because its test replaces one of several files.
pub(super) static KERNELS: Format = Format {
    name: "kernels",
    file: "gravity/tiled.cl",
    whole: || vec![b"// A kernel.\n__kernel void advance(const uint n) {}\n".to_vec()],
    read: |path| {
        let folder = path.parent().and_then(Path::parent).unwrap();
        std::fs::write(folder.join("prelude.cl"), "// one that is there").unwrap();
        let edits = kernel_lab::read(folder)?;
        let all: usize = edits.values().map(String::len).sum();
        assert!(all <= 2 << 20);
        Ok(all as u64)
    },
    damaged,
};

const CASE: &str = "8\n8\n100\n10\n0.1\n0.005\n1.85\n";

/// Checks that an error is a sentence that fits on the screen and contains no terminal commands.
pub(super) fn check_error(error: &Error) {
    let text = error.to_string();
    assert!((5..2500).contains(&text.chars().count()), "{text:?}");
    assert!(!text.chars().any(char::is_control), "{text:?}");
}

fn check_label(text: &str) {
    assert!(text.chars().count() <= 1001 && !text.chars().any(char::is_control), "{text:?}");
}

/// Checks bodies from a file that may not contain quarantined bodies. Returns their size in bytes.
fn check_loaded(bodies: &Bodies) -> u64 {
    assert_eq!(bodies.nonfinite(), 0);
    let size = check_bodies(bodies);
    let mut text = Vec::new();
    csv::write(&mut text, bodies, &BodyNames::default()).unwrap();
    size
}

/// Checks that each body is within bounds or quarantined. Returns the size of the bodies in bytes.
fn check_bodies(bodies: &Bodies) -> u64 {
    assert!(!bodies.is_empty() && bodies.positions.len() == bodies.velocities.len());
    for ([x, y, z, m], v) in bodies.positions.iter().zip(&bodies.velocities) {
        assert!([x, y, z].iter().all(|c| c.abs() <= FINITE_LIMIT) && (0.0..=FINITE_LIMIT).contains(m));
        assert!(v.iter().all(|c| c.abs() <= FINITE_LIMIT) || v[..3].iter().all(|c| c.is_nan()), "{v:?}");
    }
    32 * bodies.len() as u64
}

/// Checks that writing and reading a snapshot keeps its bytes. Returns the memory that this may take, in bytes.
fn check_snapshot(snapshot: &Snapshot) -> u64 {
    let bytes: u64 = snapshot.runs.iter().map(check_run).sum();
    let once = snapshot.to_bytes().unwrap();
    assert!(Snapshot::from_bytes(&once).unwrap().to_bytes().unwrap() == once);
    // After writing and reading, the contents are in memory twice.
    2 * bytes + once.len() as u64
}

fn check_run(run: &Run) -> u64 {
    check_scene_of(&run.config.start);
    assert!(run.time.is_finite() && run.baseline.is_none_or(f64::is_finite));
    let state = match &run.state {
        State::Bodies(bodies) => check_bodies(bodies),
        State::Flow(flow) => {
            let (nx, ny) = (flow.walls.nx, flow.walls.ny);
            let extra = run.extra.get("tracers").map_or(&[][..], |list| list.as_chunks().0);
            for at in flow.tracers.iter().chain(extra) {
                let is_inside = at[0] >= 0.0 && at[0] < nx as f32 && at[1] >= 0.0 && at[1] < ny as f32;
                assert!(*at == [-1.0; 2] || is_inside || run.state.has_blown_up(), "{at:?} of {nx} × {ny}");
            }
            assert!(flow.cells.len() == nx * ny && flow.walls.free() > 0);
            37 * (nx * ny) as u64 + 8 * flow.tracers.len() as u64
        }
    };
    let is_kept = |list: &str| run.config.mode.info().carries.iter().any(|row| row.name == list);
    assert!(run.extra.keys().all(|list| is_kept(list)));
    state + run.extra.values().map(|list| 4 * list.len() as u64).sum::<u64>() + 8 * run.series.len() as u64
}

fn check_scene_of(scene: &Scene) {
    [&scene.name, &scene.title, &scene.summary].into_iter().for_each(|text| check_label(text));
    if let Origin::Bodies(bodies) = &scene.origin {
        check_bodies(bodies);
    }
}

/// Checks a scene that was read, and writes it as text. Returns the memory that this may take, in bytes.
fn check_scene(config: &Config) -> u64 {
    check_scene_of(&config.start);
    match config.to_file() {
        Ok(text) => 4 * text.len() as u64,
        // A scene file cannot hold quarantined bodies.
        Err(error) => {
            check_error(&error);
            0
        }
    }
}

/// Snapshots of each mode and memory layout. One of them also holds a second mode, and one has bodies from a file.
static SNAPSHOTS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let config = |nth: usize| {
        let mut config = Config { bodies: Some(100), ..Config::new(MODES[nth % MODES.len()]) };
        if nth == 3 {
            config = Config { bodies: Some(100), ..Config::new(MODES[2]) };
            config.variant = MODES[2].variant("half");
        }
        // With the default number of tracers, the snapshot would consist mostly of tracers.
        let _ = gravitile::base::params::set(config.mode.as_mut(), "tracers", "40");
        config
    };
    let snapshot = |nth: usize| {
        let mut engine = engine(config(nth));
        let mut next = config(nth % MODES.len() + 1);
        if nth == 2 {
            let mut bodies = self::engine(config(0)).bodies().unwrap();
            bodies.velocities[5] = [f32::NAN; 4];
            next = config(0);
            next.start = Scene::of_bodies("own", bodies);
        }
        engine.run(2, |_| ()).unwrap();
        if nth != 3 {
            engine.configure(next).unwrap();
            engine.run(2, |_| ()).unwrap();
        }
        engine.snapshot().unwrap().to_bytes().unwrap()
    };
    (0..4).map(snapshot).collect()
});

/// Offsets of the checksum and of the compressed part in a snapshot file.
const SEAL: [usize; 2] = [16, 28];

/// Returns the uncompressed contents of a snapshot file.
pub(super) fn unsealed(file: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    ZlibDecoder::new(&file[SEAL[1]..]).read_to_end(&mut body).unwrap();
    body
}

/// Returns a snapshot file with the contents `body`, which claims a length of `length` bytes and has a valid checksum.
pub(super) fn sealed_as(body: &[u8], length: u64) -> Vec<u8> {
    sealed_by(length, flate2::Compression::fast(), &mut { body })
}

/// Returns the smallest snapshot file that holds `head` and `zeros` zeros.
pub(super) fn sealed_with_zeros(head: &[u8], zeros: usize) -> Vec<u8> {
    let mut body = head.chain(std::io::repeat(0).take(zeros as u64));
    sealed_by((head.len() + zeros) as u64, flate2::Compression::best(), &mut body)
}

fn sealed_by(length: u64, compression: flate2::Compression, body: &mut impl Read) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(length.to_le_bytes().to_vec(), compression);
    std::io::copy(body, &mut encoder).unwrap();
    let rest = encoder.finish().unwrap();
    let crc = crc32fast::hash(&rest);
    [b"\x89GRAVITILE\r\n\x1a\n\x01\0", &crc.to_le_bytes()[..], &rest].concat()
}

pub(super) fn sealed(body: &[u8]) -> Vec<u8> {
    sealed_as(body, body.len() as u64)
}

/// Splits a snapshot file into its text part and its lists with their names.
pub(super) fn parts(file: &[u8]) -> (toml::Table, Vec<(String, Vec<u8>)>) {
    let body = unsealed(file);
    let count = u32::from_le_bytes(body[..4].try_into().unwrap()) as usize;
    let words: toml::Table = toml::from_str(std::str::from_utf8(&body[4..4 + count]).unwrap()).unwrap();
    let mut rest = &body[4 + count..];
    let lists = words["lists"].as_array().unwrap().iter().map(|row| {
        let length = row[1].as_integer().unwrap() as usize;
        let (list, after) = rest.split_at(length);
        rest = after;
        (row[0].as_str().unwrap().to_owned(), list.to_vec())
    });
    let lists = lists.collect();
    (words, lists)
}

/// Joins a text part and lists into the contents of a snapshot file, and puts the lengths of the lists into the text.
pub(super) fn joined(mut words: toml::Table, lists: &[(String, Vec<u8>)]) -> Vec<u8> {
    let row = |(name, list): &(String, Vec<u8>)| {
        toml::Value::Array(vec![name.clone().into(), (list.len() as i64).into()])
    };
    words.insert("lists".to_owned(), lists.iter().map(row).collect::<Vec<_>>().into());
    with_words(
        &toml::to_string(&words).unwrap(),
        &lists.iter().flat_map(|(_, list)| list.clone()).collect::<Vec<_>>(),
    )
}

pub(super) fn with_words(words: &str, lists: &[u8]) -> Vec<u8> {
    sealed(&[&(words.len() as u32).to_le_bytes(), words.as_bytes(), lists].concat())
}

/// Damages a snapshot: in one of four cases the file itself, otherwise its contents, its text part or a list.
fn damaged_snapshot(whole: &[u8], rng: &mut StdRng) -> Vec<u8> {
    match rng.random_range(0..4) {
        0 => damaged(whole, rng),
        1 => sealed(&damaged(&unsealed(whole), rng)),
        2 => {
            let (words, lists) = parts(whole);
            let words = damaged(toml::to_string(&words).unwrap().as_bytes(), rng);
            let lists: Vec<u8> = lists.into_iter().flat_map(|(_, list)| list).collect();
            sealed(&[&(words.len() as u32).to_le_bytes()[..], &words, &lists].concat())
        }
        _ => {
            let (words, mut lists) = parts(whole);
            let nth = rng.random_range(0..lists.len());
            lists[nth].1 = damaged(&lists[nth].1, rng);
            joined(words, &lists)
        }
    }
}

/// Returns pictures of 3 × 2 pixels that contain each of the snapshots, and one that contains a scene.
fn pictures() -> Vec<Vec<u8>> {
    let png = gravitile::export::film::png(&image::RgbImage::new(3, 2)).unwrap();
    let snapshots = SNAPSHOTS.iter().map(|bytes| Snapshot::from_bytes(bytes).unwrap());
    let scene = Config::new(MODES[1]).to_file().unwrap();
    let carriers = snapshots.map(|snapshot| embed(&png, &snapshot).unwrap().0);
    carriers.chain([carrying(b"gvSc", scene.as_bytes())]).collect()
}

/// Returns a picture without pixels that has a chunk called `name` with `data` and a valid checksum.
pub(super) fn carrying(name: &[u8; 4], data: &[u8]) -> Vec<u8> {
    [&b"\x89PNG\r\n\x1a\n"[..], &chunk(name, data), b"\0\0\0\0IEND\xae\x42\x60\x82"].concat()
}

pub(super) fn chunk(name: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let whole = [&name[..], data].concat();
    [&(data.len() as u32).to_be_bytes()[..], &whole, &crc32fast::hash(&whole).to_be_bytes()].concat()
}

fn damaged_picture(whole: &[u8], rng: &mut StdRng) -> Vec<u8> {
    if rng.random_range(0..4) == 0 {
        return damaged(whole, rng);
    }
    match Carried::read(Cursor::new(whole)).unwrap() {
        Carried::Snapshot(snapshot) => {
            carrying(b"gvSt", &damaged_snapshot(&snapshot.to_bytes().unwrap(), rng))
        }
        Carried::Scene(config) => carrying(b"gvSc", &damaged(config.to_file().unwrap().as_bytes(), rng)),
    }
}

fn scenes() -> Vec<Vec<u8>> {
    let text = |(info, nth): (&'static gravitile::modes::ModeInfo, usize)| {
        let mut config = Config { bodies: Some(100), ..Config::new(info) };
        config.select_scene(&info.scenes[nth]);
        config.to_file().unwrap().into_bytes()
    };
    let all = MODES.iter().flat_map(|info| (0..info.scenes.len()).map(move |nth| (*info, nth)));
    let own = "mode = \"gravity\"\nbodies = \"\"\"\nx,y,z,vx,vy,vz,m\n1,0,0,0,1,0,1\n0,1,0,0,0,1,2\n\"\"\"\n";
    let walls = "mode = \"fluid\"\nlength = 2\nwalls = \"\"\"\n####\n#..#\n#.##\n####\n\"\"\"\n";
    all.map(text)
        .filter(|text| text.len() < 1 << 14)
        .chain([own, walls].map(|text| text.as_bytes().to_vec()))
        .collect()
}

fn csv_files() -> Vec<Vec<u8>> {
    let mut text = Vec::new();
    csv::write(
        &mut text,
        &engine(Config { bodies: Some(40), ..Config::new(MODES[0]) }).bodies().unwrap(),
        &BodyNames::default(),
    )
    .unwrap();
    vec![text, b"x,y,z,vx,vy,vz,m\n0,0,0,0,0,0,1\n".to_vec()]
}

/// Returns a Tipsy file of two gas, three dark-matter and one star particle.
pub(super) fn tipsy_file(is_big: bool) -> Vec<u8> {
    let word = |x: u32| if is_big { x.to_be_bytes() } else { x.to_le_bytes() };
    let number = |x: f32| if is_big { x.to_be_bytes() } else { x.to_le_bytes() };
    let mut bytes = if is_big { 0.5f64.to_be_bytes() } else { 0.5f64.to_le_bytes() }.to_vec();
    bytes.extend([6, 3, 2, 3, 1, 0].map(word).concat());
    for (nth, fields) in [12, 12, 9, 9, 9, 11].into_iter().enumerate() {
        bytes.extend((0..fields).flat_map(|field| number((10 * nth + field) as f32)));
    }
    bytes
}

/// Runs two steps of the simulation in a file and draws the result. No contents of a file may make all bodies invalid.
pub(super) fn step(format: &str, path: &Path) -> bool {
    let begun = |config: Config| gravitile::engine::Engine::new(cpu(), config);
    let resumed = |snapshot: Snapshot| gravitile::engine::Engine::resume(cpu(), snapshot, &Tuned::default());
    let small = |mut config: Config| {
        config.bodies = Some(config.bodies.unwrap_or(100).min(100));
        config
    };
    let of = |bodies: Bodies| {
        let start = Scene::of_bodies("file", bodies);
        begun(Config { start, ..Config::new(MODES[0]) })
    };
    let engine = match format {
        "snapshot" => resumed(Snapshot::load(path).unwrap()),
        "picture" => match Carried::load(path).unwrap() {
            Carried::Snapshot(snapshot) => resumed(*snapshot),
            Carried::Scene(config) => begun(small(*config)),
        },
        "scene" => match Config::load(path).unwrap() {
            config if config.start.bodies.is_some_and(|count| count > 1 << 16) => return false,
            config => begun(small(config)),
        },
        "csv" => of(csv::load(path).unwrap().0),
        "tipsy" => of(tipsy::load(path).unwrap()),
        _ => return false,
    };
    let mut engine = match engine {
        Ok(engine) => engine,
        Err(error) => {
            check_error(&error);
            return false;
        }
    };
    let held_out = |engine: &mut gravitile::engine::Engine| match engine.state().unwrap() {
        State::Bodies(bodies) => bodies.nonfinite(),
        State::Flow(_) => 0,
    };
    let before = held_out(&mut engine);
    // The first picture uses positions from the file.
    engine.publish(Default::default()).unwrap().wait().unwrap();
    engine.run(2, |_| ()).unwrap();
    engine.publish(Default::default()).unwrap().wait().unwrap();
    engine.diagnostics().unwrap();
    let after = held_out(&mut engine);
    assert!(after < engine.size().max(2) || after == before, "{after} of {} are held out", engine.size());
    true
}
