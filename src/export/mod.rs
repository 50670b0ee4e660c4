//! Files for other programs: films, charts and traces.

pub mod chart;
pub mod error_chart;
pub mod film;
pub mod roofline_chart;
pub mod trace;
