//! Equality deletes: a set of keys, hashed once, asked for whole batches.

use std::hash::BuildHasher;

use arrow_array::ArrayRef;
use arrow_buffer::BooleanBuffer;
use arrow_row::{RowConverter, Rows, SortField};
use hashbrown::{DefaultHashBuilder, HashTable};

use crate::error::{Error, Result};
use crate::spec::{PrimitiveType, canonical_array, primitive_to_arrow};

/// The keys of equality delete files that share their equality fields. A row is deleted where its
/// values equal those of some key; null equals null.
pub struct EqualityKeys {
    field_types: Vec<PrimitiveType>,
    converter: RowConverter,
    batches: Vec<Rows>,
    keys: HashTable<KeyPlace>,
    hasher: DefaultHashBuilder,
}

/// A key's batch and its row there.
#[derive(Debug, Clone, Copy)]
struct KeyPlace {
    batch: usize,
    row: usize,
}

impl EqualityKeys {
    /// An empty set over columns of these types.
    ///
    /// # Errors
    /// `InvalidArgument` where there is no column, or one is a float or a double: the spec forbids
    /// them as equality fields.
    pub fn new(field_types: &[PrimitiveType]) -> Result<Self> {
        if field_types.is_empty() {
            return Err(Error::invalid("equality_ids", "an equality delete needs a field"));
        }
        for field_type in field_types {
            if matches!(field_type, PrimitiveType::Float | PrimitiveType::Double) {
                let reason = format!("a {field_type} column cannot identify deleted rows");
                return Err(Error::invalid("equality_ids", reason));
            }
        }
        let fields = field_types.iter().map(|t| SortField::new(primitive_to_arrow(t))).collect();
        let converter = RowConverter::new(fields)
            .map_err(|error| Error::invalid("equality_ids", error.to_string()))?;
        Ok(Self {
            field_types: field_types.to_vec(),
            converter,
            batches: Vec::new(),
            keys: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
        })
    }

    /// Add the keys of a batch: one column per equality field, in the order of the types.
    ///
    /// # Errors
    /// `Mismatch` where a column is not of its field's type.
    pub fn insert(&mut self, columns: &[ArrayRef]) -> Result<()> {
        let rows = self.encode(columns)?;
        let batch = self.batches.len();
        self.batches.push(rows);
        let Self { batches, keys, hasher, .. } = self;
        let bytes = |place: &KeyPlace| {
            batches.get(place.batch).map_or(&[][..], |rows| rows.row(place.row).data())
        };
        let count = batches.last().map_or(0, Rows::num_rows);
        keys.reserve(count, |place| hasher.hash_one(bytes(place)));
        for row in 0..count {
            let place = KeyPlace { batch, row };
            let key = bytes(&place);
            let slot = keys.entry(
                hasher.hash_one(key),
                |other| bytes(other) == key,
                |other| hasher.hash_one(bytes(other)),
            );
            slot.or_insert(place);
        }
        Ok(())
    }

    /// Which rows of a batch are deleted: one bit per row. Columns as for [`EqualityKeys::insert`].
    ///
    /// # Errors
    /// `Mismatch` where a column is not of its field's type.
    pub fn deleted(&self, columns: &[ArrayRef]) -> Result<BooleanBuffer> {
        let row_count = columns.first().map_or(0, |column| column.len());
        if self.keys.is_empty() {
            return Ok(BooleanBuffer::new_unset(row_count));
        }
        let rows = self.encode(columns)?;
        Ok(BooleanBuffer::collect_bool(rows.num_rows(), |row| {
            let key = rows.row(row);
            let same = |place: &KeyPlace| {
                self.batches.get(place.batch).is_some_and(|keys| keys.row(place.row) == key)
            };
            self.keys.find(self.hasher.hash_one(key.data()), same).is_some()
        }))
    }

    /// How many distinct keys there are.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    fn encode(&self, columns: &[ArrayRef]) -> Result<Rows> {
        if columns.len() != self.field_types.len() {
            let reason = format!("{} columns for {} fields", columns.len(), self.field_types.len());
            return Err(Error::invalid("equality columns", reason));
        }
        let mut canonical = Vec::with_capacity(columns.len());
        for (column, field_type) in columns.iter().zip(&self.field_types) {
            let fitted = canonical_array(column, field_type).map_err(|_| Error::Mismatch {
                column: "of an equality delete".to_owned(),
                found: column.data_type().to_string(),
                expected: field_type.to_string(),
            });
            canonical.push(fitted?);
        }
        self.converter
            .convert_columns(&canonical)
            .map_err(|error| Error::invalid("equality columns", error.to_string()))
    }
}
