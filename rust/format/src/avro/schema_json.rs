//! Parsing of the writer's schema from JSON.
//!
//! Differences between writers are accepted: ids as integers or numeric strings, unions in either order, references to
//! named types. Names of fields are not used.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::schema::{AvroType, Kind, Logical, MAX_DEPTH, Record, RecordField, corrupt};
use crate::{Error, Result};

impl AvroType {
    /// Parse a schema.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the text is no Avro schema or exceeds the limits; [`Error::Unsupported`] if it is recursive.
    pub fn parse(json: &str) -> Result<Self> {
        Self::parse_with(json, false)
    }

    /// Parse a schema and number the fields of each record from 0 instead of using their ids, for files without field
    /// ids.
    ///
    /// # Errors
    /// As for [`AvroType::parse`].
    pub fn parse_numbered(json: &str) -> Result<Self> {
        Self::parse_with(json, true)
    }

    fn parse_with(json: &str, numbered: bool) -> Result<Self> {
        let value: Value =
            serde_json::from_str(json).map_err(|error| corrupt(error.to_string()))?;
        Parser { named: HashMap::new(), numbered }.parse(&value, "", 0)
    }
}

struct Parser {
    // None marks an unfinished definition: a reference to it is recursive.
    named: HashMap<String, Option<AvroType>>,
    numbered: bool,
}

impl Parser {
    fn parse(&mut self, value: &Value, namespace: &str, depth: usize) -> Result<AvroType> {
        if depth > MAX_DEPTH {
            return Err(corrupt(format!(
                "it is nested too deep; expected at most {MAX_DEPTH} levels"
            )));
        }
        match value {
            Value::String(name) => self.reference(name, namespace),
            Value::Array(branches) => {
                let branches = branches
                    .iter()
                    .map(|branch| self.parse(branch, namespace, depth + 1))
                    .collect::<Result<Vec<_>>>()?;
                AvroType::new(Kind::Union(branches.into()), None)
            }
            Value::Object(object) => self.object(object, namespace, depth),
            other => Err(corrupt(format!("expected a type, got {other}"))),
        }
    }

    fn reference(&self, name: &str, namespace: &str) -> Result<AvroType> {
        if let Some(kind) = primitive(name) {
            return AvroType::new(kind, None);
        }
        let known = self.named.get(&full_name(name, namespace)).or_else(|| self.named.get(name));
        match known {
            Some(Some(found)) => Ok(found.clone()),
            Some(None) => Err(Error::unsupported(format!("the recursive Avro type {name}"))),
            None => Err(corrupt(format!("the type {name} is not defined"))),
        }
    }

    fn object(&mut self, object: &Map<String, Value>, ns: &str, depth: usize) -> Result<AvroType> {
        let Some(Value::String(name)) = object.get("type") else {
            // {"type": {"type": ...}} is the nested definition.
            let inner =
                object.get("type").ok_or_else(|| corrupt("a type has no member \"type\""))?;
            return self.parse(inner, ns, depth + 1);
        };
        match name.as_str() {
            "record" | "error" => self.record(object, ns, depth),
            "fixed" => {
                let size = object.get("size").and_then(Value::as_u64);
                let size = size.and_then(|size| usize::try_from(size).ok());
                let size = size.ok_or_else(|| corrupt("a fixed type has no size"))?;
                self.define(object, ns, annotated(Kind::Fixed(size), object)?)
            }
            "enum" => {
                let symbols = object.get("symbols").and_then(Value::as_array);
                let symbols = symbols.into_iter().flatten().filter_map(Value::as_str);
                let symbols = symbols.map(str::to_owned).collect();
                self.define(object, ns, annotated(Kind::Enum(symbols), object)?)
            }
            "array" => {
                let items = self.child(object, "items", ns, depth)?;
                let element_id = id(object, "element-id")?;
                annotated(Kind::Array { items: Arc::new(items), element_id }, object)
            }
            "map" => {
                let values = Arc::new(self.child(object, "values", ns, depth)?);
                let (key_id, value_id) = (id(object, "key-id")?, id(object, "value-id")?);
                annotated(Kind::Map { values, key_id, value_id }, object)
            }
            other => match primitive(other) {
                Some(kind) => annotated(kind, object),
                None => self.reference(other, ns),
            },
        }
    }

    fn record(&mut self, object: &Map<String, Value>, ns: &str, depth: usize) -> Result<AvroType> {
        let (name, namespace) = definition_name(object, ns)?;
        self.named.insert(name.clone(), None);
        let Some(Value::Array(list)) = object.get("fields") else {
            return Err(corrupt(format!("the record {name} has no fields")));
        };
        let mut fields = Vec::with_capacity(list.len());
        for (field, number) in list.iter().zip(0..) {
            let Value::Object(field) = field else {
                return Err(corrupt(format!("expected a field, got {field}")));
            };
            let field_type = self.child(field, "type", &namespace, depth)?;
            let field_name = field.get("name").and_then(Value::as_str).unwrap_or_default();
            let field_id = if self.numbered { Some(number) } else { id(field, "field-id")? };
            fields.push(RecordField { name: field_name.to_owned(), field_id, field_type });
        }
        let record = Arc::new(Record { name: name.clone(), fields });
        let parsed = AvroType::new(Kind::Record(record), None)?;
        self.named.insert(name, Some(parsed.clone()));
        Ok(parsed)
    }

    fn define(
        &mut self,
        object: &Map<String, Value>,
        ns: &str,
        defined: AvroType,
    ) -> Result<AvroType> {
        let (name, _) = definition_name(object, ns)?;
        self.named.insert(name, Some(defined.clone()));
        Ok(defined)
    }

    fn child(
        &mut self,
        object: &Map<String, Value>,
        key: &str,
        ns: &str,
        depth: usize,
    ) -> Result<AvroType> {
        let child =
            object.get(key).ok_or_else(|| corrupt(format!("a type has no member {key:?}")))?;
        self.parse(child, ns, depth + 1)
    }
}

fn annotated(kind: Kind, object: &Map<String, Value>) -> Result<AvroType> {
    let logical = Logical::of(object, &kind);
    AvroType::new(kind, logical)
}

fn primitive(name: &str) -> Option<Kind> {
    Some(match name {
        "null" => Kind::Null,
        "boolean" => Kind::Boolean,
        "int" => Kind::Int,
        "long" => Kind::Long,
        "float" => Kind::Float,
        "double" => Kind::Double,
        "bytes" => Kind::Bytes,
        "string" => Kind::String,
        _ => return None,
    })
}

fn id(object: &Map<String, Value>, key: &str) -> Result<Option<i32>> {
    let id = match object.get(key) {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(id)) => id.trim().parse().ok(),
        Some(value) => value.as_i64().and_then(|id| i32::try_from(id).ok()),
    };
    id.map(Some).ok_or_else(|| corrupt(format!("{key} is not an integer")))
}

fn definition_name(object: &Map<String, Value>, ns: &str) -> Result<(String, String)> {
    let name = object.get("name").and_then(Value::as_str);
    let name = name.ok_or_else(|| corrupt("a named type has no name"))?;
    let own = object.get("namespace").and_then(Value::as_str).unwrap_or(ns);
    let full = full_name(name, own);
    let namespace = full.rsplit_once('.').map_or("", |(namespace, _)| namespace).to_owned();
    Ok((full, namespace))
}

fn full_name(name: &str, ns: &str) -> String {
    if ns.is_empty() || name.contains('.') { name.to_owned() } else { format!("{ns}.{name}") }
}

impl Logical {
    /// Return the logical type of a type with these properties; `None` for one that is unknown or does not fit the
    /// encoding, which the Avro specification requires readers to ignore.
    pub(super) fn of(object: &Map<String, Value>, kind: &Kind) -> Option<Self> {
        let name = object.get("logicalType")?.as_str()?;
        let utc = adjusts_to_utc(object);
        Some(match (name, kind) {
            ("date", Kind::Int) => Self::Date,
            ("time-micros", Kind::Long) => Self::TimeMicros,
            ("timestamp-micros", Kind::Long) => Self::TimestampMicros { utc },
            ("timestamp-nanos", Kind::Long) => Self::TimestampNanos { utc },
            ("local-timestamp-micros", Kind::Long) => Self::TimestampMicros { utc: false },
            ("local-timestamp-nanos", Kind::Long) => Self::TimestampNanos { utc: false },
            ("uuid", Kind::Fixed(16)) => Self::Uuid,
            ("map", Kind::Array { .. }) => Self::Map,
            ("decimal", Kind::Fixed(_) | Kind::Bytes) => decimal(object)?,
            ("time-millis", Kind::Int) => Self::TimeMillis,
            ("timestamp-millis", Kind::Long) => Self::TimestampMillis { utc },
            ("local-timestamp-millis", Kind::Long) => Self::TimestampMillis { utc: false },
            _ => return None,
        })
    }
}

/// Return the flag `adjust-to-utc`, which some writers store as a string; false if missing.
fn adjusts_to_utc(object: &Map<String, Value>) -> bool {
    match object.get("adjust-to-utc") {
        Some(Value::Bool(utc)) => *utc,
        Some(Value::String(utc)) => utc.eq_ignore_ascii_case("true"),
        _ => false,
    }
}

fn decimal(object: &Map<String, Value>) -> Option<Logical> {
    let digits = |key: &str| object.get(key).and_then(Value::as_i64);
    let precision = u8::try_from(digits("precision")?).ok()?;
    let scale = i8::try_from(digits("scale").unwrap_or(0)).ok()?;
    (precision > 0).then_some(Logical::Decimal { precision, scale })
}
