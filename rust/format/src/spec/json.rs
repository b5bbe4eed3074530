//! Typed access to the members of a JSON object; errors name the member.

use serde_json::{Map, Value};

use crate::error::{Error, Result};

/// A JSON object and the noun that it describes, for messages.
#[derive(Clone, Copy)]
pub(crate) struct JsonObject<'a> {
    what: &'a str,
    members: &'a Map<String, Value>,
}

/// Parse a JSON text.
pub(crate) fn parse(what: &str, text: &str) -> Result<Value> {
    serde_json::from_str(text)
        .map_err(|error| Error::invalid(what, format!("is not valid JSON: {error}")))
}

impl<'a> JsonObject<'a> {
    pub(crate) fn new(what: &'a str, value: &'a Value) -> Result<Self> {
        match value {
            Value::Object(members) => Ok(Self { what, members }),
            _ => Err(Error::invalid(what, format!("expected a JSON object, got {value}"))),
        }
    }

    /// Return a member; `None` where it is absent or null.
    pub(crate) fn get(&self, key: &str) -> Option<&'a Value> {
        self.members.get(key).filter(|value| !value.is_null())
    }

    pub(crate) fn value(&self, key: &str) -> Result<&'a Value> {
        self.get(key).ok_or_else(|| self.wrong(key, "is missing"))
    }

    pub(crate) fn str(&self, key: &str) -> Result<&'a str> {
        self.value(key)?.as_str().ok_or_else(|| self.wrong(key, "is not a string"))
    }

    pub(crate) fn int(&self, key: &str) -> Result<i32> {
        self.optional_int(key)?.ok_or_else(|| self.wrong(key, "is missing"))
    }

    pub(crate) fn optional_int(&self, key: &str) -> Result<Option<i32>> {
        self.get(key)
            .map(|value| as_int(value).ok_or_else(|| self.wrong(key, "is not a 32-bit integer")))
            .transpose()
    }

    pub(crate) fn bool(&self, key: &str) -> Result<bool> {
        self.value(key)?.as_bool().ok_or_else(|| self.wrong(key, "is not a boolean"))
    }

    pub(crate) fn array(&self, key: &str) -> Result<&'a [Value]> {
        match self.value(key)? {
            Value::Array(items) => Ok(items),
            _ => Err(self.wrong(key, "is not an array")),
        }
    }

    /// Return an array of 32-bit integers; empty where absent.
    pub(crate) fn ints(&self, key: &str) -> Result<Vec<i32>> {
        if self.get(key).is_none() {
            return Ok(Vec::new());
        }
        self.array(key)?
            .iter()
            .map(|item| {
                as_int(item).ok_or_else(|| self.wrong(key, "is not an array of 32-bit integers"))
            })
            .collect()
    }

    /// Return the id of the source column, from `source-id` or a `source-ids` of one element.
    pub(crate) fn source_id(&self) -> Result<i32> {
        match self.optional_int("source-id")? {
            Some(id) => Ok(id),
            None => match self.ints("source-ids")?.as_slice() {
                [id] => Ok(*id),
                [] => Err(self.wrong("source-id", "is missing")),
                _ => Err(Error::unsupported("a transform with several source columns")),
            },
        }
    }

    fn wrong(&self, key: &str, reason: &str) -> Error {
        Error::invalid(self.what, format!("{key} {reason}"))
    }
}

fn as_int(value: &Value) -> Option<i32> {
    value.as_i64().and_then(|wide| i32::try_from(wide).ok())
}
