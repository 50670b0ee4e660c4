//! How it looks: one plain value that the command line makes, the panel edits and the view obeys. None of it is known to
//! the simulation.

mod palette;

pub use palette::{Palette, Srgb};

use crate::params::{Choice, Effect, Info, Opt, Params, Scale, Visitor};

/// How the picture is drawn, and what the camera does by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Look {
    /// The colours of low and high.
    pub palette: Palette,
    /// Stops: each doubles the light.
    pub exposure: f32,
    /// Whether the exposure also goes with what is in the picture.
    pub auto_exposure: bool,
    /// Whether bright places shine over their surroundings.
    pub bloom: Bloom,
    /// How much of their light does.
    pub bloom_strength: f32,
    /// Times the size that a body is drawn with by itself.
    pub point_size: f32,
    /// Pictures that a trail goes back: a whole number.
    pub trails: f32,
    /// How much dimmer bodies are that are farther away.
    pub depth_cue: f32,
    /// How bright the stars behind it all are.
    pub stars: f32,
    /// Whether the plane z = 0 and the axes are drawn.
    pub grid: bool,
    /// Whether the camera goes with the centre of mass.
    pub follow: bool,
    /// Whether the camera slowly turns.
    pub turn: bool,
    /// The panel's colours.
    pub theme: Theme,
    /// How large the panel is.
    pub scale: Size,
}

/// How large the panel is, times the size that the screen asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// 0.8.
    Smaller,
    /// 1.
    One,
    /// 1.25.
    Larger,
    /// 1.5.
    Large,
    /// 2.
    Double,
}

impl Choice for Size {
    const OPTIONS: &'static [(Self, Opt)] = &[
        (Self::Smaller, Opt { name: "0.8", help: "A fifth smaller." }),
        (Self::One, Opt { name: "1", help: "The size that the screen asks for." }),
        (Self::Larger, Opt { name: "1.25", help: "A quarter larger." }),
        (Self::Large, Opt { name: "1.5", help: "Half as large again." }),
        (Self::Double, Opt { name: "2", help: "Twice as large." }),
    ];
}

impl Size {
    /// The next one, larger or smaller; the last one itself.
    pub fn next(self, larger: bool) -> Self {
        let at = if larger { self.index() + 1 } else { self.index().saturating_sub(1) };
        Self::OPTIONS.get(at).map_or(self, |(size, _)| *size)
    }

    /// The factor.
    pub fn factor(self) -> f32 {
        match self {
            Self::Smaller => 0.8,
            Self::One => 1.0,
            Self::Larger => 1.25,
            Self::Large => 1.5,
            Self::Double => 2.0,
        }
    }
}

/// The panel's colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Theme {
    /// For dark rooms.
    Dark,
    /// For bright ones.
    Light,
}

impl Choice for Theme {
    const OPTIONS: &'static [(Self, Opt)] = &[
        (Self::Dark, Opt { name: "dark", help: "So that the picture is the brightest thing." }),
        (Self::Light, Opt { name: "light", help: "For bright rooms." }),
    ];
}

/// When bright places shine over their surroundings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bloom {
    /// Where a graphics card draws.
    Auto,
    /// Always.
    On,
    /// Never.
    Off,
}

impl Choice for Bloom {
    const OPTIONS: &'static [(Self, Opt)] = &[
        (
            Self::Auto,
            Opt { name: "auto", help: "Where a graphics card draws; a processor has no time for it." },
        ),
        (Self::On, Opt { name: "on", help: "Always." }),
        (Self::Off, Opt { name: "off", help: "Never." }),
    ];
}

impl Default for Look {
    fn default() -> Self {
        Self {
            palette: Palette::Dusk,
            exposure: 0.0,
            auto_exposure: true,
            bloom: Bloom::Auto,
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
    /// Nothing but the bodies, drawn alike whatever draws them: for pictures that are compared.
    pub fn plain() -> Self {
        Self { auto_exposure: false, bloom: Bloom::Off, depth_cue: 0.0, stars: 0.0, ..Self::default() }
    }
}

impl Params for Look {
    fn visit(&mut self, v: &mut dyn Visitor) {
        use Scale::{Linear, Log};
        let info = |key, label, help| Info::new(key, label, help).effect(Effect::View);
        v.choice(&info("palette", "Palette", "The colours of low and high."), &mut self.palette);
        v.float(
            &info("exposure", "Exposure", "How bright the picture is: one more doubles the light.")
                .unit("stops"),
            &mut self.exposure,
            -4.0..=4.0,
            Linear,
        );
        v.flag(
            &info(
                "auto_exposure",
                "Auto exposure",
                "Darken what is dazzling and brighten what is dim, as an eye does.",
            ),
            &mut self.auto_exposure,
        );
        v.choice(&info("bloom", "Bloom", "Bright places shine over their surroundings."), &mut self.bloom);
        v.float(
            &info("bloom_strength", "Bloom share", "How much of the light shines over."),
            &mut self.bloom_strength,
            0.0..=1.0,
            Linear,
        );
        v.float(
            &info(
                "point_size",
                "Point size",
                "Times the size that a body is drawn with by itself; asteroids have their own.",
            ),
            &mut self.point_size,
            0.25..=4.0,
            Log,
        );
        v.float(
            &info(
                "trails",
                "Trails",
                "How many pictures a trail goes back; 0 is none. Where there are many bodies it is coarser; where there are very many there is none.",
            )
            .unit("pictures"),
            &mut self.trails,
            0.0..=300.0,
            Linear,
        );
        v.float(
            &info("depth_cue", "Depth cue", "How much dimmer bodies are that are farther away."),
            &mut self.depth_cue,
            0.0..=1.0,
            Linear,
        );
        v.float(
            &info("stars", "Stars", "How bright the stars behind it all are; 0 is none."),
            &mut self.stars,
            0.0..=1.0,
            Linear,
        );
        v.flag(&info("grid", "Grid", "Draw the plane z = 0 and the axes."), &mut self.grid);
        v.flag(&info("follow", "Follow", "Let the camera go with the centre of mass."), &mut self.follow);
        v.flag(&info("turn", "Turn", "Let the camera slowly turn about what it looks at."), &mut self.turn);
        v.choice(&info("theme", "Theme", "The colours of this panel."), &mut self.theme);
        v.choice(&info("scale", "Text size", "Times the size that the screen asks for."), &mut self.scale);
        self.trails = self.trails.round();
    }
}
