//! Deletes against shared vectors and naive oracles.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it does not expect")]

mod equality;
mod index;
mod position;
