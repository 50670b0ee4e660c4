//! Tests that no work is lost: snapshots are saved while the simulation runs, when it ends, and after failures.

use std::path::Path;
use std::time::Duration;

use crate::support::odd::{FOR_EVER, Gate, Odd, Wrong};
use crate::support::watched::{Watched, wait_for};
use crate::support::{own_cpu, scene};
use gravitile::base::edit::Edit;
use gravitile::compute::KernelEdits;
use gravitile::engine::Engine;
use gravitile::engine::config::Config;
use gravitile::engine::kernel_lab;
use gravitile::engine::snapshot::{Run, Snapshot};
use gravitile::engine::tuning::Study;
use gravitile::modes::gravity::Gravity;
use gravitile::modes::gravity::variants::NAIVE;
use gravitile::session::{
    CaptureRequest, Command, FilmFrame, Notice, Purpose, Save, Session, crashed, left_by_earlier_run,
    previous,
};

/// Time limit for waiting: far longer than anything in these tests takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);

fn session(config: Config) -> Watched {
    Watched::new(config)
}

fn small() -> Config {
    scene("plummer", Some(100), &[])
}

/// Takes frames until `ask` returns an answer.
fn until<T>(session: &mut Watched, mut ask: impl FnMut(&mut Watched) -> Option<T>) -> T {
    let mut answer = None;
    wait_for(|| {
        session.session.frame();
        answer = ask(session);
        answer.is_some()
    });
    answer.unwrap()
}

fn until_step(session: &mut Watched, step: u64) {
    until(session, |session| (session.session.frame().0.stats.step >= step).then_some(()));
}

fn notice(session: &mut Watched) -> Notice {
    until(session, |session| session.next_notice())
}

fn save(path: &Path) -> Command {
    Command::SaveSnapshot(Save { path: Some(path.to_owned()), view: "from above".to_owned() })
}

#[test]
fn a_running_simulation_can_be_saved_and_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.gravitile");
    let mut session = session(small());
    until_step(&mut session, 20);
    session.send(save(&path));
    let Notice::SnapshotSaved { is_asked_for: true, outcome: Ok(()), .. } = notice(&mut session) else {
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
fn a_finished_save_wakes_the_window() {
    let folder = tempfile::tempdir().unwrap();
    let (bell, rung) = crossbeam_channel::unbounded();
    let engine = || Engine::new(own_cpu(), Config { running: false, ..small() });
    let wake = move || bell.send(()).unwrap_or_default();
    let mut session = Session::spawn(engine, wake).unwrap();
    wait_for(|| session.frame().0.stats.generation > 0);
    // While the simulation is paused, its accuracy is measured, which makes another frame.
    while rung.recv_timeout(Duration::from_millis(500)).is_ok() {
        session.frame();
    }
    session.send(save(&folder.path().join("a.gravitile")));
    loop {
        rung.recv_timeout(PATIENCE).expect("nothing goes on that would wake it besides");
        let notices = session.notices();
        if notices.iter().any(|notice| matches!(notice, Notice::SnapshotSaved { outcome: Ok(()), .. })) {
            break;
        }
    }
}

#[test]
fn read_and_write_errors_are_reported_and_the_run_continues() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(small());
    until_step(&mut session, 1);
    session.send(save(&folder.path().join("nowhere").join("a.gravitile")));
    let Notice::SnapshotSaved { outcome: Err(error), .. } = notice(&mut session) else { panic!("saved") };
    assert!(error.to_string().starts_with("cannot write "), "{error}");
    let torn = folder.path().join("torn.gravitile");
    std::fs::write(&torn, "torn").unwrap();
    session.send(Command::Resume(torn));
    let Notice::ResumeRefused(error) = notice(&mut session) else { panic!("not refused") };
    assert!(error.to_string().contains("not a gravitile snapshot"), "{error}");
    let step = session.session.frame().0.stats.step;
    until_step(&mut session, step + 50);
}

#[test]
fn the_end_of_a_session_is_autosaved_and_the_previous_autosave_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    // The autosave creates its folder if it does not exist.
    let path = folder.path().join("state").join("autosave.gravitile");
    for (run, seed) in [1, 2].into_iter().enumerate() {
        let mut session = session(Config { seed, ..small() });
        session.send(Command::SetAutosaveFile(path.clone()));
        until_step(&mut session, 10);
        if run == 0 {
            session.send(Command::SaveSnapshot(Save { path: None, view: String::new() }));
            let Notice::SnapshotSaved { is_asked_for: false, outcome: Ok(()), .. } = notice(&mut session)
            else {
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

/// Returns a session after its first steps, and a gate that can stop its bursts of steps.
fn held() -> (Gate, Watched) {
    let gate = Gate::default();
    let config = Config { steps_per_frame: Some(5), ..Odd::behind(&gate, small()) };
    let mut session = session(config);
    until_step(&mut session, 5);
    (gate, session)
}

/// Starts the next burst of steps and blocks it before its end. Takes frames in the meantime, because a burst waits for
/// this.
fn hold(gate: &Gate, session: &mut Watched, calls: u32) {
    gate.close(calls);
    until(session, |_| gate.has_held().then_some(()));
}

#[test]
fn a_save_requested_before_a_restart_saves_the_old_state() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.gravitile");
    let (gate, mut session) = held();
    hold(&gate, &mut session, FOR_EVER);
    session.send(save(&path));
    session.send(Command::Restart);
    gate.open();
    let Notice::SnapshotSaved { outcome: Ok(()), .. } = notice(&mut session) else { panic!("not saved") };
    assert!(Snapshot::load(&path).unwrap().runs[0].step > 0, "it is the scene that was begun anew");
    until(&mut session, |session| (session.session.frame().0.stats.generation == 2).then_some(()));

    // A picture also waits for the end of the current burst of steps.
    until_step(&mut session, 5);
    hold(&gate, &mut session, FOR_EVER);
    session.send(Command::Capture(CaptureRequest::default()));
    session.send(Command::Restart);
    gate.open();
    let Notice::Captured(still) = notice(&mut session) else { panic!("nothing to be drawn") };
    let Purpose::Picture(snapshot) = still.purpose else { panic!("it is for a film") };
    assert!(snapshot.runs[0].step > 0);

    // A captured frame contains the number of its film, because another film may have begun.
    session
        .send(Command::Capture(CaptureRequest { film: Some(FilmFrame { film: 7, steps: 0 }), light: None }));
    let Notice::Captured(still) = notice(&mut session) else { panic!("nothing to be drawn") };
    assert!(matches!(still.purpose, Purpose::Film(7)));
}

/// Returns the current state of the simulation, by saving and loading a snapshot.
fn now(session: &mut Watched) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("now.gravitile");
    session.send(save(&path));
    let Notice::SnapshotSaved { outcome: Ok(()), .. } = notice(session) else { panic!("not saved") };
    Snapshot::load(&path).unwrap().runs.swap_remove(0)
}

#[test]
fn a_configuration_is_applied_before_later_requests() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.gravitile");
    let other = Config { seed: 7, ..scene("cube", Some(50), &[]) };
    let mut engine = Engine::new(own_cpu(), other).unwrap();
    engine.run(3, |_| ()).unwrap();
    engine.snapshot().unwrap().save(&path).unwrap();

    let (gate, mut session) = held();
    hold(&gate, &mut session, FOR_EVER);
    let faster = Odd::behind(&gate, scene("plummer", Some(100), &[("dt", "0.02")]));
    session.send(Command::Configure(Box::new(faster)));
    session.send(Command::Resume(path));
    gate.open();
    let Notice::Resumed { config, .. } = notice(&mut session) else { panic!("not resumed") };
    assert_eq!(config.seed, 7);
    assert_eq!(now(&mut session).config.seed, 7, "what was asked for before undid it");
    session.close(String::new());

    // A restart uses the configuration that was sent before it.
    let (gate, mut session) = held();
    hold(&gate, &mut session, FOR_EVER);
    let heavy = || Config { running: false, ..scene("plummer", Some(100), &[("g", "4")]) };
    session.send(Command::Configure(Box::new(Odd::behind(&gate, heavy()))));
    session.send(Command::Restart);
    gate.open();
    until(&mut session, |session| (session.session.frame().0.stats.generation == 2).then_some(()));
    let mut right = Engine::new(own_cpu(), heavy()).unwrap();
    assert_ne!(right.bodies().unwrap(), Engine::new(own_cpu(), small()).unwrap().bodies().unwrap());
    assert_eq!(now(&mut session).state, right.state().unwrap());
}

#[test]
fn a_save_requested_just_before_quitting_is_completed() {
    let folder = tempfile::tempdir().unwrap();
    // In the first case, the burst of steps ends soon; in the second case, it never ends.
    for (nth, calls) in [100, FOR_EVER].into_iter().enumerate() {
        let [path, kept] =
            ["asked", "kept"].map(|name| folder.path().join(format!("{name}-{nth}.gravitile")));
        let (gate, mut session) = held();
        hold(&gate, &mut session, calls);
        session.send(Command::SetAutosaveFile(kept.clone()));
        session.send(Command::Edit(Edit::Remove(3)));
        session.send(save(&path));
        let said = session.close("last".to_owned());
        assert!(
            matches!(&said[..], [Notice::SnapshotSaved { is_asked_for: true, outcome: Ok(()), .. }]),
            "{said:?}"
        );
        let [asked, kept] = [path, kept].map(|path| Snapshot::load(&path).unwrap());
        assert_eq!((asked.view.as_str(), kept.view.as_str()), ("from above", "last"));
        assert_eq!(asked.runs[0].state, kept.runs[0].state);
        assert_eq!(asked.runs[0].step > 0, nth == 0);
        assert_eq!(asked.runs[0].state.len(), if nth == 0 { 99 } else { 100 }, "what was done before it");
    }
    let session = session(small());
    session.send(save(&folder.path().join("nowhere").join("a.gravitile")));
    let said = session.close(String::new());
    assert!(matches!(&said[..], [Notice::SnapshotSaved { outcome: Err(_), .. }]), "{said:?}");
}

#[test]
fn an_autosave_is_not_replaced_by_an_older_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept.gravitile");
    let (gate, mut session) = held();
    session.send(Command::SetAutosaveFile(kept.clone()));
    session.send(Command::SaveSnapshot(Save { path: None, view: String::new() }));
    let Notice::SnapshotSaved { outcome: Ok(()), .. } = notice(&mut session) else { panic!("not saved") };
    let step = Snapshot::load(&kept).unwrap().runs[0].step;
    hold(&gate, &mut session, FOR_EVER);
    session.close(String::new());
    assert!(step > 0 && Snapshot::load(&kept).unwrap().runs[0].step >= step);
}

/// If an autosave has failed, the last checkpoint is saved at the end of the session.
#[test]
fn the_last_checkpoint_is_saved_at_the_end_if_the_autosave_failed() {
    let folder = tempfile::tempdir().unwrap();
    // A file takes the name of the autosave's folder, so the folder cannot be created.
    let blocked = folder.path().join("state");
    std::fs::write(&blocked, "").unwrap();
    let kept = blocked.join("kept.gravitile");
    let (gate, mut session) = held();
    session.send(Command::SetAutosaveFile(kept.clone()));
    session.send(Command::SaveSnapshot(Save { path: None, view: String::new() }));
    let Notice::SnapshotSaved { outcome: Err(_), .. } = notice(&mut session) else { panic!("saved") };
    hold(&gate, &mut session, FOR_EVER);
    std::fs::remove_file(&blocked).unwrap();
    session.close(String::new());
    assert_eq!(Snapshot::load(&kept).unwrap().runs[0].config.seed, small().seed);
}

#[test]
fn resuming_reports_the_suspended_modes() {
    let mut engine = Engine::new(own_cpu(), small()).unwrap();
    engine.run(3, |_| ()).unwrap();
    let asteroids = Config { bodies: Some(50), ..Config::new(&gravitile::modes::asteroids::INFO) };
    engine.configure(Config { running: false, ..asteroids }).unwrap();
    let bytes = engine.snapshot().unwrap().to_bytes().unwrap();
    let snapshot = Snapshot::from_bytes(&bytes).unwrap();
    let resume = move || Engine::resume(own_cpu(), snapshot, &Default::default());
    let mut session = Watched::of(resume);
    let Notice::Resumed { left, .. } = notice(&mut session) else { panic!("not told") };
    assert_eq!(left.len(), 1, "the mode that is shown is where it began, the other is not");
}

/// A paused simulation that is resumed has its own colours, although the colours of the previous picture had another
/// meaning.
#[test]
fn a_resumed_simulation_keeps_its_colours() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.gravitile");
    let left = |colour| Config { running: false, ..scene("plummer", Some(100), &[("colour", colour)]) };
    let mut first = session(left("origin"));
    first.send(Command::Seek(Some(30)));
    until_step(&mut first, 30);
    let was = first.shown().points.clone();
    first.send(save(&path));
    let Notice::SnapshotSaved { outcome: Ok(()), .. } = notice(&mut first) else { panic!("not saved") };

    let mut second = session(left("speed"));
    let before = until(&mut second, |session| {
        let points = &session.session.frame().0.points;
        (!points.values.is_empty()).then_some(points.colours)
    });
    second.send(Command::Resume(path));
    until_step(&mut second, 30);
    let is = &second.shown().points;
    assert!(is.values == was.values && is.value_range() == was.value_range());
    assert_ne!(is.colours, before, "they would follow from what the other picture showed");
}

#[test]
fn a_blown_up_flow_is_saved_and_reported_when_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.gravitile");
    let info = &gravitile::modes::fluid::INFO;
    let config = Config { bodies: Some(3000), running: false, ..Config::new(info) };
    let mut engine = Engine::new(own_cpu(), config).unwrap();
    let mut snapshot = engine.snapshot().unwrap();
    let sound = snapshot.clone();
    let flow = snapshot.runs[0].state.flow_mut().unwrap();
    let free = flow.walls.solid.iter().position(|solid| !solid).unwrap();
    flow.cells[free][3] = f32::NAN;
    for (snapshot, is_broken) in [(sound, false), (snapshot, true)] {
        let resume = move || Engine::resume(own_cpu(), snapshot, &Default::default());
        let mut session = Watched::of(resume);
        session.send(save(&path));
        let mut heard = Vec::new();
        until(&mut session, |session| {
            heard.extend(session.notices());
            heard.iter().any(|notice| matches!(notice, Notice::SnapshotSaved { .. })).then_some(())
        });
        heard.extend(session.close(String::new()));
        let said = |text: &str| {
            heard.iter().any(|notice| matches!(notice, Notice::Message(it) if it.contains(text)))
        };
        assert_eq!(said("blown up"), is_broken, "{heard:?}");
        let is_told = heard.iter().any(|notice| matches!(notice, Notice::BlownUp { .. }));
        assert_eq!(is_told, is_broken, "{heard:?}");
    }
    // Opens the snapshot of the blown-up flow while another scene runs.
    let mut session = session(small());
    until_step(&mut session, 1);
    session.send(Command::Resume(path));
    let current = until(&mut session, |session| {
        session.notices().into_iter().find_map(|notice| match notice {
            Notice::BlownUp { current, .. } => Some(current),
            _ => None,
        })
    });
    assert!(!current.running);
}

/// Stopping a seek backwards within a burst, or a failed attempt to open a file, does not change the direction of that
/// burst.
#[test]
fn a_burst_keeps_its_direction_until_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let torn = folder.path().join("torn.gravitile");
    std::fs::write(&torn, "torn").unwrap();
    let gate = Gate::default();
    let config = Odd::behind(&gate, Config { running: false, ..small() });
    let mut session = session(config);
    session.send(Command::Seek(Some(400)));
    until_step(&mut session, 400);
    gate.close(FOR_EVER);
    session.send(Command::Seek(Some(300)));
    until(&mut session, |_| gate.has_held().then_some(()));
    session.send(Command::Seek(None));
    session.send(Command::Resume(torn));
    gate.open();
    let Notice::ResumeRefused(_) = notice(&mut session) else { panic!("not refused") };
    let run = now(&mut session);
    assert!(run.step < 400, "{}", run.step);
    let mut steady = Engine::new(own_cpu(), small()).unwrap();
    steady.run(run.step as u32, |_| ()).unwrap();
    let off = crate::support::distance(&run.state.into_bodies().unwrap(), &steady.bodies().unwrap().to_f64());
    assert!(off < 1e-3, "at step {} it is {off} from there", run.step);
}

#[test]
#[ignore = "long: scripts/test --all runs it"]
fn the_regular_autosave_waits_for_a_running_study() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept.gravitile");
    let config = Config { running: false, variant: Some(&NAIVE), ..small() };
    let mut session = session(config);
    session.send(Command::StartStudy(Study::WorkGroups));
    let mut has_begun = false;
    let mut heard = Vec::new();
    until(&mut session, |session| {
        for notice in session.notices() {
            match notice {
                Notice::StudyProgress(..) if !has_begun => {
                    has_begun = true;
                    session.send(Command::SetAutosaveFile(kept.clone()));
                    session.send(Command::SaveSnapshot(Save { path: None, view: String::new() }));
                }
                Notice::StudyEnded { complete, .. } => {
                    heard.push(if complete { "complete" } else { "broken off" });
                }
                Notice::SnapshotSaved { outcome: Ok(()), .. } => heard.push("saved"),
                _ => {}
            }
        }
        (heard.len() == 2).then_some(())
    });
    assert_eq!(heard, ["complete", "saved"]);
    assert!(kept.is_file());
}

#[test]
fn nothing_is_autosaved_without_an_autosave_file() {
    let mut session = session(small());
    until_step(&mut session, 1);
    session.send(Command::SaveSnapshot(Save { path: None, view: String::new() }));
    until_step(&mut session, 20);
    assert!(session.notices().is_empty());
    session.close(String::new());
}

#[test]
fn a_crash_is_reported_and_the_last_checkpoint_is_saved_beside_the_autosave() {
    let folder = tempfile::tempdir().unwrap();
    for (in_the_midst, is_autosaved) in [(false, false), (false, true), (true, false), (true, true)] {
        let path = folder.path().join(format!("{in_the_midst}-{is_autosaved}.gravitile"));
        let mode = Odd { wrong: Wrong::Panics { in_the_midst }, ..Odd::default() };
        let mut session = session(Config { mode: Box::new(mode), steps_per_frame: Some(1), ..small() });
        session.send(Command::SetAutosaveFile(path.clone()));
        let mut autosave = None;
        if is_autosaved {
            session.send(Command::SaveSnapshot(Save { path: None, view: String::new() }));
            let Notice::SnapshotSaved { outcome: Ok(()), .. } = notice(&mut session) else {
                panic!("not saved")
            };
            autosave = Some(std::fs::read(&path).unwrap());
        }
        let Notice::Failed(error) = notice(&mut session) else { panic!("not told") };
        assert!(error.to_string().contains("ended unexpectedly"), "{error}");
        drop(session);
        assert_eq!(std::fs::read(&path).ok(), autosave, "the autosave was overwritten after the crash");
        // A checkpoint older than the autosave is not saved.
        let left = left_by_earlier_run(&path).unwrap();
        assert!(left == crashed(&path) || is_autosaved && left == path, "{}", left.display());
        let kept = Snapshot::load(&left).unwrap();
        let mut engine = Engine::resume(own_cpu(), kept.clone(), &Default::default()).unwrap();
        let right = Config { mode: Box::new(Gravity::default()), ..small() };
        let mut steady = Engine::new(own_cpu(), right).unwrap();
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

/// Quits while the gate blocks for ever the steps that `command` needs.
fn quits_during(command: Command) {
    let gate = Gate::default();
    let mut session = session(Config { running: false, ..Odd::behind(&gate, small()) });
    until(&mut session, |session| (session.shown().stats.generation > 0).then_some(()));
    gate.close(FOR_EVER);
    session.send(command);
    until(&mut session, |_| gate.has_held().then_some(()));
    let said = session.close(String::new());
    assert!(said.is_empty(), "{said:?}");
}

#[test]
fn quitting_interrupts_the_steps_of_a_film() {
    quits_during(Command::Capture(CaptureRequest {
        film: Some(FilmFrame { film: 1, steps: 3 }),
        light: None,
    }));
}

#[test]
fn quitting_interrupts_the_trial_of_edited_kernels() {
    let (name, text) = kernel_lab::own().find(|(name, _)| *name == "gravity/force.cl").unwrap();
    quits_during(Command::EditKernels(KernelEdits::from([(name.to_owned(), format!("{text}\n"))])));
}
