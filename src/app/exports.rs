//! Writes pictures and films on separate threads. A film never skips a picture, even if the simulation is slow.

use std::collections::VecDeque;
use std::thread::JoinHandle;
use std::time::Instant;

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded, unbounded};
use image::RgbImage;

use crate::base::look::Theme;
use crate::base::{Name, Names, OutputFile, Result};
use crate::engine::{Snapshot, snapshot};
use crate::export::film::{self, Film, Progress};
use crate::session::FilmFrame;
use crate::ui::{Captions, FilmPlan, Labels};
use crate::view::RawPicture;

/// Maximum number of film pictures waiting to be written.
const MAX_WAITING: usize = 2;

/// A rendered picture, and the captions to draw over it.
pub(super) struct Shot {
    pub picture: RawPicture,
    pub captions: Captions,
    /// Theme that sets the colours of the captions.
    pub theme: Theme,
}

impl Shot {
    fn into_picture(self, labels: &mut Labels) -> RgbImage {
        labels.paint(self.picture.into_picture(), &self.captions, self.theme)
    }
}

/// The outcome of writing a picture or a film.
pub(super) struct Written {
    /// Number of the film that was written; `None` for a single picture.
    pub film: Option<u64>,
    /// Name of the file and an optional note about its contents, or the error.
    pub outcome: Result<(String, Option<&'static str>)>,
}

/// Pictures and films being saved, and the threads that write them.
pub(super) struct Exports {
    /// Width and height, in pixels, of each picture that waits for data from the simulation, oldest request first.
    pub requested: VecDeque<(u32, u32)>,
    pub film: Option<FilmInProgress>,
    /// Number of films started so far; the newest film has this number.
    films: u64,
    /// Reserves names for new files, so that no two files get the same name.
    pub names: Names,
    /// Channel through which the writer threads report outcomes to the window.
    pub written: (Sender<Written>, Receiver<Written>),
    /// Threads that write pictures and films to files.
    writers: Vec<JoinHandle<()>>,
}

/// A film in progress. Dropping it cancels the film.
pub(super) struct FilmInProgress {
    /// Number that identifies the film. It is needed because pictures for an earlier film may still arrive.
    pub number: u64,
    pub plan: FilmPlan,
    /// Width and height of the film in pixels.
    pub size: (u32, u32),
    /// Time in the recorded run, in seconds, at which a film of the replay begins; `None` for a film of the live
    /// simulation.
    pub replay: Option<f64>,
    /// Number of simulation steps between successive pictures of the film.
    pace: u32,
    /// Number of pictures drawn so far.
    pub done: u32,
    start: Instant,
    /// Whether the film has requested a [`FilmFrame`] that has not arrived from the simulation yet.
    is_requested: bool,
    /// A drawn picture that is waiting for room in the writer's queue, if any.
    waiting: Option<Shot>,
    /// Sends pictures to the thread that writes the film. Sending `None` finishes the film.
    writer: Sender<Option<Shot>>,
    /// Whether the simulation was running before the film started; if so, it resumes after the film.
    pub was_running: bool,
}

impl FilmInProgress {
    pub(super) fn add(&mut self, picture: Shot) {
        self.done += 1;
        self.is_requested = false;
        self.waiting = Some(picture);
    }

    /// Passes a waiting picture to the writer. Returns the next frame to request from the simulation, if one is due.
    pub(super) fn advance(&mut self) -> Option<FilmFrame> {
        if let Some(picture) = self.waiting.take()
            && let Err(TrySendError::Full(picture)) = self.writer.try_send(Some(picture))
        {
            self.waiting = picture;
        }
        if self.is_complete() || self.waiting.is_some() || self.is_requested {
            return None;
        }
        self.is_requested = true;
        Some(FilmFrame { film: self.number, steps: if self.done == 0 { 0 } else { self.pace } })
    }

    pub(super) fn progress(&self) -> Progress {
        Progress { done: self.done, pictures: self.plan.frames, elapsed: self.start.elapsed() }
    }

    /// Returns whether all pictures of the film have been drawn.
    pub(super) fn is_complete(&self) -> bool {
        self.done == self.plan.frames
    }
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
    /// Starts a film and a thread that writes the film to the file `name`. The thread calls `wake` after each picture.
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
            let outcome = write(film, &pictures, &wake);
            // The name stays reserved for this film until the file is complete.
            drop(name);
            if let Some(outcome) = outcome {
                let outcome = outcome.map(|files| (files, None));
                let _ = written.send(Written { film: Some(number), outcome });
            }
            wake();
        });
        let (done, start, is_requested, waiting) = (0, Instant::now(), false, None);
        self.film = Some(FilmInProgress {
            number,
            plan,
            size,
            replay: None,
            pace,
            done,
            start,
            is_requested,
            waiting,
            writer,
            was_running,
        });
    }

    /// Tells the writer thread to finish the film's file, or cancels the film if it has no pictures.
    pub(super) fn finish_film(&mut self, film: FilmInProgress) {
        let FilmInProgress { done, waiting, writer, .. } = film;
        if done > 0 {
            // The queue may be full, so another thread waits for it; the window never blocks.
            self.spawn(move || {
                for message in waiting.map(Some).into_iter().chain([None]) {
                    let _ = writer.send(message);
                }
            });
        }
    }

    /// Starts a thread that writes a picture with an embedded snapshot to a PNG file, and then calls `wake`.
    pub(super) fn save_picture(
        &mut self,
        name: Name,
        (picture, snapshot): (Shot, Snapshot),
        wake: impl FnOnce() + Send + 'static,
    ) {
        let written = self.written.0.clone();
        self.spawn(move || {
            let write = || {
                let (png, extent) =
                    snapshot::embed(&film::png(&picture.into_picture(&mut Labels::default()))?, &snapshot)?;
                OutputFile::create(name.path())?.save(|file| file.write_all(&png))?;
                Ok((name.path().display().to_string(), extent.note()))
            };
            let _ = written.send(Written { film: None, outcome: write() });
            wake();
        });
    }

    /// Waits until all pictures and films have been written. Returns the first write error not yet shown, if any.
    pub(super) fn join(&mut self) -> Result<()> {
        for writer in self.writers.drain(..) {
            // If a writer thread panicked, the panic message has already been printed.
            let _ = writer.join();
        }
        self.written.1.try_iter().try_for_each(|written| written.outcome.map(drop))
    }

    fn spawn(&mut self, write: impl FnOnce() + Send + 'static) {
        self.writers.retain(|writer| !writer.is_finished());
        self.writers.push(std::thread::spawn(write));
    }
}

/// Writes pictures to a film until the film is finished, and calls `wake` after each picture. Returns `None` if the
/// film was cancelled.
fn write(mut film: Film, pictures: &Receiver<Option<Shot>>, wake: &impl Fn()) -> Option<Result<String>> {
    let mut labels = Labels::default();
    while let Some(picture) = pictures.recv().ok()? {
        if let Err(error) = film.add(&picture.into_picture(&mut labels)) {
            return Some(Err(error));
        }
        wake();
    }
    Some(film.finish())
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
    fn a_film_requests_one_picture_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let mut exports = start(folder.path());
        let film = exports.film.as_mut().unwrap();
        assert_eq!(film.advance(), Some(FilmFrame { film: 1, steps: 0 }));
        assert_eq!(film.advance(), None, "the first shot has not arrived");
        (film.done, film.is_requested) = (1, false);
        assert_eq!(film.advance(), Some(FilmFrame { film: 1, steps: 5 }));
        (film.done, film.is_requested) = (2, false);
        assert_eq!((film.advance(), film.is_complete()), (None, true));
    }

    #[test]
    fn a_film_without_pictures_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let mut exports = start(folder.path());
        let film = exports.film.take().unwrap();
        exports.finish_film(film);
        exports.join().unwrap();
        assert!(!folder.path().join("a.gif").exists());
    }
}
