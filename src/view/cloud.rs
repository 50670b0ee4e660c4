//! The bodies on the OpenGL side: two vertex buffers, and the colours of their values.

use std::rc::Rc;

use bytemuck::{Pod, Zeroable};
use glium::backend::Context;
use glium::implement_vertex;
use glium::texture::Texture2d;
use glium::uniforms::{MagnifySamplerFilter, MinifySamplerFilter, Sampler};
use glium::{VertexBuffer, uniforms::SamplerBehavior};

use super::{graphics, palette};
use crate::bodies::Points;
use crate::error::{Error, Result};

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

/// The bodies, whatever they are drawn as.
pub struct Cloud {
    context: Rc<Context>,
    palette: Texture2d,
    /// Of the same length; none as long as there is nothing to draw.
    pub buffers: Option<(VertexBuffer<Body>, VertexBuffer<Value>)>,
    /// What the ends of the colour map stand for.
    pub value_range: [f32; 2],
}

impl Cloud {
    /// An empty one.
    pub fn new(context: &Rc<Context>) -> Result<Self> {
        let palette = palette::texture(context)?;
        Ok(Self { context: context.clone(), palette, buffers: None, value_range: [0.0, 1.0] })
    }

    /// Replaces the bodies. The buffers' old contents are given up first, so that OpenGL may go on reading
    /// them. If they are `alike`, the colour map follows the new range from the old one.
    pub fn upload(&mut self, points: &Points, value_range: [f32; 2], alike: bool) -> Result<()> {
        let count = points.positions.len();
        if points.values.len() != count {
            return Err(Error::Graphics(format!("{count} bodies came with {} values", points.values.len())));
        }
        let same = self.buffers.as_ref().is_some_and(|(bodies, _)| bodies.len() == count);
        if !same {
            self.buffers = self.allocate(count)?;
        }
        if let Some((bodies, values)) = &self.buffers {
            bodies.invalidate();
            bodies.write(bytemuck::cast_slice(&points.positions));
            values.invalidate();
            values.write(bytemuck::cast_slice(&points.values));
        }
        self.value_range = followed(if same && alike { self.value_range } else { value_range }, value_range);
        Ok(())
    }

    fn allocate(&self, count: usize) -> Result<Option<(VertexBuffer<Body>, VertexBuffer<Value>)>> {
        if count == 0 {
            return Ok(None);
        }
        let failed = || graphics("allocate the vertex buffers");
        let bodies = VertexBuffer::empty_dynamic(&self.context, count).map_err(failed())?;
        let values = VertexBuffer::empty_dynamic(&self.context, count).map_err(failed())?;
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
