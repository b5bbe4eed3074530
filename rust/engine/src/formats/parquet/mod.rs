//! Reading of Parquet files: pruning of row groups and pages, cutting into units, decoding.

pub(crate) mod ahead;
pub(crate) mod bloom;
pub(crate) mod column_groups;
pub(crate) mod cut;
mod delivery;
pub(crate) mod encrypted;
pub(crate) mod file;
pub(crate) mod flat;
pub(crate) mod index_bytes;
pub(crate) mod open;
pub(crate) mod page_header;
pub(crate) mod page_index;
pub(crate) mod pages;
pub(crate) mod row_groups;
pub(crate) mod row_size;
pub(crate) mod selection;
pub(crate) mod small_group;
pub(crate) mod survey;
pub(crate) mod unit;
pub(crate) mod zstd_pages;
