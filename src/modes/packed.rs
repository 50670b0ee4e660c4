//! Copies the data to draw within device memory, so that steps can continue during the transfer to the host.

use half::f16;

use super::kernels::{source, sources};
use crate::base::{
    LightImage, LightRequest, Palette, Points, Result, Shape, Sprites, invalid, sample_stride,
};
use crate::compute::{Arg, Buffer, Device, DeviceKind, Kernel, KernelSource, Lane, Pass, Pending, Program};

const LIGHT: KernelSource = source!("light.cl");
/// Number of times that the light image is halved in width and height. With 5 halvings, the light of few bodies is
/// spread over at most 32 × 32 pixels.
const HALVINGS: usize = 5;
/// Maximum number of images that the work-items of a CPU draw at the same time.
const MOST_IMAGES: usize = 8;
/// Maximum total number of pixels in the images that a CPU draws at the same time, unless a single image has more.
const MOST_PIXELS: usize = (1 << 23) - MOST_IMAGES;
/// Number of pixels that a CPU can clear and add up in about the time that it takes to draw one body.
const PIXELS_PER_BODY: usize = 16;

/// The `pack` kernel, which computes the points to draw, and its output buffers.
pub(super) struct PackedPoints {
    kernel: Kernel,
    bodies: Bodies,
    /// Kernels and buffers for images of the bodies' light, created for the first image.
    light: Option<Light>,
}

/// Positions and colour values of bodies in device memory.
struct Bodies {
    positions: Buffer<[f32; 4]>,
    values: Buffer<f32>,
}

impl Bodies {
    fn new(device: &Device, count: usize) -> Result<Self> {
        Ok(Self { positions: Buffer::new(device, count)?, values: Buffer::new(device, count)? })
    }

    fn args(&self) -> [Arg<'_>; 2] {
        [(&self.positions).into(), (&self.values).into()]
    }

    /// Queues a copy of the positions and colour values to the host memory of `points`.
    fn read(&self, points: Points) -> Result<Pending<Points>> {
        let Points { positions, values, .. } = points;
        let pending = self.positions.read_into(positions)?.and(self.values.read_into(values)?);
        Ok(pending.map(|(positions, values)| Points { positions, values, ..Points::default() }))
    }
}

impl PackedPoints {
    /// Size of the output buffers in device memory, in bytes per body.
    pub(super) const BYTES_PER_BODY: usize = size_of::<[f32; 4]>() + size_of::<f32>();

    pub(super) fn new(device: &Device, kernel: Kernel, bodies: usize) -> Result<Self> {
        Ok(Self { kernel, bodies: Bodies::new(device, bodies)?, light: None })
    }

    /// Queues the `pack` kernel with `args`, then a copy of its output to `points`, to be drawn as `shape`.
    pub(super) fn publish(
        &self,
        lane: &mut Lane,
        args: &[Arg],
        points: Points,
        shape: Shape,
    ) -> Result<Pending<Points>> {
        self.pack(lane, args)?;
        lane.flush()?;
        Ok(self.bodies.read(points)?.map(move |points| Points { shape, ..points }))
    }

    /// Queues the `pack` kernel with `args`, and the kernels that draw the light of the packed bodies as an image. Then
    /// queues a copy of the image and of some of the bodies to `points`.
    pub(super) fn publish_light(
        &mut self,
        lane: &mut Lane,
        args: &[Arg],
        mut points: Points,
        request: &LightRequest,
    ) -> Result<Pending<Points>> {
        self.pack(lane, args)?;
        let light = match self.light.take() {
            Some(light) => light,
            None => {
                let own_images = lane.device().info.kind == DeviceKind::Cpu;
                Light::new(lane.device(), request.palette, own_images)?
            }
        };
        let light = self.light.insert(light);
        light.draw(lane, &self.bodies, request)?;
        let stride = sample_stride(self.bodies.values.len(), request.listed);
        let listed = if stride > 1 { light.list(lane, &self.bodies, stride)? } else { &self.bodies };
        lane.flush()?;
        let pixels = points.light.take().unwrap_or_default().pixels;
        let (bodies, size) = (self.bodies.values.len(), request.size);
        let pending = listed.read(points)?;
        Ok(pending.and(light.image.read_into(pixels)?).map(move |(points, pixels)| Points {
            skipped: stride - 1,
            light: Some(LightImage { bodies, size, pixels }),
            ..points
        }))
    }

    fn pack(&self, lane: &mut Lane, args: &[Arg]) -> Result<()> {
        let args = [args, &self.bodies.args()].concat();
        lane.whole(Pass::cheap(&self.kernel, &args, self.bodies.values.len()))
    }
}

/// Kernels that draw the light of bodies as an image, and the buffers of the kernels.
struct Light {
    add: Kernel,
    /// Kernel that adds up the images that work-items draw on a CPU; `None` if all work-items draw into one image.
    join: Option<Kernel>,
    halve: Kernel,
    spread: Kernel,
    finish: Kernel,
    list: Kernel,
    /// The current colour map, and its 256 colours in device memory.
    palette: (Palette, Buffer<[u8; 4]>),
    /// Number of images that fit into the buffer of the first level.
    images: usize,
    /// The image of light at full size, then smaller levels, each of half the width and height of the previous level.
    levels: Vec<Level>,
    /// Pixels of the finished image, then an element with the number of bodies excluded because of non-finite values.
    image: Buffer<[f16; 4]>,
    /// Copies of the bodies that are transferred to the host, if only some of all bodies are transferred.
    listed: Bodies,
}

/// An image of light at one resolution.
struct Level {
    /// Width and height in pixels.
    size: [u32; 2],
    /// Sums of light: four numbers per pixel. The first level holds several images in sequence, one for each work-item
    /// that draws. Each of these images ends with four more numbers, the first of which counts quarantined bodies.
    sums: Buffer<[u32; 4]>,
    /// Light that the level displays, in the unit of `sums`. The first level has only one unused element.
    shown: Buffer<[f32; 4]>,
}

impl Level {
    /// Allocates the first level, with room for `images` images of `size` pixels, and all smaller levels.
    fn all(device: &Device, size: [u32; 2], images: usize) -> Result<Vec<Self>> {
        let half = |size: &[u32; 2]| Some(size.map(|side| side.div_ceil(2)));
        let level = |(nth, size): (usize, [u32; 2])| {
            let pixels = size[0] as usize * size[1] as usize;
            let (sums, shown) = if nth == 0 { (images * (pixels + 1), 1) } else { (pixels, pixels) };
            Ok(Self { size, sums: Buffer::new(device, sums)?, shown: Buffer::new(device, shown)? })
        };
        std::iter::successors(Some(size), half).take(HALVINGS + 1).enumerate().map(level).collect()
    }

    fn pixels(&self) -> usize {
        self.size[0] as usize * self.size[1] as usize
    }

    /// Returns the width and height of the level, which are the first arguments of the kernels that read it.
    fn size_args(&self) -> [Arg<'_>; 2] {
        self.size.map(Arg::Uint)
    }
}

impl Light {
    /// Builds the kernels. If `own_images` is set, each work-item draws a separate image, which is faster on a CPU.
    fn new(device: &Device, palette: Palette, own_images: bool) -> Result<Self> {
        let defines = own_images.then(|| ("OWN_IMAGES", "1".to_owned()));
        let program = Program::build(device, &sources(&[LIGHT]), defines.as_slice())?;
        Ok(Self {
            add: program.kernel("add_light")?,
            join: own_images.then(|| program.kernel("join_light")).transpose()?,
            halve: program.kernel("halve_light")?,
            spread: program.kernel("spread_light")?,
            finish: program.kernel("finish_light")?,
            list: program.kernel("list_bodies")?,
            palette: (palette, colours(device, palette)?),
            images: 0,
            levels: Vec::new(),
            image: Buffer::new(device, 1)?,
            listed: Bodies::new(device, 1)?,
        })
    }

    /// Queues the kernels that draw the light of `bodies` into `image`.
    fn draw(&mut self, lane: &mut Lane, bodies: &Bodies, request: &LightRequest) -> Result<()> {
        let LightRequest { view_projection, size, sprites, palette, value_range, spread_below, .. } = request;
        let device = lane.device().clone();
        let [width, height] = *size;
        if self.palette.0 != *palette {
            self.palette = (*palette, colours(&device, *palette)?);
        }
        if width.min(height) < 2 {
            return Err(invalid!(
                "an image needs at least 2 × 2 pixels, but this one has {width} × {height}"
            ));
        }
        let images = self.images(&device, *size, bodies.values.len());
        if self.levels.first().is_none_or(|whole| whole.size != *size) || self.images != images {
            // Frees the old images before it allocates the new ones.
            self.levels.clear();
            (self.levels, self.images) = (Level::all(&device, *size, images)?, images);
            self.image = Buffer::new(&device, self.levels[0].pixels() + 1)?;
        }
        let whole = &self.levels[0];
        let count = bodies.values.len();
        let Sprites { mass_scale, size, size_limits: [least, largest], distance, light, depth_cue } =
            *sprites;
        // With this unit, the sum of a pixel does not overflow, even if all bodies are in one pixel with a few times their
        // typical light, or if a sprite is the largest possible.
        let unit = (2f32.powi(30) / count.max(1) as f32).min(2f32.powi(16)) / sprites.total_light();
        let [low, high] = *value_range;
        let args = [
            Arg::Uint(count as u32),
            Arg::Float16(bytemuck::cast(*view_projection)),
            Arg::Float8([mass_scale, size, least, largest, distance, light, depth_cue, unit]),
            Arg::Float8([width as f32, height as f32, low, high, 0.0, 0.0, 0.0, 0.0]),
            (&bodies.positions).into(),
            (&bodies.values).into(),
            (&self.palette.1).into(),
            (&whole.sums).into(),
        ];
        if let Some(join) = &self.join {
            lane.whole(Pass { kernel: &self.add, args: &args, items: images, group: 1, cost: 0.0 })?;
            let quads = whole.pixels() + 1;
            let args = [Arg::Uint(images as u32), Arg::Uint(quads as u32), (&whole.sums).into()];
            lane.whole(Pass::cheap(join, &args, quads))?;
        } else {
            whole.sums.clear()?;
            lane.whole(Pass::cheap(&self.add, &args, count))?;
        }
        let little = spread_below * sprites.total_light() * unit;
        if little > 0.0 {
            self.spread(lane, little)?;
        }
        let args =
            [&self.shown_args(0, little)[..], &[Arg::Float(unit.recip()), (&self.image).into()]].concat();
        lane.whole(Pass::cheap(&self.finish, &args, self.levels[1].pixels()))
    }

    /// Returns how many images of `size` pixels the kernel `add` draws at the same time to show `bodies` bodies.
    fn images(&self, device: &Device, size: [u32; 2], bodies: usize) -> usize {
        let pixels = size[0] as usize * size[1] as usize;
        let useful = (MOST_PIXELS / pixels).min(bodies.saturating_mul(PIXELS_PER_BODY) / pixels);
        let most = if self.join.is_some() { MOST_IMAGES.min(useful) } else { 1 };
        (device.info.compute_units as usize).clamp(1, most.max(1))
    }

    /// Queues the kernels that compute the smaller levels and the light that each level displays. Where the next
    /// smaller level has less light per pixel than `little`, a pixel displays the light of that smaller level.
    fn spread(&self, lane: &mut Lane, little: f32) -> Result<()> {
        for pair in self.levels.windows(2) {
            let args = [&pair[0].size_args()[..], &[(&pair[0].sums).into(), (&pair[1].sums).into()]].concat();
            lane.whole(Pass::cheap(&self.halve, &args, pair[1].pixels()))?;
        }
        for nth in (1..=HALVINGS).rev() {
            // The last level displays its own light, because no smaller level follows.
            let little = if nth < HALVINGS { little } else { 0.0 };
            let args = [&self.shown_args(nth, little)[..], &[(&self.levels[nth].shown).into()]].concat();
            let [width, height] = self.levels[nth].size.map(|side| side.div_ceil(2) as usize);
            lane.whole(Pass::cheap(&self.spread, &args, width * height))?;
        }
        Ok(())
    }

    /// Returns the first arguments of the kernels that compute the light that the `nth` level displays.
    fn shown_args(&self, nth: usize, little: f32) -> [Arg<'_>; 5] {
        let level = &self.levels[nth];
        let [width, height] = level.size_args();
        let smaller = &self.levels[(nth + 1).min(HALVINGS)].shown;
        [width, height, Arg::Float(little), (&level.sums).into(), smaller.into()]
    }

    /// Queues a copy of every `stride`-th body within device memory. Returns the buffers that receive the copies.
    fn list(&mut self, lane: &mut Lane, bodies: &Bodies, stride: usize) -> Result<&Bodies> {
        let count = bodies.values.len().div_ceil(stride);
        if self.listed.values.len() != count {
            self.listed = Bodies::new(lane.device(), count)?;
        }
        let numbers = [Arg::Uint(count as u32), Arg::Uint(stride as u32)];
        let args = [&numbers[..], &bodies.args(), &self.listed.args()].concat();
        lane.whole(Pass::cheap(&self.list, &args, count))?;
        Ok(&self.listed)
    }
}

/// Returns a buffer with the 256 colours of a colour map, as RGBA.
fn colours(device: &Device, palette: Palette) -> Result<Buffer<[u8; 4]>> {
    let colours: Vec<_> = (0..=255u8).map(|nth| palette.colour(f32::from(nth) / 255.0)).collect();
    let rows: Vec<_> = colours.into_iter().map(|[red, green, blue]| [red, green, blue, 255]).collect();
    Buffer::from_slice(device, &rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute;

    /// Draws 20 000 bodies, some of which are out of view or quarantined, as an image of 65 × 41 pixels.
    fn image(own_images: bool) -> Vec<[f32; 4]> {
        let found = compute::list().unwrap().into_iter().find(|found| found.info.kind == DeviceKind::Cpu);
        let device = found.expect("there is a CPU device").open().unwrap();
        let place = |nth: u32, step: u32| f32::from((nth * step % 4001) as u16) / 1000.0 - 2.0;
        let positions: Vec<_> = (0..20_000u32)
            .map(|nth| [place(nth, 1229), place(nth, 2063), 0.0, place(nth, 7) + 2.0])
            .collect();
        let values: Vec<_> = (0..20_000u16)
            .map(|nth| if nth % 1000 == 7 { Points::QUARANTINED } else { f32::from(nth % 50) })
            .collect();
        let bodies = Bodies {
            positions: Buffer::from_slice(&device, &positions).unwrap(),
            values: Buffer::from_slice(&device, &values).unwrap(),
        };
        let request = LightRequest {
            view_projection: glam::Mat4::IDENTITY.to_cols_array_2d(),
            size: [65, 41],
            sprites: Sprites {
                mass_scale: 1.0,
                size: 2.0,
                size_limits: [1.5, 160.0],
                distance: 1.0,
                light: 1.5,
                depth_cue: 1.2,
            },
            palette: Palette::Ice,
            value_range: [0.0, 40.0],
            spread_below: 0.3,
            listed: usize::MAX,
        };
        let mut light = Light::new(&device, Palette::Ice, own_images).unwrap();
        let mut lane = Lane::new(&device);
        light.draw(&mut lane, &bodies, &request).unwrap();
        lane.finish().unwrap();
        let mut pixels = light.image.read().unwrap();
        assert_eq!(pixels.pop().unwrap().map(f16::to_bits), [20, 0, 0, 0], "quarantined bodies");
        for size in [[1, 41], [65, 0]] {
            let error = light.draw(&mut lane, &bodies, &LightRequest { size, ..request.clone() });
            assert!(error.unwrap_err().to_string().contains("2 × 2"), "{size:?}");
        }
        pixels.into_iter().map(|pixel| pixel.map(f16::to_f32)).collect()
    }

    /// Compares the drawing methods for CPUs and GPUs on a CPU, because tests that need a GPU may be skipped.
    #[test]
    fn drawing_with_atomics_and_with_private_images_gives_the_same_light() {
        let [own, shared] = [true, false].map(image);
        let sum = |image: &[[f32; 4]]| image.iter().flatten().sum::<f32>();
        assert!(sum(&own) > 0.0);
        let off: f32 = own.iter().flatten().zip(shared.iter().flatten()).map(|(a, b)| (a - b).abs()).sum();
        assert!(off < 1e-3 * sum(&own), "off by {off} of {}", sum(&own));
    }
}
