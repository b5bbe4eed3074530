//! Avro files that differ in form and mean the same, and files that look alike and do not.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array, ArrayRef};
use icefloe_format::avro::encode::{put_bytes, put_length, put_long};
use icefloe_format::avro::{AvroType, Cursor, Malformed, Selection, StructColumn};
use icefloe_format::spec::{ListType, MapType, NestedField, PrimitiveType, StructType, Type};
use icefloe_format::{Error, Result};

/// A record with one field of id 1, read as `wanted`.
fn read(wanted: Type, written: &str, bytes: &[u8]) -> Result<ArrayRef> {
    let schema = format!(
        r#"{{"type":"record","name":"r","fields":[{{"name":"f","field-id":1,"type":{written}}}]}}"#
    );
    let fields = StructType { fields: vec![NestedField::optional(1, "f", wanted)] };
    let schema = AvroType::parse(&schema)?;
    let mut columns = StructColumn::compile(&fields, Some(&schema), &Selection::default())?;
    let mut cursor = Cursor::new(bytes);
    columns.read(&mut cursor).map_err(|error| Error::corrupt("record", error.to_string()))?;
    assert_eq!(cursor.remaining(), 0);
    Ok(columns.finish()?.column(0).clone())
}

fn long(written: &str, bytes: &[u8]) -> Result<i64> {
    let column = read(PrimitiveType::Long.into(), written, bytes)?;
    Ok(column.as_primitive::<Int64Type>().value(0))
}

#[test]
fn union_of_one_type_equals_the_type() {
    assert_eq!(long(r#"["long"]"#, &[0, 10]), Ok(5));
    assert!(matches!(long(r#"["long"]"#, &[2, 10]), Err(Error::Corrupt { .. })));
    let column = read(PrimitiveType::Long.into(), r#"["null"]"#, &[0]).unwrap();
    assert_eq!(column.null_count(), 1);
    let wide = long(r#"["null","long","string"]"#, &[2, 10]);
    assert!(matches!(wide, Err(Error::Unsupported { .. })));
}

#[test]
fn unknown_and_misfit_logical_types_are_ignored() {
    for logical in ["money", "date", "uuid", "decimal", "time-millis"] {
        let written = format!(r#"{{"type":"long","logicalType":"{logical}"}}"#);
        assert_eq!(long(&written, &[10]), Ok(5), "{logical}");
    }
    // A decimal without digits is its bytes.
    let written = r#"{"type":"bytes","logicalType":"decimal","precision":0}"#;
    let column = read(PrimitiveType::Binary.into(), written, &[4, 7, 8]).unwrap();
    assert_eq!(column.as_binary::<i32>().value(0), [7, 8]);
}

#[test]
fn milliseconds_are_not_taken_for_microseconds() {
    let written = r#"{"type":"long","logicalType":"timestamp-millis"}"#;
    let column = read(PrimitiveType::Timestamp.into(), written, &[10]).unwrap();
    assert_eq!(column.as_primitive::<TimestampMicrosecondType>().value(0), 5_000);
    assert!(matches!(long(written, &[10]), Err(Error::Corrupt { .. })));
    let far = read(PrimitiveType::Timestamp.into(), written, &[0xff; 9]);
    assert!(far.is_err());
}

#[test]
fn column_absent_from_the_table_has_the_type_of_the_file() {
    let unknown = || PrimitiveType::Unknown.into();
    for (written, expected) in [
        (r#"{"type":"long","logicalType":"local-timestamp-micros"}"#, PrimitiveType::Timestamp),
        (
            r#"{"type":"long","logicalType":"timestamp-micros","adjust-to-utc":"true"}"#,
            PrimitiveType::Timestamptz,
        ),
        (r#"{"type":"int","logicalType":"date"}"#, PrimitiveType::Date),
    ] {
        let column = read(unknown(), written, &[10]).unwrap();
        let expected = icefloe_format::spec::arrow_schema::primitive_to_arrow(&expected);
        assert_eq!(*column.data_type(), expected, "{written}");
    }
    // Room for a fixed is taken where it is null, too: a length that no table confirms is refused.
    let huge = r#"["null",{"type":"fixed","name":"x","size":500000000}]"#;
    assert!(matches!(read(unknown(), huge, &[0]), Err(Error::Unsupported { .. })));
}

/// Columns of one optional field of id 1, and a record's bytes.
fn columns(wanted: Type, written: &str) -> StructColumn {
    let schema = format!(
        r#"{{"type":"record","name":"r","fields":[{{"name":"f","field-id":1,"type":{written}}}]}}"#
    );
    let fields = StructType { fields: vec![NestedField::optional(1, "f", wanted)] };
    let schema = AvroType::parse(&schema).unwrap();
    StructColumn::compile(&fields, Some(&schema), &Selection::default()).unwrap()
}

#[test]
fn decoded_bytes_include_symbols_and_nulls() {
    let symbol = "s".repeat(40_000);
    let written = format!(r#"{{"type":"enum","name":"e","symbols":["{symbol}"]}}"#);
    let mut found = columns(PrimitiveType::String.into(), &written);
    for _ in 0..100 {
        found.read(&mut Cursor::new(&[0])).unwrap();
    }
    assert!((4_000_000..4_001_000).contains(&found.bytes()), "{}", found.bytes());
    let longs = (2..402).map(|id| NestedField::optional(id, "n", PrimitiveType::Long));
    let wanted = Type::Struct(StructType { fields: longs.collect() });
    let longs =
        (2..402).map(|id| format!(r#"{{"name":"n{id}","field-id":{id},"type":["null","long"]}}"#));
    let longs = longs.collect::<Vec<_>>().join(",");
    let written = format!(r#"["null",{{"type":"record","name":"i","fields":[{longs}]}}]"#);
    let mut found = columns(wanted, &written);
    assert_eq!((found.bytes(), found.null_bytes()), (0, 3_200));
    for _ in 0..100 {
        found.read(&mut Cursor::new(&[0])).unwrap();
    }
    assert_eq!(found.bytes(), 320_000);
    assert_eq!(found.finish().unwrap().column(0).null_count(), 100);
    assert_eq!(found.bytes(), 0);
}

#[test]
fn symbols_of_one_column_are_bounded() {
    let written = format!(r#"{{"type":"enum","name":"e","symbols":["{}"]}}"#, "s".repeat(1 << 20));
    let mut found = columns(PrimitiveType::String.into(), &written);
    for _ in 0..2 {
        for _ in 0..64 {
            found.read(&mut Cursor::new(&[0])).unwrap();
        }
        assert_eq!(found.finish().unwrap().len(), 64);
    }
    for _ in 0..64 {
        found.read(&mut Cursor::new(&[0])).unwrap();
    }
    assert_eq!(found.read(&mut Cursor::new(&[0])), Err(Malformed::Symbols));
}

#[test]
fn stated_block_length_must_equal_the_length_of_its_items() {
    let longs =
        ListType { element_id: 2, element_required: true, element: PrimitiveType::Long.into() };
    let counts = Type::Map(Box::new(MapType {
        key_id: 2,
        key: PrimitiveType::Int.into(),
        value_id: 3,
        value_required: true,
        value: PrimitiveType::Long.into(),
    }));
    let pairs = r#"{"type":"array","items":{"type":"record","name":"k2_v3","fields":[
        {"name":"key","type":"int","field-id":2},{"name":"value","type":"long","field-id":3}]}}"#;
    let cases = [
        (Type::List(Box::new(longs)), r#"{"type":"array","items":"long","element-id":2}"#, 4),
        (counts, pairs, 2),
    ];
    for (wanted, written, count) in cases {
        for length in [0, 1, 3, 4, 5, 6] {
            let mut bytes = Vec::new();
            put_long(&mut bytes, -count);
            put_long(&mut bytes, length);
            bytes.extend([2, 4, 6, 8, 0]);
            let outcome = read(wanted.clone(), written, &bytes);
            assert_eq!(outcome.is_ok(), length == 4, "{written}, {length}: {outcome:?}");
        }
    }
}

fn map(key: PrimitiveType, value: PrimitiveType) -> Type {
    let (key, value) = (key.into(), value.into());
    Type::Map(Box::new(MapType { key_id: 2, key, value_id: 3, value_required: false, value }))
}

#[test]
fn maps_are_read_from_avro_maps_and_from_arrays_of_entries() {
    let mut bytes = Vec::new();
    put_length(&mut bytes, 1);
    put_bytes(&mut bytes, b"a");
    put_long(&mut bytes, 7);
    put_length(&mut bytes, 0);
    let wanted = || map(PrimitiveType::String, PrimitiveType::Int);
    let entries = |first: &str, second: &str| {
        format!(
            r#"{{"type":"array","logicalType":"map","items":{{"type":"record","name":"k2_v3","fields":[{first},{second}]}}}}"#
        )
    };
    let key = r#"{"name":"key","type":"string","field-id":2}"#;
    let value = r#"{"name":"value","type":"int","field-id":"3"}"#;
    let generic = r#"{"type":"map","values":"int","key-id":2,"value-id":3}"#.to_owned();
    for written in [generic, entries(key, value)] {
        let column = read(wanted(), &written, &bytes).unwrap();
        let map = column.as_map();
        assert_eq!(map.keys().as_string::<i32>().value(0), "a", "{written}");
        assert_eq!(map.values().as_primitive::<Int32Type>().values(), &[7]);
    }
    let swapped = read(wanted(), &entries(value, key), &[2, 14, 2, b'a', 0]).unwrap();
    assert_eq!(swapped.as_map().values().as_primitive::<Int32Type>().values(), &[7]);
    let foreign = entries(key, &value.replace("\"3\"", "4"));
    assert!(matches!(read(wanted(), &foreign, &bytes), Err(Error::Corrupt { .. })));
    let by_text = read(map(PrimitiveType::Int, PrimitiveType::Int), &entries(key, value), &bytes);
    assert!(matches!(by_text, Err(Error::Corrupt { .. })), "text is no int");
}

#[test]
fn types_that_cost_time_and_hold_nothing_are_few() {
    let nulls = |count: usize| {
        let field = |at: usize| format!(r#"{{"name":"n{at}","type":"null"}}"#);
        let fields: Vec<_> = (0..count).map(field).collect();
        format!(r#"{{"type":"record","name":"r","fields":[{}]}}"#, fields.join(","))
    };
    assert!(AvroType::parse(&nulls(1000)).is_ok());
    assert!(matches!(AvroType::parse(&nulls(2000)), Err(Error::Corrupt { .. })));
}

#[test]
fn keys_of_maps_by_int_may_be_longs() {
    let wanted = || {
        let value = PrimitiveType::Long.into();
        let (key, value_required) = (PrimitiveType::Int.into(), true);
        Type::Map(Box::new(MapType { key_id: 2, key, value_id: 3, value_required, value }))
    };
    let written = r#"{"type":"array","items":{"type":"record","name":"k2_v3","fields":[
        {"name":"key","type":"long","field-id":2},{"name":"value","type":"long","field-id":3}]}}"#;
    let mut bytes = Vec::new();
    put_length(&mut bytes, 3);
    // No column has the second id.
    for (key, value) in [(7, 1), (1_i64 << 33 | 7, 2), (9, 3)] {
        put_long(&mut bytes, key);
        put_long(&mut bytes, value);
    }
    put_length(&mut bytes, 0);
    let column = read(wanted(), written, &bytes).unwrap();
    assert_eq!(column.as_map().keys().as_primitive::<Int32Type>().values(), &[7, 9]);
    assert_eq!(column.as_map().values().as_primitive::<Int64Type>().values(), &[1, 3]);
}
