//! Space-filling curves: one key for several columns, so that rows with near keys are near in every column.
//!
//! A column takes part with the rank of its value among sampled quantiles, not with its bits: ids from 0 to a million
//! share their upper 44 bits, which would leave the order to the other columns.

mod hilbert;
mod keys;
mod ranks;
mod row_prefix;
mod zorder;

pub use hilbert::hilbert_axes;
pub use keys::{Curve, CurveKeys, MAX_COLUMNS};
pub use ranks::Ranks;
pub use row_prefix::{PREFIX_BYTES, row_prefix};
pub use zorder::{Interleaving, interleave};
