//! History of measured quantities since the scene began, thinned out to a limited number of rows.

use std::io::{self, Write};

use glam::DVec3;

use super::model::WindowStats;
use crate::modes::{self, Diagnostics};
use crate::session::Stats;

/// Maximum number of rows in the history, chosen to exceed the width of a plot in pixels.
const MOST: usize = 2048;
/// Initial interval between rows of the history, in seconds.
const INTERVAL: f64 = 0.1;

/// A measured quantity that the Plots window shows.
#[derive(Debug)]
pub(super) struct Quantity {
    /// Column header in CSV files.
    pub key: &'static str,
    pub label: &'static str,
    /// Whether this quantity shares a plot with the preceding quantity.
    pub joins: bool,
    pub help: &'static str,
    value: fn(&Stats, &WindowStats) -> Option<f64>,
}

/// Help text for the energy drift.
pub(super) const ENERGY_HELP: &str = "Relative change of the total energy since the scene began, or since a parameter or a body was last changed; 0 means that energy is conserved";
/// Help text for the momentum, without a final full stop.
pub(super) const MOMENTUM_HELP: &str = "Total momentum as a share of its maximum, |Σ m·v| / Σ m·|v|: 0 if the motions of the bodies cancel out, 1 if all bodies move in the same direction";

/// Number of entries at the start of [`QUANTITIES`] that come from [`Stats::diagnostics`]. These quantities are not
/// measured in every frame.
const DIAGNOSTICS: usize = 7;

/// All plotted quantities, in the order of the plots.
pub(super) static QUANTITIES: [Quantity; 9] = [
    Quantity {
        key: "energy_drift",
        label: "Energy drift",
        joins: false,
        help: ENERGY_HELP,
        value: |stats, _| stats.energy_drift,
    },
    Quantity {
        key: "kinetic_energy",
        label: "Kinetic energy",
        joins: false,
        help: "Sum of ½ m v² over all bodies, in scene units",
        value: |stats, _| Some(with_momentum(stats)?.kinetic),
    },
    Quantity {
        key: "potential_energy",
        label: "Potential energy",
        joins: true,
        help: "Potential energy of all pairs of bodies, or of bodies in the field of a planet, in scene units",
        value: |stats, _| Some(with_momentum(stats)?.potential).filter(|potential| *potential != 0.0),
    },
    Quantity {
        key: "virial_ratio",
        label: "2T / |V|",
        joins: false,
        help: "Virial ratio: twice the kinetic energy divided by the magnitude of the potential energy; 1 in equilibrium",
        value: |stats, _| reading(stats, "virial_ratio"),
    },
    Quantity {
        key: "momentum",
        label: "Momentum",
        joins: false,
        help: MOMENTUM_HELP,
        value: |stats, _| momentum_share(stats),
    },
    Quantity {
        key: "angular_momentum",
        label: "Angular momentum",
        joins: false,
        help: "Total angular momentum about the origin, |Σ m·x×v|, in scene units",
        value: |stats, _| Some(DVec3::from(with_momentum(stats)?.angular_momentum).length()),
    },
    Quantity {
        key: "reynolds",
        label: "Reynolds number",
        joins: false,
        help: "Reynolds number of the flow: mean speed × length of the scene / viscosity",
        value: |stats, _| reading(stats, "reynolds"),
    },
    Quantity {
        key: "steps_per_second",
        label: "Steps per second",
        joins: false,
        help: "Simulation steps per second of real time",
        value: |stats, _| (stats.steps_per_second > 0.0).then_some(stats.steps_per_second),
    },
    Quantity {
        key: "frame_ms",
        label: "Frame time, ms",
        joins: false,
        help: "Time to prepare and draw a frame in the window",
        value: |_, window| (window.frame_ms > 0.0).then_some(window.frame_ms),
    },
];

fn reading(stats: &Stats, key: &str) -> Option<f64> {
    stats.diagnostics.as_ref()?.readings.iter().find(|reading| reading.key == key).map(|it| it.value)
}

fn with_momentum(stats: &Stats) -> Option<&Diagnostics> {
    let shows_momentum = modes::find(stats.mode)?.work.shows_momentum;
    stats.diagnostics.as_ref().filter(|_| shows_momentum)
}

/// Returns the total momentum as a share of its maximum, |Σ m·v| / Σ m·|v|, or `None` if it is unknown or nothing moves.
pub(super) fn momentum_share(stats: &Stats) -> Option<f64> {
    let sums = with_momentum(stats)?;
    (sums.momentum_scale > 0.0).then(|| DVec3::from(sums.momentum).length() / sums.momentum_scale)
}

/// Values of all plotted quantities at one moment.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    /// Wall-clock time since the first row, in seconds.
    seconds: f64,
    step: u64,
    /// Simulated time, in scene units.
    time: f64,
    values: [Option<f64>; QUANTITIES.len()],
}

/// Values of all measured quantities, recorded since the scene was last started.
#[derive(Debug, Default)]
pub struct History {
    /// Mode and generation (see [`Stats::generation`]) of the recorded scene.
    pub(super) scene: (&'static str, u64),
    rows: Vec<Row>,
    /// Time of the first recorded row, in seconds of egui's clock.
    start: f64,
    /// Interval between recorded rows, in seconds.
    interval: f64,
    /// Time at which the next row is due, in seconds of egui's clock.
    next: f64,
    /// The most recently recorded diagnostics, kept so that each measurement is recorded only once.
    recorded: Option<Diagnostics>,
}

impl History {
    /// Records all quantities at time `now`, in seconds, if the simulation has advanced and the next row is due.
    pub(super) fn update(&mut self, now: f64, stats: &Stats, window: &WindowStats) {
        if !stats.has_started() {
            return;
        }
        let scene = (stats.mode, stats.generation);
        if self.scene != scene {
            *self = Self { scene, start: now, interval: INTERVAL, ..Self::default() };
        }
        // Undoing and rewinding return to an earlier step, so later rows no longer apply.
        self.rows.retain(|row| row.step <= stats.step);
        let stands_still = self.rows.last().is_some_and(|row| stats.step == row.step);
        if stands_still || now < self.next {
            return;
        }
        self.next = now + self.interval;
        let is_new = stats.diagnostics != self.recorded;
        if is_new {
            self.recorded.clone_from(&stats.diagnostics);
        }
        let values = std::array::from_fn(|nth| {
            let counts = is_new || nth >= DIAGNOSTICS;
            (QUANTITIES[nth].value)(stats, window).filter(|value| counts && value.is_finite())
        });
        self.rows.push(Row { seconds: now - self.start, step: stats.step, time: stats.time, values });
        if self.rows.len() == MOST {
            self.thin();
        }
    }

    /// Halves the number of rows by merging pairs: keeps each later row, and fills its unknown values from the earlier
    /// row.
    fn thin(&mut self) {
        let halves = self.rows.chunks(2).map(|pair| {
            let mut row = pair[pair.len() - 1].clone();
            for (value, earlier) in row.values.iter_mut().zip(pair[0].values) {
                *value = value.or(earlier);
            }
            row
        });
        self.rows = halves.collect();
        self.interval *= 2.0;
    }

    /// Returns the recorded points (simulated time, value) of the quantity at index `nth` in [`QUANTITIES`].
    pub(super) fn points(&self, nth: usize) -> Vec<[f64; 2]> {
        self.rows.iter().filter_map(|row| Some([row.time, row.values[nth]?])).collect()
    }

    /// Returns the simulated times of the first and last recorded rows, or zeros if there are no rows.
    pub(super) fn times(&self) -> [f64; 2] {
        [self.rows.first(), self.rows.last()].map(|row| row.map_or(0.0, |row| row.time))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Writes the recorded rows as CSV, leaving the fields of unknown values empty.
    ///
    /// # Errors
    /// Returns an error if `file` cannot be written.
    pub fn write_csv(&self, file: &mut dyn Write) -> io::Result<()> {
        let keys: Vec<&str> = QUANTITIES.iter().map(|quantity| quantity.key).collect();
        writeln!(file, "seconds,step,time,{}", keys.join(","))?;
        for Row { seconds, step, time, values } in &self.rows {
            let values: Vec<String> =
                values.iter().map(|value| value.map(|it| it.to_string()).unwrap_or_default()).collect();
            writeln!(file, "{seconds:.3},{step},{time},{}", values.join(","))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(step: u64) -> Stats {
        Stats {
            mode: "gravity",
            generation: 1,
            step,
            time: step as f64 * 0.5,
            bodies: 2,
            steps_per_second: 100.0 + step as f64,
            ..Stats::default()
        }
    }

    #[test]
    fn a_long_run_has_bounded_size_and_spans_all_steps() {
        let mut history = History::default();
        for step in 0..20_000 {
            history.update(step as f64 * 0.2, &at(step), &WindowStats::default());
        }
        let points = history.points(7);
        assert!((500..MOST).contains(&points.len()), "{}", points.len());
        assert!(points[0][0] < 20.0 && points[points.len() - 1][0] > 9_900.0);
        assert!(points.iter().all(|[time, rate]| *rate == 100.0 + time / 0.5));
    }

    #[test]
    fn a_paused_run_adds_no_rows_and_another_scene_starts_a_new_history() {
        let mut history = History::default();
        for (now, step) in [(0.0, 3), (1.0, 3), (2.0, 4), (2.01, 5)] {
            history.update(now, &at(step), &WindowStats::default());
        }
        assert_eq!(history.rows.iter().map(|row| row.step).collect::<Vec<_>>(), [3, 4]);
        history.update(3.0, &Stats { generation: 2, ..at(9) }, &WindowStats::default());
        assert_eq!(history.rows.len(), 1);
        history.update(4.0, &Stats { generation: 2, ..at(1) }, &WindowStats::default());
        assert_eq!(history.rows[0].step, 1, "time went backwards");
    }

    #[test]
    fn each_measurement_is_recorded_once_and_csv_rows_are_complete() {
        let mut history = History::default();
        let sums = |kinetic| Diagnostics {
            kinetic,
            potential: -3.0,
            momentum: [3.0, 4.0, 0.0],
            momentum_scale: 10.0,
            angular_momentum: [0.0, 0.0, -2.0],
            ..Diagnostics::default()
        };
        for (step, kinetic) in [(1, 1.0), (2, 1.0), (3, 2.0)] {
            let stats = Stats { diagnostics: Some(sums(kinetic)), energy_drift: Some(0.25), ..at(step) };
            history.update(step as f64, &stats, &WindowStats { frame_ms: 4.0, ..WindowStats::default() });
        }
        assert_eq!(history.points(0), [[0.5, 0.25], [1.5, 0.25]]);
        assert_eq!(history.points(4)[0], [0.5, 0.5]);
        assert_eq!(history.points(5)[0], [0.5, 2.0]);
        let mut file = Vec::new();
        history.write_csv(&mut file).unwrap();
        let text = String::from_utf8(file).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0].split(',').count(), 3 + QUANTITIES.len());
        assert_eq!(lines[1], "0.000,1,0.5,0.25,1,-3,,0.5,2,,101,4");
        assert_eq!(lines[2], "1.000,2,1,,,,,,,,102,4");
        assert_eq!(lines.len(), 4);
    }
}
