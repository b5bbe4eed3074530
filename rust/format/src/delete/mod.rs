//! Delete files: the data files that they apply to, deleted positions and deleted equality keys.
//!
//! [`DeleteIndex`] pairs delete files with data files. Their contents become [`PositionDeletes`] and [`EqualityKeys`],
//! which [`row_runs`] and [`deleted_rows`] apply.

mod cells;
mod delete_runs;
mod deleted_rows;
mod dense_index;
mod equality;
mod group_bounds;
mod groups;
mod index;
mod overlap;
mod position;
mod stored_keys;
mod table_facts;

pub use delete_runs::{DeleteRuns, delete_runs, delete_runs_type};
pub use deleted_rows::{KeyedColumns, RowRun, deleted_positions, deleted_rows, row_runs};
pub use equality::EqualityKeys;
pub use groups::referenced_paths;
pub use index::DeleteIndex;
pub use position::PositionDeletes;
pub use stored_keys::KeyRange;
pub use table_facts::TableFacts;
