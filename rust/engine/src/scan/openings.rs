//! The ends of files that are opened one after the other, on their way before their turn.

use std::sync::{Mutex, PoisonError};

use super::source::Opening;
use crate::store::FileIo;

/// Files to open in this order, by one thread or several.
pub(crate) struct Openings<'a> {
    io: &'a FileIo,
    files: Vec<(&'a str, Mutex<Option<Opening>>)>,
    /// How many are on their way at once.
    ahead: usize,
}

impl<'a> Openings<'a> {
    /// Send for the first, up to so many bytes.
    pub(crate) fn new(io: &'a FileIo, locations: Vec<&'a str>, bytes: usize) -> Self {
        let ahead = (bytes / Opening::BYTES).min(locations.len().saturating_sub(1));
        let files = locations.into_iter().map(|location| (location, Mutex::default())).collect();
        let openings = Self { io, files, ahead };
        (0..ahead).for_each(|place| openings.begin(place));
        openings
    }

    /// What was sent for of a file whose turn it is. Another is sent for.
    pub(crate) fn take(&self, place: usize) -> Option<Opening> {
        if self.ahead > 0 {
            self.begin(place + self.ahead);
        }
        let (_, slot) = self.files.get(place)?;
        slot.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn begin(&self, place: usize) {
        if let Some((location, slot)) = self.files.get(place) {
            let opening = Opening::of(self.io, location);
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = opening;
        }
    }
}
