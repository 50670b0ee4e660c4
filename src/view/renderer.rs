//! Draws the bodies: collects their light in a texture, and turns the light into a picture.

use std::mem;
use std::rc::Rc;

use glium::backend::Context;
use glium::{Rect, Surface};

use super::camera::Camera;
use super::opengl::{is_software, scale};
use super::{
    bloom, cells, cloud, exposure, field, grid, light, occlusion, paper, points, spheres, stars, streaks,
    target, trails,
};
use crate::base::look::{EffectMode, Theme};
use crate::base::{LightRequest, Look, Points, Result, Shape, Sprites, sample_stride};

/// Weight of the bloom at full strength, relative to the light of the bodies.
const BLOOM: f32 = 4.0;

/// Renderer that holds the uploaded bodies and draws them from the viewpoint of any camera.
pub struct View {
    look: Look,
    is_software: bool,
    cloud: cloud::Cloud,
    shape: Shape,
    /// Identifier of the quantity that the colours show (see [`Points::colours`]); if `None`, the next upload resets
    /// the colour range.
    colours: Option<u64>,
    field: field::Field,
    light: light::Light,
    /// Colour range of the last request for an image of the bodies' light; see [`View::light_request`].
    requested_range: [f32; 2],
    glow: points::Glow,
    streaks: streaks::Streaks,
    spheres: spheres::Spheres,
    occlusion: occlusion::Occlusion,
    stars: stars::Stars,
    trails: trails::Trails,
    target: target::Target,
    meter: exposure::Meter,
    bloom: bloom::Bloom,
    grid: grid::Grid,
    cells: cells::Cells,
    paper: paper::Paper,
    /// Whether the current picture must be exact. If so, balls are not drawn by the faster method, and the bloom is not
    /// left out to save time.
    is_exact: bool,
    /// Whether to save time by leaving out the bloom if its setting is [`EffectMode::Auto`].
    omits_auto_bloom: bool,
    /// Camera and picture size in pixels with which the light was last drawn; `None` if the light is outdated.
    drawn: Option<(Camera, [u32; 2])>,
}

impl View {
    /// Creates a renderer and compiles all shaders. Requires an OpenGL 3.3 core context. The initial appearance is
    /// [`Look::plain`].
    ///
    /// # Errors
    /// Returns [`Error::Graphics`](crate::base::error::Error::Graphics) with the reason if OpenGL lacks a feature.
    pub fn new(context: &Rc<Context>) -> Result<Self> {
        let is_software = is_software(context);
        Ok(Self {
            look: Look::plain(),
            is_software,
            cloud: cloud::Cloud::new(context)?,
            shape: Shape::default(),
            colours: None,
            field: field::Field::new(context)?,
            light: light::Light::new(context)?,
            requested_range: [0.0, 1.0],
            glow: points::Glow::new(context)?,
            streaks: streaks::Streaks::new(context)?,
            spheres: spheres::Spheres::new(context)?,
            occlusion: occlusion::Occlusion::new(context)?,
            stars: stars::Stars::new(context)?,
            trails: trails::Trails::new(context, is_software)?,
            target: target::Target::new(context)?,
            meter: exposure::Meter::new(context)?,
            bloom: bloom::Bloom::new(context, is_software)?,
            grid: grid::Grid::new(context)?,
            cells: cells::Cells::new(context)?,
            paper: paper::Paper::new(context)?,
            is_exact: false,
            omits_auto_bloom: false,
            drawn: None,
        })
    }

    /// With software rendering, makes pictures of asteroids faster and less exact: the line where asteroids intersect
    /// may be in the wrong place. Has no effect with hardware rendering.
    ///
    /// # Errors
    /// Returns [`Error::Graphics`](crate::base::error::Error::Graphics) if OpenGL fails.
    pub fn simplify_spheres(&mut self) -> Result<()> {
        if self.is_software { self.spheres.simplify(&self.cloud.context) } else { Ok(()) }
    }

    /// Sets whether to save time by leaving out the bloom if its setting is [`EffectMode::Auto`]. Exact pictures ignore
    /// this.
    pub fn omit_auto_bloom(&mut self, omits: bool) {
        if self.omits_auto_bloom != omits {
            (self.omits_auto_bloom, self.drawn) = (omits, None);
        }
    }

    /// Sets the appearance of subsequent pictures. Does nothing if the appearance is unchanged.
    ///
    /// # Errors
    /// Returns [`Error::Graphics`](crate::base::error::Error::Graphics) if OpenGL fails.
    pub fn set_look(&mut self, look: &Look) -> Result<()> {
        if self.look != *look {
            if self.look.palette != look.palette {
                self.cloud.set_palette(look.palette)?;
                self.field.set_palette(look.palette)?;
            }
            self.look = look.clone();
            self.drawn = None;
        }
        Ok(())
    }

    /// Returns whether trails are enabled but cannot be drawn because there are too many bodies.
    pub fn lacks_trails(&self) -> bool {
        self.look.trails >= 1.0 && self.trails.are_too_many(self.cloud.count())
    }

    /// Discards the trails, and makes the next upload reset the colour range. Call this before jumping to another scene
    /// or time.
    pub fn reset_history(&mut self) {
        self.trails.clear();
        self.colours = None;
    }

    /// Uploads bodies. `value_range` holds the values at the ends of the colour map, in the unit of [`Points::values`].
    /// The colour map follows this range smoothly, so that colours do not flicker, but no end ever leaves out more than
    /// a fifth of the range. The colour map jumps to the range if the number of bodies, the kind of shape or the
    /// meaning of the colours changes, or if the colours show measured errors.
    ///
    /// Copies 20 bytes per body and does not wait for OpenGL. [`View::draw`] only queues work: to measure the drawing
    /// time, call `Context::finish` afterwards.
    ///
    /// # Errors
    /// Returns [`Error::Graphics`](crate::base::error::Error::Graphics) if OpenGL is out of memory.
    pub fn upload(&mut self, points: &Points, value_range: [f32; 2]) -> Result<()> {
        self.drawn = None;
        let is_same_kind = mem::discriminant(&self.shape) == mem::discriminant(&points.shape);
        // The colour range of measured errors seldom changes, and a legend shows its ends, so the colours jump to a new
        // range.
        let is_steady = points.measured.is_none();
        let alike = is_same_kind && is_steady && self.colours == Some(points.colours);
        (self.shape, self.colours) = (points.shape, Some(points.colours));
        self.cells.upload(points.cells.as_ref())?;
        match points.shape {
            Shape::Glow => self.glow.weigh(&points.positions, points.bodies()),
            Shape::Tracers { .. } => self.streaks.measure(&points.positions),
            Shape::Spheres { planet } => self.spheres.measure(&points.positions, planet),
        }
        self.field.upload(&points.image, alike)?;
        let sprites = self.limits().sprites;
        let stride = points.light.as_ref().map_or(1, |_| sample_stride(points.positions.len(), sprites));
        self.light.upload(points.light.as_ref())?;
        self.cloud.upload(points, stride, (value_range, alike))?;
        if !is_same_kind {
            self.trails.clear();
        }
        self.trails.note(&self.cloud, self.look.trails)
    }

    /// Returns the request to the compute device for an image of the bodies' light, for the next pictures of `size`
    /// pixels by `camera`. Returns `None` if all bodies should be drawn as sprites, because they are few or because the
    /// sprites are large.
    pub fn light_request(&mut self, camera: &Camera, size: [u32; 2]) -> Option<LightRequest> {
        let limits = self.limits();
        if self.shape != Shape::Glow || self.glow.count() <= limits.bodies || size.contains(&0) {
            return None;
        }
        let [width, height] = light::image_size(size, limits.pixels);
        let share = height as f32 / size[1] as f32;
        let sprites = self.glow.sprites(size[1], (camera, &self.look));
        // Some bodies are drawn as sprites too. The image is dimmed by the fraction of these bodies, so that their
        // light does not count twice.
        let bodies = self.glow.count();
        let others = 1.0 - limits.sprites as f32 / bodies as f32;
        let sprites = Sprites {
            size: sprites.size * share,
            size_limits: sprites.size_limits.map(|limit| limit * share),
            light: sprites.light * others,
            ..sprites
        };
        // The colour range moves a little with each frame. Small changes are not visible, so they need no new image.
        let [low, high] = self.cloud.value_range;
        let [old_low, old_high] = self.requested_range;
        let most = 0.01 * (high - low);
        if (low - old_low).abs() > most || (high - old_high).abs() > most {
            self.requested_range = [low, high];
        }
        (sprites.size <= light::LARGEST).then(|| LightRequest {
            view_projection: camera.view_projection(size[0] as f32 / size[1] as f32).to_cols_array_2d(),
            size: [width, height],
            sprites,
            palette: self.look.palette,
            value_range: self.requested_range,
            spread_below: light::SPREAD_BELOW,
            listed: light::LISTED,
        })
    }

    fn limits(&self) -> &'static light::Limits {
        &light::LIMITS[usize::from(self.is_software)]
    }

    /// Returns the lowest and the highest value of the colour map: in the unit of [`Image::values`] if the image of the
    /// flow has colours, otherwise in the unit of [`Points::values`].
    ///
    /// [`Image::values`]: crate::base::flow::Image::values
    pub fn value_range(&self) -> [f32; 2] {
        if self.field.is_coloured() { self.field.range } else { self.cloud.value_range }
    }

    /// Draws the picture into `area`, in pixels from the lower left corner, or into the whole surface if `area` is
    /// `None`. If camera, size and bodies are unchanged, reuses the bodies' light instead of drawing the bodies again.
    ///
    /// # Errors
    /// Returns [`Error::Graphics`](crate::base::error::Error::Graphics) if OpenGL fails.
    pub fn draw(&mut self, surface: &mut impl Surface, camera: &Camera, area: Option<Rect>) -> Result<()> {
        self.draw_beside(surface, camera, (area, None))
    }

    /// Draws like [`View::draw`] into the whole surface, without the simplifications of [`View::simplify_spheres`] and
    /// [`View::omit_auto_bloom`].
    ///
    /// # Errors
    /// Returns [`Error::Graphics`](crate::base::error::Error::Graphics) if OpenGL fails.
    pub fn draw_exactly(&mut self, surface: &mut impl Surface, camera: &Camera) -> Result<()> {
        (self.is_exact, self.drawn) = (true, None);
        let result = self.draw(surface, camera, None);
        (self.is_exact, self.drawn) = (false, None);
        result
    }

    /// Draws like [`View::draw`], but may skip the part of `area` that the rectangle `hidden` covers.
    ///
    /// # Errors
    /// Returns [`Error::Graphics`](crate::base::error::Error::Graphics) if OpenGL fails.
    pub fn draw_beside(
        &mut self,
        surface: &mut impl Surface,
        camera: &Camera,
        (area, hidden): (Option<Rect>, Option<Rect>),
    ) -> Result<()> {
        let (width, height) = surface.get_dimensions();
        let mut area = area.unwrap_or(Rect { left: 0, bottom: 0, width, height });
        // The surface may have shrunk since the area was computed.
        area.width = area.width.min(width.saturating_sub(area.left));
        area.height = area.height.min(height.saturating_sub(area.bottom));
        if area.width == 0 || area.height == 0 {
            return Ok(());
        }
        let wanted = (camera.clone(), [area.width, area.height]);
        if self.drawn.as_ref() != Some(&wanted) {
            self.drawn = None;
            let picture = wanted.1;
            let size =
                if self.is_enlarged() { light::image_size(picture, self.limits().pixels) } else { picture };
            self.target.resize(size, picture)?;
            self.collect_light(camera)?;
            self.drawn = Some(wanted);
        }
        if self.look.theme == Theme::Dark {
            return self.paint(surface, camera, (area, hidden));
        }
        let sheet = self.paper.sheet((width, height))?;
        self.paint(&mut sheet.surface()?, camera, (area, hidden))?;
        self.paper.print(surface, (area, hidden), sheet)
    }

    /// Paints the collected light, the image of the flow, the grid and the tree cells into `area`. May skip the part in
    /// `hidden`.
    fn paint(
        &self,
        surface: &mut impl Surface,
        camera: &Camera,
        (area, hidden): (Rect, Option<Rect>),
    ) -> Result<()> {
        let over = match self.shape {
            Shape::Tracers { half } if self.field.texture.is_some() => {
                self.field.draw(surface, area, (camera, half))?;
                true
            }
            _ => false,
        };
        let by = target::ToneMapping {
            stops: self.look.exposure,
            measured: self.is_metered().then(|| self.meter.measured()),
            bloom: self.bloom.picture().filter(|_| self.blooms()).map(|it| (it, self.bloom_share())),
            over,
        };
        self.target.paint(surface, (area, hidden), self.shape, &by)?;
        if self.is_enlarged() {
            let (is_automatic, measured) = (self.is_metered(), self.meter.measured());
            let over = light::Over { area, is_automatic, measured };
            if self.look.stars > 0.0 {
                self.stars.draw_over(surface, camera, self.sky(), (&over, self.look.exposure))?;
            }
            self.glow.draw(surface, &self.cloud, (camera, &self.look), Some(&over))?;
        }
        if self.look.grid {
            self.grid.draw(surface, area, camera, self.target.texture())?;
        }
        if self.look.cells {
            self.cells.draw(surface, area, camera, self.target.texture())?;
        }
        Ok(())
    }

    /// Draws the bodies into the texture that collects light, measures the light, and computes the bloom.
    fn collect_light(&mut self, camera: &Camera) -> Result<()> {
        let (is_enlarged, sky) = (self.is_enlarged(), self.sky());
        let is_occluded = shows(self.look.occlusion, !self.is_software);
        let Self { look, cloud, shape, target, .. } = self;
        let target_size = target.texture().dimensions();
        let scale = scale(target_size.1);
        let is_solid = matches!(shape, Shape::Spheres { .. });
        let is_flow = matches!(shape, Shape::Tracers { .. });
        let mut light = if is_solid { target.space()? } else { target.light()? };
        let shows_sky = look.stars > 0.0 && !is_flow;
        let sky = shows_sky.then(|| self.stars.sky(target_size, camera, sky)).transpose()?;
        self.light.draw(&mut light, sky)?;
        if let Shape::Spheres { planet } = *shape {
            // Trails need exact depths, because balls hide the trails behind them.
            let needs_depths = self.is_exact || is_occluded || look.trails >= 1.0;
            self.spheres.draw(&mut light, cloud, (camera, look), (planet, needs_depths))?;
            if is_occluded {
                let around = (camera, self.spheres.radius);
                self.occlusion.darken(&mut target.light()?, target.depths(), around)?;
            }
        }
        self.trails.draw(&mut light, cloud, (camera, look), (*shape, scale))?;
        match shape {
            Shape::Glow if is_enlarged => {}
            Shape::Glow => self.glow.draw(&mut light, cloud, (camera, look), None)?,
            Shape::Tracers { half } => {
                self.streaks.draw(&mut light, cloud, (camera, look), (*half, self.field.is_coloured()))?;
            }
            Shape::Spheres { .. } => {}
        }
        if self.is_metered() {
            self.meter.measure(self.target.texture())?;
        }
        if self.blooms() {
            self.bloom.make(self.target.texture(), self.shape)?;
        }
        Ok(())
    }

    /// Returns whether the light is drawn at the low resolution of the light image and then enlarged, which takes at
    /// most a quarter of the time on a CPU. The sprites are drawn over the enlarged picture, so that they stay sharp.
    fn is_enlarged(&self) -> bool {
        self.is_software && self.light.has_image() && !self.look.grid && !self.look.cells
    }

    fn sky(&self) -> stars::Sky {
        let covers = matches!(self.shape, Shape::Spheres { .. });
        stars::Sky { brightness: self.look.stars, covers, has_stars: !self.is_enlarged() }
    }

    /// Returns whether the exposure is automatic. It is fixed for balls, which a fixed sun lights, and for tracers,
    /// which are drawn over an image.
    fn is_metered(&self) -> bool {
        self.look.auto_exposure && self.shape == Shape::Glow
    }

    /// Returns the weight of the bloom. For a flow, the weight is lower, so that its many tracers do not blur into a
    /// fog.
    fn bloom_share(&self) -> f32 {
        let of_all = if matches!(self.shape, Shape::Tracers { .. }) { 0.2 } else { 1.0 };
        BLOOM * of_all * self.look.bloom_strength
    }

    fn blooms(&self) -> bool {
        shows(self.look.bloom, self.is_exact || !self.omits_auto_bloom)
    }
}

/// Returns whether to draw an effect. With the setting [`EffectMode::Auto`], `is_fast` decides.
fn shows(effect: EffectMode, is_fast: bool) -> bool {
    match effect {
        EffectMode::Auto => is_fast,
        EffectMode::On => true,
        EffectMode::Off => false,
    }
}
