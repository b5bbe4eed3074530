//! Manifests and manifest lists of all versions, with fields that this crate does not know.

use arrow_array::{Array, ArrayRef};
use icefloe_format::manifest::fields::{written_entry, written_manifest_file};
use icefloe_format::manifest::{DecodeOptions, Stats, decode_manifest, decode_manifest_list};
use icefloe_format::spec::{NestedField, PrimitiveType, StructType, Type};
use proptest::prelude::*;

use super::model::{Model, of_field, of_record};
use super::random::Random;
use super::{oracle_reads, oracle_writes};

const UNKNOWN_IDS: i32 = 9000;

/// Fields that a later version of the format, or a careless writer, puts among the known ones.
fn with_unknown_fields(random: &mut Random, fields: &mut Vec<NestedField>, id: &mut i32) {
    for _ in 0..random.below(4) {
        fields.push(random.field(2, id));
    }
    random.shuffle(fields);
}

fn data_file(entry: &mut StructType) -> &mut StructType {
    let found = entry.fields.iter_mut().find(|field| field.id == 2).unwrap();
    let Type::Struct(fields) = &mut found.field_type else { panic!("data_file is a struct") };
    fields
}

fn entry(random: &mut Random, version: u8, partition: &StructType) -> StructType {
    let mut entry = written_entry(version.min(2), partition);
    let mut id = UNKNOWN_IDS;
    let file = data_file(&mut entry);
    // Optional fields came one after another, and no writer has them all.
    file.fields.retain(|field| field.required || !random.one_in(4));
    if version == 3 {
        for (id, name) in
            [(142, "first_row_id"), (144, "content_offset"), (145, "content_size_in_bytes")]
        {
            file.fields.push(NestedField::optional(id, name, PrimitiveType::Long));
        }
    }
    with_unknown_fields(random, &mut file.fields, &mut id);
    with_unknown_fields(random, &mut entry.fields, &mut id);
    entry
}

/// Checks a column against what the oracle has in one place of its records.
fn check(field: &NestedField, column: &ArrayRef, expected: &[Model]) -> Result<(), TestCaseError> {
    prop_assert_eq!(column.len(), expected.len());
    for (row, expected) in expected.iter().enumerate() {
        let found = of_field(field, column, row);
        match (field.id, expected) {
            (101, Model::Bytes(text)) => {
                prop_assert_eq!(found, Model::Bytes(text.to_ascii_uppercase()));
            }
            _ => prop_assert_eq!(&found, expected, "{} in row {}", field.name, row),
        }
    }
    Ok(())
}

fn column_of(records: &[Model], path: &[usize]) -> Vec<Model> {
    let step = |model: &Model, at: usize| match model {
        Model::Fields(fields) => fields[at].clone(),
        other => panic!("{other:?} is no record"),
    };
    records
        .iter()
        .map(|record| path.iter().fold(record.clone(), |model, at| step(&model, *at)))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn manifests_of_every_version_are_read_as_the_oracle_reads_them(
        seed in any::<u64>(),
        version in 1_u8..=3,
    ) {
        let mut random = Random(seed);
        let names = (0..random.below(4)).map(|at| (at, random.primitive())).collect::<Vec<_>>();
        let tuple = names.into_iter().map(|(at, primitive)| {
            NestedField::optional(1000 + i32::try_from(at).unwrap(), format!("p{at}"), primitive)
        });
        let partition = StructType { fields: tuple.collect() };
        let mut written = entry(&mut random, version, &partition);
        let schema = random.writer_schema("manifest_entry", &written);
        let records: Vec<_> =
            (0..random.below(20)).map(|_| random.record(&written, &schema)).collect();
        let bytes = oracle_writes(&mut random, &schema, &records);
        let options = DecodeOptions { spec_id: 3, partition_type: &partition, stats: Stats::All };
        let columns = decode_manifest(&bytes, &options).unwrap();
        let expected: Vec<_> = oracle_reads(&bytes)
            .iter()
            .map(|record| of_record(&written, &written, record))
            .collect();
        prop_assert_eq!(columns.len(), expected.len());
        let file_at = written.fields.iter().position(|field| field.id == 2).unwrap();
        for (at, field) in written.fields.clone().iter().enumerate() {
            if let Some(column) = columns.entries.column_by_name(&field.name) {
                check(field, column, &column_of(&expected, &[at]))?;
            }
        }
        for (at, field) in data_file(&mut written).fields.iter().enumerate() {
            let expected = column_of(&expected, &[file_at, at]);
            if field.id == 102 {
                let tuples: ArrayRef = std::sync::Arc::new(columns.partition.clone());
                check(field, &tuples, &expected)?;
            } else if let Some(column) = columns.entries.column_by_name(&field.name) {
                check(field, column, &expected)?;
            }
        }
        for name in ["referenced_data_file", "equality_ids"] {
            if data_file(&mut written).fields.iter().all(|field| field.name != name) {
                let column = columns.entries.column_by_name(name).unwrap();
                prop_assert_eq!(column.null_count(), column.len());
            }
        }
    }

    #[test]
    fn manifest_lists_of_every_version_are_read_as_the_oracle_reads_them(
        seed in any::<u64>(),
        version in 1_u8..=3,
    ) {
        let mut random = Random(seed);
        let mut written = written_manifest_file(version.min(2));
        if version == 3 {
            written.fields.push(NestedField::optional(520, "first_row_id", PrimitiveType::Long));
        }
        written.fields.retain(|field| field.required || !random.one_in(4));
        with_unknown_fields(&mut random, &mut written.fields, &mut UNKNOWN_IDS.clone());
        let schema = random.writer_schema("manifest_file", &written);
        let records: Vec<_> =
            (0..random.below(20)).map(|_| random.record(&written, &schema)).collect();
        let bytes = oracle_writes(&mut random, &schema, &records);
        let list = decode_manifest_list(&bytes).unwrap();
        let expected: Vec<_> = oracle_reads(&bytes)
            .iter()
            .map(|record| of_record(&written, &written, record))
            .collect();
        prop_assert_eq!(list.num_rows(), expected.len());
        for (at, field) in written.fields.iter().enumerate() {
            if let Some(column) = list.column_by_name(&field.name) {
                check(field, column, &column_of(&expected, &[at]))?;
            }
        }
    }
}
