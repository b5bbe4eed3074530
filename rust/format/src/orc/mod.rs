//! The end of an ORC file, looked at before a decoder is given the file.
//!
//! ORC's own decoder takes what a footer says for granted here and there: a decimal that is too wide,
//! a length that wraps around or a count of rows that no memory holds end the process. [`Postscript`]
//! and [`Footer`] refuse those, and decode no row.
//! [`StripeStatistics`] tell what stripes cannot hold.

mod chunks;
mod footer;
mod postscript;
mod statistics;
mod types;
mod wire;

pub use footer::{Footer, Stripe};
pub use postscript::{POSTSCRIPT_BYTES, Postscript};
pub use statistics::{Bound, LeafStatistics, StripeStatistics};

use crate::Error;

const WHAT: &str = "the ORC file";

fn corrupt(reason: impl Into<String>) -> Error {
    Error::corrupt(WHAT, reason)
}
