//! Statistics of an ORC file, from its footer.

use std::collections::HashMap;

use arrow_schema::DataType;
use icefloe_format::orc::{Bound, ColumnStatistics, FileStatistics as FooterStatistics};
use icefloe_format::spec::{Datum, PrimitiveType};

use super::statistics::FileStatistics;
use crate::formats::bounds::Side;
use crate::formats::orc::stripes::datum;
use crate::resolve::file_columns::FileColumn;

/// The seconds of a day.
const SECONDS_OF_A_DAY: i64 = 86_400;

/// The statistics of all stripes together.
pub(super) struct OrcStatistics<'a> {
    rows: i64,
    footer: &'a FooterStatistics,
    /// Numbers of the columns with children, by field id.
    containers: HashMap<i32, usize>,
}

impl<'a> OrcStatistics<'a> {
    pub(super) fn new(rows: i64, footer: &'a FooterStatistics, columns: &[FileColumn]) -> Self {
        let mut containers = HashMap::new();
        // Column 0 is the root.
        columns.iter().fold(1, |next, column| number(column, next, &mut containers));
        Self { rows, footer, containers }
    }

    fn of(&self, column: &FileColumn) -> Option<&ColumnStatistics> {
        if column.children.is_empty() {
            return self.footer.leaf(column.leaves.start);
        }
        self.footer.column(*self.containers.get(&column.id?)?)
    }
}

/// Number a column and the columns below depth first, and return the next number.
fn number(column: &FileColumn, first: usize, containers: &mut HashMap<i32, usize>) -> usize {
    if let (Some(id), false) = (column.id, column.children.is_empty()) {
        containers.insert(id, first);
    }
    column.children.iter().fold(first + 1, |next, child| number(child, next, containers))
}

impl FileStatistics for OrcStatistics<'_> {
    fn rows(&self) -> i64 {
        self.rows
    }

    fn has_counts(&self, _: &FileColumn, is_repeated: bool) -> bool {
        !is_repeated
    }

    fn size(&self, column: &FileColumn) -> Option<i64> {
        // Writers leave out 0, and some writers all sizes: the Java reference records 0.
        i64::try_from(self.of(column)?.bytes.unwrap_or(0)).ok()
    }

    fn value_count(&self, column: &FileColumn) -> Option<i64> {
        self.null_count(column).map(|_| self.rows)
    }

    fn null_count(&self, column: &FileColumn) -> Option<i64> {
        // Values are counted without nulls, and without nulls of a struct around them.
        let values = i64::try_from(self.of(column)?.values?).ok()?;
        self.rows.checked_sub(values).filter(|nulls| *nulls >= 0)
    }

    fn bounds(&self, column: &FileColumn, wanted: &PrimitiveType) -> Option<(Datum, Datum)> {
        let (statistics, natural) = (self.of(column)?, column.field.data_type());
        if statistics.values == Some(0) {
            return None;
        }
        if (wanted, natural) == (&PrimitiveType::Boolean, &DataType::Boolean) {
            let [lower, upper] =
                [(&statistics.lower, false), (&statistics.upper, true)].map(|(stated, widest)| {
                    Datum::Boolean(match stated {
                        Some(Bound::Boolean(value)) => *value,
                        _ => widest,
                    })
                });
            return Some((lower, upper));
        }
        let lower = datum(statistics.lower.as_ref()?, Side::Lower, natural, wanted)?;
        let upper = datum(statistics.upper.as_ref()?, Side::Upper, natural, wanted)?;
        Some((lower, upper))
    }

    fn has_exact_bounds(&self, column: &FileColumn) -> bool {
        matches!(column.field.data_type(), DataType::Decimal128(..) | DataType::Timestamp(..))
    }

    fn has_wide_bounds(&self, column: &FileColumn) -> bool {
        matches!(column.field.data_type(), DataType::Timestamp(_, None))
    }

    fn may_have_null_keys(&self, column: &FileColumn) -> bool {
        self.of(column).and_then(|found| found.has_null) != Some(false)
    }

    fn has_times_outside_a_day(&self, column: &FileColumn, units: i64) -> bool {
        let is_outside = |bound: &Bound| match bound {
            Bound::Integer(value) => !(0..SECONDS_OF_A_DAY * units).contains(value),
            _ => false,
        };
        let bounds = self.of(column).map(|found| [found.lower.as_ref(), found.upper.as_ref()]);
        bounds.into_iter().flatten().flatten().any(is_outside)
    }

    fn has_local_timestamps(&self) -> bool {
        true
    }
}
