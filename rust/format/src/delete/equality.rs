//! Equality deletes: a set of keys that is built once and tested against batches.

use std::ops::Range;

use arrow_array::ArrayRef;
use arrow_buffer::{BooleanBuffer, Buffer};
use hashbrown::HashTable;

use super::cells::{Cells, Integers, KeyHash};
use super::dense_index::{DenseIndex, Entry};
use super::stored_keys::{KeyRange, KeySources, StoredColumn};
use crate::error::{Error, Result};
use crate::spec::PrimitiveType;

/// Rows per pass, so that their hashes stay in the first-level cache.
const CHUNK_ROWS: usize = 1024;

/// The keys of equality delete files with the same equality fields. A row is deleted if its values equal the values of a key.
///
/// Null equals null. NaN equals NaN and -0.0 differs from 0.0: the specification forbids floats as equality fields, and
/// the reference implementation reads them with this comparison.
///
/// Each key records its source files, so that one set serves data files to which different delete files apply.
pub struct EqualityKeys {
    field_types: Vec<PrimitiveType>,
    columns: Vec<StoredColumn>,
    /// The keys, as long as they are integers close together; then `table` is empty.
    dense: Option<DenseIndex>,
    table: HashTable<Slot>,
    sources: KeySources,
    prefilter: Prefilter,
    hash: KeyHash,
}

impl EqualityKeys {
    /// Create an empty set over columns of these types.
    ///
    /// # Errors
    /// `InvalidArgument` for no columns.
    pub fn new(field_types: &[PrimitiveType]) -> Result<Self> {
        if field_types.is_empty() {
            return Err(Error::invalid("equality_ids", "expected at least one field id, got none"));
        }
        Ok(Self {
            field_types: field_types.to_vec(),
            columns: field_types.iter().map(StoredColumn::new).collect(),
            dense: (field_types.len() == 1).then(DenseIndex::default),
            table: HashTable::new(),
            sources: KeySources::default(),
            prefilter: Prefilter::new(0),
            hash: KeyHash::default(),
        })
    }

    /// Expect a number of keys altogether, repeated ones included.
    pub fn expect(&mut self, keys: usize) {
        if let Some(dense) = &mut self.dense {
            dense.expect(keys);
        }
    }

    /// Add the keys of a batch: one column per equality field, in the order of the types. `source` is the number of
    /// their delete file; all batches of a source are added before the next source.
    ///
    /// # Errors
    /// `Mismatch` where a column does not have its field's type.
    pub fn insert(&mut self, columns: &[ArrayRef], source: u32) -> Result<()> {
        let rows = self.rows(columns)?;
        if u32::try_from(self.len() + rows.count).is_err() {
            return Err(Error::invalid(
                "equality deletes",
                "there are too many keys; expected at most 2^32",
            ));
        }
        self.sources.begin(source);
        if !self.insert_dense(&rows, source) {
            self.hash_dense_keys();
            self.insert_hashed(&rows, source);
        }
        Ok(())
    }

    /// Add keys that are integers close to each other and to those before; false if they are not.
    fn insert_dense(&mut self, rows: &Rows, source: u32) -> bool {
        let Self { dense: Some(dense), columns, sources, .. } = self else { return false };
        let ([cells], [column]) = (rows.columns.as_slice(), columns.as_mut_slice()) else {
            return false;
        };
        let Some(integers) = cells.integers().filter(|_| cells.nulls().is_none()) else {
            return false;
        };
        if !dense.make_room(integers.iter(), sources.keys() + rows.count) {
            return false;
        }
        for (row, value) in integers.iter().enumerate() {
            let known = dense.key(value);
            let key = known.map_or(sources.keys() as u32, |known| known.key);
            let newest = known.map_or(source, |known| sources.add(key, known.newest, source));
            dense.set(value, Entry { key, newest });
            if known.is_none() {
                column.push(cells.get(row));
                sources.push();
            }
        }
        true
    }

    /// Move the keys of the dense index, if there is one, to the hash table.
    fn hash_dense_keys(&mut self) {
        let Some(dense) = self.dense.take() else { return };
        let words = self.columns.first().and_then(StoredColumn::words).unwrap_or_default();
        self.table.reserve(words.len(), |slot| slot.hash);
        self.prefilter = Prefilter::new(words.len());
        for Entry { key, newest } in dense.keys() {
            let Some(word) = words.get(key as usize) else { continue };
            let hash = self.hash.of_word(*word);
            self.prefilter.add(hash);
            self.table.insert_unique(hash, Slot { hash, key, newest }, |slot| slot.hash);
        }
    }

    fn insert_hashed(&mut self, rows: &Rows, source: u32) {
        let Self { table, columns, sources, prefilter, hash: of_keys, .. } = self;
        if !prefilter.suits(table.len() + rows.count) {
            *prefilter = Prefilter::new(table.len() + rows.count);
            table.iter().for_each(|slot| prefilter.add(slot.hash));
        }
        rows.each_chunk(of_keys, |start, of_rows| {
            table.reserve(of_rows.len(), |slot| slot.hash);
            for (row, hash) in (start..).zip(of_rows) {
                let same = |slot: &Slot| slot.hash == *hash && is_key(columns, slot, rows, row);
                if let Some(slot) = table.find_mut(*hash, same) {
                    slot.newest = sources.add(slot.key, slot.newest, source);
                    continue;
                }
                let slot = Slot { hash: *hash, key: table.len() as u32, newest: source };
                for (stored, cells) in columns.iter_mut().zip(&rows.columns) {
                    stored.push(cells.get(row));
                }
                sources.push();
                prefilter.add(*hash);
                table.insert_unique(*hash, slot, |slot| slot.hash);
            }
        });
    }

    /// Return which rows of a batch equal a key of any source: one bit per row. Columns as for
    /// [`EqualityKeys::insert`].
    ///
    /// # Errors
    /// `Mismatch` where a column does not have its field's type.
    pub fn deleted(&self, columns: &[ArrayRef]) -> Result<BooleanBuffer> {
        self.deleted_where(columns, |_, _| true)
    }

    /// Return which rows of a batch equal a key of a source in one of the ranges, which are ascending and disjoint.
    ///
    /// # Errors
    /// As for [`EqualityKeys::deleted`].
    pub fn deleted_by(
        &self,
        columns: &[ArrayRef],
        sources: &[Range<u32>],
    ) -> Result<BooleanBuffer> {
        match self.sources.first_of(sources) {
            Some(first) => self.deleted_where(columns, |_, newest| newest >= first),
            None => {
                self.deleted_where(columns, |key, newest| self.sources.any(key, newest, sources))
            }
        }
    }

    /// Return which rows equal a key to which `applies`, given its number and its newest source.
    fn deleted_where(
        &self,
        columns: &[ArrayRef],
        applies: impl Fn(u32, u32) -> bool,
    ) -> Result<BooleanBuffer> {
        let rows = self.rows(columns)?;
        if self.is_empty() {
            return Ok(BooleanBuffer::new_unset(rows.count));
        }
        if let (Some(dense), [cells]) = (&self.dense, rows.columns.as_slice()) {
            let applies = |entry: &Entry| applies(entry.key, entry.newest);
            let found = match cells.integers() {
                Some(Integers::Ints(values)) => {
                    dense.found(values.iter().map(|value| i64::from(*value)), applies)
                }
                Some(Integers::Longs(values)) => dense.found(values.iter().copied(), applies),
                None => return Ok(BooleanBuffer::new_unset(rows.count)),
            };
            // No dense key is null.
            return Ok(cells.nulls().map_or_else(|| found.clone(), |nulls| &found & nulls.inner()));
        }
        let mut words: Vec<u64> = Vec::with_capacity(rows.count.div_ceil(64));
        rows.each_chunk(&self.hash, |start, hashes| {
            for (block, hashes) in hashes.chunks(64).enumerate() {
                let mut left = 0_u64;
                for (bit, hash) in hashes.iter().enumerate() {
                    left |= u64::from(self.prefilter.might_contain(*hash)) << bit;
                }
                let mut word = 0;
                while left != 0 {
                    let bit = left.trailing_zeros() as usize;
                    left &= left - 1;
                    let row = start + block * 64 + bit;
                    let hash = hashes[bit];
                    // The values of a key are elsewhere in memory: compared last.
                    let found = self.table.find(hash, |slot| {
                        slot.hash == hash
                            && applies(slot.key, slot.newest)
                            && is_key(&self.columns, slot, &rows, row)
                    });
                    word |= u64::from(found.is_some()) << bit;
                }
                words.push(word);
            }
        });
        Ok(BooleanBuffer::new(Buffer::from_vec(words), 0, rows.count))
    }

    /// Return the number of distinct keys.
    pub fn len(&self) -> usize {
        self.sources.keys()
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Return the range of the keys in each column.
    pub fn ranges(&self) -> Vec<KeyRange> {
        self.columns.iter().zip(&self.field_types).map(|(column, t)| column.range(t)).collect()
    }

    fn rows(&self, columns: &[ArrayRef]) -> Result<Rows> {
        if columns.len() != self.field_types.len() {
            let reason = format!(
                "their number differs from the equality fields; expected {}, got {}",
                self.field_types.len(),
                columns.len()
            );
            return Err(Error::invalid("equality columns", reason));
        }
        let count = columns.first().map_or(0, |column| column.len());
        if columns.iter().any(|column| column.len() != count) {
            return Err(Error::invalid("equality columns", "their lengths differ"));
        }
        let cells = columns.iter().zip(&self.field_types);
        let columns = cells.map(|(column, t)| Cells::new(column, t, &self.hash));
        Ok(Rows { columns: columns.collect::<Result<_>>()?, count })
    }
}

impl std::fmt::Debug for EqualityKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EqualityKeys")
            .field("field_types", &self.field_types)
            .field("keys", &self.len())
            .finish_non_exhaustive()
    }
}

/// The key columns of a batch.
struct Rows {
    columns: Vec<Cells>,
    count: usize,
}

impl Rows {
    /// Pass the hashes of each chunk of rows to `take`, with the number of its first row.
    fn each_chunk(&self, hash: &KeyHash, mut take: impl FnMut(usize, &[u64])) {
        let seed = hash.start();
        let mut hashes = [seed; CHUNK_ROWS];
        for start in (0..self.count).step_by(CHUNK_ROWS) {
            let hashes = &mut hashes[..CHUNK_ROWS.min(self.count - start)];
            hashes.fill(seed);
            for column in &self.columns {
                column.hash(start, hashes, hash);
            }
            take(start, hashes);
        }
    }
}

/// A key in the hash table, with what decides about most rows without a look at the key's values.
#[derive(Debug)]
struct Slot {
    hash: u64,
    /// Number of the key, in order of insertion.
    key: u32,
    /// The source that was added last.
    newest: u32,
}

fn is_key(columns: &[StoredColumn], slot: &Slot, rows: &Rows, row: usize) -> bool {
    let mut pairs = columns.iter().zip(&rows.columns);
    pairs.all(|(stored, cells)| stored.get(slot.key as usize) == cells.get(row))
}

/// Bits per key. One in 24 to 48 rows without a key passes the filter.
const BITS_PER_KEY: usize = 24;
const MIN_BITS: usize = 1 << 12;
/// 32 MiB: a larger filter would miss every cache for each row.
const MAX_BITS: usize = 1 << 28;

/// A filter with one bit per hash, which rejects most rows without a key by one load.
#[derive(Debug)]
struct Prefilter {
    words: Vec<u64>,
    shift: u32,
}

impl Prefilter {
    /// An empty filter that is large enough for a number of keys.
    fn new(keys: usize) -> Self {
        let wanted = keys.saturating_mul(BITS_PER_KEY).clamp(MIN_BITS, MAX_BITS);
        let bits = wanted.next_power_of_two();
        let shift = u64::BITS - bits.trailing_zeros();
        Self { words: vec![0; bits / 64], shift }
    }

    /// Whether the filter is large enough for a number of keys.
    fn suits(&self, keys: usize) -> bool {
        let bits = self.words.len() * 64;
        bits == MAX_BITS || keys.saturating_mul(BITS_PER_KEY) <= bits
    }

    fn add(&mut self, hash: u64) {
        let bit = hash >> self.shift;
        if let Some(word) = self.words.get_mut((bit / 64) as usize) {
            *word |= 1 << (bit % 64);
        }
    }

    fn might_contain(&self, hash: u64) -> bool {
        let bit = hash >> self.shift;
        self.words.get((bit / 64) as usize).is_some_and(|word| word >> (bit % 64) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::Arc;

    use arrow_array::{BinaryViewArray, Decimal128Array, FixedSizeBinaryArray, StringArray};

    use super::*;

    const KEYS: u64 = 4_096;
    /// The multiplier of Fibonacci hashing, and eight bytes of text.
    const ENDINGS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, u64::from_le_bytes(*b"the same")];

    #[test]
    fn hashes_of_keys_with_a_common_ending_are_distinct() {
        use PrimitiveType as P;
        for ending in ENDINGS {
            let wide = || (0..KEYS).map(move |key| u128::from(key) | u128::from(ending) << 64);
            let bytes = || wide().map(|key| key.to_le_bytes());
            let long = wide().map(|key| [[b'a'; 16], key.to_le_bytes()].concat());
            let fixed = FixedSizeBinaryArray::try_from_iter(bytes()).unwrap();
            let decimals = Decimal128Array::from_iter_values(wide().map(u128::cast_signed));
            let decimals = decimals.with_precision_and_scale(38, 0).unwrap();
            let binary = BinaryViewArray::from_iter_values(long);
            let text =
                StringArray::from_iter_values((0..KEYS).map(|key| format!("{key:08}the same")));
            let cases: [(P, ArrayRef); 5] = [
                (P::Uuid, Arc::new(fixed.clone())),
                (P::Fixed(16), Arc::new(fixed)),
                (P::Decimal { precision: 38, scale: 0 }, Arc::new(decimals)),
                (P::Binary, Arc::new(binary)),
                (P::String, Arc::new(text)),
            ];
            for (of_type, column) in cases {
                let mut keys = EqualityKeys::new(std::slice::from_ref(&of_type)).unwrap();
                keys.insert(&[column], 0).unwrap();
                let distinct =
                    keys.table.iter().map(|slot| slot.hash).collect::<HashSet<_>>().len();
                assert_eq!(distinct as u64, KEYS, "{of_type} keys ending in {ending:x}");
            }
        }
    }

    #[test]
    fn hashes_of_two_sets_differ() {
        let longs: ArrayRef = Arc::new(arrow_array::Int64Array::from_iter_values(0..64));
        let hashes = || {
            let mut keys = EqualityKeys::new(&[PrimitiveType::Long]).unwrap();
            keys.insert(&[ArrayRef::clone(&longs)], 0).unwrap();
            keys.hash_dense_keys();
            let mut slots: Vec<_> = keys.table.iter().map(|slot| (slot.key, slot.hash)).collect();
            slots.sort_unstable();
            slots
        };
        assert!(hashes().iter().zip(hashes()).all(|(one, other)| one.1 != other.1));
    }
}
