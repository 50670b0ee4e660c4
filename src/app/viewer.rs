//! The viewer: the window, the panel, the tools and the simulation. [`Viewer::frame`] lists the steps of a frame.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crossbeam_channel::Receiver;
use glam::Vec3;
use winit::event::WindowEvent;
use winit::event_loop::{ActiveEventLoop, EventLoopProxy};

use super::appearance::Appearance;
use super::autosave::Autosave;
use super::clock::{Wake, waker};
use super::comparison::Comparison;
use super::exports::Exports;
use super::file_reader::{Content, KernelFolder};
use super::input::Gesture;
use super::options::{Options, ReadCommandLine};
use super::report::Recorder;
use super::rig::FollowTarget;
use super::screen::Screen;
use super::settings::{Preferences, Settings};
use super::simulation::{Simulation, first_device};
use super::timeline::Timeline;
use super::tools::{Request, Surroundings, Tools};
use super::viewpoint::Viewpoint;
use super::window::Window;
use crate::base::{Edit, Look, Result};
use crate::compute::DeviceInfo;
use crate::engine;
use crate::session::{Command, Frame, Notice, Session, WatchList};
use crate::ui::{Model, Output, Ui};

pub(super) struct Viewer {
    /// The simulation that the panel edits.
    pub(super) sim: Simulation,
    /// The comparison with another simulation, if any.
    pub(super) comparison: Option<Comparison>,
    pub(super) viewpoint: Viewpoint,
    pub(super) tools: Tools,
    pub(super) ui: Ui,
    pub(super) autosave: Autosave,
    pub(super) preferences: Preferences,
    pub(super) exports: Exports,
    pub(super) timeline: Timeline,
    /// Next recorded frame to draw for a film of the replay, with the film's number; `None` if no such frame is due.
    pub(super) replayed: Option<(u64, Frame)>,
    /// Receives the content of the file that is being read, if any.
    pub(super) reader: Option<Receiver<Result<Content>>>,
    /// The file that the user opened last.
    pub(super) opening: Option<PathBuf>,
    pub(super) read_command_line: ReadCommandLine,
    pub(super) kernels: Option<KernelFolder>,
    pub(super) recorder: Recorder,
    /// Whether a scene may open with a camera move; see [`Options::may_open_with_move`].
    may_open_with_move: bool,
    pub(super) proxy: EventLoopProxy<Wake>,
    /// The window. This field is last, because the window must be dropped after everything that uses OpenGL.
    pub(super) screen: Screen,
}

impl Viewer {
    /// Starts the simulation and opens the window.
    pub(super) fn new(
        event_loop: &ActiveEventLoop,
        proxy: &EventLoopProxy<Wake>,
        options: Options,
    ) -> Result<Self> {
        let (mut preferences, error) = Preferences::open(options.autosave.is_some());
        let mut autosave = Autosave::new(options.autosave);
        let pool: Vec<DeviceInfo> = options.devices.iter().map(|found| found.info.clone()).collect();
        // The simulation starts first, so that its kernels are built while the window opens.
        let session = Session::spawn_with_preview(options.engine, waker(proxy))?;
        let appearance = Appearance::new(&options.config.start, preferences.own_look(options.look));
        let size = options.size.unwrap_or(preferences.saved.size);
        let window = Window::new(event_loop, size, appearance.look().theme)?;
        let repaint = proxy.clone();
        window.egui().set_request_repaint_callback(move |info| {
            // Sending fails once the event loop has ended.
            let _ = repaint.send_event(info.delay);
        });
        let mut ui = Ui::new(&window.egui());
        ui.records_controls = options.report.is_some();
        options.lesson.into_iter().for_each(|lesson| ui.start_lesson(lesson));
        ui.panel = preferences.saved.panel;
        ui.files.folder.clone_from(&preferences.saved.folder);
        ui.files.recent.clone_from(&preferences.saved.recent);
        let offer = autosave.offer().filter(|_| !options.is_chosen);
        // While the user is offered the previous autosave, no autosave overwrites it.
        if offer.is_none() {
            autosave.start(|| options.view.clone()).into_iter().for_each(|command| session.send(command));
        }
        ui.alerts.toasts.offer = offer;
        error.into_iter().for_each(|error| ui.alerts.error("Could not read the settings", error, None));
        let kernels = options.kernels.map(|folder| KernelFolder::new(folder, waker(proxy))).transpose()?;
        ui.kernels = kernels.as_ref().map(|kernels| kernels.watch.folder.clone());
        Ok(Self {
            sim: Simulation::new(session, pool, options.config),
            comparison: None,
            viewpoint: Viewpoint::new(&options.view, options.resumes),
            tools: Tools::default(),
            ui,
            autosave,
            preferences,
            exports: Exports::default(),
            timeline: Timeline::new(window.is_software)?,
            replayed: None,
            reader: None,
            opening: None,
            read_command_line: options.read_command_line,
            kernels,
            recorder: Recorder::new(options.report, options.started, options.frames),
            may_open_with_move: options.may_open_with_move,
            proxy: proxy.clone(),
            screen: Screen::new(window, appearance)?,
        })
    }

    /// Draws one frame; returns false if the program must exit.
    pub(super) fn frame(&mut self) -> Result<bool> {
        let start = Instant::now();
        let interval = self.screen.clock.begin(start, self.is_active());
        // Wayland does not report the monitor until some time after the first frame.
        if self.recorder.frames.is_power_of_two() {
            self.screen.update_refresh();
        }
        if self.screen.window.is_minimised() {
            return Ok(true);
        }
        self.update_timeline();
        self.replay(interval);
        // The bodies and the camera come first, because the panel draws names over them. In the first frame, the panel has yet
        // to find the area of the picture, which the camera needs.
        match self.recorder.frames {
            0 => self.screen.redraw(),
            _ => self.upload()?,
        }
        self.move_camera(interval);
        let Some((output, stays)) = self.run_panel()? else { return Ok(true) };
        // `output.picture` is the area that the panel does not cover.
        let halves = self.comparison.as_ref().map(|it| [it.active, it.active.other()]);
        let window = &mut self.screen.window;
        window.other = halves.map(|[_, other]| window.pixels(other.of(output.picture)));
        window.picture =
            window.pixels(halves.map_or(output.picture, |[active, _]| active.of(output.picture)));
        let picture = window.picture;
        window.covered = output.covered;
        self.fit_camera();
        let camera = &self.viewpoint.rig.camera;
        let size = [picture.width, picture.height];
        self.sim.show_light(self.screen.view.light_request(camera, size));
        if let Some(Comparison { other, view, .. }) = &mut self.comparison {
            other.show_light(view.light_request(camera, size));
        }
        self.draw(start, &output)?;
        self.recorder.frame(start.elapsed(), interval, &self.screen.stats);
        self.recorder.place(output.controls, self.screen.window.scale());
        Ok(stays && !self.recorder.is_complete())
    }

    /// Handles the simulation's messages, files, kernels, films and autosaves, even while the window is hidden.
    pub(super) fn poll(&mut self) -> Result<()> {
        self.poll_notices()?;
        self.poll_comparison()?;
        self.poll_reader();
        self.poll_kernels();
        self.poll_exports();
        self.draw_replayed()?;
        if self.autosave.due().is_some_and(|due| Instant::now() >= due) {
            let settings = self.settings();
            self.preferences.save(settings);
            let Self { autosave, viewpoint, .. } = self;
            let sim = autosaved(&mut self.sim, &mut self.comparison);
            // While the window is hidden, the frame on the screen is older than the newest frame.
            let newest = &sim.session.newest().stats;
            let commands = autosave.save(newest, || viewpoint.rig.camera.to_words());
            commands.into_iter().for_each(|command| sim.send(command));
        }
        Ok(())
    }

    /// Returns the time at which the event loop must wake up for the next frame or the next autosave.
    pub(super) fn next_wake(&self) -> Instant {
        let frame = self.screen.clock.due;
        self.autosave.due().map_or(frame, |due| frame.min(due))
    }

    /// Runs the panel for each group of input events. Returns the last output and whether the program continues, or
    /// `None` if the panel was not shown.
    fn run_panel(&mut self) -> Result<Option<(Output, bool)>> {
        let mut groups = VecDeque::from(self.screen.window.take_events());
        let mut stays = true;
        loop {
            let Some(mut output) = self.run_pass(groups.pop_front().unwrap_or_default())? else {
                return Ok(None);
            };
            stays &= self.act(std::mem::take(&mut output.actions));
            output.warnings.take().into_iter().for_each(|texts| self.timeline.note_warnings(texts));
            // A gesture that began with another tool is cancelled.
            if self.tools.mouse.is_stale(self.tools.drag_tool(&self.sim.config)) {
                self.cancel_gesture();
            }
            if output.moves_focus {
                // The control must receive the keyboard focus before it handles later key events.
                groups.push_front(Vec::new());
            }
            if groups.is_empty() {
                return Ok(Some((output, stays)));
            }
        }
    }

    /// Runs the panel with one group of events, and applies the user's changes; returns the panel's output, if any.
    fn run_pass(&mut self, events: Vec<egui::Event>) -> Result<Option<Output>> {
        let before = (self.sim.config.clone(), self.screen.look.clone());
        self.update_attractor();
        let Some(output) = self.show_panel(events) else { return Ok(None) };
        self.screen.window.present(self.ui.presents);
        // egui also handles a press just outside the edge of a panel or a window; it must not begin a gesture.
        if self.tools.mouse.drag.is_some() && self.screen.window.egui().is_using_pointer() {
            self.cancel_gesture();
        }
        self.configure(&before.0);
        self.screen.appearance.follow(&self.sim.config.start, &mut self.screen.look);
        self.apply_look(&before.1)?;
        self.tools.brush = output.brush;
        if before.0.mode.info() != self.sim.config.mode.info() {
            self.cancel_gesture();
        }
        let watched = self.ui.watched();
        self.sim.watch(WatchList { restore_points: self.timeline.limit > 0, ..watched });
        let cells = self.screen.look.cells_for(None).map(|request| request.depth);
        self.sim.show_cells(cells);
        if let Some(Comparison { other, .. }) = &mut self.comparison {
            other.watch(WatchList { energy: watched.energy, ..WatchList::default() });
            other.show_cells(cells);
        }
        Ok(Some(output))
    }

    /// Shows the panel, which edits the config, the look and the tools in place.
    fn show_panel(&mut self, events: Vec<egui::Event>) -> Option<Output> {
        let camera = &self.viewpoint.rig.camera;
        let (heights_per_unit, grid_spacing) = (camera.heights_per_unit(), camera.grid_spacing());
        let mut markers = self.tools.markers(camera, self.sim.shown.selected.as_ref());
        let Frame { points, stats, .. } = self.sim.current();
        let view = (camera, self.screen.window.aspect());
        markers.captions = self.tools.named.captions(&self.screen.look, view, points, stats);
        let sees_bodies = self.viewpoint.visibility.sees_any(camera, view.1, points);
        let compared = self.comparison.as_ref().map(Comparison::shown);
        let Self { sim: Simulation { pool, config, shown, .. }, screen, tools, ui, timeline, .. } = self;
        let Screen { look, stats, window, view, .. } = screen;
        let device = first_device(pool, config);
        let recipe = engine::Resolved::new(config, device).ok().map(|resolved| resolved.recipe);
        let max_bodies = engine::max_bodies(device, config);
        window.run_ui(events, |ctx| {
            let model = Model {
                config,
                look,
                tools: &mut tools.settings,
                markers: &markers,
                stats: shown,
                device,
                pool,
                timeline: &timeline.shown,
                window: *stats,
                max_bodies,
                recipe,
                heights_per_unit,
                grid_spacing,
                sees_bodies,
                heaviest: tools.named.heaviest(),
                compared,
                value_range: view.value_range(),
            };
            ui.show(ctx, model)
        })
    }

    /// Records the appearance settings that differ from `before`, and applies the current settings to the picture.
    fn apply_look(&mut self, before: &Look) -> Result<()> {
        let Screen { look, view, window, .. } = &mut self.screen;
        window.set_theme(look.theme);
        if look != before {
            self.recorder.change_of_look(before, look, &self.sim.shown);
        }
        // Switching on `keep_in_view` applies to the current view, even if the user has moved the camera.
        self.viewpoint.rig.is_users &= before.keep_in_view || !look.keep_in_view;
        if let Some(comparison) = &mut self.comparison {
            comparison.view.set_look(look)?;
        }
        view.set_look(look)
    }

    /// If a new frame has arrived, uploads its bodies to OpenGL, and moves the camera if the frame shows a new scene.
    fn upload(&mut self) -> Result<()> {
        let Self { sim, comparison, viewpoint, screen, timeline, .. } = self;
        let viewport = screen.window.viewport();
        let is_recorded = sim.past.is_none() && comparison.is_none();
        let shows = comparison.as_mut().map(|comparison| comparison.keep_in_step(sim));
        let (frame, shown, is_new) = match shows {
            None => sim.frame(),
            Some(shows) => sim.found_frame(shows),
        };
        if is_new && is_recorded && frame.stats.has_started() {
            timeline.take(frame);
        }
        let scene = &frame.stats.config.start;
        let is_other_scene = (shown.mode, shown.generation) != (frame.stats.mode, frame.stats.generation);
        viewpoint.opens_with_move = self.may_open_with_move && screen.look.opening_move;
        if viewpoint.frame_scene((frame, scene), shown, viewport) {
            if is_other_scene {
                screen.view.reset_history();
            }
            screen.redraw();
        }
        if screen.look.follow {
            viewpoint.update_centre(&frame.points, is_new);
        }
        viewpoint.update_kept(&frame.points, is_new, (screen.look.keep_in_view, viewport));
        if is_new {
            let start = Instant::now();
            // Undoing or redoing an edit moves the bodies at once, without leaving a trail.
            let is_redone = frame.stats.undos > shown.undos && frame.stats.edits == shown.edits;
            if frame.stats.undos < shown.undos || is_redone {
                screen.view.reset_history();
            }
            screen.view.upload(&frame.points, frame.value_range)?;
            sim.shown = sim.current().stats.clone();
            screen.stats.upload_ms = start.elapsed().as_secs_f64() * 1e3;
            self.recorder.new_bodies();
            self.tools.follow_when_selected(&self.sim.shown);
            if is_other_scene {
                self.cancel_gesture();
                self.tools.follows_next = None;
            }
            self.tools.bodies_changed(self.sim.scene().1);
        }
        if let Some(comparison) = self.comparison.as_mut().filter(|_| shows == Some(true)) {
            comparison.upload(&mut self.sim)?;
        }
        if self.screen.lost_trails() {
            self.ui.alerts.say("Trails are off, because there are too many bodies");
        }
        Ok(())
    }

    /// Adapts the camera to the area of the picture. Never moves the camera during a drag or a film.
    fn fit_camera(&mut self) {
        let is_held = self.tools.mouse.drag.is_some() || self.exports.film.is_some();
        let Self { sim, viewpoint, screen, .. } = self;
        if viewpoint.fit(screen.window.viewport(), sim.scene().1, is_held) {
            screen.redraw();
        }
    }

    /// Returns whether the camera rotates automatically. The camera never rotates in a flat scene.
    pub(super) fn turns(&self) -> bool {
        self.screen.look.turn && self.sim.config.mode.info().work.orbit.is_ok()
    }

    /// Advances the camera's motion. Does nothing during a film, because `draw_shot` then moves the camera.
    fn move_camera(&mut self, interval: Duration) {
        let body = self.tools.settings.follows.then(|| self.selected_position());
        let (target, look) = (self.follow_target(), &self.screen.look);
        if self.exports.film.is_none()
            && self.viewpoint.tick(interval, self.turns(), target, (body, look.follow))
        {
            self.screen.redraw();
        }
    }

    /// Draws the picture and the panel, and shows the frame.
    fn draw(&mut self, start: Instant, output: &Output) -> Result<()> {
        let Screen { view, window, stats, clock, .. } = &mut self.screen;
        let (camera, recorder) = (&self.viewpoint.rig.camera, &mut self.recorder);
        let hidden = output.hidden.map(|rect| window.pixels(rect));
        let (area, places) = (window.picture, (Some(window.picture), hidden));
        let (context, is_paused) = (window.context().clone(), !self.sim.config.running);
        let begun = start.elapsed();
        let mut other = self.comparison.as_mut().map(|comparison| &mut comparison.view).zip(window.other);
        let mut picture = |surface: &mut glium::Frame| {
            view.draw_beside(surface, camera, places)?;
            other
                .iter_mut()
                .try_for_each(|(view, area)| view.draw_beside(surface, camera, (Some(*area), hidden)))
        };
        window.draw(|surface| recorder.drawing(&context, is_paused, || picture(surface)), stats)?;
        stats.fps = clock.fps();
        stats.frame_ms = start.elapsed().as_secs_f64() * 1e3;
        let changed = clock.made(begun + Duration::from_secs_f64(stats.draw_ms * 1e-3));
        // Drawing is slower while kernels are being compiled, so the frames drawn then do not count.
        let generation = if self.sim.shown.has_started() { self.sim.shown.generation } else { 0 };
        let omits_auto_bloom = self.screen.update_auto_bloom(generation, [area.width, area.height]);
        if let Some(comparison) = &mut self.comparison {
            comparison.view.omit_auto_bloom(omits_auto_bloom);
        }
        if let Some(interval) = changed {
            let is_software = self.screen.window.is_software;
            self.send_to_all(|| Command::SetFrameInterval { interval, is_software });
            if let Some(comparison) = &mut self.comparison {
                comparison.picture = interval;
            }
        }
        Ok(())
    }

    /// Passes a window event first to the panel, then to the camera and the mouse tools.
    pub(super) fn input(&mut self, event: &WindowEvent) {
        if let WindowEvent::Resized(size) = event {
            self.screen.window.resize(*size);
            self.recorder.note(format!("size={}x{}", size.width, size.height), &self.sim.shown);
        }
        if matches!(event, WindowEvent::Moved(_) | WindowEvent::ScaleFactorChanged { .. }) {
            self.screen.update_refresh();
        }
        let response = self.screen.window.on_event(event);
        self.screen.window.note_pointer(self.tools.mouse.drag.is_some());
        let tool = self.tools.drag_tool(&self.sim.config);
        let Self { screen, tools, viewpoint, .. } = self;
        let place = |at| screen.window.off_centre(at);
        let moved = tools.mouse.on_event(event, response.consumed, place, (&mut viewpoint.rig, tool));
        // Panning stops following.
        screen.look.follow &= !tools.mouse.pans();
        tools.settings.follows &= !tools.mouse.pans();
        self.apply_gestures();
        if response.repaint || moved {
            self.screen.redraw();
        }
    }

    /// Applies pending mouse gestures and brush strokes.
    fn apply_gestures(&mut self) {
        if self.sim.past.is_some() {
            // Gestures over a past moment refer to bodies whose indices and positions differ from the live ones.
            self.tools.mouse.gestures.clear();
            self.tools.mouse.strokes.clear();
        }
        for gesture in std::mem::take(&mut self.tools.mouse.gestures) {
            if matches!(gesture, Gesture::Click(_)) && self.screen.window.points_at_other() {
                self.edit_other();
                continue;
            }
            let (config, points) = self.sim.scene();
            let camera = &self.viewpoint.rig.camera;
            let request = self.tools.apply(gesture, &Surroundings { camera, config, points });
            match request {
                Some(Request::Select(body)) => self.select(body),
                Some(Request::StartAttractor { .. }) if self.refuses_edits() => self.cancel_gesture(),
                Some(Request::StartAttractor { repels }) => {
                    self.recorder.note(format!("pull={}", !repels), &self.sim.shown);
                }
                Some(Request::Launch(launch)) => {
                    let kind = if launch.cluster.is_some() { "cluster" } else { "body" };
                    if self.edit(Edit::Launch(launch)) {
                        self.recorder.note(format!("launch={kind}"), &self.sim.shown);
                    }
                    self.cancel_gesture();
                }
                Some(Request::Cancel) => self.cancel_gesture(),
                None => {}
            }
        }
        for stroke in std::mem::take(&mut self.tools.mouse.strokes) {
            if !self.must_wait() && !self.refuses_edits() {
                self.recorder.note(format!("paint={}", stroke.solid), &self.sim.shown);
                self.sim.send(Command::Paint(stroke));
            }
        }
    }

    /// Predicts the path of the launch being aimed, and tells the simulation where the attractor is.
    fn update_attractor(&mut self) {
        let (config, points) = self.sim.scene();
        let camera = &self.viewpoint.rig.camera;
        let Some(attractor) = self.tools.update(&Surroundings { camera, config, points }) else { return };
        if !self.must_wait() {
            self.start_autosave();
            self.sim.send(Command::Attract(Some(attractor)));
        }
    }

    /// Starts autosaving, unless it has already started.
    pub(super) fn start_autosave(&mut self) {
        let Self { autosave, viewpoint, .. } = self;
        let sim = autosaved(&mut self.sim, &mut self.comparison);
        autosave.start(|| viewpoint.text()).into_iter().for_each(|command| sim.send(command));
    }

    fn settings(&mut self) -> Settings {
        let Screen { look, appearance, .. } = &mut self.screen;
        appearance.note(look);
        let look = self.preferences.look(&appearance.own);
        let (folder, recent) = (self.ui.files.folder.clone(), self.ui.files.recent.clone());
        let (size, panel) = (self.screen.window.logical_size(), self.ui.panel);
        Settings { size, panel, folder, recent, look, ..self.preferences.saved.clone() }
    }

    /// Returns whether the displayed numbers may change without any input, for example while the simulation runs.
    fn is_active(&self) -> bool {
        let is_busy = self.exports.film.is_some() || self.reader.is_some();
        self.timeline.shown.plays
            || self.sim.config.running
            || is_busy
            || self.sim.shown.goal.is_some()
            || self.recorder.limit.is_some()
    }

    fn selected_position(&self) -> Option<Vec3> {
        self.sim.shown.selected.map(|selected| selected.position.into())
    }

    /// Returns the target for a camera that follows something: the selected body or the centre of mass.
    pub(super) fn follow_target(&self) -> FollowTarget {
        let shown = &self.sim.shown;
        let body = shown.selected.map(|selected| selected.body).filter(|_| self.tools.settings.follows);
        FollowTarget { mode: shown.mode, generation: shown.generation, body }
    }

    /// Ends the simulation, finishes saving settings, snapshots, pictures and films, and writes the report.
    pub(super) fn close(mut self) -> Result<()> {
        let settings = self.settings();
        self.preferences.save(settings);
        let Self { sim, comparison, screen, recorder, timeline, .. } = &mut self;
        let reported = {
            let shown = (&sim.shown, timeline.report(), comparison.as_ref().map(Comparison::shown));
            recorder.write((&sim.config, &screen.look), shown, &screen.window, sim.device())
        };
        self.end_film(true);
        let mut saved = Ok(());
        // The compared simulation may hold the device that the active simulation waits for.
        self.comparison = None;
        // Before the worker ends, it delivers all requested pictures.
        self.sim.session.end(Some(self.viewpoint.rig.camera.to_words()));
        for notice in self.sim.session.notices() {
            let outcome = match notice {
                Notice::SnapshotSaved { is_asked_for: true, outcome, .. } => outcome,
                Notice::Captured(capture) => self.draw_capture(*capture),
                _ => Ok(()),
            };
            saved = saved.and(outcome);
        }
        saved.and(self.exports.join()).and(reported).and(self.sim.failure.map_or(Ok(()), Err))
    }
}

/// Returns the simulation to autosave: if two are compared, the one from which the comparison began.
fn autosaved<'a>(sim: &'a mut Simulation, comparison: &'a mut Option<Comparison>) -> &'a mut Simulation {
    match comparison {
        Some(comparison) if !comparison.has_original => &mut comparison.other,
        _ => sim,
    }
}
