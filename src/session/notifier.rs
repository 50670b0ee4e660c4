//! Sends notices to the window, from any thread.

use std::sync::Arc;

use crossbeam_channel::Sender;

use super::messages::Notice;

/// Sends notices and wakes the window.
#[derive(Clone)]
pub(super) struct Notifier {
    notices: Sender<Notice>,
    wake: Arc<dyn Fn() + Send + Sync>,
}

impl Notifier {
    pub(super) fn new(notices: Sender<Notice>, wake: impl Fn() + Send + Sync + 'static) -> Self {
        Self { notices, wake: Arc::new(wake) }
    }

    /// Sends a notice. Without a window the notice is dropped.
    pub(super) fn send(&self, notice: Notice) {
        let _ = self.notices.send(notice);
        self.wake();
    }

    /// Wakes the window without a notice.
    pub(super) fn wake(&self) {
        (self.wake)();
    }
}
