//! Writes the report requested by `--report`: measurements and events of the window as JSON, for tests and benchmarks.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use glium::backend::Context;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::window::Window;
use crate::base::{Look, OutputFile, ParamValues, Result};
use crate::compute::DeviceInfo;
use crate::engine::Config;
use crate::session::Stats;
use crate::ui::{Compared, WindowStats};

/// Collects measurements and events for the report. If no report was requested, it only counts frames.
pub(super) struct Recorder {
    output: Option<OutputFile>,
    started: Instant,
    /// Number of frames to draw before the program exits, or `None` to run until the user quits.
    pub limit: Option<u64>,
    first_frame: Option<Duration>,
    pub frames: u64,
    /// Working time of each frame, and time since the previous frame, in ms.
    times: Vec<[f64; 2]>,
    /// Working time of each frame that shows new bodies, and the time to upload these bodies to OpenGL, in ms.
    news_times: Vec<[f64; 2]>,
    has_new_bodies: bool,
    /// Time to draw each updated set of bodies while the simulation is paused, in ms.
    drawings: Vec<f64>,
    events: Vec<Event>,
    /// Rectangle of each control in the last frame, by name: x, y, width and height in physical pixels.
    controls: BTreeMap<String, [f32; 4]>,
}

/// An event in the report, usually an action of the user.
#[derive(Debug, Serialize)]
struct Event {
    /// Seconds since the start of the program.
    seconds: f64,
    /// Simulation step shown on the screen when the event happened.
    step: u64,
    what: String,
}

/// Section of the report about the recorded run.
#[derive(Debug, Default)]
pub(super) struct TimelineReport {
    /// Number of recorded frames.
    pub frames: usize,
    /// Memory that the recorded run uses, in bytes.
    pub bytes: usize,
    /// Length of the recorded run, in seconds without pauses.
    pub seconds: f64,
    /// Texts of the events in the recorded run.
    pub events: Vec<String>,
    /// Time of the past moment on the screen, in seconds; `None` if the screen shows the live simulation.
    pub past: Option<f64>,
    /// Time to decode each recorded frame that was shown again, in ms.
    pub decodings: Vec<f64>,
}

impl Recorder {
    pub(super) fn new(output: Option<OutputFile>, started: Instant, limit: Option<u64>) -> Self {
        Self {
            output,
            started,
            limit,
            first_frame: None,
            frames: 0,
            times: Vec::new(),
            news_times: Vec::new(),
            has_new_bodies: false,
            drawings: Vec::new(),
            events: Vec::new(),
            controls: BTreeMap::new(),
        }
    }

    /// Returns whether the program has drawn all frames that the user asked for.
    pub(super) fn is_complete(&self) -> bool {
        self.limit.is_some_and(|limit| self.frames >= limit)
    }

    /// Counts a frame that has been shown, and records its timings for the report.
    pub(super) fn frame(&mut self, work: Duration, interval: Duration, stats: &WindowStats) {
        self.frames += 1;
        let has_new_bodies = std::mem::take(&mut self.has_new_bodies);
        if self.output.is_some() {
            let [work, interval] = [work, interval].map(|time| time.as_secs_f64() * 1e3);
            self.times.push([work, interval]);
            self.news_times.extend(has_new_bodies.then_some([work, stats.upload_ms]));
        }
    }

    /// Calls `draw`. While the simulation is paused, measures how long OpenGL takes to draw new bodies.
    pub(super) fn drawing(
        &mut self,
        context: &Context,
        is_paused: bool,
        draw: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let start = Instant::now();
        draw()?;
        if self.output.is_some() && self.has_new_bodies && is_paused {
            context.finish();
            self.drawings.push(start.elapsed().as_secs_f64() * 1e3);
        }
        Ok(())
    }

    /// Records that the next frame shows new bodies.
    pub(super) fn new_bodies(&mut self) {
        self.has_new_bodies = true;
        self.first_frame.get_or_insert(self.started.elapsed());
    }

    /// Stores the rectangles of the panel's controls. `rects` is in points; `scale` is the number of pixels per point.
    pub(super) fn place(&mut self, rects: Vec<(String, egui::Rect)>, scale: f32) {
        if self.output.is_some() {
            let pixels = |r: egui::Rect| [r.left(), r.top(), r.width(), r.height()].map(|x| x * scale);
            self.controls = rects.into_iter().map(|(key, rect)| (key, pixels(rect))).collect();
        }
    }

    /// Adds the event `what` to the report, together with the step of the frame on the screen (`shown`).
    pub(super) fn note(&mut self, what: String, shown: &Stats) {
        if self.output.is_some() {
            self.events.push(Event { seconds: self.started.elapsed().as_secs_f64(), step: shown.step, what });
        }
    }

    /// Adds an event for each setting that differs between the configs `before` and `after`.
    pub(super) fn change(&mut self, before: &Config, after: &Config, shown: &Stats) {
        let (old, new) = (flatten(before), flatten(after));
        for (key, value) in new.iter().filter(|(key, value)| old.get(*key) != Some(value)) {
            self.note(format!("{key}={}", value.to_string().trim_matches('"')), shown);
        }
    }

    /// Adds an event for each appearance setting that differs between `before` and `after`.
    pub(super) fn change_of_look(&mut self, before: &Look, after: &Look, shown: &Stats) {
        let [before, after] = [before, after].map(|look| ParamValues::collect(&mut look.clone()));
        for (key, value) in before.changes(&after).0 {
            self.note(format!("{key}={value}"), shown);
        }
    }

    /// Writes the report, if the user asked for one on the command line.
    pub(super) fn write(
        &mut self,
        (config, look): (&Config, &Look),
        (stats, timeline, compared): (&Stats, TimelineReport, Option<Compared>),
        window: &Window,
        device: &DeviceInfo,
    ) -> Result<()> {
        let Some(output) = self.output.take() else { return Ok(()) };
        let report = json!({
            "frames": self.frames,
            "seconds": self.started.elapsed().as_secs_f64(),
            // From the start of the program to the first frame with bodies.
            "first_frame_seconds": self.first_frame.map(|time| time.as_secs_f64()),
            // Time that the window's thread is busy with a frame, including the wait for the screen.
            "frame_ms": percentiles(self.times.iter().map(|row| row[0])),
            // Time that the window's thread is busy with a frame that shows new bodies.
            "news_ms": percentiles(self.news_times.iter().map(|row| row[0])),
            // Time to upload new bodies to OpenGL, without the time to read them from the device (`stats.read_ms`).
            "upload_ms": percentiles(self.news_times.iter().map(|row| row[1])),
            // Time until OpenGL has drawn new bodies, without the panel. Measured only while the simulation is paused:
            // waiting for OpenGL would delay its steps.
            "draw_ms": percentiles(self.drawings.iter().copied()),
            // Time between frames. Frames are drawn only when something is new, so a long interval does not mean a slow
            // frame. The first interval starts before the window opened.
            "interval_ms": percentiles(self.times.iter().skip(1).map(|row| row[1])),
            // Fraction of the time from opening the device to the last frame that the device was busy with steps.
            "device_busy": stats.device_busy_overall,
            "size": window.size(),
            "scale": window.scale(),
            "renderer": window.context().get_opengl_renderer_string(),
            "device": device,
            "config": values(config),
            "look": ParamValues::collect(&mut look.clone()),
            "stats": stats,
            // The recorded run, and the time to decode recorded frames.
            "timeline": {
                "frames": timeline.frames,
                "bytes": timeline.bytes,
                "seconds": timeline.seconds,
                "events": timeline.events,
                "past": timeline.past,
                "decode_ms": percentiles(timeline.decodings.into_iter()),
            },
            // While two simulations are compared: the statistics of the one that the panel does not edit, and the root
            // mean square and the maximum of the latest divergence.
            "compared": compared.map(|compared| compared.other),
            "divergence": compared.and_then(|compared| compared.divergence.latest()).map(|it| [it.rms, it.largest]),
            "events": self.events,
            "controls": self.controls,
        });
        output.save(|file| serde_json::to_writer_pretty(file, &report).map_err(Into::into))
    }
}

/// Returns the settings of a config as JSON, with the parameters of the mode as a nested object.
fn values(config: &Config) -> Value {
    json!({
        "mode": config.mode.info().name,
        "start": config.start.name,
        "bodies": config.bodies,
        "devices": config.devices,
        "seed": config.seed,
        "variant": config.variant.map(|variant| variant.name),
        "work_group": config.work_group,
        "knobs": config.knobs,
        "steps_per_frame": config.steps_per_frame,
        "running": config.running,
        "reverse": config.reverse,
        "free_run": config.free_run,
        "params": config.mode.values(),
    })
}

/// Returns the settings of a config as a flat list of keys and values.
fn flatten(config: &Config) -> Map<String, Value> {
    let mut all = values(config);
    let params = all["params"].take();
    [all, params].into_iter().filter_map(|it| it.as_object().cloned()).flatten().collect()
}

fn percentiles(values: impl Iterator<Item = f64>) -> Value {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| sorted.get(((sorted.len() as f64 - 1.0) * share).round() as usize);
    let at = |share| at(share).copied().unwrap_or_default();
    json!({ "p50": at(0.5), "p95": at(0.95), "p99": at(0.99), "max": at(1.0) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modes::MODES;

    #[test]
    fn percentiles_are_elements_of_the_sample() {
        let one_to_hundred = percentiles((1..=100).rev().map(f64::from));
        assert_eq!(one_to_hundred, json!({ "p50": 51.0, "p95": 95.0, "p99": 99.0, "max": 100.0 }));
        assert_eq!(percentiles([3.0].into_iter())["p50"], 3.0);
        assert_eq!(percentiles(std::iter::empty())["max"], 0.0);
    }

    #[test]
    fn single_precision_parameters_are_reported_without_spurious_digits() {
        let look = ParamValues::collect(&mut Look { stars: 0.4, depth_cue: 0.3, ..Look::plain() });
        let look = json!(look);
        assert_eq!([&look["stars"], &look["depth_cue"]], [0.4, 0.3]);
    }

    #[test]
    fn a_run_ends_at_the_frame_limit_and_records_nothing_without_a_report() {
        let mut recorder = Recorder::new(None, Instant::now(), Some(2));
        for is_complete in [false, true] {
            recorder.frame(Duration::ZERO, Duration::ZERO, &WindowStats::default());
            assert_eq!(recorder.is_complete(), is_complete);
        }
        recorder.note("event".to_owned(), &Stats::default());
        assert!(recorder.events.is_empty() && recorder.times.is_empty());
    }

    #[test]
    fn a_config_change_is_recorded_as_key_and_value() {
        let folder = tempfile::tempdir().unwrap();
        let output = OutputFile::create(&folder.path().join("report.json")).unwrap();
        let mut recorder = Recorder::new(Some(output), Instant::now(), None);
        let before = Config::new(MODES[0]);
        recorder.change(&before, &Config { seed: 77, ..before.clone() }, &Stats::default());
        let events: Vec<_> = recorder.events.iter().map(|event| event.what.as_str()).collect();
        assert_eq!(events, ["seed=77"]);
    }
}
