//! The Apache Iceberg table format, pure: bytes and Arrow in, bytes and Arrow out.
//!
//! Nothing here does I/O, reads a clock, starts a thread or knows Python. Modules depend leftwards:
//! `error <- spec <- transform, codec <- predicate, avro, orc, metrics, changelog <- manifest, delete`.

pub mod avro;
pub mod changelog;
pub mod codec;
pub mod delete;
pub mod error;
pub mod manifest;
pub mod metrics;
pub mod orc;
pub mod predicate;
pub mod spec;
pub mod transform;

pub use error::{Error, Result};
