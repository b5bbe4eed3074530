//! Partition tuples as JSON, as rows of a struct array and as directory names.

use arrow_array::{Array, ArrayRef, StructArray};
use serde_json::Value;

use super::arrow_schema::{ArrowOptions, struct_to_arrow};
use super::arrow_values::datums_to_array;
use super::canonical::arrow_failure;
use super::datum::Datum;
use super::partition_spec::PartitionSpec;
use super::schema::Schema;
use super::types::{NestedField, PrimitiveType, StructType};
use super::{json, single_value};
use crate::error::{Error, Result};

/// A partition tuple: one value per field of its spec, `None` for null.
pub type Partition = Vec<Option<Datum>>;

/// Format a tuple as a JSON array of Appendix D's single values, such as `[47,null,"a"]`.
pub fn partition_to_json(partition: &[Option<Datum>]) -> String {
    let values =
        partition.iter().map(|value| value.as_ref().map_or(Value::Null, single_value::to_json));
    Value::Array(values.collect()).to_string()
}

/// Parse a tuple from the form of [`partition_to_json`].
///
/// # Errors
/// `InvalidArgument` where the text is not an array with a value of each field's type.
pub fn partition_from_json(partition_type: &StructType, text: &str) -> Result<Partition> {
    let values = match json::parse("partition", text)? {
        Value::Array(values) if values.len() == partition_type.fields.len() => values,
        Value::Array(values) => {
            let expected = partition_type.fields.len();
            let reason = format!(
                "the number of values does not fit the spec; expected {expected}, got {}",
                values.len()
            );
            return Err(Error::invalid("partition", reason));
        }
        _ => {
            return Err(Error::invalid("partition", format!("expected a JSON array, got {text}")));
        }
    };
    values
        .iter()
        .zip(&partition_type.fields)
        .map(|(value, field)| read_value(field, value))
        .collect()
}

fn read_value(field: &NestedField, value: &Value) -> Result<Option<Datum>> {
    match (value, primitive(field)?) {
        (Value::Null, _) => Ok(None),
        (value, PrimitiveType::Unknown) => untyped(field, value).map(Some),
        (value, value_type) => {
            single_value::from_json(&value_type, value).map(Some).map_err(|error| {
                Error::invalid(format!("partition value {}", field.name), error.to_string())
            })
        }
    }
}

/// Parse a value whose source column was dropped. Its type is unknown, but equal tuples must remain equal.
fn untyped(field: &NestedField, value: &Value) -> Result<Datum> {
    match value {
        Value::Bool(value) => Ok(Datum::Boolean(*value)),
        Value::String(text) => Ok(Datum::String(text.clone())),
        Value::Number(number) => number
            .as_i64()
            .map(Datum::Long)
            .or_else(|| number.as_f64().map(Datum::Double))
            .ok_or_else(|| not_primitive(field)),
        _ => Err(not_primitive(field)),
    }
}

fn primitive(field: &NestedField) -> Result<PrimitiveType> {
    field.field_type.as_primitive().ok_or_else(|| not_primitive(field))
}

fn not_primitive(field: &NestedField) -> Error {
    Error::invalid("partition", format!("the value of field {} is not a single value", field.name))
}

/// Return the value of a partition field in one row of its column.
///
/// # Errors
/// `InvalidArgument` where the column's type does not fit, or a time is not of one day and so has no text.
pub fn partition_value(
    column: &dyn Array,
    row: usize,
    value_type: &PrimitiveType,
) -> Result<Option<Datum>> {
    Datum::from_array(column, row, value_type)?.map(Datum::of_one_day).transpose()
}

/// Return the tuple in one row of a struct array whose children are the partition fields in order.
///
/// # Errors
/// As for [`partition_value`], and `InvalidArgument` for another number of columns.
pub fn partition_from_struct(
    partition_type: &StructType,
    tuples: &StructArray,
    row: usize,
) -> Result<Partition> {
    let columns = tuples.columns();
    if columns.len() != partition_type.fields.len() {
        let expected = partition_type.fields.len();
        let reason = format!(
            "the number of columns does not fit the spec; expected {expected}, got {}",
            columns.len()
        );
        return Err(Error::invalid("partition", reason));
    }
    let pairs = columns.iter().zip(&partition_type.fields);
    let read = pairs.map(|(column, field)| {
        if tuples.is_valid(row) {
            partition_value(column, row, &primitive(field)?)
        } else {
            Ok(None)
        }
    });
    read.collect()
}

/// Return tuples as a struct array with one child per partition field.
pub fn partitions_to_struct(
    partition_type: &StructType,
    partitions: &[Partition],
) -> Result<StructArray> {
    let column = |(position, field): (usize, &NestedField)| -> Result<ArrayRef> {
        let values: Vec<Option<Datum>> =
            partitions.iter().map(|tuple| tuple.get(position).cloned().flatten()).collect();
        datums_to_array(&primitive(field)?, &values)
    };
    let columns = partition_type.fields.iter().enumerate().map(column).collect::<Result<_>>()?;
    let fields = struct_to_arrow(partition_type, ArrowOptions::default());
    StructArray::try_new_with_length(fields, columns, None, partitions.len())
        .map_err(|error| arrow_failure(&error))
}

/// Return the directories of a tuple, `name=value/name=value`, form-encoded; null is `null`. Empty for an unpartitioned
/// spec. Paths are informative: no reader parses them.
///
/// ```
/// use icefloe_format::spec::{Datum, PartitionSpec, Schema, partition_path};
/// let schema = Schema::from_json(
///     r#"{"type":"struct","fields":[{"id":1,"name":"at","required":false,"type":"date"}]}"#,
/// )?;
/// let spec = PartitionSpec::from_json(
///     r#"{"spec-id":0,"fields":[{"name":"at_year","transform":"year","source-id":1,"field-id":1000}]}"#,
/// )?;
/// assert_eq!(partition_path(&spec, &schema, &vec![Some(Datum::Int(47))]), "at_year=2017");
/// # Ok::<(), icefloe_format::Error>(())
/// ```
pub fn partition_path(spec: &PartitionSpec, schema: &Schema, partition: &Partition) -> String {
    if spec.is_unpartitioned() {
        return String::new();
    }
    let directory = |(field, value): (&super::partition_spec::PartitionField, &Option<Datum>)| {
        let source = schema.primitive_type(field.source_id).unwrap_or(PrimitiveType::Unknown);
        let text = field.transform.human_string(&source, value.as_ref());
        format!("{}={}", form_encode(&field.name), form_encode(&text))
    };
    spec.fields.iter().zip(partition).map(directory).collect::<Vec<_>>().join("/")
}

/// Encode text as `application/x-www-form-urlencoded`, as the reference implementation encodes directories.
pub fn form_encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'*' | b'_' => {
                encoded.push(char::from(byte));
            }
            b' ' => encoded.push('+'),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}
