//! One device or more, opened together.

use std::ops::Deref;
use std::sync::Arc;

use ocl::core;

use super::device::{Device, DeviceInfo, Edits, Found, Kind, open_context};
use crate::error::{Error, Result};

/// Set to `own`, it gives every device a context of its own: to see what sharing one is worth.
const CONTEXTS_VARIABLE: &str = "GRAVITILE_CONTEXTS";

/// Open devices, at least one, out of those that may be chosen.
#[derive(Debug, Clone)]
pub struct Devices {
    pool: Arc<[Found]>,
    /// Places in the pool.
    chosen: Vec<usize>,
    open: Vec<Device>,
}

impl Devices {
    /// Opens those of `pool` at the places `chosen`.
    ///
    /// # Errors
    /// If none is chosen, or a driver refuses.
    pub fn open(pool: impl Into<Arc<[Found]>>, chosen: &[usize]) -> Result<Self> {
        let pool = pool.into();
        let found: Vec<Found> = chosen.iter().filter_map(|&place| pool.get(place)).cloned().collect();
        if found.is_empty() || found.len() < chosen.len() {
            return Err(Error::Invalid("at least one device has to compute".to_owned()));
        }
        Ok(Self { open: open_all(found)?, chosen: chosen.to_vec(), pool })
    }

    /// Opens all of `found`, from which may be chosen later too.
    ///
    /// # Errors
    /// As [`Devices::open`].
    pub fn all(found: Vec<Found>) -> Result<Self> {
        let chosen: Vec<usize> = (0..found.len()).collect();
        Self::open(found, &chosen)
    }

    /// The same pool with others chosen; those that are open stay so, unless another has to be opened.
    ///
    /// # Errors
    /// As [`Devices::open`].
    pub fn choose(&self, chosen: &[usize]) -> Result<Self> {
        let edits = self.edits();
        let open = |place: &usize| self.chosen.iter().position(|other| other == place);
        let places: Option<Vec<usize>> = chosen.iter().map(open).collect();
        match places {
            Some(places) if !places.is_empty() => Ok(Self {
                pool: self.pool.clone(),
                chosen: chosen.to_vec(),
                open: places.into_iter().map(|at| self.open[at].clone()).collect(),
            }),
            _ => Self::open(self.pool.clone(), chosen),
        }
        .inspect(|devices| devices.set_edits(edits))
    }

    /// The devices that are left without the one of that key, opened anew: what they shared with it may be lost too. None
    /// if none is left, or there is none of that key.
    ///
    /// # Errors
    /// If a driver refuses.
    pub fn without(&self, key: u64) -> Result<Option<Self>> {
        let Some(lost) = self.open.iter().position(|device| device.key() == key) else { return Ok(None) };
        let mut left = self.chosen.clone();
        left.remove(lost);
        if left.is_empty() {
            return Ok(None);
        }
        let open = Self::open(self.pool.clone(), &left)?;
        open.set_edits(self.edits());
        Ok(Some(open))
    }

    /// What is built in place of the program's own kernels, on each of them.
    pub fn edits(&self) -> Arc<Edits> {
        self.open.first().map(Device::edits).unwrap_or_default()
    }

    /// Builds `edits` in place of the program's own kernels from now on; so do devices that are chosen later.
    pub fn set_edits(&self, edits: impl Into<Arc<Edits>>) {
        let edits = edits.into();
        self.open.iter().for_each(|device| device.set_edits(edits.clone()));
    }

    /// What is known of all that may be chosen.
    pub fn pool(&self) -> impl Iterator<Item = &DeviceInfo> {
        self.pool.iter().map(|found| &found.info)
    }

    /// The places of those that are open in the pool.
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
        Self { pool: Arc::new([device.found()]), chosen: vec![0], open: vec![device] }
    }
}

/// GPUs of one platform share a context: host memory that is pinned in it is pinned for all of them. Others gain nothing
/// by that, and devices of other machines would go down together.
fn open_all(found: Vec<Found>) -> Result<Vec<Device>> {
    let shares = |found: &Found| {
        found.info.kind == Kind::Gpu
            && !found.info.is_pocl()
            && std::env::var_os(CONTEXTS_VARIABLE).is_none_or(|value| value != "own")
    };
    let mut contexts: Vec<(core::PlatformId, core::Context)> = Vec::new();
    let mut open = Vec::new();
    for device in &found {
        if !shares(device) {
            open.push(device.clone().open()?);
            continue;
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
        open.push(device.clone().open_in(&context)?);
    }
    Ok(open)
}
