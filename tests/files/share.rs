//! Tests pictures that contain a snapshot or a scene, names of new files, and files that are being written.

use std::fs;
use std::io::Cursor;
use std::path::Path;

use crate::support::{cpu, engine};
use gravitile::base::bodies::Bodies;
use gravitile::base::files::{Name, Names, OutputFile};
use gravitile::base::state::State;
use gravitile::engine::snapshot::{Carried, Extent, Snapshot, embed};
use gravitile::engine::tuned::Tuned;
use gravitile::export::film::{self, Film};
use gravitile::modes::MODES;
use gravitile::scene::Scene;
use image::{Rgb, RgbImage};

fn picture(shade: u8) -> RgbImage {
    RgbImage::from_fn(33, 20, |x, y| Rgb([shade, x as u8 * 7, y as u8 * 12]))
}

fn bits(state: &State) -> Vec<u32> {
    match state {
        State::Bodies(Bodies { positions, velocities }) => {
            positions.iter().chain(velocities).flatten().map(|x| x.to_bits()).collect()
        }
        State::Flow(flow) => flow.cells.iter().flatten().map(|x| x.to_bits()).collect(),
    }
}

#[test]
fn a_picture_with_an_embedded_snapshot_resumes_exactly_in_every_mode() {
    for info in MODES {
        let mut config = gravitile::engine::config::Config::new(info);
        config.bodies = Some(700);
        let mut straight = engine(config);
        straight.run(5, |_| ()).unwrap();
        let snapshot = straight.snapshot().unwrap();
        let plain = film::png(&picture(9)).unwrap();
        let (carrier, extent) = embed(&plain, &snapshot).unwrap();
        assert_eq!(extent, Extent::All, "{}", info.name);
        assert_eq!(
            image::load_from_memory(&carrier).unwrap().into_rgb8(),
            picture(9),
            "any program shows it"
        );
        let Carried::Snapshot(snapshot) = Carried::read(Cursor::new(&carrier)).unwrap() else { panic!() };
        let mut resumed = gravitile::engine::Engine::resume(cpu(), *snapshot, &Tuned::default()).unwrap();
        for engine in [&mut straight, &mut resumed] {
            engine.run(19, |_| ()).unwrap();
        }
        assert_eq!(bits(&straight.state().unwrap()), bits(&resumed.state().unwrap()), "{}", info.name);
        assert_eq!(straight.clock(), resumed.clock());
    }
}

#[test]
fn embedded_snapshots_omit_folder_names_and_report_size_limits() {
    let mut config = crate::support::scene("plummer", Some(300), &[]);
    let plain = film::png(&picture(9)).unwrap();
    let bodies = engine(config.clone()).bodies().unwrap();
    config.start = Scene::of_bodies("home/me/secret/bodies.csv", bodies);
    let snapshot = engine(config).snapshot().unwrap();
    let (carrier, _) = embed(&plain, &snapshot).unwrap();
    let Carried::Snapshot(read) = Carried::read(Cursor::new(&carrier)).unwrap() else { panic!() };
    assert_eq!(read.runs[0].config.start.name, "bodies.csv");

    // A million bodies do not fit in a picture, but the description of the scene that generates them does.
    let mut large =
        engine(crate::support::scene("plummer", Some(300), &[("eps", "0.07")])).snapshot().unwrap();
    let many = Bodies { positions: vec![[0.5; 4]; 1 << 21], velocities: vec![[0.5; 4]; 1 << 21] };
    large.runs[0].state = many.clone().into();
    let (carrier, extent) = embed(&plain, &large).unwrap();
    assert_eq!(extent, Extent::Scene);
    assert!(extent.note().is_some());
    let Carried::Scene(config) = Carried::read(Cursor::new(&carrier)).unwrap() else { panic!() };
    assert_eq!((config.start.name.as_str(), config.bodies), ("picture", Some(300)));
    assert!((config.mode.values().float("eps").unwrap() - 0.07).abs() < 1e-6);
    // If the scene itself consists of that many bodies, the picture contains no scene, and a note says so.
    large.runs[0].config.start = Scene::of_bodies("many", many);
    let (carrier, extent) = embed(&plain, &large).unwrap();
    assert_eq!((carrier, extent), (plain, Extent::Nothing));
    assert!(embed(b"no picture", &large).is_err());
}

#[test]
fn pictures_without_an_embedded_scene_are_recognised() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("holiday.PNG");
    fs::write(&path, film::png(&picture(1)).unwrap()).unwrap();
    let error = Carried::load(&path).unwrap_err().to_string();
    assert!(error.contains("holiday.PNG") && error.contains("contains no gravitile scene"), "{error}");
    fs::write(&path, "no picture at all").unwrap();
    assert!(Carried::load(&path).unwrap_err().to_string().contains("not a PNG"));
    assert!(Carried::load(&folder.path().join("none.png")).is_err());
    // A snapshot file can be read with the same function.
    let snapshot: Snapshot = engine(crate::support::scene("plummer", Some(50), &[])).snapshot().unwrap();
    let path = folder.path().join("own.gravitile");
    snapshot.save(&path).unwrap();
    assert!(matches!(Carried::load(&path), Ok(Carried::Snapshot(_))));
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_gif_has_correct_frames_and_timing_and_a_cancelled_one_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("film.gif");
    fs::write(&path, "what was there").unwrap();
    let mut film = Film::create(&path, (33, 20), 30).unwrap();
    film.add(&picture(1)).unwrap();
    assert!(film.add(&RgbImage::new(5, 5)).is_err(), "another size");
    drop(film);
    assert_eq!(fs::read(&path).unwrap(), b"what was there", "an older file is whole");
    assert_eq!(names(folder.path()), ["film.gif"]);

    let mut film = Film::create(&path, (33, 20), 30).unwrap();
    (0..30).for_each(|nth| film.add(&picture(nth * 8)).unwrap());
    film.finish().unwrap();
    assert_eq!(names(folder.path()), ["film.gif"]);
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::RGBA);
    let mut decoder = options.read_info(fs::File::open(&path).unwrap()).unwrap();
    let (mut count, mut hundredths) = (0, 0);
    while let Some(frame) = decoder.read_next_frame().unwrap() {
        hundredths += u32::from(frame.delay);
        assert!(frame.buffer[0].abs_diff(count * 8) < 12, "picture {count} is {}", frame.buffer[0]);
        count += 1;
    }
    assert_eq!((count, hundredths), (30, 100), "a second");
}

#[test]
fn frame_files_are_numbered_by_the_requested_pattern() {
    let folder = tempfile::tempdir().unwrap();
    for (name, expected) in [
        ("a-%04d.png", "a-0001.png"),
        ("b%d.png", "b1.png"),
        ("c.png", "c-0001.png"),
        // Percent signs that are not a pattern are part of the name.
        ("50%done.png", "50%done-0001.png"),
        ("9%-%03d.png", "9%-001.png"),
        ("%x4d.png", "%x4d-0001.png"),
        ("99%.png", "99%-0001.png"),
    ] {
        let mut film = Film::create(&folder.path().join(name), (33, 20), 30).unwrap();
        film.add(&picture(3)).unwrap();
        film.add(&picture(4)).unwrap();
        film.finish().unwrap();
        let path = folder.path().join(expected);
        assert_eq!(image::open(path).unwrap().into_rgb8(), picture(3), "{name}");
    }
    assert_eq!(
        names(folder.path()),
        [
            "%x4d-0001.png",
            "%x4d-0002.png",
            "50%done-0001.png",
            "50%done-0002.png",
            "9%-001.png",
            "9%-002.png",
            "99%-0001.png",
            "99%-0002.png",
            "a-0001.png",
            "a-0002.png",
            "b1.png",
            "b2.png",
            "c-0001.png",
            "c-0002.png"
        ]
    );
}

/// A file that is being written has no name, so nothing is left behind if the program is killed.
#[cfg(target_os = "linux")]
#[test]
fn an_unfinished_file_does_not_appear_in_its_folder() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let all =
        || -> Vec<_> { fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect() };
    let [path, usual] = ["a.txt", "b.txt"].map(|name| folder.path().join(name));
    // Writes a new file, then replaces it.
    for contents in ["first", "second"] {
        let before = all();
        let write = |file: &mut dyn std::io::Write| {
            file.write_all(contents.as_bytes())?;
            file.flush()?;
            assert_eq!(all(), before);
            Ok(())
        };
        OutputFile::create(&path).unwrap().save(write).unwrap();
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), all().len()), (contents, 1));
    }
    let draft = OutputFile::create(&path).unwrap().draft().unwrap();
    assert_eq!(all().len(), 1);
    drop(draft);
    assert_eq!(fs::read_to_string(&path).unwrap(), "second");
    // Other users may read the file if they may read any other new file.
    fs::write(&usual, "").unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&path), mode(&usual));
}

#[test]
fn concurrent_unfinished_files_get_different_names() {
    let folder = tempfile::tempdir().unwrap();
    let names = Names::default();
    let stem = folder.path().join("name").display().to_string();
    for (extension, is_numbered, expected) in [
        ("png", false, ["name.png", "name-2.png", "name-3.png", "name-2.png"]),
        ("png", true, ["name-%04d.png", "name-2-%04d.png", "name-3-%04d.png", "name-2-%04d.png"]),
    ] {
        let free = || names.free(&stem, extension, is_numbered);
        let at = |name: &Name| name.path().file_name().unwrap().to_str().unwrap().to_owned();
        let (first, second) = (free(), free());
        // The first file is written, so its name is no longer reserved.
        fs::write(first.path().with_file_name(at(&first).replace("%04d", "0001")), "").unwrap();
        let first_was = at(&first);
        drop(first);
        let (third, second_was) = (free(), at(&second));
        // The second file is never written, and its reservation ends.
        drop(second);
        assert_eq!([first_was, second_was, at(&third), at(&free())], expected);
    }
}

#[test]
fn invalid_film_requests_are_refused_before_recording() {
    let folder = tempfile::tempdir().unwrap();
    for (name, rate, told) in [
        ("film.avi", 30, ".webm"),
        ("film", 30, ".gif"),
        ("none/film.gif", 30, "none"),
        ("film.gif", 0, "1 to 120"),
        ("film.gif", 1000, "1 to 120"),
    ] {
        let error = Film::create(&folder.path().join(name), (33, 20), rate).err().unwrap().to_string();
        assert!(error.contains(told), "{name}: {error}");
    }
    assert!(names(folder.path()).is_empty());
}
