//! Room for what is still to come, judged by what came so far.

/// How much of a container is read, and how much is left.
#[derive(Debug, Clone, Copy)]
pub struct Forecast {
    /// Bytes of the container that the columns' values came from.
    pub read: usize,
    /// Bytes of the container that are left.
    pub left: usize,
}

/// A forecast is no promise: however much the first blocks held, a buffer never gets room for more
/// than this many times the bytes that are left.
const LIMIT: usize = 4;

impl Forecast {
    /// Make room in `values`, all of which came from what is read, for the likes of them in what is
    /// left, unless there is: some more then, as the next forecast may be a little higher and to move
    /// all values for it costs more than room that is not used.
    pub(super) fn reserve<T>(self, values: &mut Vec<T>) {
        let expected = values.len().saturating_mul(self.left) / self.read.max(1);
        let limit = self.left.saturating_mul(LIMIT) / size_of::<T>().max(1);
        if values.capacity() - values.len() < expected.min(limit) {
            values.reserve(expected.saturating_add(expected / 16).min(limit));
        }
    }
}
