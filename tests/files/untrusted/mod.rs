//! Tests untrusted files: whatever a file contains, the program gives a result or an error message, never a panic, a
//! signal, or a state that no simulation can reach.
//!
//! For each format, there are malicious files ([`handmade`]) and randomly damaged files ([`damage`]). A separate
//! process with a gigabyte of address space reads the files. Then this process runs steps of some readable files,
//! because a device needs more address space.

mod damage;
mod formats;
mod handmade;
mod limits;

use std::fs::{self, File};
use std::io::{Cursor, Seek, SeekFrom, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use gravitile::engine::config::Config;
use gravitile::engine::snapshot::{Carried, Snapshot};
use gravitile::modes::MODES;
use gravitile::scene::tipsy;
use rand::SeedableRng;
use rand::rngs::StdRng;

use crate::support::check_passed;

use self::formats::{FORMATS, Format, KERNELS, carrying, check_error, sealed, tipsy_file};
use self::handmade::{Made, REFUSED};
use self::limits::{FOLDER, MOST_BESIDES, MUTATIONS, peak, run_limited};

/// Number of randomly damaged files per format in a short test run; a long run uses `MANY`. Each valid file of a format is
/// damaged at least once.
const FEW: usize = 10;
const MANY: usize = 3000;
/// Number of readable files per format whose simulation then runs some steps, in short and in long test runs.
const STEPPED: [usize; 2] = [2, 120];

fn formats() -> impl Iterator<Item = &'static Format> {
    FORMATS.iter().chain([&KERNELS])
}

/// Writes valid and malicious files of each format to `folder`, in one folder per format. This process writes them,
/// because making a decompression bomb takes more memory than reading it may take.
fn prepare(folder: &Path) {
    for format in formats() {
        let of = folder.join(format.name);
        fs::create_dir_all(of.join("read")).unwrap();
        let whole = (format.whole)();
        for (nth, bytes) in whole.iter().enumerate() {
            fs::write(of.join(format!("{nth}.whole")), bytes).unwrap();
        }
        let made = handmade::all(format, &whole);
        assert!(made.len() >= 200, "{} of {}", made.len(), format.name);
        for (nth, (name, made)) in made.iter().enumerate() {
            let path = by_hand(folder, format, nth);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            made.put(&path);
            fs::write(path.with_file_name("name"), name).unwrap();
        }
    }
}

fn by_hand(folder: &Path, format: &Format, nth: usize) -> PathBuf {
    folder.join(format.name).join("hand").join(nth.to_string()).join(format.file)
}

fn whole(folder: &Path, format: &Format) -> Vec<Vec<u8>> {
    (0..).map_while(|nth| fs::read(folder.join(format.name).join(format!("{nth}.whole"))).ok()).collect()
}

/// Results of reading the damaged files of one format.
#[derive(Default)]
struct Tally {
    files: usize,
    read: usize,
    /// Largest memory, in bytes, that reading a file took beyond its contents, and the name of this file.
    most: (u64, String),
}

impl Tally {
    /// Reads the file `path` and checks the memory use. Keeps a readable file, so that its simulation can be run later.
    fn read(&mut self, folder: &Path, format: &Format, name: &str, path: &Path) {
        let (outcome, memory) = peak(|| catch_unwind(AssertUnwindSafe(|| (format.read)(path))));
        let outcome = outcome.unwrap_or_else(|_| panic!("{}, {name}", format.name));
        assert!(outcome.is_err() || !name.starts_with(REFUSED), "{}, {name}", format.name);
        let loaded = match outcome {
            Ok(bytes) => {
                let kept = folder.join(format.name).join("read").join(self.read.to_string());
                // The link fails if the file does not exist, which is a valid case for settings.
                let _ = fs::hard_link(path, kept);
                self.read += 1;
                bytes
            }
            Err(error) => {
                check_error(&error);
                0
            }
        };
        self.files += 1;
        let besides = memory.saturating_sub(loaded);
        // Files with an invalid text part must be refused before they are decompressed.
        let most = if name.starts_with(REFUSED) { MOST_BESIDES / 10 } else { MOST_BESIDES };
        assert!(besides <= most, "{}, {name}: {besides} bytes besides {loaded}", format.name);
        if besides >= self.most.0 {
            self.most = (besides, name.to_owned());
        }
    }
}

/// Reads every file of every format, in a process with little memory.
#[test]
#[ignore = "run by others, with little memory"]
fn every_file_is_read_in_limited_memory() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let mutations: usize = std::env::var(MUTATIONS).unwrap().parse().unwrap();
    // Stores the name of the current file, so that the name is known if the process is killed.
    let mut now = File::create(folder.join("now")).unwrap();
    let mut note = |text: &str| {
        now.set_len(0).and_then(|()| now.seek(SeekFrom::Start(0))).unwrap();
        now.write_all(text.as_bytes()).unwrap();
    };
    for format in formats() {
        let whole = whole(&folder, format);
        let mut by_hand = Tally::default();
        for path in (0..).map(|nth| self::by_hand(&folder, format, nth)) {
            let Ok(name) = fs::read_to_string(path.with_file_name("name")) else { break };
            note(&format!("{}, {name}", format.name));
            by_hand.read(&folder, format, &name, &path);
        }
        let mut by_chance = Tally { read: by_hand.read, ..Tally::default() };
        let work = folder.join(format.name).join("work").join(format.file);
        fs::create_dir_all(work.parent().unwrap()).unwrap();
        for nth in 0..mutations.max(whole.len()) {
            let mut rng = StdRng::seed_from_u64(nth as u64);
            let bytes = (format.damaged)(&whole[nth % whole.len()], &mut rng);
            let name = format!("damage {nth}");
            note(&format!("{}, {name}", format.name));
            Made::Bytes(bytes).put(&work);
            by_chance.read(&folder, format, &name, &work);
        }
        for (kind, tally, read) in
            [("by hand", &by_hand, by_hand.read), ("by chance", &by_chance, by_chance.read - by_hand.read)]
        {
            let (most, name) = &tally.most;
            let (files, most) = (tally.files, most >> 20);
            println!(
                "{:10} {kind:10} {files:5} files, {read:5} read; {most:4} MB besides, of {name}",
                format.name
            );
        }
    }
}

/// Reads all files, then runs steps of some of the files that could be read.
fn try_all(mutations: usize, stepped: usize) {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    let output = run_limited(module_path!(), "every_file_is_read_in_limited_memory", folder, mutations);
    let last = fs::read_to_string(folder.join("now")).unwrap_or_default();
    check_passed(&output, &format!("at {last}"));
    println!("{}", String::from_utf8_lossy(&output.stdout));
    for format in formats() {
        let read = folder.join(format.name).join("read");
        let count = fs::read_dir(&read).unwrap().count();
        let path = folder.join(format.file);
        let mut steps = 0;
        for nth in (0..count).step_by(count.div_ceil(stepped).max(1)) {
            let Ok(bytes) = fs::read(read.join(nth.to_string())) else { continue };
            if format.name != KERNELS.name {
                fs::write(&path, bytes).unwrap();
                let step = catch_unwind(AssertUnwindSafe(|| formats::step(format.name, &path)));
                steps += usize::from(step.unwrap_or_else(|_| panic!("{} of {}", nth, format.name)));
            }
        }
        println!("{:10} {steps} were stepped", format.name);
    }
}

#[test]
fn no_untrusted_file_causes_harm() {
    try_all(FEW, STEPPED[0]);
}

#[test]
#[ignore = "long: scripts/test --all runs it"]
fn no_untrusted_file_of_a_large_set_causes_harm() {
    try_all(MANY, STEPPED[1]);
}

/// Any change to bytes that the checksum covers is detected.
#[test]
fn damaged_snapshots_are_refused() {
    let whole = (FORMATS[0].whole)();
    for nth in 0..1000 {
        let bytes = damage::damaged(&whole[nth % whole.len()], &mut StdRng::seed_from_u64(nth as u64));
        match Snapshot::from_bytes(&bytes) {
            Ok(_) => assert!(bytes == whole[nth % whole.len()], "{nth}"),
            Err(error) => check_error(&error),
        }
    }
}

/// Writes `bytes` to a file called `name`, and reads it with `read`.
fn from_file<T>(bytes: &[u8], name: &str, read: impl Fn(&Path) -> T) -> T {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    read(&path)
}

#[test]
fn data_embedded_in_pictures_is_read_and_decompression_bombs_are_refused() {
    let snapshots = (FORMATS[0].whole)();
    assert!(matches!(Carried::read(Cursor::new(carrying(b"gvSt", &snapshots[0]))), Ok(Carried::Snapshot(_))));
    let scene = Config::new(MODES[1]).to_file().unwrap();
    assert!(matches!(Carried::read(Cursor::new(carrying(b"gvSc", scene.as_bytes()))), Ok(Carried::Scene(_))));
    // A hundred megabytes of zeros compress to a hundred kilobytes.
    let bomb = sealed(&vec![0; 100 << 20]);
    let mut long = carrying(b"gvSt", &[]);
    long[8..12].copy_from_slice(&u32::MAX.to_be_bytes());
    for (bytes, told) in [
        (carrying(b"gvSt", &bomb), "too large"),
        (long, "too large"),
        (carrying(b"gvSt", &[]), "not a gravitile snapshot"),
    ] {
        let error = Carried::read(Cursor::new(bytes)).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
}

#[test]
fn tipsy_files_of_both_byte_orders_are_read() {
    for is_big in [false, true] {
        let bodies = from_file(&tipsy_file(is_big), "x.bin", tipsy::load).unwrap();
        assert_eq!(bodies.positions[0], [1.0, 2.0, 3.0, 0.0]);
        assert_eq!(bodies.velocities[1], [14.0, 15.0, 16.0, 0.0]);
        assert_eq!(bodies.positions[5], [51.0, 52.0, 53.0, 50.0], "the star");
    }
}

#[test]
fn errors_in_files_are_described() {
    let snapshots = (FORMATS[0].whole)();
    let tipsy = tipsy_file(true);
    let mut many = tipsy.clone();
    many[8..12].copy_from_slice(&u32::MAX.to_be_bytes());
    many[16..20].copy_from_slice(&(u32::MAX - 4).to_be_bytes());
    let mut newer = snapshots[0].clone();
    newer[14] = 9;
    let mut flipped = snapshots[0].clone();
    flipped[100] ^= 1;
    for (name, bytes, told) in [
        ("a.tipsy", &tipsy[..100], "it has 100 bytes, but 280 according to its header: it is incomplete"),
        ("a.tipsy", &tipsy[..20], "20 bytes are too few"),
        ("a.tipsy", &many, "4294967295 particles; the number must be from 1 to 16777216"),
        ("a.tipsy", &[7; 64], "it is not a Tipsy file"),
        ("a.gravitile", &newer, "has version 9, but this program reads only version 1"),
        ("a.gravitile", &flipped, "is damaged: its checksum does not match"),
        ("a.gravitile", &snapshots[0][..500], "is damaged"),
        ("a.gravitile", &[], "not a gravitile snapshot"),
    ] {
        let error = from_file(bytes, name, |path| match name {
            "a.tipsy" => tipsy::load(path).unwrap_err(),
            _ => Snapshot::load(path).unwrap_err(),
        });
        let error = error.to_string();
        assert!(error.contains(told) && error.contains(name), "{error}");
    }
}
