//! Copies between host and device that have not ended yet.

use std::fmt;
use std::mem;

use ocl::core;

use super::device::Device;
use super::events::span;
use crate::base::Result;

const DOING: &str = "copying between host and device";

/// A closure that owns the memory of a copy and turns it into the result.
type Finish<M> = Box<dyn FnOnce() -> M + Send>;

/// Host memory with unfinished copies to or from a device. [`Pending::wait`] returns the memory.
///
/// No other code can access the memory until the copies have ended: dropping a `Pending` waits for the copies, and
/// leaks the memory if the wait fails.
#[must_use = "dropping a pending copy waits for its end"]
pub struct Pending<M> {
    device: Device,
    copies: Vec<core::Event>,
    /// Closure that returns the result after the copies have ended; `None` once it has been called, leaked or moved
    /// elsewhere.
    finish: Option<Finish<M>>,
}

impl<M: Send + 'static> Pending<M> {
    /// Creates a `Pending` that keeps `memory` until all copies have ended. `copies` contains an event for each copy.
    pub(super) fn new(device: &Device, copies: Vec<core::Event>, memory: M) -> Self {
        Self { device: device.clone(), copies, finish: Some(Box::new(move || memory)) }
    }

    /// Combines two pending copies, both from one device, into one that yields both results.
    pub fn and<N: Send + 'static>(mut self, mut other: Pending<N>) -> Pending<(M, N)> {
        let copies = [mem::take(&mut self.copies), mem::take(&mut other.copies)].concat();
        let both = self.finish.take().zip(other.finish.take());
        let finish = both.map(|(first, second)| Box::new(move || (first(), second())) as Finish<_>);
        Pending { device: self.device.clone(), copies, finish }
    }

    /// Returns a pending copy that applies `shape` to the memory once the copies have ended.
    pub fn map<N>(mut self, shape: impl FnOnce(M) -> N + Send + 'static) -> Pending<N> {
        let copies = mem::take(&mut self.copies);
        let finish = self.finish.take().map(|finish| Box::new(move || shape(finish())) as Finish<_>);
        Pending { device: self.device.clone(), copies, finish }
    }

    /// Waits for the copies. Returns the memory and the device's copy time in seconds (`None` without profiling).
    pub fn wait(mut self) -> Result<(M, Option<f64>)> {
        let ends = self.copies.first().cloned().zip(self.copies.last().cloned());
        self.settle()?;
        let seconds = ends.map_or(Some(0.0), |(first, last)| span(&first, &last));
        match self.finish.take() {
            Some(finish) => Ok((finish(), seconds)),
            None => unreachable!("only methods that consume the value take its memory"),
        }
    }
}

impl<M> Pending<M> {
    /// Waits for all copies. If a wait fails, leaks the memory, because the device may still use it.
    fn settle(&mut self) -> Result<()> {
        let copies = mem::take(&mut self.copies);
        let ends: Vec<_> = copies.iter().map(|event| self.device.wait(event, DOING)).collect();
        let outcome = ends.into_iter().try_for_each(|end| end.map(drop));
        outcome.inspect_err(|_| mem::forget(self.finish.take()))
    }
}

impl<M> Drop for Pending<M> {
    fn drop(&mut self) {
        // The next use of the device reports the error again.
        let _ = self.settle();
    }
}

impl<M> fmt::Debug for Pending<M> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Pending").field("copies", &self.copies.len()).finish_non_exhaustive()
    }
}
