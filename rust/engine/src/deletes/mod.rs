//! Delete files, read into the positions and keys that delete rows of data files.

mod applying;
mod batches;
pub(crate) mod delete_file;
pub(crate) mod deleted_positions;
pub(crate) mod files;
mod key_groups;
mod load_once;
mod path_index;
