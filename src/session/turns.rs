//! Lets two simulations take turns on the devices that they share. While one computes, the other waits, so that the
//! times measured for one contain no work of the other.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Interval at which a simulation that waits for its turn checks whether to stop waiting.
const PATIENCE: Duration = Duration::from_millis(20);

/// Handle with which one of two simulations takes turns on the devices that they share. If both simulations want to
/// compute, they alternate.
#[derive(Debug, Clone)]
pub struct Turns {
    /// Index of the simulation that owns this handle: 0 or 1.
    place: usize,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    is_busy: bool,
    /// Index of the simulation that computed last: 0 or 1.
    last: usize,
    waits: [bool; 2],
    /// Device time of a step of each simulation, in seconds; 0 if unknown.
    step_seconds: [f64; 2],
}

/// Exclusive use of the shared devices by one simulation, which ends when this value is dropped.
#[derive(Debug)]
pub(super) struct Turn {
    shared: Arc<Shared>,
}

impl Turns {
    /// Creates the handles with which two simulations take turns, one for each.
    pub fn pair() -> [Self; 2] {
        let shared = Arc::<Shared>::default();
        [0, 1].map(|place| Self { place, shared: shared.clone() })
    }

    /// Stores the device time of a step of this simulation, in seconds, and returns that of the other simulation; 0
    /// means unknown.
    pub(super) fn exchange_times(&self, step_seconds: f64) -> f64 {
        let mut state = self.shared.state();
        state.step_seconds[self.place] = step_seconds;
        state.step_seconds[1 - self.place]
    }

    /// Waits until this simulation may use the shared devices. Returns `None` if `gives_up` returns true while waiting.
    pub(super) fn take(&self, mut gives_up: impl FnMut() -> bool) -> Option<Turn> {
        let Self { place, shared } = self;
        let mut state = shared.state();
        loop {
            let is_others = state.last == *place && state.waits[1 - place];
            if !state.is_busy && !is_others {
                (state.is_busy, state.last, state.waits[*place]) = (true, *place, false);
                return Some(Turn { shared: shared.clone() });
            }
            state.waits[*place] = true;
            state = shared.changed.wait_timeout(state, PATIENCE).unwrap_or_else(PoisonError::into_inner).0;
            if gives_up() {
                state.waits[*place] = false;
                shared.changed.notify_all();
                return None;
            }
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.shared.state().is_busy = false;
        self.shared.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn two_waiting_simulations_alternate() {
        const EACH: usize = 200;
        let order = Mutex::new(Vec::new());
        let both_wait = std::sync::Barrier::new(2);
        thread::scope(|scope| {
            for turns in Turns::pair() {
                let (order, both_wait) = (&order, &both_wait);
                scope.spawn(move || {
                    both_wait.wait();
                    for nth in 0..EACH {
                        let turn = turns.take(|| false).unwrap();
                        assert!(turn.shared.state().is_busy);
                        order.lock().unwrap().push(turns.place);
                        // Keeps the turn until the other simulation waits, unless the other has already had all its
                        // turns.
                        while nth + 1 < EACH && !turn.shared.state().waits[1 - turns.place] {
                            if order.lock().unwrap().iter().filter(|it| **it != turns.place).count() == EACH {
                                break;
                            }
                            thread::yield_now();
                        }
                    }
                });
            }
        });
        let order = order.into_inner().unwrap();
        let repeats = order.windows(2).filter(|pair| pair[0] == pair[1]).count();
        assert!(order.len() == 2 * EACH && repeats <= 1, "{repeats} of {} turns", order.len());
    }

    #[test]
    fn a_lone_simulation_never_waits_and_an_abandoned_wait_does_not_block_the_other() {
        let [a, b] = Turns::pair();
        for _ in 0..3 {
            drop(a.take(|| true).unwrap());
        }
        let turn = a.take(|| true).unwrap();
        assert!(b.take(|| true).is_none());
        drop(turn);
        assert!(a.take(|| true).is_some());
    }
}
