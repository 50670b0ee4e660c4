//! Files for other programs: films and charts.

pub mod chart;
pub mod film;
