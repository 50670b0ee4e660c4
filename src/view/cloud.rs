//! The bodies in OpenGL's memory: two vertex buffers, and the colour map of their values.

use std::rc::Rc;
use std::thread;

use bytemuck::{Pod, Zeroable};
use glium::VertexBuffer;
use glium::backend::Context;
use glium::implement_vertex;
use glium::texture::{MipmapsOption, RawImage2d, Texture2d, UncompressedFloatFormat};
use glium::uniforms::Sampler;

use super::fill::pixels;
use super::opengl::graphics;
use crate::base::look::Srgb;
use crate::base::{Error, Palette, Points, Result};

/// Vertex that holds the position and size `(x, y, z, w)` of a body, as in [`Points::positions`].
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(super) struct Body {
    pub body: [f32; 4],
}
implement_vertex!(Body, body);

/// Vertex that holds the value shown by a body's colour, as in [`Points::values`].
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(super) struct Value {
    pub value: f32,
}
implement_vertex!(Value, value);

/// How fast the ends of the colour range move, as fractions of the way to the new range per upload. The first fraction
/// is for an end that moves outwards. It is large, so that new values soon fit. The second is for an end that moves
/// inwards. It is small, so that colours stay steady while bodies come and go.
const FOLLOW: [f32; 2] = [0.2, 0.01];

/// Minimum number of bodies for which several threads share the copying. One thread does not saturate the memory
/// bandwidth: on the host of an H200, copying 1 M bodies takes 3.5 ms with one thread and 1.4 ms with four.
const MANY: usize = 1 << 18;
const THREADS: usize = 4;

/// Vertex buffers of equal length for the bodies and for their values.
type Buffers = (VertexBuffer<Body>, VertexBuffer<Value>);

fn len(buffers: &Option<Buffers>) -> usize {
    buffers.as_ref().map_or(0, |(bodies, _)| bodies.len())
}

/// Vertex buffers and colour map of the bodies, shared by everything that draws bodies.
pub(super) struct Cloud {
    pub context: Rc<Context>,
    palette: Texture2d,
    /// Buffers of the current bodies; `None` if there are no bodies.
    pub buffers: Option<Buffers>,
    /// Buffers of the previous bodies, which OpenGL may still read. Each upload swaps the two sets of buffers.
    spare: Option<Buffers>,
    /// Difference between the indices of two consecutive bodies in the buffers: 1 if all bodies of the simulation are
    /// uploaded.
    pub stride: u32,
    /// Values of [`Points::values`] at the low and high ends of the colour map.
    pub value_range: [f32; 2],
}

impl Cloud {
    pub(super) fn new(context: &Rc<Context>) -> Result<Self> {
        let palette = palette_texture(context, |share| Palette::Dusk.colour(share))?;
        Ok(Self {
            context: context.clone(),
            palette,
            buffers: None,
            spare: None,
            stride: 1,
            value_range: [0.0, 1.0],
        })
    }

    pub(super) fn count(&self) -> usize {
        len(&self.buffers)
    }

    /// Replaces the bodies with every `stride`-th body of `points`. `alike` says whether the values are comparable with
    /// the previous ones. If they are and the number of bodies is unchanged, the colour range moves smoothly to
    /// `value_range`; otherwise it jumps.
    pub(super) fn upload(
        &mut self,
        points: &Points,
        stride: usize,
        (value_range, alike): ([f32; 2], bool),
    ) -> Result<()> {
        let (positions, values) = (points.positions.len(), points.values.len());
        if positions != values {
            let text = format!("the simulation sent {positions} positions but {values} colour values");
            return Err(Error::Graphics(text));
        }
        let count = positions.div_ceil(stride);
        self.stride = points.body(stride) as u32;
        let same = len(&self.buffers) == count;
        std::mem::swap(&mut self.buffers, &mut self.spare);
        if len(&self.buffers) != count {
            self.buffers = self.allocate(count)?;
        }
        if let Some((bodies, values)) = &mut self.buffers {
            let (mut bodies, mut values) = (bodies.map(), values.map());
            let from = (bytemuck::cast_slice(&points.positions), bytemuck::cast_slice(&points.values));
            copy(from, (&mut bodies, &mut values), stride);
        }
        self.value_range = followed(if same && alike { self.value_range } else { value_range }, value_range);
        Ok(())
    }

    /// Replaces the colour map with the colours of `palette`.
    pub(super) fn set_palette(&mut self, palette: Palette) -> Result<()> {
        self.palette = palette_texture(&self.context, |share| palette.colour(share))?;
        Ok(())
    }

    /// Allocates persistently mapped buffers that OpenGL reads directly. Returns `None` if `count` is 0.
    fn allocate(&self, count: usize) -> Result<Option<Buffers>> {
        if count == 0 {
            return Ok(None);
        }
        let failed = || graphics("allocate the vertex buffers");
        let bodies = VertexBuffer::empty_persistent(&self.context, count).map_err(failed())?;
        let values = VertexBuffer::empty_persistent(&self.context, count).map_err(failed())?;
        Ok(Some((bodies, values)))
    }

    /// Returns a sampler that reads the colour map.
    pub(super) fn palette(&self) -> Sampler<'_, Texture2d> {
        pixels(&self.palette)
    }
}

/// Creates a texture that holds 256 colours in one row, from low to high values.
pub(super) fn palette_texture(context: &Rc<Context>, colour: impl Fn(f32) -> Srgb) -> Result<Texture2d> {
    let row = (0..256).flat_map(|i| {
        let [red, green, blue] = colour(i as f32 / 255.0);
        [red, green, blue, 255]
    });
    let image = RawImage2d::from_raw_rgba(row.collect(), (256, 1));
    Texture2d::with_format(context, image, UncompressedFloatFormat::U8U8U8U8, MipmapsOption::NoMipmap)
        .map_err(graphics("create the colour map"))
}

/// Copies every `stride`-th body and its value into the vertex buffers.
fn copy(
    (bodies, values): (&[Body], &[Value]),
    (to_bodies, to_values): (&mut [Body], &mut [Value]),
    stride: usize,
) {
    if stride > 1 {
        to_bodies.iter_mut().zip(bodies.iter().step_by(stride)).for_each(|(to, from)| *to = *from);
        to_values.iter_mut().zip(values.iter().step_by(stride)).for_each(|(to, from)| *to = *from);
        return;
    }
    let part = if bodies.len() < MANY { bodies.len().max(1) } else { bodies.len().div_ceil(THREADS) };
    let from = bodies.chunks(part).zip(values.chunks(part));
    let to = to_bodies.chunks_mut(part).zip(to_values.chunks_mut(part));
    let mut parts = from.zip(to).map(|((bodies, values), (to_bodies, to_values))| {
        move || {
            to_bodies.copy_from_slice(bodies);
            to_values.copy_from_slice(values);
        }
    });
    thread::scope(|scope| {
        let own = parts.next();
        parts.for_each(|part| drop(scope.spawn(part)));
        own.into_iter().for_each(|mut part| part());
    });
}

/// Largest part of the new colour range that may lie beyond each end of the range in use. Without this limit, a flow
/// that speeds up from rest would get the brightest colour nearly everywhere.
const OUTSIDE: f32 = 0.2;

/// Moves the colour range `old` one step towards `new`, and returns the result, which is finite and not empty. Each end
/// moves farther if necessary, so that at most the fraction [`OUTSIDE`] of `new` lies beyond it.
pub(super) fn followed(old: [f32; 2], new: [f32; 2]) -> [f32; 2] {
    let towards = |i: usize, outwards: bool| old[i] + (new[i] - old[i]) * FOLLOW[usize::from(!outwards)];
    let (low, high) = (towards(0, new[0] < old[0]), towards(1, new[1] > old[1]));
    let most = OUTSIDE * (new[1] - new[0]);
    let (low, high) = (low.min(new[0] + most), high.max(new[1] - most));
    // Bodies of nearly equal values get the middle of the colour map instead of the whole map.
    let (middle, half) = ((low + high) / 2.0, (high - low) / 2.0);
    let half = half.max(middle.abs() * 0.05).max(1e-20);
    let range = [middle - half, middle + half];
    if range.iter().all(|v| v.is_finite()) { range } else { [0.0, 1.0] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_range_of_the_colour_map_widens_fast_and_narrows_slowly() {
        let mut range = followed([0.0, 1.0], [0.0, 10.0]);
        assert!((8.0..9.0).contains(&range[1]), "{range:?}");
        let [low, _] = followed([0.0, 1.0], [-10.0, 1.0]);
        assert!((-9.0..-7.0).contains(&low), "{low}");
        for _ in 0..30 {
            range = followed(range, [0.0, 10.0]);
        }
        assert!(range[1] > 9.9, "{range:?}");
        for _ in 0..30 {
            range = followed(range, [0.0, 1.0]);
        }
        assert!((5.0..9.0).contains(&range[1]), "{range:?}");
        for _ in 0..1000 {
            range = followed(range, [0.0, 1.0]);
        }
        assert!(range[1] < 1.01, "{range:?}");
    }

    #[test]
    fn the_range_of_the_colour_map_is_finite_and_not_empty() {
        let [low, high] = followed([2.0, 2.0], [2.0, 2.0]);
        assert!(low < 1.95 && high > 2.05, "{low} {high}");
        let [low, high] = followed([0.0, 0.0], [0.0, 0.0]);
        assert!(low < 0.0 && high > 0.0, "{low} {high}");
        assert_eq!(followed([f32::NAN, 1.0], [0.0, f32::INFINITY]), [0.0, 1.0]);
    }
}
