//! Combines the appearance settings of the picture from three sources: the defaults, the scene, and the user.

use std::sync::Arc;

use crate::base::{Look, ParamValues, Partial};
use crate::scene::Scene;

/// Appearance settings of the scene and of the user. The user's settings apply to all scenes and override the scene's.
pub(super) struct Appearance {
    /// The scene whose appearance settings apply.
    scene: Arc<Scene>,
    /// The user's appearance settings: saved ones, those on the command line, and changes in the window.
    pub own: Partial<Look>,
    /// Appearance settings at the last call to [`Appearance::note`]. If a current setting differs, the user has changed
    /// it.
    noted: Look,
}

impl Appearance {
    pub(super) fn new(scene: &Arc<Scene>, own: Partial<Look>) -> Self {
        let mut appearance = Self { scene: scene.clone(), own, noted: Look::default() };
        appearance.noted = appearance.compose();
        appearance
    }

    /// Returns the appearance settings of the scene without the user's settings.
    pub(super) fn of_scene(&self) -> Look {
        self.scene.look.complete()
    }

    /// Returns the last recorded appearance settings: the scene's, overridden by the user's.
    pub(super) fn look(&self) -> &Look {
        &self.noted
    }

    /// Records the settings of `look` that the user has changed since the last call. If the user has set a setting back
    /// to the scene's value, removes it from the user's settings.
    pub(super) fn note(&mut self, look: &Look) {
        let of_scene = ParamValues::collect(&mut self.of_scene());
        // Panning and framing switch `follow` off, so a change of `follow` need not be the user's wish.
        for (key, value) in Partial::changes(&self.noted, look).iter().filter(|(key, _)| *key != "follow") {
            match of_scene.get(key) == Some(value) {
                true => self.own.remove(key),
                false => self.own.insert(key, value),
            }
        }
        self.noted = look.clone();
    }

    /// If `scene` differs from the previous scene, replaces the settings of `look` that the user has not set.
    pub(super) fn follow(&mut self, scene: &Arc<Scene>, look: &mut Look) {
        if self.scene == *scene {
            return;
        }
        self.note(look);
        self.scene = scene.clone();
        self.noted = self.compose();
        look.clone_from(&self.noted);
    }

    fn compose(&self) -> Look {
        let mut look = self.of_scene();
        self.own.apply(&mut look);
        look
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Palette;
    use crate::modes::MODES;

    fn look(words: &[(&str, &str)]) -> Partial<Look> {
        let mut look = Partial::default();
        words.iter().for_each(|(key, text)| look.set(key, text).unwrap());
        look
    }

    fn scene(words: &[(&str, &str)]) -> Arc<Scene> {
        Arc::new(Scene { look: look(words), ..Scene::clone(&MODES[0].scenes[0]) })
    }

    #[test]
    fn user_settings_override_the_scene_and_the_scene_overrides_the_defaults() {
        let first = scene(&[("palette", "ice"), ("trails", "20")]);
        let mut appearance = Appearance::new(&first, look(&[("trails", "0")]));
        let mut now = appearance.look().clone();
        assert_eq!(now, Look { palette: Palette::Ice, ..Look::default() });
        appearance.follow(&scene(&[("trails", "30"), ("stars", "0")]), &mut now);
        assert_eq!(now, Look { stars: 0.0, ..Look::default() }, "the palette left with its scene");
        appearance.follow(&scene(&[]), &mut now);
        assert_eq!(now, Look::default());
    }

    #[test]
    fn look_changes_made_in_the_window_persist_across_scenes_until_reset() {
        let [first, second] = ["ice", "magma"].map(|palette| scene(&[("palette", palette)]));
        let mut appearance = Appearance::new(&first, Partial::default());
        let mut now = Look { palette: Palette::Dusk, exposure: 1.0, ..appearance.look().clone() };
        appearance.follow(&second, &mut now);
        assert_eq!(now, Look { exposure: 1.0, ..Look::default() }, "a default value is a choice too");
        (now.palette, now.exposure) = (Palette::Magma, 2.0);
        appearance.note(&now);
        assert_eq!(appearance.own, look(&[("exposure", "2")]), "the palette is the scene's again");
        appearance.follow(&first, &mut now);
        assert_eq!(now, Look { palette: Palette::Ice, exposure: 2.0, ..Look::default() });
    }

    #[test]
    fn a_saved_look_setting_equal_to_that_of_the_scene_persists_across_scenes() {
        let mut appearance = Appearance::new(&scene(&[("palette", "ice")]), look(&[("palette", "ice")]));
        let mut now = appearance.look().clone();
        appearance.note(&now);
        appearance.follow(&scene(&[("palette", "magma")]), &mut now);
        assert_eq!(now.palette, Palette::Ice);
    }
}
