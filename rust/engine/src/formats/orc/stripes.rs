//! Pruning the stripes of an ORC file by byte range and statistics.

use std::ops::Range;

use arrow_array::{BooleanArray, Int64Array};
use arrow_schema::{DataType, TimeUnit};
use icefloe_format::Result as FormatResult;
use icefloe_format::orc::{Bound, LeafStatistics, Stripe, StripeStatistics};
use icefloe_format::predicate::{
    BoundLeaf, ColumnCounts, ColumnFacts, ColumnStats, Predicate, evaluate_inclusive,
};
use icefloe_format::spec::{Datum, PrimitiveType, datums_to_array, decimal};
use parquet::basic::Type as PhysicalType;

use super::footer::OrcEnd;
use crate::error::Result;
use crate::formats::bounds::{Raw, Side, bound_of};
use crate::resolve::file_columns::{FileColumn, leaf_of};
use crate::resolve::request::FileRequest;

/// A stripe to decode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WantedStripe {
    pub(crate) number: usize,
    /// Positions of its rows in the file; `None` until the previous stripe is decoded.
    pub(crate) rows: Option<Range<u64>>,
}

impl WantedStripe {
    /// Return the number of rows, if known.
    pub(crate) fn count(&self) -> Option<u64> {
        self.rows.as_ref().map(|rows| rows.end - rows.start)
    }
}

/// Return the stripes that belong to the byte range of a request: a stripe belongs to the range that contains its
/// midpoint.
pub(crate) fn in_range(stripes: &[Stripe], start: u64, length: u64) -> Vec<WantedStripe> {
    let range = start..start.saturating_add(length);
    let mut next_row = 0_u64;
    let placed = stripes.iter().enumerate().map(|(number, stripe)| {
        let first_row = next_row;
        next_row = next_row.saturating_add(stripe.rows);
        (stripe, WantedStripe { number, rows: Some(first_row..next_row) })
    });
    placed.filter(|(stripe, _)| range.contains(&stripe.middle())).map(|(_, it)| it).collect()
}

/// Return the stripes that might hold a row that satisfies the residual.
///
/// # Errors
/// [`crate::Error::Storage`], and errors of evaluating the residual.
pub(crate) fn that_might_match(
    request: &FileRequest<'_>,
    end: &OrcEnd,
    columns: &[FileColumn],
    stripes: Vec<WantedStripe>,
) -> Result<Vec<WantedStripe>> {
    if stripes.is_empty() || matches!(request.residual, Predicate::AlwaysTrue) {
        return Ok(stripes);
    }
    let Some(statistics) = end.statistics(request.location)? else { return Ok(stripes) };
    let stats = Stats { statistics, stripes: &stripes, columns };
    let might_match: BooleanArray = evaluate_inclusive(&request.residual, &stats)?;
    let kept = stripes.iter().zip(might_match.values()).filter(|(_, kept)| *kept);
    Ok(kept.map(|(stripe, _)| stripe.clone()).collect())
}

struct Stats<'a> {
    statistics: StripeStatistics,
    stripes: &'a [WantedStripe],
    columns: &'a [FileColumn],
}

impl ColumnStats for Stats<'_> {
    fn entries(&self) -> usize {
        self.stripes.len()
    }

    fn facts(&self, leaf: &BoundLeaf) -> FormatResult<ColumnFacts> {
        let entries = self.stripes.len();
        let unknown = || Ok(ColumnFacts::unknown(&leaf.field_type, entries));
        let Some(column) = leaf_of(self.columns, leaf.field_id) else { return unknown() };
        // Statistics that cannot be parsed prune nothing.
        let Ok(all) = self.statistics.leaf(column.leaves.start) else { return unknown() };
        let recorded: Vec<Option<&LeafStatistics>> =
            self.stripes.iter().map(|stripe| all.get(stripe.number)).collect();
        let count = |count: u64| i64::try_from(count).ok();
        let rows = self.stripes.iter().map(|stripe| stripe.count().and_then(count));
        let rows: Int64Array = rows.collect();
        let nulls = self.stripes.iter().zip(&recorded).map(|(stripe, recorded)| {
            // Values are counted without nulls, and without nulls of a struct around them.
            count(stripe.count()?.checked_sub(recorded.as_ref()?.values?)?)
        });
        let counts = ColumnCounts {
            records: Some(rows.clone()),
            values: Some(rows),
            nulls: Some(nulls.collect()),
            nans: None,
        };
        let natural = column.field.data_type();
        let bounds = |side: Side| {
            let of = |recorded: &LeafStatistics| {
                let bound = side.of(recorded.lower.as_ref(), recorded.upper.as_ref())?;
                datum(bound, side, natural, &leaf.field_type)
            };
            let values: Vec<_> = recorded.iter().map(|recorded| recorded.and_then(of)).collect();
            datums_to_array(&leaf.field_type, &values)
        };
        let (lower, upper) = (bounds(Side::Lower)?, bounds(Side::Upper)?);
        ColumnFacts::from_counts(&leaf.field_type, entries, &counts, Some(lower), Some(upper))
    }
}

/// Return a bound as a value of the table's type; `None` if it is not safe to use.
pub(crate) fn datum(
    bound: &Bound,
    side: Side,
    natural: &DataType,
    wanted: &PrimitiveType,
) -> Option<Datum> {
    let micros = DataType::Timestamp(TimeUnit::Microsecond, None);
    match (bound, natural) {
        (Bound::Boolean(value), _) => bound_of(Raw::Boolean(*value), side, natural, wanted),
        (Bound::Integer(value), _) => bound_of(Raw::Integer(*value), side, natural, wanted),
        (Bound::Floating(value), _) => bound_of(Raw::Floating(*value), side, natural, wanted),
        (Bound::Micros(value), DataType::Timestamp(..)) => {
            bound_of(Raw::Integer(*value), side, &micros, wanted)
        }
        (Bound::Micros(_), _) => None,
        (Bound::Decimal(text), DataType::Decimal128(_, found)) => {
            decimal_bound(text, *found, wanted)
        }
        (Bound::Decimal(_), _) => None,
        // A bound truncated within a character is not valid text.
        (Bound::Text(bytes), _) => {
            bound_of(Raw::Bytes(bytes, PhysicalType::BYTE_ARRAY), side, natural, wanted)
        }
    }
}

fn decimal_bound(text: &[u8], found: i8, wanted: &PrimitiveType) -> Option<Datum> {
    let PrimitiveType::Decimal { precision, scale } = wanted else { return None };
    let unscaled = decimal::parse(std::str::from_utf8(text).ok()?, *scale);
    let unscaled = unscaled.filter(|_| found == *scale)?;
    Some(Datum::Decimal { unscaled, precision: *precision, scale: *scale })
}
