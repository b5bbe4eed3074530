//! Timestamps that ORC files can hold and pyarrow reads.

use arrow_array::cast::AsArray;
use arrow_array::types::TimestampMicrosecondType;
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, TimeUnit};
use icefloe_format::{Error, Result};

/// The greatest distance from 1970 in microseconds that fits into 64 bits of nanoseconds.
const MOST_MICROS: i64 = i64::MAX / 1_000;
const MICROS_PER_SECOND: i64 = 1_000_000;

/// Refuse timestamps that readers do not agree on: pyarrow reads ORC timestamps as nanoseconds in 64 bits, the years 1677
/// to 2262, and Java reads a fraction of a second before 1970 that pyarrow has written as one second earlier.
///
/// # Errors
/// `Unsupported` with the column's name.
pub(super) fn check_instants(name: &str, array: &ArrayRef) -> Result<()> {
    match array.data_type() {
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            let values = array.as_primitive::<TimestampMicrosecondType>();
            let is_far = |value: i64| !(-MOST_MICROS..=MOST_MICROS).contains(&value);
            let is_early_fraction = |value: i64| value < 0 && value % MICROS_PER_SECOND != 0;
            let problem = if values.iter().flatten().any(is_far) {
                "outside of the years 1677 to 2262"
            } else if values.iter().flatten().any(is_early_fraction) {
                "before 1970 with a fraction of a second"
            } else {
                return Ok(());
            };
            Err(Error::unsupported(format!(
                "writing timestamps {problem} to ORC (column {name}); set write.format.default to parquet or avro,"
            )))
        }
        DataType::Struct(_) => {
            array.as_struct().columns().iter().try_for_each(|child| check_instants(name, child))
        }
        DataType::List(_) => check_instants(name, array.as_list::<i32>().values()),
        DataType::LargeList(_) => check_instants(name, array.as_list::<i64>().values()),
        DataType::Map(..) => {
            check_instants(name, array.as_map().keys())?;
            check_instants(name, array.as_map().values())
        }
        _ => Ok(()),
    }
}
