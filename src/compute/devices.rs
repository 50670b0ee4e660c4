//! A set of devices that are opened together.

use std::ops::Deref;
use std::sync::Arc;

use ocl::core;

use super::device::{Device, open_context};
use super::found::{DeviceInfo, DeviceKind, FoundDevice};
use super::ranks::Ranks;
use super::source::KernelEdits;
use crate::base::{Result, invalid};

/// Environment variable that, if set to `own`, gives each device its own context, to measure the benefit of sharing.
const CONTEXTS_VARIABLE: &str = "GRAVITILE_CONTEXTS";

/// One or more open devices, and the pool of available devices from which they were chosen.
#[derive(Debug, Clone)]
pub struct Devices {
    pool: Arc<[FoundDevice]>,
    /// Indices of the open devices in the pool of available devices.
    chosen: Vec<usize>,
    open: Vec<Device>,
    /// Ranks (processes) of the MPI run whose devices also take part; `None` if only this process computes.
    ranks: Option<&'static Ranks>,
    /// Number of MPI ranks (processes) that compute together, starting with rank 0.
    rank_count: usize,
}

impl Devices {
    /// Opens the devices at the indices `chosen` in `pool`.
    ///
    /// # Errors
    /// Returns an error if no device is chosen, an index is out of range, or a driver refuses to open a device.
    pub fn open(pool: impl Into<Arc<[FoundDevice]>>, chosen: &[usize]) -> Result<Self> {
        let pool = pool.into();
        let found: Vec<FoundDevice> = chosen.iter().filter_map(|&index| pool.get(index)).cloned().collect();
        if found.is_empty() || found.len() < chosen.len() {
            return Err(invalid!("choose at least one device"));
        }
        Ok(Self { open: open_all(found)?, chosen: chosen.to_vec(), pool, ranks: None, rank_count: 1 })
    }

    /// Opens all devices in `found`. [`Devices::choose`] can later choose some of them.
    ///
    /// # Errors
    /// Returns an error if `found` is empty, or a driver refuses to open a device.
    pub fn all(found: Vec<FoundDevice>) -> Result<Self> {
        let chosen: Vec<usize> = (0..found.len()).collect();
        Self::open(found, &chosen)
    }

    /// Returns the devices at the indices `chosen` in the pool. Reuses them if all are open already; otherwise opens
    /// all anew.
    ///
    /// # Errors
    /// Returns an error if no device is chosen, an index is out of range, or a driver refuses to open a device.
    pub fn choose(&self, chosen: &[usize]) -> Result<Self> {
        let opened = |index: &usize| self.chosen.iter().position(|other| other == index);
        let open: Option<Vec<Device>> =
            chosen.iter().map(|index| Some(self.open[opened(index)?].clone())).collect();
        let devices = match open {
            Some(open) if !open.is_empty() => Self { chosen: chosen.to_vec(), open, ..self.clone() },
            _ => Self::open(self.pool.clone(), chosen)?,
        };
        devices.set_edits(self.edits());
        Ok(Self { ranks: self.ranks, rank_count: self.rank_count, ..devices })
    }

    /// Opens the same devices a second time, with contexts and queues of their own, and with the same edited kernels.
    ///
    /// # Errors
    /// Returns an error if a driver refuses to open a device.
    pub fn reopened(&self) -> Result<Self> {
        let devices = Self::open(self.pool.clone(), &self.chosen)?;
        devices.set_edits(self.edits());
        Ok(devices)
    }

    /// Reopens all open devices except the failed device whose key is `key`, because the failure may have broken a
    /// context that they share. Returns `None` if no device would remain, if no open device has this key,
    /// or if other ranks of an MPI run take part.
    pub fn without(&self, key: u64) -> Result<Option<Self>> {
        let others = self.chosen.iter().zip(&self.open).filter(|(_, device)| device.key() != key);
        let left: Vec<usize> = others.map(|(place, _)| *place).collect();
        // Other ranks wait for the failed device in the middle of an exchange, so nobody can continue.
        if self.ranks.is_some() || left.is_empty() || left.len() == self.open.len() {
            return Ok(None);
        }
        let devices = Self::open(self.pool.clone(), &left)?;
        devices.set_edits(self.edits());
        Ok(Some(devices))
    }

    /// Returns the devices, together with those of all ranks of an MPI run if `ranks` is not `None`.
    #[must_use]
    pub fn with_ranks(self, ranks: Option<&'static Ranks>) -> Self {
        Self { ranks, rank_count: ranks.map_or(1, Ranks::size), ..self }
    }

    /// Returns these devices, but lets only the first `count` MPI ranks compute together.
    #[must_use]
    pub fn among_ranks(&self, count: usize) -> Self {
        Self { rank_count: count, ..self.clone() }
    }

    /// Returns the ranks (processes) of the MPI run, and how many of them compute together; `None` if only this process
    /// computes.
    pub fn ranks(&self) -> Option<(&'static Ranks, usize)> {
        self.ranks.map(|ranks| (ranks, self.rank_count)).filter(|(_, count)| *count > 1)
    }

    /// Returns the edited kernel sources that replace built-in kernels on all devices.
    pub fn edits(&self) -> Arc<KernelEdits> {
        self.open.first().map(Device::edits).unwrap_or_default()
    }

    /// Replaces built-in kernels with `edits` in all programs built from now on, including those for devices chosen
    /// later.
    pub fn set_edits(&self, edits: impl Into<Arc<KernelEdits>>) {
        let edits = edits.into();
        self.open.iter().for_each(|device| device.set_edits(edits.clone()));
    }

    /// Returns the properties of all devices in the pool.
    pub fn pool(&self) -> impl Iterator<Item = &DeviceInfo> {
        self.pool.iter().map(|found| &found.info)
    }

    /// Returns the indices of the open devices in the pool of available devices.
    pub fn chosen(&self) -> &[usize] {
        &self.chosen
    }
}

impl Deref for Devices {
    type Target = [Device];

    fn deref(&self) -> &[Device] {
        &self.open
    }
}

impl From<Device> for Devices {
    fn from(device: Device) -> Self {
        Self {
            pool: Arc::new([device.found()]),
            chosen: vec![0],
            open: vec![device],
            ranks: None,
            rank_count: 1,
        }
    }
}

/// Opens devices. GPUs of one platform share a context, so that pinned host memory is pinned for all of them. Other
/// devices get separate contexts: sharing has no benefit there, and remote devices in one context would fail together.
fn open_all(found: Vec<FoundDevice>) -> Result<Vec<Device>> {
    let shares = |found: &FoundDevice| {
        found.info.kind == DeviceKind::Gpu
            && !found.info.is_pocl()
            && std::env::var_os(CONTEXTS_VARIABLE).is_none_or(|value| value != "own")
    };
    let mut contexts: Vec<(core::PlatformId, core::Context)> = Vec::new();
    let open = |device: &FoundDevice| {
        if !shares(device) {
            return device.clone().open();
        }
        let context = match contexts.iter().find(|(platform, _)| *platform == device.platform) {
            Some((_, context)) => context.clone(),
            None => {
                let all = found.iter().filter(|other| shares(other) && other.platform == device.platform);
                let context = open_context(&all.cloned().collect::<Vec<_>>())?;
                contexts.push((device.platform, context.clone()));
                context
            }
        };
        device.clone().open_in(&context)
    };
    found.iter().map(open).collect()
}
