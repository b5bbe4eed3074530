//! Another implementation of Avro is the oracle: what it writes is read as it reads it, and what is
//! written here is read by it as it was meant.

mod manifests;
mod model;
mod random;

use std::collections::BTreeSet;

use apache_avro::types::Value;
use apache_avro::{Codec as OracleCodec, Reader, Schema, Writer};
use arrow_array::{Array, StructArray};
use arrow_schema::DataType;
use icefloe_format::avro::iceberg_schema::record_schema;
use icefloe_format::avro::natural::{arrow_schema, columns_of};
use icefloe_format::avro::{
    AvroType, Container, ContainerWriter, Cursor, RowEncoder, Selection, StructColumn,
};
use icefloe_format::codec::Codec;
use icefloe_format::spec::{ListType, MapType, NestedField, PrimitiveType, StructType, Type};
use model::{Model, of_record, of_row};
use proptest::prelude::*;
use random::Random;
use serde_json::Value as Json;

/// A container as the oracle writes it.
fn oracle_writes(random: &mut Random, schema: &Json, records: &[Value]) -> Vec<u8> {
    let schema = Schema::parse(schema).unwrap();
    let codec = match random.below(5) {
        0 => OracleCodec::Null,
        1 => OracleCodec::Deflate(Default::default()),
        2 => OracleCodec::Snappy,
        3 => OracleCodec::Zstandard(Default::default()),
        _ => OracleCodec::Bzip2(Default::default()),
    };
    let block_size = 1 << random.below(14);
    let mut writer = Writer::builder()
        .schema(&schema)
        .writer(Vec::new())
        .codec(codec)
        .block_size(block_size)
        .build()
        .unwrap();
    for record in records {
        writer.append_value_ref(record).unwrap();
    }
    writer.into_inner().unwrap()
}

fn oracle_reads(bytes: &[u8]) -> Vec<Value> {
    Reader::new(bytes).unwrap().collect::<Result<_, _>>().unwrap()
}

fn read(bytes: &[u8], wanted: &StructType) -> StructArray {
    let container = Container::parse(bytes).unwrap();
    read_as(&container, wanted, container.schema(), &Selection::default())
}

fn read_as(
    container: &Container<'_>,
    wanted: &StructType,
    written: &AvroType,
    selection: &Selection,
) -> StructArray {
    let mut columns = StructColumn::compile(wanted, Some(written), selection).unwrap();
    let mut blocks = container.blocks();
    while let Some(block) = blocks.next_block().unwrap() {
        let mut cursor = Cursor::new(block.bytes);
        for _ in 0..block.count {
            columns.read(&mut cursor).unwrap();
        }
        assert_eq!(cursor.remaining(), 0);
    }
    columns.finish().unwrap()
}

/// A random reader schema for `written`: fields in another order, without some, with one that
/// the writer does not have, and promoted.
fn wanted(random: &mut Random, written: &StructType) -> StructType {
    let mut fields = written.fields.clone();
    fields.retain(|_| !random.one_in(4));
    for field in &mut fields {
        field.field_type = match std::mem::replace(&mut field.field_type, PrimitiveType::Int.into())
        {
            Type::Primitive(primitive) => promoted(random, primitive).into(),
            Type::Struct(fields) => Type::Struct(wanted(random, &fields)),
            Type::List(mut list) => {
                if let Type::Struct(element) = &list.element {
                    list.element = Type::Struct(wanted(random, element));
                }
                Type::List(list)
            }
            nested => nested,
        };
    }
    if random.one_in(3) {
        let absent = random.primitive();
        fields.push(NestedField::optional(1_000_000, "absent", absent));
    }
    random.shuffle(&mut fields);
    StructType { fields }
}

fn promoted(random: &mut Random, primitive: PrimitiveType) -> PrimitiveType {
    match primitive {
        PrimitiveType::Int if random.one_in(2) => PrimitiveType::Long,
        PrimitiveType::Float if random.one_in(2) => PrimitiveType::Double,
        PrimitiveType::Decimal { precision: 9, scale } if random.one_in(2) => {
            PrimitiveType::Decimal { precision: 20, scale }
        }
        same => same,
    }
}

/// A type as the oracle's files have it: they lose whether timestamps are instants.
fn as_said(written: &Type) -> Type {
    match written {
        Type::Primitive(PrimitiveType::Timestamptz) => PrimitiveType::Timestamp.into(),
        Type::Primitive(PrimitiveType::TimestamptzNs) => PrimitiveType::TimestampNs.into(),
        Type::Primitive(same) => Type::Primitive(*same),
        Type::Struct(fields) => {
            let said = fields.fields.iter().map(|field| NestedField {
                field_type: as_said(&field.field_type),
                ..field.clone()
            });
            Type::Struct(StructType { fields: said.collect() })
        }
        Type::List(list) => {
            Type::List(Box::new(ListType { element: as_said(&list.element), ..(**list).clone() }))
        }
        Type::Map(map) => {
            let (key, value) = (as_said(&map.key), as_said(&map.value));
            Type::Map(Box::new(MapType { key, value, ..(**map).clone() }))
        }
    }
}

/// The model keeps no nulls of maps that could be statistics, so none are compared.
fn without_null_values(model: Model) -> Model {
    let all = |models: Vec<Model>| models.into_iter().map(without_null_values).collect();
    match model {
        Model::Fields(fields) => Model::Fields(all(fields)),
        Model::Items(items) => Model::Items(all(items)),
        Model::Entries(entries) => {
            let present = entries.into_iter().filter(|(_, value)| *value != Model::Null);
            Model::Entries(present.map(|(key, value)| (key, without_null_values(value))).collect())
        }
        leaf => leaf,
    }
}

/// The number of leaves of a column.
fn leaves(data_type: &DataType) -> usize {
    match data_type {
        DataType::Struct(fields) if !fields.is_empty() => {
            fields.iter().map(|field| leaves(field.data_type())).sum()
        }
        DataType::List(element) => leaves(element.data_type()),
        DataType::Map(entries, _) => leaves(entries.data_type()),
        _ => 1,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn files_of_the_oracle_are_read_as_the_oracle_reads_them(seed in any::<u64>()) {
        let mut random = Random(seed);
        let written = random.structure(3, &mut 0);
        let schema = random.writer_schema("table", &written);
        let count = random.below(30);
        let records: Vec<_> = (0..count).map(|_| random.record(&written, &schema)).collect();
        let bytes = oracle_writes(&mut random, &schema, &records);
        let wanted = wanted(&mut random, &written);
        let columns = read(&bytes, &wanted);
        let expected = oracle_reads(&bytes);
        prop_assert_eq!(columns.len(), expected.len());
        for (row, record) in expected.iter().enumerate() {
            let (found, expected) = (of_row(&wanted, &columns, row), of_record(&wanted, &written, record));
            prop_assert_eq!(found, expected, "row {} of {:?}", row, wanted);
        }
    }

    #[test]
    fn columns_without_a_table_have_the_types_of_the_file(seed in any::<u64>()) {
        let mut random = Random(seed);
        let written = random.structure(3, &mut 0);
        let schema = random.writer_schema("table", &written);
        let records: Vec<_> = (0..20).map(|_| random.record(&written, &schema)).collect();
        let bytes = oracle_writes(&mut random, &schema, &records);
        let container = Container::parse(&bytes).unwrap();
        let (mut next, mut wanted, mut chosen) = (0, BTreeSet::new(), vec![]);
        for (field, natural) in written.fields.iter().zip(arrow_schema(container.schema(), &|_| false).unwrap().fields()) {
            let all = next..next + leaves(natural.data_type());
            next = all.end;
            if random.one_in(2) {
                wanted.extend(all);
                let field_type = as_said(&field.field_type);
                chosen.push(NestedField { field_type, ..field.clone() });
            }
        }
        let chosen = StructType { fields: chosen };
        let numbered = AvroType::parse_numbered(container.metadata("avro.schema").unwrap().unwrap()).unwrap();
        let selection = Selection { null_map_values: true, ..Selection::default() };
        let columns = columns_of(&numbered, &wanted, &|_| false).unwrap();
        let columns = read_as(&container, &columns, &numbered, &selection);
        let expected = oracle_reads(&bytes);
        prop_assert_eq!(columns.len(), expected.len());
        for (row, record) in expected.iter().enumerate() {
            let found = without_null_values(of_row(&chosen, &columns, row));
            let expected = without_null_values(of_record(&chosen, &written, record));
            prop_assert_eq!(found, expected, "row {} of {:?}", row, chosen);
        }
    }

    #[test]
    fn written_files_are_read_by_the_oracle(seed in any::<u64>()) {
        let mut random = Random(seed);
        let fields = random.structure(3, &mut 0);
        let schema = record_schema("table", &fields);
        let records: Vec<_> = (0..20).map(|_| random.record(&fields, &schema)).collect();
        let columns = read(&oracle_writes(&mut random, &schema, &records), &fields);
        let codec = [Codec::Null, Codec::Deflate(6), Codec::Snappy, Codec::Zstandard(3), Codec::Bzip2(9)];
        let codec = codec[random.below(codec.len())];
        let encoder = RowEncoder::compile(&fields, columns.columns()).unwrap();
        let mut writer = ContainerWriter::new(&schema.to_string(), &[], codec, [3; 16]);
        for row in 0..columns.len() {
            writer.record(|out| encoder.encode(row, out)).unwrap();
        }
        let found = oracle_reads(&writer.finish().unwrap());
        prop_assert_eq!(found.len(), records.len());
        for (found, record) in found.iter().zip(&records) {
            prop_assert_eq!(of_record(&fields, &fields, found), of_record(&fields, &fields, record));
        }
    }
}
