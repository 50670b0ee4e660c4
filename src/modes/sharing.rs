//! Division of a simulation among several devices.

use super::{Link, Recipe};
use crate::compute::{Device, DeviceInfo};

/// A device and its recipe, which is a kernel variant with settings.
#[derive(Debug, Clone)]
pub struct DeviceRecipe {
    /// The device that runs the kernels.
    pub device: Device,
    /// The kernel variant and its settings for the device.
    pub recipe: Recipe,
}

/// Devices that compute a simulation together, each with its recipe. In an MPI run, some devices belong to other ranks.
#[derive(Debug)]
pub struct Team {
    /// The devices of this process, with their recipes.
    pub local: Vec<DeviceRecipe>,
    /// Connection to the other ranks of an MPI run, or `None` if all devices belong to this process.
    pub link: Option<Link>,
}

impl Team {
    /// Returns the recipes of all devices, in order. In an MPI run, all devices have the same recipe.
    pub(super) fn recipes(&self) -> Vec<Recipe> {
        match &self.link {
            Some(link) => vec![self.local[0].recipe; link.owners.len()],
            None => self.local.iter().map(|own| own.recipe).collect(),
        }
    }
}

impl From<Vec<DeviceRecipe>> for Team {
    fn from(local: Vec<DeviceRecipe>) -> Self {
        Self { local, link: None }
    }
}

/// Division of the work among the devices, as measured over the last burst.
#[derive(Debug, Clone, Default, serde::Serialize)]
pub struct Sharing {
    /// The devices and their parts of the work, one entry for each device.
    pub members: Vec<Member>,
    /// Step time minus the computing time of the slowest device, in ms. Most of it is spent on data exchange.
    pub exchange_ms: f64,
    /// Speed of all devices together, divided by the sum of their separate speeds; 0 to 1.
    pub efficiency: f64,
    /// Whether the search for the fastest combination of devices has ended.
    pub is_settled: bool,
}

/// A device in a shared simulation, and its part of the work.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Member {
    /// Index of the device in the list of all devices of its computer.
    pub index: usize,
    /// Name of the device.
    pub device: String,
    /// Fraction of the work that the device does, 0 to 1; 0 if using the device would slow down the simulation.
    pub share: f64,
    /// Time that the device takes to compute its part of a step, in ms.
    pub step_ms: f64,
}

impl Sharing {
    /// Returns the number of devices that currently have work.
    pub fn used(&self) -> usize {
        self.members.iter().filter(|member| member.share > 0.0).count()
    }
}

impl Member {
    pub(super) fn new(device: &DeviceInfo) -> Self {
        Self { index: device.index, device: device.name.clone(), share: 0.0, step_ms: 0.0 }
    }
}
