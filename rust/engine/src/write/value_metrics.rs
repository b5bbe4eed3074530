//! Column metrics of a file from its values, for formats whose footers do not have them.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int32Type, Int64Type,
    TimestampMicrosecondType,
};
use arrow_array::{Array, ArrayRef};
use arrow_buffer::NullBuffer;
use icefloe_format::metrics::{MetricsConfig, MetricsMode};
use icefloe_format::spec::{Datum, PrimitiveType, StructType, Type};

use super::metrics::ColumnMetrics;

/// Counts and bounds of the leaves outside of lists and maps.
#[derive(Debug, Default)]
pub(super) struct ValueMetrics {
    nodes: Vec<Node>,
}

#[derive(Debug)]
enum Node {
    /// A column without metrics.
    Skipped,
    Struct(Vec<Node>),
    Leaf(Leaf),
}

#[derive(Debug)]
struct Leaf {
    id: i32,
    primitive: PrimitiveType,
    mode: MetricsMode,
    values: i64,
    nulls: i64,
    nans: i64,
    bounds: Option<(Datum, Datum)>,
}

impl ValueMetrics {
    /// Create empty metrics of the columns of a struct.
    pub(super) fn new(fields: &StructType, modes: &MetricsConfig) -> Self {
        let node = |field: &icefloe_format::spec::NestedField| match &field.field_type {
            Type::Primitive(primitive) if modes.mode(field.id).keeps_counts() => {
                let (id, mode) = (field.id, modes.mode(field.id));
                let (values, nulls, nans) = (0, 0, 0);
                let primitive = *primitive;
                Node::Leaf(Leaf { id, primitive, mode, values, nulls, nans, bounds: None })
            }
            Type::Struct(inner) => Node::Struct(Self::new(inner, modes).nodes),
            _ => Node::Skipped,
        };
        Self { nodes: fields.fields.iter().map(node).collect() }
    }

    /// Add rows, with one array for each field.
    pub(super) fn add(&mut self, columns: &[ArrayRef]) {
        for (node, column) in self.nodes.iter_mut().zip(columns) {
            node.add(column, None);
        }
    }

    /// Return the metrics of all rows.
    pub(super) fn finish(self) -> ColumnMetrics {
        let mut metrics = ColumnMetrics::default();
        for node in self.nodes {
            node.finish(&mut metrics);
        }
        metrics
    }
}

impl Node {
    fn add(&mut self, column: &ArrayRef, parent: Option<&NullBuffer>) {
        match self {
            Self::Skipped => {}
            Self::Struct(nodes) => {
                let Some(found) = column.as_struct_opt() else { return };
                let nulls = NullBuffer::union(parent, found.nulls());
                for (node, child) in nodes.iter_mut().zip(found.columns()) {
                    node.add(child, nulls.as_ref());
                }
            }
            Self::Leaf(leaf) => leaf.add(column, parent),
        }
    }

    fn finish(self, metrics: &mut ColumnMetrics) {
        match self {
            Self::Skipped => {}
            Self::Struct(nodes) => nodes.into_iter().for_each(|node| node.finish(metrics)),
            Self::Leaf(leaf) => {
                metrics.value_counts.insert(leaf.id, leaf.values);
                metrics.null_value_counts.insert(leaf.id, leaf.nulls);
                if matches!(leaf.primitive, PrimitiveType::Float | PrimitiveType::Double) {
                    metrics.nan_value_counts.insert(leaf.id, leaf.nans);
                }
                if let Some((lower, upper)) = leaf.bounds {
                    metrics.set_bounds(leaf.id, lower, upper, leaf.mode);
                }
            }
        }
    }
}

impl Leaf {
    fn add(&mut self, column: &ArrayRef, parent: Option<&NullBuffer>) {
        let nulls = NullBuffer::union(parent, column.logical_nulls().as_ref());
        let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        self.values += count(column.len());
        self.nulls += count(nulls.as_ref().map_or(0, NullBuffer::null_count));
        let rows = Rows { column, nulls: nulls.as_ref() };
        let nans = match self.primitive {
            PrimitiveType::Float => {
                let values = column.as_primitive::<Float32Type>();
                rows.present().filter(|row| values.value(*row).is_nan()).count()
            }
            PrimitiveType::Double => {
                let values = column.as_primitive::<Float64Type>();
                rows.present().filter(|row| values.value(*row).is_nan()).count()
            }
            _ => 0,
        };
        self.nans += count(nans);
        if !self.mode.keeps_bounds() {
            return;
        }
        if let Some((lower, upper)) = rows.range(self.primitive) {
            self.bounds = Some(match self.bounds.take() {
                None => (lower, upper),
                Some((least, most)) => (least.smaller(lower), most.greater(upper)),
            });
        }
    }
}

/// The least and the greatest of two values.
trait Extremes: Sized {
    fn smaller(self, other: Self) -> Self;
    fn greater(self, other: Self) -> Self;
}

impl Extremes for Datum {
    fn smaller(self, other: Self) -> Self {
        super::metrics::smaller(self, other)
    }

    fn greater(self, other: Self) -> Self {
        super::metrics::greater(self, other)
    }
}

/// The rows of a leaf.
struct Rows<'a> {
    column: &'a ArrayRef,
    nulls: Option<&'a NullBuffer>,
}

impl Rows<'_> {
    /// Return the rows that are not null.
    fn present(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.column.len()).filter(|row| self.nulls.is_none_or(|nulls| nulls.is_valid(*row)))
    }

    /// Return the least and the greatest value other than null and NaN.
    fn range(&self, primitive: PrimitiveType) -> Option<(Datum, Datum)> {
        macro_rules! ordered {
            ($values:expr, $datum:expr) => {{
                let values = $values;
                let mut range = None;
                for value in self.present().map(|row| values.value(row)) {
                    range = Some(match range {
                        None => (value, value),
                        Some((least, most)) => (
                            if value < least { value } else { least },
                            if value > most { value } else { most },
                        ),
                    });
                }
                let datum = $datum;
                range.map(|(least, most)| (datum(least), datum(most)))
            }};
        }
        let column = self.column;
        match primitive {
            PrimitiveType::Boolean => ordered!(column.as_boolean(), Datum::Boolean),
            PrimitiveType::Int => ordered!(column.as_primitive::<Int32Type>(), Datum::Int),
            PrimitiveType::Long => ordered!(column.as_primitive::<Int64Type>(), Datum::Long),
            PrimitiveType::Date => ordered!(column.as_primitive::<Date32Type>(), Datum::Date),
            PrimitiveType::Time => ordered!(column.as_primitive::<Int64Type>(), Datum::Time),
            PrimitiveType::Timestamp => {
                ordered!(column.as_primitive::<TimestampMicrosecondType>(), Datum::Timestamp)
            }
            PrimitiveType::Timestamptz => {
                ordered!(column.as_primitive::<TimestampMicrosecondType>(), Datum::Timestamptz)
            }
            PrimitiveType::Decimal { precision, scale } => {
                ordered!(column.as_primitive::<Decimal128Type>(), |unscaled| Datum::Decimal {
                    unscaled,
                    precision,
                    scale
                })
            }
            PrimitiveType::String => {
                ordered!(column.as_string::<i32>(), |text: &str| Datum::String(text.into()))
            }
            PrimitiveType::Binary => {
                ordered!(column.as_binary::<i32>(), |bytes: &[u8]| Datum::Binary(bytes.into()))
            }
            PrimitiveType::Float => {
                let values = column.as_primitive::<Float32Type>();
                let found =
                    self.present().map(|row| values.value(row)).filter(|value| !value.is_nan());
                let range = extremes(found, f32::total_cmp)?;
                Some((Datum::Float(range.0), Datum::Float(range.1)))
            }
            PrimitiveType::Double => {
                let values = column.as_primitive::<Float64Type>();
                let found =
                    self.present().map(|row| values.value(row)).filter(|value| !value.is_nan());
                let range = extremes(found, f64::total_cmp)?;
                Some((Datum::Double(range.0), Datum::Double(range.1)))
            }
            _ => None,
        }
    }
}

fn extremes<T: Copy>(
    values: impl Iterator<Item = T>,
    compare: fn(&T, &T) -> std::cmp::Ordering,
) -> Option<(T, T)> {
    values.fold(None, |range, value| match range {
        None => Some((value, value)),
        Some((least, most)) => Some((
            if compare(&value, &least).is_lt() { value } else { least },
            if compare(&value, &most).is_gt() { value } else { most },
        )),
    })
}
