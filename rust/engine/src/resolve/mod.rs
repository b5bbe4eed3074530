//! Requests for files, resolved against their columns: columns by field id, rows by residual and deletes.

pub(crate) mod assemble;
pub(crate) mod columns;
pub(crate) mod convert;
pub(crate) mod deleted_rows;
pub(crate) mod file_columns;
pub(crate) mod gather;
pub(crate) mod keep;
pub(crate) mod key_filters;
pub(crate) mod key_set;
pub(crate) mod metadata_columns;
pub(crate) mod prune;
pub(crate) mod request;
pub(crate) mod row_filter;
