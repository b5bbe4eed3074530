//! The fuzz targets as plain functions; `make fuzz` runs them under libFuzzer, and the tests of
//! `icefloe-format` run the same functions for a bounded time.

pub mod targets;
