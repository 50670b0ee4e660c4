//! Pictures and films of what is shown. A film is made picture by picture: the simulation steps, the window draws, a thread
//! writes; none is left out, however long that takes.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded, unbounded};
use glam::Vec3;
use image::RgbImage;

use super::open::{Open, free_name, waker};
use crate::error::Result;
use crate::files::Output;
use crate::film::{self, Film};
use crate::session::{Command, Still};
use crate::snapshot::{self, Extent, Snapshot};
use crate::ui::{PictureSize, Plan};
use crate::view::{self, Canvas, Negative};

/// Pictures that may wait to be written.
const WAITING: usize = 2;

/// The longest that a picture which was asked for is waited for when the program ends.
const PATIENCE: Duration = Duration::from_secs(2);

/// What was written, with what there is to be said of it, or why not.
struct Written {
    is_film: bool,
    outcome: Result<(PathBuf, Option<&'static str>)>,
}

/// What is being made.
pub(super) struct Studio {
    /// How large the pictures are to be that were asked for.
    wanted: VecDeque<(u32, u32)>,
    filming: Option<Filming>,
    written: (Sender<Written>, Receiver<Written>),
    /// Threads that write.
    writers: Vec<JoinHandle<()>>,
}

/// A film that is being made.
struct Filming {
    plan: Plan,
    size: (u32, u32),
    pace: u32,
    /// Drawn so far.
    done: u32,
    /// Whether a moment was asked for that has not come.
    is_asked: bool,
    /// A picture that the writer had no room for.
    waiting: Option<Message>,
    writer: Sender<Message>,
    /// Whether the simulation went on before.
    was_running: bool,
}

enum Message {
    Picture(Negative),
    Finish,
}

impl Default for Studio {
    fn default() -> Self {
        Self { wanted: VecDeque::new(), filming: None, written: unbounded(), writers: Vec::new() }
    }
}

impl Studio {
    /// Waits for no picture any more: none comes.
    pub fn forget(&mut self) {
        self.wanted.clear();
    }

    /// Whether a film is being made.
    pub fn is_filming(&self) -> bool {
        self.filming.is_some()
    }

    /// Lets a thread write.
    fn begin(&mut self, write: impl FnOnce() + Send + 'static) {
        self.writers.retain(|writer| !writer.is_finished());
        self.writers.push(std::thread::spawn(write));
    }
}

impl Open {
    /// Ends the film, which is kept, and waits for all that is being written; what could not be.
    pub(super) fn close_studio(&mut self) -> Result<()> {
        self.end_film(true);
        for writer in self.studio.writers.drain(..) {
            // A panic over there was printed there.
            let _ = writer.join();
        }
        self.studio.written.1.try_iter().try_for_each(|written| written.outcome.map(drop))
    }

    /// Waits for the pictures that were asked for, but not for ever.
    pub(super) fn await_pictures(&mut self) -> Result<()> {
        let start = Instant::now();
        while !self.studio.wanted.is_empty() && start.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(5));
            self.hear_notices()?;
        }
        Ok(())
    }

    /// Pixels of a picture.
    fn pixels(&self, size: PictureSize) -> (u32, u32) {
        match size {
            PictureSize::Pixels(width, height) => (width, height),
            PictureSize::Times(times) => {
                let (width, height) = self.window.picture_size();
                (width.max(1) * times, height.max(1) * times)
            }
        }
    }

    /// Asks for all that there is, to make a picture of it that carries it.
    pub(super) fn take_picture(&mut self, size: PictureSize) {
        let size = self.pixels(size);
        self.studio.wanted.push_back(size);
        self.session.send(Command::Still(None));
    }

    /// Begins a film, unless something is missing, which is told.
    pub(super) fn record(&mut self, plan: Plan) {
        let size = self.pixels(plan.size);
        let name = format!("gravitile-{}", self.config.start.file_name());
        let path = free_name(&name, plan.format.extension(), plan.format == film::Format::Frames);
        // A film that cannot be drawn or written is told before it begins.
        let film =
            Canvas::new(self.window.context(), size).and_then(|_| Film::create(&path, size, plan.rate));
        let film = match film {
            Ok(film) => film,
            Err(error) => return self.ui.error("No film", format!("{error}."), None),
        };
        let (writer, pictures) = bounded(WAITING);
        let (written, wake) = (self.studio.written.0.clone(), waker(&self.proxy));
        self.studio.begin(move || {
            if let Some(outcome) = write(film, &pictures, &wake) {
                let _ = written.send(Written { is_film: true, outcome: outcome.map(|()| (path, None)) });
            }
            wake();
        });
        let was_running = self.config.running;
        let pace = self.config.steps_per_frame.unwrap_or(self.shown.steps_per_frame).max(1);
        let before = self.config.clone();
        self.config.running = false;
        self.tell(&before);
        self.studio.filming =
            Some(Filming { plan, size, pace, done: 0, is_asked: false, waiting: None, writer, was_running });
    }

    /// Ends the film, to keep it or not.
    pub(super) fn end_film(&mut self, keeps: bool) {
        let Some(filming) = self.studio.filming.take() else { return };
        self.ui.filming(None);
        if keeps {
            // Behind what waits; the window does not wait for that.
            self.studio.begin(move || {
                for message in filming.waiting.into_iter().chain([Message::Finish]) {
                    let _ = filming.writer.send(message);
                }
            });
        } else {
            self.ui.say("The film was cancelled");
        }
        let before = self.config.clone();
        self.config.running |= filming.was_running;
        self.tell(&before);
    }

    /// Goes on with the film, and tells what was written. Once a frame.
    pub(super) fn tend_studio(&mut self) {
        for Written { is_film, outcome } in self.studio.written.1.try_iter().collect::<Vec<_>>() {
            match outcome {
                Ok((path, note)) => {
                    let note = note.map(|note| format!("; {note}")).unwrap_or_default();
                    self.ui.say(format!("Saved {}{note}", path.display()));
                    self.recorder.note("shared".to_owned(), &self.shown);
                }
                Err(error) => {
                    if is_film {
                        self.end_film(false);
                    }
                    self.ui.error("Not saved", format!("{error}."), None);
                }
            }
        }
        let Some(filming) = &mut self.studio.filming else { return };
        if let Some(message) = filming.waiting.take()
            && let Err(TrySendError::Full(message)) = filming.writer.try_send(message)
        {
            filming.waiting = Some(message);
        }
        self.ui.filming(Some((filming.done, filming.plan.frames)));
        if filming.done == filming.plan.frames {
            return self.end_film(true);
        }
        if filming.waiting.is_none() && !filming.is_asked {
            filming.is_asked = true;
            let steps = if filming.done == 0 { 0 } else { filming.pace };
            self.session.send(Command::Still(Some(steps)));
        }
    }

    /// Makes a picture of a moment that was asked for.
    pub(super) fn develop(&mut self, still: Still) -> Result<()> {
        let Still { points, snapshot } = still;
        let size = match (&snapshot, &mut self.studio) {
            (Some(_), studio) => studio.wanted.pop_front(),
            (None, Studio { filming: Some(filming), .. }) => Some(filming.size),
            (None, _) => None,
        };
        // A film that was ended meanwhile.
        let Some(size) = size else { return Ok(()) };
        self.view.upload(&points, points.value_range())?;
        if let (None, Some(filming)) = (&snapshot, &self.studio.filming) {
            // The camera moves in the time of the film.
            let interval = Duration::from_secs_f64(1.0 / f64::from(filming.plan.rate));
            let whom = self.whom();
            let followed = match whom.body {
                Some(body) => points.positions.get(body).map(|&[x, y, z, _]| Vec3::new(x, y, z)),
                None => view::middle(&points).filter(|_| self.look.follow),
            };
            self.rig.tick(interval, self.look.turn, followed.map(|point| (whom, point)));
        }
        let context = self.window.context().clone();
        let Self { view, rig, .. } = self;
        let picture = Canvas::new(&context, size)
            .and_then(|canvas| canvas.expose(|surface| view.draw(surface, &rig.camera, None)));
        match (picture, snapshot) {
            (Ok(picture), Some(snapshot)) => self.save_picture(picture, snapshot),
            (Ok(picture), None) => {
                if let Some(filming) = &mut self.studio.filming {
                    filming.done += 1;
                    filming.is_asked = false;
                    filming.waiting = Some(Message::Picture(picture));
                }
                self.tend_studio();
            }
            (Err(error), snapshot) => {
                if snapshot.is_none() {
                    self.end_film(false);
                }
                self.ui.error("No picture", format!("{error}."), None);
            }
        }
        Ok(())
    }

    /// Packs and writes the picture beside the window.
    fn save_picture(&mut self, picture: Negative, snapshot: Snapshot) {
        let path =
            free_name(&format!("gravitile-{}", self.config.start.file_name()), snapshot::PICTURE, false);
        let snapshot = Snapshot { view: self.rig.camera.to_words(), ..snapshot };
        let (written, wake) = (self.studio.written.0.clone(), waker(&self.proxy));
        self.studio.begin(move || {
            let outcome = save(&path, &picture.into_picture(), &snapshot).map(|extent| (path, extent.note()));
            let _ = written.send(Written { is_film: false, outcome });
            wake();
        });
    }
}

fn save(path: &Path, picture: &RgbImage, snapshot: &Snapshot) -> Result<Extent> {
    let (png, extent) = snapshot::embed(&film::png(picture)?, snapshot)?;
    Output::create(path)?.save(|file| file.write_all(&png))?;
    Ok(extent)
}

/// Writes what comes; none if the film was cancelled.
fn write(mut film: Film, pictures: &Receiver<Message>, wake: &impl Fn()) -> Option<Result<()>> {
    loop {
        match pictures.recv() {
            Ok(Message::Picture(picture)) => {
                if let Err(error) = film.add(&picture.into_picture()) {
                    return Some(Err(error));
                }
                wake();
            }
            Ok(Message::Finish) => return Some(film.finish()),
            Err(_) => return None,
        }
    }
}
