//! History of a quantity that a mode records in each step, such as the mean speed. A long history is thinned out.

use std::collections::HashMap;

/// Maximum number of points in a series, enough for a plot. When a series reaches this number, it drops every other
/// point.
const MOST: usize = 512;

/// The points that were recorded in one run of a scene.
#[derive(Debug, Default)]
struct Series {
    generation: u64,
    /// Step number and value of each recorded point.
    points: Vec<[f64; 2]>,
    /// Number of steps between two recorded points of the series.
    every: u64,
    /// Earliest step at which the next point may be added.
    next: u64,
}

/// The recorded points of each mode, keyed by the mode's name.
#[derive(Debug, Default)]
pub(super) struct History(HashMap<&'static str, Series>);

impl History {
    /// Adds `values`, one for each of the last steps up to `step`, to the history of a mode.
    pub(super) fn note(&mut self, mode: &'static str, generation: u64, step: u64, values: &[f32]) {
        if values.is_empty() {
            return;
        }
        let series = self.0.entry(mode).or_default();
        if series.generation != generation {
            *series = Series { generation, every: 1, ..Series::default() };
        }
        let first = (step + 1).saturating_sub(values.len() as u64);
        for (nth, value) in (first..).zip(values) {
            series.note(nth, f64::from(*value));
        }
    }

    /// Removes the points of a mode that were recorded after `step`.
    pub(super) fn go_back(&mut self, mode: &str, step: u64) {
        if let Some(series) = self.0.get_mut(mode) {
            series.points.retain(|[at, _]| *at <= step as f64);
            series.next = series.next.min(step + 1);
        }
    }

    /// Returns the step and value of each point that a mode recorded in the run with the number `generation`.
    pub(super) fn points(&self, mode: &str, generation: u64) -> Vec<[f64; 2]> {
        let series = self.0.get(mode).filter(|series| series.generation == generation);
        series.map(|series| series.points.clone()).unwrap_or_default()
    }
}

impl Series {
    fn note(&mut self, step: u64, value: f64) {
        if step < self.next || !value.is_finite() {
            return;
        }
        self.points.push([step as f64, value]);
        if self.points.len() == MOST {
            self.points = self.points.iter().step_by(2).copied().collect();
            self.every *= 2;
        }
        self.next = step + self.every;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_series_has_bounded_size_and_spans_all_steps() {
        let mut history = History::default();
        let values: Vec<f32> = (1..=10_000).map(|step| step as f32).collect();
        for (nth, burst) in values.chunks(37).enumerate() {
            history.note("mode", 1, (nth * 37 + burst.len()) as u64, burst);
        }
        let points = history.points("mode", 1);
        assert!((MOST / 2..MOST).contains(&points.len()), "{}", points.len());
        assert!(points.iter().all(|[step, value]| step == value) && points[0][0] == 1.0);
        assert!(points.is_sorted_by(|a, b| a[0] < b[0]) && points[points.len() - 1][0] > 9_900.0);
    }

    #[test]
    fn reseeding_clears_the_series_of_a_mode_and_modes_have_separate_series() {
        let mut history = History::default();
        history.note("a", 1, 2, &[0.5, f32::NAN]);
        history.note("b", 2, 1, &[7.0]);
        assert_eq!(history.points("a", 1), [[1.0, 0.5]]);
        history.note("a", 3, 1, &[0.25]);
        assert_eq!((history.points("a", 1), history.points("a", 3)), (vec![], vec![[1.0, 0.25]]));
        assert_eq!(history.points("b", 2), [[1.0, 7.0]]);
    }
}
