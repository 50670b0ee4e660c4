//! The scenes that come with the program.

use std::sync::{Arc, LazyLock};

use super::description::Scene;
use super::file;

/// Embeds the scenes `assets/scenes/NAME.toml` with the thumbnails `assets/thumbnails/NAME.png`.
macro_rules! scenes {
    ($($name:literal),* $(,)?) => {
        ::std::sync::LazyLock::new(|| {
            vec![$(embedded(
                $name,
                include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/scenes/", $name, ".toml")),
                include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/thumbnails/", $name, ".png")),
            )),*]
        })
    };
}
/// Parses an embedded scene. Panics if the scene file is invalid; tests/files/scenes checks that all are valid.
fn embedded(name: &str, text: &str, thumbnail: &'static [u8]) -> Arc<Scene> {
    match file::parse(name, text) {
        Ok(file) => Arc::new(Scene { thumbnail, ..file.scene }),
        Err(error) => unreachable!("assets/scenes/{name}.toml: {error}"),
    }
}

/// The built-in gravity scenes. The default scene is first.
pub static GRAVITY: LazyLock<Vec<Arc<Scene>>> = scenes![
    "spiral",
    "galaxy",
    "disc",
    "collision",
    "merger",
    "milky-way-andromeda",
    "plummer",
    "cold-sphere",
    "cold-collapse",
    "cosmic-web",
    "cube",
    "ring",
    "solar-system",
    "two-body",
    "figure-eight",
    "pythagorean",
];

/// The built-in asteroid scenes. The default scene is first.
pub static ASTEROIDS: LazyLock<Vec<Arc<Scene>>> =
    scenes!["belt", "rings", "clouds", "splash", "billiards", "box", "shooter"];

/// The built-in fluid scenes. The default scene is first.
pub static FLUID: LazyLock<Vec<Arc<Scene>>> =
    scenes!["cylinder", "step", "porous", "channel", "box-128", "box-256", "box-wall"];
