//! Sort orders.

use std::fmt;
use std::str::FromStr;

use serde_json::{Value, json};

use super::json::{self, JsonObject};
use crate::error::{Error, Result};
use crate::spec::Transform;

/// The direction of a sort key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SortDirection {
    /// Smallest first.
    Ascending,
    /// Greatest first.
    Descending,
}

/// The position of nulls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NullOrder {
    /// Before all values.
    First,
    /// After all values.
    Last,
}

/// A key of a sort order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SortField {
    /// Id of the source column.
    pub source_id: i32,
    /// The function from source values to sort keys.
    pub transform: Transform,
    /// The direction.
    pub direction: SortDirection,
    /// The position of nulls.
    pub null_order: NullOrder,
}

/// The sort keys of a table, most significant first; order 0 is unsorted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SortOrder {
    /// Identifies the order within its table.
    pub order_id: i32,
    /// The keys.
    pub fields: Vec<SortField>,
}

/// The id of the order without keys, which data files record too, as the Java reference does.
pub const UNSORTED_ORDER_ID: i32 = 0;

impl SortOrder {
    /// Parse an order object `{"order-id":..,"fields":[..]}`.
    pub fn from_json(text: &str) -> Result<Self> {
        Self::from_value(&json::parse("sort order", text)?)
    }

    /// Parse an order object.
    pub fn from_value(value: &Value) -> Result<Self> {
        let object = JsonObject::new("sort order", value)?;
        let fields = object.array("fields")?.iter().map(parse_field);
        Ok(Self { order_id: object.int("order-id")?, fields: fields.collect::<Result<_>>()? })
    }

    /// Return the order object of metadata JSON as compact text.
    pub fn to_json(&self) -> String {
        self.to_value().to_string()
    }

    /// Return the order object of metadata JSON.
    pub fn to_value(&self) -> Value {
        let fields = self.fields.iter().map(|field| {
            json!({
                "transform": field.transform.to_string(),
                "source-id": field.source_id,
                "direction": field.direction.to_string(),
                "null-order": field.null_order.to_string(),
            })
        });
        json!({"order-id": self.order_id, "fields": fields.collect::<Vec<_>>()})
    }

    /// Return whether the order has no keys.
    pub fn is_unsorted(&self) -> bool {
        self.fields.is_empty()
    }
}

fn parse_field(value: &Value) -> Result<SortField> {
    let object = JsonObject::new("sort field", value)?;
    Ok(SortField {
        source_id: object.source_id()?,
        transform: object.str("transform")?.parse()?,
        direction: object.str("direction")?.parse()?,
        null_order: object.str("null-order")?.parse()?,
    })
}

impl fmt::Display for SortDirection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ascending => "asc",
            Self::Descending => "desc",
        })
    }
}

impl fmt::Display for NullOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::First => "nulls-first",
            Self::Last => "nulls-last",
        })
    }
}

impl FromStr for SortDirection {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.to_ascii_lowercase().as_str() {
            "asc" => Ok(Self::Ascending),
            "desc" => Ok(Self::Descending),
            _ => Err(Error::invalid(
                "direction",
                format!("is unknown; expected asc or desc, got {text:?}"),
            )),
        }
    }
}

impl FromStr for NullOrder {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.to_ascii_lowercase().as_str() {
            "nulls-first" => Ok(Self::First),
            "nulls-last" => Ok(Self::Last),
            _ => Err(Error::invalid(
                "null-order",
                format!("is unknown; expected nulls-first or nulls-last, got {text:?}"),
            )),
        }
    }
}
