//! How numbers went since the scene began: taken from what is told for the overlay anyway, and thinned out, so that a long
//! run takes no more room than a short one.

use std::io::{self, Write};

use super::WindowStats;
use crate::modes::{self, Diagnostics};
use crate::session::Stats;
use crate::state::Matter;

/// The most rows that are kept: more than a plot has pixels.
const MOST: usize = 2048;
/// Between one row and the next, in seconds, as long as there are few.
const EVERY: f64 = 0.1;

/// Something that is plotted.
#[derive(Debug)]
pub(super) struct Quantity {
    /// Its column in a file.
    pub key: &'static str,
    pub label: &'static str,
    pub help: &'static str,
    of: fn(&Stats, &WindowStats) -> Option<f64>,
    /// Whether it is told only once in a while.
    is_measured: bool,
}

/// All of them, in the order of the plots.
pub(super) static QUANTITIES: [Quantity; 7] = [
    Quantity {
        key: "energy_drift",
        label: "Energy drift",
        help: "relative change of the total energy since the scene began, or a parameter or a body was last changed; 0 is perfect",
        of: |stats, _| stats.energy_drift,
        is_measured: true,
    },
    Quantity {
        key: "virial_ratio",
        label: "2T / |V|",
        help: "twice the kinetic over the potential energy: 1 in balance",
        of: |stats, _| reading(stats, "virial_ratio"),
        is_measured: true,
    },
    Quantity {
        key: "momentum",
        label: "Momentum",
        help: "|Σ m·v| / Σ m·|v|: how much of the motion all bodies share",
        of: |stats, _| {
            let sums = of_bodies(stats)?;
            (sums.momentum_scale > 0.0).then(|| length(sums.momentum) / sums.momentum_scale)
        },
        is_measured: true,
    },
    Quantity {
        key: "angular_momentum",
        label: "Angular momentum",
        help: "|Σ m·x×v| about the origin",
        of: |stats, _| Some(length(of_bodies(stats)?.angular_momentum)),
        is_measured: true,
    },
    Quantity {
        key: "reynolds",
        label: "Reynolds number",
        help: "mean speed × the scene's length over the viscosity",
        of: |stats, _| reading(stats, "reynolds"),
        is_measured: true,
    },
    Quantity {
        key: "steps_per_second",
        label: "Steps a second",
        help: "by the clock on the wall",
        of: |stats, _| (stats.steps_per_second > 0.0).then_some(stats.steps_per_second),
        is_measured: false,
    },
    Quantity {
        key: "frame_ms",
        label: "Frame, ms",
        help: "how long this window is busy with a picture",
        of: |_, window| (window.frame_ms > 0.0).then_some(window.frame_ms),
        is_measured: false,
    },
];

fn reading(stats: &Stats, key: &str) -> Option<f64> {
    stats.diagnostics.as_ref()?.readings.iter().find(|reading| reading.key == key).map(|it| it.value)
}

fn of_bodies(stats: &Stats) -> Option<&Diagnostics> {
    let is_of_bodies = modes::find(stats.mode)?.work.matter == Matter::Bodies;
    stats.diagnostics.as_ref().filter(|_| is_of_bodies)
}

fn length(v: [f64; 3]) -> f64 {
    v.iter().map(|c| c * c).sum::<f64>().sqrt()
}

/// One moment.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    /// Of the clock on the wall, since the first row.
    seconds: f64,
    step: u64,
    /// Simulated.
    time: f64,
    values: [Option<f64>; QUANTITIES.len()],
}

/// The rows of one seeding of a scene.
#[derive(Debug, Default)]
pub(super) struct History {
    scene: (&'static str, u64),
    rows: Vec<Row>,
    /// When the first row was taken, and between one row and the next, in seconds.
    start: f64,
    every: f64,
    next: f64,
    /// What was measured last: it is told again and again, and counts once.
    measured: Option<Diagnostics>,
}

impl History {
    /// Takes in how it goes at `now`, in seconds, if it goes on and it is time.
    pub fn note(&mut self, now: f64, stats: &Stats, window: &WindowStats) {
        let scene = (stats.mode, stats.generation);
        if self.scene != scene {
            *self = Self { scene, start: now, every: EVERY, ..Self::default() };
        }
        // What time went back over has not happened.
        self.rows.retain(|row| row.step <= stats.step);
        let stands_still = self.rows.last().is_some_and(|row| stats.step == row.step);
        if stats.bodies == 0 || stands_still || now < self.next {
            return;
        }
        self.next = now + self.every;
        let is_new = stats.diagnostics != self.measured;
        if is_new {
            self.measured.clone_from(&stats.diagnostics);
        }
        let value = |quantity: &Quantity| {
            let counts = is_new || !quantity.is_measured;
            (quantity.of)(stats, window).filter(|value| counts && value.is_finite())
        };
        let values = std::array::from_fn(|nth| value(&QUANTITIES[nth]));
        self.rows.push(Row { seconds: now - self.start, step: stats.step, time: stats.time, values });
        if self.rows.len() == MOST {
            self.thin();
        }
    }

    /// Leaves out every other row, but for what was measured then.
    fn thin(&mut self) {
        let halves = self.rows.chunks(2).map(|pair| {
            let mut row = pair[pair.len() - 1].clone();
            for (value, earlier) in row.values.iter_mut().zip(pair[0].values) {
                *value = value.or(earlier);
            }
            row
        });
        self.rows = halves.collect();
        self.every *= 2.0;
    }

    /// Simulated times and values of the quantity at this place in [`QUANTITIES`].
    pub fn points(&self, nth: usize) -> Vec<[f64; 2]> {
        self.rows.iter().filter_map(|row| Some([row.time, row.values[nth]?])).collect()
    }

    /// The simulated times of the first and the last row.
    pub fn times(&self) -> [f64; 2] {
        [self.rows.first(), self.rows.last()].map(|row| row.map_or(0.0, |row| row.time))
    }

    /// Of which mode and seeding it is.
    pub fn scene(&self) -> (&'static str, u64) {
        self.scene
    }

    /// Whether there is nothing yet.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Writes a line for each row; where there is no number the field is empty.
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
    fn a_long_run_stays_short_and_spans_all() {
        let mut history = History::default();
        for step in 0..20_000 {
            history.note(step as f64 * 0.2, &at(step), &WindowStats::default());
        }
        let points = history.points(5);
        assert!((500..MOST).contains(&points.len()), "{}", points.len());
        assert!(points[0][0] < 20.0 && points[points.len() - 1][0] > 9_900.0);
        assert!(points.iter().all(|[time, rate]| *rate == 100.0 + time / 0.5));
    }

    #[test]
    fn what_stands_still_is_told_once_and_another_scene_begins_anew() {
        let mut history = History::default();
        for (now, step) in [(0.0, 3), (1.0, 3), (2.0, 4), (2.01, 5)] {
            history.note(now, &at(step), &WindowStats::default());
        }
        assert_eq!(history.rows.iter().map(|row| row.step).collect::<Vec<_>>(), [3, 4]);
        history.note(3.0, &Stats { generation: 2, ..at(9) }, &WindowStats::default());
        assert_eq!(history.rows.len(), 1);
        history.note(4.0, &Stats { generation: 2, ..at(1) }, &WindowStats::default());
        assert_eq!(history.rows[0].step, 1, "time went backwards");
    }

    #[test]
    fn what_was_measured_counts_once_and_lines_of_the_file_are_whole() {
        let mut history = History::default();
        let sums = |kinetic| Diagnostics {
            kinetic,
            momentum: [3.0, 4.0, 0.0],
            momentum_scale: 10.0,
            angular_momentum: [0.0, 0.0, -2.0],
            ..Diagnostics::default()
        };
        for (step, kinetic) in [(1, 1.0), (2, 1.0), (3, 2.0)] {
            let stats = Stats { diagnostics: Some(sums(kinetic)), energy_drift: Some(0.25), ..at(step) };
            history.note(step as f64, &stats, &WindowStats { frame_ms: 4.0, ..WindowStats::default() });
        }
        assert_eq!(history.points(0), [[0.5, 0.25], [1.5, 0.25]]);
        assert_eq!(history.points(2)[0], [0.5, 0.5]);
        assert_eq!(history.points(3)[0], [0.5, 2.0]);
        let mut file = Vec::new();
        history.write_csv(&mut file).unwrap();
        let text = String::from_utf8(file).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0].split(',').count(), 3 + QUANTITIES.len());
        assert_eq!(lines[1], "0.000,1,0.5,0.25,,0.5,2,,101,4");
        assert_eq!(lines[2], "1.000,2,1,,,,,,102,4");
        assert_eq!(lines.len(), 4);
    }
}
