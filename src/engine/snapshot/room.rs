//! Limits on the size of snapshots.

/// Maximum size of a snapshot in bytes, both compressed and uncompressed.
pub const MOST_BYTES: u64 = 1 << 35;

/// Maximum size of a snapshot's manifest, in bytes: enough for a scene of a million orbits, at 64 bytes of text each.
const MOST_MANIFEST: u64 = 1 << 26;
/// Largest compression ratio of the deflate algorithm (see "Maximum Compression Factor" in zlib's technical notes).
const MOST_RATIO: u64 = 1032;

/// Limits on the decompressed size of a snapshot's data, derived from the compressed size.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    /// Number of compressed bytes in the file.
    pub packed: u64,
}

impl Room {
    /// Returns the maximum length of the uncompressed manifest, in bytes. The limit leaves a margin, because text
    /// usually shrinks only to about a tenth of its length.
    pub(super) fn manifest(self) -> u64 {
        (self.packed.saturating_mul(32)).saturating_add(1 << 20).min(MOST_MANIFEST)
    }

    /// Returns the maximum uncompressed length of lists of bodies, in bytes. The limit is lower than for fluid cells,
    /// because in lists of bodies only equal masses compress well.
    pub(super) fn bodies(self) -> u64 {
        (self.packed.saturating_mul(64)).saturating_add(1 << 26)
    }

    /// Returns the maximum uncompressed length of lists of fluid cells, in bytes. The limit is higher than for bodies,
    /// because fluids at rest compress very well.
    pub(super) fn flows(self) -> u64 {
        (self.packed.saturating_mul(64)).saturating_add(1 << 28)
    }

    /// Returns whether `length` bytes of data could have been compressed to `packed` bytes.
    pub(super) fn holds(self, length: u64) -> bool {
        let least = length / MOST_RATIO;
        // Deflate stores incompressible data in blocks with headers.
        let most = length + length / 512 + 1024;
        (least..=most).contains(&self.packed)
    }
}
