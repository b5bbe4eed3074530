//! The nouns of the specification: types, schemas, partition specs, transforms, sort orders and values.

mod arrow_names;
pub mod arrow_schema;
pub mod arrow_values;
pub mod canonical;
pub mod civil;
pub mod datum;
pub mod decimal;
mod json;
pub mod names;
pub mod nulls;
pub mod partition_json;
pub mod partition_spec;
pub mod schema;
pub(crate) mod schema_index;
mod selection;
pub mod single_value;
pub mod single_values;
pub mod sort_order;
pub mod text_values;
pub mod transform;
pub mod type_json;
pub mod types;

pub use arrow_names::ArrowName;
pub use arrow_schema::{
    ArrowOptions, field_to_arrow, primitive_from_arrow, primitive_to_arrow, schema_to_arrow,
    struct_to_arrow, type_to_arrow,
};
pub use arrow_values::datums_to_array;
pub use canonical::{can_hold, canonical_array};
pub use datum::Datum;
pub use names::{same_legal_name, sanitize_name};
pub use nulls::null_array;
pub use partition_json::{
    Partition, partition_from_json, partition_from_struct, partition_path, partition_to_json,
    partition_value, partitions_to_struct,
};
pub use partition_spec::{PartitionField, PartitionSpec};
pub use schema::Schema;
pub use sort_order::{NullOrder, SortDirection, SortField, SortOrder, UNSORTED_ORDER_ID};
pub use text_values::check_texts;
pub use transform::Transform;
pub use types::{ListType, MapType, NestedField, PrimitiveType, StructType, Type};
