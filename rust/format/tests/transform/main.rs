//! Tests of the transforms.

#[path = "../shared/strategies.rs"]
mod strategies;
#[path = "../shared/vectors.rs"]
mod vectors;

mod hash;
mod kernel;
mod names;
mod values;
