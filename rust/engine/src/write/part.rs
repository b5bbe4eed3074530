//! A node of a table's schema: how its values are made from their counterpart in the data.
//!
//! Of structs, lists and maps the children are fitted; offsets and nulls stay.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BooleanArray, GenericListArray, MapArray, OffsetSizeTrait, StructArray,
    new_empty_array,
};
use arrow_buffer::{BooleanBufferBuilder, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, FieldRef, Fields};
use arrow_select::filter::filter;
use arrow_select::nullif::nullif;
use icefloe_format::spec::null_array;
use icefloe_format::{Error, Result};

use super::cast::{Cast, mismatch};

/// A node of the table's schema and how it is made from its counterpart in the data.
#[derive(Debug)]
pub(super) struct Part {
    /// Full name of the node.
    pub(super) name: String,
    pub(super) required: bool,
    /// The Arrow type that [`Part::fit`] returns.
    pub(super) data_type: DataType,
    pub(super) step: Step,
}

#[derive(Debug)]
pub(super) enum Step {
    /// The data has no such field: all null.
    Absent,
    /// Casts, one after the other; none if the data has the right type already.
    Casts(Vec<Cast>),
    /// Each field and its position in the data.
    Struct(Vec<(Option<usize>, Part)>),
    /// Make it a list with 32-bit or 64-bit offsets first, then fit the elements.
    List(Option<DataType>, Box<Part>),
    /// Fit keys and values.
    Map(Box<Part>, Box<Part>),
}

impl Part {
    /// Return the array in the table's type; nulls of required fields are checked by the parent.
    pub(super) fn fit(&self, array: &ArrayRef) -> Result<ArrayRef> {
        // Libraries leave the offsets of an array without values undefined.
        if array.is_empty() {
            return Ok(new_empty_array(&self.data_type));
        }
        match &self.step {
            Step::Absent => null_array(&self.data_type, array.len()),
            Step::Casts(casts) => casts
                .iter()
                .try_fold(Arc::clone(array), |array, cast| cast.apply(&self.name, &array)),
            Step::Struct(parts) => fit_struct(self, parts, array),
            Step::List(container, element) => fit_list(self, container.as_ref(), element, array),
            Step::Map(key, value) => fit_map(self, key, value, array),
        }
    }

    /// Return whether fitting changes no value.
    pub(super) fn keeps_values(&self) -> bool {
        matches!(&self.step, Step::Casts(casts) if casts.is_empty())
    }

    /// Refuse a null of a required node where its parent is not null.
    pub(super) fn check_nulls(&self, array: &ArrayRef, parent: Option<&NullBuffer>) -> Result<()> {
        if !self.required || !array.is_nullable() {
            return Ok(());
        }
        let Some(nulls) = array.logical_nulls().filter(|nulls| nulls.null_count() > 0) else {
            return Ok(());
        };
        if parent.is_some_and(|parent| parent.contains(&nulls)) {
            return Ok(());
        }
        Err(self.mismatch("nulls", "values without nulls"))
    }

    pub(super) fn mismatch(&self, found: impl Into<String>, expected: impl Into<String>) -> Error {
        mismatch(&self.name, found, expected)
    }
}

fn fit_struct(part: &Part, parts: &[(Option<usize>, Part)], array: &ArrayRef) -> Result<ArrayRef> {
    let DataType::Struct(fields) = &part.data_type else { return Err(unexpected(part, array)) };
    let Some(found) = array.as_struct_opt() else { return Err(unexpected(part, array)) };
    let columns = parts.iter().map(|(position, child)| {
        let column = match position {
            Some(position) => child.fit(&child.visible(found.column(*position), found.nulls())?)?,
            None => null_array(&child.data_type, found.len())?,
        };
        child.check_nulls(&column, found.nulls())?;
        Ok(column)
    });
    let columns: Vec<ArrayRef> = columns.collect::<Result<_>>()?;
    let nulls = found.nulls().cloned();
    let made = if columns.is_empty() {
        Ok(StructArray::new_empty_fields(found.len(), nulls))
    } else {
        StructArray::try_new(fields.clone(), columns, nulls)
    };
    made.map(|made| Arc::new(made) as ArrayRef).map_err(|error| refused(part, error))
}

impl Part {
    /// Return the array with the nulls of a struct around it: values below a null must not make a cast fail.
    fn visible(&self, array: &ArrayRef, parent: Option<&NullBuffer>) -> Result<ArrayRef> {
        let Some(parent) = parent.filter(|nulls| !self.keeps_values() && nulls.null_count() > 0)
        else {
            return Ok(Arc::clone(array));
        };
        let below_null = BooleanArray::new(!parent.inner(), None);
        nullif(array, &below_null).map_err(|error| refused(self, error))
    }
}

fn fit_list(
    part: &Part,
    container: Option<&DataType>,
    element: &Part,
    array: &ArrayRef,
) -> Result<ArrayRef> {
    let list = match container {
        None => Arc::clone(array),
        Some(list_type) => {
            arrow_cast::cast(array, list_type).map_err(|error| refused(part, error))?
        }
    };
    match &part.data_type {
        DataType::List(field) => fit_offsets::<i32>(part, element, field, &list),
        DataType::LargeList(field) => fit_offsets::<i64>(part, element, field, &list),
        _ => Err(unexpected(part, array)),
    }
}

fn fit_offsets<O: OffsetSizeTrait>(
    part: &Part,
    element: &Part,
    field: &FieldRef,
    array: &ArrayRef,
) -> Result<ArrayRef> {
    let Some(list) = array.as_list_opt::<O>() else { return Err(unexpected(part, array)) };
    let nulls = list.nulls().cloned();
    let (offsets, values) = used(list.offsets(), list.values(), nulls.as_ref())
        .map_err(|error| refused(part, error))?;
    let values = element.fit(&values)?;
    element.check_nulls(&values, None)?;
    GenericListArray::<O>::try_new(Arc::clone(field), offsets, values, nulls)
        .map(|made| Arc::new(made) as ArrayRef)
        .map_err(|error| refused(part, error))
}

fn fit_map(part: &Part, key: &Part, value: &Part, array: &ArrayRef) -> Result<ArrayRef> {
    let (DataType::Map(field, ordered), Some(map)) = (&part.data_type, array.as_map_opt()) else {
        return Err(unexpected(part, array));
    };
    let DataType::Struct(fields) = field.data_type() else { return Err(unexpected(part, array)) };
    let nulls = map.nulls().cloned();
    let (offsets, keys) =
        used(map.offsets(), map.keys(), nulls.as_ref()).map_err(|error| refused(part, error))?;
    let (_, values) =
        used(map.offsets(), map.values(), nulls.as_ref()).map_err(|error| refused(part, error))?;
    let entries = fit_entries(fields, (key, &keys), (value, &values))?;
    MapArray::try_new(Arc::clone(field), offsets, entries, nulls, *ordered)
        .map(|made| Arc::new(made) as ArrayRef)
        .map_err(|error| refused(part, error))
}

fn fit_entries(
    fields: &Fields,
    (key, keys): (&Part, &ArrayRef),
    (value, values): (&Part, &ArrayRef),
) -> Result<StructArray> {
    let keys = key.fit(keys)?;
    key.check_nulls(&keys, None)?;
    let values = value.fit(values)?;
    value.check_nulls(&values, None)?;
    StructArray::try_new(fields.clone(), vec![keys, values], None)
        .map_err(|error| refused(value, error))
}

/// Return offsets from zero and the values that they span: values of no row, and values below a null, must not be cast or
/// counted. A null list of fixed size has values below it.
fn used<O: OffsetSizeTrait>(
    offsets: &OffsetBuffer<O>,
    values: &ArrayRef,
    nulls: Option<&NullBuffer>,
) -> Result<(OffsetBuffer<O>, ArrayRef), ArrowError> {
    let (first, last) = (offsets[0], offsets[offsets.len() - 1]);
    let (start, end) = (first.as_usize(), last.as_usize());
    if let Some(nulls) = nulls.filter(|nulls| nulls.null_count() > 0) {
        let rows = || offsets.lengths().zip(nulls.iter());
        let kept = || rows().map(|(length, is_valid)| if is_valid { length } else { 0 });
        if kept().sum::<usize>() < end - start {
            let mut mask = BooleanBufferBuilder::new(end - start);
            rows().for_each(|(length, is_valid)| mask.append_n(length, is_valid));
            let mask = BooleanArray::new(mask.finish(), None);
            let values = filter(&values.slice(start, end - start), &mask)?;
            return Ok((OffsetBuffer::from_lengths(kept()), values));
        }
    }
    if start == 0 && end == values.len() {
        return Ok((offsets.clone(), Arc::clone(values)));
    }
    let shifted: ScalarBuffer<O> = offsets.iter().map(|offset| *offset - first).collect();
    Ok((OffsetBuffer::new(shifted), values.slice(start, end - start)))
}

fn unexpected(part: &Part, array: &ArrayRef) -> Error {
    part.mismatch(array.data_type().to_string(), part.data_type.to_string())
}

fn refused(part: &Part, error: ArrowError) -> Error {
    part.mismatch(error.to_string(), part.data_type.to_string())
}
