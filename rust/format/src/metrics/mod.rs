//! Column metrics: modes and bound truncation.

mod modes;
mod truncate;

pub use modes::{MetricsConfig, MetricsMode};
pub use truncate::{
    lower_bytes, lower_text, truncate_lower, truncate_upper, upper_bytes, upper_text,
};
