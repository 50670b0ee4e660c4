//! Events that other threads and egui send to the event loop.

use std::time::Duration;

use winit::event_loop::EventLoopProxy;

/// An event that wakes the event loop.
#[derive(Debug)]
pub(super) enum Wake {
    /// Another thread has a result: the simulation, a film, a file that was read.
    News,
    /// egui wants to be drawn again after this delay.
    Repaint(Duration),
}

/// Returns a function that wakes the event loop; it does nothing once the loop has ended.
pub(super) fn waker(proxy: &EventLoopProxy<Wake>) -> impl Fn() + Send + use<> {
    let proxy = proxy.clone();
    move || {
        let _ = proxy.send_event(Wake::News);
    }
}
