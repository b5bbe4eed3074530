//! Pruning of row groups by byte range and statistics.

use arrow_array::{BooleanArray, Int64Array};
use arrow_schema::DataType;
use icefloe_format::Result;
use icefloe_format::predicate::{
    BoundLeaf, BoundPredicate, ColumnCounts, ColumnFacts, ColumnStats, evaluate_inclusive,
};
use icefloe_format::spec::{Datum, PrimitiveType, datums_to_array};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::statistics::Statistics;

use crate::formats::bounds::{Raw, Side, bound_of};
use crate::resolve::file_columns::{FileColumn, leaf_of};

/// Return the row groups of a byte range. A row group belongs to the range that contains its midpoint, so adjacent
/// ranges that cover a file select every row group exactly once.
pub(crate) fn in_range(metadata: &ParquetMetaData, start: u64, length: u64) -> Vec<usize> {
    let end = start.saturating_add(length);
    let inside = |group: &RowGroupMetaData| {
        let middle = first_byte(group).saturating_add(positive(group.compressed_size()) / 2);
        (start..end).contains(&middle)
    };
    let groups = metadata.row_groups().iter().enumerate();
    groups.filter(|(_, group)| inside(group)).map(|(index, _)| index).collect()
}

/// Return the file offset of a row group's first byte.
pub(crate) fn first_byte(group: &RowGroupMetaData) -> u64 {
    let starts = group.columns().iter().map(|column| {
        let data = column.data_page_offset();
        // Some writers record offset 0 for an absent dictionary page.
        positive(column.dictionary_page_offset().filter(|at| *at > 0 && *at < data).unwrap_or(data))
    });
    starts.min().unwrap_or(0)
}

fn positive(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

/// Return the row groups whose statistics may satisfy the predicate.
///
/// # Errors
/// The errors of evaluating the predicate.
pub(crate) fn that_might_match(
    metadata: &ParquetMetaData,
    columns: &[FileColumn],
    groups: Vec<usize>,
    predicate: &BoundPredicate,
) -> Result<Vec<usize>> {
    let stats = GroupStats {
        groups: groups.iter().filter_map(|index| metadata.row_groups().get(*index)).collect(),
        columns,
    };
    let might_match: BooleanArray = evaluate_inclusive(predicate, &stats)?;
    Ok(groups
        .into_iter()
        .zip(might_match.values())
        .filter(|(_, kept)| *kept)
        .map(|(at, _)| at)
        .collect())
}

struct GroupStats<'a> {
    groups: Vec<&'a RowGroupMetaData>,
    columns: &'a [FileColumn],
}

impl ColumnStats for GroupStats<'_> {
    fn entries(&self) -> usize {
        self.groups.len()
    }

    fn facts(&self, leaf: &BoundLeaf) -> Result<ColumnFacts> {
        let entries = self.groups.len();
        let Some(column) = leaf_of(self.columns, leaf.field_id) else {
            return Ok(ColumnFacts::unknown(&leaf.field_type, entries));
        };
        let statistics: Vec<Option<&Statistics>> = self
            .groups
            .iter()
            .map(|group| group.columns().get(column.leaves.start).and_then(|c| c.statistics()))
            .collect();
        let counts = ColumnCounts {
            records: Some(self.groups.iter().map(|group| Some(group.num_rows())).collect()),
            values: Some(self.groups.iter().map(|group| Some(group.num_rows())).collect()),
            nulls: Some(statistics.iter().map(|stat| null_count(*stat)).collect::<Int64Array>()),
            nans: None,
        };
        let bounds = |side: Side| {
            let values = statistics.iter().map(|stat| {
                stat.and_then(|stat| bound(stat, side, column.field.data_type(), &leaf.field_type))
            });
            datums_to_array(&leaf.field_type, &values.collect::<Vec<_>>())
        };
        let (lower, upper) = (bounds(Side::Lower)?, bounds(Side::Upper)?);
        ColumnFacts::from_counts(&leaf.field_type, entries, &counts, Some(lower), Some(upper))
    }
}

fn null_count(statistics: Option<&Statistics>) -> Option<i64> {
    statistics?.null_count_opt().and_then(|count| i64::try_from(count).ok())
}

/// Return the lower or upper bound of statistics as a value of the table's type. `None` for an absent or unreliable
/// bound.
pub(crate) fn bound(
    statistics: &Statistics,
    side: Side,
    natural: &DataType,
    wanted: &PrimitiveType,
) -> Option<Datum> {
    let raw = match statistics {
        Statistics::Boolean(stat) => Raw::Boolean(*side.of(stat.min_opt(), stat.max_opt())?),
        Statistics::Int32(stat) => {
            Raw::Integer(i64::from(*side.of(stat.min_opt(), stat.max_opt())?))
        }
        Statistics::Int64(stat) => Raw::Integer(*side.of(stat.min_opt(), stat.max_opt())?),
        Statistics::Float(stat) => {
            Raw::Floating(f64::from(*side.of(stat.min_opt(), stat.max_opt())?))
        }
        Statistics::Double(stat) => Raw::Floating(*side.of(stat.min_opt(), stat.max_opt())?),
        // The deprecated `min` and `max` of byte arrays are in signed order.
        Statistics::ByteArray(_) | Statistics::FixedLenByteArray(_)
            if statistics.is_min_max_deprecated() =>
        {
            return None;
        }
        Statistics::ByteArray(_) | Statistics::FixedLenByteArray(_) => {
            let bytes = side.of(statistics.min_bytes_opt(), statistics.max_bytes_opt())?;
            Raw::Bytes(bytes, statistics.physical_type())
        }
        Statistics::Int96(_) => return None,
    };
    bound_of(raw, side, natural, wanted)
}
