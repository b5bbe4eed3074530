//! Predicates against shared vectors and naive oracles.

mod bind;
mod oracle;
mod projection_vectors;
mod pruning;
mod rows;
mod statistics_vectors;
mod stats;
mod wrapped_partitions;
