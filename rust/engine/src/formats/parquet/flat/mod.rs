//! Decoding of Parquet columns without nesting, page by page.

mod bit_packing;
mod boolean;
mod chunk_pages;
mod column;
mod delta;
mod encoded;
mod fixed;
mod group;
mod header;
mod hybrid;
mod keyed;
mod page;
mod retain;
mod rows;
mod texts;
mod validity;
mod value_type;
mod views;

pub(crate) use chunk_pages::RowGroup;
pub(crate) use group::{FlatGroup, Form};
pub(crate) use rows::{FEW_COLUMNS, FlatRows};
