//! Settings that determine how the picture is drawn.

mod palette;
mod scene_camera;

pub use palette::{Palette, Srgb};
pub use scene_camera::SceneCamera;

use crate::base::cells::CellRequest;
use crate::base::params::ChangeEffect::{View, Window};
use crate::base::params::{Choice, choice, parameters};

parameters! {
    /// Settings for drawing the picture and for automatic motion of the camera.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Look {
        /// Colour map for values from low to high.
        palette: Palette = Palette::Dusk, "Palette" effect(View),
        /// Brightness of the picture. Each stop doubles the brightness.
        exposure: f32 = 0.0, "Exposure" [-4.0..=4.0, Linear] unit("stops") effect(View),
        /// Adapts the exposure to the brightness of the picture.
        auto_exposure: bool = true, "Auto exposure" effect(View) advanced(true),
        /// Adds a glow around bright areas.
        bloom: EffectMode = EffectMode::Auto, "Bloom" effect(View),
        /// Fraction of the light that spreads as a glow.
        bloom_strength: f32 = 0.35, "Bloom strength" [0.0..=1.0, Linear] effect(View) advanced(true),
        /// Darkens the gaps between crowded asteroids.
        occlusion: EffectMode = EffectMode::Auto, "Ambient occlusion" effect(View) advanced(true),
        /// Scales the drawn size of bodies. Asteroids keep their own radius.
        point_size: f32 = 1.0, "Point size" [0.25..=4.0, Log] effect(View),
        /// Length of the trails behind bodies, in frames; 0 turns trails off. With many bodies, trails are drawn coarsely;
        /// with very many bodies, they are not drawn at all.
        trails: f32 = 0.0, "Trails" [0.0..=2000.0, Log] unit("frames") effect(View) => round_trails,
        /// Dims distant bodies.
        depth_cue: f32 = 0.3, "Depth cue" [0.0..=1.0, Linear] effect(View) advanced(true),
        /// Brightness of the stars in the background; 0 turns them off.
        stars: f32 = 0.4, "Stars" [0.0..=1.0, Linear] effect(View) advanced(true),
        /// Draws the plane z = 0 and the axes.
        grid: bool = false, "Grid" effect(View) advanced(true),
        /// Shows the names of bodies that have a name. Where names would overlap, only the name of the heaviest
        /// body is shown.
        labels: bool = true, "Names" effect(View) advanced(true),
        /// Shows the initial orbits of the heaviest named bodies, in scenes that define orbits. In gravity scenes
        /// with a fixed number of at most 8 bodies, if the scene file has the key `bodies` or `path_time`, shows the
        /// paths that the named bodies will follow.
        orbits: bool = true, "Orbits" effect(View) advanced(true),
        /// Shows a scale bar at the lower right; its length is a round number. `auto` shows it in scenes with a unit of length.
        scale_bar: ScaleBar = ScaleBar::Auto, "Scale bar" effect(View) advanced(true),
        /// Draws the cells of the `tree` variant as boxes. If a body is selected, draws the cells that act on the
        /// body as a whole (blue), and the cells that were opened, so that their parts act separately (orange).
        cells: bool = false, "Tree cells" effect(View) advanced(true),
        /// Depth of the tree cells that are drawn. The root cell, which contains all bodies, has depth 0.
        cells_depth: f32 = 4.0, "Cell depth" [0.0..=16.0, Linear] unit("levels") effect(View) advanced(true) => round_cells_depth,
        /// The camera follows the centre of mass.
        follow: bool = false, "Follow" effect(View) advanced(true),
        /// The camera orbits slowly around its target.
        turn: bool = false, "Auto-rotate" effect(View) advanced(true),
        /// Slowly zooms and pans the camera so that most bodies stay in view. Panning or zooming by hand pauses this; press F or
        /// Home to resume.
        keep_in_view: bool = false, "Keep in view" effect(Window) advanced(true),
        /// Starts each scene with a short camera movement, which ends as soon as you move the camera.
        opening_move: bool = true, "Opening move" effect(Window) advanced(true),
        /// Maximum memory for recording the simulation. The timeline shows the recording. 0 turns recording off.
        record: f32 = 256.0, "Timeline memory" [0.0..=4096.0, Linear] unit("MB") effect(Window) advanced(true) => round_record,
        /// Dark or light background for the panel and the picture.
        theme: Theme = Theme::Dark, "Theme" effect(Window) advanced(true),
        /// Size of text and controls, relative to the size that the system recommends.
        scale: Size = Size::One, "Text size" effect(Window) advanced(true),
    }
}

choice! {
    /// Size of the panel, relative to the size that the system recommends.
    pub enum Size {
        /// 80 % of the size that the system recommends.
        Smaller = "0.8",
        /// The size that the system recommends.
        One = "1",
        /// 125 % of the size that the system recommends.
        Larger = "1.25",
        /// 150 % of the size that the system recommends.
        Large = "1.5",
        /// Twice the size that the system recommends.
        Double = "2",
    }
}

impl Size {
    /// Returns the next larger size if `larger` is true, otherwise the next smaller one; `self` if there is none.
    pub fn next(self, larger: bool) -> Self {
        let at = if larger { self.index() + 1 } else { self.index().saturating_sub(1) };
        Self::OPTIONS.get(at).map_or(self, |(size, _)| *size)
    }

    /// Returns the size of text and controls as a multiple of the size that the system recommends.
    pub fn factor(self) -> f32 {
        self.name().parse().unwrap_or(1.0)
    }
}

choice! {
    /// Colours of the panel and of the picture.
    pub enum Theme {
        /// Dark background for the panel and the picture, for dark rooms.
        Dark = "dark",
        /// Light background for the panel and the picture, for bright rooms and for printing.
        Light = "light",
    }
}

impl Theme {
    /// Converts a colour of the picture to the colour that this theme displays. The light theme swaps light and dark,
    /// as `shaders/paper.frag` does.
    pub fn shown(self, colour: Srgb) -> Srgb {
        match self {
            Self::Dark => colour,
            Self::Light => {
                let most = colour.into_iter().max().unwrap_or(0);
                let least = colour.into_iter().min().unwrap_or(0);
                colour.map(|channel| (channel - least) + (255 - most))
            }
        }
    }
}

choice! {
    /// When to draw an expensive effect.
    pub enum EffectMode {
        /// On if a GPU draws the picture. If a CPU draws, ambient occlusion is off, and bloom turns off after three
        /// seconds below 30 frames per second.
        Auto = "auto",
        /// Always draws the effect.
        On = "on",
        /// Never draws the effect.
        Off = "off",
    }
}

choice! {
    /// When to show a scale bar.
    pub enum ScaleBar {
        /// Shows the scale bar in scenes that have a unit of length.
        Auto = "auto",
        /// Always shows the scale bar.
        On = "on",
        /// Never shows the scale bar.
        Off = "off",
    }
}

impl Look {
    /// Returns drawing settings without background stars or automatic effects, so that pictures can be compared.
    pub fn plain() -> Self {
        let (bloom, occlusion) = (EffectMode::Off, EffectMode::Off);
        Self { auto_exposure: false, bloom, occlusion, depth_cue: 0.0, stars: 0.0, ..Self::default() }
    }

    /// Returns which tree cells to draw when the selected body is `body`, or `None` if tree cells are turned off.
    pub fn cells_for(&self, body: Option<usize>) -> Option<CellRequest> {
        self.cells.then_some(CellRequest { depth: self.cells_depth as u32, body })
    }

    fn round_cells_depth(&mut self) {
        self.cells_depth = self.cells_depth.round();
    }

    /// Returns the limit on the memory for recording the run, in bytes.
    pub fn record_bytes(&self) -> usize {
        (self.record as usize) << 20
    }

    fn round_record(&mut self) {
        self.record = self.record.round();
    }

    fn round_trails(&mut self) {
        self.trails = self.trails.round();
    }
}
