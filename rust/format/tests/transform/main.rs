//! Tests of the transforms.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

#[path = "../shared/strategies.rs"]
mod strategies;
#[path = "../shared/vectors.rs"]
mod vectors;

mod hash;
mod kernel;
mod layouts;
mod names;
mod values;
