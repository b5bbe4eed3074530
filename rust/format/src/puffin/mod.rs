//! Puffin files: blobs of statistics and a footer that describes them. Spec: Puffin.

mod footer;
mod write;

pub use footer::{BlobEntry, Footer};
pub use write::{Blob, EncodedPuffin, encode};

/// The first and last four bytes, and those before the footer's payload.
const MAGIC: [u8; 4] = *b"PFA1";
