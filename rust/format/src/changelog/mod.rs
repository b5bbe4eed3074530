//! Changes of rows: those that undo each other, and those that are halves of an update.
//!
//! Rows are compared by a hash of 128 bits of all their columns, of any type: null equals null, and floats are
//! equal where their bits are. The hash is SipHash-1-3 with a random key, so nobody can choose rows that collide, and
//! by chance none will in as many rows as there are.

mod pairing;
mod row_hash;

pub use pairing::{Change, Left, left_of};
pub use row_hash::RowHasher;
