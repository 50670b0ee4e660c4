//! Takes pictures of the simulation and records films, at the user's request.

use std::time::Duration;

use glam::Vec3;

use super::clock::waker;
use super::exports::{Shot, Written};
use super::viewer::Viewer;
use crate::base::{Name, Points, Result};
use crate::engine::{Snapshot, snapshot};
use crate::export::film::{Film, Format};
use crate::session::{Capture, CaptureRequest, Command, FilmFrame, Purpose, Stats};
use crate::ui::{FilmPlan, PictureSize};
use crate::view::Canvas;

impl Viewer {
    /// Requests a snapshot of the simulation. When the snapshot arrives, a picture of this `size` with the snapshot
    /// embedded is saved.
    pub(super) fn take_picture(&mut self, size: PictureSize) {
        if self.has_stopped("Could not save the picture") {
            return;
        }
        let size = self.pixels(size);
        self.exports.requested.push_back(size);
        self.capture(None, size);
    }

    /// Starts recording a film, or shows why recording cannot start.
    pub(super) fn record(&mut self, plan: FilmPlan) {
        if self.has_stopped("Could not record the film") {
            return;
        }
        let size = self.pixels(plan.size);
        let name = self.export_name(&plan.format.extension(), plan.format == Format::Frames);
        // Checks that OpenGL can draw pictures of the film's size.
        let film = Canvas::new(self.screen.window.context(), size)
            .and_then(|_| Film::create(name.path(), size, plan.rate));
        let film = match film {
            Ok(film) => film,
            Err(error) => return self.ui.alerts.failed("Could not record the film", &error),
        };
        // The number of steps per picture must not depend on the drawing speed.
        let config = &self.sim.config;
        let usual = self.sim.shown.steps_per_frame.min(config.pace());
        let pace = config.steps_per_frame.unwrap_or(usual).max(1);
        self.exports.start_film((film, name), (plan, size, pace), config.running, waker(&self.proxy));
        if let (Some(film), Some(past)) = (&mut self.exports.film, self.timeline.shown.past) {
            // If the replay has reached its end, the film starts at the beginning of the recorded run.
            let [first, last] = self.timeline.shown.span.unwrap_or_default();
            film.replay = Some(if past < last { past } else { first });
            self.timeline.shown.plays = false;
        }
        // The view of a film must not depend on how long ago the scene was opened.
        self.viewpoint.rig.finish_opening();
        let before = self.sim.config.clone();
        self.sim.config.running = false;
        self.configure(&before);
    }

    /// Ends the film, and keeps its file if `keeps` is true. Resumes the simulation if it was running before the film.
    pub(super) fn end_film(&mut self, keeps: bool) {
        let Some(film) = self.exports.film.take() else { return };
        self.ui.export.filming = None;
        self.replayed = None;
        // Redraws the past moment that was on the screen when the film began.
        self.sim.past.iter_mut().for_each(|past| past.is_new = true);
        if !keeps {
            self.ui.alerts.say("Cancelled the recording; no film was saved");
        } else if film.done == 0 {
            self.ui.alerts.say("The film was discarded, because no frames had been recorded yet");
        }
        let before = self.sim.config.clone();
        self.sim.config.running |= film.was_running;
        if keeps {
            self.exports.finish_film(film);
        }
        self.configure(&before);
    }

    /// Advances the film in progress, and shows which files have been written.
    pub(super) fn poll_exports(&mut self) {
        while let Ok(Written { film, outcome }) = self.exports.written.1.try_recv() {
            match outcome {
                Ok((files, note)) => {
                    let note = note.map(|note| format!("; {note}")).unwrap_or_default();
                    let folder =
                        std::env::current_dir().map_or(String::new(), |it| format!(" in {}", it.display()));
                    self.ui.alerts.say(format!("Saved {files}{folder}{note}"));
                    self.recorder.note("shared".to_owned(), &self.sim.shown);
                }
                Err(error) => {
                    if film.is_some() && film == self.exports.film.as_ref().map(|film| film.number) {
                        self.end_film(false);
                    }
                    let title =
                        if film.is_some() { "Could not save the film" } else { "Could not save the picture" };
                    self.ui.alerts.failed(title, &error);
                }
            }
        }
        self.advance_film();
    }

    fn advance_film(&mut self) {
        let Some(film) = &mut self.exports.film else { return };
        let (shot, size) = (film.advance(), film.size);
        let seconds = f64::from(film.done) / f64::from(film.plan.rate);
        let replay = film.replay;
        self.ui.export.filming = Some(film.progress());
        if film.is_complete() {
            self.end_film(true);
        } else if let (Some(shot), Some(start)) = (shot, replay) {
            // If the replay ends before the film does, the film ends too.
            match self.timeline.film_frame(start, seconds) {
                Some(frame) => self.replayed = Some((shot.film, frame)),
                None => self.end_film(true),
            }
        } else if let Some(shot) = shot {
            self.capture(Some(shot), size);
        }
    }

    /// Draws the next picture of a film of the replay, if it is due.
    pub(super) fn draw_replayed(&mut self) -> Result<()> {
        let Some((film, frame)) = self.replayed.take() else { return Ok(()) };
        self.draw_shot(film, &frame.points, &frame.stats)?;
        // The window also shows the frame that was drawn for the film.
        self.screen.redraw();
        Ok(())
    }

    /// Requests the points for the film frame `film`, or for a single picture if `film` is `None`. `size` is in pixels.
    fn capture(&mut self, film: Option<FilmFrame>, size: (u32, u32)) {
        let light = self.screen.view.light_request(&self.viewpoint.rig.camera, size.into()).map(Box::new);
        self.sim.send(Command::Capture(CaptureRequest { film, light }));
    }

    /// Draws the points in `capture` for the picture or film that requested them.
    pub(super) fn draw_capture(&mut self, capture: Capture) -> Result<()> {
        let Capture { points, time, names, config, purpose } = capture;
        let stats = Stats { time, names, config, ..self.sim.shown.clone() };
        match purpose {
            Purpose::Picture(snapshot) => {
                let Some(size) = self.exports.requested.pop_front() else { return Ok(()) };
                match self.draw_offscreen(&points, &stats, size)? {
                    Ok(picture) => self.save_picture(picture, *snapshot),
                    Err(error) => self.ui.alerts.failed("Could not save the picture", &error),
                }
                Ok(())
            }
            Purpose::Film(number) => self.draw_shot(number, &points, &stats),
        }
    }

    /// Draws `points` as the next picture of film `number`, unless this film has ended.
    fn draw_shot(&mut self, number: u64, points: &Points, stats: &Stats) -> Result<()> {
        let film = self.exports.film.as_ref().filter(|film| film.number == number);
        let Some(film) = film else { return Ok(()) };
        // The camera moves according to the film's time.
        let (interval, size) = (Duration::from_secs_f64(1.0 / f64::from(film.plan.rate)), film.size);
        let target = self.follow_target();
        let look = &self.screen.look;
        let body = target.body.map(|body| points.position(body).map(|[x, y, z, _]| Vec3::new(x, y, z)));
        if body.is_none() && look.follow {
            self.viewpoint.update_centre(points, true);
        }
        let viewport = (size.0 as f32 / size.1.max(1) as f32).into();
        self.viewpoint.update_kept(points, true, (look.keep_in_view, viewport));
        self.viewpoint.tick(interval, self.turns(), target, (body, look.follow));
        match self.draw_offscreen(points, stats, size)? {
            Ok(picture) => {
                if let Some(film) = &mut self.exports.film {
                    film.add(picture);
                }
                self.advance_film();
            }
            Err(error) => {
                self.end_film(false);
                self.ui.alerts.failed("Could not record the film", &error);
            }
        }
        Ok(())
    }

    /// Draws `points` in a picture of `size` pixels. The inner result is an error if OpenGL cannot draw this size.
    fn draw_offscreen(&mut self, points: &Points, stats: &Stats, size: (u32, u32)) -> Result<Result<Shot>> {
        let view = (&self.viewpoint.rig.camera, size.0 as f32 / size.1.max(1) as f32);
        let captions = self.tools.named.captions(&self.screen.look, view, points, stats);
        let screen = &mut self.screen;
        screen.view.upload(points, points.value_range())?;
        let context = screen.window.context().clone();
        Ok(Canvas::new(&context, size).and_then(|canvas| {
            let picture =
                canvas.render_raw(|surface| screen.view.draw_exactly(surface, &self.viewpoint.rig.camera))?;
            Ok(Shot { picture, captions, theme: screen.look.theme })
        }))
    }

    fn save_picture(&mut self, picture: Shot, snapshot: Snapshot) {
        let name = self.export_name(snapshot::PICTURE, false);
        let snapshot = Snapshot { view: self.viewpoint.rig.camera.to_words(), ..snapshot };
        self.exports.save_picture(name, (picture, snapshot), waker(&self.proxy));
    }

    /// Converts a picture size, which may be a multiple of the size in the window, to a width and height in pixels.
    fn pixels(&self, size: PictureSize) -> (u32, u32) {
        match size {
            PictureSize::Pixels(width, height) => (width, height),
            PictureSize::Times(times) => {
                let glium::Rect { width, height, .. } = self.screen.window.picture;
                (width.max(1) * times, height.max(1) * times)
            }
        }
    }

    /// Returns an unused file name in the working directory that begins with the scene's name.
    fn export_name(&self, extension: &str, is_numbered: bool) -> Name {
        let stem = format!("gravitile-{}", self.sim.config.start.file_name());
        self.exports.names.free(&stem, extension, is_numbered)
    }
}
