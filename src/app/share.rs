//! Pictures and films of what is shown. A film is made picture by picture: the simulation steps, the window draws, a thread
//! writes; none is left out, however long that takes.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded, unbounded};
use glam::Vec3;

use super::open::{Open, waker};
use crate::bodies::Points;
use crate::error::Result;
use crate::files::{Name, Names, Output};
use crate::film::{self, Film};
use crate::session::{Command, Purpose, Shot, Still};
use crate::snapshot::{self, Snapshot};
use crate::ui::{PictureSize, Plan};
use crate::view::{self, Canvas, Negative};

/// Pictures that may wait to be written.
const WAITING: usize = 2;

/// The longest that a picture which was asked for is waited for when the program ends.
const PATIENCE: Duration = Duration::from_secs(2);

/// What was written, with what there is to be said of it, or why not.
struct Written {
    /// The film's number, if it is one.
    film: Option<u64>,
    outcome: Result<(PathBuf, Option<&'static str>)>,
}

/// What is being made.
pub(super) struct Studio {
    /// How large the pictures are to be that were asked for.
    wanted: VecDeque<(u32, u32)>,
    filming: Option<Filming>,
    /// How many films were begun.
    films: u64,
    /// The names of files, those included that are being written.
    pub names: Names,
    written: (Sender<Written>, Receiver<Written>),
    /// Threads that write.
    writers: Vec<JoinHandle<()>>,
}

/// A film that is being made.
struct Filming {
    /// Its number: what comes of another that was ended before is not for this one.
    number: u64,
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
        Self {
            wanted: VecDeque::new(),
            filming: None,
            films: 0,
            names: Names::default(),
            written: unbounded(),
            writers: Vec::new(),
        }
    }
}

impl Studio {
    /// Whether the film that is being made has this number.
    fn is_of(&self, film: u64) -> bool {
        self.filming.as_ref().is_some_and(|filming| filming.number == film)
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
    /// Waits for no moment any more: none comes. A film ends with what there is of it.
    pub(super) fn forget_moments(&mut self) {
        self.studio.wanted.clear();
        self.end_film(true);
    }

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
        if self.has_stopped("No picture") {
            return;
        }
        let size = self.pixels(size);
        self.studio.wanted.push_back(size);
        self.session.send(Command::Still(None));
    }

    /// Begins a film, unless something is missing, which is told.
    pub(super) fn record(&mut self, plan: Plan) {
        if self.has_stopped("No film") {
            return;
        }
        let size = self.pixels(plan.size);
        let name = self.name(plan.format.extension(), plan.format == film::Format::Frames);
        // A film that cannot be drawn or written is told before it begins.
        let film =
            Canvas::new(self.window.context(), size).and_then(|_| Film::create(name.path(), size, plan.rate));
        let film = match film {
            Ok(film) => film,
            Err(error) => return self.ui.error("No film", format!("{error}."), None),
        };
        let (writer, pictures) = bounded(WAITING);
        let (written, wake) = (self.studio.written.0.clone(), waker(&self.proxy));
        self.studio.films += 1;
        let number = self.studio.films;
        self.studio.begin(move || {
            if let Some(outcome) = write(film, &pictures, &wake) {
                let outcome = outcome.map(|()| (name.path().to_owned(), None));
                let _ = written.send(Written { film: Some(number), outcome });
            }
            wake();
        });
        let was_running = self.config.running;
        // However long the window takes to draw a picture, a film goes as fast.
        let usual = self.shown.steps_per_frame.min(self.config.pace());
        let pace = self.config.steps_per_frame.unwrap_or(usual).max(1);
        let before = self.config.clone();
        self.config.running = false;
        self.tell(&before);
        self.studio.filming = Some(Filming {
            number,
            plan,
            size,
            pace,
            done: 0,
            is_asked: false,
            waiting: None,
            writer,
            was_running,
        });
    }

    /// A name for a new file in the working directory, after the scene.
    fn name(&self, extension: &str, is_numbered: bool) -> Name {
        let stem = format!("gravitile-{}", self.config.start.file_name());
        self.studio.names.free(&stem, extension, is_numbered)
    }

    /// Ends the film, to keep it or not.
    pub(super) fn end_film(&mut self, keeps: bool) {
        let Some(filming) = self.studio.filming.take() else { return };
        self.ui.filming(None);
        if keeps && filming.done == 0 {
            self.ui.say("The film had no picture yet");
        } else if keeps {
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
        for Written { film, outcome } in self.studio.written.1.try_iter().collect::<Vec<_>>() {
            match outcome {
                Ok((path, note)) => {
                    let note = note.map(|note| format!("; {note}")).unwrap_or_default();
                    self.ui.say(format!("Saved {}{note}", path.display()));
                    self.recorder.note("shared".to_owned(), &self.shown);
                }
                Err(error) => {
                    if film.is_some_and(|film| self.studio.is_of(film)) {
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
            self.session.send(Command::Still(Some(Shot { film: filming.number, steps })));
        }
    }

    /// Makes a picture of a moment that was asked for.
    pub(super) fn develop(&mut self, still: Still) -> Result<()> {
        let Still { points, purpose } = still;
        match purpose {
            Purpose::Picture(snapshot) => {
                let Some(size) = self.studio.wanted.pop_front() else { return Ok(()) };
                match self.expose(&points, size)? {
                    Ok(picture) => self.save_picture(picture, *snapshot),
                    Err(error) => self.ui.error("No picture", format!("{error}."), None),
                }
            }
            Purpose::Film(number) => self.develop_shot(number, &points)?,
        }
        Ok(())
    }

    /// Adds a picture to the film of this number, unless that was ended meanwhile.
    fn develop_shot(&mut self, number: u64, points: &Points) -> Result<()> {
        let Some(filming) = self.studio.filming.as_ref().filter(|filming| filming.number == number) else {
            return Ok(());
        };
        // The camera moves in the time of the film.
        let interval = Duration::from_secs_f64(1.0 / f64::from(filming.plan.rate));
        let (size, whom) = (filming.size, self.whom());
        let followed = match whom.body {
            Some(body) => points.positions.get(body).map(|&[x, y, z, _]| Vec3::new(x, y, z)),
            None => view::middle(points).filter(|_| self.look.follow),
        };
        self.rig.tick(interval, self.look.turn, followed.map(|point| (whom, point)));
        match self.expose(points, size)? {
            Ok(picture) => {
                if let Some(filming) = &mut self.studio.filming {
                    filming.done += 1;
                    filming.is_asked = false;
                    filming.waiting = Some(Message::Picture(picture));
                }
                self.tend_studio();
            }
            Err(error) => {
                self.end_film(false);
                self.ui.error("No picture", format!("{error}."), None);
            }
        }
        Ok(())
    }

    /// A picture of these bodies, or why there is none of that size.
    fn expose(&mut self, points: &Points, size: (u32, u32)) -> Result<Result<Negative>> {
        self.view.upload(points, points.value_range())?;
        let context = self.window.context().clone();
        let Self { view, rig, .. } = self;
        Ok(Canvas::new(&context, size)
            .and_then(|canvas| canvas.expose(|surface| view.draw(surface, &rig.camera, None))))
    }

    /// Packs and writes the picture beside the window.
    fn save_picture(&mut self, picture: Negative, snapshot: Snapshot) {
        let name = self.name(snapshot::PICTURE, false);
        let snapshot = Snapshot { view: self.rig.camera.to_words(), ..snapshot };
        let (written, wake) = (self.studio.written.0.clone(), waker(&self.proxy));
        self.studio.begin(move || {
            let write = || {
                let (png, extent) = snapshot::embed(&film::png(&picture.into_picture())?, &snapshot)?;
                Output::create(name.path())?.save(|file| file.write_all(&png))?;
                Ok((name.path().to_owned(), extent.note()))
            };
            let _ = written.send(Written { film: None, outcome: write() });
            wake();
        });
    }
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
