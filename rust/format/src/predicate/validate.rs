//! A filter checked against a table before anything is read.

use serde_json::Value;

use super::bind::bind;
use super::json::{parse_json, to_unbound_json};
use crate::error::{Error, Result};
use crate::spec::Schema;

/// Bind a filter to the schema of a context, `{"schema": .., "case-sensitive": true, ..}`, and
/// give it back as JSON: full column names, literals of the columns' types, constants folded.
///
/// # Errors
/// `InvalidArgument` where the context has no schema; those of [`parse_json`] and [`bind`].
pub fn validate(context: &str, filter: &str) -> Result<String> {
    let context: Value = serde_json::from_str(context)
        .map_err(|error| Error::invalid("context", format!("not JSON: {error}")))?;
    let schema =
        context.get("schema").ok_or_else(|| Error::invalid("context", "it has no schema"))?;
    let schema = Schema::from_value(schema)?;
    let case_sensitive = context.get("case-sensitive").and_then(Value::as_bool).unwrap_or(true);
    Ok(to_unbound_json(&bind(&parse_json(filter)?, &schema, case_sensitive)?))
}
