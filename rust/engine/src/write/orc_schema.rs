//! A table's schema as ORC types: Arrow fields whose metadata are the attributes of the types.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Fields, Schema as ArrowSchema, SchemaRef};
use icefloe_format::spec::{NestedField, PrimitiveType, Schema, Type, primitive_to_arrow};
use icefloe_format::{Error, Result};

/// Return the Arrow schema of batches for the encoder: the table's names, an id on every type, times as integers.
/// Spec: Appendix A, ORC.
///
/// # Errors
/// `Unsupported` for a column that ORC cannot store.
pub(super) fn orc_schema(schema: &Schema) -> Result<SchemaRef> {
    Ok(Arc::new(ArrowSchema::new(fields(schema.fields(), "")?)))
}

/// Return the ORC column numbers of columns by full name. The root has number 0, and each type comes before its
/// children.
///
/// # Errors
/// `InvalidArgument` for a name that is not a column without children.
pub(super) fn column_numbers(schema: &ArrowSchema, names: &[String]) -> Result<Vec<usize>> {
    let mut known = HashMap::new();
    let mut next = 1;
    number(schema.fields(), "", &mut next, &mut known);
    let numbers = names.iter().map(|name| {
        known.get(name).copied().ok_or_else(|| {
            let expected = format!("names of columns, got {name:?}");
            Error::invalid("write.orc.bloom.filter.columns", format!("expected {expected}"))
        })
    });
    numbers.collect()
}

fn number(fields: &Fields, parent: &str, next: &mut usize, known: &mut HashMap<String, usize>) {
    for field in fields {
        let name = full_name(parent, field.name());
        let this = *next;
        *next += 1;
        match field.data_type() {
            DataType::Struct(children) => number(children, &name, next, known),
            DataType::List(element) => {
                number(&Fields::from(vec![Arc::clone(element)]), &name, next, known);
            }
            DataType::Map(entries, _) => {
                if let DataType::Struct(children) = entries.data_type() {
                    number(children, &name, next, known);
                }
            }
            _ => {
                known.insert(name, this);
            }
        }
    }
}

fn fields(nested: &[NestedField], parent: &str) -> Result<Fields> {
    let fields = nested.iter().map(|field| {
        let name = full_name(parent, &field.name);
        node(&field.name, &name, (field.id, field.required), &field.field_type)
    });
    fields.collect()
}

fn node(name: &str, full: &str, (id, required): (i32, bool), node_type: &Type) -> Result<FieldRef> {
    let mut attributes = HashMap::from([
        ("iceberg.id".to_owned(), id.to_string()),
        ("iceberg.required".to_owned(), required.to_string()),
    ]);
    let data_type = match node_type {
        Type::Primitive(primitive) => {
            let of_type = of_type(*primitive);
            attributes.extend(of_type.map(|(key, value)| (key.to_owned(), value)));
            leaf(full, *primitive)?
        }
        Type::Struct(inner) if inner.fields.is_empty() => {
            let feature = format!("a struct without fields ({full}) in ORC");
            return Err(Error::unsupported(feature));
        }
        Type::Struct(inner) => DataType::Struct(fields(&inner.fields, full)?),
        Type::List(list) => {
            let of = (list.element_id, list.element_required);
            let element = node("element", &full_name(full, "element"), of, &list.element)?;
            DataType::List(element)
        }
        Type::Map(map) => {
            let key = node("key", &full_name(full, "key"), (map.key_id, true), &map.key)?;
            let of = (map.value_id, map.value_required);
            let value = node("value", &full_name(full, "value"), of, &map.value)?;
            let entries = DataType::Struct(Fields::from(vec![key, value]));
            DataType::Map(Arc::new(Field::new("key_value", entries, false)), false)
        }
    };
    Ok(Arc::new(Field::new(name, data_type, !required).with_metadata(attributes)))
}

/// Return the attributes that tell apart types with one ORC type.
fn of_type(primitive: PrimitiveType) -> impl Iterator<Item = (&'static str, String)> {
    const LONG: &str = "iceberg.long-type";
    const BINARY: &str = "iceberg.binary-type";
    let length = match primitive {
        PrimitiveType::Fixed(length) => Some(("iceberg.length", length.to_string())),
        _ => None,
    };
    let kind = match primitive {
        PrimitiveType::Long => Some((LONG, "LONG")),
        PrimitiveType::Time => Some((LONG, "TIME")),
        PrimitiveType::Uuid => Some((BINARY, "UUID")),
        PrimitiveType::Fixed(_) => Some((BINARY, "FIXED")),
        PrimitiveType::Binary => Some((BINARY, "BINARY")),
        _ => None,
    };
    kind.map(|(key, value)| (key, value.to_owned())).into_iter().chain(length)
}

fn leaf(name: &str, primitive: PrimitiveType) -> Result<DataType> {
    match primitive {
        PrimitiveType::Decimal { precision, scale }
            if !(0..=i16::from(precision)).contains(&i16::from(scale)) =>
        {
            Err(Error::unsupported(format!(
                "writing column {name} of type {primitive} to ORC, whose decimals have a scale of 0 to their precision,"
            )))
        }
        PrimitiveType::TimestampNs | PrimitiveType::TimestamptzNs | PrimitiveType::Unknown => {
            Err(Error::unsupported(format!("writing column {name} of type {primitive} to ORC")))
        }
        PrimitiveType::Time => Ok(DataType::Int64),
        other => Ok(primitive_to_arrow(&other)),
    }
}

fn full_name(parent: &str, name: &str) -> String {
    if parent.is_empty() { name.to_owned() } else { format!("{parent}.{name}") }
}
