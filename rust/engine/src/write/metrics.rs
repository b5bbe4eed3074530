//! Column metrics of a written file, from the footer its writer has just closed.
//!
//! The writer is set up so that the footer's statistics are exact as far as the metrics need them
//! (see [`statistics_bytes`]). Nothing inside a list or a map has counts or bounds, only a size.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::num::NonZeroU32;

use icefloe_format::metrics::{MetricsConfig, MetricsMode, truncate_lower, truncate_upper};
use icefloe_format::spec::{Datum, PrimitiveType, Schema, single_value};
use parquet::basic::Type as PhysicalType;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::statistics::Statistics;
use parquet::schema::types::ColumnDescriptor;

/// The column metrics of a manifest entry, by field id.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ColumnMetrics {
    /// Bytes on disk.
    pub column_sizes: BTreeMap<i32, i64>,
    /// Counts of values, nulls and NaNs included.
    pub value_counts: BTreeMap<i32, i64>,
    /// Counts of nulls, of the field or of a struct around it.
    pub null_value_counts: BTreeMap<i32, i64>,
    /// Counts of NaNs of float and double columns.
    pub nan_value_counts: BTreeMap<i32, i64>,
    /// Lower bounds as single-value bytes, without NaN and null.
    pub lower_bounds: BTreeMap<i32, Vec<u8>>,
    /// Upper bounds as single-value bytes; absent where truncation finds none.
    pub upper_bounds: BTreeMap<i32, Vec<u8>>,
}

/// Return the statistics bytes of strings and binaries that a footer needs for [`ColumnMetrics`]; `None` where some
/// column needs all of them.
pub(super) fn statistics_bytes(schema: &Schema, modes: &MetricsConfig) -> Option<usize> {
    /// The least statistics bytes, for readers that prune by footers alone.
    const FOOTER_BYTES: usize = 64;
    const CODE_POINT_BYTES: usize = 4;
    let mut most = FOOTER_BYTES;
    for id in schema.leaf_ids() {
        let needed = match (schema.primitive_type(id), modes.mode(id)) {
            (Some(PrimitiveType::Fixed(length)), mode) if mode.keeps_bounds() => {
                usize::try_from(length).unwrap_or(usize::MAX)
            }
            (Some(PrimitiveType::String | PrimitiveType::Binary), MetricsMode::Full) => {
                return None;
            }
            // Two code points more than the bound: one shows that the value was truncated, and
            // truncation within a character may lose one.
            (Some(PrimitiveType::String), MetricsMode::Truncate(length)) => {
                width(length).saturating_add(2).saturating_mul(CODE_POINT_BYTES)
            }
            (Some(PrimitiveType::Binary), MetricsMode::Truncate(length)) => {
                width(length).saturating_add(1)
            }
            _ => 0,
        };
        most = most.max(needed);
    }
    Some(most)
}

fn width(length: NonZeroU32) -> usize {
    usize::try_from(length.get()).unwrap_or(usize::MAX)
}

/// Return the metrics of a file by its footer.
pub(super) fn column_metrics(
    footer: &ParquetMetaData,
    schema: &Schema,
    modes: &MetricsConfig,
) -> ColumnMetrics {
    let mut metrics = ColumnMetrics::default();
    for (index, column) in footer.file_metadata().schema_descr().columns().iter().enumerate() {
        let info = column.self_type().get_basic_info();
        let mode = info.has_id().then(|| (info.id(), modes.mode(info.id())));
        let Some((id, mode)) = mode.filter(|(_, mode)| mode.keeps_counts()) else { continue };
        let chunks: Vec<&ColumnChunkMetaData> =
            footer.row_groups().iter().map(|group| group.column(index)).collect();
        metrics.add_column(id, column, &chunks, (mode, schema.primitive_type(id)));
    }
    metrics
}

impl ColumnMetrics {
    fn add_column(
        &mut self,
        id: i32,
        column: &ColumnDescriptor,
        chunks: &[&ColumnChunkMetaData],
        (mode, primitive): (MetricsMode, Option<PrimitiveType>),
    ) {
        let size = chunks.iter().map(|chunk| chunk.compressed_size()).sum();
        self.column_sizes.insert(id, size);
        if column.max_rep_level() > 0 {
            return;
        }
        let values: i64 = chunks.iter().map(|chunk| chunk.num_values()).sum();
        self.value_counts.insert(id, values);
        if let Some(nulls) = total(chunks, Statistics::null_count_opt) {
            self.null_value_counts.insert(id, nulls);
        }
        if matches!(column.physical_type(), PhysicalType::FLOAT | PhysicalType::DOUBLE) {
            let nans = total(chunks, |statistics| Some(statistics.nan_count_opt().unwrap_or(0)));
            self.nan_value_counts.extend(nans.map(|nans| (id, nans)));
        }
        let Some(primitive) = primitive.filter(|_| mode.keeps_bounds()) else { return };
        let Some((lower, upper)) = bounds(chunks, &primitive) else { return };
        self.set_bounds(id, lower, upper, mode);
    }

    /// Set the bounds of a column, cut as its mode says.
    pub(super) fn set_bounds(&mut self, id: i32, lower: Datum, upper: Datum, mode: MetricsMode) {
        let (lower, upper) = (zero(lower, true), zero(upper, false));
        let (lower, upper) = match mode {
            MetricsMode::Truncate(length) => {
                (truncate_lower(&lower, width(length)), truncate_upper(&upper, width(length)))
            }
            _ => (lower, Some(upper)),
        };
        self.lower_bounds.insert(id, single_value::to_bytes(&lower));
        self.upper_bounds.extend(upper.map(|upper| (id, single_value::to_bytes(&upper))));
    }
}

/// Return a count over all chunks; `None` if one of them lacks it.
fn total(
    chunks: &[&ColumnChunkMetaData],
    count: impl Fn(&Statistics) -> Option<u64>,
) -> Option<i64> {
    chunks.iter().try_fold(0i64, |sum, chunk| {
        let count = chunk.statistics().and_then(&count)?;
        sum.checked_add(i64::try_from(count).ok()?)
    })
}

/// Return the smallest and the greatest value; `None` if there is none, or a chunk has no statistics.
fn bounds(chunks: &[&ColumnChunkMetaData], primitive: &PrimitiveType) -> Option<(Datum, Datum)> {
    let mut found: Option<(Datum, Datum)> = None;
    for chunk in chunks {
        let statistics = chunk.statistics()?;
        let nulls = statistics.null_count_opt()?;
        if i64::try_from(nulls).ok()? == chunk.num_values() {
            continue;
        }
        let (min, max) = range(statistics, primitive)?;
        // The writer records NaN only for chunks of nothing but NaN.
        if min.is_nan() || max.is_nan() {
            continue;
        }
        found = Some(match found {
            None => (min, max),
            Some((lower, upper)) => (smaller(lower, min), greater(upper, max)),
        });
    }
    found
}

pub(super) fn smaller(left: Datum, right: Datum) -> Datum {
    if right.compare(&left) == Some(Ordering::Less) { right } else { left }
}

pub(super) fn greater(left: Datum, right: Datum) -> Datum {
    if right.compare(&left) == Some(Ordering::Greater) { right } else { left }
}

/// Return the two zeros are equal in predicates and differ in order: a lower bound takes the smaller one,
/// an upper bound the greater.
fn zero(bound: Datum, negative: bool) -> Datum {
    match bound {
        Datum::Float(0.0) => Datum::Float(if negative { -0.0 } else { 0.0 }),
        Datum::Double(0.0) => Datum::Double(if negative { -0.0 } else { 0.0 }),
        other => other,
    }
}

fn range(statistics: &Statistics, primitive: &PrimitiveType) -> Option<(Datum, Datum)> {
    Some(match statistics {
        Statistics::Boolean(range) => {
            (Datum::Boolean(*range.min_opt()?), Datum::Boolean(*range.max_opt()?))
        }
        Statistics::Int32(range) => {
            (int(*range.min_opt()?, primitive)?, int(*range.max_opt()?, primitive)?)
        }
        Statistics::Int64(range) => {
            (long(*range.min_opt()?, primitive)?, long(*range.max_opt()?, primitive)?)
        }
        Statistics::Float(range) => {
            (Datum::Float(*range.min_opt()?), Datum::Float(*range.max_opt()?))
        }
        Statistics::Double(range) => {
            (Datum::Double(*range.min_opt()?), Datum::Double(*range.max_opt()?))
        }
        Statistics::ByteArray(range) => {
            (bytes(range.min_bytes_opt()?, primitive)?, bytes(range.max_bytes_opt()?, primitive)?)
        }
        Statistics::FixedLenByteArray(range) => {
            (bytes(range.min_bytes_opt()?, primitive)?, bytes(range.max_bytes_opt()?, primitive)?)
        }
        Statistics::Int96(_) => return None,
    })
}

fn int(value: i32, primitive: &PrimitiveType) -> Option<Datum> {
    Some(match *primitive {
        PrimitiveType::Int => Datum::Int(value),
        PrimitiveType::Date => Datum::Date(value),
        PrimitiveType::Decimal { precision, scale } => {
            Datum::Decimal { unscaled: i128::from(value), precision, scale }
        }
        _ => return None,
    })
}

fn long(value: i64, primitive: &PrimitiveType) -> Option<Datum> {
    Some(match *primitive {
        PrimitiveType::Long => Datum::Long(value),
        PrimitiveType::Time => Datum::Time(value),
        PrimitiveType::Timestamp => Datum::Timestamp(value),
        PrimitiveType::Timestamptz => Datum::Timestamptz(value),
        PrimitiveType::TimestampNs => Datum::TimestampNs(value),
        PrimitiveType::TimestamptzNs => Datum::TimestamptzNs(value),
        PrimitiveType::Decimal { precision, scale } => {
            Datum::Decimal { unscaled: i128::from(value), precision, scale }
        }
        _ => return None,
    })
}

/// Decode a statistic. Parquet encodes statistics as single values, except decimals, which have all bytes of their
/// type.
fn bytes(value: &[u8], primitive: &PrimitiveType) -> Option<Datum> {
    single_value::from_bytes(primitive, value).ok()
}
