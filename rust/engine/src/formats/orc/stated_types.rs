//! The types that attributes of ORC types state: ORC has no times, uuids and bytes of a fixed length.
//!
//! Spec: Appendix A, ORC.

use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, TimeUnit};

use super::file::with_ids;
use super::footer::OrcEnd;
use super::reader::orc_decoder;
use crate::error::Result;
use crate::resolve::request::FileRequest;

const UUID_BYTES: i32 = 16;

/// Return the columns of a file with the types that its attributes state.
///
/// # Errors
/// [`crate::Error::Missing`]; `Corrupt` and `Unsupported` naming the file.
pub(crate) fn orc_schema(request: &FileRequest<'_>) -> Result<Schema> {
    let location = request.location;
    // The decoder may crash the process on a damaged end.
    OrcEnd::read(request.file()?, location)?;
    let reader = orc_decoder(location)?.open(request.io, location)?;
    Ok(with_ids(&Schema::new(reader.schema().fields().iter().map(stated).collect::<Fields>())))
}

/// Return a field with the type that its attributes state.
fn stated(field: &FieldRef) -> FieldRef {
    let attribute = |name: &str| field.metadata().get(name).map(String::as_str);
    let data_type = match field.data_type() {
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(stated).collect()),
        DataType::Int64 if attribute("iceberg.long-type") == Some("TIME") => {
            DataType::Time64(TimeUnit::Microsecond)
        }
        // The decoder returns nanoseconds for all timestamps.
        DataType::Timestamp(_, zone) if attribute("iceberg.timestamp-unit") != Some("NANOS") => {
            DataType::Timestamp(TimeUnit::Microsecond, zone.clone())
        }
        DataType::Binary => match attribute("iceberg.binary-type") {
            Some("UUID") => DataType::FixedSizeBinary(UUID_BYTES),
            Some("FIXED") => {
                let length = attribute("iceberg.length").and_then(|length| length.parse().ok());
                length
                    .filter(|length| *length > 0)
                    .map_or(DataType::Binary, DataType::FixedSizeBinary)
            }
            _ => DataType::Binary,
        },
        other => other.clone(),
    };
    Arc::new(Field::clone(field).with_data_type(data_type))
}
