//! The metrics to collect per column: the `write.metadata.metrics.*` table properties.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::spec::{NestedField, Schema, SortOrder, Type};

const DEFAULT_MODE: &str = "write.metadata.metrics.default";
const COLUMN_MODE_PREFIX: &str = "write.metadata.metrics.column.";
const MAX_INFERRED: &str = "write.metadata.metrics.max-inferred-column-defaults";
const MAX_INFERRED_DEFAULT: usize = 100;
const TRUNCATE_DEFAULT: NonZeroU32 = NonZeroU32::MIN.saturating_add(15);

/// The metrics to collect of a column. `Display` and `FromStr` use the property's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MetricsMode {
    /// No metrics.
    None,
    /// Size and counts.
    Counts,
    /// Counts and bounds, with strings and binaries truncated to a width.
    Truncate(NonZeroU32),
    /// Counts and full bounds.
    Full,
}

impl MetricsMode {
    /// The mode of a column without a property.
    pub const DEFAULT: Self = Self::Truncate(TRUNCATE_DEFAULT);

    /// Return whether sizes and counts are collected.
    pub fn keeps_counts(self) -> bool {
        self != Self::None
    }

    /// Return whether bounds are collected.
    pub fn keeps_bounds(self) -> bool {
        matches!(self, Self::Truncate(_) | Self::Full)
    }
}

impl fmt::Display for MetricsMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Counts => f.write_str("counts"),
            Self::Truncate(width) => write!(f, "truncate({width})"),
            Self::Full => f.write_str("full"),
        }
    }
}

impl FromStr for MetricsMode {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mode = text.trim().to_ascii_lowercase();
        let width = mode.strip_prefix("truncate(").and_then(|open| open.strip_suffix(')'));
        match (mode.as_str(), width.map(|width| width.trim().parse::<NonZeroU32>())) {
            ("none", _) => Ok(Self::None),
            ("counts", _) => Ok(Self::Counts),
            ("full", _) => Ok(Self::Full),
            (_, Some(Ok(width))) => Ok(Self::Truncate(width)),
            _ => Err(Error::invalid(
                "metrics mode",
                format!("is invalid; expected none, counts, truncate(N) or full, got {text:?}"),
            )),
        }
    }
}

/// The mode of every column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetricsConfig {
    modes: HashMap<i32, MetricsMode>,
    default: MetricsMode,
}

impl MetricsConfig {
    /// Read the modes from table properties.
    ///
    /// Bounds are collected for the columns by which, or by whose order-preserving transform, rows are sorted, unless they
    /// have a property of their own. Without a
    /// default property, metrics are collected for the first 100 columns only, or the number in
    /// `max-inferred-column-defaults`.
    ///
    /// # Errors
    /// `InvalidArgument` where a mode or a number is invalid.
    pub fn from_properties(
        schema: &Schema,
        sort_order: Option<&SortOrder>,
        properties: &HashMap<String, String>,
    ) -> Result<Self> {
        let explicit = properties.get(DEFAULT_MODE).map(|text| mode_of(DEFAULT_MODE, text));
        let explicit = explicit.transpose()?;
        let mut config = match explicit {
            Some(mode) => Self { modes: HashMap::new(), default: mode },
            None => Self::inferred(schema, properties)?,
        };
        let keys = sort_order.into_iter().flat_map(|order| &order.fields);
        for field in keys.filter(|field| field.transform.preserves_order()) {
            if !config.mode(field.source_id).keeps_bounds() {
                config.modes.insert(field.source_id, MetricsMode::DEFAULT);
            }
        }
        for (property, text) in properties {
            let Some(column) = property.strip_prefix(COLUMN_MODE_PREFIX) else { continue };
            // Properties of renamed or dropped columns are ignored.
            if let Some(field) = schema.field_by_name(column, true) {
                config.modes.insert(field.id, mode_of(property, text)?);
            }
        }
        Ok(config)
    }

    /// Return the modes of position delete files: full bounds, so that equal bounds identify the data file.
    pub fn for_position_deletes() -> Self {
        Self { modes: HashMap::new(), default: MetricsMode::Full }
    }

    /// Return the mode of a column.
    pub fn mode(&self, field_id: i32) -> MetricsMode {
        self.modes.get(&field_id).copied().unwrap_or(self.default)
    }

    fn inferred(schema: &Schema, properties: &HashMap<String, String>) -> Result<Self> {
        let limit = match properties.get(MAX_INFERRED) {
            Some(text) => text.trim().parse::<usize>().map_err(|_| {
                Error::invalid(
                    MAX_INFERRED,
                    format!("is invalid; expected a number of columns, got {text:?}"),
                )
            })?,
            None => MAX_INFERRED_DEFAULT,
        };
        let columns = primitives_by_level(schema);
        if field_count(schema.fields()) <= limit {
            return Ok(Self { modes: HashMap::new(), default: MetricsMode::DEFAULT });
        }
        let first: BTreeSet<i32> = columns.into_iter().take(limit).collect();
        let modes = first.into_iter().map(|id| (id, MetricsMode::DEFAULT)).collect();
        Ok(Self { modes, default: MetricsMode::None })
    }
}

fn mode_of(property: &str, text: &str) -> Result<MetricsMode> {
    text.parse().map_err(|error: Error| Error::invalid(property, error.to_string()))
}

/// Return the ids of the primitive fields, by nesting level.
fn primitives_by_level(schema: &Schema) -> Vec<i32> {
    let mut ids = Vec::new();
    let mut levels: VecDeque<&Type> = VecDeque::new();
    let mut visit = |id: i32, field_type: &'_ Type| {
        let primitive = matches!(field_type, Type::Primitive(_));
        if primitive {
            ids.push(id);
        }
        !primitive
    };
    for field in schema.fields() {
        if visit(field.id, &field.field_type) {
            levels.push_back(&field.field_type);
        }
    }
    while let Some(nested) = levels.pop_front() {
        for (id, child) in children(nested) {
            if visit(id, child) {
                levels.push_back(child);
            }
        }
    }
    ids
}

fn children(nested: &Type) -> Vec<(i32, &Type)> {
    match nested {
        Type::Primitive(_) => Vec::new(),
        Type::Struct(inner) => inner.fields.iter().map(|f| (f.id, &f.field_type)).collect(),
        Type::List(list) => vec![(list.element_id, &list.element)],
        Type::Map(map) => vec![(map.key_id, &map.key), (map.value_id, &map.value)],
    }
}

/// Return the number of field ids of a schema, including nested fields and their parents.
fn field_count(fields: &[NestedField]) -> usize {
    fn of(field_type: &Type) -> usize {
        children(field_type).into_iter().map(|(_, child)| 1 + of(child)).sum()
    }
    fields.iter().map(|field| 1 + of(&field.field_type)).sum()
}
