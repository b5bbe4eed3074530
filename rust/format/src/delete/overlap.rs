//! The equality delete files that can share a key with a data file, by their statistics.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int32Type, Int64Type,
    Time64MicrosecondType, TimestampMicrosecondType, TimestampNanosecondType,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::ScalarBuffer;
use arrow_ord::ord::{DynComparator, make_comparator};
use arrow_schema::SortOptions;

use super::table_facts::TableFacts;
use crate::error::{Error, Result};
use crate::predicate::{ColumnFacts, FileStats, file_facts};
use crate::spec::PrimitiveType;

/// Statistics of the equality fields of delete files.
#[derive(Debug)]
pub(super) struct Overlap {
    /// For each delete file, the indices of its equality fields in `fields`.
    field_indices: Vec<Vec<usize>>,
    fields: Vec<EqualityField>,
}

#[derive(Debug)]
struct EqualityField {
    field_id: i32,
    field_type: PrimitiveType,
    nested: bool,
    deletes: ColumnFacts,
    numbers: Option<Numbers>,
}

impl Overlap {
    pub(super) fn new(deletes: &RecordBatch, table: &dyn TableFacts) -> Result<Self> {
        let ids = equality_ids(deletes)?;
        let stats = FileStats::new(deletes);
        let mut known: BTreeMap<i32, usize> = BTreeMap::new();
        let mut fields = Vec::new();
        for field_id in ids.iter().flatten() {
            // Bounds of a field that is in no schema cannot be decoded.
            let Some((field_type, nested)) = table.equality_field(*field_id) else { continue };
            if !known.contains_key(field_id) {
                let deletes = file_facts(&stats, *field_id, &field_type, nested)?;
                known.insert(*field_id, fields.len());
                let numbers = numbers_of(&field_type, &deletes);
                let field_id = *field_id;
                fields.push(EqualityField { field_id, field_type, nested, deletes, numbers });
            }
        }
        let field_indices = ids
            .iter()
            .map(|ids| ids.iter().filter_map(|id| known.get(id).copied()).collect())
            .collect();
        Ok(Self { field_indices, fields })
    }

    /// Add the statistics of data files.
    pub(super) fn with(&self, data: &RecordBatch) -> Result<Pairs<'_>> {
        let stats = FileStats::new(data);
        let mut columns = Vec::with_capacity(self.fields.len());
        for field in &self.fields {
            let data = file_facts(&stats, field.field_id, &field.field_type, field.nested)?;
            columns.push(PairedColumn::new(field, data)?);
        }
        Ok(Pairs { field_indices: &self.field_indices, columns })
    }

    /// Return the field with both bounds, and without null and NaN, in most of these delete files, and which files
    /// those are.
    pub(super) fn best_bounded_field(&self, deletes: &[u32]) -> Option<(usize, Vec<bool>)> {
        let bounded = |row: &u32, field_index: usize| {
            let row = *row as usize;
            let field = self.fields.get(field_index).filter(|field| field.numbers.is_some());
            let has_place = self
                .field_indices
                .get(row)
                .is_some_and(|field_indices| field_indices.contains(&field_index));
            has_place && field.is_some_and(|field| field.is_bounded(row))
        };
        let of_field = |field_index: usize| -> Vec<bool> {
            deletes.iter().map(|row| bounded(row, field_index)).collect()
        };
        let counted = (0..self.fields.len()).map(|field_index| {
            let parted = of_field(field_index);
            (parted.iter().filter(|bounded| **bounded).count(), field_index, parted)
        });
        let (count, field_index, parted) = counted.max_by_key(|(count, ..)| *count)?;
        (count > 0).then_some((field_index, parted))
    }

    /// Return the equality fields of these delete files if they are equal.
    pub(super) fn common_fields(&self, deletes: &[u32]) -> Option<&[usize]> {
        let fields = self.field_indices.get(*deletes.first()? as usize)?;
        let alike = deletes.iter().all(|row| self.field_indices.get(*row as usize) == Some(fields));
        (alike && !fields.is_empty()).then_some(fields)
    }

    /// Return the extent of a field in a delete file.
    pub(super) fn extent(&self, field_index: usize, row: usize) -> Option<Extent> {
        let field = self.fields.get(field_index)?;
        Some(Extent::of(&field.deletes, field.numbers.as_ref(), row))
    }

    /// Return the bounds of a field in a delete file as numbers.
    pub(super) fn bounds(&self, field_index: usize, row: usize) -> Option<(i64, i64)> {
        let numbers = self.fields.get(field_index)?.numbers.as_ref()?;
        Some((*numbers.lower.get(row)?, *numbers.upper.get(row)?))
    }
}

/// The values that a file may have in a field, as numbers; a missing bound is the least or the greatest number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    pub(super) nulls: bool,
    pub(super) values: bool,
    pub(super) lower: i64,
    pub(super) upper: i64,
}

impl Extent {
    fn of(facts: &ColumnFacts, numbers: Option<&Numbers>, file: usize) -> Self {
        let number = |bounds: Option<&ArrayRef>, of: fn(&Numbers) -> &[i64]| {
            let valid = bounds.is_some_and(|bounds| bounds.is_valid(file));
            numbers.filter(|_| valid).and_then(|numbers| of(numbers).get(file)).copied()
        };
        Self {
            nulls: facts.may_be_null.value(file),
            values: facts.may_have_values.value(file),
            lower: number(facts.lower(), |numbers| &numbers.lower).unwrap_or(i64::MIN),
            upper: number(facts.upper(), |numbers| &numbers.upper).unwrap_or(i64::MAX),
        }
    }
}

impl EqualityField {
    fn is_ordered(&self) -> bool {
        is_ordered(&self.field_type)
    }

    fn is_bounded(&self, delete: usize) -> bool {
        let facts = &self.deletes;
        let valid = |bounds: Option<&ArrayRef>| bounds.is_some_and(|b| b.is_valid(delete));
        !facts.may_be_null.value(delete)
            && !facts.may_be_nan.value(delete)
            && valid(facts.lower())
            && valid(facts.upper())
    }
}

/// Whether bounds of a type are comparable: writers order UUIDs in two ways.
fn is_ordered(field_type: &PrimitiveType) -> bool {
    *field_type != PrimitiveType::Uuid
}

/// Return both bounds of files as numbers, if they are comparable.
fn numbers_of(field_type: &PrimitiveType, facts: &ColumnFacts) -> Option<Numbers> {
    let both = facts.lower().zip(facts.upper()).filter(|_| is_ordered(field_type));
    both.and_then(|(lower, upper)| Numbers::new(lower, upper))
}

fn comparator(left: &ArrayRef, right: &ArrayRef) -> Result<DynComparator> {
    make_comparator(left, right, SortOptions::default())
        .map_err(|error| Error::invalid("bounds", error.to_string()))
}

/// Statistics of data files and delete files.
pub(super) struct Pairs<'a> {
    field_indices: &'a [Vec<usize>],
    columns: Vec<PairedColumn<'a>>,
}

impl Pairs<'_> {
    /// Whether a data file may have a key of a delete file: both may have a common value, null or NaN in every equality
    /// field.
    pub(super) fn might_share_key(&self, data_file: usize, delete_file: usize) -> bool {
        let field_indices = self.field_indices.get(delete_file).map_or(&[][..], Vec::as_slice);
        let mut columns =
            field_indices.iter().filter_map(|field_index| self.columns.get(*field_index));
        columns.all(|column| column.may_share(data_file, delete_file))
    }

    /// Return the extent of a field in a data file.
    pub(super) fn extent(&self, field_index: usize, data: usize) -> Option<Extent> {
        let column = self.columns.get(field_index)?;
        Some(Extent::of(&column.data, column.numbers.as_ref(), data))
    }

    /// Return the bounds of a field in a data file as numbers; `None` unless it has both.
    pub(super) fn bounds(&self, field_index: usize, data: usize) -> Option<(i64, i64)> {
        let column = self.columns.get(field_index)?;
        let valid = |bounds: Option<&ArrayRef>| bounds.is_some_and(|b| b.is_valid(data));
        if !(valid(column.data.lower()) && valid(column.data.upper())) {
            return None;
        }
        let numbers = column.numbers.as_ref()?;
        Some((*numbers.lower.get(data)?, *numbers.upper.get(data)?))
    }
}

struct PairedColumn<'a> {
    data: ColumnFacts,
    numbers: Option<Numbers>,
    deletes: &'a ColumnFacts,
    data_lower_to_delete_upper: Option<DynComparator>,
    data_upper_to_delete_lower: Option<DynComparator>,
}

impl<'a> PairedColumn<'a> {
    fn new(field: &'a EqualityField, data: ColumnFacts) -> Result<Self> {
        let deletes = &field.deletes;
        let order = |left: Option<&ArrayRef>, right: Option<&ArrayRef>| {
            let both = left.zip(right).filter(|_| field.is_ordered());
            both.map(|(left, right)| comparator(left, right)).transpose()
        };
        let data_lower_to_delete_upper = order(data.lower(), deletes.upper())?;
        let data_upper_to_delete_lower = order(data.upper(), deletes.lower())?;
        let numbers = numbers_of(&field.field_type, &data);
        Ok(Self { data, numbers, deletes, data_lower_to_delete_upper, data_upper_to_delete_lower })
    }

    fn may_share(&self, data: usize, delete: usize) -> bool {
        let null = self.data.may_be_null.value(data) && self.deletes.may_be_null.value(delete);
        let nan = self.data.may_be_nan.value(data) && self.deletes.may_be_nan.value(delete);
        let value =
            self.data.may_have_values.value(data) && self.deletes.may_have_values.value(delete);
        null || nan || (value && !self.is_disjoint(data, delete))
    }

    fn is_disjoint(&self, data: usize, delete: usize) -> bool {
        let valid = |bounds: Option<&ArrayRef>, row| bounds.is_some_and(|b| b.is_valid(row));
        let above = valid(self.data.lower(), data) && valid(self.deletes.upper(), delete);
        let below = valid(self.data.upper(), data) && valid(self.deletes.lower(), delete);
        let is = |order: &Option<DynComparator>, wanted| {
            order.as_ref().is_some_and(|order| order(data, delete) == wanted)
        };
        (above && is(&self.data_lower_to_delete_upper, Ordering::Greater))
            || (below && is(&self.data_upper_to_delete_lower, Ordering::Less))
    }
}

/// Return the equality ids of each file; none for position deletes.
fn equality_ids(deletes: &RecordBatch) -> Result<Vec<Vec<i32>>> {
    let Some(column) = deletes.column_by_name("equality_ids") else {
        return Ok(vec![Vec::new(); deletes.num_rows()]);
    };
    let unexpected =
        || Error::invalid("column equality_ids", "has another type; expected list<int32>");
    let lists = column.as_list_opt::<i32>().ok_or_else(unexpected)?;
    let rows = lists.iter().map(|list| match list {
        Some(list) => {
            let ids = list.as_primitive_opt::<Int32Type>().ok_or_else(unexpected)?;
            Ok(ids.values().to_vec())
        }
        None => Ok(Vec::new()),
    });
    rows.collect()
}

/// Lower and upper bounds of any type as numbers, one of each per file. A smaller bound never has the larger number;
/// bounds with a common prefix may have equal numbers. The numbers of nulls are arbitrary.
#[derive(Debug)]
pub(super) struct Numbers {
    pub(super) lower: ScalarBuffer<i64>,
    pub(super) upper: ScalarBuffer<i64>,
}

impl Numbers {
    /// Convert bounds; `None` for a type without order.
    pub(super) fn new(lower: &ArrayRef, upper: &ArrayRef) -> Option<Self> {
        Some(Self { lower: numbers(lower)?, upper: numbers(upper)? })
    }
}

fn numbers(bounds: &ArrayRef) -> Option<ScalarBuffer<i64>> {
    if let Some(longs) = longs(bounds) {
        return Some(longs.clone());
    }
    if let Some(ints) = bounds.as_primitive_opt::<Int32Type>() {
        return Some(ints.values().iter().map(|value| i64::from(*value)).collect());
    }
    if let Some(days) = bounds.as_primitive_opt::<Date32Type>() {
        return Some(days.values().iter().map(|value| i64::from(*value)).collect());
    }
    if let Some(decimals) = bounds.as_primitive_opt::<Decimal128Type>() {
        let cut = |value: &i128| (*value).clamp(i64::MIN.into(), i64::MAX.into()) as i64;
        return Some(decimals.values().iter().map(cut).collect());
    }
    if let Some(floats) = bounds.as_primitive_opt::<Float32Type>() {
        return Some(floats.values().iter().map(|value| by_sign(f64::from(*value))).collect());
    }
    if let Some(doubles) = bounds.as_primitive_opt::<Float64Type>() {
        return Some(doubles.values().iter().map(|value| by_sign(*value)).collect());
    }
    let bytes = bounds.as_binary_opt::<i32>()?;
    Some((0..bytes.len()).map(|row| first_bytes(bytes.value(row))).collect())
}

fn longs(bounds: &ArrayRef) -> Option<&ScalarBuffer<i64>> {
    if let Some(longs) = bounds.as_primitive_opt::<Int64Type>() {
        return Some(longs.values());
    }
    if let Some(times) = bounds.as_primitive_opt::<Time64MicrosecondType>() {
        return Some(times.values());
    }
    if let Some(times) = bounds.as_primitive_opt::<TimestampMicrosecondType>() {
        return Some(times.values());
    }
    let times = bounds.as_primitive_opt::<TimestampNanosecondType>()?;
    Some(times.values())
}

/// Return a number with the order of a double; -0.0 equals 0.0.
fn by_sign(value: f64) -> i64 {
    let bits = (value + 0.0).to_bits().cast_signed();
    if bits < 0 { bits ^ i64::MAX } else { bits }
}

/// Return the first eight bytes as a number, padded with zeros.
fn first_bytes(bytes: &[u8]) -> i64 {
    let mut first = [0; 8];
    for (to, from) in first.iter_mut().zip(bytes) {
        *to = *from;
    }
    (u64::from_be_bytes(first) ^ 1 << 63).cast_signed()
}
