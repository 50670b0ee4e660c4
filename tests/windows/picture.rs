//! Tests the settings of pictures: colours, bloom, trails, exposure, stars, grid. Checks single pixels, and then
//! compares whole pictures with stored ones; `GRAVITILE_KEEP_PICTURES=1` stores new ones.

use std::path::PathBuf;

use gravitile::base::LightRequest;
use gravitile::base::bodies::{Points, Shape};
use gravitile::base::cells::Cells;
use gravitile::base::look::{Look, Palette};
use gravitile::base::params::{self, Choice};
use gravitile::engine::Engine;
use gravitile::engine::config::Config;
use gravitile::modes;
use gravitile::view::{self, Camera, Canvas, View, middle};
use image::RgbImage;

use crate::support::{self, gravity, scene};

const SIZE: (u32, u32) = (320, 200);
const ASPECT: f32 = 1.6;

/// Returns plain appearance settings, changed by the settings in `words`.
fn look(words: &[(&str, &str)]) -> Look {
    let mut look = Look::plain();
    words.iter().for_each(|(key, value)| params::set(&mut look, key, value).unwrap());
    look
}

fn bodies(rows: &[([f32; 3], f32)]) -> Points {
    Points {
        positions: rows.iter().map(|([x, y, z], w)| [*x, *y, *z, *w]).collect(),
        values: vec![0.5; rows.len()].into(),
        ..Points::default()
    }
}

/// Uploads several frames in sequence and draws the last one.
fn film(frames: &[Points], camera: &Camera, look: &Look) -> RgbImage {
    let offscreen = Canvas::offscreen(SIZE).expect("OpenGL without a window");
    let mut view = View::new(offscreen.context()).expect("the shaders compile");
    view.set_look(look).unwrap();
    frames.iter().for_each(|points| view.upload(points, [0.0, 1.0]).unwrap());
    offscreen.render(|surface| view.draw(surface, camera, None)).expect("a picture")
}

fn draw(points: &Points, camera: &Camera, words: &[(&str, &str)]) -> RgbImage {
    film(std::slice::from_ref(points), camera, &look(words))
}

/// Returns a camera that looks along y, so that x points to the right and z points up.
fn front() -> Camera {
    Camera { yaw: 0.0, pitch: 0.0, distance: 4.0, home: 4.0, ..Camera::default() }
}

/// Returns the sum of the colour channels of the pixel that shows `place`, or of the pixel that is `aside` pixels away
/// from it.
fn light(picture: &RgbImage, camera: &Camera, place: [f32; 3], aside: [i32; 2]) -> i32 {
    let at = camera.view_projection(ASPECT).project_point3(place.into());
    let (x, y) = ((at.x + 1.0) / 2.0 * SIZE.0 as f32, (1.0 - at.y) / 2.0 * SIZE.1 as f32);
    let pixel = picture.get_pixel((x as i32 + aside[0]) as u32, (y as i32 + aside[1]) as u32);
    pixel.0.iter().map(|c| i32::from(*c)).sum()
}

fn total(picture: &RgbImage) -> i64 {
    picture.as_raw().iter().map(|c| i64::from(*c)).sum()
}

#[test]
fn bloom_brightens_the_surroundings_of_bright_bodies() {
    for (shape, place) in [(Shape::Glow, [0.0; 3]), (Shape::Spheres { planet: 0.0 }, [0.0; 3])] {
        let points = Points { shape, values: vec![1.0].into(), ..bodies(&[(place, 0.2)]) };
        let [off, weak, strong] = [("off", "0"), ("on", "0.3"), ("on", "0.9")].map(|(bloom, share)| {
            let words = [("bloom", bloom), ("bloom_strength", share), ("exposure", "1")];
            draw(&points, &front(), &words)
        });
        let beside = |picture| light(picture, &front(), [-0.2, 0.0, 0.2], [-12, -12]);
        let dark = light(&off, &front(), [0.0; 3], [150, 90]);
        assert_eq!(beside(&off), dark, "{shape:?}: there is nothing without it");
        assert!(beside(&weak) > dark + 3, "{shape:?}: {} over {dark}", beside(&weak));
        assert!(beside(&strong) > beside(&weak) + 5, "{shape:?}: {}", beside(&strong));
        assert!(light(&strong, &front(), [0.0; 3], [150, 90]) < dark + 30, "{shape:?}: it fades");
    }
}

#[test]
fn a_body_without_a_known_value_is_grey_and_faint() {
    let places = [([-0.6, 0.0, 0.0], Points::UNMEASURED), ([0.6, 0.0, 0.0], 0.0)];
    let points = Points {
        values: places.iter().map(|(_, value)| *value).collect(),
        ..bodies(&places.map(|(at, _)| (at, 1.0)))
    };
    let picture = draw(&points, &front(), &[]);
    let [unknown, known] = places.map(|(place, _)| {
        let at = front().view_projection(ASPECT).project_point3(place.into());
        let (x, y) = ((at.x + 1.0) / 2.0 * SIZE.0 as f32, (1.0 - at.y) / 2.0 * SIZE.1 as f32);
        picture.get_pixel(x as u32, y as u32).0.map(i32::from)
    });
    let spread = |[r, g, b]: [i32; 3]| r.max(g).max(b) - r.min(g).min(b);
    assert!(spread(unknown) < 25 && spread(known) > 60, "{unknown:?} {known:?}");
    let sum = |pixel: [i32; 3]| pixel.iter().sum::<i32>();
    assert!(2 * sum(unknown) < sum(known) && sum(unknown) > 60, "{unknown:?} {known:?}");
}

#[test]
fn automatic_bloom_is_on_unless_the_view_omits_it() {
    let offscreen = Canvas::offscreen(SIZE).unwrap();
    let mut view = View::new(offscreen.context()).unwrap();
    view.upload(&bodies(&[([0.0; 3], 0.2)]), [0.0, 1.0]).unwrap();
    let mut draw = |bloom: &str, omits: bool| {
        view.set_look(&look(&[("bloom", bloom), ("exposure", "1")])).unwrap();
        view.omit_auto_bloom(omits);
        offscreen.render(|surface| view.draw(surface, &front(), None)).unwrap()
    };
    let (on, off) = (draw("on", false), draw("off", false));
    assert!(on != off);
    assert!(draw("auto", false) == on && draw("auto", true) == off && draw("on", true) == on);
}

/// Returns the frames of a film of a body that moves from left to right.
fn flight(shape: Shape, pictures: usize) -> Vec<Points> {
    let at = |nth: usize| ([-1.2 + 0.06 * nth as f32, 0.0, 0.2], 0.05);
    (0..=pictures).map(|nth| Points { shape, ..bodies(&[at(nth)]) }).collect()
}

#[test]
fn trails_show_where_bodies_were_and_fade() {
    for shape in [Shape::Glow, Shape::Spheres { planet: 0.0 }, Shape::Tracers { half: [1.0, 1.0] }] {
        let frames = flight(shape, 30);
        let on_its_way = |picture: &RgbImage, nth: usize| {
            light(picture, &front(), [-1.2 + 0.06 * nth as f32 + 0.03, 0.0, 0.2], [0, 0])
        };
        let without = film(&frames, &front(), &look(&[("exposure", "2")]));
        let with = film(&frames, &front(), &look(&[("exposure", "2"), ("trails", "20")]));
        let dark = on_its_way(&without, 14);
        let [fresh, old, gone] = [24, 14, 6].map(|nth| on_its_way(&with, nth));
        assert!(fresh > old + 10 && old > dark + 3, "{shape:?}: {fresh} {old} over {dark}");
        assert!((gone - dark).abs() <= 2, "{shape:?}: {gone} over {dark}");
        let beside = light(&with, &front(), [0.0, 0.0, 0.2], [0, 12]);
        assert!((beside - dark).abs() <= 2, "{shape:?}: {beside} over {dark}");
    }
}

#[test]
fn a_jump_in_time_resets_the_colour_range_immediately() {
    let offscreen = Canvas::offscreen(SIZE).unwrap();
    let mut view = View::new(offscreen.context()).unwrap();
    view.set_look(&Look::plain()).unwrap();
    let points = &flight(Shape::Glow, 1)[0];
    let mut after = |ranges: &[f32], forgets: bool| {
        ranges.iter().for_each(|most| view.upload(points, [0.0, *most]).unwrap());
        if forgets {
            view.reset_history();
        }
        view.upload(points, [0.0, 1.0]).unwrap();
        offscreen.render(|surface| view.draw(surface, &front(), None)).unwrap()
    };
    let right = after(&[], true);
    assert!(after(&[1e9], false) != right, "it follows slowly what goes on");
    assert!(after(&[1e9], true) == right);
}

#[test]
fn trails_are_cleared_with_their_scene_and_do_not_cross_the_picture() {
    let offscreen = Canvas::offscreen(SIZE).unwrap();
    let mut view = View::new(offscreen.context()).unwrap();
    view.set_look(&look(&[("trails", "20")])).unwrap();
    let mut after = |frames: &[Points], forgets: bool| {
        frames.iter().for_each(|points| view.upload(points, [0.0, 1.0]).unwrap());
        if forgets {
            view.reset_history();
            view.upload(frames.last().unwrap(), [0.0, 1.0]).unwrap();
        }
        offscreen.render(|surface| view.draw(surface, &front(), None)).unwrap()
    };
    let frames = flight(Shape::Glow, 10);
    let last = film(&frames[10..], &front(), &Look::plain());
    assert!(total(&after(&frames, false)) > total(&last));
    assert!(after(&frames, true) == last);
    // If the number of bodies changes, the trails end, even if nothing else says that the scene is another one.
    let two = bodies(&[([0.0; 3], 0.1), ([0.5, 0.0, 0.0], 0.1)]);
    assert!(after(std::slice::from_ref(&two), false) == film(&[two], &front(), &Look::plain()));
    // A tracer that leaves the flow on the right enters on the left.
    let shape = Shape::Tracers { half: [1.0, 0.5] };
    let [right, left] = [0.95, -0.95].map(|x| Points { shape, ..bodies(&[([x, 0.0, 0.0], 1.0)]) });
    let round = after(&[right, left.clone()], false);
    assert_eq!(light(&round, &front(), [0.0; 3], [0, 0]), light(&round, &front(), [0.0, 0.0, 0.8], [0, 0]));
}

#[test]
fn too_many_bodies_for_trails_are_reported_before_the_next_picture() {
    let offscreen = Canvas::offscreen(SIZE).unwrap();
    let mut view = View::new(offscreen.context()).unwrap();
    let many = bodies(&vec![([0.0; 3], 1e-6); (1 << 19) + 1]);
    view.upload(&many, [0.0, 1.0]).unwrap();
    for (trails, lacks) in [("0", false), ("20", true), ("0", false)] {
        view.set_look(&look(&[("trails", trails)])).unwrap();
        assert_eq!(view.lacks_trails(), lacks, "{trails}");
    }
    view.set_look(&look(&[("trails", "20")])).unwrap();
    view.upload(&bodies(&[([0.0; 3], 0.1)]), [0.0, 1.0]).unwrap();
    assert!(!view.lacks_trails());
}

#[test]
fn exposure_brightens_the_picture_and_automatic_exposure_adapts() {
    let points = bodies(&[([0.0; 3], 0.1)]);
    let beside =
        |exposure| light(&draw(&points, &front(), &[("exposure", exposure)]), &front(), [0.0; 3], [7, 0]);
    let [dim, plain, bright] = ["-2", "0", "2"].map(beside);
    assert!(dim + 5 < plain && plain + 5 < bright, "{dim} {plain} {bright}");

    // The picture of a crowd of bodies is overexposed without automatic exposure; that of a single body is not.
    let crowd = bodies(
        &(0..3600)
            .map(|i| ([(i % 60) as f32 * 0.01 - 0.3, 0.0, (i / 60) as f32 * 0.01 - 0.3], 0.1))
            .collect::<Vec<_>>(),
    );
    let auto = |points: &Points, on| total(&draw(points, &front(), &[("auto_exposure", on)]));
    assert!(auto(&crowd, "on") < auto(&crowd, "off") * 98 / 100);
    let [with, without] = ["on", "off"].map(|on| auto(&points, on) - auto(&Points::default(), "off"));
    let ratio = with as f64 / without as f64;
    assert!((0.5..2.0).contains(&ratio), "a lone body stays what it is: {ratio}");
}

#[test]
fn stars_ignore_camera_translation_and_follow_camera_rotation() {
    let stars = |camera: &Camera| draw(&Points::default(), camera, &[("stars", "1")]);
    let here = stars(&front());
    let lit = here.pixels().filter(|pixel| pixel.0.into_iter().max() > Some(90)).count();
    assert!((50..2000).contains(&lit), "{lit} of {} pixels", here.pixels().len());
    assert!(stars(&Camera { target: [9.0, 3.0, 0.0].into(), distance: 2.0, ..front() }) == here);
    assert!(stars(&Camera { yaw: 0.5, ..front() }) != here);
    let balls = Points { shape: Shape::Spheres { planet: 0.5 }, ..Points::default() };
    let covered = draw(&balls, &front(), &[("stars", "1")]);
    let bare = draw(&balls, &front(), &[]);
    assert!(
        covered != bare
            && light(&covered, &front(), [0.0; 3], [3, 5]) == light(&bare, &front(), [0.0; 3], [3, 5])
    );
}

/// Looks in several directions: the band of the Milky Way is visible only in some of them, brighter than the rest of
/// the sky and fainter than a star.
#[test]
fn the_milky_way_is_a_band_across_the_sky() {
    let bright = |yaw: f32, pitch: f32| {
        let camera = Camera { yaw, pitch, ..front() };
        let picture = draw(&Points::default(), &camera, &[("stars", "1")]);
        // The band covers about a fifth of the picture, and stars cover less than a tenth.
        let mut levels: Vec<u8> = picture.pixels().map(|pixel| pixel.0.into_iter().max().unwrap()).collect();
        let rank = levels.len() * 85 / 100;
        *levels.select_nth_unstable(rank).1
    };
    let around: Vec<u8> =
        (0..12).flat_map(|turn| [-0.9, 0.0, 0.9].map(|pitch| bright(turn as f32 * 0.52, pitch))).collect();
    let (least, most) = (around.iter().min().unwrap(), around.iter().max().unwrap());
    assert!(most - least > 8 && *most < 80, "{around:?}");
}

#[test]
fn a_trail_is_a_smooth_curve_through_few_positions() {
    // A body on a circle around the origin, which moves by an eighth of a turn from one picture to the next.
    let at = |turns: f32| {
        let angle = std::f32::consts::TAU * turns;
        [angle.cos(), 0.0, angle.sin()]
    };
    let frames: Vec<_> = (0..=6).map(|nth| bodies(&[(at(nth as f32 / 8.0), 0.02)])).collect();
    let words = look(&[("trails", "40"), ("exposure", "2")]);
    let picture = film(&frames, &front(), &words);
    let dark = light(&picture, &front(), [0.0; 3], [0, 0]);
    for nth in 1..5 {
        let middle = at((nth as f32 + 0.5) / 8.0);
        let chord = middle.map(|c| c * std::f32::consts::FRAC_PI_8.cos());
        let [curve, straight] = [middle, chord].map(|place| light(&picture, &front(), place, [0, 0]));
        assert!(
            curve > dark + 60 && straight < curve / 2,
            "segment {nth}: {curve} on the circle, {straight} inside"
        );
    }
}

/// The light theme exchanges light and dark, and keeps the hues.
#[test]
fn the_light_theme_has_a_light_picture() {
    let points = bodies(&[([0.0; 3], 0.2)]);
    let [dark, light] = ["dark", "light"].map(|theme| draw(&points, &front(), &[("theme", theme)]));
    assert!(light.get_pixel(3, 3).0.iter().all(|c| *c > 235), "{:?}", light.get_pixel(3, 3));
    for (before, after) in dark.pixels().zip(light.pixels()) {
        let ([r, g, b], [r2, g2, b2]) = (before.0.map(i32::from), after.0.map(i32::from));
        // The colours of the picture are rounded twice, so they may differ by one level.
        assert!((r - g - (r2 - g2)).abs() <= 1 && (g - b - (g2 - b2)).abs() <= 1, "{before:?} {after:?}");
        let sum = |r: i32, g: i32, b: i32| r.max(g).max(b) + r.min(g).min(b);
        assert!((sum(r, g, b) + sum(r2, g2, b2) - 510).abs() <= 2, "{before:?} {after:?}");
    }
}

/// Draws more bodies than the limit for sprites, once all as sprites and once with an image of their light, and
/// compares the pictures.
#[test]
fn a_light_image_looks_like_the_sprites() {
    let offscreen = Canvas::offscreen(SIZE).unwrap();
    let count = if view::is_software(offscreen.context()) { 20_000 } else { 1 << 19 };
    let mut engine = support::engine(scene("plummer", Some(count), &[]));
    for zoom in [1.0, 0.6] {
        engine.show_light(None);
        let all = published(&mut engine);
        let mut view = View::new(offscreen.context()).unwrap();
        view.set_look(&look(&[("palette", "plasma")])).unwrap();
        view.upload(&all, all.value_range()).unwrap();
        let mut camera = Camera::default();
        camera.frame_all(&all, ASPECT);
        camera.zoom(zoom, [0.0; 2]);
        let picture =
            |view: &mut View| offscreen.render(|surface| view.draw(surface, &camera, None)).unwrap();
        let sprites = picture(&mut view);
        let request = view.light_request(&camera, SIZE.into()).expect("there are many bodies");
        // Light that is spread over several pixels would fill the space between the sprites.
        engine.show_light(Some(LightRequest { spread_below: 0.0, ..request.clone() }));
        let lit = published(&mut engine);
        assert_eq!(lit.light.as_ref().map(|light| light.size), Some(request.size));
        view.upload(&lit, lit.value_range()).unwrap();
        let image = picture(&mut view);
        assert!(image != sprites);
        // Single bodies are softer in the image, so that only areas can be compared.
        let areas = |picture| image::imageops::resize(picture, 20, 12, image::imageops::FilterType::Triangle);
        let (mean, most) = difference(&areas(&sprites), &areas(&image));
        assert!(mean < 5.0 && most < 40, "zoom {zoom}: {mean} grey levels in the mean, {most} at most");
        // The request for the image does not depend on the image that was drawn before.
        assert_eq!(view.light_request(&camera, SIZE.into()), Some(request));
    }
}

#[test]
fn few_or_near_bodies_are_drawn_without_a_light_image() {
    let offscreen = Canvas::offscreen(SIZE).unwrap();
    let mut view = View::new(offscreen.context()).unwrap();
    let many = bodies(&vec![([0.0; 3], 1e-6); (1 << 18) + 1]);
    view.upload(&many, [0.0, 1.0]).unwrap();
    assert!(view.light_request(&front(), SIZE.into()).is_some());
    assert_eq!(view.light_request(&front(), [0, 200]), None, "there is no picture");
    let near = Camera { distance: 0.02, ..front() };
    view.set_look(&look(&[("point_size", "4")])).unwrap();
    assert_eq!(view.light_request(&near, SIZE.into()), None, "each body is large");
    view.set_look(&Look::plain()).unwrap();
    view.upload(&bodies(&[([0.0; 3], 0.1)]), [0.0, 1.0]).unwrap();
    assert_eq!(view.light_request(&front(), SIZE.into()), None, "there is one body");
    view.upload(&Points { shape: Shape::Spheres { planet: 0.0 }, ..many }, [0.0, 1.0]).unwrap();
    assert_eq!(view.light_request(&front(), SIZE.into()), None, "balls have no light of their own");
}

#[test]
fn the_depth_cue_dims_distant_bodies() {
    for shape in [Shape::Glow, Shape::Spheres { planet: 0.0 }] {
        let (near, far) = ([-0.6, 0.0, 0.0], [1.2, 4.0, 0.0]);
        let points = Points { shape, ..bodies(&[(near, 0.2), (far, 0.2)]) };
        let [off, on] =
            ["0", "1"].map(|cue| draw(&points, &front(), &[("depth_cue", cue), ("exposure", "-2")]));
        assert_eq!(light(&off, &front(), near, [0, 0]), light(&on, &front(), near, [0, 0]), "{shape:?}");
        let [without, with] = [&off, &on].map(|picture| light(picture, &front(), far, [0, 0]));
        assert!(with + 10 < without, "{shape:?}: {with} of {without}");
    }
}

#[test]
fn the_grid_lies_in_its_plane_and_axes_have_their_colours() {
    let camera = Camera { yaw: 0.3, pitch: 0.7, ..front() };
    let off = draw(&Points::default(), &camera, &[]);
    let on = draw(&Points::default(), &camera, &[("grid", "on")]);
    let hue = |place: [f32; 3]| {
        let at = camera.view_projection(ASPECT).project_point3(place.into());
        let (x, y) = ((at.x + 1.0) / 2.0 * SIZE.0 as f32, (1.0 - at.y) / 2.0 * SIZE.1 as f32);
        on.get_pixel(x as u32, y as u32).0
    };
    let ([r, g, b], [r2, g2, b2], [r3, _, b3]) =
        (hue([0.73, 0.0, 0.0]), hue([0.0, 0.73, 0.0]), hue([0.0, 0.0, 0.4]));
    assert!(r > g.max(b) + 30, "x is red: {r} {g} {b}");
    assert!(g2 > r2.max(b2) + 20, "y is green: {r2} {g2} {b2}");
    assert!(b3 > r3 + 30, "z is blue: {r3} {b3}");
    let lines = on.pixels().zip(off.pixels()).filter(|(a, b)| a != b).count() as f64;
    let share = lines / on.pixels().len() as f64;
    assert!((0.02..0.6).contains(&share), "{share} of the picture");
    // At a tenth of the distance, the grid's squares are a tenth as large.
    assert!(
        (camera.grid_spacing() / Camera { distance: 0.4, ..camera.clone() }.grid_spacing() - 10.0).abs()
            < 1e-3
    );
}

#[test]
fn cells_are_thin_boxes_behind_the_bodies() {
    let corners = |half: f32| [[-half; 3], [half; 3]];
    let ball = bodies(&[([0.0; 3], 0.1)]);
    let with = |cells: Cells| Points { cells: Some(cells), ..ball.clone() };
    let camera = Camera { yaw: 0.3, pitch: 0.2, ..front() };
    let picture = |points: &Points, on| draw(points, &camera, &[("cells", on)]);
    let without = picture(&ball, "on");
    let level = with(Cells { level: vec![corners(0.5), corners(0.25)], ..Cells::default() });
    assert!(picture(&level, "off") == without, "the look turns them off");
    let mut totals = Vec::new();
    for cells in [
        Cells { level: vec![corners(0.5)], ..Cells::default() },
        Cells { opened: vec![corners(0.5)], ..Cells::default() },
        Cells { taken: vec![corners(0.5)], ..Cells::default() },
    ] {
        let seen = picture(&with(cells), "on");
        let changed: Vec<_> = seen.pixels().zip(without.pixels()).filter(|(a, b)| a != b).collect();
        let share = changed.len() as f64 / seen.pixels().len() as f64;
        assert!((0.005..0.06).contains(&share), "{share} of the picture");
        let sum = |channel: usize| {
            changed.iter().map(|(a, b)| i64::from(a.0[channel]) - i64::from(b.0[channel])).sum::<i64>()
        };
        totals.push([0, 1, 2].map(sum));
    }
    let [_, [red, _, little], [least, _, blue]] = totals[..] else { panic!("{totals:?}") };
    assert!(red > 2 * little && blue > 2 * least, "opened cells are orange, taken ones blue: {totals:?}");
    // A camera inside a box sees only the edges in front of it, and no streaks from the edges behind it.
    let inside = Camera { distance: 0.1, ..camera.clone() };
    let around = with(Cells { level: vec![corners(3.0)], ..Cells::default() });
    let [seen, dark] = [around, ball.clone()].map(|points| draw(&points, &inside, &[("cells", "on")]));
    let share =
        seen.pixels().zip(dark.pixels()).filter(|(a, b)| a != b).count() as f64 / seen.pixels().len() as f64;
    assert!((0.001..0.06).contains(&share), "{share} of the picture");
}

#[test]
fn a_picture_of_a_tree_shows_its_cells() {
    for variant in ["tree", "vector"] {
        let config = Config { variant: gravity().variant(variant), ..scene("plummer", Some(2000), &[]) };
        let mut engine = support::engine(config);
        let looks = [("cells", "off"), ("cells", "on")].map(|words| look(&[words]));
        let pictures = looks.map(|look| {
            engine.show_cells(look.cells_for(None));
            let (points, _) = engine.publish(Points::default()).unwrap().wait().unwrap();
            assert_eq!(points.cells.is_some(), look.cells && variant == "tree");
            film(&[points], &front(), &look)
        });
        assert_eq!(pictures[0] != pictures[1], variant == "tree");
    }
}

#[test]
fn every_palette_colours_low_and_high_values() {
    for (palette, opt) in Palette::OPTIONS {
        for value in [0.0, 0.3, 0.5, 1.0] {
            let points = Points { values: vec![value].into(), ..bodies(&[([0.0; 3], 0.1)]) };
            let picture = draw(&points, &front(), &[("palette", opt.name), ("exposure", "-4")]);
            let dark = picture.get_pixel(0, 0).0.map(f32::from);
            let found = picture.get_pixel(SIZE.0 / 2, SIZE.1 / 2).0.map(f32::from);
            // The pixel is a mixture of the palette's colour and the background.
            let by = |a: [f32; 3], b: [f32; 3]| glam::Vec3::from(a) - glam::Vec3::from(b);
            let (seen, hue) = (by(found, dark), by(palette.colour(value).map(f32::from), dark));
            let share = seen.dot(hue) / hue.length_squared();
            let off = (seen - hue * share).length();
            assert!(share > 0.2 && off < 8.0, "{}, {value}: {share} of the light, {off} off", opt.name);
        }
    }
}

#[test]
fn points_have_the_requested_size() {
    let points = bodies(&[([0.0; 3], 0.1)]);
    let size = |factor| {
        let picture = draw(&points, &front(), &[("point_size", factor)]);
        picture.pixels().filter(|pixel| pixel.0[0] > 40).count() as f64
    };
    let ratio = size("1") / size("0.5");
    assert!((3.0..5.0).contains(&ratio), "{ratio}");
}

/// Returns the number of bright pixels in the columns `x` of the picture's middle row.
fn width(picture: &RgbImage, x: std::ops::Range<u32>) -> usize {
    x.filter(|x| picture.get_pixel(*x, SIZE.1 / 2).0[0] > 40).count()
}

#[test]
fn heavier_and_nearer_bodies_are_drawn_larger() {
    let [left, right] = [0..SIZE.0 / 2, SIZE.0 / 2..SIZE.0];
    // The heavier body has the typical mass.
    let masses = draw(&bodies(&[([-0.6, 0.0, 0.0], 1.0), ([0.6, 0.0, 0.0], 0.1)]), &front(), &[]);
    let [heavy, light] = [left.clone(), right.clone()].map(|half| width(&masses, half));
    assert!(light > 0 && heavy as f64 > 1.5 * light as f64, "{heavy} and {light} pixels");
    // The eye is at y = -4.
    let places = draw(&bodies(&[([-0.6, -2.0, 0.0], 1.0), ([0.6, 2.0, 0.0], 1.0)]), &front(), &[]);
    let [near, far] = [left, right].map(|half| width(&places, half));
    assert!(far > 0 && near as f64 > 1.5 * far as f64, "{near} and {far} pixels");
}

#[test]
fn nonfinite_positions_are_not_drawn_and_nan_values_get_the_lowest_colour() {
    let nan = f32::NAN;
    let three = |third: [f32; 3]| bodies(&[([-0.5, 0.0, 0.0], 0.1), ([0.5, 0.0, 0.3], 0.1), (third, 0.1)]);
    let away = draw(&three([0.0, 0.0, 900.0]), &front(), &[]);
    for place in [[nan; 3], [nan, 0.0, 0.0], [0.0, 0.0, nan], [f32::INFINITY, 0.0, 0.0]] {
        assert!(draw(&three(place), &front(), &[]) == away, "{place:?}");
    }
    for shape in [Shape::Glow, Shape::Spheres { planet: 0.0 }] {
        let of = |value| Points { shape, values: vec![value].into(), ..bodies(&[([0.0; 3], 0.2)]) };
        assert!(draw(&of(nan), &front(), &[]) == draw(&of(0.0), &front(), &[]), "{shape:?}");
        assert!(draw(&of(1.0), &front(), &[]) != draw(&of(0.0), &front(), &[]), "{shape:?}");
    }
}

#[test]
fn the_middle_of_the_bodies_ignores_distant_outliers() {
    let mut rows = vec![([1.0, 2.0, 0.0], 1.0); 50];
    rows.push(([1e9, 0.0, 0.0], 1.0));
    let at = middle(&bodies(&rows)).unwrap();
    assert!(at.distance([1.0, 2.0, 0.0].into()) < 1e-3, "{at}");
    assert_eq!(middle(&Points::default()), None);
    let balls = Points { shape: Shape::Spheres { planet: 1.0 }, ..bodies(&rows) };
    assert_eq!(middle(&balls), Some([0.0; 3].into()));
}

/// Builds a scene whose colours show the quantity `colour`, and runs some steps.
fn engine(mode: &str, scene: &str, colour: &str, steps: u32) -> Engine {
    let info = modes::find(mode).unwrap();
    let mut config = Config::new(info);
    config.select_scene(info.scene(scene).unwrap());
    config.bodies = Some(400);
    params::set(config.mode.as_mut(), "colour", colour).unwrap();
    if mode == "fluid" {
        params::set(config.mode.as_mut(), "tracers", "3000").unwrap();
    }
    let mut engine = support::engine(config);
    engine.run(steps, |_| ()).unwrap();
    engine
}

fn published(engine: &mut Engine) -> Points {
    engine.publish(Points::default()).unwrap().wait().unwrap().0
}

#[test]
fn each_colour_option_shows_the_quantity_in_its_name() {
    for (mode, scene) in [("gravity", "collision"), ("asteroids", "belt")] {
        for steps in [0, 3] {
            let values = |colour: &str| {
                let mut engine = engine(mode, scene, colour, steps);
                let points = published(&mut engine);
                (points.values.to_vec(), engine.bodies().unwrap())
            };
            let near = |found: f32, right: f32, what: &str| {
                assert!(
                    (found - right).abs() <= 1e-4 * right.abs().max(1e-3),
                    "{mode}, {what}: {found} for {right}"
                );
            };
            let (shown, all) = values("speed");
            for (shown, v) in shown.iter().zip(&all.velocities) {
                near(*shown, v[..3].iter().map(|c| c * c).sum::<f32>().sqrt(), "speed");
            }
            let (shown, all) = values("mass");
            for (shown, x) in shown.iter().zip(&all.positions) {
                near(*shown, if mode == "gravity" { x[3].log10() } else { x[3] }, "mass");
            }
            let (shown, all) = values("height");
            assert!(shown.iter().zip(&all.positions).all(|(shown, x)| *shown == x[2]), "height");
            let (shown, all) = values("origin");
            assert!(shown.iter().zip(all.origins()).all(|(shown, group)| *shown == group), "origin");
            let last = shown.iter().copied().fold(0.0, f32::max);
            let expected = if mode == "gravity" { 3.0 } else { 14.0 };
            assert_eq!(last, expected, "two galaxies of two parts, or eight shells with even numbers");

            let (shown, all) = values("acceleration");
            let at = |i: usize| glam::Vec3::from_slice(&all.positions[i]);
            for (i, shown) in shown.iter().enumerate() {
                let right: f32 = match mode {
                    // Uses G = 1 and the scene's softening length of 0.05.
                    "gravity" => {
                        let pull = |j: usize| {
                            (at(j) - at(i)) * all.positions[j][3]
                                / ((at(j) - at(i)).length_squared() + 0.05 * 0.05).powf(1.5)
                        };
                        (0..all.len()).map(pull).sum::<glam::Vec3>().length()
                    }
                    // Acceleration by the planet, without collisions.
                    _ => at(i).length_squared().recip(),
                };
                let off = (shown - right.log10()).abs();
                assert!(
                    off < 0.01 || mode == "asteroids" && *shown > right.log10() - 0.01,
                    "{mode}: {shown} for {}",
                    right.log10()
                );
            }
        }
    }
}

#[test]
fn changing_the_colour_option_does_not_change_the_simulation() {
    for (mode, scene) in [("gravity", "collision"), ("asteroids", "belt")] {
        let mut plain = engine(mode, scene, "speed", 6);
        let mut painted = engine(mode, scene, "speed", 0);
        for colour in ["acceleration", "origin", "height"] {
            let mut config = painted.config().clone();
            params::set(config.mode.as_mut(), "colour", colour).unwrap();
            painted.configure(config).unwrap();
            published(&mut painted);
            painted.run(2, |_| ()).unwrap();
        }
        assert!(painted.bodies().unwrap() == plain.bodies().unwrap(), "{mode}: to the last bit");
    }
}

/// Returns the mean and the largest difference of two pictures in grey levels. The pictures are blurred before, because
/// drivers place soft sprites slightly differently.
fn difference(a: &RgbImage, b: &RgbImage) -> (f64, i32) {
    assert_eq!(a.dimensions(), b.dimensions());
    let [a, b] =
        [a, b].map(|picture| image::imageops::resize(picture, 40, 25, image::imageops::FilterType::Triangle));
    let off: Vec<i32> = a.as_raw().iter().zip(b.as_raw()).map(|(a, b)| i32::from(a.abs_diff(*b))).collect();
    (f64::from(off.iter().sum::<i32>()) / off.len() as f64, off.into_iter().max().unwrap_or(0))
}

fn golden(name: &str, picture: &RgbImage) {
    let path =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name).with_extension("png");
    // Halving the size averages out the dithering.
    let picture =
        &image::imageops::resize(picture, SIZE.0 / 2, SIZE.1 / 2, image::imageops::FilterType::Triangle);
    if std::env::var_os("GRAVITILE_KEEP_PICTURES").is_some() {
        picture.save(&path).unwrap();
    }
    let kept = image::open(&path).unwrap_or_else(|error| panic!("{name}: {error}")).into_rgb8();
    let (mean, most) = difference(picture, &kept);
    assert!(mean < 1.0 && most < 20, "{name}: {mean} grey levels in the mean, {most} at most");
}

fn shown(points: &[Points], words: &[(&str, &str)]) -> RgbImage {
    let last = points.last().unwrap();
    let mut camera = Camera::facing(last.shape);
    camera.frame_all(last, ASPECT);
    let offscreen = Canvas::offscreen(SIZE).unwrap();
    let mut view = View::new(offscreen.context()).unwrap();
    view.set_look(&look(words)).unwrap();
    points.iter().for_each(|points| view.upload(points, points.value_range()).unwrap());
    offscreen.render(|surface| view.draw(surface, &camera, None)).unwrap()
}

#[test]
fn pictures_match_the_stored_pictures() {
    let mut kept: Vec<(String, RgbImage)> = Vec::new();
    for (mode, scene, colours) in [
        ("gravity", "collision", &["speed", "mass", "acceleration", "origin", "height"][..]),
        ("asteroids", "belt", &["speed", "mass", "acceleration", "origin", "height", "hit"]),
        ("fluid", "cylinder", &["speed", "vorticity"]),
    ] {
        for colour in colours {
            let points = published(&mut engine(mode, scene, colour, 20));
            kept.push((format!("{mode}-{colour}"), shown(&[points], &[])));
        }
    }
    let mut moving = engine("gravity", "collision", "origin", 50);
    let film: Vec<Points> = (0..20)
        .map(|_| {
            moving.run(5, |_| ()).unwrap();
            published(&mut moving)
        })
        .collect();
    kept.push(("trails".to_owned(), shown(&film, &[("trails", "20")])));
    kept.push(("bloom".to_owned(), shown(&film[19..], &[("bloom", "on"), ("bloom_strength", "0.6")])));
    for (name, picture) in &kept {
        golden(name, picture);
    }
    // If the tolerance were too large, one picture could be mistaken for another.
    for (nth, (a, one)) in kept.iter().enumerate() {
        for (b, other) in kept[nth + 1..].iter().filter(|(b, _)| b.split('-').next() == a.split('-').next()) {
            // On circular orbits, fast bodies also have a large acceleration.
            if (a.as_str(), b.as_str()) == ("asteroids-speed", "asteroids-acceleration") {
                continue;
            }
            let (mean, most) = difference(one, other);
            assert!(mean > 1.0 || most > 20, "{a} and {b} look the same: {mean} {most}");
        }
    }
}
