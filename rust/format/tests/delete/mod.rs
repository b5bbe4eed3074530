//! Deletes against shared vectors and naive oracles.

mod equality;
mod index;
mod index_vectors;
mod key_types;
mod position;
