//! Maps and lists of data files in the layout of the metadata tables' schemas.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ListArray, MapArray, StructArray};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{ArrowError, DataType};
use arrow_select::filter::filter;

use crate::spec::ArrowName;
use crate::{Error, Result};

/// Return a map or list with the field names and nullability of `data_type`; its values are shared. Map entries with a
/// null value, which no reader can use, are dropped.
///
/// # Errors
/// [`Error::InvalidArgument`] if the values have another type.
pub(super) fn in_layout_of(name: &str, array: &ArrayRef, data_type: &DataType) -> Result<ArrayRef> {
    let unfit = || {
        let (expected, found) = (ArrowName(data_type), ArrowName(array.data_type()));
        Error::invalid(
            name,
            format!("the column has another type; expected {expected}, got {found}"),
        )
    };
    let invalid = |error: ArrowError| Error::invalid(name, error.to_string());
    match data_type {
        DataType::Map(entries, _) => {
            let map = without_null_values(array.as_map_opt().ok_or_else(unfit)?)?;
            let (_, offsets, own, nulls, ordered) = map.into_parts();
            let DataType::Struct(fields) = entries.data_type() else { return Err(unfit()) };
            let (_, columns, _) = own.into_parts();
            let own = StructArray::try_new(fields.clone(), columns, None).map_err(invalid)?;
            MapArray::try_new(Arc::clone(entries), offsets, own, nulls, ordered)
                .map(|map| Arc::new(map) as ArrayRef)
                .map_err(invalid)
        }
        DataType::List(element) => {
            let list: ListArray = array.as_list_opt::<i32>().ok_or_else(unfit)?.clone();
            let (_, offsets, values, nulls) = list.into_parts();
            ListArray::try_new(Arc::clone(element), offsets, values, nulls)
                .map(|list| Arc::new(list) as ArrayRef)
                .map_err(invalid)
        }
        _ => Err(unfit()),
    }
}

fn without_null_values(map: &MapArray) -> Result<MapArray> {
    if map.values().null_count() == 0 {
        return Ok(map.clone());
    }
    let invalid = |error: ArrowError| Error::invalid("statistics", error.to_string());
    let kept = arrow_array::BooleanArray::from_iter(
        (0..map.values().len()).map(|entry| Some(map.values().is_valid(entry))),
    );
    let entries = filter(map.entries(), &kept).map_err(invalid)?.as_struct().clone();
    let (field, offsets, _, nulls, ordered) = map.clone().into_parts();
    let ends = offsets.windows(2).map(|ends| match ends {
        [start, end] => (*start..*end)
            .filter(|entry| usize::try_from(*entry).is_ok_and(|entry| kept.value(entry)))
            .count(),
        _ => 0,
    });
    MapArray::try_new(field, OffsetBuffer::from_lengths(ends), entries, nulls, ordered)
        .map_err(invalid)
}
