//! `--report`: what happened in the window, for whoever measures or tests it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use glium::backend::Context;
use serde::Serialize;

use super::window::Window;
use crate::compute::DeviceInfo;
use crate::config::Config;
use crate::error::Result;
use crate::files::Output;
use crate::look::Look;
use crate::params::Values;
use crate::session::Stats;
use crate::ui::{Action, WindowStats};

/// Keeps what the report needs; without a report only the number of frames.
pub(super) struct Recorder {
    output: Option<Output>,
    started: Instant,
    first_frame: Option<Duration>,
    frames: u64,
    /// Work of each frame and the time since the one before, in ms.
    times: Vec<[f32; 2]>,
    /// Of the frames that showed new bodies: all work, and the upload, in ms.
    news_times: Vec<[f32; 2]>,
    has_news: bool,
    /// What drawings of new bodies took that stand still, in ms.
    drawings: Vec<f32>,
    events: Vec<Event>,
    /// Where each control was in the last frame: x, y, width, height in physical pixels.
    controls: BTreeMap<String, [f32; 4]>,
}

/// Something that a person did.
#[derive(Debug, Serialize)]
struct Event {
    /// Since the start of the program.
    seconds: f64,
    /// Steps on the screen at that moment.
    step: u64,
    what: String,
}

/// The file.
#[derive(Debug, Serialize)]
struct Report<'a> {
    frames: u64,
    seconds: f64,
    /// From the start of the program to the first picture of bodies.
    first_frame_seconds: Option<f64>,
    /// How long the window thread is busy with a frame, waiting for the screen included.
    frame_ms: Percentiles,
    /// The same of the frames that showed new bodies, ...
    news_ms: Percentiles,
    /// ... what it took of that to hand them to OpenGL, after `stats.read_ms` to read them back, ...
    upload_ms: Percentiles,
    /// ... and to draw them, until OpenGL has done so: without the panel, and without showing them. Measured while the
    /// simulation stands still: waiting would take time from its steps.
    draw_ms: Percentiles,
    /// From frame to frame. Frames are drawn when there is something new, so a long one is not a slow one.
    interval_ms: Percentiles,
    /// The share of the time, from when the device was open to the last frame, that it was busy with steps.
    device_busy: f64,
    size: (u32, u32),
    scale: f32,
    renderer: &'a str,
    device: &'a DeviceInfo,
    config: Running<'a>,
    /// How it is drawn.
    look: Values,
    stats: &'a Stats,
    events: &'a [Event],
    controls: &'a BTreeMap<String, [f32; 4]>,
}

/// A config in words.
#[derive(Debug, Serialize)]
struct Running<'a> {
    mode: &'static str,
    start: &'a str,
    bodies: Option<usize>,
    devices: &'a [usize],
    seed: u64,
    variant: Option<&'static str>,
    work_group: Option<usize>,
    knobs: &'a BTreeMap<&'static str, u32>,
    steps_per_frame: Option<u32>,
    running: bool,
    reverse: bool,
    free_run: bool,
    params: Values,
}

#[derive(Debug, Default, Serialize)]
struct Percentiles {
    p50: f32,
    p95: f32,
    p99: f32,
    max: f32,
}

impl Recorder {
    pub fn new(output: Option<Output>, started: Instant) -> Self {
        Self {
            output,
            started,
            first_frame: None,
            frames: 0,
            times: Vec::new(),
            news_times: Vec::new(),
            has_news: false,
            drawings: Vec::new(),
            events: Vec::new(),
            controls: BTreeMap::new(),
        }
    }

    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// A frame was shown.
    pub fn frame(&mut self, work: Duration, interval: Duration, stats: &WindowStats) {
        self.frames += 1;
        let has_news = std::mem::take(&mut self.has_news);
        if self.output.is_some() {
            let [work, interval] = [work, interval].map(|time| time.as_secs_f32() * 1e3);
            self.times.push([work, interval]);
            self.news_times.extend(has_news.then_some([work, stats.upload_ms as f32]));
        }
    }

    /// Draws. For a report on new bodies that stand still it waits until OpenGL has done so.
    pub fn drawing(
        &mut self,
        context: &Context,
        stands: bool,
        draw: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let start = Instant::now();
        draw()?;
        if self.output.is_some() && self.has_news && stands {
            context.finish();
            self.drawings.push(start.elapsed().as_secs_f32() * 1e3);
        }
        Ok(())
    }

    /// New bodies are on the screen.
    pub fn news(&mut self) {
        self.has_news = true;
        self.first_frame.get_or_insert(self.started.elapsed());
    }

    /// Where the controls are, in points.
    pub fn place(&mut self, rects: Vec<(String, egui::Rect)>, scale: f32) {
        if self.output.is_some() {
            let pixels = |r: egui::Rect| [r.left(), r.top(), r.width(), r.height()].map(|x| x * scale);
            self.controls = rects.into_iter().map(|(key, rect)| (key, pixels(rect))).collect();
        }
    }

    /// Something happened.
    pub fn note(&mut self, what: String, shown: &Stats) {
        if self.output.is_some() {
            self.events.push(Event { seconds: self.started.elapsed().as_secs_f64(), step: shown.step, what });
        }
    }

    /// A button or key was pressed.
    pub fn action(&mut self, action: Action, shown: &Stats) {
        self.note(format!("{action:?}").to_lowercase(), shown);
    }

    /// The panel changed the config.
    pub fn change(&mut self, before: &Config, after: &Config, shown: &Stats) {
        let (old, new) = (words(before), words(after));
        for (key, value) in new.iter().filter(|(key, value)| old.get(*key) != Some(value)) {
            self.note(format!("{key}={}", value.to_string().trim_matches('"')), shown);
        }
    }

    /// The panel or a key changed how it is drawn.
    pub fn change_of_look(&mut self, before: &Look, after: &Look, shown: &Stats) {
        let [before, after] = [before, after].map(|look| Values::collect(&mut look.clone()));
        for (key, value) in before.changes(&after).0 {
            self.note(format!("{key}={value}"), shown);
        }
    }

    /// Writes the report, if one was asked for.
    pub fn write(
        &mut self,
        (config, look): (&Config, &Look),
        stats: &Stats,
        window: &Window,
        device: &DeviceInfo,
    ) -> Result<()> {
        let Some(output) = self.output.take() else { return Ok(()) };
        let Self { started, first_frame, frames, times, news_times, drawings, events, controls, .. } = self;
        let report = Report {
            frames: *frames,
            seconds: started.elapsed().as_secs_f64(),
            first_frame_seconds: first_frame.map(|time| time.as_secs_f64()),
            frame_ms: Percentiles::of(times.iter().map(|row| row[0])),
            news_ms: Percentiles::of(news_times.iter().map(|row| row[0])),
            upload_ms: Percentiles::of(news_times.iter().map(|row| row[1])),
            draw_ms: Percentiles::of(drawings.iter().copied()),
            // The first interval reaches back to before the window.
            interval_ms: Percentiles::of(times.iter().skip(1).map(|row| row[1])),
            device_busy: stats.device_busy_overall,
            size: window.size(),
            scale: window.scale(),
            renderer: window.renderer(),
            device,
            config: Running::of(config),
            look: Values::collect(&mut look.clone()),
            stats,
            events,
            controls,
        };
        output.save(|file| serde_json::to_writer_pretty(file, &report).map_err(Into::into))
    }
}

impl<'a> Running<'a> {
    fn of(config: &'a Config) -> Self {
        let Config {
            mode,
            start,
            bodies,
            devices,
            seed,
            variant,
            work_group,
            knobs,
            tuned: _,
            steps_per_frame,
            running,
            reverse,
            free_run,
        } = config;
        Self {
            mode: mode.info().name,
            start: &start.name,
            bodies: *bodies,
            devices,
            seed: *seed,
            variant: variant.map(|variant| variant.name),
            work_group: *work_group,
            knobs,
            steps_per_frame: *steps_per_frame,
            running: *running,
            reverse: *reverse,
            free_run: *free_run,
            params: mode.values(),
        }
    }
}

/// A config as one flat list of keys and values.
fn words(config: &Config) -> serde_json::Map<String, serde_json::Value> {
    let mut words = match serde_json::to_value(Running::of(config)) {
        Ok(serde_json::Value::Object(words)) => words,
        _ => serde_json::Map::new(),
    };
    if let Some(serde_json::Value::Object(params)) = words.remove("params") {
        words.extend(params);
    }
    words
}

impl Percentiles {
    fn of(values: impl Iterator<Item = f32>) -> Self {
        let mut sorted: Vec<f32> = values.collect();
        sorted.sort_unstable_by(f32::total_cmp);
        let at = |share: f32| sorted.get(((sorted.len() as f32 - 1.0) * share).round() as usize).copied();
        let at = |share| at(share).unwrap_or_default();
        Self { p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1.0) }
    }
}
