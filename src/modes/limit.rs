//! Hardware limits on speed, and the part of a device that is the bottleneck.

use super::Recipe;
use crate::compute::{MicroKernel, Roofline};

/// The hardware limit on a simulation mode's speed.
#[derive(Debug)]
pub enum Limit {
    /// The limit is the rate at which the device can compute pairs of bodies.
    Pair(Pair),
    /// The limit is the memory bandwidth, as measured by a kernel that copies memory.
    Copies {
        /// Number of bytes that a step reads and writes per cell.
        bytes: f64,
    },
}

impl Limit {
    /// Returns the micro-kernel that measures the limit.
    pub fn micro(&self) -> &MicroKernel {
        match self {
            Self::Pair(pair) => &pair.micro,
            Self::Copies { .. } => &MicroKernel::COPIES,
        }
    }

    /// Converts the rate measured by the micro-kernel to a limit in pairs or cells per second.
    pub fn at(&self, rate: f64) -> f64 {
        match self {
            Self::Pair(_) => rate,
            Self::Copies { bytes } => rate / bytes,
        }
    }

    /// Returns an explanation of the limit for a tooltip.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Pair(_) => {
                "Pairs computed per second, as a percentage of the peak that was measured on this device. Not available for kernels that skip pairs."
            }
            Self::Copies { .. } => {
                "Cells computed per second, as a percentage of the peak that the device's memory bandwidth allows. A grid that fits into the caches can exceed 100 %."
            }
        }
    }
}

/// Hardware cost of computing a pair of bodies, which limits the speed of modes with bodies.
#[derive(Debug)]
pub struct Pair {
    /// Micro-kernel that computes pairs of equal masses in registers, and updates both bodies of a pair at once where
    /// that is cheaper. Its measured rate limits all variants that evaluate every pair. The rate cannot be derived from
    /// the device's specification, because devices differ in which operations they can overlap.
    pub micro: MicroKernel,
    /// Number of reciprocal square roots needed per pair of bodies.
    pub roots: f64,
}

/// Utilization of the parts of a device, as fractions of their limits.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Busy {
    /// Achieved fraction of the peak rate at which the device computes pairs; `None` in modes without pairs.
    pub arithmetic: Option<f64>,
    /// Achieved fraction of the device's peak reciprocal-square-root throughput, if known.
    pub roots: Option<f64>,
    /// Achieved fraction of the peak memory throughput, if known. The peak is that of cached reads for kernels that
    /// loop over pairs of bodies, and that of memory copies for kernels that update grid cells.
    pub memory: Option<f64>,
}

impl Busy {
    /// Computes the utilization of a device that reaches the fraction `share` of a limit in pairs or cells per second.
    pub fn new(share: f64, limit: (&Limit, f64), recipe: &Recipe, roofline: &Roofline) -> Self {
        let speed = share * limit.1;
        match limit.0 {
            Limit::Pair(pair) => Self {
                arithmetic: Some(share),
                roots: roofline.roots_per_second.map(|rate| speed / recipe.variant.sides * pair.roots / rate),
                memory: roofline.fetched_bytes_per_second.map(|rate| speed * recipe.bytes_per_pair() / rate),
            },
            Limit::Copies { .. } => Self { arithmetic: None, roots: None, memory: Some(share) },
        }
    }

    /// Returns the name of the part with the highest utilization. Returns `latency` if all utilizations are below one
    /// half: the device then waits for earlier results, runs scalar code, or has too few work-items.
    pub fn bound(&self) -> &'static str {
        let parts = [("arithmetic", self.arithmetic), ("roots", self.roots), ("memory", self.memory)];
        let known = parts.into_iter().filter_map(|(name, share)| Some((name, share?)));
        let (name, share) = known.fold(("", 0.0), |a, b| if b.1 > a.1 { b } else { a });
        if share < 0.5 { "latency" } else { name }
    }
}

impl Recipe {
    /// Returns the minimum number of bytes fetched from global memory per pair. The bodies of a work-item share each
    /// fetched position; with local memory, the bodies of a whole work-group share it.
    pub fn bytes_per_pair(&self) -> f64 {
        let sharers = match (self.variant.local_bytes)(self) {
            0 => self.bodies_per_item(),
            _ => self.bodies_per_group() as f64,
        };
        size_of::<[f32; 4]>() as f64 / sharers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_is_the_most_utilized_part_or_latency_at_low_utilization() {
        for (arithmetic, roots, memory, bound) in [
            (0.9, 0.3, 0.1, "arithmetic"),
            (0.6, 0.8, 0.1, "roots"),
            (0.6, 0.3, 0.7, "memory"),
            (0.04, 0.01, 0.4, "latency"),
            (0.0, 0.0, 0.0, "latency"),
        ] {
            let busy = Busy { arithmetic: Some(arithmetic), roots: Some(roots), memory: Some(memory) };
            assert_eq!(busy.bound(), bound);
        }
        assert_eq!(Busy { arithmetic: Some(0.6), roots: None, memory: None }.bound(), "arithmetic");
    }
}
