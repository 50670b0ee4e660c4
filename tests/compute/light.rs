//! Tests the image of the light of all bodies by comparing it with sums on the host.

use glam::Vec4;
use gravitile::base::bodies::Points;
use gravitile::base::look::Palette;
use gravitile::base::params::Choice;
use gravitile::base::{LightImage, LightRequest, Sprites};
use gravitile::compute::Device;
use gravitile::engine::Engine;
use gravitile::modes::gravity::Colour;
use gravitile::scene::Scene;
use gravitile::view::Camera;

use crate::support::{cpu, gpu, scene};

const SIZE: [u32; 2] = [64, 40];

/// Returns a request for an image of `points` in which all of them are in view.
fn request(points: &Points) -> LightRequest {
    let mut camera = Camera::default();
    camera.frame_all(points, 1.6);
    LightRequest {
        view_projection: camera.view_projection(1.6).to_cols_array_2d(),
        size: SIZE,
        sprites: Sprites {
            mass_scale: 3000.0,
            size: 2.0,
            size_limits: [1.5, 160.0],
            distance: camera.distance,
            light: 1.5,
            depth_cue: 1.2,
        },
        palette: Palette::Ice,
        value_range: {
            let [low, high] = points.value_range();
            [low - 0.1, high + 0.1]
        },
        spread_below: 0.0,
        listed: usize::MAX,
    }
}

fn published(engine: &mut Engine, request: Option<&LightRequest>) -> Points {
    engine.show_light(request.cloned());
    engine.publish(Points::default()).unwrap().wait().unwrap().0
}

/// Returns the image that `points` should have: each body lights the four nearest pixels.
fn expected(points: &Points, request: &LightRequest) -> Vec<[f64; 4]> {
    let [width, height] = request.size.map(|side| side as usize);
    let mut sums = vec![[0.0; 4]; width * height];
    let matrix = glam::Mat4::from_cols_array_2d(&request.view_projection);
    let Sprites { mass_scale, size, size_limits, distance, light, depth_cue } = request.sprites;
    let [low, high] = request.value_range;
    for ([x, y, z, mass], value) in points.positions.iter().zip(points.values.iter()) {
        let at = matrix * Vec4::new(*x, *y, *z, 1.0);
        if at.x.abs() >= at.w || at.y.abs() >= at.w {
            continue;
        }
        let girth = if mass_scale > 0.0 { f64::from(mass * mass_scale).cbrt().max(0.5) } else { 1.0 };
        let girth = if girth > 4.0 { 4.0 + 0.32 * (girth / 4.0).log2() } else { girth };
        let near = f64::from(distance / at.w);
        let diameter = (f64::from(size) * girth * near)
            .clamp(0.1 * f64::from(size_limits[0]), f64::from(size_limits[1]));
        let cue = near.min(1.0).powf(f64::from(depth_cue));
        let light = f64::from(light) * cue * diameter * diameter * std::f64::consts::PI / 16.0;
        let [r, g, b] = request.palette.colour((value - low) / (high - low)).map(|c| f64::from(c) / 255.0);
        let place = [(at.x, width), (at.y, height)]
            .map(|(c, side)| (0.5 + 0.5 * f64::from(c / at.w)) * side as f64 - 0.5);
        for (right, up) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            let part = |c: f64, next: i32| if next == 1 { c - c.floor() } else { 1.0 - (c - c.floor()) };
            let share = light * part(place[0], right) * part(place[1], up);
            // Pixels at an edge take the light that would fall outside.
            let pixel =
                |c: f64, next: i32, side: usize| (c.floor() as i32 + next).clamp(0, side as i32 - 1) as usize;
            let (column, row) = (pixel(place[0], right, width), pixel(place[1], up, height));
            let sum = &mut sums[row * width + column];
            sum.iter_mut().zip([r, g, b, 1.0]).for_each(|(sum, part)| *sum += share * part);
        }
    }
    sums
}

fn pixels(light: &LightImage) -> Vec<[f64; 4]> {
    light.pixels().iter().map(|pixel| pixel.map(half::f16::to_f64)).collect()
}

fn the_image_is_the_sum_of_the_light_of_all_bodies(device: &Device) {
    for count in [1, 3000, 20_000] {
        let mut engine =
            Engine::new(device.clone(), scene("galaxy", Some(count), &[("colour", "speed")])).unwrap();
        let whole = published(&mut engine, None);
        assert!(whole.light.is_none());
        let all = request(&whole);
        // A camera near the centre leaves most bodies out of view.
        let near = {
            let mut camera = Camera::default();
            camera.frame_all(&whole, 1.6);
            camera.distance *= 0.2;
            camera.view_projection(1.6).to_cols_array_2d()
        };
        let plain = Sprites { mass_scale: 0.0, depth_cue: 0.0, ..all.sprites };
        let requests = [
            LightRequest { view_projection: near, ..all.clone() },
            LightRequest { sprites: plain, size: [65, 41], ..all.clone() },
            LightRequest { size: [2, 2], ..all.clone() },
            all,
        ];
        for request in &requests {
            let points = published(&mut engine, Some(request));
            assert!(points.positions == whole.positions && points.values == whole.values);
            let light = points.light.as_ref().unwrap();
            assert_eq!((light.bodies, light.size, points.nonfinite()), (count, request.size, 0));
            let (found, right) = (pixels(light), expected(&whole, request));
            let total: f64 = right.iter().map(|pixel| pixel[3]).sum();
            let off: f64 =
                found.iter().flatten().zip(right.iter().flatten()).map(|(a, b)| (a - b).abs()).sum();
            assert!(off < 0.01 * total, "{count} bodies, {:?}: off by {off} of {total}", request.size);
            let again = published(&mut engine, Some(request)).light.unwrap();
            assert!(again == *light, "{count}: the image depends on the order of the work-items");
        }
    }
}

#[test]
fn the_image_is_the_sum_of_the_light_of_all_bodies_on_the_cpu() {
    the_image_is_the_sum_of_the_light_of_all_bodies(&cpu());
}

#[test]
fn the_image_is_the_sum_of_the_light_of_all_bodies_on_a_gpu() {
    gpu().iter().for_each(the_image_is_the_sum_of_the_light_of_all_bodies);
}

/// Returns the image that results from `sums`, the light in each pixel, if pixels with less light than `little` show
/// the light of larger pixels.
fn spread(sums: &[[f64; 4]], [width, height]: [usize; 2], little: f64, halvings: u32) -> Vec<[f64; 4]> {
    if halvings == 0 {
        return sums.to_vec();
    }
    let half = [width, height].map(|side| side.div_ceil(2));
    let mut halved = vec![[0.0; 4]; half[0] * half[1]];
    for (nth, sum) in sums.iter().enumerate() {
        let pixel = &mut halved[nth / width / 2 * half[0] + nth % width / 2];
        pixel.iter_mut().zip(sum).for_each(|(pixel, sum)| *pixel += sum);
    }
    let halved = spread(&halved, half, little, halvings - 1);
    let shown = |(nth, own): (usize, &[f64; 4])| {
        // Returns the nearest two columns or rows of the smaller image, with their weights.
        let nearest = |at: usize, side: usize| {
            let next = if at % 2 == 1 { (at / 2 + 1).min(side - 1) } else { (at / 2).saturating_sub(1) };
            [(at / 2, 0.75), (next, 0.25)]
        };
        let mut light = [0.0; 4];
        for (row, by_row) in nearest(nth / width, half[1]) {
            for (column, by_column) in nearest(nth % width, half[0]) {
                let pixel = halved[row * half[0] + column];
                light.iter_mut().zip(pixel).for_each(|(light, c)| *light += by_row * by_column * c / 4.0);
            }
        }
        let much = ((light[3] - little) / (9.0 * little)).clamp(0.0, 1.0);
        let much = much * much * (3.0 - 2.0 * much);
        std::array::from_fn(|c| light[c] + much * (own[c] - light[c]))
    };
    sums.iter().enumerate().map(shown).collect()
}

fn light_of_few_bodies_is_spread(device: &Device) {
    for (count, spread_below) in [(1, 0.3), (300, 0.3), (20_000, 0.3), (20_000, 30.0)] {
        let mut engine =
            Engine::new(device.clone(), scene("galaxy", Some(count), &[("colour", "speed")])).unwrap();
        let whole = published(&mut engine, None);
        let request = LightRequest { spread_below, ..request(&whole) };
        let points = published(&mut engine, Some(&request));
        let (found, sums) = (pixels(points.light.as_ref().unwrap()), expected(&whole, &request));
        let Sprites { size, light, .. } = request.sprites;
        let body = f64::from(light * size * size) * std::f64::consts::PI / 16.0;
        let right = spread(&sums, SIZE.map(|side| side as usize), f64::from(spread_below) * body, 5);
        let total = |pixels: &[[f64; 4]]| pixels.iter().map(|pixel| pixel[3]).sum::<f64>();
        let off: f64 = found.iter().flatten().zip(right.iter().flatten()).map(|(a, b)| (a - b).abs()).sum();
        assert!(off < 0.02 * total(&right), "{count} bodies: off by {off} of {}", total(&right));
        // A crowded pixel keeps its own light, although its surroundings also show a part of it.
        let kept = total(&found) / total(&sums);
        assert!((0.7..1.5).contains(&kept), "{count} bodies: {kept} of the light is left");
        let lit = |pixels: &[[f64; 4]]| pixels.iter().filter(|pixel| pixel[3] > 0.0).count();
        assert!(lit(&found) > lit(&sums), "{count} bodies light more pixels");
    }
}

#[test]
fn light_of_sparse_bodies_is_spread_over_nearby_pixels_on_the_cpu() {
    light_of_few_bodies_is_spread(&cpu());
}

#[test]
fn light_of_sparse_bodies_is_spread_over_nearby_pixels_on_a_gpu() {
    gpu().iter().for_each(light_of_few_bodies_is_spread);
}

fn a_part_of_the_bodies_is_listed(device: &Device) {
    let mut engine = Engine::new(device.clone(), scene("plummer", Some(1000), &[])).unwrap();
    let whole = published(&mut engine, None);
    for (listed, stride) in [(1000, 1), (999, 3), (100, 11), (3, 335), (1, 1001)] {
        let points = published(&mut engine, Some(&LightRequest { listed, ..request(&whole) }));
        assert_eq!((points.body(1), points.bodies()), (stride, 1000));
        let right: Vec<_> = whole.positions.iter().step_by(stride).copied().collect();
        let values: Vec<_> = whole.values.iter().step_by(stride).copied().collect();
        assert!(*points.positions == *right && *points.values == *values, "{listed} of 1000 bodies");
    }
    // Without a request for an image, all bodies are listed again.
    assert!(published(&mut engine, None).positions == whole.positions);
}

#[test]
fn a_light_request_lists_a_subset_of_the_bodies_on_the_cpu() {
    a_part_of_the_bodies_is_listed(&cpu());
}

#[test]
fn a_light_request_lists_a_subset_of_the_bodies_on_a_gpu() {
    gpu().iter().for_each(a_part_of_the_bodies_is_listed);
}

#[test]
fn excluded_bodies_are_counted_and_have_no_light() {
    let mut bodies = Engine::new(cpu(), scene("plummer", Some(100), &[])).unwrap().bodies().unwrap();
    let mut config = scene("plummer", None, &[]);
    for body in [3, 50, 99] {
        bodies.velocities[body] = [f32::NAN; 4];
        bodies.positions[body][3] = 0.0;
    }
    config.start = Scene::of_bodies("excluded", bodies);
    let mut engine = Engine::new(cpu(), config).unwrap();
    let whole = published(&mut engine, None);
    assert_eq!(whole.nonfinite(), 3);
    let request = request(&whole);
    let listed = published(&mut engine, Some(&LightRequest { listed: 7, ..request.clone() }));
    assert_eq!(listed.nonfinite(), 3, "all bodies are counted, not only those listed");
    let mut seen = whole.clone();
    let kept = (0..100).filter(|body| ![3, 50, 99].contains(body));
    (seen.positions, seen.values) = (
        kept.clone().map(|body| whole.positions[body]).collect(),
        kept.map(|body| whole.values[body]).collect(),
    );
    let right: f64 = expected(&seen, &request).iter().map(|pixel| pixel[3]).sum();
    let found: f64 = pixels(&listed.light.unwrap()).iter().map(|pixel| pixel[3]).sum();
    assert!((found / right - 1.0).abs() < 0.01, "{found} for {right}");
}

#[test]
fn colours_computed_by_the_host_have_no_light_image() {
    for colour in ["error", "own"] {
        let mut engine = Engine::new(cpu(), scene("plummer", Some(100), &[("colour", colour)])).unwrap();
        let whole = published(&mut engine, None);
        assert!(published(&mut engine, Some(&request(&whole))).light.is_none(), "{colour}");
    }
}

/// Checks the colours of stars: golden in the bulge, white to blue in the disc, and the same at every step.
#[test]
fn bulges_are_golden_and_discs_blue() {
    let mut engine =
        Engine::new(cpu(), scene("galaxy", Some(4000), &[("colour", Colour::Stars.name())])).unwrap();
    let parts: Vec<f32> = engine.bodies().unwrap().origins().collect();
    let colours = |points: &Points| -> Vec<[f32; 3]> {
        let rgb = |value: &f32| {
            assert!((Points::LOWEST_COLOUR..3e38).contains(value), "{value:e} stands for no colour");
            let [_, r, g, b] = ((value.to_bits() & 0x7f_ffff) << 1).to_be_bytes();
            [r, g, b].map(f32::from)
        };
        points.values.iter().map(rgb).collect()
    };
    let first = published(&mut engine, None);
    let warmth = |part: f32| {
        let ratios: Vec<f32> = colours(&first)
            .iter()
            .zip(&parts)
            .filter(|(_, its)| **its == part)
            .map(|([r, _, b], _)| r / b.max(1.0))
            .collect();
        assert!(ratios.len() > 100);
        ratios.iter().sum::<f32>() / ratios.len() as f32
    };
    let (bulge, disc) = (warmth(0.0), warmth(1.0));
    assert!(bulge > 1.3 && disc < 1.0, "red over blue: {bulge} in the bulge, {disc} in the disc");
    engine.run(3, |_| ()).unwrap();
    assert!(published(&mut engine, None).values == first.values, "stars keep their colour");
}

#[test]
fn dark_halos_are_faint() {
    let mut engine =
        Engine::new(cpu(), scene("disc", Some(4000), &[("colour", Colour::Stars.name())])).unwrap();
    let parts: Vec<f32> = engine.bodies().unwrap().origins().collect();
    let points = published(&mut engine, None);
    assert!(parts.iter().filter(|part| **part < 0.0).count() > 1000);
    for (part, value) in parts.iter().zip(&*points.values) {
        assert_eq!(*value == Points::UNMEASURED, *part < 0.0, "{value:e} in group {part}");
    }
}
