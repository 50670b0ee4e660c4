//! Look: how the picture is drawn. The command line creates it, the panel edits it, and the view applies it.

mod palette;

pub use palette::{Palette, Srgb};

use crate::base::params::{ChangeEffect, Choice, Info, Params, Scale, Visitor, choice};

/// Settings of how the picture is drawn and how the camera moves by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Look {
    /// Colour map of bodies and flows.
    pub palette: Palette,
    /// Exposure in stops; each stop doubles the brightness.
    pub exposure: f32,
    /// Whether the exposure adapts to the brightness of the picture.
    pub auto_exposure: bool,
    /// Condition under which bright areas spread a glow.
    pub bloom: BloomMode,
    /// Fraction of the light that spreads as bloom.
    pub bloom_strength: f32,
    /// Factor on the default size of bodies.
    pub point_size: f32,
    /// Length of trails in frames, a whole number.
    pub trails: f32,
    /// How much distant bodies are dimmed, from 0 to 1.
    pub depth_cue: f32,
    /// Brightness of the stars in the background, from 0 to 1.
    pub stars: f32,
    /// Whether the plane z = 0 and the axes are drawn.
    pub grid: bool,
    /// Whether the camera follows the centre of mass.
    pub follow: bool,
    /// Whether the camera orbits slowly.
    pub turn: bool,
    /// Colours of the panel.
    pub theme: Theme,
    /// Size of the panel's text.
    pub scale: Size,
}

choice! {
    /// Size of the panel, relative to the size that the system recommends.
    pub enum Size {
        /// A fifth smaller.
        Smaller = "0.8",
        /// The size that the system recommends.
        One = "1",
        /// A quarter larger.
        Larger = "1.25",
        /// Half larger.
        Large = "1.5",
        /// Twice as large.
        Double = "2",
    }
}

impl Size {
    /// Returns the next larger or smaller size, or the size itself at the end of the list.
    pub fn next(self, larger: bool) -> Self {
        let at = if larger { self.index() + 1 } else { self.index().saturating_sub(1) };
        Self::OPTIONS.get(at).map_or(self, |(size, _)| *size)
    }

    /// Returns the factor on the recommended size, which is the option's name.
    pub fn factor(self) -> f32 {
        self.name().parse().unwrap_or(1.0)
    }
}

choice! {
    /// Colours of the panel.
    pub enum Theme {
        /// For dark rooms.
        Dark = "dark",
        /// For bright rooms.
        Light = "light",
    }
}

choice! {
    /// Condition under which bright areas spread a glow.
    pub enum BloomMode {
        /// On if a GPU draws the picture; a CPU is too slow.
        Auto = "auto",
        /// Always.
        On = "on",
        /// Never.
        Off = "off",
    }
}

impl Default for Look {
    fn default() -> Self {
        Self {
            palette: Palette::Dusk,
            exposure: 0.0,
            auto_exposure: true,
            bloom: BloomMode::Auto,
            bloom_strength: 0.35,
            point_size: 1.0,
            trails: 0.0,
            depth_cue: 0.3,
            stars: 0.4,
            grid: false,
            follow: false,
            turn: false,
            theme: Theme::Dark,
            scale: Size::One,
        }
    }
}

impl Look {
    /// Returns a look without background and automatic effects, so that pictures can be compared.
    pub fn plain() -> Self {
        Self { auto_exposure: false, bloom: BloomMode::Off, depth_cue: 0.0, stars: 0.0, ..Self::default() }
    }
}

impl Params for Look {
    fn visit(&mut self, v: &mut dyn Visitor) {
        use Scale::{Linear, Log};
        let info = |key, label, help| Info::new(key, label, help).effect(ChangeEffect::View);
        v.choice(&info("palette", "Palette", "Colours of low and high values."), &mut self.palette);
        v.float(
            &info("exposure", "Exposure", "Brightness of the picture. Each stop doubles the brightness.")
                .unit("stops"),
            &mut self.exposure,
            -4.0..=4.0,
            Linear,
        );
        v.flag(
            &info("auto_exposure", "Auto exposure", "Adapts the exposure to the brightness of the picture."),
            &mut self.auto_exposure,
        );
        v.choice(&info("bloom", "Bloom", "Bright areas spread a glow."), &mut self.bloom);
        v.float(
            &info("bloom_strength", "Bloom share", "Fraction of the light that spreads as a glow."),
            &mut self.bloom_strength,
            0.0..=1.0,
            Linear,
        );
        v.float(
            &info(
                "point_size",
                "Point size",
                "Factor on the size of bodies. Asteroids are drawn with their own radius.",
            ),
            &mut self.point_size,
            0.25..=4.0,
            Log,
        );
        v.float(
            &info(
                "trails",
                "Trails",
                "Length of trails in frames; 0 turns trails off. Trails are coarser with many bodies, and off with very many.",
            )
            .unit("frames"),
            &mut self.trails,
            0.0..=300.0,
            Linear,
        );
        v.float(
            &info("depth_cue", "Depth cue", "Dims distant bodies."),
            &mut self.depth_cue,
            0.0..=1.0,
            Linear,
        );
        v.float(
            &info("stars", "Stars", "Brightness of the stars in the background; 0 turns them off."),
            &mut self.stars,
            0.0..=1.0,
            Linear,
        );
        v.flag(&info("grid", "Grid", "Draws the plane z = 0 and the axes."), &mut self.grid);
        v.flag(&info("follow", "Follow", "The camera follows the centre of mass."), &mut self.follow);
        v.flag(&info("turn", "Turn", "The camera orbits slowly around its target."), &mut self.turn);
        v.choice(&info("theme", "Theme", "Colours of the panel."), &mut self.theme);
        v.choice(
            &info("scale", "Text size", "Factor on the text size that the system recommends."),
            &mut self.scale,
        );
        self.trails = self.trails.round();
    }
}
