//! Random types, schemas of random writers, and random values of them.

use std::collections::HashMap;

use apache_avro::types::Value;
use apache_avro::{Decimal, Uuid};
use icefloe_format::avro::iceberg_schema::record_schema;
use icefloe_format::spec::decimal::storage_bytes;
use icefloe_format::spec::{ListType, MapType, NestedField, PrimitiveType, StructType, Type};
use serde_json::{Value as Json, json};

/// A stream of numbers that a seed decides (splitmix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(bound).unwrap()).unwrap()
    }

    pub(crate) fn one_in(&mut self, bound: usize) -> bool {
        self.below(bound) == 0
    }

    /// Small numbers are as likely as large ones.
    pub(crate) fn long(&mut self) -> i64 {
        let shift = self.below(64);
        self.next().cast_signed() >> shift
    }

    fn int(&mut self) -> i32 {
        let shift = self.below(32);
        i32::from_le_bytes(self.next().to_le_bytes()[..4].try_into().unwrap()) >> shift
    }

    fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.next().to_le_bytes()[0]).collect()
    }

    fn text(&mut self) -> String {
        const LETTERS: [char; 8] = ['a', 'Z', '0', ' ', '\0', 'é', '☃', '🦀'];
        (0..self.below(20)).map(|_| LETTERS[self.below(LETTERS.len())]).collect()
    }

    pub(crate) fn primitive(&mut self) -> PrimitiveType {
        let all = [
            PrimitiveType::Boolean,
            PrimitiveType::Int,
            PrimitiveType::Long,
            PrimitiveType::Float,
            PrimitiveType::Double,
            PrimitiveType::Decimal { precision: 9, scale: 2 },
            PrimitiveType::Decimal { precision: 38, scale: 10 },
            PrimitiveType::Date,
            PrimitiveType::Time,
            PrimitiveType::Timestamp,
            PrimitiveType::Timestamptz,
            PrimitiveType::TimestampNs,
            PrimitiveType::TimestamptzNs,
            PrimitiveType::String,
            PrimitiveType::Uuid,
            PrimitiveType::Fixed(5),
            PrimitiveType::Binary,
        ];
        all[self.below(all.len())]
    }

    fn any(&mut self, depth: usize, id: &mut i32) -> Type {
        match self.below(if depth == 0 { 5 } else { 9 }) {
            0..=4 => Type::Primitive(self.primitive()),
            5 | 6 => {
                let (element_id, element_required) = (next(id), self.one_in(2));
                let element = self.any(depth - 1, id);
                Type::List(Box::new(ListType { element_id, element_required, element }))
            }
            7 => Type::Map(Box::new(self.map(depth - 1, id))),
            _ => Type::Struct(self.structure(depth - 1, id)),
        }
    }

    fn map(&mut self, depth: usize, id: &mut i32) -> MapType {
        let keys = [PrimitiveType::Int, PrimitiveType::Int, PrimitiveType::String];
        let key = match self.below(4) {
            3 => self.primitive(),
            known => keys[known],
        };
        let (key_id, value_id, value_required) = (next(id), next(id), self.one_in(2));
        let value = self.any(depth, id);
        MapType { key_id, key: key.into(), value_id, value_required, value }
    }

    /// A struct of one to six fields, some of them nested.
    pub(crate) fn structure(&mut self, depth: usize, id: &mut i32) -> StructType {
        let fields = (0..=self.below(6)).map(|_| self.field(depth, id)).collect();
        StructType { fields }
    }

    pub(crate) fn field(&mut self, depth: usize, id: &mut i32) -> NestedField {
        let (own, is_required) = (next(id), self.one_in(2));
        let (name, field_type) = (format!("f{own}"), self.any(depth, id));
        if is_required {
            NestedField::required(own, &name, field_type)
        } else {
            NestedField::optional(own, &name, field_type)
        }
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at + 1));
        }
    }

    /// The schema of a record as one of many writers would have it.
    pub(crate) fn writer_schema(&mut self, name: &str, fields: &StructType) -> Json {
        let mut schema = record_schema(name, fields);
        self.vary(&mut schema);
        schema
    }

    fn vary(&mut self, schema: &mut Json) {
        match schema {
            Json::Object(object) => {
                for key in ["field-id", "element-id", "key-id", "value-id"] {
                    if object.contains_key(key) && self.one_in(4) {
                        object[key] = json!(object[key].to_string());
                    }
                }
                if object.contains_key("field-id")
                    && object["type"].as_array().is_some_and(|union| union.len() == 2)
                    && self.one_in(3)
                {
                    object["type"].as_array_mut().unwrap().reverse();
                    object.remove("default");
                }
                object.values_mut().for_each(|value| self.vary(value));
            }
            Json::Array(items) => items.iter_mut().for_each(|item| self.vary(item)),
            _ => {}
        }
    }

    /// A record of `fields` as `schema`, a variation of their schema, encodes them.
    pub(crate) fn record(&mut self, fields: &StructType, schema: &Json) -> Value {
        let written = schema["fields"].as_array().unwrap();
        let values = fields.fields.iter().zip(written).map(|(field, written)| {
            let value = match field.id {
                0 | 134 => Value::Int(i32::try_from(self.below(3)).unwrap()),
                _ => self.value(&field.field_type, &written["type"]),
            };
            (written["name"].as_str().unwrap().to_owned(), value)
        });
        Value::Record(values.collect())
    }

    fn value(&mut self, any: &Type, schema: &Json) -> Value {
        if let Json::Array(branches) = schema {
            let null = branches.iter().position(|branch| branch == "null").unwrap();
            let (branch, value) = if self.one_in(3) {
                (null, Value::Null)
            } else {
                (1 - null, self.value(any, &branches[1 - null]))
            };
            return Value::Union(u32::try_from(branch).unwrap(), Box::new(value));
        }
        match any {
            Type::Primitive(primitive) => self.primitive_value(*primitive),
            Type::Struct(fields) => self.record(fields, schema),
            Type::List(list) => {
                let items = (0..self.below(4)).map(|_| self.value(&list.element, &schema["items"]));
                Value::Array(items.collect())
            }
            Type::Map(map) if schema["type"] == "map" => {
                let entries = (0..self.below(4))
                    .map(|_| (self.text(), self.value(&map.value, &schema["values"])));
                Value::Map(entries.collect::<HashMap<_, _>>())
            }
            Type::Map(map) => {
                let fields = &schema["items"]["fields"];
                let entries = (0..self.below(4)).map(|_| {
                    let key = self.value(&map.key, &fields[0]["type"]);
                    let value = self.value(&map.value, &fields[1]["type"]);
                    Value::Record(vec![("key".to_owned(), key), ("value".to_owned(), value)])
                });
                Value::Array(entries.collect())
            }
        }
    }

    fn primitive_value(&mut self, primitive: PrimitiveType) -> Value {
        match primitive {
            PrimitiveType::Boolean => Value::Boolean(self.one_in(2)),
            PrimitiveType::Int => Value::Int(self.int()),
            PrimitiveType::Long => Value::Long(self.long()),
            PrimitiveType::Float => {
                let floats = [0.0, -0.0, 1.5, f32::INFINITY, f32::NAN, f32::MIN_POSITIVE];
                Value::Float(floats[self.below(floats.len())])
            }
            PrimitiveType::Double => {
                let doubles = [0.0, -0.0, -1e300, f64::NEG_INFINITY, f64::NAN, 5e-324];
                Value::Double(doubles[self.below(doubles.len())])
            }
            PrimitiveType::Decimal { precision, .. } => {
                let length = if self.one_in(2) { 1 } else { storage_bytes(precision) - 1 };
                let mut bytes = self.bytes(length);
                // Sign-extended to its full length, since not all decoders keep a shorter one apart.
                let sign = if bytes[0] & 0x80 == 0 { 0 } else { 0xff };
                while bytes.len() < storage_bytes(precision) {
                    bytes.insert(0, sign);
                }
                Value::Decimal(Decimal::from(bytes))
            }
            PrimitiveType::Date => Value::Date(self.int()),
            PrimitiveType::Time => Value::TimeMicros(self.long().rem_euclid(86_400_000_000)),
            PrimitiveType::Timestamp | PrimitiveType::Timestamptz => {
                Value::TimestampMicros(self.long())
            }
            PrimitiveType::TimestampNs | PrimitiveType::TimestamptzNs => {
                Value::TimestampNanos(self.long())
            }
            PrimitiveType::String => Value::String(self.text()),
            PrimitiveType::Uuid => Value::Uuid(Uuid::from_slice(&self.bytes(16)).unwrap()),
            PrimitiveType::Fixed(length) => {
                let length = usize::try_from(length).unwrap();
                Value::Fixed(length, self.bytes(length))
            }
            PrimitiveType::Binary => {
                let length = self.below(40);
                Value::Bytes(self.bytes(length))
            }
            PrimitiveType::Unknown => Value::Null,
        }
    }
}

fn next(id: &mut i32) -> i32 {
    *id += 1;
    *id
}
