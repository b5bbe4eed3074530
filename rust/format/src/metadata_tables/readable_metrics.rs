//! `readable_metrics`: the statistics of each column of a table under its name, bounds in the column's type.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, Int64Array, MapArray, RecordBatch, StructArray};
use arrow_buffer::NullBuffer;

use crate::spec::{
    ArrowOptions, NestedField, PrimitiveType, Schema, StructType, null_array, primitive_to_arrow,
    single_values, struct_to_arrow, type_to_arrow,
};
use crate::{Error, Result};

/// The metrics of a column, and the statistics of a data file that hold them.
const COUNTS: [(&str, &str); 4] = [
    ("column_size", "column_sizes"),
    ("value_count", "value_counts"),
    ("null_value_count", "null_value_counts"),
    ("nan_value_count", "nan_value_counts"),
];
const BOUNDS: [(&str, &str); 2] =
    [("lower_bound", "lower_bounds"), ("upper_bound", "upper_bounds")];

/// Return the ids of the table's columns whose metrics `wanted`, the type of `readable_metrics`, holds.
pub fn metrics_field_ids(table: &Schema, wanted: &StructType) -> Vec<i32> {
    wanted.fields.iter().filter_map(|field| table.id_by_name(&field.name, true)).collect()
}

/// Return one struct for each column of `wanted`, with null for every metric that a file does not have.
///
/// # Errors
/// [`Error::InvalidArgument`] if `wanted` is not the type of `readable_metrics`.
pub(super) fn readable_metrics(
    entries: &RecordBatch,
    table: &Schema,
    wanted: &StructType,
) -> Result<ArrayRef> {
    let rows = entries.num_rows();
    let slots = Slots::of(table, wanted);
    let has = |metric: &str| {
        let mut columns = wanted.fields.iter().filter_map(|field| field.field_type.as_struct());
        columns.any(|column| column.fields.iter().any(|field| field.name == metric))
    };
    let mut metrics: HashMap<&str, Vec<ArrayRef>> = HashMap::new();
    for (metric, statistics) in COUNTS.into_iter().filter(|(metric, _)| has(metric)) {
        metrics.insert(metric, slots.counts(map(entries, statistics)?)?);
    }
    for (metric, statistics) in BOUNDS.into_iter().filter(|(metric, _)| has(metric)) {
        metrics.insert(metric, slots.bounds(map(entries, statistics)?)?);
    }
    let columns = wanted.fields.iter().enumerate().map(|(slot, column)| -> Result<ArrayRef> {
        let members = column.field_type.as_struct().cloned().unwrap_or_default();
        let values = members.fields.iter().map(|member| {
            let found = metrics.get(member.name.as_str()).and_then(|found| found.get(slot));
            let data_type = type_to_arrow(&member.field_type, ArrowOptions::default());
            match found.filter(|found| *found.data_type() == data_type) {
                Some(found) => Ok(Arc::clone(found)),
                None => null_array(&data_type, rows),
            }
        });
        structs(&members, values.collect::<Result<_>>()?, rows)
    });
    structs(wanted, columns.collect::<Result<_>>()?, rows)
}

fn structs(fields: &StructType, columns: Vec<ArrayRef>, rows: usize) -> Result<ArrayRef> {
    let fields = struct_to_arrow(fields, ArrowOptions::default());
    StructArray::try_new_with_length(fields, columns, None, rows)
        .map(|array| Arc::new(array) as ArrayRef)
        .map_err(|error| Error::invalid("readable_metrics", error.to_string()))
}

fn map<'a>(entries: &'a RecordBatch, name: &str) -> Result<&'a MapArray> {
    let column = entries.column_by_name(name).and_then(|column| column.as_map_opt());
    column.ok_or_else(|| Error::invalid(name, "the column is missing"))
}

/// The columns of `readable_metrics`, by field id.
struct Slots {
    types: Vec<PrimitiveType>,
    by_id: HashMap<i32, usize>,
}

impl Slots {
    fn of(table: &Schema, wanted: &StructType) -> Self {
        let mut by_id = HashMap::new();
        let mut types = Vec::with_capacity(wanted.fields.len());
        for (slot, field) in wanted.fields.iter().enumerate() {
            let id = table.id_by_name(&field.name, true);
            by_id.extend(id.map(|id| (id, slot)));
            types.push(bound_type(field).unwrap_or(PrimitiveType::Unknown));
        }
        Self { types, by_id }
    }

    /// Call `found` with the row, the slot and the entry of each statistic of these columns.
    ///
    /// Writers list the columns of all files in the same order, so the slot at the same place of the last map is tried
    /// before a look-up.
    fn each(&self, map: &MapArray, mut found: impl FnMut(usize, usize, usize)) {
        let keys = map.keys().as_primitive::<Int32Type>().values();
        let mut guesses: Vec<(i32, Option<usize>)> = Vec::new();
        for (row, ends) in map.value_offsets().windows(2).enumerate() {
            let [start, end] = ends else { continue };
            let (Ok(start), Ok(end)) = (usize::try_from(*start), usize::try_from(*end)) else {
                continue;
            };
            if map.is_null(row) {
                continue;
            }
            for (place, key) in keys.get(start..end).unwrap_or_default().iter().enumerate() {
                let slot = match guesses.get(place) {
                    Some((guessed, slot)) if guessed == key => *slot,
                    _ => {
                        let slot = self.by_id.get(key).copied();
                        match guesses.get_mut(place) {
                            Some(guess) => *guess = (*key, slot),
                            None => guesses.push((*key, slot)),
                        }
                        slot
                    }
                };
                if let Some(slot) = slot {
                    found(row, slot, start + place);
                }
            }
        }
    }

    fn counts(&self, map: &MapArray) -> Result<Vec<ArrayRef>> {
        let numbers = map.values().as_primitive_opt::<Int64Type>();
        let numbers = numbers.ok_or_else(|| Error::invalid("counts", "expected long values"))?;
        let mut counts = vec![(vec![0_i64; map.len()], vec![false; map.len()]); self.types.len()];
        self.each(map, |row, slot, entry| {
            let Some((values, valid)) = counts.get_mut(slot) else { return };
            if let (Some(value), Some(valid)) = (values.get_mut(row), valid.get_mut(row))
                && numbers.is_valid(entry)
            {
                (*value, *valid) = (numbers.value(entry), true);
            }
        });
        let columns = counts.into_iter().map(|(values, valid)| {
            Arc::new(Int64Array::new(values.into(), Some(NullBuffer::from(valid)))) as ArrayRef
        });
        Ok(columns.collect())
    }

    fn bounds(&self, map: &MapArray) -> Result<Vec<ArrayRef>> {
        let texts = map.values().as_binary_opt::<i32>();
        let texts = texts.ok_or_else(|| Error::invalid("bounds", "expected binary values"))?;
        let mut bounds: Vec<Vec<Option<&[u8]>>> = vec![vec![None; map.len()]; self.types.len()];
        self.each(map, |row, slot, entry| {
            let bound = bounds.get_mut(slot).and_then(|bounds| bounds.get_mut(row));
            if let Some(bound) = bound.filter(|_| texts.is_valid(entry)) {
                *bound = Some(texts.value(entry));
            }
        });
        self.types
            .iter()
            .zip(bounds)
            .map(|(value_type, bounds)| decoded(value_type, bounds))
            .collect()
    }
}

/// Return the type of a column's bounds: that of the column, or binary for a `fixed` of many bytes.
fn bound_type(column: &NestedField) -> Option<PrimitiveType> {
    let members = column.field_type.as_struct()?;
    let mut bounds =
        members.fields.iter().filter(|it| BOUNDS.iter().any(|(name, _)| *name == it.name));
    bounds.next()?.field_type.as_primitive()
}

/// Decode bounds; one that is no value of its type is null, so that a damaged statistic does not hide the others.
fn decoded(value_type: &PrimitiveType, mut bounds: Vec<Option<&[u8]>>) -> Result<ArrayRef> {
    if *value_type == PrimitiveType::Unknown {
        return null_array(&primitive_to_arrow(value_type), bounds.len());
    }
    if let Ok(found) = single_values::decode_values(value_type, bounds.iter().copied()) {
        return Ok(found);
    }
    for bound in &mut bounds {
        let decodes = single_values::decode_values(value_type, std::iter::once(*bound)).is_ok();
        *bound = bound.filter(|_| decodes);
    }
    single_values::decode_values(value_type, bounds.into_iter())
}
