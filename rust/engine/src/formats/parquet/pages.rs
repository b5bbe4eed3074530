//! Pruning of the rows of a row group by the column index of its pages.
//!
//! Pages of different columns start at different rows. The rows are cut at every page start of the predicate's columns,
//! so that each interval lies within one page of every column, whose bounds apply.

use std::collections::HashMap;
use std::ops::Range;

use arrow_array::{ArrayRef, Int64Array, UInt32Array};
use arrow_schema::DataType;
use arrow_select::take::take;
use icefloe_format::predicate::{
    BoundLeaf, BoundPredicate, ColumnCounts, ColumnFacts, ColumnStats, Predicate,
    evaluate_inclusive, references,
};
use icefloe_format::spec::{Datum, PrimitiveType, datums_to_array};
use icefloe_format::{Error, Result};
use parquet::basic::{ColumnOrder, Type as PhysicalType};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::page_index::column_index::ColumnIndexMetaData;

use crate::formats::bounds::{Raw, Side, bound_of};
use crate::resolve::file_columns::{FileColumn, leaf_of};

/// Selected rows of a row group, by their ordinals within the row group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RowRanges {
    pub(crate) row_group: usize,
    /// Ascending, disjoint, non-adjacent and non-empty ranges.
    pub(crate) rows: Vec<Range<u64>>,
}

impl RowRanges {
    /// Return the rows within a part of the row group.
    pub(crate) fn within(&self, part: &Range<u64>) -> Self {
        let first = self.rows.partition_point(|rows| rows.end <= part.start);
        let rows = self.rows.iter().skip(first).take_while(|rows| rows.start < part.end);
        let rows = rows.map(|rows| rows.start.max(part.start)..rows.end.min(part.end));
        Self { row_group: self.row_group, rows: rows.collect() }
    }

    /// Return the range from the first to the last row; `None` without rows.
    pub(crate) fn rows(&self) -> Option<Range<u64>> {
        Some(self.rows.first()?.start..self.rows.last()?.end)
    }

    /// Return the number of rows.
    pub(crate) fn count(&self) -> u64 {
        self.rows.iter().map(|rows| rows.end - rows.start).sum()
    }
}

/// Return the rows of each row group that may satisfy the predicate by the page index, or all rows without a page
/// index. Row groups without such rows are omitted.
///
/// # Errors
/// The errors of evaluating the predicate.
pub(crate) fn rows_that_might_match(
    metadata: &ParquetMetaData,
    columns: &[FileColumn],
    row_groups: &[usize],
    predicate: &BoundPredicate,
) -> Result<Vec<RowRanges>> {
    let mut kept = Vec::with_capacity(row_groups.len());
    for row_group in row_groups.iter().copied() {
        let Some(group) = metadata.row_groups().get(row_group) else { continue };
        let all = u64::try_from(group.num_rows()).unwrap_or(0);
        let stats = match predicate {
            Predicate::AlwaysTrue => None,
            _ => IntervalStats::of(metadata, columns, (row_group, all), predicate),
        };
        let rows = match stats {
            Some(stats) => stats.rows_kept(predicate)?,
            None => std::iter::once(0..all).filter(|rows| !rows.is_empty()).collect(),
        };
        if !rows.is_empty() {
            kept.push(RowRanges { row_group, rows });
        }
    }
    Ok(kept)
}

/// Intervals of a row group's rows, with the page of each column that covers each interval.
struct IntervalStats<'a> {
    /// The first row of each interval, and the end of the last interval.
    ends: Vec<u64>,
    columns: HashMap<i32, (PagedColumn<'a>, UInt32Array)>,
}

impl<'a> IntervalStats<'a> {
    /// Return the intervals of a row group. `None` if no column of the predicate has a usable page index.
    fn of(
        metadata: &'a ParquetMetaData,
        columns: &'a [FileColumn],
        (row_group, rows): (usize, u64),
        predicate: &BoundPredicate,
    ) -> Option<Self> {
        let paged = references(predicate).into_iter().filter_map(|id| {
            let column = leaf_of(columns, id)?;
            Some((id, PagedColumn::of(metadata, (row_group, rows), column)?))
        });
        let paged: Vec<(i32, PagedColumn<'a>)> = paged.collect();
        if paged.is_empty() {
            return None;
        }
        let mut ends: Vec<u64> =
            paged.iter().flat_map(|(_, column)| &column.ends).copied().collect();
        ends.sort_unstable();
        ends.dedup();
        let columns = paged.into_iter().map(|(id, column)| {
            let pages = column.covering(&ends);
            (id, (column, pages))
        });
        let columns = columns.collect();
        Some(Self { ends, columns })
    }

    fn rows_kept(&self, predicate: &BoundPredicate) -> Result<Vec<Range<u64>>> {
        let might_match = evaluate_inclusive(predicate, self)?;
        let mut kept: Vec<Range<u64>> = Vec::new();
        let intervals = self.ends.iter().zip(self.ends.iter().skip(1));
        for ((start, end), _) in intervals.zip(might_match.values()).filter(|(_, kept)| *kept) {
            match kept.last_mut().filter(|last| last.end == *start) {
                Some(last) => last.end = *end,
                None => kept.push(*start..*end),
            }
        }
        Ok(kept)
    }
}

impl ColumnStats for IntervalStats<'_> {
    fn entries(&self) -> usize {
        self.ends.len() - 1
    }

    fn facts(&self, leaf: &BoundLeaf) -> Result<ColumnFacts> {
        let Some((column, pages)) = self.columns.get(&leaf.field_id) else {
            return Ok(ColumnFacts::unknown(&leaf.field_type, self.entries()));
        };
        let spread = |array: &dyn arrow_array::Array| {
            take(array, pages, None).map_err(|error| Error::invalid("pages", error.to_string()))
        };
        let counts = |of: Int64Array| -> Result<Option<Int64Array>> {
            Ok(Some(Int64Array::from(spread(&of)?.to_data())))
        };
        let bounds = |side| -> Result<ArrayRef> {
            spread(&datums_to_array(&leaf.field_type, &column.bounds(side, &leaf.field_type))?)
        };
        let facts = ColumnCounts {
            records: counts(column.rows())?,
            values: counts(column.rows())?,
            nulls: counts(column.nulls())?,
            nans: None,
        };
        let (lower, upper) = (bounds(Side::Lower)?, bounds(Side::Upper)?);
        ColumnFacts::from_counts(&leaf.field_type, self.entries(), &facts, Some(lower), Some(upper))
    }
}

/// The column index of one column chunk.
struct PagedColumn<'a> {
    /// The first row of each page, and the end of the last page.
    ends: Vec<u64>,
    index: &'a ColumnIndexMetaData,
    natural: &'a DataType,
}

impl<'a> PagedColumn<'a> {
    /// Return the column index of a leaf. `None` without a valid page index.
    fn of(
        metadata: &'a ParquetMetaData,
        (row_group, rows): (usize, u64),
        column: &'a FileColumn,
    ) -> Option<Self> {
        use ColumnOrder::{IEEE_754_TOTAL_ORDER, TYPE_DEFINED_ORDER};
        let (leaf, file) = (column.leaves.start, metadata.file_metadata());
        let order = file.column_orders()?.get(leaf)?;
        let single = file.schema_descr().columns().get(leaf)?.max_rep_level() == 0;
        if !single || !matches!(order, TYPE_DEFINED_ORDER(_) | IEEE_754_TOTAL_ORDER) {
            return None;
        }
        let indexes = metadata.page_index()?;
        let index = indexes.column_index(row_group, leaf)?;
        let pages = indexes.offset_index(row_group, leaf)?.page_locations();
        let starts = pages.iter().map(|page| u64::try_from(page.first_row_index).ok());
        let ends: Vec<u64> = starts.chain([Some(rows)]).collect::<Option<_>>()?;
        let has_all_pages = ends.len() as u64 - 1 == index.num_pages();
        let ascend = ends.first() == Some(&0) && ends.windows(2).all(|pair| pair[0] < pair[1]);
        (has_all_pages && ascend && ends.len() > 1).then_some(Self {
            ends,
            index,
            natural: column.field.data_type(),
        })
    }

    fn pages(&self) -> usize {
        self.ends.len() - 1
    }

    /// Return the ordinal of the page that covers each interval.
    fn covering(&self, intervals: &[u64]) -> UInt32Array {
        let mut page = 0;
        let starts = intervals.iter().take(intervals.len() - 1).map(|start| {
            while self.ends.get(page + 1).is_some_and(|end| end <= start) {
                page += 1;
            }
            u32::try_from(page).unwrap_or(u32::MAX)
        });
        starts.collect()
    }

    /// Return the number of rows of each page, which is its number of values.
    fn rows(&self) -> Int64Array {
        self.ends.windows(2).map(|pair| i64::try_from(pair[1] - pair[0]).ok()).collect()
    }

    /// Return the number of nulls of each page.
    fn nulls(&self) -> Int64Array {
        let counts = self.index.null_counts().filter(|counts| counts.len() == self.pages());
        let rows = self.rows();
        let nulls = (0..self.pages()).map(|page| match self.index.is_null_page(page) {
            true => Some(rows.value(page)),
            false => counts.and_then(|counts| counts.get(page)).copied(),
        });
        nulls.collect()
    }

    fn bounds(&self, side: Side, wanted: &PrimitiveType) -> Vec<Option<Datum>> {
        let bound = |page| bound_of(raw_bound(self.index, page, side)?, side, self.natural, wanted);
        (0..self.pages()).map(bound).collect()
    }
}

fn raw_bound(index: &ColumnIndexMetaData, page: usize, side: Side) -> Option<Raw<'_>> {
    use ColumnIndexMetaData as C;
    Some(match index {
        C::BOOLEAN(of) => Raw::Boolean(*side.of(of.min_value(page), of.max_value(page))?),
        C::INT32(of) => Raw::Integer((*side.of(of.min_value(page), of.max_value(page))?).into()),
        C::INT64(of) => Raw::Integer(*side.of(of.min_value(page), of.max_value(page))?),
        C::FLOAT(of) => Raw::Floating((*side.of(of.min_value(page), of.max_value(page))?).into()),
        C::DOUBLE(of) => Raw::Floating(*side.of(of.min_value(page), of.max_value(page))?),
        C::BYTE_ARRAY(of) => {
            let bytes = side.of(of.min_value(page), of.max_value(page))?;
            Raw::Bytes(bytes, PhysicalType::BYTE_ARRAY)
        }
        C::FIXED_LEN_BYTE_ARRAY(of) => {
            let bytes = side.of(of.min_value(page), of.max_value(page))?;
            Raw::Bytes(bytes, PhysicalType::FIXED_LEN_BYTE_ARRAY)
        }
        C::INT96(_) => return None,
    })
}
