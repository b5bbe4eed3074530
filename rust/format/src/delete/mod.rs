//! Deletes: positions, equality keys, which files they apply to.

mod position;

pub use position::{PositionDeletes, RowRun, row_runs};
