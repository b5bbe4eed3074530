//! Tests of the spec's nouns.

mod datum;
mod decimal;
mod json;
mod names;
mod order;
mod partition;
mod schema;
mod single_value;
mod sort_order;
