//! The order of rows across files: by partition, then by a sort order or along a curve.

use std::sync::Arc;

use arrow_array::{ArrayRef, FixedSizeBinaryArray, RecordBatch};
use arrow_row::{RowConverter, Rows, SortField};
use arrow_schema::{ArrowError, DataType, SortOptions};
use icefloe_format::curve::{CurveKeys, PREFIX_BYTES, row_prefix};
use icefloe_format::spec::{
    NullOrder, PartitionSpec, Schema, SortDirection, SortOrder, Transform, primitive_to_arrow,
};
use icefloe_format::{Error, Result};

use super::keys::Key;

/// A space-filling curve over columns of a table.
#[derive(Debug)]
pub struct TableCurve {
    /// Field ids of the columns.
    pub columns: Vec<i32>,
    /// The keys of their values.
    pub keys: CurveKeys,
}

/// The order of rows.
#[derive(Debug)]
pub struct RowOrder {
    partition: Vec<Key>,
    order: Vec<Key>,
    curve: Option<(Vec<Key>, CurveKeys)>,
    converter: RowConverter,
    /// Whether the first bytes of a key are the whole key.
    is_short: bool,
}

/// The keys of a batch's rows.
pub(super) struct RowKeys {
    /// The first bytes of each key.
    pub(super) prefixes: Vec<u128>,
    /// The whole keys, if they are longer.
    pub(super) rows: Option<Rows>,
}

impl RowOrder {
    /// Return the order of rows by the partition tuple, then by the sort order, then along the curve.
    ///
    /// # Errors
    /// `InvalidArgument` for columns that the schema does not have.
    pub fn new(
        schema: &Schema,
        spec: &PartitionSpec,
        order: Option<&SortOrder>,
        curve: Option<TableCurve>,
    ) -> Result<Self> {
        let partition = Key::of_spec(schema, spec)?;
        let plain = SortOptions::default();
        let mut types: Vec<(DataType, SortOptions)> =
            partition.iter().map(|key| (primitive_to_arrow(key.result()), plain)).collect();
        let mut keys = vec![];
        if let Some(order) = order {
            keys = Key::of_order(schema, order)?;
            types.extend(keys.iter().zip(&order.fields).map(|(key, field)| {
                let options = SortOptions {
                    descending: field.direction == SortDirection::Descending,
                    nulls_first: field.null_order == NullOrder::First,
                };
                (primitive_to_arrow(key.result()), options)
            }));
        }
        let curve = match curve {
            None => None,
            Some(curve) => {
                let width = i32::try_from(curve.keys.key_bytes()).unwrap_or(i32::MAX);
                types.push((DataType::FixedSizeBinary(width), plain));
                let ids = curve.columns.iter();
                let keys = ids.map(|id| Key::new(schema, *id, &Transform::Identity));
                Some((keys.collect::<Result<Vec<_>>>()?, curve.keys))
            }
        };
        let is_curve_alone = curve.is_some() && types.len() == 1;
        let bytes: usize = types.iter().map(|(data_type, _)| key_bytes(data_type)).sum();
        let is_short = is_curve_alone || bytes <= PREFIX_BYTES;
        let fields = types.into_iter();
        let fields = fields.map(|(kind, options)| SortField::new_with_options(kind, options));
        let converter = RowConverter::new(fields.collect()).map_err(refused)?;
        Ok(Self { partition, order: keys, curve, converter, is_short })
    }

    /// Return whether [`RowKeys::prefix`] is the whole key of each row.
    pub(super) fn has_short_keys(&self) -> bool {
        self.is_short
    }

    /// Return the keys of a batch's rows.
    pub(super) fn keys(&self, batch: &RecordBatch) -> Result<RowKeys> {
        let plain = self.partition.iter().chain(&self.order).map(|key| key.column(batch));
        let mut columns = plain.collect::<Result<Vec<ArrayRef>>>()?;
        if let Some((keys, curve)) = &self.curve {
            let sources = keys.iter().map(|key| key.column(batch)).collect::<Result<Vec<_>>>()?;
            let keys = curve.keys(&sources)?;
            if columns.is_empty() {
                return Ok(RowKeys::of_numbers(keys));
            }
            columns.push(Arc::new(lowest_bytes(&keys, curve.key_bytes())?));
        }
        // Without columns the converter makes no rows: all rows of the batch are equal then.
        if columns.is_empty() {
            return Ok(RowKeys::of_numbers(vec![0; batch.num_rows()]));
        }
        let rows = self.converter.convert_columns(&columns).map_err(refused)?;
        let prefixes = rows.iter().map(|row| row_prefix(row.data())).collect();
        Ok(RowKeys { prefixes, rows: (!self.is_short).then_some(rows) })
    }
}

impl RowKeys {
    /// Create keys that are numbers.
    pub(super) fn of_numbers(prefixes: Vec<u128>) -> Self {
        Self { prefixes, rows: None }
    }

    pub(super) fn len(&self) -> usize {
        self.prefixes.len()
    }

    /// Return the first bytes of a row's key.
    pub(super) fn prefix(&self, row: usize) -> u128 {
        self.prefixes.get(row).copied().unwrap_or(u128::MAX)
    }

    /// Return the whole key of a row; empty if its first bytes are the whole key.
    pub(super) fn key(&self, row: usize) -> &[u8] {
        self.rows.as_ref().map_or(&[], |rows| key_of(rows, row))
    }
}

/// Return the key of a row.
pub(super) fn key_of(rows: &Rows, row: usize) -> &[u8] {
    if row < rows.num_rows() { rows.row(row).data() } else { &[] }
}

/// Return the bytes of a type's values in a key; more than a prefix holds for values of any length.
fn key_bytes(data_type: &DataType) -> usize {
    // A byte for null, then the value.
    match data_type {
        DataType::Boolean => 2,
        DataType::FixedSizeBinary(width) => 1 + usize::try_from(*width).unwrap_or(PREFIX_BYTES),
        other => 1 + other.primitive_width().unwrap_or(PREFIX_BYTES),
    }
}

/// Return the lowest bytes of numbers, which order as the numbers do.
fn lowest_bytes(numbers: &[u128], width: usize) -> Result<FixedSizeBinaryArray> {
    let mut bytes = Vec::with_capacity(numbers.len() * width);
    for number in numbers {
        bytes.extend_from_slice(&number.to_be_bytes()[PREFIX_BYTES - width.min(PREFIX_BYTES)..]);
    }
    let width = i32::try_from(width).unwrap_or(i32::MAX);
    FixedSizeBinaryArray::try_new(width, bytes.into(), None).map_err(refused)
}

fn refused(error: ArrowError) -> Error {
    Error::invalid("data", error.to_string())
}
