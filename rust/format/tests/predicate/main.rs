//! Predicates against shared vectors and naive oracles.

mod bind;
mod oracle;
mod pruning;
mod rows;
mod stats;
mod vectors;
