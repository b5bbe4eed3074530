//! Pruning of row groups by their bloom filters.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use arrow_schema::{DataType, TimeUnit};
use icefloe_format::predicate::{BoundLeaf, BoundPredicate, Operator, Predicate};
use icefloe_format::spec::Datum;
use parquet::basic::Type as PhysicalType;
use parquet::bloom_filter::Sbbf;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::file::reader::ChunkReader;

use super::file::{Footer, guarded, parquet_error};
use crate::bytes::data_file::DataFile;
use crate::error::Result;
use crate::resolve::file_columns::{FileColumn, leaf_of};
use crate::resolve::request::FileRequest;

/// Return the row groups whose bloom filters do not exclude the residual. All filters that are smaller than their row
/// groups are read together.
///
/// # Errors
/// The errors of reading the filters.
pub(crate) fn prune_by_bloom_filters(
    request: &FileRequest<'_>,
    footer: &Footer,
    columns: &[FileColumn],
    row_groups: Vec<usize>,
) -> Result<Vec<usize>> {
    let mut leaves = BTreeSet::new();
    add_filtered_leaves(&request.residual, columns, &mut leaves);
    let groups = footer.metadata.row_groups();
    let chunks = row_groups.iter().filter_map(|index| groups.get(*index));
    let chunks = chunks.flat_map(|group| leaves.iter().map(move |leaf| worthwhile(group, *leaf)));
    let chunks: Vec<&ColumnChunkMetaData> = chunks.flatten().collect();
    if chunks.is_empty() {
        return Ok(row_groups);
    }
    let stage = || vec![chunks.iter().filter_map(|chunk| bytes_of(chunk)).collect()];
    let file = footer.source.for_thread(false, stage);
    let mut kept = Vec::with_capacity(row_groups.len());
    for index in row_groups {
        let Some(group) = groups.get(index) else { continue };
        let mut filters = GroupFilters { group, columns, file: &file, read: HashMap::new() };
        let may = guarded(request.location, || {
            let may = filters.may_hold(&request.residual);
            may.map_err(|error| parquet_error(request.location, error))
        });
        if may? {
            kept.push(index);
        }
    }
    Ok(kept)
}

/// Add to `leaves` the leaves whose bloom filters can exclude a row group.
fn add_filtered_leaves(
    predicate: &BoundPredicate,
    columns: &[FileColumn],
    leaves: &mut BTreeSet<usize>,
) {
    match predicate {
        Predicate::And(left, right) | Predicate::Or(left, right) => {
            add_filtered_leaves(left, columns, leaves);
            add_filtered_leaves(right, columns, leaves);
        }
        Predicate::Leaf(leaf) => leaves.extend(column_of(leaf, columns).map(|it| it.leaves.start)),
        Predicate::AlwaysTrue | Predicate::AlwaysFalse | Predicate::Not(_) => {}
    }
}

/// Return the column of a predicate leaf that tests equality (`=`, `IN`) without a transform.
fn column_of<'a>(leaf: &BoundLeaf, columns: &'a [FileColumn]) -> Option<&'a FileColumn> {
    let is_sought = matches!(leaf.op, Operator::Eq | Operator::In) && leaf.transform.is_none();
    leaf_of(columns, leaf.field_id).filter(|_| is_sought)
}

/// Return the column chunk of a leaf if its bloom filter is smaller than the compressed row group.
fn worthwhile(group: &RowGroupMetaData, leaf: usize) -> Option<&ColumnChunkMetaData> {
    let chunk = group.columns().get(leaf)?;
    chunk.bloom_filter_offset()?;
    let length = i64::from(chunk.bloom_filter_length().unwrap_or(0));
    (length < group.compressed_size()).then_some(chunk)
}

/// Return the byte range of a bloom filter. `None` if the footer does not state its length.
fn bytes_of(chunk: &ColumnChunkMetaData) -> Option<Range<u64>> {
    let start = u64::try_from(chunk.bloom_filter_offset()?).ok()?;
    let length = u64::try_from(chunk.bloom_filter_length()?).ok()?;
    Some(start..start.checked_add(length)?)
}

/// The bloom filters of one row group.
struct GroupFilters<'a> {
    group: &'a RowGroupMetaData,
    columns: &'a [FileColumn],
    file: &'a DataFile,
    /// Bloom filters by leaf; `None` for an absent or unusable filter.
    read: HashMap<usize, Option<Sbbf>>,
}

impl GroupFilters<'_> {
    fn may_hold(&mut self, predicate: &BoundPredicate) -> Result<bool, ParquetError> {
        Ok(match predicate {
            Predicate::AlwaysTrue | Predicate::Not(_) => true,
            Predicate::AlwaysFalse => false,
            Predicate::And(left, right) => self.may_hold(left)? && self.may_hold(right)?,
            Predicate::Or(left, right) => self.may_hold(left)? || self.may_hold(right)?,
            Predicate::Leaf(leaf) => self.may_satisfy(leaf)?,
        })
    }

    fn may_satisfy(&mut self, leaf: &BoundLeaf) -> Result<bool, ParquetError> {
        let Some(column) = column_of(leaf, self.columns) else { return Ok(true) };
        let Some(chunk) = worthwhile(self.group, column.leaves.start) else { return Ok(true) };
        let sought = leaf.literals.iter().map(|literal| plain(literal, chunk, column));
        let sought: Vec<Plain> = sought.collect();
        if sought.contains(&Plain::Unknown) {
            return Ok(true);
        }
        let filter = match self.read.entry(column.leaves.start) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(read(chunk, self.file)?),
        };
        let Some(filter) = filter else { return Ok(true) };
        Ok(sought.iter().any(|it| matches!(it, Plain::Bytes(bytes) if filter.check(bytes))))
    }
}

/// Read a bloom filter. `None` for an unsupported filter.
fn read(chunk: &ColumnChunkMetaData, file: &DataFile) -> Result<Option<Sbbf>, ParquetError> {
    let found = match bytes_of(chunk) {
        Some(range) => {
            let length = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
            file.get_bytes(range.start, length).and_then(|bytes| Sbbf::from_bytes(&bytes)).map(Some)
        }
        None => Sbbf::read_from_column_chunk(chunk, file),
    };
    match found {
        Err(error @ ParquetError::External(_)) => Err(error),
        found => Ok(found.ok().flatten().filter(|filter| filter.num_blocks() > 0)),
    }
}

/// A literal as a value to look up in a bloom filter.
#[derive(Debug, PartialEq, Eq)]
enum Plain {
    /// The plain encoding of the only stored value that equals the literal.
    Bytes(Vec<u8>),
    /// No stored value can equal the literal.
    Absent,
    Unknown,
}

fn plain(literal: &Datum, chunk: &ColumnChunkMetaData, column: &FileColumn) -> Plain {
    let natural = column.field.data_type();
    match chunk.column_type() {
        PhysicalType::INT32 => match integer(literal, natural).map(|it| it.map(i32::try_from)) {
            Some(Some(Ok(value))) => Plain::Bytes(value.to_le_bytes().to_vec()),
            Some(_) => Plain::Absent,
            None => Plain::Unknown,
        },
        PhysicalType::INT64 => match integer(literal, natural).map(|it| it.map(i64::try_from)) {
            Some(Some(Ok(value))) => Plain::Bytes(value.to_le_bytes().to_vec()),
            Some(_) => Plain::Absent,
            None => Plain::Unknown,
        },
        PhysicalType::BYTE_ARRAY => match (literal, natural) {
            (Datum::String(text), DataType::Utf8 | DataType::Binary) => {
                Plain::Bytes(text.as_bytes().to_vec())
            }
            (Datum::Binary(bytes), DataType::Utf8 | DataType::Binary) => {
                Plain::Bytes(bytes.clone())
            }
            _ => Plain::Unknown,
        },
        PhysicalType::FIXED_LEN_BYTE_ARRAY => {
            fixed(literal, natural, chunk.column_descr().type_length())
        }
        // -0.0 and 0.0 are equal but have different encodings.
        PhysicalType::FLOAT | PhysicalType::DOUBLE => Plain::Unknown,
        PhysicalType::BOOLEAN | PhysicalType::INT96 => Plain::Unknown,
    }
}

/// Return the stored integer that equals a literal: `Some(None)` if no integer equals it, `None` if the integer cannot
/// be determined.
fn integer(literal: &Datum, natural: &DataType) -> Option<Option<i128>> {
    use DataType as D;
    let signed = matches!(natural, D::Int8 | D::Int16 | D::Int32 | D::Int64);
    Some(match (literal, natural) {
        (Datum::Int(value), _) if signed => Some(i128::from(*value)),
        (Datum::Long(value), _) if signed => Some(i128::from(*value)),
        (Datum::Date(days), D::Date32) => Some(i128::from(*days)),
        (Datum::Time(micros), D::Time64(TimeUnit::Microsecond)) => Some(i128::from(*micros)),
        (
            Datum::Timestamp(micros) | Datum::Timestamptz(micros),
            D::Timestamp(TimeUnit::Microsecond, _),
        ) => Some(i128::from(*micros)),
        (
            Datum::Timestamp(micros) | Datum::Timestamptz(micros),
            D::Timestamp(TimeUnit::Millisecond, _),
        ) => (micros % 1_000 == 0).then_some(i128::from(micros / 1_000)),
        (Datum::Decimal { unscaled, scale, .. }, D::Decimal128(_, found)) => {
            (scale == found).then_some(Some(*unscaled))?
        }
        _ => return None,
    })
}

fn fixed(literal: &Datum, natural: &DataType, length: i32) -> Plain {
    let length = usize::try_from(length).unwrap_or(0);
    match (literal, natural) {
        (Datum::Uuid(bytes), DataType::FixedSizeBinary(16)) => Plain::Bytes(bytes.to_vec()),
        (Datum::Fixed(bytes), DataType::FixedSizeBinary(_)) if bytes.len() == length => {
            Plain::Bytes(bytes.clone())
        }
        (Datum::Decimal { unscaled, scale, .. }, DataType::Decimal128(_, found))
            if scale == found =>
        {
            big_endian(*unscaled, length)
        }
        _ => Plain::Unknown,
    }
}

/// Return an integer as big-endian two's complement of `length` bytes.
fn big_endian(value: i128, length: usize) -> Plain {
    let bytes = value.to_be_bytes();
    let Some(cut) = bytes.len().checked_sub(length).filter(|_| length > 0) else {
        return Plain::Unknown;
    };
    let (dropped, kept) = bytes.split_at(cut);
    let sign = if value < 0 { 0xff } else { 0 };
    let fits = dropped.iter().all(|byte| *byte == sign)
        && kept.first().is_some_and(|first| (first & 0x80 != 0) == (value < 0));
    if fits { Plain::Bytes(kept.to_vec()) } else { Plain::Absent }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_sign_extended_or_absent() {
        assert_eq!(big_endian(-2, 3), Plain::Bytes(vec![0xff, 0xff, 0xfe]));
        assert_eq!(big_endian(300, 2), Plain::Bytes(vec![1, 44]));
        assert_eq!(big_endian(200, 1), Plain::Absent);
        assert_eq!(big_endian(-129, 1), Plain::Absent);
        assert_eq!(big_endian(1, 17), Plain::Unknown);
    }

    #[test]
    fn instants_between_milliseconds_are_absent_from_files_of_milliseconds() {
        let millis = DataType::Timestamp(TimeUnit::Millisecond, None);
        assert_eq!(integer(&Datum::Timestamp(-5_000), &millis), Some(Some(-5)));
        assert_eq!(integer(&Datum::Timestamp(5_001), &millis), Some(None));
        let nanos = DataType::Timestamp(TimeUnit::Nanosecond, None);
        assert_eq!(integer(&Datum::Timestamp(5_000), &nanos), None);
    }
}
