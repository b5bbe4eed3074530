//! Deletes against shared vectors and naive oracles.

mod equality;
mod index;
mod position;
