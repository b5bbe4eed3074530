//! The spec's nouns: types, schemas, partition specs, values.

pub mod datum;
mod json;
pub mod partition_spec;
pub mod schema;
pub mod sort_order;
pub mod type_json;
pub mod types;

pub use datum::Datum;
pub use partition_spec::{PartitionField, PartitionSpec};
pub use schema::Schema;
pub use sort_order::{NullOrder, SortDirection, SortField, SortOrder};
pub use types::{ListType, MapType, NestedField, PrimitiveType, StructType, Type};
