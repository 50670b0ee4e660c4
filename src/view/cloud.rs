//! The bodies on the OpenGL side: two vertex buffers, and the colours of their values.

use std::rc::Rc;
use std::thread;

use bytemuck::{Pod, Zeroable};
use glium::backend::Context;
use glium::implement_vertex;
use glium::texture::Texture2d;
use glium::uniforms::{MagnifySamplerFilter, MinifySamplerFilter, Sampler};
use glium::{VertexBuffer, uniforms::SamplerBehavior};

use super::{graphics, palette};
use crate::bodies::Points;
use crate::error::{Error, Result};
use crate::look::Palette;

/// `(x, y, z, w)` as it stands in [`Points::positions`].
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub struct Body {
    pub body: [f32; 4],
}
implement_vertex!(Body, body);

/// What the colour shows, as it stands in [`Points::values`].
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub struct Value {
    pub value: f32,
}
implement_vertex!(Value, value);

/// The share of the way that an end of the colour map goes to the values at each upload: fast outwards, so
/// that no value stays beyond it, and slow inwards, so that a body keeps its colour while others come and go.
const FOLLOW: [f32; 2] = [0.2, 0.01];

/// Bodies from which on several threads copy them, and how many: one alone does not fill the way to the memory (1 M bodies
/// beside an H200: 3.5 ms by one, 1.4 ms by four).
const MANY: usize = 1 << 18;
const THREADS: usize = 4;

/// Of the same length.
type Buffers = (VertexBuffer<Body>, VertexBuffer<Value>);

fn len(buffers: &Option<Buffers>) -> usize {
    buffers.as_ref().map_or(0, |(bodies, _)| bodies.len())
}

/// The bodies, whatever they are drawn as.
pub struct Cloud {
    context: Rc<Context>,
    palette: Texture2d,
    /// None as long as there is nothing to draw.
    pub buffers: Option<Buffers>,
    /// Those of the bodies before: OpenGL may still read them. They take turns.
    spare: Option<Buffers>,
    /// What the ends of the colour map stand for.
    pub value_range: [f32; 2],
}

impl Cloud {
    /// An empty one.
    pub fn new(context: &Rc<Context>) -> Result<Self> {
        let palette = palette::texture(context, Palette::Dusk)?;
        Ok(Self { context: context.clone(), palette, buffers: None, spare: None, value_range: [0.0, 1.0] })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        len(&self.buffers)
    }

    /// Replaces the bodies. If they are `alike`, the colour map follows the new range from the old one.
    pub fn upload(&mut self, points: &Points, value_range: [f32; 2], alike: bool) -> Result<()> {
        let count = points.positions.len();
        if points.values.len() != count {
            return Err(Error::Graphics(format!("{count} bodies came with {} values", points.values.len())));
        }
        let same = len(&self.buffers) == count;
        std::mem::swap(&mut self.buffers, &mut self.spare);
        if len(&self.buffers) != count {
            self.buffers = self.allocate(count)?;
        }
        if let Some((bodies, values)) = &mut self.buffers {
            let (mut bodies, mut values) = (bodies.map(), values.map());
            let from = (bytemuck::cast_slice(&points.positions), bytemuck::cast_slice(&points.values));
            copy(from, (&mut bodies, &mut values));
        }
        self.value_range = followed(if same && alike { self.value_range } else { value_range }, value_range);
        Ok(())
    }

    /// Replaces the colour map.
    pub fn set_palette(&mut self, palette: Palette) -> Result<()> {
        self.palette = palette::texture(&self.context, palette)?;
        Ok(())
    }

    /// Memory that stays mapped: what is written there is what OpenGL reads.
    fn allocate(&self, count: usize) -> Result<Option<Buffers>> {
        if count == 0 {
            return Ok(None);
        }
        let failed = || graphics("allocate the vertex buffers");
        let bodies = VertexBuffer::empty_persistent(&self.context, count).map_err(failed())?;
        let values = VertexBuffer::empty_persistent(&self.context, count).map_err(failed())?;
        Ok(Some((bodies, values)))
    }

    /// The colour map.
    pub fn palette(&self) -> Sampler<'_, Texture2d> {
        let behavior = SamplerBehavior {
            minify_filter: MinifySamplerFilter::Nearest,
            magnify_filter: MagnifySamplerFilter::Nearest,
            ..Default::default()
        };
        Sampler(&self.palette, behavior)
    }
}

fn copy((bodies, values): (&[Body], &[Value]), (to_bodies, to_values): (&mut [Body], &mut [Value])) {
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

/// The range on its way from `old` to `new`, never empty, never without a number.
pub(super) fn followed(old: [f32; 2], new: [f32; 2]) -> [f32; 2] {
    let towards = |i: usize, outwards: bool| old[i] + (new[i] - old[i]) * FOLLOW[usize::from(!outwards)];
    let (low, high) = (towards(0, new[0] < old[0]), towards(1, new[1] > old[1]));
    // Bodies of nearly one speed get the middle of the colour map, not all of it.
    let (middle, half) = ((low + high) / 2.0, (high - low) / 2.0);
    let half = half.max(middle.abs() * 0.05).max(1e-20);
    let range = [middle - half, middle + half];
    if range.iter().all(|v| v.is_finite()) { range } else { [0.0, 1.0] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_colour_map_opens_fast_and_closes_slowly() {
        let mut range = [0.0, 1.0];
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
    fn the_colour_map_is_never_empty_nor_without_a_number() {
        let [low, high] = followed([2.0, 2.0], [2.0, 2.0]);
        assert!(low < 1.95 && high > 2.05, "{low} {high}");
        let [low, high] = followed([0.0, 0.0], [0.0, 0.0]);
        assert!(low < 0.0 && high > 0.0, "{low} {high}");
        assert_eq!(followed([f32::NAN, 1.0], [0.0, f32::INFINITY]), [0.0, 1.0]);
    }
}
