//! Column metrics of an existing file, from a footer of any writer.

use icefloe_format::metrics::{MetricsConfig, MetricsMode, truncate_lower, truncate_upper};
use icefloe_format::spec::{Datum, PrimitiveType, Schema, single_value};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::statistics::Statistics;

use crate::formats::bounds::Side;
use crate::formats::parquet::row_groups::bound;
use crate::resolve::file_columns::FileColumn;
use crate::write::metrics::ColumnMetrics;

/// Return the metrics of a file's columns by field id. Nothing inside a list or a map has counts or bounds, only a
/// size.
pub(super) fn column_metrics(
    footer: &ParquetMetaData,
    columns: &[FileColumn],
    schema: &Schema,
    modes: &MetricsConfig,
) -> ColumnMetrics {
    let mut metrics = ColumnMetrics::default();
    for column in columns {
        add_column(&mut metrics, (footer, schema, modes), column);
    }
    metrics
}

fn add_column(
    metrics: &mut ColumnMetrics,
    file: (&ParquetMetaData, &Schema, &MetricsConfig),
    column: &FileColumn,
) {
    let (footer, schema, modes) = file;
    for child in &column.children {
        add_column(metrics, file, child);
    }
    let Some((id, wanted)) = column.id.and_then(|id| Some((id, schema.primitive_type(id)?))) else {
        return;
    };
    let mode = modes.mode(id);
    if !column.children.is_empty() || !mode.keeps_counts() {
        return;
    }
    let leaf = column.leaves.start;
    metrics.column_sizes.insert(id, chunks(footer, leaf).map(|it| it.compressed_size()).sum());
    let repetitions = footer.file_metadata().schema_descr().column(leaf).max_rep_level();
    if repetitions > 0 {
        return;
    }
    metrics.value_counts.insert(id, value_count(footer, leaf));
    metrics.null_value_counts.extend(null_count(footer, leaf).map(|nulls| (id, nulls)));
    if matches!(wanted, PrimitiveType::Float | PrimitiveType::Double) {
        let nans = total(footer, leaf, Statistics::nan_count_opt);
        metrics.nan_value_counts.extend(nans.map(|nans| (id, nans)));
    }
    let Some((lower, upper)) = bounds(footer, column, &wanted).filter(|_| mode.keeps_bounds())
    else {
        return;
    };
    let (lower, upper) = match mode {
        MetricsMode::Truncate(length) => {
            let width = usize::try_from(length.get()).unwrap_or(usize::MAX);
            (truncate_lower(&lower, width), truncate_upper(&upper, width))
        }
        _ => (lower, Some(upper)),
    };
    metrics.lower_bounds.insert(id, single_value::to_bytes(&lower));
    metrics.upper_bounds.extend(upper.map(|upper| (id, single_value::to_bytes(&upper))));
}

/// Return the smallest and the greatest value of a column; `None` if all values are null or a row group has no bounds.
pub(super) fn bounds(
    footer: &ParquetMetaData,
    column: &FileColumn,
    wanted: &PrimitiveType,
) -> Option<(Datum, Datum)> {
    let natural = column.field.data_type();
    let mut found: Option<(Datum, Datum)> = None;
    for chunk in chunks(footer, column.leaves.start) {
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

/// Return the number of nulls in a leaf column; `None` if a row group does not state it.
pub(super) fn null_count(footer: &ParquetMetaData, leaf: usize) -> Option<i64> {
    total(footer, leaf, Statistics::null_count_opt)
}

/// Return the number of values in a leaf column, nulls included.
pub(super) fn value_count(footer: &ParquetMetaData, leaf: usize) -> i64 {
    chunks(footer, leaf).map(ColumnChunkMetaData::num_values).sum()
}

fn total(
    footer: &ParquetMetaData,
    leaf: usize,
    count: impl Fn(&Statistics) -> Option<u64>,
) -> Option<i64> {
    chunks(footer, leaf).try_fold(0_i64, |sum, chunk| {
        let count = chunk.statistics().and_then(&count)?;
        sum.checked_add(i64::try_from(count).ok()?)
    })
}

fn chunks(footer: &ParquetMetaData, leaf: usize) -> impl Iterator<Item = &ColumnChunkMetaData> {
    footer.row_groups().iter().filter_map(move |group| group.columns().get(leaf))
}
