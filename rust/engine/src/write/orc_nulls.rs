//! Nulls of structs in structs, as `pyarrow.orc` needs them.
//!
//! The encoder applies the nulls of a struct to its values only if the struct around it has nulls as well. Otherwise it
//! stores the values below a null, and a reader returns them in the place of later values.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BooleanArray, GenericListArray, MapArray, OffsetSizeTrait, StructArray,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, DataType, FieldRef};
use arrow_select::nullif::nullif;

/// Return a column whose values below a null struct are null themselves.
///
/// # Errors
/// The errors of Arrow for an array that breaks its type.
pub(super) fn with_nulls_below(column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    below(column, None)
}

/// Return an array with the nulls of the structs around it.
fn below(array: &ArrayRef, parent: Option<&NullBuffer>) -> Result<ArrayRef, ArrowError> {
    match array.data_type() {
        DataType::Struct(fields) => {
            let found = array.as_struct();
            let nulls = NullBuffer::union(parent, found.nulls());
            if fields.is_empty() {
                return Ok(Arc::new(StructArray::new_empty_fields(found.len(), nulls)));
            }
            let columns = found.columns().iter().map(|child| below(child, nulls.as_ref()));
            let columns = columns.collect::<Result<Vec<ArrayRef>, ArrowError>>()?;
            Ok(Arc::new(StructArray::try_new(fields.clone(), columns, nulls)?))
        }
        DataType::List(field) => list_below::<i32>(array, field, parent),
        DataType::LargeList(field) => list_below::<i64>(array, field, parent),
        DataType::Map(field, ordered) => {
            let found = array.as_map();
            let DataType::Struct(fields) = field.data_type() else { return Ok(Arc::clone(array)) };
            let columns = vec![Arc::clone(found.keys()), below(found.values(), None)?];
            let entries = StructArray::try_new(fields.clone(), columns, None)?;
            let nulls = NullBuffer::union(parent, found.nulls());
            let offsets = found.offsets().clone();
            Ok(Arc::new(MapArray::try_new(Arc::clone(field), offsets, entries, nulls, *ordered)?))
        }
        _ => without_hidden(array, parent),
    }
}

fn list_below<O: OffsetSizeTrait>(
    array: &ArrayRef,
    field: &FieldRef,
    parent: Option<&NullBuffer>,
) -> Result<ArrayRef, ArrowError> {
    let found = array.as_list::<O>();
    let values = below(found.values(), None)?;
    let nulls = NullBuffer::union(parent, found.nulls());
    let offsets = found.offsets().clone();
    Ok(Arc::new(GenericListArray::<O>::try_new(Arc::clone(field), offsets, values, nulls)?))
}

fn without_hidden(array: &ArrayRef, parent: Option<&NullBuffer>) -> Result<ArrayRef, ArrowError> {
    let Some(parent) = parent.filter(|nulls| nulls.null_count() > 0) else {
        return Ok(Arc::clone(array));
    };
    nullif(array, &BooleanArray::new(!parent.inner(), None))
}

#[cfg(test)]
mod tests {
    use arrow_array::types::Int64Type;
    use arrow_array::{Int64Array, ListArray};
    use arrow_buffer::OffsetBuffer;
    use arrow_schema::{Field, Fields};

    use super::*;

    fn wrapped(child: ArrayRef, nulls: Vec<bool>) -> ArrayRef {
        let fields = Fields::from(vec![Field::new("f", child.data_type().clone(), true)]);
        Arc::new(StructArray::new(fields, vec![child], Some(NullBuffer::from(nulls))))
    }

    /// Three values of which the second is below a null of the inner and the third below one of the outer struct.
    fn nested() -> ArrayRef {
        let values: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
        wrapped(wrapped(values, vec![true, false, true]), vec![true, true, false])
    }

    fn inner_of(outer: &ArrayRef) -> &StructArray {
        outer.as_struct().column(0).as_struct()
    }

    #[test]
    fn values_below_nulls_of_outer_structs_are_null() {
        let found = with_nulls_below(&nested()).unwrap();
        let inner = inner_of(&found);
        assert_eq!(inner.nulls().unwrap(), &NullBuffer::from(vec![true, false, false]));
        let values = inner.column(0).as_primitive::<Int64Type>();
        assert_eq!(values, &Int64Array::from(vec![Some(1), None, None]));
        assert_eq!(found.nulls(), nested().nulls());
    }

    #[test]
    fn structs_in_lists_have_their_own_nulls_alone() {
        let field = Arc::new(Field::new("element", nested().data_type().clone(), true));
        let offsets = OffsetBuffer::from_lengths([2, 1]);
        let list: ArrayRef = Arc::new(ListArray::new(field, offsets, nested(), None));
        let found = with_nulls_below(&wrapped(list, vec![true, false])).unwrap();
        let list = found.as_struct().column(0).as_list::<i32>();
        assert!(list.is_null(1));
        let values = inner_of(list.values()).column(0).as_primitive::<Int64Type>();
        assert_eq!(values, &Int64Array::from(vec![Some(1), None, None]));
    }
}
