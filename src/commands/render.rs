//! `gravitile render`: simulates without a window, and draws a picture or a film.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

#[cfg(unix)]
use signal_hook::consts::SIGHUP;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use super::devices::open_several;
use super::launch::{Begin, steps};
use super::options::{look, number_or_auto, size};
use super::progress::{RunProgress, bar, run_in_parts};
use super::report::{save, wrote};
use crate::app::{FollowTarget, NamedBodies, Rig};
use crate::base::{LightRequest, Look, OutputFile, Points, Result, invalid};
use crate::cli::Render;
use crate::engine::{Engine, Snapshot, snapshot};
use crate::export::film::{self, Film, Progress};
use crate::modes::BodyErrors;
use crate::scene::Scene;
use crate::session::Stats;
use crate::ui::Labels;
use crate::view::{self, Camera, Canvas, View};

pub(super) fn call(args: &Render) -> Result<ExitCode> {
    let outlives_terminal = ignores_hangup();
    let begin = Begin::new(&args.simulation, |_| ())?;
    let size = size(&args.size)?;
    // The user's settings win over those of the scene.
    let (asked, start) = (look(&args.looks.look)?, begin.config.start.clone());
    let mut look = start.look.complete();
    asked.apply(&mut look);
    let steps_per_frame = number_or_auto("--steps-per-frame", &args.steps_per_frame)?;
    // An unwritable path is reported before the first step.
    let picture = match args.frames {
        // Dropping the film removes its draft, so that no file is left if the program ends before the first picture.
        Some(_) => Film::create(&args.out, size, args.fps).map(|_| None)?,
        None => Some(output(&args.out)?),
    };
    let offscreen = Canvas::offscreen(size)?;
    let steps = steps(args.steps, &begin.config);
    let camera = Camera::from_words(&begin.view());
    let engine = begin.engine(open_several(&args.simulation)?)?;
    let mut renderer = Renderer::new(engine, &offscreen, look, camera)?;
    if let Some(picture) = picture {
        renderer.begin(steps, &start, size)?;
        renderer.picture(picture, args.bare)?;
    }
    if let Some(frames) = args.frames {
        // Without --steps, a film starts at once.
        renderer.begin(args.steps.unwrap_or(0), &start, size)?;
        let config = renderer.engine.config();
        let least = config.mode.info().work.burst.0;
        let pace = steps_per_frame.or(config.steps_per_frame).unwrap_or(least);
        // Until the film is complete, a signal cancels it and removes its unfinished file.
        let signal = cancellation(outlives_terminal)?;
        let film = Film::create(&args.out, size, args.fps)?;
        let Some(files) = renderer.film(film, &signal, (frames, pace, args.fps))? else {
            eprintln!(
                "gravitile: cancelled; no film was saved (PNG files that were already written are kept)"
            );
            return Ok(ExitCode::from(SIGNALLED + signal.load(Ordering::Relaxed) as u8));
        };
        let pictures = if frames == 1 { "picture" } else { "pictures" };
        wrote(format_args!("{files} ({frames} {pictures})"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Base of the exit code after a signal: the program exits with this value plus the signal number.
const SIGNALLED: u8 = 128;

/// Signals that cancel the rendering of a film.
#[cfg(unix)]
const SIGNALS: &[i32] = &[SIGINT, SIGTERM, SIGHUP];
#[cfg(not(unix))]
const SIGNALS: &[i32] = &[SIGINT, SIGTERM];

/// Returns whether SIGHUP is ignored, as under `nohup`. Call this before LLVM, a part of PoCL, sets a signal handler.
#[cfg(unix)]
fn ignores_hangup() -> bool {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: without a new action the call only writes the current one, and a zeroed `sigaction` is valid.
    let action = unsafe {
        libc::sigaction(SIGHUP, std::ptr::null(), action.as_mut_ptr());
        action.assume_init()
    };
    action.sa_sigaction == libc::SIG_IGN
}

#[cfg(not(unix))]
fn ignores_hangup() -> bool {
    false
}

/// Handles SIGINT (Ctrl+C) and SIGTERM. Also handles SIGHUP (closed terminal), unless `outlives_terminal` is true.
/// Returns a variable that receives the number of the first signal. A second signal ends the program at once.
fn cancellation(outlives_terminal: bool) -> Result<Arc<AtomicUsize>> {
    let (heard, is_second) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    for &signal in SIGNALS {
        #[cfg(unix)]
        let is_ignored = signal == SIGHUP && outlives_terminal;
        #[cfg(not(unix))]
        let is_ignored = outlives_terminal;
        // LLVM, a part of PoCL, sets a handler that ends the program; signal-hook would call it afterwards.
        #[cfg(unix)]
        // SAFETY: sets the default action or ignores the signal; this program has not set a handler before.
        unsafe {
            libc::signal(signal, if is_ignored { libc::SIG_IGN } else { libc::SIG_DFL });
        }
        if is_ignored {
            continue;
        }
        // Actions run in the order of their registration, so the first signal does not count as a second one.
        flag::register_conditional_shutdown(signal, i32::from(SIGNALLED) + signal, is_second.clone())
            .and_then(|_| flag::register_usize(signal, heard.clone(), signal as usize))
            .and_then(|_| flag::register(signal, is_second.clone()))
            .map_err(|error| invalid!("cannot install the Ctrl+C handler: {error}"))?;
    }
    Ok(heard)
}

/// Prepares the output file `path` for a picture. Returns an error if `path` cannot be written or is not a PNG file.
fn output(path: &Path) -> Result<OutputFile> {
    if let Some(other) = path.extension().filter(|extension| !extension.eq_ignore_ascii_case("png")) {
        let (path, other) = (path.display(), other.display());
        return Err(invalid!(
            "--out {path}: a picture must be a .png file, not .{other}; add --frames to make a film"
        ));
    }
    OutputFile::create(path)
}

/// Number of pairs computed in double precision for a picture that colours bodies by their errors. Computing them takes
/// a few seconds.
const PAIRS_OF_PICTURE: f64 = 1e9;
/// Number of pairs computed in double precision for a frame of a film that colours bodies by their errors.
const PAIRS_OF_FRAME: f64 = 1e8;

/// A simulation without a window, together with the view that draws its pictures.
struct Renderer<'a> {
    engine: Engine,
    offscreen: &'a Canvas,
    view: View,
    look: Look,
    points: Points,
    /// Errors of the bodies measured so far; unused unless the colours show errors.
    errors: BodyErrors,
    rig: Rig,
    labels: Labels,
    named: NamedBodies,
    /// Camera from the snapshot. If `None`, the camera is placed so that all bodies are visible.
    camera: Option<Camera>,
}

impl<'a> Renderer<'a> {
    fn new(mut engine: Engine, offscreen: &'a Canvas, look: Look, camera: Option<Camera>) -> Result<Self> {
        let mut view = View::new(offscreen.context())?;
        view.set_look(&look)?;
        engine.show_cells(look.cells_for(None));
        let (points, errors, rig) = (Points::default(), BodyErrors::default(), Rig::default());
        let (labels, named) = (Labels::default(), NamedBodies::default());
        Ok(Self { engine, offscreen, view, look, points, errors, rig, labels, named, camera })
    }

    /// Computes the steps before the first picture, then restores the snapshot's camera or uses the scene's camera.
    fn begin(&mut self, steps: u32, scene: &Scene, (width, height): (u32, u32)) -> Result<()> {
        // Trails connect successive pictures, so the last steps upload the bodies after every step, or after as many steps as
        // the window takes between two frames of a scene with small steps.
        let pace = scene.pace.unwrap_or(1).max(1);
        let pictures = (steps / pace).min(self.look.trails as u32);
        let steps = steps - pictures * pace;
        RunProgress::new(steps).run(&mut self.engine, steps)?;
        for nth in 0..=pictures {
            let pairs = if nth == pictures { PAIRS_OF_PICTURE } else { 0.0 };
            self.take(if nth > 0 { pace } else { 0 }, pairs)?;
        }
        self.rig.camera = self.camera.take().unwrap_or_else(|| {
            let mut camera = Camera::opening(&scene.camera, self.points.shape);
            camera.frame_scene(&scene.camera, &self.points, width as f32 / height as f32);
            camera
        });
        // The image of the light of many bodies needs the camera.
        if self.request_light() { self.take(0, 0.0) } else { Ok(()) }
    }

    /// If there are many bodies, requests that the next points contain an image of the bodies' light for the current
    /// camera. Returns whether an image was requested.
    fn request_light(&mut self) -> bool {
        let light = self.view.light_request(&self.rig.camera, self.offscreen.size().into());
        let has_image = light.is_some();
        self.engine.show_light(light.map(|light| LightRequest { listed: usize::MAX, ..light }));
        has_image
    }

    /// Computes `steps` steps, then uploads the bodies to the view for drawing. If the colours show errors, first
    /// measures the errors of a sample of bodies, for which about `pairs` pairs are computed.
    fn take(&mut self, steps: u32, pairs: f64) -> Result<()> {
        if steps > 0 {
            run_in_parts(&mut self.engine, steps, |_| ())?;
        }
        (self.points, _) = self.engine.publish(std::mem::take(&mut self.points))?.wait()?;
        if self.engine.config().mode.shows_errors() {
            let count = self.engine.size();
            let chosen = self.errors.choose(count, (pairs / count.max(1) as f64) as usize);
            if let Some(sample) = self.engine.sample(chosen)? {
                self.errors.note(&sample.collect::<Vec<_>>());
            }
            self.errors.colour(&mut self.points);
        }
        self.view.upload(&self.points, self.points.value_range())
    }

    fn draw(&mut self) -> Result<image::RgbImage> {
        let Self { engine, offscreen, view, look, points, rig, labels, named, .. } = self;
        let picture = offscreen.render(|surface| view.draw(surface, &rig.camera, None))?;
        let (names, time) = (engine.names().clone(), engine.clock().1);
        let config = Arc::new(engine.config().clone());
        let stats = Stats { names, time, config, ..Stats::default() };
        let aspect = picture.width() as f32 / picture.height() as f32;
        let captions = named.captions(look, (&rig.camera, aspect), points, &stats);
        Ok(labels.paint(picture, &captions, look.theme))
    }

    fn picture(&mut self, output: OutputFile, bare: bool) -> Result<()> {
        let mut png = film::png(&self.draw()?)?;
        if !bare {
            let view = self.rig.camera.to_words();
            let (whole, extent) = snapshot::embed(&png, &Snapshot { view, ..self.engine.snapshot()? })?;
            png = whole;
            if let Some(text) = extent.note() {
                eprintln!("note: {text}");
            }
        }
        save(output, |file| file.write_all(&png))
    }

    /// Writes a film of `frames` pictures, `pace` steps apart, at `rate` pictures per second. Returns the names of its
    /// files, or `None` if a signal cancelled it.
    fn film(
        &mut self,
        mut film: Film,
        signal: &AtomicUsize,
        (frames, pace, rate): (u32, u32, u32),
    ) -> Result<Option<String>> {
        let (bar, start) = (bar(frames.into(), "{bar:40} {msg}"), Instant::now());
        for nth in 0..frames {
            if signal.load(Ordering::Relaxed) != 0 {
                bar.finish_and_clear();
                return Ok(None);
            }
            if nth > 0 {
                self.take(pace, PAIRS_OF_FRAME)?;
            }
            let middle = view::middle(&self.points).filter(|_| self.look.follow);
            let (mode, generation) = (self.engine.config().mode.info().name, self.engine.generation());
            let target = FollowTarget { mode, generation, body: None };
            let followed = middle.map(|middle| (target, middle));
            self.rig.tick(Duration::from_secs_f64(1.0 / f64::from(rate)), self.look.turn, followed);
            self.request_light();
            film.add(&self.draw()?)?;
            bar.inc(1);
            let progress = Progress { done: nth + 1, pictures: frames, elapsed: start.elapsed() };
            bar.set_message(progress.to_string());
        }
        bar.finish_and_clear();
        film.finish().map(Some)
    }
}
