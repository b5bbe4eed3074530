//! Capacity for the rest of a container, estimated from the blocks read.

/// The progress of reading a container.
#[derive(Debug, Clone, Copy)]
pub struct Forecast {
    /// Bytes of the container that were read.
    pub read: usize,
    /// Bytes of the container that are left to read.
    pub left: usize,
}

/// The most bytes reserved per byte left, however much the first blocks held.
const LIMIT: usize = 4;

impl Forecast {
    /// Reserve capacity in `values`, which were read so far, for a proportional number in the bytes left. Reserves 1/16
    /// more than expected: reallocating for a slightly higher next forecast costs more than unused capacity.
    pub(super) fn reserve<T>(self, values: &mut Vec<T>) {
        let expected = values.len().saturating_mul(self.left) / self.read.max(1);
        let limit = self.left.saturating_mul(LIMIT) / size_of::<T>().max(1);
        if values.capacity() - values.len() < expected.min(limit) {
            values.reserve(expected.saturating_add(expected / 16).min(limit));
        }
    }
}
