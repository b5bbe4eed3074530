//! The Apache Iceberg table format, pure: bytes and Arrow in, bytes and Arrow out.
//!
//! Nothing here does I/O, reads a clock, starts a thread or knows Python. Modules depend leftwards:
//! `error <- spec, curve <- transform, codec <- predicate, avro, orc, metrics, changelog, puffin, sketch <- manifest,
//! delete <- metadata_tables`.

pub mod avro;
pub mod changelog;
pub mod codec;
pub mod curve;
pub mod delete;
pub mod error;
pub mod manifest;
pub mod metadata_tables;
pub mod metrics;
pub mod orc;
pub mod predicate;
pub mod puffin;
pub mod sketch;
pub mod spec;
pub mod transform;

pub use error::{Error, Result};
