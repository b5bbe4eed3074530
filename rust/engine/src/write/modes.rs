//! How much is kept about each column, by table properties.

use std::collections::{BTreeMap, VecDeque};
use std::str::FromStr;

use icefloe_format::spec::{NestedField, Schema, SortOrder, Type};
use icefloe_format::{Error, Result};

use super::metrics::Modes;

/// How much a manifest keeps about a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricsMode {
    /// Nothing.
    None,
    /// Sizes and counts.
    Counts,
    /// And bounds, those of strings and bytes cut to so many code points or bytes.
    Truncate(usize),
    /// And whole bounds.
    Full,
}

const DEFAULT: &str = "write.metadata.metrics.default";
const COLUMN: &str = "write.metadata.metrics.column.";
const MAX_INFERRED: &str = "write.metadata.metrics.max-inferred-column-defaults";
const DEFAULT_MODE: MetricsMode = MetricsMode::Truncate(16);

impl FromStr for MetricsMode {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let name = text.trim().to_ascii_lowercase();
        let width = name.strip_prefix("truncate(").and_then(|rest| rest.strip_suffix(')'));
        match (name.as_str(), width.map(|width| width.trim().parse::<usize>())) {
            ("none", _) => Ok(Self::None),
            ("counts", _) => Ok(Self::Counts),
            ("full", _) => Ok(Self::Full),
            (_, Some(Ok(width))) if width > 0 => Ok(Self::Truncate(width)),
            _ => Err(Error::invalid(
                "metrics mode",
                format!("{text:?} is none of none, counts, truncate(N), full"),
            )),
        }
    }
}

/// The mode of every primitive field, inside lists and maps too.
///
/// A column's own property wins over the default. Without an explicit default, of a schema with
/// more than `max-inferred-column-defaults` fields only the first primitives (level by level) are
/// kept. Columns of the sort order have bounds in any case.
///
/// # Errors
/// `InvalidArgument` for a mode or a number that is malformed.
pub fn column_modes(
    properties: &BTreeMap<String, String>,
    schema: &Schema,
    order: Option<&SortOrder>,
) -> Result<Modes> {
    let explicit = properties.get(DEFAULT).map(|text| parse(DEFAULT, text)).transpose()?;
    let limit = match properties.get(MAX_INFERRED) {
        None => 100,
        Some(text) => text
            .trim()
            .parse::<usize>()
            .map_err(|_| Error::invalid(MAX_INFERRED, format!("{text:?} is not a whole number")))?,
    };
    let unlimited = explicit.is_some() || schema.full_names().len() <= limit;
    let mut modes = Modes::new();
    for (rank, id) in level_order(schema).into_iter().enumerate() {
        let inherited = explicit.unwrap_or(DEFAULT_MODE);
        let default = if unlimited || rank < limit { inherited } else { MetricsMode::None };
        modes.insert(id, default);
    }
    for (id, mode) in &mut modes {
        let name = schema.full_name(*id).unwrap_or_default();
        if let Some(text) = properties.get(&format!("{COLUMN}{name}")) {
            *mode = parse(&format!("{COLUMN}{name}"), text)?;
        } else if order.is_some_and(|order| order.fields.iter().any(|key| key.source_id == *id))
            && matches!(mode, MetricsMode::None | MetricsMode::Counts)
        {
            *mode = DEFAULT_MODE;
        }
    }
    Ok(modes)
}

fn parse(name: &str, text: &str) -> Result<MetricsMode> {
    text.parse().map_err(|_| {
        Error::invalid(name, format!("{text:?} is none of none, counts, truncate(N), full"))
    })
}

/// Ids of primitive fields: all of one level of nesting before any of the next.
fn level_order(schema: &Schema) -> Vec<i32> {
    let mut ids = Vec::new();
    let mut queue: VecDeque<(i32, &Type)> = schema.fields.iter().map(of_field).collect();
    while let Some((id, field_type)) = queue.pop_front() {
        match field_type {
            Type::Primitive(_) => ids.push(id),
            Type::Struct(inner) => queue.extend(inner.fields.iter().map(of_field)),
            Type::List(list) => queue.push_back((list.element_id, &list.element)),
            Type::Map(map) => {
                queue.extend([(map.key_id, &map.key), (map.value_id, &map.value)]);
            }
        }
    }
    ids
}

fn of_field(field: &NestedField) -> (i32, &Type) {
    (field.id, &field.field_type)
}
