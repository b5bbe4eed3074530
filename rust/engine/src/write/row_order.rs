//! The order of rows across files: by partition, then by a sort order or along a curve.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_row::{RowConverter, Rows, SortField};
use arrow_schema::{ArrowError, DataType, SortOptions};
use icefloe_format::curve::CurveKeys;
use icefloe_format::spec::{
    NullOrder, PartitionSpec, Schema, SortDirection, SortOrder, Transform, primitive_to_arrow,
};
use icefloe_format::{Error, Result};

use super::keys::Key;

/// Bytes of a row's key that are compared as one number.
const PREFIX_BYTES: usize = 16;

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
}

/// The keys of a batch's rows.
pub(super) struct RowKeys {
    prefixes: Vec<u128>,
    rows: Rows,
}

impl RowOrder {
    /// The order of rows by the partition tuple, then by the sort order, then along the curve.
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
        let mut fields: Vec<SortField> =
            partition.iter().map(|key| SortField::new(primitive_to_arrow(key.result()))).collect();
        let mut keys = vec![];
        if let Some(order) = order {
            keys = Key::of_order(schema, order)?;
            fields.extend(keys.iter().zip(&order.fields).map(|(key, field)| {
                let options = SortOptions {
                    descending: field.direction == SortDirection::Descending,
                    nulls_first: field.null_order == NullOrder::First,
                };
                SortField::new_with_options(primitive_to_arrow(key.result()), options)
            }));
        }
        let curve = match curve {
            None => None,
            Some(curve) => {
                fields.push(SortField::new(DataType::FixedSizeBinary(16)));
                let ids = curve.columns.iter();
                let keys = ids.map(|id| Key::new(schema, *id, &Transform::Identity));
                Some((keys.collect::<Result<Vec<_>>>()?, curve.keys))
            }
        };
        let converter = RowConverter::new(fields).map_err(refused)?;
        Ok(Self { partition, order: keys, curve, converter })
    }

    /// The keys of a batch's rows.
    pub(super) fn keys(&self, batch: &RecordBatch) -> Result<RowKeys> {
        let plain = self.partition.iter().chain(&self.order).map(|key| key.column(batch));
        let mut columns = plain.collect::<Result<Vec<ArrayRef>>>()?;
        if let Some((keys, curve)) = &self.curve {
            let sources = keys.iter().map(|key| key.column(batch)).collect::<Result<Vec<_>>>()?;
            columns.push(Arc::new(curve.column(&sources)?));
        }
        let rows = self.converter.convert_columns(&columns).map_err(refused)?;
        // Without columns the converter makes no rows: all rows of the batch are equal then.
        let prefixes = match columns.is_empty() {
            true => vec![0; batch.num_rows()],
            false => rows.iter().map(|row| prefix(row.data())).collect(),
        };
        Ok(RowKeys { prefixes, rows })
    }
}

impl RowKeys {
    pub(super) fn len(&self) -> usize {
        self.prefixes.len()
    }

    /// The first bytes of a row's key.
    pub(super) fn prefix(&self, row: usize) -> u128 {
        self.prefixes.get(row).copied().unwrap_or(u128::MAX)
    }

    /// The whole key of a row.
    pub(super) fn key(&self, row: usize) -> &[u8] {
        if row < self.rows.num_rows() { self.rows.row(row).data() } else { &[] }
    }

    /// Bytes in memory.
    pub(super) fn memory_bytes(&self) -> usize {
        self.prefixes.len() * PREFIX_BYTES + self.rows.size()
    }
}

/// The first bytes as a number that orders as they do, padded with zeros.
fn prefix(key: &[u8]) -> u128 {
    let mut bytes = [0; PREFIX_BYTES];
    let length = key.len().min(PREFIX_BYTES);
    bytes[..length].copy_from_slice(&key[..length]);
    u128::from_be_bytes(bytes)
}

fn refused(error: ArrowError) -> Error {
    Error::invalid("data", error.to_string())
}
