//! Statistics of the rows of a scan.

mod distinct_values;

pub use distinct_values::distinct_values;
