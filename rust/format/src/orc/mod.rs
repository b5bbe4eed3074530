//! The end of an ORC file, looked at before a decoder is given the file.
//!
//! ORC's own decoder takes what a footer says for granted here and there: a decimal that is too wide,
//! a length that wraps around or a count of rows that no memory holds end the process. [`Postscript`]
//! and [`check_footer`] refuse those, and decode no row.

mod chunks;
mod footer;
mod postscript;
mod types;
mod wire;

pub use footer::check_footer;
pub use postscript::{POSTSCRIPT_BYTES, Postscript};

use crate::Error;

const WHAT: &str = "the ORC file";

fn corrupt(reason: impl Into<String>) -> Error {
    Error::corrupt(WHAT, reason)
}
