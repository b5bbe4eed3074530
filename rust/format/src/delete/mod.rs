//! Deletes: positions, equality keys, which files they apply to.
//!
//! [`DeleteIndex`] pairs delete files with data files; their contents become [`PositionDeletes`]
//! and [`EqualityKeys`]; [`row_runs`] and [`keep_mask`] apply them.

mod apply;
mod equality;
mod index;
mod overlap;
mod position;
mod scope;

pub use apply::{KeyedColumns, keep_mask};
pub use equality::EqualityKeys;
pub use index::{DeleteIndex, TableFacts};
pub use position::{PositionDeletes, RowRun, row_runs};
