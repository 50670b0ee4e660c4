//! The window's handle to the simulation's thread.

use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, unbounded};

use super::commands::Command;
use super::frame::Frame;
use super::notices::{Notice, Notifier};
use super::worker::{self, Publisher};
use crate::base::{Result, invalid};
use crate::engine::{Engine, Preview};

/// Handle to a simulation that runs on its own thread. Dropping the handle ends the thread.
pub struct Session {
    commands: Sender<Command>,
    frames: triple_buffer::Output<Frame>,
    notices: Receiver<Notice>,
    /// Whether a new frame has arrived that [`Session::frame`] has not returned yet.
    has_new_frame: bool,
    worker: Option<JoinHandle<()>>,
    has_failed: bool,
}

impl Session {
    /// Starts a thread that calls `engine` to create its engine, and calls `wake` after each new frame or notice.
    ///
    /// # Errors
    /// Returns an error if the system cannot create the thread.
    pub fn spawn(
        engine: impl FnOnce() -> Result<Engine> + Send + 'static,
        wake: impl Fn() + Send + Sync + 'static,
    ) -> Result<Self> {
        Self::spawn_with_preview(|_| engine(), wake)
    }

    /// Starts a thread as [`Session::spawn`] does. `engine` may pass a preview of the scene to its argument. The preview
    /// then becomes the first frame.
    ///
    /// # Errors
    /// Returns an error if the system cannot create the thread.
    pub fn spawn_with_preview(
        engine: impl FnOnce(&mut dyn FnMut(Preview)) -> Result<Engine> + Send + 'static,
        wake: impl Fn() + Send + Sync + 'static,
    ) -> Result<Self> {
        let (commands, inbox) = unbounded();
        let (news, notices) = unbounded();
        let (input, frames) = triple_buffer::triple_buffer(&Frame::default());
        let notifier = Notifier::new(news, wake);
        let body = move || {
            let mut publisher = Publisher::new(input);
            match engine(&mut |preview| publisher.publish_preview(preview, &notifier)) {
                Ok(engine) => worker::run(engine, inbox, publisher, notifier),
                Err(error) => notifier.send(Notice::Failed(error)),
            }
        };
        let worker = std::thread::Builder::new()
            .name("simulation".to_owned())
            .spawn(body)
            .map_err(|error| invalid!("cannot start the simulation's thread: {error}"))?;
        let has_new_frame = false;
        Ok(Self { commands, frames, notices, has_new_frame, worker: Some(worker), has_failed: false })
    }

    /// Sends a command to the simulation. After the simulation has failed, the command is ignored.
    pub fn send(&self, command: Command) {
        let _ = self.commands.send(command);
    }

    /// Returns the newest frame, and whether it is new. If it is new, tells the simulation to produce the next frame.
    pub fn frame(&mut self) -> (&Frame, bool) {
        self.newest();
        self.take()
    }

    /// Returns the frame that the last call to [`Session::newest`] returned, and whether it is new. If it is new, tells
    /// the simulation to produce the next frame.
    pub fn take(&mut self) -> (&Frame, bool) {
        let fresh = std::mem::take(&mut self.has_new_frame);
        if fresh {
            self.send(Command::FrameTaken);
        }
        (self.frames.output_buffer_mut(), fresh)
    }

    /// Returns the newest frame. Unlike [`Session::frame`], does not tell the simulation to produce the next frame.
    pub fn newest(&mut self) -> &Frame {
        self.has_new_frame |= self.frames.update();
        self.frames.output_buffer_mut()
    }

    /// Returns the frame that the last call to [`Session::frame`] or [`Session::newest`] returned.
    pub fn shown(&mut self) -> &Frame {
        self.frames.output_buffer_mut()
    }

    /// Returns the notices that arrived since the last call. Adds [`Notice::Failed`] if the thread ended without
    /// sending it.
    pub fn notices(&mut self) -> Vec<Notice> {
        let mut notices: Vec<Notice> = self.notices.try_iter().collect();
        self.has_failed |= notices.iter().any(|notice| matches!(notice, Notice::Failed(_)));
        if !self.has_failed && self.worker.as_ref().is_some_and(JoinHandle::is_finished) {
            self.has_failed = true;
            notices.push(Notice::Failed(invalid!("the simulation's thread ended unexpectedly")));
        }
        notices
    }

    /// Ends the simulation, waits for its thread, and returns the last notices. `view` is the last camera position.
    pub fn close(mut self, view: String) -> Vec<Notice> {
        self.end(Some(view));
        self.notices()
    }

    /// Ends the simulation and waits for its thread. `view` is the last camera position; `None` without a window.
    pub fn end(&mut self, view: Option<String>) {
        self.send(Command::Quit(view));
        if let Some(worker) = self.worker.take() {
            // A panic of the thread was already printed.
            let _ = worker.join();
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.end(None);
    }
}
