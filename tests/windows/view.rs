//! Tests the contents of pictures, which are drawn without a display on any available graphics device.

use gravitile::base::bodies::{Points, Shape};
use gravitile::base::error::Error;
use gravitile::base::flow::{Image, Tones};
use gravitile::base::look::{EffectMode, Look, Palette};
use gravitile::view::{BACKGROUND, Camera, Canvas, View};
use image::{Rgb, RgbImage};

const SIZE: (u32, u32) = (320, 200);
const ASPECT: f32 = 1.6;

/// Returns bodies of mass 1 with these positions and values.
fn bodies(rows: &[([f32; 3], f32)]) -> Points {
    Points {
        positions: rows.iter().map(|([x, y, z], _)| [*x, *y, *z, 1.0]).collect(),
        values: rows.iter().map(|(_, value)| *value).collect(),
        shape: Shape::Glow,
        ..Points::default()
    }
}

/// Returns `count` bodies on a spherical spiral that is dense in the middle, like a star cluster.
fn cluster(count: usize) -> Points {
    let at = |i: usize| {
        let share = (i as f32 + 0.5) / count as f32;
        let radius = 0.6 / (share.powf(-2.0 / 3.0) - 0.98).sqrt();
        let (z, turn) = (1.0 - 2.0 * (i as f32 * 0.754_877_7).fract(), i as f32 * 2.399_963_1);
        let flat = (1.0 - z * z).sqrt() * radius;
        ([flat * turn.cos(), flat * turn.sin(), z * radius], 1.0 / (1.0 + radius))
    };
    bodies(&(0..count).map(at).collect::<Vec<_>>())
}

/// Returns the values at the ends of the colour map. Balls get fixed ends, because two balls are too few for
/// percentiles.
fn value_range(points: &Points) -> [f32; 2] {
    if points.shape == Shape::Glow { points.value_range() } else { [0.0, 1.0] }
}

fn draw(points: &Points, camera: &Camera, size: (u32, u32)) -> RgbImage {
    draw_with(points, (camera, &Look::plain()), size)
}

fn draw_with(points: &Points, (camera, look): (&Camera, &Look), size: (u32, u32)) -> RgbImage {
    let offscreen = Canvas::offscreen(size).expect("OpenGL without a window");
    let mut view = View::new(offscreen.context()).expect("the shaders compile");
    view.set_look(look).expect("the look is set");
    view.upload(points, value_range(points)).expect("there is room");
    offscreen.render(|surface| view.draw(surface, camera, None)).expect("a picture")
}

/// Returns the brightest channel of a pixel, 0 to 255.
fn brightness(pixel: &Rgb<u8>) -> u8 {
    pixel.0.into_iter().max().unwrap_or(0)
}

/// Returns the fraction of the pixels whose brightness is at least `least`.
fn share_above(picture: &RgbImage, least: u8) -> f64 {
    let count = picture.pixels().filter(|p| brightness(p) >= least).count();
    count as f64 / picture.pixels().len() as f64
}

fn background(pixel: &Rgb<u8>) -> bool {
    pixel.0.iter().zip(BACKGROUND).all(|(is, want)| (f32::from(*is) - want * 255.0).abs() <= 1.5)
}

/// Returns the pixel at which a point appears.
fn pixel(camera: &Camera, [x, y, z]: [f32; 3], (width, height): (u32, u32)) -> (u32, u32) {
    let at = camera.view_projection(width as f32 / height as f32).project_point3([x, y, z].into());
    (((at.x + 1.0) / 2.0 * width as f32) as u32, ((1.0 - at.y) / 2.0 * height as f32) as u32)
}

#[test]
fn an_empty_scene_shows_only_the_background() {
    let picture = draw(&Points::default(), &Camera::default(), SIZE);
    assert_eq!(picture.dimensions(), SIZE);
    assert!(picture.pixels().all(background));
}

#[test]
fn a_lone_body_shines_where_it_is_and_only_there() {
    let place = [0.6, -0.2, 0.3];
    let camera = Camera::default();
    let picture = draw(&bodies(&[(place, 1.0)]), &camera, SIZE);
    let (x, y) = pixel(&camera, place, SIZE);
    assert!(brightness(picture.get_pixel(x, y)) > 200, "{:?}", picture.get_pixel(x, y));
    for (x, y, other) in picture.enumerate_pixels() {
        let far =
            x.abs_diff(pixel(&camera, place, SIZE).0) > 40 || y.abs_diff(pixel(&camera, place, SIZE).1) > 40;
        assert!(!far || background(other), "({x}, {y}) is {other:?}");
    }
}

#[test]
fn pictures_are_upright() {
    let picture = draw(&bodies(&[([0.0, 0.0, 0.7], 1.0)]), &Camera::default(), SIZE);
    let rows = |range: std::ops::Range<u32>| {
        let bright = |(_, y, p): &(u32, u32, &Rgb<u8>)| range.contains(y) && brightness(p) > 100;
        picture.enumerate_pixels().filter(bright).count()
    };
    assert!(rows(0..100) > 5);
    assert_eq!(rows(100..200), 0);
}

#[test]
fn slow_bodies_are_blue_and_fast_bodies_are_warm() {
    let camera = Camera { yaw: 0.0, ..Default::default() };
    let rows = [([-0.7, 0.0, 0.0], 0.0), ([0.0, 0.0, 0.0], 0.5), ([0.7, 0.0, 0.0], 1.0)];
    let picture = draw(&bodies(&rows), &camera, SIZE);
    let [slow, middle, fast] = rows.map(|(place, _)| {
        let (x, y) = pixel(&camera, place, SIZE);
        let Rgb([r, _, b]) = *picture.get_pixel(x, y);
        f32::from(r) / f32::from(b)
    });
    assert!(slow < 0.9, "{slow}");
    assert!(middle > 1.1 && fast >= 1.0, "{middle} {fast}");
}

#[test]
fn a_crowd_of_bodies_glows_without_overexposure() {
    for count in [4_096, 65_536] {
        let points = cluster(count);
        let mut camera = Camera::default();
        camera.frame_all(&points, ASPECT);
        let picture = draw(&points, &camera, SIZE);
        let (glow, burnt) = (share_above(&picture, 30), share_above(&picture, 240));
        assert!(glow > 0.04, "{count}: {glow} is lit");
        assert!(burnt < glow / 8.0, "{count}: {burnt} of {glow} is at full brightness");
    }
}

#[test]
fn a_larger_picture_shows_the_same() {
    let points = bodies(&[([-0.5, 0.0, 0.0], 0.0), ([0.5, 0.3, 0.0], 1.0), ([0.0, 0.0, 0.5], 0.4)]);
    let [small, large] = [1, 3].map(|scale| {
        let picture = draw(&points, &Camera::default(), (SIZE.0 * scale, SIZE.1 * scale));
        share_above(&picture, 100)
    });
    assert!(small > 0.002, "{small}");
    assert!((large / small - 1.0).abs() < 0.2, "{small} {large}");
}

#[test]
fn bodies_can_be_replaced_and_drawn_in_part_of_the_picture() {
    let offscreen = Canvas::offscreen(SIZE).expect("OpenGL without a window");
    let mut view = View::new(offscreen.context()).expect("the shaders compile");
    let camera = Camera::default();
    for count in [100, 5_000, 0, 3] {
        let points = cluster(count);
        view.upload(&points, points.value_range()).expect("there is room");
        let area = glium::Rect { left: 160, bottom: 0, width: 160, height: 200 };
        let picture = offscreen.render(|surface| {
            glium::Surface::clear_color(surface, 1.0, 0.0, 0.0, 1.0);
            view.draw(surface, &camera, Some(area))
        });
        let picture = picture.expect("a picture");
        let red = picture.enumerate_pixels().filter(|(_, _, p)| p.0 == [255, 0, 0]).map(|(x, ..)| x);
        let red: Vec<u32> = red.collect();
        assert_eq!((red.len(), red.iter().max()), (160 * 200, Some(&159)));
        let lit = picture.enumerate_pixels().filter(|(x, _, p)| *x >= 160 && !background(p)).count();
        assert_eq!(lit > 0, count > 0, "{count} bodies light {lit} pixels");
    }
}

#[test]
fn only_areas_hidden_behind_a_window_are_left_undrawn() {
    let offscreen = Canvas::offscreen(SIZE).expect("OpenGL without a window");
    let mut view = View::new(offscreen.context()).expect("the shaders compile");
    let points = cluster(5_000);
    view.upload(&points, points.value_range()).expect("there is room");
    let area = glium::Rect { left: 20, bottom: 10, width: 280, height: 180 };
    // Counted from the upper left corner, the hidden part has x from 100 to 179 and y from 60 to 129.
    let hidden = glium::Rect { left: 100, bottom: 70, width: 80, height: 70 };
    let [whole, beside] = [None, Some(hidden)].map(|hidden| {
        let picture = offscreen.render(|surface| {
            glium::Surface::clear_color(surface, 1.0, 0.0, 0.0, 1.0);
            view.draw_beside(surface, &Camera::default(), (Some(area), hidden))
        });
        picture.expect("a picture")
    });
    for (x, y, pixel) in beside.enumerate_pixels() {
        let is_hidden = (100..180).contains(&x) && (60..130).contains(&y);
        let wanted = if is_hidden { [255, 0, 0] } else { whole.get_pixel(x, y).0 };
        assert_eq!(pixel.0, wanted, "{x}, {y}");
    }
}

#[test]
fn bodies_with_invalid_values_do_not_spoil_the_picture() {
    let mut points = cluster(100);
    points.positions[3] = [f32::NAN, 0.0, 0.0, 1.0];
    points.positions[4] = [0.0, f32::INFINITY, 0.0, 1.0];
    points.positions[5] = [1e18, -1e18, 1e18, 1.0];
    points.positions[6][3] = f32::NAN;
    (points.positions[7][3], points.values[7]) = (0.0, f32::NAN);
    let picture = draw(&points, &Camera::default(), SIZE);
    assert!(background(picture.get_pixel(0, 0)) && background(picture.get_pixel(319, 199)));
    let whole = draw(&cluster(100), &Camera::default(), SIZE);
    let lit = share_above(&picture, 60) / share_above(&whole, 60);
    assert!((0.85..1.0).contains(&lit), "{lit} of the light is left");
}

#[test]
fn sizes_that_cannot_be_drawn_are_refused() {
    for size in [(0, 100), (100, 0), (u32::MAX, 100), (100, 100_000)] {
        match Canvas::offscreen(size) {
            Err(Error::Graphics(text)) => {
                assert!(text.contains(&format!("{} × {}", size.0, size.1)), "{text}");
            }
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("{size:?} was accepted"),
        }
    }
}

/// Returns balls `(position, radius)` with increasing values, and a planet of radius `planet`. The balls do not flash,
/// because the last four bits of their radii are 0.
fn balls(rows: &[([f32; 3], f32)], planet: f32) -> Points {
    let dark = |radius: f32| f32::from_bits(radius.to_bits() & !15);
    Points {
        positions: rows.iter().map(|([x, y, z], radius)| [*x, *y, *z, dark(*radius)]).collect(),
        values: (0..rows.len()).map(|i| i as f32).collect(),
        shape: Shape::Spheres { planet },
        ..Points::default()
    }
}

/// Returns a camera that looks along y, so that x points to the right and z points up.
fn front() -> Camera {
    Camera { yaw: 0.0, pitch: 0.0, distance: 4.0, ..Camera::default() }
}

/// Returns red minus blue of the pixel at `place`: high for large values, low for small values.
fn warmth(picture: &RgbImage, camera: &Camera, place: [f32; 3]) -> i32 {
    let (x, y) = pixel(camera, place, picture.dimensions());
    let Rgb([red, _, blue]) = *picture.get_pixel(x, y);
    i32::from(red) - i32::from(blue)
}

/// Returns whether the ray through the centre of a pixel passes the ball's centre within `radii` times the ball's
/// radius.
fn is_hit(
    camera: &Camera,
    (x, y): (u32, u32),
    (width, height): (u32, u32),
    ball: [f32; 4],
    radii: f32,
) -> bool {
    let aspect = width as f32 / height as f32;
    let back = camera.view_projection(aspect).inverse();
    let at = [(x as f32 + 0.5) / width as f32 * 2.0 - 1.0, 1.0 - (y as f32 + 0.5) / height as f32 * 2.0];
    let [near, far] = [0.1, 0.9].map(|depth| back.project_point3([at[0], at[1], depth].into()));
    let (ray, to_ball) = ((far - near).normalize(), glam::Vec3::new(ball[0], ball[1], ball[2]) - near);
    to_ball.cross(ray).length() < ball[3] * radii
}

#[test]
fn a_ball_has_the_outline_of_its_radius() {
    // Balls in the middle of the picture, at the side (where the outline is an ellipse), near the eye, and small balls.
    for ([x, y, z], radius) in
        [([0.0; 3], 0.8), ([1.7, -0.5, 1.0], 0.35), ([-0.5, -3.0, 0.2], 0.2), ([0.4, 3.0, -0.3], 0.1)]
    {
        let picture = draw(&balls(&[([x, y, z], radius)], 0.0), &front(), SIZE);
        let distance = glam::Vec3::new(x, y + 4.0, z).length();
        let in_pixels = radius / distance / (0.4f32.tan() * 2.0 / SIZE.1 as f32);
        let (mut inside, mut outside) = (0, 0);
        for (column, row, colour) in picture.enumerate_pixels() {
            let hit = |radii| is_hit(&front(), (column, row), SIZE, [x, y, z, radius], radii);
            if hit(1.0 - 1.0 / in_pixels) {
                inside += 1;
                assert!(!background(colour), "({column}, {row}) of a ball at {x} {y} {z} is not covered");
            } else if !hit(1.0 + 1.0 / in_pixels) {
                outside += 1;
                assert!(background(colour), "({column}, {row}) beside a ball at {x} {y} {z} is {colour:?}");
            }
        }
        assert!(inside > 10 && outside > 10_000, "{inside} {outside}");
    }
}

#[test]
fn a_nearer_ball_hides_a_farther_one_whichever_comes_first() {
    let (near, far) = ([0.0, -0.5, 0.0], [0.0, 0.6, 0.0]);
    let warm_in_front = draw(&balls(&[(far, 0.4), (near, 0.3)], 0.0), &front(), SIZE);
    let cold_in_front = draw(&balls(&[(near, 0.3), (far, 0.4)], 0.0), &front(), SIZE);
    assert!(warmth(&warm_in_front, &front(), near) > 10);
    assert!(warmth(&cold_in_front, &front(), near) < -50);
}

#[test]
fn intersecting_balls_meet_at_the_correct_boundary() {
    // Side by side, intersecting balls are separated by a plane. In line, the ball with the nearer front is visible.
    for swap in [false, true] {
        let mut rows = [([-0.3, 0.0, 0.0], 0.5), ([0.3, 0.0, 0.0], 0.5)];
        if swap {
            rows.swap(0, 1);
        }
        let picture = draw(&balls(&rows, 0.0), &front(), SIZE);
        let side = |x: f32| warmth(&picture, &front(), [x, 0.0, 0.0]);
        let (left, right) = if swap { (side(0.04), side(-0.04)) } else { (side(-0.04), side(0.04)) };
        assert!(left < -30 && right > -15, "{left} {right}");
    }
    // The front of the large ball is at −0.5; the front of the small ball is at −0.45 (inside) or −0.55 (outside).
    for (behind, hidden) in [(-0.35, true), (-0.45, false)] {
        let picture = draw(&balls(&[([0.0; 3], 0.5), ([0.0, behind, 0.0], 0.1)], 0.0), &front(), SIZE);
        let middle = warmth(&picture, &front(), [0.0; 3]);
        assert_eq!(middle < -30, hidden, "{middle}");
    }
}

#[test]
fn the_side_towards_the_sun_is_brighter() {
    let picture = draw(&balls(&[([0.0; 3], 0.8)], 0.0), &front(), SIZE);
    // The surface is rough, so the test compares means.
    let mean = |x: u32| (60..140).map(|y| u32::from(brightness(picture.get_pixel(x, y)))).sum::<u32>() / 80;
    let (lit, dark) = (mean(130), mean(200));
    assert!(dark > 10 && lit > 2 * dark, "{lit} {dark}");
}

#[test]
fn the_planet_occludes_bodies_and_is_occluded_by_bodies() {
    let (behind, before) = ([0.0, 0.8, 0.0], [0.2, -0.8, 0.0]);
    let bare = draw(&balls(&[], 0.5), &front(), SIZE);
    assert!(!background(bare.get_pixel(160, 100)), "it is there without bodies");
    let hidden = draw(&balls(&[(behind, 0.2)], 0.5), &front(), SIZE);
    assert_eq!(hidden.get_pixel(160, 100), bare.get_pixel(160, 100));
    let shown = draw(&balls(&[(behind, 0.2), (before, 0.1)], 0.5), &front(), SIZE);
    let (x, y) = pixel(&front(), before, SIZE);
    assert_ne!(shown.get_pixel(x, y), bare.get_pixel(x, y));
    // The planet is larger than any point sprite can be, and its centre is outside of the picture.
    let beside = Camera { target: [1.5, 0.0, 0.0].into(), distance: 2.5, ..front() };
    let near = draw(&balls(&[], 0.5), &beside, (1280, 800));
    assert!(!background(near.get_pixel(10, 400)) && background(near.get_pixel(900, 400)));
}

#[test]
fn rings_and_their_planet_shade_each_other_and_the_planet_has_an_atmosphere() {
    // A dense thin ring between 1.4 and 1.8 radii of the planet.
    let ring: Vec<([f32; 3], f32)> = (0..20_000)
        .map(|nth| {
            let (angle, radius) = (nth as f32 * 2.4, (0.49 + 0.32 * (nth % 997) as f32 / 997.0).sqrt());
            ([radius * angle.cos(), radius * angle.sin(), 0.0], 0.004)
        })
        .collect();
    let (with, without) = (draw(&balls(&ring, 0.5), &front(), SIZE), draw(&balls(&[], 0.5), &front(), SIZE));
    let light = |picture: &RgbImage, place| {
        let (x, y) = pixel(&front(), place, SIZE);
        i32::from(brightness(picture.get_pixel(x, y)))
    };
    // The sun stands to the left, in front and above, so the shadow falls on the planet's lower half.
    let (below, above) = ([-0.35, -0.34, -0.1], [-0.25, -0.34, 0.27]);
    assert!(light(&with, below) + 40 < light(&without, below), "{}", light(&with, below));
    assert!((light(&with, above) - light(&without, above)).abs() < 3);
    let beside = |x: f32| light(&without, [x, 0.0, 0.0]);
    assert!(beside(-0.53) > beside(-0.7) + 5, "{} {}", beside(-0.53), beside(-0.7));
    assert!(beside(-0.53) > beside(0.53) + 5, "the atmosphere shines on the sun's side");
}

#[test]
fn a_body_that_was_hit_flashes() {
    let light = |bits: u32| {
        let rows: Vec<_> = (0..40).map(|nth| ([9.0 * nth as f32, 0.0, 0.0], 0.1)).collect();
        let mut points = balls(&rows, 0.0);
        let radius = &mut points.positions[0][3];
        *radius = f32::from_bits(radius.to_bits() | bits);
        let picture = draw(&points, &front(), SIZE);
        let (x, y) = pixel(&front(), [0.05, 0.0, 0.0], SIZE);
        brightness(picture.get_pixel(x, y))
    };
    let [dark, fading, fresh] = [0, 7, 15].map(light);
    assert!(fresh > fading + 10 && fading > dark + 10, "{dark} {fading} {fresh}");
}

#[test]
fn excluded_balls_are_not_drawn() {
    let infinite = [f32::INFINITY, 0.0, 0.0];
    let held_out = [([0.0; 3], 0.0), ([0.3, 0.0, 0.0], f32::NAN), ([f32::NAN; 3], 0.3), (infinite, 0.2)];
    let points = balls(&held_out, 0.0);
    assert!(draw(&points, &front(), SIZE).pixels().all(background));
}

/// Returns an image of 40 × 20 pixels whose left quarter is solid, and whose values rise to the right elsewhere.
fn ramp(tones: Tones) -> Points {
    let value = |x: usize| if x < 10 { Image::WALL } else { x as f32 - 25.0 };
    let values = (0..800).map(|i| value(i % 40)).collect();
    Points {
        shape: Shape::Tracers { half: [1.0, 0.5] },
        image: Image { width: 40, height: 20, values, tones },
        ..Points::default()
    }
}

fn faced(points: &Points) -> Camera {
    let mut camera = Camera::facing(points.shape);
    camera.frame_all(points, ASPECT);
    camera
}

#[test]
fn crowded_balls_have_dark_gaps() {
    let one = [([0.0; 3], 0.15)];
    let mut crowd: Vec<_> =
        (0..9).map(|i| ([0.3 * (i % 3 - 1) as f32, 0.0, 0.3 * (i / 3 - 1) as f32], 0.15)).collect();
    // A second layer of balls, visible through the gaps of the first.
    crowd.extend((0..4).map(|i| ([0.3 * (i % 2) as f32 - 0.15, 0.22, 0.3 * (i / 2) as f32 - 0.15], 0.15)));
    let look = |occlusion| Look { occlusion, ..Look::plain() };
    let light = |rows: &[([f32; 3], f32)], occlusion, at: [f32; 3]| {
        let picture = draw_with(&balls(rows, 0.0), (&front(), &look(occlusion)), SIZE);
        let (x, y) = pixel(&front(), at, SIZE);
        f64::from(picture.get_pixel(x, y).0.into_iter().map(u32::from).sum::<u32>())
    };
    let kept =
        |rows: &[([f32; 3], f32)], at| light(rows, EffectMode::On, at) / light(rows, EffectMode::Off, at);
    let (gap, top) = ([0.15, 0.1, 0.15], [0.0, -0.15, 0.0]);
    assert!(kept(&crowd, gap) < 0.85, "{} in a gap", kept(&crowd, gap));
    assert!(kept(&crowd, top) > 0.95, "{} in front", kept(&crowd, top));
    assert!(kept(&one, top) > 0.99, "a single ball is as bright as without");
}

#[test]
fn a_fast_picture_of_separate_balls_equals_the_exact_one() {
    let at = |i: usize| {
        let [x, y, z] = [0.754_877_7, 0.569_840_3, 0.327_3].map(|step| 1.6 * (i as f32 * step).fract() - 0.8);
        ([x, y, z], if i == 0 { 0.2 } else { 0.08 })
    };
    let rows: Vec<_> = (0..120).map(at).collect();
    let apart = |(a, r): ([f32; 3], f32), (b, s): ([f32; 3], f32)| {
        (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f32>().sqrt() > r + s
    };
    let rows: Vec<_> = (0..rows.len())
        .filter(|i| rows[..*i].iter().all(|row| apart(*row, rows[*i])))
        .map(|i| rows[i])
        .collect();
    let crowd = balls(&rows, 0.0);
    let intersecting = balls(&[([-0.3, 0.0, 0.0], 0.5), ([0.3, 0.0, 0.0], 0.5)], 0.0);
    let offscreen = Canvas::offscreen(SIZE).unwrap();
    let mut view = View::new(offscreen.context()).unwrap();
    view.simplify_spheres().unwrap();
    let mut picture = |points: &Points, is_exact: bool| {
        view.upload(points, value_range(points)).unwrap();
        let drawn = offscreen.render(|surface| match is_exact {
            true => view.draw_exactly(surface, &front()),
            false => view.draw(surface, &front(), None),
        });
        drawn.unwrap()
    };
    let off = |a: &RgbImage, b: &RgbImage| {
        a.pixels()
            .zip(b.pixels())
            .filter(|(a, b)| a.0.iter().zip(b.0).any(|(a, b)| a.abs_diff(b) > 30))
            .count()
    };
    let exact = draw(&crowd, &front(), SIZE);
    assert!(rows.len() > 20 && share_above(&exact, 40) > 0.02);
    // The soft outlines of balls in front of other balls are blended in another order, so a few pixels differ.
    assert!(off(&picture(&crowd, false), &exact) < 20, "{} pixels", off(&picture(&crowd, false), &exact));
    for points in [&crowd, &intersecting] {
        assert_eq!(picture(points, true), draw(points, &front(), SIZE));
    }
}

#[test]
fn a_palette_change_recolours_a_paused_flow() {
    let points = ramp(Tones::Rising);
    let offscreen = Canvas::offscreen(SIZE).unwrap();
    let mut view = View::new(offscreen.context()).unwrap();
    view.upload(&points, value_range(&points)).unwrap();
    let mut picture = |palette| {
        view.set_look(&Look { palette, ..Look::plain() }).unwrap();
        offscreen.render(|surface| view.draw(surface, &faced(&points), None)).unwrap()
    };
    let [viridis, magma] = [Palette::Viridis, Palette::Magma].map(&mut picture);
    assert!(share_above(&viridis, 150) > 0.05 && share_above(&magma, 150) > 0.05 && viridis != magma);
}

#[test]
fn a_flow_is_drawn_on_its_plane() {
    let points = ramp(Tones::Signed);
    let camera = faced(&points);
    let picture = draw(&points, &camera, SIZE);
    let at = |x: f32, y: f32| {
        let (x, y) = pixel(&camera, [x, y, 0.0], SIZE);
        picture.get_pixel(x, y).0.map(i32::from)
    };
    for (x, y) in [(0.0, 0.6), (0.0, -0.6)] {
        assert!(background(&Rgb(at(x, y).map(|c| c as u8))), "beside the plane");
    }
    let stone = at(-0.75, 0.1);
    assert!((stone[0] - 84).abs() < 3 && (stone[2] - 107).abs() < 3, "{stone:?}");
    let (below, none, above) = (at(-0.3, 0.0), at(0.25, 0.0), at(0.95, 0.0));
    assert!(below[2] > below[0] + 40 && above[0] > above[2] + 40, "{below:?} {above:?}");
    assert!(none.iter().sum::<i32>() < 80, "{none:?}");
    let rising = draw(&ramp(Tones::Spread), &camera, SIZE);
    let light = |x: f32| {
        let (x, y) = pixel(&camera, [x, 0.0, 0.0], SIZE);
        i32::from(brightness(rising.get_pixel(x, y)))
    };
    assert!(light(-0.3) < light(0.3) && light(0.3) < light(0.9));
    let plain = draw(&ramp(Tones::None), &camera, SIZE);
    assert!(share_above(&plain, 60) > 0.05 && share_above(&plain, 60) < 0.4, "only stone is bright");
}

#[test]
fn tracers_glow_over_their_flow_and_hidden_ones_do_not() {
    let bare = ramp(Tones::None);
    let camera = faced(&bare);
    let with = |w: f32| Points {
        positions: vec![[0.5, 0.2, 0.0, w]].into(),
        values: vec![0.3].into(),
        ..bare.clone()
    };
    let empty = draw(&bare, &camera, SIZE);
    assert!(draw(&with(0.0), &camera, SIZE) == empty, "it is hidden");
    let lit = draw(&with(1.0), &camera, SIZE);
    let (x, y) = pixel(&camera, [0.5, 0.2, 0.0], SIZE);
    assert!(brightness(lit.get_pixel(x, y)) > 110, "{:?}", lit.get_pixel(x, y));
    let moving = Points { positions: vec![[0.5, 0.2, 0.01, 1.0]].into(), ..with(1.0) };
    let streak = draw(&moving, &camera, SIZE);
    let light = |x: f32| {
        let (x, y) = pixel(&camera, [x, 0.2, 0.0], SIZE);
        brightness(streak.get_pixel(x, y))
    };
    assert!(light(0.485) > 40 && light(0.485) > light(0.515) + 20, "{} {}", light(0.485), light(0.515));
    let (x, y) = pixel(&camera, [-0.75, -0.3, 0.0], SIZE);
    assert_eq!(lit.get_pixel(x, y), empty.get_pixel(x, y), "stone stays what it was");
    let entering = Points { positions: vec![[0.98, 0.2, -0.01, 1.0]].into(), ..with(1.0) };
    let (x, y) = pixel(&camera, [1.02, 0.2, 0.0], SIZE);
    assert_eq!(
        draw(&entering, &camera, SIZE).get_pixel(x, y),
        empty.get_pixel(x, y),
        "streaks end at the edge"
    );
}

#[test]
fn edges_of_walls_are_shaded_and_a_single_solid_cell_is_visible() {
    let bare = ramp(Tones::None);
    let camera = faced(&bare);
    let at = |picture: &RgbImage, x: f32| {
        let (x, y) = pixel(&camera, [x, 0.025, 0.0], SIZE);
        i32::from(brightness(picture.get_pixel(x, y)))
    };
    let picture = draw(&bare, &camera, SIZE);
    // The wall ends at x = −0.5. Its right edge faces away from the light.
    let (edge, middle) = (at(&picture, -0.53), at(&picture, -0.75));
    assert!(edge < middle - 10, "{edge} {middle}");
    let mut image = bare.image.clone();
    image.values[10 * 40 + 30] = Image::WALL;
    let lone = draw(&Points { image, ..bare.clone() }, &camera, SIZE);
    assert!(at(&lone, 0.525) > at(&picture, 0.525) + 50, "{} {}", at(&lone, 0.525), at(&picture, 0.525));
}

/// The colour range jumps when the meaning of the colours changes, even if the number of bodies stays the same.
#[test]
fn the_colour_range_resets_when_the_meaning_of_colours_changes() {
    let offscreen = Canvas::offscreen(SIZE).expect("OpenGL without a window");
    let mut view = View::new(offscreen.context()).expect("the shaders compile");
    let before = cluster(500);
    let mut after = before.clone();
    after.values.iter_mut().for_each(|value| *value = 100.0 + 10.0 * *value);
    for colours in [0, 1] {
        view.upload(&before, before.value_range()).expect("there is room");
        after.colours = colours;
        view.upload(&after, after.value_range()).expect("there is room");
        let picture = offscreen.render(|surface| view.draw(surface, &front(), None)).expect("a picture");
        assert_eq!(picture == draw(&after, &front(), SIZE), colours == 1);
    }
}

#[test]
fn alternating_between_glows_and_balls_leaves_no_remnants() {
    let offscreen = Canvas::offscreen(SIZE).expect("OpenGL without a window");
    let mut view = View::new(offscreen.context()).expect("the shaders compile");
    let spheres = balls(&[([-0.4, 0.0, 0.2], 0.3), ([0.4, 0.0, 0.0], 0.2)], 0.25);
    let glows = Points { shape: Shape::Glow, ..spheres.clone() };
    for points in [&glows, &spheres, &glows, &spheres, &spheres] {
        view.upload(points, value_range(points)).expect("there is room");
        let picture = offscreen.render(|surface| view.draw(surface, &front(), None)).expect("a picture");
        let again = offscreen.render(|surface| view.draw(surface, &front(), None)).expect("a picture");
        let fresh = draw(points, &front(), SIZE);
        assert!(picture == fresh && again == fresh, "{:?} keeps something of the other", points.shape);
    }
    assert!(draw(&glows, &front(), SIZE) != draw(&spheres, &front(), SIZE));
}
