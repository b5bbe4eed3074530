//! Column metrics of an existing file, from the statistics of any writer.

use arrow_schema::DataType;
use icefloe_format::metrics::{MetricsConfig, MetricsMode, truncate_lower, truncate_upper};
use icefloe_format::spec::{PrimitiveType, Schema, single_value};

use super::statistics::FileStatistics;
use crate::resolve::file_columns::FileColumn;
use crate::write::metrics::ColumnMetrics;

/// Return the metrics of a file's columns by field id. Nothing inside a list or a map has counts or bounds, only a
/// size in Parquet.
pub(super) fn column_metrics(
    statistics: &dyn FileStatistics,
    columns: &[FileColumn],
    schema: &Schema,
    modes: &MetricsConfig,
) -> ColumnMetrics {
    let mut metrics = ColumnMetrics::default();
    let file = Described { statistics, schema, modes };
    for column in columns {
        file.add_column(&mut metrics, column, false);
    }
    metrics
}

struct Described<'a> {
    statistics: &'a dyn FileStatistics,
    schema: &'a Schema,
    modes: &'a MetricsConfig,
}

impl Described<'_> {
    fn add_column(&self, metrics: &mut ColumnMetrics, column: &FileColumn, is_repeated: bool) {
        let is_struct = matches!(column.field.data_type(), DataType::Struct(_));
        for child in &column.children {
            self.add_column(metrics, child, is_repeated || !is_struct);
        }
        let Some(id) = column.id.filter(|id| self.schema.field_by_id(*id).is_some()) else {
            return;
        };
        if !self.modes.mode(id).keeps_counts() {
            return;
        }
        let has_counts = self.statistics.has_counts(column, is_repeated);
        if has_counts || self.statistics.has_nested_sizes() {
            metrics.column_sizes.extend(self.statistics.size(column).map(|bytes| (id, bytes)));
        }
        if !has_counts {
            return;
        }
        let statistics = self.statistics;
        metrics.value_counts.extend(statistics.value_count(column).map(|values| (id, values)));
        metrics.null_value_counts.extend(statistics.null_count(column).map(|nulls| (id, nulls)));
        if let Some(wanted) = self.schema.primitive_type(id) {
            self.add_values(metrics, column, (id, &wanted));
        }
    }

    /// Add the number of NaNs and the bounds of a column.
    fn add_values(
        &self,
        metrics: &mut ColumnMetrics,
        column: &FileColumn,
        (id, wanted): (i32, &PrimitiveType),
    ) {
        if matches!(wanted, PrimitiveType::Float | PrimitiveType::Double) {
            let nans = self.statistics.nan_count(column);
            metrics.nan_value_counts.extend(nans.map(|nans| (id, nans)));
        }
        let mode = self.modes.mode(id);
        let bounds = self.statistics.bounds(column, wanted).filter(|_| mode.keeps_bounds());
        let Some((lower, upper)) = bounds else { return };
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
}
