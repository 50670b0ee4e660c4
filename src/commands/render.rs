//! `gravitile render`: step without a window, and draw the result, or a film.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
#[cfg(unix)]
use signal_hook::consts::SIGHUP;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use super::{Begin, look, number_or_auto, open_several, run_in_parts, run_with_progress, size, steps};
use crate::app::{Rig, Whom};
use crate::bodies::Points;
use crate::cli::Render;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::files::Output;
use crate::film::{self, Film};
use crate::look::Look;
use crate::snapshot::{self, Snapshot};
use crate::view::{self, Camera, Offscreen, View};

pub(super) fn call(args: &Render) -> Result<ExitCode> {
    let outlives_terminal = ignores_hangup();
    let begin = Begin::new(&args.simulation, |_| ())?;
    let size = size(&args.size)?;
    let (look, _) = look(&args.looks.look)?;
    let steps_per_frame = number_or_auto("--steps-per-frame", &args.steps_per_frame)?;
    // What cannot be written is told before any step.
    let target = match args.frames {
        Some(frames) => {
            // Its draft goes with it: what ends the program before the first picture leaves none.
            drop(Film::create(&args.out, size, args.fps)?);
            Target::Film(frames)
        }
        None => Target::Picture(output(&args.out)?),
    };
    let offscreen = Offscreen::new(size)?;
    let steps = steps(args.steps, &begin.config);
    let camera = Camera::from_words(&begin.view());
    let engine = begin.engine(open_several(&args.simulation)?)?;
    let mut studio = Studio::new(engine, &offscreen, look, camera)?;
    match target {
        Target::Picture(output) => {
            studio.begin(steps, size)?;
            studio.picture(output, args.bare)?;
        }
        Target::Film(frames) => {
            // A film begins at once unless it is asked to wait.
            studio.begin(args.steps.unwrap_or(0), size)?;
            let config = studio.engine.config();
            let least = config.mode.info().work.burst.0;
            let pace = steps_per_frame.or(config.steps_per_frame).unwrap_or(least);
            // From here on a signal is heard, and what there is of the film is taken away.
            let signal = cancellation(outlives_terminal)?;
            let film = Film::create(&args.out, size, args.fps)?;
            if !studio.film(film, &signal, (frames, pace, args.fps))? {
                eprintln!("gravitile: cancelled; no film is left, but for PNG files that are written");
                return Ok(ExitCode::from(SIGNALLED + signal.load(Ordering::Relaxed) as u8));
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Shells expect this plus the signal's number as the exit code of a program that a signal ended.
const SIGNALLED: u8 = 128;

/// Signals that end a film.
#[cfg(unix)]
const SIGNALS: &[i32] = &[SIGINT, SIGTERM, SIGHUP];
#[cfg(not(unix))]
const SIGNALS: &[i32] = &[SIGINT, SIGTERM];

/// Whether SIGHUP is ignored, as `nohup` asks for. To be called first of all: LLVM, which compiles kernels for PoCL, sets a handler.
#[cfg(unix)]
fn ignores_hangup() -> bool {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: without a new action the call only writes the present one, and all zeros are an action too.
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

/// A number that is 0 until a signal asks the program to end, and then that signal's: SIGINT, which Ctrl+C sends, SIGTERM, or SIGHUP,
/// which a terminal sends when it is closed, unless the program `outlives_terminal`. A second signal ends the program at once.
fn cancellation(outlives_terminal: bool) -> Result<Arc<AtomicUsize>> {
    let (heard, is_second) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    for &signal in SIGNALS {
        #[cfg(unix)]
        let is_ignored = signal == SIGHUP && outlives_terminal;
        #[cfg(not(unix))]
        let is_ignored = outlives_terminal;
        // LLVM, which compiles kernels for PoCL, has set a handler that ends the program; signal-hook would call it afterwards.
        #[cfg(unix)]
        // SAFETY: the default action, or none, replaces a handler; no handler of this program is set before.
        unsafe {
            libc::signal(signal, if is_ignored { libc::SIG_IGN } else { libc::SIG_DFL });
        }
        if is_ignored {
            continue;
        }
        // Actions run in the order of their registration: the first signal does not count as a second one.
        flag::register_conditional_shutdown(signal, i32::from(SIGNALLED) + signal, is_second.clone())
            .and_then(|_| flag::register_usize(signal, heard.clone(), signal as usize))
            .and_then(|_| flag::register(signal, is_second.clone()))
            .map_err(|error| Error::Invalid(format!("signals cannot be handled: {error}")))?;
    }
    Ok(heard)
}

enum Target {
    Picture(Output),
    Film(u32),
}

fn output(path: &Path) -> Result<Output> {
    if let Some(other) = path.extension().filter(|extension| !extension.eq_ignore_ascii_case("png")) {
        let (path, other) = (path.display(), other.display());
        let text = format!("--out {path}: what is written is PNG, not {other}; --frames makes films");
        return Err(Error::Invalid(text));
    }
    Output::create(path)
}

/// A simulation, and what it is drawn with.
struct Studio<'a> {
    engine: Engine,
    offscreen: &'a Offscreen,
    view: View,
    look: Look,
    points: Points,
    rig: Rig,
    /// From where a snapshot was looked at; none is from where all is in view.
    camera: Option<Camera>,
}

impl<'a> Studio<'a> {
    fn new(engine: Engine, offscreen: &'a Offscreen, look: Look, camera: Option<Camera>) -> Result<Self> {
        let mut view = View::new(offscreen.context())?;
        view.set_look(&look)?;
        Ok(Self { engine, offscreen, view, look, points: Points::default(), rig: Rig::default(), camera })
    }

    /// Steps to the first picture, and looks at it from where it was looked at, or at all of it.
    fn begin(&mut self, steps: u32, (width, height): (u32, u32)) -> Result<()> {
        // Trails go back over pictures: here there is one for each of the last steps.
        let pictures = steps.min(self.look.trails as u32);
        run_with_progress(&mut self.engine, steps - pictures)?;
        self.take(0)?;
        for _ in 0..pictures {
            self.take(1)?;
        }
        self.rig.camera = self.camera.take().unwrap_or_else(|| {
            let mut camera = Camera::facing(self.points.shape);
            camera.frame_all(&self.points, width as f32 / height as f32);
            camera
        });
        Ok(())
    }

    /// Steps, and takes what is then to be drawn.
    fn take(&mut self, steps: u32) -> Result<()> {
        if steps > 0 {
            run_in_parts(&mut self.engine, steps, |_| ())?;
        }
        (self.points, _) = self.engine.publish(std::mem::take(&mut self.points))?.wait()?;
        self.view.upload(&self.points, self.points.value_range())
    }

    /// What the camera goes with, if it does.
    fn whom(&self) -> Whom {
        let mode = self.engine.config().mode.info().name;
        Whom { mode, generation: self.engine.generation(), body: None }
    }

    fn draw(&mut self) -> Result<image::RgbImage> {
        let Self { offscreen, view, rig, .. } = self;
        offscreen.render(|surface| view.draw(surface, &rig.camera, None))
    }

    fn picture(&mut self, output: Output, bare: bool) -> Result<()> {
        let mut png = film::png(&self.draw()?)?;
        if !bare {
            let view = self.rig.camera.to_words();
            let (whole, extent) = snapshot::embed(&png, &Snapshot { view, ..self.engine.snapshot()? })?;
            png = whole;
            if let Some(text) = extent.note() {
                eprintln!("note: {text}");
            }
        }
        output.save(|file| file.write_all(&png))
    }

    /// `frames` pictures, `pace` steps from one to the next; false if it was cancelled, of which nothing is left.
    fn film(
        &mut self,
        mut film: Film,
        signal: &AtomicUsize,
        (frames, pace, rate): (u32, u32, u32),
    ) -> Result<bool> {
        let bar = ProgressBar::new(frames.into());
        let style = ProgressStyle::with_template("{bar:40} {pos} of {len} pictures, {eta} to go");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        for nth in 0..frames {
            if signal.load(Ordering::Relaxed) != 0 {
                bar.finish_and_clear();
                return Ok(false);
            }
            if nth > 0 {
                self.take(pace)?;
            }
            let middle = view::middle(&self.points).filter(|_| self.look.follow);
            let followed = middle.map(|middle| (self.whom(), middle));
            self.rig.tick(Duration::from_secs_f64(1.0 / f64::from(rate)), self.look.turn, followed);
            film.add(&self.draw()?)?;
            bar.inc(1);
        }
        bar.finish_and_clear();
        film.finish().map(|()| true)
    }
}
