//! Scan tasks to Arrow batches.
//!
//! A task is opened once: its columns are resolved by field id, its row groups pruned by the residual filter,
//! its deletes loaded. What is left is cut into units that threads decode at once; batches come out in
//! file order.

mod stream;
mod survey;
mod task;
mod work;

pub use crate::deletes::delete_file::DeleteFile;
pub use stream::{Scan, ScanOptions, ScanReader};
pub use task::ScanTask;
