//! Statistics of a Parquet file, from a footer of any writer.

use icefloe_format::spec::{Datum, PrimitiveType};
use parquet::basic::{ConvertedType, Type as PhysicalType};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::statistics::Statistics;
use parquet::schema::types::ColumnDescPtr;

use super::statistics::FileStatistics;
use crate::formats::bounds::Side;
use crate::formats::parquet::row_groups::bound;
use crate::resolve::file_columns::FileColumn;

/// The seconds of a day.
const SECONDS_OF_A_DAY: i64 = 86_400;

/// The statistics of all row groups together.
pub(super) struct ParquetStatistics<'a>(pub(super) &'a ParquetMetaData);

impl ParquetStatistics<'_> {
    fn chunks(&self, column: &FileColumn) -> impl Iterator<Item = &ColumnChunkMetaData> {
        let leaf = column.leaves.start;
        self.0.row_groups().iter().filter_map(move |group| group.columns().get(leaf))
    }

    fn total(
        &self,
        column: &FileColumn,
        count: impl Fn(&Statistics) -> Option<u64>,
    ) -> Option<i64> {
        self.chunks(column).try_fold(0_i64, |sum, chunk| {
            let count = chunk.statistics().and_then(&count)?;
            sum.checked_add(i64::try_from(count).ok()?)
        })
    }

    fn descriptor(&self, column: &FileColumn) -> ColumnDescPtr {
        self.0.file_metadata().schema_descr().column(column.leaves.start)
    }
}

impl FileStatistics for ParquetStatistics<'_> {
    fn rows(&self) -> i64 {
        self.0.file_metadata().num_rows()
    }

    fn has_counts(&self, column: &FileColumn, is_repeated: bool) -> bool {
        column.children.is_empty() && !is_repeated
    }

    fn has_nested_sizes(&self) -> bool {
        true
    }

    fn size(&self, column: &FileColumn) -> Option<i64> {
        let is_leaf = column.children.is_empty();
        is_leaf.then(|| self.chunks(column).map(ColumnChunkMetaData::compressed_size).sum())
    }

    fn value_count(&self, column: &FileColumn) -> Option<i64> {
        Some(self.chunks(column).map(ColumnChunkMetaData::num_values).sum())
    }

    fn null_count(&self, column: &FileColumn) -> Option<i64> {
        self.total(column, Statistics::null_count_opt)
    }

    fn nan_count(&self, column: &FileColumn) -> Option<i64> {
        self.total(column, Statistics::nan_count_opt)
    }

    fn bounds(&self, column: &FileColumn, wanted: &PrimitiveType) -> Option<(Datum, Datum)> {
        let natural = column.field.data_type();
        let mut found: Option<(Datum, Datum)> = None;
        for chunk in self.chunks(column) {
            let statistics = chunk.statistics()?;
            let nulls = statistics.null_count_opt().and_then(|nulls| i64::try_from(nulls).ok());
            if nulls == Some(chunk.num_values()) {
                continue;
            }
            let lower = bound(statistics, Side::Lower, natural, wanted)?;
            let upper = bound(statistics, Side::Upper, natural, wanted)?;
            found = Some(match found {
                None => (lower, upper),
                Some((least, most)) => {
                    let less = lower.compare(&least)?.is_lt();
                    let more = upper.compare(&most)?.is_gt();
                    (if less { lower } else { least }, if more { upper } else { most })
                }
            });
        }
        found
    }

    fn has_exact_bounds(&self, column: &FileColumn) -> bool {
        // Bounds of bytes may be truncated.
        let physical = self.descriptor(column).physical_type();
        matches!(physical, PhysicalType::INT32 | PhysicalType::INT64)
    }

    fn is_text(&self, column: &FileColumn) -> bool {
        // The names of an enumeration are UTF-8.
        self.descriptor(column).converted_type() == ConvertedType::ENUM
    }

    fn may_have_null_keys(&self, column: &FileColumn) -> bool {
        self.descriptor(column).self_type().is_optional()
    }

    fn has_times_outside_a_day(&self, column: &FileColumn, units: i64) -> bool {
        let is_outside = |value: i64| !(0..SECONDS_OF_A_DAY * units).contains(&value);
        self.chunks(column).filter_map(ColumnChunkMetaData::statistics).any(|found| match found {
            Statistics::Int32(found) => [found.min_opt(), found.max_opt()]
                .into_iter()
                .flatten()
                .any(|value| is_outside(i64::from(*value))),
            Statistics::Int64(found) => {
                [found.min_opt(), found.max_opt()].into_iter().flatten().any(|it| is_outside(*it))
            }
            _ => false,
        })
    }
}
