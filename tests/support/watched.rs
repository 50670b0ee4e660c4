//! A session to wait for.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use gravitile::config::Config;
use gravitile::engine::Engine;
use gravitile::error::Result;
use gravitile::session::{Command, Frame, Notice, Session};

use super::cpu;

/// A session with what it takes to wait for its frames.
pub struct Watched {
    pub session: Session,
    pub wakes: Arc<AtomicUsize>,
}

impl Watched {
    pub fn new(config: Config) -> Self {
        Self::of(move || Engine::new(cpu(), config))
    }

    pub fn of(engine: impl FnOnce() -> Result<Engine> + Send + 'static) -> Self {
        let wakes = Arc::new(AtomicUsize::new(0));
        let count = wakes.clone();
        let wake = move || {
            count.fetch_add(1, Ordering::Relaxed);
        };
        let session = Session::spawn(engine, wake).unwrap();
        Self { session, wakes }
    }

    pub fn configure(&self, config: &Config) {
        self.session.send(Command::Configure(Box::new(config.clone())));
    }

    /// The next new frame.
    pub fn frame(&mut self) -> Frame {
        let mut found = None;
        wait_for(|| {
            let (frame, fresh) = self.session.frame();
            found = fresh.then(|| frame.clone());
            found.is_some()
        });
        found.unwrap()
    }

    /// The first frame of which `wanted` holds.
    pub fn frame_where(&mut self, wanted: impl Fn(&Frame) -> bool) -> Frame {
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(60) {
            let frame = self.frame();
            if wanted(&frame) {
                return frame;
            }
        }
        panic!("no such frame came");
    }

    /// Whether nothing new comes for a while, after what is measured of what stands still.
    pub fn is_still(&mut self) -> bool {
        (0..4).any(|_| {
            std::thread::sleep(Duration::from_millis(200));
            !self.session.frame().1
        })
    }

    pub fn notice(&mut self) -> Notice {
        let mut found = None;
        wait_for(|| {
            found = self.session.notices().pop();
            found.is_some()
        });
        found.unwrap()
    }
}

pub fn wait_for(mut happened: impl FnMut() -> bool) {
    let start = Instant::now();
    while !happened() {
        assert!(start.elapsed() < Duration::from_secs(60), "waited in vain");
        std::thread::sleep(Duration::from_millis(1));
    }
}
