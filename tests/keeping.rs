//! Nothing is lost: snapshots while it runs, when it ends, and when something goes wrong.

mod support;

use std::any::Any;
use std::path::Path;
use std::time::{Duration, Instant};

use gravitile::bodies::Points;
use gravitile::compute::{Device, Pending};
use gravitile::config::Config;
use gravitile::engine::Engine;
use gravitile::error::Result;
use gravitile::modes::gravity::Gravity;
use gravitile::modes::{Diagnostics, Extra, Mode, ModeInfo, Recipe, Simulation};
use gravitile::params::{Params, Visitor};
use gravitile::session::{Command, Notice, Purpose, Save, Session, Shot, Stats, previous};
use gravitile::snapshot::Snapshot;
use gravitile::state::State;
use gravitile::trial::Study;
use support::{cpu, scene};

/// Far longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);

fn session(config: Config) -> Session {
    Session::spawn(move || Engine::new(cpu(), config), || ()).unwrap()
}

fn small() -> Config {
    scene("plummer", Some(100), &[])
}

/// Takes frames until there is an answer.
fn until<T>(session: &mut Session, mut ask: impl FnMut(&mut Session) -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        session.frame();
        if let Some(answer) = ask(session) {
            return answer;
        }
        assert!(start.elapsed() < PATIENCE, "waited in vain");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn until_step(session: &mut Session, step: u64) {
    until(session, |session| (session.frame().0.stats.step >= step).then_some(()));
}

fn notice(session: &mut Session) -> Notice {
    until(session, |session| session.notices().into_iter().next())
}

fn save(path: &Path) -> Command {
    Command::Save(Save { path: Some(path.to_owned()), view: "from above".to_owned() })
}

#[test]
fn what_runs_is_saved_and_resumed_while_it_runs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.gravitile");
    let mut session = session(small());
    until_step(&mut session, 20);
    session.send(save(&path));
    let Notice::Saved { is_asked_for: true, outcome: Ok(()), .. } = notice(&mut session) else {
        panic!("not saved")
    };
    let saved = Snapshot::load(&path).unwrap();
    assert!(saved.runs[0].step >= 20 && saved.view == "from above");
    until_step(&mut session, saved.runs[0].step + 20);

    session.send(Command::Configure(Box::new(Config { seed: 5, ..small() })));
    session.send(Command::Resume(path));
    let Notice::Resumed { config, view, left } = notice(&mut session) else { panic!("not resumed") };
    assert_eq!((config.seed, view.as_str(), left.len()), (1, "from above", 0));
    until_step(&mut session, saved.runs[0].step + 1);
}

#[test]
fn what_cannot_be_read_or_written_is_told_and_it_runs_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(small());
    until_step(&mut session, 1);
    session.send(save(&folder.path().join("nowhere").join("a.gravitile")));
    let Notice::Saved { outcome: Err(error), .. } = notice(&mut session) else { panic!("saved") };
    assert!(error.to_string().starts_with("cannot write "), "{error}");
    let torn = folder.path().join("torn.gravitile");
    std::fs::write(&torn, "torn").unwrap();
    session.send(Command::Resume(torn));
    let Notice::Refused(error) = notice(&mut session) else { panic!("not refused") };
    assert!(error.to_string().contains("no snapshot"), "{error}");
    let step = session.frame().0.stats.step;
    until_step(&mut session, step + 50);
}

#[test]
fn what_runs_is_kept_when_it_ends_and_what_was_kept_before_is_set_aside() {
    let folder = tempfile::tempdir().unwrap();
    // A folder that is not there yet.
    let path = folder.path().join("state").join("autosave.gravitile");
    for (run, seed) in [1, 2].into_iter().enumerate() {
        let mut session = session(Config { seed, ..small() });
        session.send(Command::Keep(path.clone()));
        until_step(&mut session, 10);
        if run == 0 {
            session.send(Command::Save(Save { path: None, view: String::new() }));
            let Notice::Saved { is_asked_for: false, outcome: Ok(()), .. } = notice(&mut session) else {
                panic!("not saved")
            };
        }
        session.close("last".to_owned());
        let kept = Snapshot::load(&path).unwrap();
        assert_eq!((kept.runs[0].config.seed, kept.view.as_str()), (seed, "last"));
        assert!(kept.runs[0].step >= 10);
    }
    assert_eq!(Snapshot::load(&previous(&path)).unwrap().runs[0].config.seed, 1);
}

/// Bursts that take this many seconds, about, of steps that are much shorter.
fn slow(seconds: f64) -> Config {
    let variant = support::gravity().variant("naive");
    Config { variant, steps_per_frame: Some((seconds / 0.1) as u32), ..scene("cube", Some(10_000), &[]) }
}

#[test]
fn what_is_saved_is_what_there_was_before_the_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.gravitile");
    let mut session = session(slow(2.0));
    until_step(&mut session, 1);
    // In the midst of the next burst.
    std::thread::sleep(Duration::from_millis(600));
    session.send(save(&path));
    session.send(Command::Restart);
    let Notice::Saved { outcome: Ok(()), .. } = notice(&mut session) else { panic!("not saved") };
    assert!(Snapshot::load(&path).unwrap().runs[0].step > 0, "it is the scene that was begun anew");
    until(&mut session, |session| (session.frame().0.stats.generation == 2).then_some(()));

    // The same of what is drawn, with all that there is.
    until_step(&mut session, 1);
    std::thread::sleep(Duration::from_millis(600));
    session.send(Command::Still(None));
    session.send(Command::Restart);
    let Notice::Still(still) = notice(&mut session) else { panic!("nothing to be drawn") };
    let Purpose::Picture(snapshot) = still.purpose else { panic!("it is for a film") };
    assert!(snapshot.runs[0].step > 0);

    // A moment of a film says of which: another may have begun meanwhile.
    session.send(Command::Still(Some(Shot { film: 7, steps: 0 })));
    let Notice::Still(still) = notice(&mut session) else { panic!("nothing to be drawn") };
    assert!(matches!(still.purpose, Purpose::Film(7)));
}

#[test]
fn what_is_saved_at_the_last_moment_is_saved() {
    let folder = tempfile::tempdir().unwrap();
    // The burst ends soon; and it does not.
    for (nth, seconds) in [0.2, 12.0].into_iter().enumerate() {
        let [path, kept] =
            ["asked", "kept"].map(|name| folder.path().join(format!("{name}-{nth}.gravitile")));
        let mut session = session(slow(seconds));
        let is_there = |stats: &Stats| stats.generation == 1 && (nth == 1 || stats.step > 0);
        until(&mut session, |session| is_there(&session.shown().stats).then_some(()));
        std::thread::sleep(Duration::from_millis(300));
        session.send(Command::Keep(kept.clone()));
        session.send(save(&path));
        let start = Instant::now();
        let said = session.close("last".to_owned());
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
        assert!(matches!(&said[..], [Notice::Saved { is_asked_for: true, outcome: Ok(()), .. }]), "{said:?}");
        let [asked, kept] = [path, kept].map(|path| Snapshot::load(&path).unwrap());
        assert_eq!((asked.view.as_str(), kept.view.as_str()), ("from above", "last"));
        assert_eq!(asked.runs[0].state, kept.runs[0].state);
        assert_eq!(asked.runs[0].step > 0, nth == 0);
    }
    let session = session(small());
    session.send(save(&folder.path().join("nowhere").join("a.gravitile")));
    let said = session.close(String::new());
    assert!(matches!(&said[..], [Notice::Saved { outcome: Err(_), .. }]), "{said:?}");
}

#[test]
fn what_is_kept_each_minute_waits_for_a_study() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept.gravitile");
    let mut session = session(Config { running: false, ..small() });
    session.send(Command::Study(Study::WorkGroups));
    let mut has_begun = false;
    let mut heard = Vec::new();
    until(&mut session, |session| {
        for notice in session.notices() {
            match notice {
                Notice::Trial(..) if !has_begun => {
                    has_begun = true;
                    session.send(Command::Keep(kept.clone()));
                    session.send(Command::Save(Save { path: None, view: String::new() }));
                }
                Notice::StudyEnded { complete, .. } => {
                    heard.push(if complete { "complete" } else { "broken off" })
                }
                Notice::Saved { outcome: Ok(()), .. } => heard.push("saved"),
                _ => {}
            }
        }
        (heard.len() == 2).then_some(())
    });
    assert_eq!(heard, ["complete", "saved"]);
    assert!(kept.is_file());
}

#[test]
fn nothing_is_kept_unless_it_was_asked_for() {
    let mut session = session(small());
    until_step(&mut session, 1);
    session.send(Command::Save(Save { path: None, view: String::new() }));
    until_step(&mut session, 20);
    assert!(session.notices().is_empty());
    session.close(String::new());
}

/// Gravity with a mistake: in its hundredth burst it panics, between two steps or in the midst of one.
#[derive(Clone, Default)]
struct Mistaken {
    gravity: Gravity,
    in_the_midst: bool,
}

impl Params for Mistaken {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        self.gravity.visit(visitor);
    }
}

impl Mode for Mistaken {
    fn info(&self) -> &'static ModeInfo {
        self.gravity.info()
    }
    fn boxed(&self) -> Box<dyn Mode> {
        Box::new(self.clone())
    }
    fn build(&self, device: &Device, recipe: Recipe, state: &State) -> Result<Box<dyn Simulation>> {
        Ok(Box::new(Panics {
            inner: self.gravity.build(device, recipe, state)?,
            bursts: 0,
            in_the_midst: self.in_the_midst,
        }))
    }
    fn time_step(&self) -> f64 {
        self.gravity.time_step()
    }
    fn backwards(&self) -> std::result::Result<Box<dyn Mode>, &'static str> {
        Err("not in this test")
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

struct Panics {
    inner: Box<dyn Simulation>,
    bursts: u32,
    in_the_midst: bool,
}

impl Simulation for Panics {
    fn set(&mut self, mode: &dyn Mode) -> Result<()> {
        let mode: &dyn Any = mode;
        self.inner.set(&mode.downcast_ref::<Mistaken>().unwrap().gravity)
    }
    fn start(&mut self, steps: u32) {
        self.bursts += 1;
        self.inner.start(steps);
    }
    fn advance(&mut self) -> Result<bool> {
        assert!(self.bursts < 100 || !self.in_the_midst, "a mistake");
        self.inner.advance()
    }
    fn progress(&self) -> f32 {
        self.inner.progress()
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
    fn publish(&mut self, points: Points) -> Result<Pending<Points>> {
        assert!(self.bursts < 100 || self.in_the_midst, "a mistake");
        self.inner.publish(points)
    }
    fn sample(&mut self, chosen: Vec<usize>) -> Result<Option<gravitile::modes::accuracy::Sample>> {
        self.inner.sample(chosen)
    }
    fn diagnostics(&mut self) -> Result<Diagnostics> {
        self.inner.diagnostics()
    }
}

#[test]
fn a_crash_of_the_simulation_is_told_and_what_there_is_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    for in_the_midst in [false, true] {
        let path = folder.path().join(format!("{in_the_midst}.gravitile"));
        let mode = Mistaken { in_the_midst, ..Mistaken::default() };
        let mut session = session(Config { mode: Box::new(mode), steps_per_frame: Some(1), ..small() });
        session.send(Command::Keep(path.clone()));
        if in_the_midst {
            session.send(Command::Save(Save { path: None, view: String::new() }));
            let Notice::Saved { outcome: Ok(()), .. } = notice(&mut session) else { panic!("not saved") };
        }
        let Notice::Failed(error) = notice(&mut session) else { panic!("not told") };
        assert!(error.to_string().contains("ended unexpectedly"), "{error}");
        drop(session);
        // Half a step is no place to go on from: then it is what was kept last.
        let kept = Snapshot::load(&path).unwrap();
        assert_eq!(kept.runs[0].step > 90, !in_the_midst, "{}", kept.runs[0].step);
        let mut engine = Engine::resume(cpu(), kept.clone(), &Default::default()).unwrap();
        let right = Config { mode: Box::new(Gravity::default()), ..small() };
        let mut steady = Engine::new(cpu(), right).unwrap();
        for engine in [&mut engine, &mut steady] {
            while engine.clock().0 < kept.runs[0].step + 5 {
                engine.run(1, |_| ()).unwrap();
            }
        }
        assert_eq!(
            engine.bodies().unwrap(),
            steady.bodies().unwrap(),
            "the bodies and the count of steps agree"
        );
    }
}
