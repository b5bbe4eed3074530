//! Deletes against shared vectors and naive oracles.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it does not expect")]

#[path = "../shared/vectors.rs"]
mod vectors;

mod equality;
mod index;
mod index_vectors;
mod key_types;
mod position;
