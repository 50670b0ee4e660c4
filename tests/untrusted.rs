//! Files are untrusted: whatever is done to one, there is a sentence or a result, never a panic.

mod support;

use std::fs;
use std::io::{Cursor, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;

use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use gravitile::config::Config;
use gravitile::engine::Engine;
use gravitile::error::Error;
use gravitile::modes::MODES;
use gravitile::scene::{Scene, tipsy};
use gravitile::snapshot::{Carried, Snapshot, embed};
use gravitile::tuned::Tuned;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use support::{cpu, engine};

/// Files of each format.
const CASES: u32 = 1000;
/// Bytes of a snapshot before its checksum, and before what is compressed.
const SEAL: [usize; 2] = [16, 28];

/// Something that goes wrong with a file.
#[derive(Debug, Clone)]
enum Damage {
    /// It ends early.
    CutOff(usize),
    /// A bit is another.
    Flip(usize, u8),
    /// Bytes are overwritten: by the largest number, for one.
    Overwrite(usize, Vec<u8>),
    /// Something stands twice.
    Twice(usize, usize),
    /// A part is missing.
    Missing(usize, usize),
}

impl Damage {
    fn to(&self, bytes: &mut Vec<u8>) {
        let within = |at: usize, bytes: &[u8]| at % bytes.len().max(1);
        match self {
            Self::CutOff(at) => bytes.truncate(within(*at, bytes)),
            Self::Flip(at, bit) if !bytes.is_empty() => {
                let at = within(*at, bytes);
                bytes[at] ^= 1 << (bit % 8);
            }
            Self::Flip(..) => {}
            Self::Overwrite(at, with) => {
                let at = within(*at, bytes);
                bytes.iter_mut().skip(at).zip(with).for_each(|(byte, new)| *byte = *new);
            }
            Self::Twice(at, len) => {
                let at = within(*at, bytes);
                let part = bytes[at..(at + len).min(bytes.len())].to_vec();
                bytes.splice(at..at, part);
            }
            Self::Missing(at, len) => {
                let at = within(*at, bytes);
                bytes.drain(at..(at + len).min(bytes.len()));
            }
        }
    }
}

fn damage() -> impl Strategy<Value = Vec<Damage>> {
    // Headers are a small part of a file, and what they say matters most.
    let at = || prop_oneof![2 => 0..64usize, 2 => 0..4096usize, 3 => any::<usize>()];
    let extreme = prop_oneof![
        Just(vec![0xff; 4]),
        Just(vec![0xff; 8]),
        Just(vec![0; 8]),
        Just(i32::MAX.to_le_bytes().to_vec()),
        Just(i32::MAX.to_be_bytes().to_vec()),
        Just(f32::NAN.to_le_bytes().to_vec()),
        Just(b"99999999999999999999".to_vec()),
        Just(b"-1e400".to_vec()),
        Just(b"\n[".to_vec()),
        Just(b"\"".to_vec()),
        prop::collection::vec(any::<u8>(), 1..9),
    ];
    let one = prop_oneof![
        at().prop_map(Damage::CutOff),
        (at(), any::<u8>()).prop_map(|(at, bit)| Damage::Flip(at, bit)),
        (at(), extreme).prop_map(|(at, with)| Damage::Overwrite(at, with)),
        (at(), 1..64usize).prop_map(|(at, len)| Damage::Twice(at, len)),
        (at(), 1..64usize).prop_map(|(at, len)| Damage::Missing(at, len)),
    ];
    prop::collection::vec(one, 1..4)
}

fn damaged(whole: &[u8], damage: &[Damage]) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    damage.iter().for_each(|damage| damage.to(&mut bytes));
    bytes
}

/// An error is a sentence that fits on the screen.
fn check<T>(outcome: Result<T, Error>) -> Option<T> {
    let error = match outcome {
        Ok(value) => return Some(value),
        Err(error) => error.to_string(),
    };
    assert!((5..1000).contains(&error.len()) && !error.contains("  ") && !error.contains('\n'), "{error:?}");
    None
}

/// A snapshot of each mode, one with another mode left and one with bodies of its own among them.
static SNAPSHOTS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let snapshot = |nth: usize| {
        let mut engine = engine(Config { bodies: Some(100), ..Config::new(MODES[nth]) });
        let mut next = Config { bodies: Some(100), ..Config::new(MODES[(nth + 1) % MODES.len()]) };
        if nth == 2 {
            next.start = Scene::of_bodies("own", self::engine(next.clone()).bodies().unwrap());
        }
        engine.run(2, |_| ()).unwrap();
        engine.configure(next).unwrap();
        engine.run(2, |_| ()).unwrap();
        engine.snapshot().unwrap().to_bytes().unwrap()
    };
    (0..MODES.len()).map(snapshot).collect()
});

/// What is in a snapshot, and a snapshot with that in it and the right checksum.
fn unsealed(file: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    ZlibDecoder::new(&file[SEAL[1]..]).read_to_end(&mut body).unwrap();
    body
}

fn sealed(head: &[u8], body: &[u8]) -> Vec<u8> {
    let mut rest = (body.len() as u64).to_le_bytes().to_vec();
    let mut encoder = ZlibEncoder::new(&mut rest, flate2::Compression::fast());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap();
    let crc = crc32fast::hash(&rest);
    [&head[..SEAL[0]], &crc.to_le_bytes(), &rest].concat()
}

/// A Tipsy file of two gas, three dark and one star particle.
fn tipsy_file(is_big: bool) -> Vec<u8> {
    let word = |x: u32| if is_big { x.to_be_bytes() } else { x.to_le_bytes() };
    let number = |x: f32| if is_big { x.to_be_bytes() } else { x.to_le_bytes() };
    let mut bytes = if is_big { 0.5f64.to_be_bytes() } else { 0.5f64.to_le_bytes() }.to_vec();
    bytes.extend([6, 3, 2, 3, 1, 0].map(word).concat());
    for (nth, fields) in [12, 12, 9, 9, 9, 11].into_iter().enumerate() {
        bytes.extend((0..fields).flat_map(|field| number((10 * nth + field) as f32)));
    }
    bytes
}

/// Reads bytes as a file by the name `name`.
fn from_file<T>(bytes: &[u8], name: &str, read: impl Fn(&std::path::Path) -> T) -> T {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    read(&path)
}

/// A picture of three by two pixels that carries each of the snapshots.
static PICTURES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let png = gravitile::film::png(&image::RgbImage::new(3, 2)).unwrap();
    let snapshots = SNAPSHOTS.iter().map(|bytes| Snapshot::from_bytes(bytes).unwrap());
    snapshots.map(|snapshot| embed(&png, &snapshot).unwrap().0).collect()
});

/// A picture without pixels that carries `data`, with the right checksum.
fn carrying(name: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let chunk = [&name[..], data].concat();
    let crc = crc32fast::hash(&chunk).to_be_bytes();
    let length = (data.len() as u32).to_be_bytes();
    [b"\x89PNG\r\n\x1a\n", &length[..], &chunk, &crc, b"\0\0\0\0IEND\xae\x42\x60\x82"].concat()
}

/// What is not an error goes on to be written again.
fn check_carried(bytes: &[u8]) {
    match check(Carried::read(Cursor::new(bytes))) {
        Some(Carried::Snapshot(snapshot)) => drop(check(snapshot.to_bytes()).unwrap()),
        Some(Carried::Scene(config)) => drop(check(config.to_file()).unwrap()),
        None => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(CASES) })]

    #[test]
    fn damaged_snapshots_are_refused(nth in 0..3usize, damage in damage()) {
        let whole = &SNAPSHOTS[nth];
        let bytes = damaged(whole, &damage);
        // Nothing that the checksum covers can change without being seen.
        if check(Snapshot::from_bytes(&bytes)).is_some() {
            prop_assert!(bytes == *whole);
        }
    }

    #[test]
    fn damage_with_the_right_checksum_does_no_harm(nth in 0..3usize, damage in damage()) {
        let whole = &SNAPSHOTS[nth];
        let bytes = sealed(whole, &damaged(&unsealed(whole), &damage));
        if let Some(snapshot) = check(Snapshot::from_bytes(&bytes)) {
            prop_assert!(!snapshot.runs.is_empty());
            check(snapshot.to_bytes()).unwrap();
        }
    }

    #[test]
    fn damaged_pictures_do_no_harm(nth in 0..3usize, damage in damage()) {
        check_carried(&damaged(&PICTURES[nth], &damage));
    }

    #[test]
    fn pictures_that_carry_damage_with_the_right_checksums_do_no_harm(nth in 0..3usize, damage in damage()) {
        let whole = &SNAPSHOTS[nth];
        check_carried(&carrying(b"gvSt", &damaged(whole, &damage)));
        check_carried(&carrying(b"gvSt", &sealed(whole, &damaged(&unsealed(whole), &damage))));
        let scene = Config::new(MODES[nth]).to_file().unwrap();
        check_carried(&carrying(b"gvSc", &damaged(scene.as_bytes(), &damage)));
    }

    #[test]
    fn damaged_scenes_do_no_harm(nth in 0..64usize, damage in damage()) {
        let scenes: Vec<_> = MODES.iter().flat_map(|info| info.scenes.iter().map(move |scene| (info, scene))).collect();
        let (info, scene) = scenes[nth % scenes.len()];
        let mut config = Config::new(info);
        config.select_scene(scene);
        let text = config.to_file().unwrap();
        let bytes = damaged(text.as_bytes(), &damage);
        let read = |path: &std::path::Path| check(Config::load(path));
        if let Some(config) = from_file(&bytes, "scene.toml", read) {
            check(config.to_file()).unwrap();
        }
    }

    #[test]
    fn damaged_tipsy_files_do_no_harm(is_big: bool, damage in damage()) {
        let bytes = damaged(&tipsy_file(is_big), &damage);
        if let Some(bodies) = from_file(&bytes, "bodies.tipsy", |path| check(tipsy::load(path))) {
            prop_assert_eq!(bodies.len(), 6);
            prop_assert_eq!(bodies.nonfinite(), 0);
        }
    }
}

/// What is read is also resumed: for fewer, since each takes a device.
#[test]
fn snapshots_with_other_numbers_resume_or_are_refused() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut resumed = 0;
    for nth in 0..150 {
        let damage = damage().new_tree(&mut runner).unwrap().current();
        let whole = &SNAPSHOTS[nth % 3];
        let Ok(snapshot) = Snapshot::from_bytes(&sealed(whole, &damaged(&unsealed(whole), &damage))) else {
            continue;
        };
        let resume = || match Engine::resume(cpu(), snapshot, &Tuned::default()) {
            Ok(mut engine) => engine.run(2, |_| ()).map(|()| 1).unwrap_or(0),
            Err(error) => check::<()>(Err(error)).map_or(0, |()| 0),
        };
        resumed +=
            catch_unwind(AssertUnwindSafe(resume)).unwrap_or_else(|_| panic!("{damage:?} of snapshot {nth}"));
    }
    assert!(resumed > 10, "only {resumed} of them went on: the damage is too great to show anything");
}

#[test]
fn what_a_picture_carries_is_read_and_a_bomb_is_not_unpacked() {
    assert!(matches!(Carried::read(Cursor::new(carrying(b"gvSt", &SNAPSHOTS[0]))), Ok(Carried::Snapshot(_))));
    let scene = Config::new(MODES[1]).to_file().unwrap();
    assert!(matches!(Carried::read(Cursor::new(carrying(b"gvSc", scene.as_bytes()))), Ok(Carried::Scene(_))));
    // A hundred megabytes of nothing take a hundred kilobytes.
    let bomb = sealed(&SNAPSHOTS[0], &vec![0; 100 << 20]);
    let mut long = carrying(b"gvSt", &[]);
    long[8..12].copy_from_slice(&u32::MAX.to_be_bytes());
    for (bytes, told) in
        [(carrying(b"gvSt", &bomb), "too much"), (long, "too much"), (carrying(b"gvSt", &[]), "no snapshot")]
    {
        let error = Carried::read(Cursor::new(bytes)).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
}

#[test]
fn tipsy_files_of_both_kinds_are_read() {
    for is_big in [false, true] {
        let bodies = from_file(&tipsy_file(is_big), "x.bin", tipsy::load).unwrap();
        assert_eq!(bodies.positions[0], [1.0, 2.0, 3.0, 0.0]);
        assert_eq!(bodies.velocities[1], [14.0, 15.0, 16.0, 0.0]);
        assert_eq!(bodies.positions[5], [51.0, 52.0, 53.0, 50.0], "the star");
    }
}

#[test]
fn what_is_wrong_with_a_file_is_said() {
    let tipsy = tipsy_file(true);
    let mut many = tipsy.clone();
    many[8..12].copy_from_slice(&u32::MAX.to_be_bytes());
    many[16..20].copy_from_slice(&(u32::MAX - 4).to_be_bytes());
    let mut newer = SNAPSHOTS[0].clone();
    newer[14] = 9;
    let mut flipped = SNAPSHOTS[0].clone();
    flipped[100] ^= 1;
    for (name, bytes, told) in [
        ("a.tipsy", &tipsy[..100], "it has 100 bytes, and its header says 280: it is cut off"),
        ("a.tipsy", &tipsy[..20], "20 bytes are too few"),
        ("a.tipsy", &many, "4294967295 particles; 1 to 16777216 are possible"),
        ("a.tipsy", &[7; 64], "it is no Tipsy file"),
        ("a.gravitile", &newer, "is of version 9, and this program reads version 1"),
        ("a.gravitile", &flipped, "is damaged: its checksum is another"),
        ("a.gravitile", &SNAPSHOTS[0][..500], "is damaged"),
        ("a.gravitile", &[], "it is no snapshot"),
    ] {
        let error = from_file(bytes, name, |path| match name {
            "a.tipsy" => tipsy::load(path).unwrap_err(),
            _ => Snapshot::load(path).unwrap_err(),
        });
        let error = error.to_string();
        assert!(error.contains(told) && error.contains(name), "{error}");
    }
}
