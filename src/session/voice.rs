//! How the simulation's side speaks to the window: what is told wakes it.

use std::sync::Arc;

use crossbeam_channel::Sender;

use super::Notice;

/// Speaks from any thread.
#[derive(Clone)]
pub(super) struct Voice {
    notices: Sender<Notice>,
    wake: Arc<dyn Fn() + Send + Sync>,
}

impl Voice {
    /// Of one who calls `wake` whenever there is news.
    pub fn new(notices: Sender<Notice>, wake: impl Fn() + Send + Sync + 'static) -> Self {
        Self { notices, wake: Arc::new(wake) }
    }

    /// Tells the window.
    pub fn tell(&self, notice: Notice) {
        // Nobody listening means that the window is gone.
        let _ = self.notices.send(notice);
        self.wake();
    }

    /// There is a frame.
    pub fn wake(&self) {
        (self.wake)();
    }
}
