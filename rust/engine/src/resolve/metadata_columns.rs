//! Columns that no file holds, by their reserved ids. Spec: Reserved Field IDs.

/// `_file`: location of the data file.
pub(crate) const FILE_ID: i32 = i32::MAX - 1;
/// `_pos`: the ordinal of the row in its file, before filters and deletes.
pub(crate) const POSITION_ID: i32 = i32::MAX - 2;
/// `_deleted`: whether the row is deleted.
pub(crate) const DELETED_ID: i32 = i32::MAX - 3;
/// `_spec_id`: the partition spec of the file.
pub(crate) const SPEC_ID_ID: i32 = i32::MAX - 4;
/// `_partition`: the partition tuple.
pub(crate) const PARTITION_ID: i32 = i32::MAX - 5;
/// `__file_row`: the number of the file's task in its scan. The id is reserved and has no column in the specification.
pub(crate) const TASK_ID: i32 = i32::MAX - 150;
/// `file_path` of a position delete file.
pub(crate) const DELETE_FILE_PATH_ID: i32 = i32::MAX - 101;
/// `pos` of a position delete file.
pub(crate) const DELETE_FILE_POS_ID: i32 = i32::MAX - 102;
