//! Initial conditions for gravity.

use super::Scene;
use crate::bodies::Bodies;

/// Every scene of the mode; the first is the default.
pub static SCENES: &[Scene] = &[Scene {
    name: "plummer",
    summary: "a star cluster in balance",
    bodies: None,
    params: &[],
    generate: |_| Bodies::default(),
}];
