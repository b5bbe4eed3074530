//! Columns of the table's schema, made from decoded columns of a file.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Int64Array, ListArray, MapArray, StructArray, UInt32Array,
    new_null_array,
};
use arrow_schema::{ArrowError, DataType, FieldRef, Fields};
use arrow_select::take::take;
use roaring::RoaringTreemap;

use super::convert::Conversion;

/// How to make one column from decoded columns.
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

/// A column of nulls takes at most this many bytes: those of a `fixed` have its length, which a schema may state as it likes.
const MAX_NULL_BYTES: usize = 1 << 31;

fn null_column(data_type: &DataType, rows: usize) -> Result<ArrayRef, ArrowError> {
    if fixed_bytes(data_type).saturating_mul(rows) > MAX_NULL_BYTES {
        let reason = format!("{rows} nulls of {data_type} take more than {MAX_NULL_BYTES} bytes");
        return Err(ArrowError::MemoryError(reason));
    }
    Ok(new_null_array(data_type, rows))
}

/// Bytes of each row in the `fixed` columns of a type, which nulls take as well.
fn fixed_bytes(data_type: &DataType) -> usize {
    match data_type {
        DataType::FixedSizeBinary(length) => usize::try_from(*length).unwrap_or(usize::MAX),
        DataType::Struct(fields) => {
            let sizes = fields.iter().map(|field| fixed_bytes(field.data_type()));
            sizes.fold(0, usize::saturating_add)
        }
        _ => 0,
    }
}

/// Make one column of `rows` values. `decoded` are the columns decoded at the plan's level, in
/// file order.
pub(crate) fn assemble(
    plan: &ColumnPlan,
    decoded: &[ArrayRef],
    rows: usize,
) -> Result<ArrayRef, ArrowError> {
    match plan {
        ColumnPlan::Null(data_type) => null_column(data_type, rows),
        ColumnPlan::Constant(value) => repeat(value, rows),
        ColumnPlan::Leaf { index, conversion } => conversion.apply(column(decoded, *index)?),
        ColumnPlan::Struct { index, fields, children } => {
            let source = column(decoded, *index)?.as_struct();
            let nulls = source.nulls().cloned();
            if children.is_empty() {
                return Ok(Arc::new(StructArray::new_empty_fields(rows, nulls)));
            }
            let columns = children
                .iter()
                .map(|child| assemble(child, source.columns(), rows))
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

fn row_numbers(decoded: &[ArrayRef]) -> Result<&Int64Array, ArrowError> {
    let numbers = decoded.last().and_then(|numbers| numbers.as_any().downcast_ref());
    numbers.ok_or_else(|| missing(decoded.len()))
}

/// A value `rows` times.
fn repeat(value: &ArrayRef, rows: usize) -> Result<ArrayRef, ArrowError> {
    take(value, &UInt32Array::from(vec![0; rows]), None)
}

fn column(decoded: &[ArrayRef], index: usize) -> Result<&ArrayRef, ArrowError> {
    decoded.get(index).ok_or_else(|| missing(index))
}

fn missing(index: usize) -> ArrowError {
    ArrowError::SchemaError(format!("the decoder returned no column {index}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nulls_of_a_long_fixed_are_refused_before_they_are_allocated() {
        let wide = DataType::FixedSizeBinary(i32::MAX);
        let nested =
            DataType::Struct(vec![arrow_schema::Field::new("f", wide.clone(), true)].into());
        for data_type in [wide, nested] {
            let refused = null_column(&data_type, 1_000).unwrap_err().to_string();
            assert!(refused.contains("1000 nulls of"), "{refused}");
        }
        assert_eq!(null_column(&DataType::FixedSizeBinary(16), 1_000).unwrap().null_count(), 1_000);
    }
}
