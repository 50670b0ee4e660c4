//! Draws the image of a fluid flow in the plane z = 0, behind the tracer particles.

use std::borrow::Cow;
use std::rc::Rc;

use glium::backend::Context;
use glium::texture::{ClientFormat, MipmapsOption, RawImage2d, Texture2d, UncompressedFloatFormat};
use glium::{Program, Rect, Surface, uniform};

use super::camera::Camera;
use super::cloud::{followed, palette_texture};
use super::fill::{fill, pixels, smooth};
use super::opengl::{BACKGROUND, graphics, source};
use crate::base::{Image, Palette, Result, Tones};

pub(super) struct Field {
    context: Rc<Context>,
    program: Program,
    /// The current image of the flow; `None` if there is no image.
    pub texture: Option<Texture2d>,
    tones: Tones,
    palette: Palette,
    /// One row of texels with the colours for the current `tones` and `palette`.
    colours: Texture2d,
    /// Values of the flow's image at the low and high ends of the colour map.
    pub range: [f32; 2],
}

impl Field {
    pub(super) fn new(context: &Rc<Context>) -> Result<Self> {
        let program = source!("field", "fill").compile(context)?;
        Ok(Self {
            context: context.clone(),
            program,
            texture: None,
            tones: Tones::None,
            palette: Palette::Dusk,
            colours: palette_texture(context, |share| Tones::None.colour(Palette::Dusk, share))?,
            range: [0.0, 1.0],
        })
    }

    /// Sets the palette from which the colours of the flow's image are taken.
    pub(super) fn set_palette(&mut self, palette: Palette) -> Result<()> {
        self.palette = palette;
        self.update_colours()
    }

    fn update_colours(&mut self) -> Result<()> {
        let (tones, palette) = (self.tones, self.palette);
        self.colours = palette_texture(&self.context, |share| tones.colour(palette, share))?;
        Ok(())
    }

    /// Returns whether the image of the flow shows a quantity in colour, rather than only the obstacles.
    pub(super) fn is_coloured(&self) -> bool {
        self.texture.is_some() && self.tones != Tones::None
    }

    /// Replaces the image of the flow. `alike` says whether the values are comparable with the previous ones. If they
    /// are and the image's size and quantity are unchanged, the colour range moves smoothly to the new range; otherwise
    /// it jumps.
    pub(super) fn upload(&mut self, image: &Image, alike: bool) -> Result<()> {
        let Image { width, height, ref values, tones } = *image;
        if width * height == 0 || values.len() != width * height {
            self.texture = None;
            return Ok(());
        }
        let (width, height) = (width as u32, height as u32);
        let raw = RawImage2d { data: Cow::from(&values[..]), width, height, format: ClientFormat::F32 };
        let same = self.texture.as_ref().is_some_and(|texture| texture.dimensions() == (width, height));
        match &self.texture {
            Some(texture) if same => texture.write(Rect { left: 0, bottom: 0, width, height }, raw),
            _ => {
                let format = UncompressedFloatFormat::F32;
                let made = Texture2d::with_format(&self.context, raw, format, MipmapsOption::NoMipmap);
                self.texture = Some(made.map_err(graphics("create the image of the flow"))?);
            }
        }
        let range = image.range();
        let follows = same && alike && tones == self.tones;
        self.range = followed(if follows { self.range } else { range }, range);
        if tones != self.tones {
            self.tones = tones;
            self.update_colours()?;
        }
        Ok(())
    }

    /// Draws the image of a flow into `area`. The image lies in the plane z = 0; `half` holds half its width and half
    /// its height, in scene units.
    pub(super) fn draw(
        &self,
        surface: &mut impl Surface,
        area: Rect,
        (camera, half): (&Camera, [f32; 2]),
    ) -> Result<()> {
        let Some(texture) = &self.texture else { return Ok(()) };
        let [right, up, back] = camera.axes();
        let uniforms = uniform! {
            field: pixels(texture),
            field_range: self.range,
            tones: smooth(&self.colours),
            half_size: half,
            eye: camera.eye().to_array(),
            right: right.to_array(),
            up: up.to_array(),
            back: back.to_array(),
            lens: camera.lens(area.width as f32 / area.height as f32),
            origin: [area.left as f32, area.bottom as f32],
            area: [area.width as f32, area.height as f32],
            background: BACKGROUND,
        };
        fill(surface, Some(area), &self.program, &uniforms, None)
    }
}
