//! The end of an ORC file: postscript, footer and stripe statistics, checked before a decoder opens the file.
//!
//! ORC's C++ decoder trusts the footer in places: a decimal of excessive precision, an overflowing length or an
//! excessive row count ends the process. [`Postscript`] and [`Footer`] refuse them without decoding rows.
//! [`StripeStatistics`] are used to prune stripes.

mod bounds;
mod chunks;
mod file_statistics;
mod footer;
mod postscript;
mod stripe_statistics;
mod types;
mod wire;

pub use bounds::Bound;
pub use file_statistics::{ColumnStatistics, FileStatistics};
pub use footer::{Footer, Stripe};
pub use postscript::{POSTSCRIPT_BYTES, Postscript};
pub use stripe_statistics::{LeafStatistics, StripeStatistics};

use crate::Error;

const WHAT: &str = "the ORC file";

fn corrupt(reason: impl Into<String>) -> Error {
    Error::corrupt(WHAT, reason)
}
