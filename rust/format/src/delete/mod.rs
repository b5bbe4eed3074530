//! Deletes: positions, equality keys, which files they apply to.
//!
//! [`DeleteIndex`] pairs delete files with data files; their contents become [`PositionDeletes`]
//! and [`EqualityKeys`]; [`row_runs`] and [`deleted_rows`] apply them.

mod apply;
mod cells;
mod equality;
mod files;
mod groups;
mod hash;
mod hulls;
mod index;
mod key_sources;
mod numbers;
mod overlap;
mod position;
mod prefilter;
mod ranges;
mod runs;
mod scope;
mod stored;

pub use apply::{KeyedColumns, deleted_rows};
pub use equality::EqualityKeys;
pub use index::{DeleteIndex, TableFacts};
pub use position::{PositionDeletes, RowRun, deleted_positions, row_runs};
pub use runs::{DeleteRuns, delete_runs, delete_runs_type};
pub use stored::KeyRange;
