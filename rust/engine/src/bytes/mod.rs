//! The bytes of data and delete files: local or remote, fetched and read ahead.

pub(crate) mod data_file;
pub(crate) mod fetch;
pub(crate) mod local;
pub(crate) mod page_sizes;
pub(crate) mod remote;
