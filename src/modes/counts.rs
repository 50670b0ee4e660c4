//! Arithmetic and memory traffic of kernels, counted in their source, for the roofline model.

/// Arithmetic and memory traffic per unit of work, which is a pair of bodies or a cell.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Counts {
    /// Number of floating-point operations. A fused multiply-add counts as two; a division and a root count as one.
    pub operations: f64,
    /// Number of bytes that kernels load from and store to global memory or its caches. Loads that a work-item keeps in
    /// registers, or a work-group in local memory, count once for all pairs that use them.
    pub bytes: f64,
}

impl Counts {
    /// Returns the arithmetic intensity: the number of floating-point operations per byte.
    pub fn intensity(&self) -> f64 {
        self.operations / self.bytes
    }
}

#[cfg(test)]
mod tests {
    use crate::compute::DeviceInfo;
    use crate::modes::{MODES, Recipe};

    /// Each idea of a ladder that saves loads raises the intensity.
    #[test]
    fn the_intensity_grows_with_the_reuse_of_loads() {
        for (mode, ladder) in [
            ("gravity", &["naive", "private", "tiled"][..]),
            ("asteroids", &["naive", "tiled-both", "tiled"]),
            ("fluid", &["split", "fused", "half"]),
        ] {
            let info = MODES.iter().find(|info| info.name == mode).unwrap();
            let intensity = |name: &&str| {
                let recipe = Recipe::guess(info.variant(name).unwrap(), &DeviceInfo::default(), 100_000);
                info.mode().counts(&recipe).unwrap().intensity()
            };
            let all: Vec<f64> = ladder.iter().map(intensity).collect();
            assert!(all.is_sorted_by(|a, b| a < b), "{mode}: {all:?}");
        }
    }

    /// A variant without counts skips pairs, so that its work per pair is not known.
    #[test]
    fn every_variant_that_computes_all_pairs_or_cells_has_counts() {
        for info in MODES {
            for variant in info.variants {
                let recipe = Recipe::guess(variant, &DeviceInfo::default(), 100_000);
                let skips = ["tree", "grid"].contains(&variant.name);
                assert_eq!(info.mode().counts(&recipe).is_none(), skips, "{} {}", info.name, variant.name);
            }
        }
    }
}
