//! Files for other programs: films and charts.

pub mod chart;
pub mod error_chart;
pub mod film;
