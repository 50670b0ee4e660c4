//! Tests scene files: written files can be read again, and errors are reported.

use gravitile::base::error::Error;
use gravitile::engine::config::Config;
use gravitile::scene::file::parse;
use gravitile::scene::{Scene, Setup};

use super::all_scenes;

#[test]
fn what_is_written_reads_back_to_the_same_bodies() {
    for (info, scene) in all_scenes() {
        let mut config = Config::new(info);
        config.select_scene(scene);
        (config.seed, config.bodies) = (7, Some(300).filter(|_| scene.bodies.is_none()));
        let again = Config::of_file(parse(&scene.name, &config.to_file().unwrap()).unwrap()).unwrap();
        assert_eq!(again.mode, config.mode, "{}", scene.name);
        assert_eq!(again.bodies, config.bodies, "{}", scene.name);
        assert_eq!(again.seed, if scene.is_random() { 7 } else { 1 }, "{}", scene.name);
        let kept = |scene: &Scene| (scene.title.clone(), scene.bodies, scene.pace);
        assert_eq!(kept(&again.start), kept(scene));
        let params = &config.mode.values();
        let setup = Setup { bodies: scene.bodies.unwrap_or(300), seed: again.seed, params };
        let [before, after] = [scene, &again.start].map(|scene| scene.generate(&setup));
        assert!(before == after, "{}", scene.name);
    }
}

/// A scene file written from a user's own walls or bodies contains these walls or bodies.
#[test]
fn walls_and_bodies_of_ones_own_are_written_too() {
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
fn what_is_wrong_is_told_with_its_line_and_what_is_right() {
    for (text, told) in [
        ("", "unknown mode \"\""),
        ("mode = \"gravity\"\n", "a scene must have exactly one of"),
        ("mode = \"gravity\"\nsize = 3\n", "line 2: unknown field `size`"),
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
        ("mode = \"gravity\"\ngenerator = \"galaxy\"\npace = 0\n", "pace must be a whole number from 1"),
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
    ] {
        let error = parse("wrong", text).and_then(Config::of_file).unwrap_err();
        assert!(matches!(error, Error::Scene { .. } | Error::Invalid(_) | Error::Param(_)));
        assert!(error.to_string().contains(told), "{error}\nfor {text}");
    }
}
