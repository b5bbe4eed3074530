//! Kernels of the partition transforms: one rule for a value, one loop over an Arrow array.
//!
//! The names, parameters and result types are [`Transform`](crate::spec::Transform).

mod apply;
mod blocks;
mod bucket;
pub mod hash;
mod remainder;
mod temporal;
mod truncate;
