//! Columns of the table's schema, made from decoded columns of a file.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Int64Array, ListArray, MapArray, StructArray,
    UInt32Array,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use arrow_select::take::take;
use icefloe_format::spec::null_array;
use roaring::RoaringTreemap;

use super::convert::Conversion;

/// The rule that makes a column from decoded columns.
#[derive(Debug, Clone)]
pub(crate) enum ColumnPlan {
    /// Null in every row.
    Null(DataType),
    /// One value in every row, held by an array of length 1.
    Constant(ArrayRef),
    /// A decoded leaf.
    Leaf { index: usize, conversion: Conversion },
    /// A decoded struct, field by field.
    Struct { index: usize, fields: Fields, children: Vec<ColumnPlan> },
    /// A decoded list and its element.
    List { index: usize, element: FieldRef, child: Box<ColumnPlan> },
    /// A decoded map, its key and its value.
    Map { index: usize, entries: FieldRef, children: Vec<ColumnPlan> },
    /// The physical row number, which the decoder appends as the last column.
    Position,
    /// Whether the row's physical number is in this set.
    Deleted(Arc<RoaringTreemap>),
}

/// Make one column of `rows` values. `decoded` are the columns decoded at the plan's level, in
/// file order.
pub(crate) fn assemble(
    plan: &ColumnPlan,
    decoded: &[ArrayRef],
    rows: usize,
) -> Result<ArrayRef, ArrowError> {
    match plan {
        ColumnPlan::Null(data_type) => {
            null_array(data_type, rows).map_err(|error| ArrowError::MemoryError(error.to_string()))
        }
        ColumnPlan::Constant(value) => repeat(value, rows),
        ColumnPlan::Leaf { index, conversion } => conversion.apply(column(decoded, *index)?),
        ColumnPlan::Struct { index, fields, children } => {
            let source = column(decoded, *index)?.as_struct();
            let nulls = source.nulls().cloned();
            if children.is_empty() {
                return Ok(Arc::new(StructArray::new_empty_fields(rows, nulls)));
            }
            let below = null_below(source)?;
            let columns = children
                .iter()
                .map(|child| assemble(child, &below, rows))
                .collect::<Result<Vec<_>, _>>()?;
            Ok(Arc::new(StructArray::try_new(fields.clone(), columns, nulls)?))
        }
        ColumnPlan::List { index, element, child } => {
            let source = column(decoded, *index)?.as_list::<i32>();
            let values = source.values();
            let values = assemble(child, std::slice::from_ref(values), values.len())?;
            let nulls = source.nulls().cloned();
            let list =
                ListArray::try_new(element.clone(), source.offsets().clone(), values, nulls)?;
            Ok(Arc::new(list))
        }
        ColumnPlan::Map { index, entries, children } => {
            let source = column(decoded, *index)?.as_map();
            let columns = children
                .iter()
                .map(|child| assemble(child, source.entries().columns(), source.entries().len()))
                .collect::<Result<Vec<_>, _>>()?;
            let DataType::Struct(fields) = entries.data_type() else {
                return Err(ArrowError::SchemaError(
                    "the entries of a map are not a struct".into(),
                ));
            };
            let parts = StructArray::try_new(fields.clone(), columns, None)?;
            let (offsets, nulls) = (source.offsets().clone(), source.nulls().cloned());
            Ok(Arc::new(MapArray::try_new(entries.clone(), offsets, parts, nulls, false)?))
        }
        ColumnPlan::Position => Ok(Arc::new(row_numbers(decoded)?.clone())),
        ColumnPlan::Deleted(deleted) => {
            let numbers = row_numbers(decoded)?.values();
            let among = |number: &i64| u64::try_from(*number).is_ok_and(|it| deleted.contains(it));
            Ok(Arc::new(BooleanArray::from(numbers.iter().map(among).collect::<Vec<_>>())))
        }
    }
}

/// Return the fields of a struct, with binaries and structs null where the struct is null. The decoder returns an empty
/// value for a required field of a null struct, which no conversion to a fixed length takes.
fn null_below(source: &StructArray) -> Result<Vec<ArrayRef>, ArrowError> {
    let Some(nulls) = source.nulls() else { return Ok(source.columns().to_vec()) };
    let nullified = |column: &ArrayRef| -> Result<ArrayRef, ArrowError> {
        let nulls = NullBuffer::union(Some(nulls), column.nulls());
        Ok(match column.data_type() {
            DataType::Binary => {
                let (offsets, bytes, _) = column.as_binary::<i32>().clone().into_parts();
                Arc::new(BinaryArray::try_new(offsets, bytes, nulls)?)
            }
            DataType::Struct(fields) if !fields.is_empty() => {
                let (fields, columns, _) = column.as_struct().clone().into_parts();
                Arc::new(StructArray::try_new(fields, columns, nulls)?)
            }
            _ => Arc::clone(column),
        })
    };
    source.columns().iter().map(nullified).collect()
}

/// Return a schema with the dictionary types of those columns that are dictionaries of its types.
pub(crate) fn schema_of(schema: &SchemaRef, columns: &[ArrayRef]) -> SchemaRef {
    let is_dictionary = |column: &ArrayRef| matches!(column.data_type(), DataType::Dictionary(..));
    if !columns.iter().any(is_dictionary) {
        return Arc::clone(schema);
    }
    let fields = schema.fields().iter().zip(columns);
    let fields = fields.map(|(field, column)| match column.data_type() {
        DataType::Dictionary(_, values) if values.as_ref() == field.data_type() => {
            Arc::new(Field::clone(field).with_data_type(column.data_type().clone()))
        }
        _ => Arc::clone(field),
    });
    Arc::new(Schema::new(fields.collect::<Fields>()))
}

fn row_numbers(decoded: &[ArrayRef]) -> Result<&Int64Array, ArrowError> {
    let numbers = decoded.last().and_then(|numbers| numbers.as_any().downcast_ref());
    numbers.ok_or_else(|| missing(decoded.len()))
}

/// Return a value `rows` times.
fn repeat(value: &ArrayRef, rows: usize) -> Result<ArrayRef, ArrowError> {
    take(value, &UInt32Array::from(vec![0; rows]), None)
}

fn column(decoded: &[ArrayRef], index: usize) -> Result<&ArrayRef, ArrowError> {
    decoded.get(index).ok_or_else(|| missing(index))
}

fn missing(index: usize) -> ArrowError {
    ArrowError::SchemaError(format!("the decoder returned no column {index}"))
}
