//! Tests scene files: files that the program writes can be read again, and errors in files are reported.

use std::sync::Arc;

use gravitile::base::error::Error;
use gravitile::base::look::{EffectMode, Look, Palette, SceneCamera, Size, Theme};
use gravitile::base::partial::Partial;
use gravitile::engine::config::Config;
use gravitile::scene::file::parse;
use gravitile::scene::{Scene, Setup};

use super::all_scenes;

#[test]
fn a_written_scene_file_reads_back_to_the_same_bodies() {
    for (info, scene) in all_scenes() {
        let mut config = Config::new(info);
        config.select_scene(scene);
        (config.seed, config.bodies) = (7, Some(300).filter(|_| scene.bodies.is_none()));
        let again = Config::of_file(parse(&scene.name, &config.to_file().unwrap()).unwrap()).unwrap();
        assert_eq!(again.mode, config.mode, "{}", scene.name);
        assert_eq!(again.bodies, config.bodies, "{}", scene.name);
        assert_eq!(again.seed, if scene.is_random() { 7 } else { 1 }, "{}", scene.name);
        let kept = |scene: &Scene| {
            let speed = (scene.pace, scene.fast_steps, scene.path_time, scene.auto_bodies, scene.auto_share);
            (scene.title.clone(), scene.bodies, speed, scene.look.clone(), scene.camera.clone())
        };
        assert_eq!(kept(&again.start), kept(scene));
        let shown = |scene: &Scene| (scene.names.clone(), scene.colours.clone(), scene.units.clone());
        assert_eq!(shown(&again.start), shown(scene), "{}", scene.name);
        let params = &config.mode.values();
        let setup = Setup { bodies: scene.bodies.unwrap_or(300), seed: again.seed, params };
        let [before, after] = [scene, &again.start].map(|scene| scene.generate(&setup));
        assert!(before == after, "{}", scene.name);
    }
}

/// Bodies are named by a column of their list, by the list of orbits, or by the key `names`.
#[test]
fn names_colours_and_units_are_read_and_written() {
    let list = "bodies = \"\"\"\nname;x;y;z;vx;vy;vz;mass\nSun;0;0;0;0;0;0;1\n;1;0;0;0;1;0;0\n\"Halley; 1P\";2;0;0;0;1;0;0\n\"\"\"\n";
    let shown = "[units]\nlength = \"AU\"\ntime = \"0.159 yr\"\ndate = 2000-01-01T12:00:00\n[colours]\nSun = \"#ffc84a\"\n";
    for (origin, names) in [
        (list, ["Sun", "", "Halley; 1P"].as_slice()),
        ("generator = \"two-body\"\ncount = 2\nnames = [\"A\", \"B\"]\n", &["A", "B"]),
        ("orbits = \"Sun,,1\\nEarth,Sun,3e-6,1,0.02,0,0,0,0\"\n", &["Sun", "Earth"]),
        (
            "orbits = \"Sun,,1\\nEarth,Sun,3e-6,1,0.02,0,0,0,0\"\nnames = [\"Sol\", \"Terra\"]\n",
            &["Sol", "Terra"],
        ),
    ] {
        let mut config =
            Config::of_file(parse("mine", &format!("mode = \"gravity\"\n{origin}{shown}")).unwrap()).unwrap();
        for _ in 0..2 {
            assert_eq!(config.start.names.to_list(), names);
            assert_eq!(config.start.colours["Sun"], [0xff, 0xc8, 0x4a]);
            assert_eq!(config.start.units.length.as_ref().map(|unit| unit.name.as_str()), Some("AU"));
            assert_eq!(
                config.start.units.date(0.0).map(|date| date.to_string()).as_deref(),
                Some("2000-01-01")
            );
            config = rewritten(&config.to_file().unwrap());
        }
    }
}

/// If a softening length would change the orbits of listed bodies, a shorter one is used, unless the scene sets the
/// softening length.
#[test]
fn close_bodies_get_a_short_softening_length() {
    let text = "mode = \"gravity\"\nbodies = \"x,y,z,vx,vy,vz,m\\n0,0,0,0,0,0,1\\n0.387,0,0,0,1.6,0,1e-7\"\n";
    let eps = |text: &str| rewritten(text).mode.values().float("eps").unwrap();
    assert_eq!(eps(text), 0.007);
    assert_eq!(eps(&format!("{text}[params]\neps = 0.02\n")), 0.02);
    assert_eq!(eps(&text.replace("0.387", "38.7")), 0.05);
}

/// A scene file that is written from a user's own walls or bodies contains the walls or bodies.
#[test]
fn user_defined_walls_and_bodies_are_written_to_scene_files() {
    let text = "mode = \"fluid\"\nlength = 2\nwalls = '''\n#####\n#...#\n#.#.#\n.....\n'''\n[params]\ndrive = \"force\"\n";
    let config = Config::of_file(parse("mine", text).unwrap()).unwrap();
    let params = &config.mode.values();
    let walls = config.start.generate(&Setup { bodies: 1, seed: 1, params }).into_flow().unwrap().walls;
    assert_eq!((walls.nx, walls.ny, walls.length, walls.free()), (5, 4, 2.0, 10));
    assert!(walls.solid[15..].iter().all(|solid| *solid), "the first line is the highest row");
    assert!(walls.solid[7] && !walls.solid[0]);
    let again = Config::of_file(parse("mine", &config.to_file().unwrap()).unwrap()).unwrap();
    assert_eq!(again.start.generate(&Setup { bodies: 1, seed: 1, params }).into_flow().unwrap().walls, walls);
}

#[test]
fn errors_in_scene_files_are_reported_with_line_and_expected_values() {
    for (text, told) in [
        ("", "unknown mode \"\""),
        ("mode = \"gravity\"\n", "a scene must have exactly one of"),
        ("mode = \"gravity\"\nsize = 3\n", "line 2: unknown field `size`"),
        (
            "mode = \"gravity\"\ngenerator = \"two-body\"\ncount = 2\nnames = [\"a\", \"b\", \"c\"]\n",
            "`names` has more entries than the scene has bodies",
        ),
        (
            "mode = \"gravity\"\ngenerator = \"cube\"\n[units]\nlength = \"3\"\n",
            "units.length must be the name of a unit",
        ),
        (
            "mode = \"gravity\"\ngenerator = \"cube\"\n[units]\ndate = 2000-01-01\n",
            "units.date requires units.time",
        ),
        (
            "mode = \"gravity\"\ngenerator = \"cube\"\n[colours]\nSun = \"red\"\n",
            "colours.Sun must be a colour",
        ),
        (
            "mode = \"gravity\"\ngenerator = \"galaxie\"\n",
            "unknown generator \"galaxie\"; the generators of gravity are galaxy",
        ),
        (
            "mode = \"gravity\"\ngenerator = \"galaxy\"\n[arguments]\nbulb = 1\n",
            "galaxy has no argument \"bulb\"; its arguments are: bulge",
        ),
        (
            "mode = \"gravity\"\ngenerator = \"galaxy\"\n[arguments]\nbulge = 2\n",
            "bulge = 2 is not allowed; bulge must be from 0 to 1",
        ),
        (
            "mode = \"gravity\"\ngenerator = \"galaxy\"\n[params]\nepsilon = 2\n",
            "unknown parameter `epsilon`",
        ),
        (
            "mode = \"gravity\"\ngenerator = \"galaxy\"\n[params]\neps = 1e9\n",
            "eps=1000000000.0 is not allowed",
        ),
        ("mode = \"gravity\"\ngenerator = \"galaxy\"\n[params]\neps = [1]\n", "params.eps must be a number"),
        (
            "mode = \"gravity\"\ngenerator = \"galaxy\"\ncount = 99999999999\n",
            "count must be a whole number from 1",
        ),
        (
            "mode = \"gravity\"\ngenerator = \"galaxy\"\nauto_bodies = 0\n",
            "auto_bodies must be a whole number from 1",
        ),
        ("mode = \"gravity\"\ngenerator = \"galaxy\"\nauto_share = 0\n", "auto_share must be greater than 0"),
        (
            "mode = \"gravity\"\ngenerator = \"galaxy\"\nauto_share = nan\n",
            "auto_share must be greater than 0",
        ),
        ("mode = \"gravity\"\ngenerator = \"galaxy\"\npace = 0\n", "pace must be a whole number from 1"),
        ("mode = \"gravity\"\ngenerator = \"galaxy\"\npath_time = 0\n", "path_time must be a number above 0"),
        (
            "mode = \"gravity\"\ngenerator = \"galaxy\"\npath_time = 9\n",
            "path_time applies only to gravity scenes",
        ),
        (
            "mode = \"gravity\"\nbodies = '''\nx,y,z,vx,vy,vz,m\n1,2,3\n'''\n",
            "bodies, line 2: field vx is missing",
        ),
        (
            "mode = \"gravity\"\norbits = '''\nSun,,1\nMoon,Earth,1,1,0,0,0,0,0\n'''\n",
            "orbits, line 2: \"Earth\" is not the name of a body",
        ),
        ("mode = \"fluid\"\nwalls = '''\n...\n....\n...\n'''\n", "walls, line 2: the row has 4 cells"),
        ("mode = \"fluid\"\nwalls = '''\n###\n###\n###\n'''\n", "all cells are blocked"),
        ("mode = \"fluid\"\nbodies = ''\n", "fluid mode cannot start from bodies"),
        ("mode = \"gravity\n", "line 1: "),
        (
            "mode = \"gravity\"\ngenerator = \"galaxy\"\n[look]\npalette = \"ice\"\nbloem = true\n",
            "line 5: [look]: unknown parameter `bloem`; the parameters are palette, exposure",
        ),
        (
            "mode = \"gravity\"\ngenerator = \"galaxy\"\n[look]\ncolour = \"mass\"\n",
            "parameters of the mode, such as colour, belong in [params]",
        ),
        ("mode = \"gravity\"\n\n[look]\nexposure = 9\n", "a scene must have exactly one of"),
        (
            "mode = \"gravity\"\ngenerator = \"galaxy\"\n\n[look]\nexposure = 9\n",
            "line 5: [look]: exposure=9 is not allowed: exposure must be a number from -4 to 4",
        ),
        (
            "look = { trails = nan }\nmode = \"gravity\"\ngenerator = \"galaxy\"\n",
            "line 1: [look]: trails=nan is not allowed",
        ),
        (
            "mode = \"gravity\"\ngenerator = \"galaxy\"\n[look]\nstars = [1]\n",
            "line 4: look.stars must be a number, true, false or text",
        ),
        (
            "mode = \"gravity\"\ngenerator = \"galaxy\"\n[look]\nscale = 2\n",
            "line 4: [look] must not set scale, because it changes the window; remove scale",
        ),
        (
            "mode = \"gravity\"\ngenerator = \"galaxy\"\n[camera]\n\npitch = 91\n",
            "line 5: [camera]: pitch=91 is not allowed: pitch must be a number from -90 to 90",
        ),
        (
            "mode = \"gravity\"\ngenerator = \"galaxy\"\n[camera]\nfov = 1\n",
            "line 4: [camera]: unknown parameter `fov`; the parameters are yaw, pitch, zoom, x, y, z",
        ),
        ("mode = \"gravity\"\ngenerator = \"galaxy\"\nlook = 3\n", "line 3: "),
        ("mode = \"gravity\"\ngenerator = \"galaxy\"\n[camera]\nx = inf\n", "line 4: [camera]: x=inf"),
    ] {
        let error = parse("wrong", text).and_then(Config::of_file).unwrap_err();
        assert!(matches!(error, Error::Scene { .. } | Error::Invalid(_) | Error::Param(_)));
        assert!(error.to_string().contains(told), "{error}\nfor {text}");
    }
}

/// Reads the scene file `text`, writes the scene to a file, and returns the configuration that is read from that file.
fn rewritten(text: &str) -> Config {
    let config = Config::of_file(parse("mine", text).unwrap()).unwrap();
    Config::of_file(parse("mine", &config.to_file().unwrap()).unwrap()).unwrap()
}

#[test]
fn a_look_and_a_camera_are_read_and_written() {
    let text = "mode = \"gravity\"\ngenerator = \"galaxy\"\n[look]\npalette = \"ice\"\nexposure = 0.1\ntrails = 24\n\
                turn = true\nbloom = \"off\"\n[camera]\nyaw = -45.5\nzoom = 2\n";
    let scene = rewritten(text).start;
    let look = Look {
        palette: Palette::Ice,
        exposure: 0.1,
        trails: 24.0,
        turn: true,
        bloom: EffectMode::Off,
        ..Look::default()
    };
    assert_eq!(scene.look.complete(), look);
    assert_eq!(scene.camera.complete(), SceneCamera { yaw: -45.5, zoom: 2.0, ..SceneCamera::default() });
    assert_eq!((scene.look.iter().count(), scene.camera.iter().count()), (5, 2), "nothing is added");
    let few = rewritten("mode = \"gravity\"\ngenerator = \"galaxy\"\nauto_bodies = 500\nauto_share = 0.25\n");
    assert_eq!((few.start.auto_bodies, few.start.auto_share), (Some(500), Some(0.25)));
    let plain = rewritten("mode = \"gravity\"\ngenerator = \"galaxy\"\n");
    assert!(plain.start.look.is_empty() && plain.start.camera.is_empty());
    let written = plain.to_file().unwrap();
    assert!(!written.contains("[look]") && !written.contains("[camera]"), "{written}");
}

/// Text size and theme belong to the user's window: a scene file does not pass them on to other people.
#[test]
fn window_settings_are_not_written_to_scene_files() {
    let mut config = Config::new(gravitile::modes::MODES[0]);
    let look = Look { theme: Theme::Light, scale: Size::Double, stars: 0.25, ..Look::default() };
    let look = Partial::changes(&Look::default(), &look);
    config.start = Arc::new(Scene { look, ..Scene::clone(&config.start) });
    let text = config.to_file().unwrap();
    let again = parse("mine", &text).unwrap().scene;
    assert_eq!(again.look.complete(), Look { stars: 0.25, ..Look::default() }, "{text}");
}

#[test]
fn every_built_in_scene_of_bodies_has_a_look_and_a_camera() {
    for (info, scene) in all_scenes().filter(|(info, _)| info.name != "fluid") {
        let look = scene.look.complete();
        assert!(!scene.look.is_empty() && !scene.camera.is_empty(), "{} {}", info.name, scene.name);
        let is_of_few = scene.bodies.is_some_and(|count| count < 5000);
        assert!(!is_of_few || look.trails >= 10.0, "{}: few bodies draw their orbits", scene.name);
    }
}
