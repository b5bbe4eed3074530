//! Ordered work on several threads.

mod ordered;
mod state;
mod work;

pub(crate) use ordered::{Pipeline, Step};
pub(crate) use work::{Flight, Work};
