//! Values as both decoders mean them, in one form that can be compared.

use apache_avro::types::Value;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StructArray};
use icefloe_format::spec::{Datum, NestedField, PrimitiveType, StructType, Type};

/// A value; numbers are widened, and floats are their bits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Model {
    Null,
    Integer(i128),
    Float(u64),
    Bytes(Vec<u8>),
    Items(Vec<Model>),
    /// Sorted, as the order of a map's entries means nothing.
    Entries(Vec<(Model, Model)>),
    Fields(Vec<Model>),
}

/// Return a record of `written` as a reader of `wanted` sees it.
pub(crate) fn of_record(wanted: &StructType, written: &StructType, value: &Value) -> Model {
    let Value::Record(values) = value else { panic!("{value:?} is no record") };
    let fields = wanted.fields.iter().map(|field| {
        let at = written.fields.iter().position(|other| other.id == field.id);
        at.map_or(Model::Null, |at| {
            of_value(&field.field_type, &written.fields[at].field_type, &values[at].1)
        })
    });
    Model::Fields(fields.collect())
}

fn of_value(wanted: &Type, written: &Type, value: &Value) -> Model {
    match (wanted, written, value) {
        (_, _, Value::Union(_, inner)) => of_value(wanted, written, inner),
        (_, _, Value::Null) => Model::Null,
        (Type::Struct(wanted), Type::Struct(written), _) => of_record(wanted, written, value),
        (Type::List(wanted), Type::List(written), Value::Array(items)) => {
            let items = items.iter().map(|item| of_value(&wanted.element, &written.element, item));
            Model::Items(items.collect())
        }
        (Type::Map(map), Type::Map(from), Value::Map(entries)) => of_entries(map, || {
            let entries = entries.iter().map(|(key, value)| {
                let key = Model::Bytes(key.as_bytes().to_vec());
                (key, of_value(&map.value, &from.value, value))
            });
            entries.collect()
        }),
        (Type::Map(map), Type::Map(from), Value::Array(entries)) => of_entries(map, || {
            let entries = entries.iter().map(|entry| {
                let Value::Record(entry) = entry else { panic!("{entry:?} is no entry") };
                let key = of_value(&map.key, &from.key, &entry[0].1);
                (key, of_value(&map.value, &from.value, &entry[1].1))
            });
            entries.collect()
        }),
        _ => of_primitive(value),
    }
}

fn of_entries(
    map: &icefloe_format::spec::MapType,
    entries: impl FnOnce() -> Vec<(Model, Model)>,
) -> Model {
    let mut entries = entries();
    let statistic =
        [PrimitiveType::Long, PrimitiveType::Binary].map(Type::Primitive).contains(&map.value);
    if map.key == Type::Primitive(PrimitiveType::Int) && statistic {
        // A statistic without a value says nothing, so it is not kept.
        entries.retain(|(_, value)| *value != Model::Null);
    }
    entries.sort();
    Model::Entries(entries)
}

fn of_primitive(value: &Value) -> Model {
    match value {
        Value::Boolean(value) => Model::Integer(i128::from(*value)),
        Value::Int(value) | Value::Date(value) => Model::Integer(i128::from(*value)),
        Value::Long(value)
        | Value::TimeMicros(value)
        | Value::TimestampMicros(value)
        | Value::TimestampNanos(value) => Model::Integer(i128::from(*value)),
        Value::Float(value) => Model::Float(f64::from(*value).to_bits()),
        Value::Double(value) => Model::Float(value.to_bits()),
        Value::Bytes(value) | Value::Fixed(_, value) => Model::Bytes(value.clone()),
        Value::String(value) => Model::Bytes(value.as_bytes().to_vec()),
        Value::Uuid(value) => Model::Bytes(value.as_bytes().to_vec()),
        Value::Decimal(value) => {
            let bytes = Vec::<u8>::try_from(value).unwrap();
            let negative = bytes.first().is_some_and(|byte| byte & 0x80 != 0);
            let start = if negative { -1 } else { 0 };
            let value =
                bytes.iter().fold(start, |value: i128, byte| value << 8 | i128::from(*byte));
            Model::Integer(value)
        }
        other => panic!("{other:?} is written by nobody"),
    }
}

/// Return a row of columns as a value.
pub(crate) fn of_row(fields: &StructType, columns: &StructArray, row: usize) -> Model {
    let columns = fields.fields.iter().zip(columns.columns());
    Model::Fields(columns.map(|(field, column)| of_field(field, column, row)).collect())
}

/// Return a row of the column of `field` as a value.
pub(crate) fn of_field(field: &NestedField, column: &ArrayRef, row: usize) -> Model {
    of_cell(&field.field_type, column, row)
}

fn of_cell(any: &Type, column: &ArrayRef, row: usize) -> Model {
    if column.is_null(row) {
        return Model::Null;
    }
    let each = |any: &Type, cells: &ArrayRef| -> Vec<Model> {
        (0..cells.len()).map(|row| of_cell(any, cells, row)).collect()
    };
    match any {
        Type::Struct(fields) => of_row(fields, column.as_struct(), row),
        Type::List(list) => Model::Items(each(&list.element, &column.as_list::<i32>().value(row))),
        Type::Map(map) => {
            let entries = column.as_map().value(row);
            let keys = each(&map.key, entries.column(0));
            let values = each(&map.value, entries.column(1));
            let mut entries: Vec<_> = keys.into_iter().zip(values).collect();
            entries.sort();
            Model::Entries(entries)
        }
        Type::Primitive(PrimitiveType::Unknown) => Model::Null,
        Type::Primitive(primitive) => {
            Datum::from_array(column, row, primitive).unwrap().map_or(Model::Null, of_datum)
        }
    }
}

fn of_datum(datum: Datum) -> Model {
    match datum {
        Datum::Boolean(value) => Model::Integer(i128::from(value)),
        Datum::Int(value) | Datum::Date(value) => Model::Integer(i128::from(value)),
        Datum::Long(value)
        | Datum::Time(value)
        | Datum::Timestamp(value)
        | Datum::Timestamptz(value)
        | Datum::TimestampNs(value)
        | Datum::TimestamptzNs(value) => Model::Integer(i128::from(value)),
        Datum::Float(value) => Model::Float(f64::from(value).to_bits()),
        Datum::Double(value) => Model::Float(value.to_bits()),
        Datum::Decimal { unscaled, .. } => Model::Integer(unscaled),
        Datum::String(value) => Model::Bytes(value.into_bytes()),
        Datum::Uuid(value) => Model::Bytes(value.to_vec()),
        Datum::Fixed(value) | Datum::Binary(value) => Model::Bytes(value),
    }
}
