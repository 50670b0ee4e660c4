//! Several devices, as those see it who ask for them.

use super::Recipe;
use crate::compute::{Device, DeviceInfo};

/// A device, and how it steps.
#[derive(Debug, Clone)]
pub struct Station {
    /// The device.
    pub device: Device,
    /// How it steps.
    pub recipe: Recipe,
}

/// Whether several devices can step a variant together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Together {
    /// Each with a variant of its own choice among those.
    Freely,
    /// If all have this variant.
    Alike,
    /// It stays on one device.
    No,
}

/// How devices share the work, over the last burst that was measured.
#[derive(Debug, Clone, Default, serde::Serialize)]
pub struct Sharing {
    /// Each device.
    pub members: Vec<Member>,
    /// What a step takes longer than the slowest device computes: the exchange of what the others need, in ms.
    pub exchange_ms: f64,
    /// What they do over what they would if none ever exchanged or waited: 1 at best.
    pub efficiency: f64,
    /// Whether it is known which devices take part.
    pub is_settled: bool,
}

/// What a device has of it.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Member {
    /// Its number.
    pub index: usize,
    /// Its name.
    pub device: String,
    /// Its share of the work; 0 where it would only slow the others.
    pub share: f64,
    /// Device time of its share of a step, in ms.
    pub step_ms: f64,
}

impl Member {
    pub(super) fn new(device: &DeviceInfo) -> Self {
        Self { index: device.index, device: device.name.clone(), share: 0.0, step_ms: 0.0 }
    }
}
