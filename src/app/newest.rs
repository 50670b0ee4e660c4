//! The newest frame: it is taken, and looked at from where it is seen best.

use std::time::{Duration, Instant};

use super::open::Open;
use crate::error::Result;
use crate::view::{self, Camera};

impl Open {
    /// Takes the newest frame, if there is one, and frames a scene that is new.
    pub(super) fn upload(&mut self) -> Result<()> {
        let (frame, fresh) = self.session.frame();
        let is_something = !frame.points.positions.is_empty() || !frame.points.image.values.is_empty();
        let is_new = self.generation != frame.stats.generation && is_something;
        if is_new {
            // Each mode keeps its camera while another is shown.
            self.cameras.insert(self.shown.mode, (self.shown.generation, self.rig.camera.clone()));
            let restored = self.restored.take();
            match self.cameras.get(frame.stats.mode) {
                _ if restored.is_some() => self.rig.stand(restored.unwrap_or_default()),
                Some((generation, camera))
                    if *generation == frame.stats.generation && self.generation != 0 =>
                {
                    self.rig.stand(camera.clone());
                }
                seen => {
                    let mut camera = self.rig.camera.clone();
                    // A mode that was never shown has a direction of its own to be looked at from.
                    let is_first = seen.is_none() && self.shown.mode != frame.stats.mode;
                    if is_first || std::mem::take(&mut self.resets) {
                        camera = Camera::facing(frame.points.shape);
                    }
                    camera.frame_all(&frame.points, self.window.aspect());
                    match self.shown.generation == frame.stats.generation {
                        true => self.rig.glide_to(camera),
                        false => self.rig.stand(camera),
                    }
                }
            }
            if self.shown.generation != frame.stats.generation || self.shown.mode != frame.stats.mode {
                self.view.forget();
                self.middle = None;
            }
            self.generation = frame.stats.generation;
            self.clock.redraw_after(Duration::ZERO);
        }
        if self.look.follow && (fresh || self.middle.is_none()) {
            self.middle = view::middle(&frame.points);
        }
        if fresh {
            let start = Instant::now();
            // What is undone leads back at once, and not along the way.
            if frame.stats.undos < self.shown.undos {
                self.view.forget();
            }
            self.view.upload(&frame.points, frame.value_range)?;
            let is_another =
                (self.shown.mode, self.shown.generation) != (frame.stats.mode, frame.stats.generation);
            self.shown = frame.stats.clone();
            self.stats.upload_ms = start.elapsed().as_secs_f64() * 1e3;
            self.recorder.news();
            self.hand.grip.follows &= self.shown.held.is_some();
            if is_another {
                self.abandon();
            }
            self.feel_again();
        }
        Ok(())
    }
}
