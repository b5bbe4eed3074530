//! Estimates of the decoded bytes of a row, from the footer.

use std::collections::BTreeSet;

use parquet::basic::Type as PhysicalType;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};

/// Bytes of a string view, also taken as the overhead of a byte array with an offset.
const VIEW_BYTES: u64 = 16;

/// Return the estimated decoded bytes of a row of `leaves`, at least 1.
pub(crate) fn row_bytes(group: &RowGroupMetaData, leaves: &BTreeSet<usize>) -> u64 {
    let rows = u64::try_from(group.num_rows()).unwrap_or(0).max(1);
    let columns = leaves.iter().filter_map(|leaf| group.columns().get(*leaf));
    let total = columns.map(column_bytes).fold(0, u64::saturating_add);
    (total / rows).max(1)
}

fn column_bytes(column: &ColumnChunkMetaData) -> u64 {
    let values = u64::try_from(column.num_values()).unwrap_or(0);
    let (width, more) = match column.column_type() {
        PhysicalType::BOOLEAN => return values / 8,
        PhysicalType::INT32 | PhysicalType::FLOAT => (4, 0),
        PhysicalType::INT64 | PhysicalType::DOUBLE | PhysicalType::INT96 => (8, 0),
        PhysicalType::FIXED_LEN_BYTE_ARRAY => {
            (u64::try_from(column.column_descr().type_length()).unwrap_or(0).max(VIEW_BYTES), 0)
        }
        PhysicalType::BYTE_ARRAY => {
            // Few writers record the decoded size of dictionary-encoded values.
            let recorded = column.unencoded_byte_array_data_bytes();
            let bytes = recorded.unwrap_or_else(|| column.uncompressed_size());
            (VIEW_BYTES, u64::try_from(bytes).unwrap_or(0))
        }
    };
    values.saturating_mul(width).saturating_add(more)
}
