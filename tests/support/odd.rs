//! A gravity mode for tests, whose bursts of steps can be blocked or can panic.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use gravitile::base::LightRequest;
use gravitile::base::bodies::Points;
use gravitile::base::error::Result;
use gravitile::base::params::{Params, Visitor};
use gravitile::base::state::State;
use gravitile::compute::{Device, DeviceInfo, Lane, Pending};
use gravitile::engine::config::Config;
use gravitile::modes::accuracy::Sample;
use gravitile::modes::gravity::Gravity;
use gravitile::modes::{Diagnostics, Extra, Mode, ModeInfo, Recipe, Simulation, Team, Variant};

/// Gate that blocks bursts of steps until it opens.
#[derive(Clone, Default)]
pub(crate) struct Gate {
    /// Number of calls that the gate still blocks.
    holds: Arc<AtomicU32>,
    has_held: Arc<AtomicBool>,
}

impl Gate {
    /// Blocks the next burst of steps, or the rest of the current one, for `calls` calls.
    pub(crate) fn close(&self, calls: u32) {
        self.has_held.store(false, Ordering::SeqCst);
        self.holds.store(calls, Ordering::SeqCst);
    }

    /// Returns whether the gate has blocked a call since it was closed.
    pub(crate) fn has_held(&self) -> bool {
        self.has_held.load(Ordering::SeqCst)
    }

    /// Opens the gate after 20 more calls, so that commands sent before are received first.
    pub(crate) fn open(&self) {
        self.holds.store(20, Ordering::SeqCst);
    }

    /// Returns whether a call is blocked now, and counts the call.
    fn holds(&self) -> bool {
        let left = self.holds.load(Ordering::SeqCst);
        if left == 0 {
            return false;
        }
        self.has_held.store(true, Ordering::SeqCst);
        // Changes the count only if no other thread has changed it meanwhile.
        let _ = self.holds.compare_exchange(left, left - 1, Ordering::SeqCst, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(2));
        true
    }
}

/// Number of blocked calls after which the gate opens: so many that this takes longer than any test waits.
pub(crate) const FOR_EVER: u32 = u32::MAX;

/// Fault that is built into a test simulation.
#[derive(Clone, Default)]
pub(crate) enum Wrong {
    #[default]
    Nothing,
    /// Panics in the hundredth burst of steps: within a step if `in_the_midst` is true, otherwise between two steps.
    Panics { in_the_midst: bool },
}

/// A gravity mode whose steps wait for a gate, optionally with a fault.
#[derive(Clone, Default)]
pub(crate) struct Odd {
    pub gravity: Gravity,
    pub gate: Gate,
    pub wrong: Wrong,
}

impl Odd {
    /// Returns a copy of the gravity configuration `config` whose steps wait for `gate`.
    pub(crate) fn behind(gate: &Gate, config: Config) -> Config {
        let mode: &dyn Any = config.mode.as_ref();
        let gravity = mode.downcast_ref::<Gravity>().unwrap().clone();
        Config { mode: Box::new(Self { gravity, gate: gate.clone(), wrong: Wrong::Nothing }), ..config }
    }
}

impl Params for Odd {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        self.gravity.visit(visitor);
    }
}

impl Mode for Odd {
    fn info(&self) -> &'static ModeInfo {
        self.gravity.info()
    }
    fn boxed(&self) -> Box<dyn Mode> {
        Box::new(self.clone())
    }
    fn auto_variant(&self, device: &DeviceInfo, count: usize) -> &'static Variant {
        self.gravity.auto_variant(device, count)
    }
    fn build_together(&self, team: Team, state: &State) -> Result<Box<dyn Simulation>> {
        let inner = self.gravity.build_together(team, state)?;
        Ok(Box::new(OddSimulation { inner, bursts: 0, odd: self.clone() }))
    }
    fn preview(&self, device: &Device, recipe: &Recipe, state: &State) -> Result<Option<Points>> {
        self.gravity.preview(device, recipe, state)
    }
    fn time_step(&self) -> f64 {
        self.gravity.time_step()
    }
    fn edit(
        &self,
        bodies: &mut gravitile::base::bodies::Bodies,
        extra: &mut Extra,
        edit: &gravitile::base::edit::Edit,
    ) -> Result<()> {
        self.gravity.edit(bodies, extra, edit)
    }
    fn backwards(&self) -> std::result::Result<Box<dyn Mode>, &'static str> {
        let back: Box<dyn Any> = self.gravity.backwards()?;
        Ok(Box::new(Self { gravity: *back.downcast().unwrap(), ..self.clone() }))
    }
    fn conserves_energy(&self) -> bool {
        true
    }
    fn bytes_per_body(&self) -> usize {
        self.gravity.bytes_per_body()
    }
    fn reference(&self, state: &mut State<f64>, steps: u32) -> Result<()> {
        Mode::reference(&self.gravity, state, steps)
    }
    fn reference_diagnostics(&self, state: &State<f64>) -> Result<Diagnostics> {
        self.gravity.reference_diagnostics(state)
    }
}

struct OddSimulation {
    inner: Box<dyn Simulation>,
    bursts: u32,
    odd: Odd,
}

impl OddSimulation {
    fn may_panic(&self, is_in_the_midst: bool) {
        let panics =
            matches!(self.odd.wrong, Wrong::Panics { in_the_midst } if in_the_midst == is_in_the_midst);
        assert!(self.bursts < 100 || !panics, "a mistake");
    }
}

impl Simulation for OddSimulation {
    fn set(&mut self, mode: &dyn Mode) -> Result<()> {
        let mode: &dyn Any = mode;
        self.inner.set(&mode.downcast_ref::<Odd>().unwrap().gravity)
    }
    fn start(&mut self, steps: u32) {
        self.bursts += 1;
        self.inner.start(steps);
    }
    fn advance(&mut self) -> Result<bool> {
        self.may_panic(true);
        if self.odd.gate.holds() { Ok(true) } else { self.inner.advance() }
    }
    fn progress(&self) -> f32 {
        self.inner.progress()
    }
    fn lane(&mut self) -> &mut Lane {
        self.inner.lane()
    }
    fn finish(&mut self) -> Result<()> {
        self.inner.finish()
    }
    fn take_seconds(&mut self) -> f64 {
        self.inner.take_seconds()
    }
    fn state(&mut self) -> Result<State> {
        self.inner.state()
    }
    fn extra(&mut self) -> Result<Extra> {
        self.inner.extra()
    }
    fn resume(&mut self, extra: &Extra) -> Result<()> {
        self.inner.resume(extra)
    }
    fn publish(&mut self, points: Points, light: Option<&LightRequest>) -> Result<Pending<Points>> {
        self.may_panic(false);
        self.inner.publish(points, light)
    }
    fn attract(&mut self, attractor: &gravitile::base::edit::Attractor, time: f32) -> Result<()> {
        self.inner.attract(attractor, time)
    }
    fn sample(&mut self, chosen: Vec<usize>) -> Result<Option<Sample>> {
        self.inner.sample(chosen)
    }
    fn diagnostics(&mut self) -> Result<Diagnostics> {
        self.inner.diagnostics()
    }
}
