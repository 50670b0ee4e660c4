//! Lines and axis marks of the plots.

use std::ops::RangeInclusive;

use egui_plot::GridMark;

/// Maximum number of intervals between marks on an axis.
const MARKS: f64 = 4.0;
/// Approximate maximum number of corners in a plotted line. More corners would not be visible.
const CORNERS: usize = 256;

/// Returns the corners of a line through `points`. Omits points whose times are outside `range`, except one at each end. If
/// there are many points, reduces each group of neighbours to its highest and lowest points.
pub(super) fn simplified(points: &[[f64; 2]], range: Option<[f64; 2]>) -> Vec<[f64; 2]> {
    let part = range.map_or(points, |[from, to]| {
        let first = points.partition_point(|[time, _]| *time < from).saturating_sub(1);
        let end = points.partition_point(|[time, _]| *time <= to).saturating_add(1).min(points.len());
        &points[first.min(end)..end]
    });
    if part.len() <= CORNERS {
        return part.to_vec();
    }
    let corners = part.chunks(part.len().div_ceil(CORNERS / 2)).flat_map(|some| {
        let by_value = |a: &&[f64; 2], b: &&[f64; 2]| a[1].total_cmp(&b[1]);
        let (low, high) = (some.iter().min_by(by_value), some.iter().max_by(by_value));
        let [a, b] = [low, high].map(|it| it.copied().unwrap_or_default());
        if a[0] <= b[0] { [a, b] } else { [b, a] }
    });
    corners.chain(part.last().copied()).collect()
}

/// Returns a few axis marks between `low` and `high`, at round numbers.
pub(super) fn marks((low, high): (f64, f64)) -> Vec<GridMark> {
    let rough = (high - low) / MARKS;
    if !(rough.is_finite() && rough > 0.0) {
        return Vec::new();
    }
    let decade = 10f64.powf(rough.log10().floor());
    let step_size = [1.0, 2.0, 5.0].map(|by| by * decade).into_iter().find(|step| *step >= rough);
    let step_size = step_size.unwrap_or(10.0 * decade);
    let first = (low / step_size).ceil() as i64;
    let all = (first..).map(|nth| nth as f64 * step_size).take_while(|value| *value <= high);
    all.map(|value| GridMark { value, step_size }).collect()
}

/// Returns the number at an axis mark as text, with enough digits to tell adjacent marks apart; `None` if the text would
/// be too long.
fn plain(GridMark { value, step_size }: GridMark) -> Option<String> {
    let places = (-step_size.log10().floor()).clamp(0.0, 12.0) as usize;
    let text = format!("{value:.places$}");
    (text.len() <= 9 && value.abs() < 1e6).then_some(text)
}

/// Returns whether an axis mark is labelled with its difference from the centre of the axis.
pub(super) fn is_difference(mark: GridMark) -> bool {
    plain(mark).is_none() && mark.step_size <= mark.value.abs() * 0.01
}

/// Formats the number at an axis mark, or its difference from the axis centre if the number would need too many digits.
pub(super) fn number(mark: GridMark, range: &RangeInclusive<f64>) -> String {
    let GridMark { value, step_size } = mark;
    if let Some(text) = plain(mark) {
        return text;
    }
    if !is_difference(mark) {
        return format!("{value:.1e}");
    }
    let centre = ((range.start() + range.end()) / 2.0 / step_size).round() * step_size;
    let difference = ((value - centre) / step_size).round() * step_size;
    if difference == 0.0 { "±0".to_owned() } else { format!("{difference:+.0e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_simplified_line_has_few_points_and_keeps_the_extreme_values() {
        let mut points: Vec<_> = (0..2000).map(|nth| [f64::from(nth), f64::from(nth % 7)]).collect();
        assert_eq!(simplified(&points[..CORNERS], None), points[..CORNERS]);
        (points[1234][1], points[77][1]) = (50.0, -50.0);
        let all = simplified(&points, None);
        assert!(all.len() <= CORNERS + 2 && all.is_sorted_by(|a, b| a[0] <= b[0]), "{}", all.len());
        assert!(all.contains(&points[1234]) && all.contains(&points[77]) && all.contains(&points[1999]));
        // A short range keeps all its points, and one point beyond each end.
        assert_eq!(simplified(&points, Some([1200.5, 1300.0])), points[1200..1302]);
        assert_eq!(simplified(&points, Some([1990.0, 1e9])), points[1989..]);
        assert_eq!(simplified(&points, Some([-5.0, -1.0])), points[..1]);
        assert!(simplified(&[], None).is_empty() && simplified(&[], Some([0.0, 1.0])).is_empty());
    }

    #[test]
    fn axis_marks_are_few_and_have_distinct_labels() {
        for (low, high) in
            [(0.0, 1.0), (-3e-9, 7e-9), (119.0, 247.0), (0.318_999_99, 0.319_000_02), (1e7, 9e7), (-2.0, 0.1)]
        {
            let all = marks((low, high));
            assert!((2..=6).contains(&all.len()), "{low} to {high}: {}", all.len());
            assert!(all.iter().all(|mark| (low..=high).contains(&mark.value)));
            let texts: Vec<String> = all.iter().map(|mark| number(*mark, &(low..=high))).collect();
            assert!(texts.windows(2).all(|pair| pair[0] != pair[1]), "{texts:?}");
            assert!(texts.iter().all(|text| text.chars().count() <= 9), "{texts:?}");
        }
        assert!(marks((1.0, 1.0)).is_empty() && marks((f64::NAN, 1.0)).is_empty());
    }
}
