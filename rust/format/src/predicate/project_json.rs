//! The projection of one predicate through one transform, from text to text: what callers outside of a scan ask.

use serde_json::Value;

use super::bind::bind;
use super::json::{parse_json, to_json};
use super::project::{project_inclusive, project_strict};
use super::tree::{BoundLeaf, Predicate, Term, UnboundLeaf};
use crate::error::{Error, Result};
use crate::spec::{
    Datum, NestedField, PartitionField, PartitionSpec, PrimitiveType, Schema, Type, single_value,
};
use crate::transform::Transform;

const SOURCE_ID: i32 = 1;
const FIELD_ID: i32 = 1_000;

/// What a predicate on the column `value` says of a partition field: the JSON of a predicate on `name`, or
/// `None` where it says nothing. Dates, times and timestamps are numbers in it, everything else is a JSON
/// single value.
///
/// # Errors
/// `InvalidArgument` where the predicate cannot be read or is on another column, or where the transform
/// cannot take the source type.
///
/// ```
/// use icefloe_format::{predicate::project_json, spec::PrimitiveType};
/// let predicate = r#"{"type":"gt","term":"value","value":99}"#;
/// let transform = "truncate[10]".parse()?;
/// let projected = project_json(&transform, "part", &PrimitiveType::Int, predicate, false)?;
/// assert_eq!(projected.as_deref(), Some(r#"{"type":"gt-eq","term":"part","value":100}"#));
/// # Ok::<(), icefloe_format::Error>(())
/// ```
pub fn project_json(
    transform: &Transform,
    name: &str,
    source: &PrimitiveType,
    predicate: &str,
    strict: bool,
) -> Result<Option<String>> {
    let (schema, spec) = (one_column(source), one_field(transform, name));
    let bound = bind(&parse_json(predicate)?, &schema, true)?;
    let projected = if strict {
        project_strict(&bound, &schema, &spec)
    } else {
        project_inclusive(&bound, &schema, &spec)
    }?;
    match projected {
        Predicate::AlwaysTrue | Predicate::AlwaysFalse => Ok(None),
        projected => projected
            .try_map(&mut |leaf| Ok::<_, Error>(Predicate::Leaf(unbound(leaf))))
            .map(|unbound| Some(to_json(&unbound))),
    }
}

fn one_column(source: &PrimitiveType) -> Schema {
    let field = NestedField {
        id: SOURCE_ID,
        name: "value".to_owned(),
        required: false,
        field_type: Type::Primitive(*source),
        doc: None,
        initial_default: None,
        write_default: None,
    };
    Schema { schema_id: 0, fields: vec![field], identifier_field_ids: Vec::new() }
}

fn one_field(transform: &Transform, name: &str) -> PartitionSpec {
    let field = PartitionField {
        source_id: SOURCE_ID,
        field_id: FIELD_ID,
        name: name.to_owned(),
        transform: transform.clone(),
    };
    PartitionSpec { spec_id: 0, fields: vec![field] }
}

fn unbound(leaf: &BoundLeaf) -> UnboundLeaf {
    UnboundLeaf {
        op: leaf.op,
        term: Term::Reference(leaf.name.clone()),
        literals: leaf.literals.iter().map(number_or_json).collect(),
    }
}

fn number_or_json(literal: &Datum) -> Value {
    match literal {
        Datum::Date(days) => (*days).into(),
        Datum::Time(units)
        | Datum::Timestamp(units)
        | Datum::Timestamptz(units)
        | Datum::TimestampNs(units)
        | Datum::TimestamptzNs(units) => (*units).into(),
        other => single_value::to_json(other),
    }
}
