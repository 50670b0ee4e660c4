//! A session, with functions that wait for its frames and notices.

use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use gravitile::base::error::Result;
use gravitile::engine::Engine;
use gravitile::engine::config::Config;
use gravitile::session::{Command, Frame, Notice, Session};

use super::own_cpu;

/// Time limit for waiting, far longer than anything takes on a busy machine. It only prevents endless waiting.
const PATIENCE: Duration = Duration::from_secs(180);

/// A session, with functions that wait for its frames and notices.
pub(crate) struct Watched {
    pub session: Session,
    pub wakes: Arc<AtomicUsize>,
    /// Received notices that no test has asked for yet, oldest first.
    heard: VecDeque<Notice>,
}

impl Deref for Watched {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.session
    }
}

impl DerefMut for Watched {
    fn deref_mut(&mut self) -> &mut Session {
        &mut self.session
    }
}

impl Watched {
    pub(crate) fn new(config: Config) -> Self {
        Self::of(move || Engine::new(own_cpu(), config))
    }

    pub(crate) fn of(engine: impl FnOnce() -> Result<Engine> + Send + 'static) -> Self {
        let wakes = Arc::new(AtomicUsize::new(0));
        let count = wakes.clone();
        let wake = move || {
            count.fetch_add(1, Ordering::Relaxed);
        };
        let session = Session::spawn(engine, wake).unwrap();
        Self { session, wakes, heard: VecDeque::new() }
    }

    pub(crate) fn configure(&self, config: &Config) {
        self.session.send(Command::Configure(Box::new(config.clone())));
    }

    /// Waits for the next new frame.
    pub(crate) fn frame(&mut self) -> Frame {
        let mut found = None;
        wait_for(|| {
            let (frame, fresh) = self.session.frame();
            found = fresh.then(|| frame.clone());
            found.is_some()
        });
        found.unwrap()
    }

    /// Waits for the first frame for which `wanted` returns true.
    pub(crate) fn frame_where(&mut self, wanted: impl Fn(&Frame) -> bool) -> Frame {
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            let frame = self.frame();
            if wanted(&frame) {
                return frame;
            }
        }
        panic!("no such frame came");
    }

    /// Returns whether no new frame arrives within 0.2 s. Tries up to four times, because the measurements of a paused
    /// simulation make new frames.
    pub(crate) fn is_still(&mut self) -> bool {
        (0..4).any(|_| {
            std::thread::sleep(Duration::from_millis(200));
            !self.session.frame().1
        })
    }

    /// Returns the oldest notice that the test has not taken yet, if any.
    pub(crate) fn next_notice(&mut self) -> Option<Notice> {
        self.heard.extend(self.session.notices());
        self.heard.pop_front()
    }

    /// Returns all notices that the test has not taken yet.
    pub(crate) fn notices(&mut self) -> Vec<Notice> {
        std::iter::from_fn(|| self.next_notice()).collect()
    }

    /// Waits for the next notice.
    pub(crate) fn notice(&mut self) -> Notice {
        let mut found = None;
        wait_for(|| {
            found = self.next_notice();
            found.is_some()
        });
        found.unwrap()
    }

    /// Ends the session. Returns the notices that the test has not taken yet.
    pub(crate) fn close(mut self, view: String) -> Vec<Notice> {
        let mut heard = self.notices();
        heard.extend(self.session.close(view));
        heard
    }
}

pub(crate) fn wait_for(mut happened: impl FnMut() -> bool) {
    let start = Instant::now();
    while !happened() {
        assert!(start.elapsed() < PATIENCE, "waited in vain");
        std::thread::sleep(Duration::from_millis(1));
    }
}
