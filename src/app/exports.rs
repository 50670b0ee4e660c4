//! Writes pictures and films. For each picture of a film the simulation steps, the window draws, and a thread
//! writes. No picture is left out, however long the steps take.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded, unbounded};

use crate::base::error::Result;
use crate::base::files::{Name, Names, OutputFile};
use crate::engine::snapshot::{self, Snapshot};
use crate::export::film::{self, Film};
use crate::session::FilmFrame;
use crate::ui::FilmPlan;
use crate::view::RawPicture;

/// The most pictures of a film that wait to be written.
const MAX_WAITING: usize = 2;

/// The outcome of writing a picture or a film.
pub(super) struct Written {
    /// The film's number; `None` for a picture.
    film: Option<u64>,
    /// The file and a note about its contents, or the error.
    pub outcome: Result<(PathBuf, Option<&'static str>)>,
}

/// Pictures and films that are being made.
pub(super) struct Exports {
    /// Sizes in pixels of the pictures that were requested, in order.
    requested: VecDeque<(u32, u32)>,
    film: Option<FilmInProgress>,
    /// Number of films started so far, from which each film gets its number.
    films: u64,
    /// Names of new files, including those being written.
    pub names: Names,
    written: (Sender<Written>, Receiver<Written>),
    /// Threads that write pictures and films to files.
    writers: Vec<JoinHandle<()>>,
}

/// A film that is being made.
pub(super) struct FilmInProgress {
    /// Distinguishes the film from earlier ones, whose pictures may still arrive.
    number: u64,
    pub plan: FilmPlan,
    /// Width and height of the film in pixels.
    pub size: (u32, u32),
    /// Simulation steps between two pictures of the film.
    pace: u32,
    /// Number of pictures drawn so far.
    done: u32,
    /// Whether the simulation still has to send a requested shot.
    is_requested: bool,
    /// A picture that waits until the writer's queue has room.
    waiting: Option<Message>,
    writer: Sender<Message>,
    /// Whether the simulation ran before the film.
    was_running: bool,
}

enum Message {
    Picture(RawPicture),
    Finish,
}

/// The next step of a film.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FilmStep {
    /// Wait for the writer or the simulation.
    Wait,
    /// Ask the simulation for this shot.
    Request(FilmFrame),
    /// Finish the film: all pictures are drawn.
    Finish,
}

/// A film that has ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct EndedFilm {
    /// Number of pictures that were drawn.
    pub pictures: u32,
    /// Whether the simulation ran before the film.
    pub was_running: bool,
}

impl Default for Exports {
    fn default() -> Self {
        Self {
            requested: VecDeque::new(),
            film: None,
            films: 0,
            names: Names::default(),
            written: unbounded(),
            writers: Vec::new(),
        }
    }
}

impl Exports {
    /// Records that a picture of this size was requested from the simulation.
    pub(super) fn request_picture(&mut self, size: (u32, u32)) {
        self.requested.push_back(size);
    }

    /// Removes the oldest request for a picture and returns the picture's size.
    pub(super) fn next_picture(&mut self) -> Option<(u32, u32)> {
        self.requested.pop_front()
    }

    /// Forgets the requested pictures.
    pub(super) fn forget_pictures(&mut self) {
        self.requested.clear();
    }

    /// Returns whether a requested picture has not arrived yet.
    pub(super) fn awaits_pictures(&self) -> bool {
        !self.requested.is_empty()
    }

    /// Returns the film that is being made, if `number` is `None` or matches the film's number.
    pub(super) fn film(&self, number: Option<u64>) -> Option<&FilmInProgress> {
        self.film.as_ref().filter(|film| number.is_none_or(|number| film.number == number))
    }

    /// Starts a film, which a thread writes to `name`; the thread calls `wake` after each picture.
    pub(super) fn start_film(
        &mut self,
        (film, name): (Film, Name),
        (plan, size, pace): (FilmPlan, (u32, u32), u32),
        was_running: bool,
        wake: impl Fn() + Send + 'static,
    ) {
        let (writer, pictures) = bounded(MAX_WAITING);
        self.films += 1;
        let (number, written) = (self.films, self.written.0.clone());
        self.spawn(move || {
            if let Some(outcome) = write(film, &pictures, &wake) {
                let outcome = outcome.map(|()| (name.path().to_owned(), None));
                let _ = written.send(Written { film: Some(number), outcome });
            }
            wake();
        });
        self.film = Some(FilmInProgress {
            number,
            plan,
            size,
            pace,
            done: 0,
            is_requested: false,
            waiting: None,
            writer,
            was_running,
        });
    }

    /// Adds a picture to the film that is being made.
    pub(super) fn add_to_film(&mut self, picture: RawPicture) {
        if let Some(film) = &mut self.film {
            film.done += 1;
            film.is_requested = false;
            film.waiting = Some(Message::Picture(picture));
        }
    }

    /// Passes a waiting picture to the writer and returns the film's next step, or `None` if no film is being made.
    pub(super) fn advance_film(&mut self) -> Option<FilmStep> {
        let film = self.film.as_mut()?;
        if let Some(message) = film.waiting.take()
            && let Err(TrySendError::Full(message)) = film.writer.try_send(message)
        {
            film.waiting = Some(message);
        }
        if film.done == film.plan.frames {
            return Some(FilmStep::Finish);
        }
        if film.waiting.is_some() || film.is_requested {
            return Some(FilmStep::Wait);
        }
        film.is_requested = true;
        let steps = if film.done == 0 { 0 } else { film.pace };
        Some(FilmStep::Request(FilmFrame { film: film.number, steps }))
    }

    /// Returns how many pictures of the current film are drawn, and how many are planned.
    pub(super) fn progress(&self) -> Option<(u32, u32)> {
        self.film.as_ref().map(|film| (film.done, film.plan.frames))
    }

    /// Ends the film. If `keeps` is set and the film has pictures, its thread finishes the file.
    pub(super) fn end_film(&mut self, keeps: bool) -> Option<EndedFilm> {
        let FilmInProgress { done, was_running, waiting, writer, .. } = self.film.take()?;
        if keeps && done > 0 {
            // The queue may be full; the window does not wait for it.
            self.spawn(move || {
                for message in waiting.into_iter().chain([Message::Finish]) {
                    let _ = writer.send(message);
                }
            });
        }
        Some(EndedFilm { pictures: done, was_running })
    }

    /// Compresses and writes a picture on another thread.
    pub(super) fn save_picture(
        &mut self,
        name: Name,
        (picture, snapshot): (RawPicture, Snapshot),
        wake: impl FnOnce() + Send + 'static,
    ) {
        let written = self.written.0.clone();
        self.spawn(move || {
            let write = || {
                let (png, extent) = snapshot::embed(&film::png(&picture.into_picture())?, &snapshot)?;
                OutputFile::create(name.path())?.save(|file| file.write_all(&png))?;
                Ok((name.path().to_owned(), extent.note()))
            };
            let _ = written.send(Written { film: None, outcome: write() });
            wake();
        });
    }

    /// Returns the outcomes of writing files since the last call.
    pub(super) fn poll_written(&mut self) -> Vec<Written> {
        self.written.1.try_iter().collect()
    }

    /// Returns whether `written` belongs to the film that is being made.
    pub(super) fn is_current(&self, written: &Written) -> bool {
        written.film.is_some_and(|number| self.film(Some(number)).is_some())
    }

    /// Waits until all pictures and films are written.
    ///
    /// # Errors
    /// Returns the first error of a file that could not be written.
    pub(super) fn join(&mut self) -> Result<()> {
        for writer in self.writers.drain(..) {
            // The panic of a writer thread was already printed.
            let _ = writer.join();
        }
        self.written.1.try_iter().try_for_each(|written| written.outcome.map(drop))
    }

    fn spawn(&mut self, write: impl FnOnce() + Send + 'static) {
        self.writers.retain(|writer| !writer.is_finished());
        self.writers.push(std::thread::spawn(write));
    }
}

/// Writes pictures until the film is finished. Returns `None` if the film was cancelled.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::PictureSize;

    fn start(folder: &std::path::Path) -> Exports {
        let mut exports = Exports::default();
        let (rate, size) = (30, (4, 2));
        let plan = FilmPlan { format: film::Format::Gif, frames: 2, rate, size: PictureSize::Times(1) };
        let path = folder.join("a.gif");
        let name = exports.names.free(path.with_extension("").to_str().unwrap(), "gif", false);
        let film = Film::create(&path, size, rate).unwrap();
        exports.start_film((film, name), (plan, size, 5), true, || ());
        exports
    }

    #[test]
    fn a_film_asks_for_one_shot_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let mut exports = start(folder.path());
        assert_eq!(exports.progress(), Some((0, 2)));
        assert_eq!(exports.advance_film(), Some(FilmStep::Request(FilmFrame { film: 1, steps: 0 })));
        assert_eq!(exports.advance_film(), Some(FilmStep::Wait), "the first shot has not arrived");
        exports.film.as_mut().unwrap().done = 1;
        exports.film.as_mut().unwrap().is_requested = false;
        assert_eq!(exports.advance_film(), Some(FilmStep::Request(FilmFrame { film: 1, steps: 5 })));
        exports.film.as_mut().unwrap().done = 2;
        assert_eq!(exports.advance_film(), Some(FilmStep::Finish));
    }

    #[test]
    fn a_film_without_pictures_leaves_no_file_and_shots_of_another_film_are_not_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let mut exports = start(folder.path());
        assert!(exports.film(Some(1)).is_some() && exports.film(Some(2)).is_none());
        assert_eq!(exports.end_film(true), Some(EndedFilm { pictures: 0, was_running: true }));
        assert_eq!((exports.end_film(true), exports.advance_film()), (None, None));
        exports.join().unwrap();
        assert!(!folder.path().join("a.gif").exists());
    }

    #[test]
    fn pictures_are_taken_in_the_order_of_their_requests() {
        let mut exports = Exports::default();
        [(1, 1), (2, 2)].into_iter().for_each(|size| exports.request_picture(size));
        assert_eq!(exports.next_picture(), Some((1, 1)));
        assert!(exports.awaits_pictures());
        exports.forget_pictures();
        assert_eq!((exports.next_picture(), exports.awaits_pictures()), (None, false));
    }
}
