//! Row changes: cancelling of inserts and deletes of equal rows, and pairing of updates.
//!
//! Rows are compared by a 128-bit hash of all their columns, of any type: null equals null, and floats are compared by
//! bits. The hash is SipHash-1-3 with a random key, so colliding rows cannot be constructed.

mod pairing;
mod row_hash;

pub use pairing::{Change, NetChange, net_changes};
pub use row_hash::RowHasher;
