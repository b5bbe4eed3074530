//! Scan tasks to Arrow batches.
//!
//! The deletes of a task are loaded, its file is opened and cut into units, and threads decode several units at once.
//! Batches are returned in file order.

mod row_selection;
mod stream;
mod survey;
mod task;
mod work;

pub use crate::deletes::delete_file::DeleteFile;
pub use row_selection::RowSelection;
pub use stream::{Scan, ScanOptions, ScanReader};
pub use task::ScanTask;
pub(crate) use work::ScanWork;
