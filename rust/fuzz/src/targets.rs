//! Decoders of foreign bytes, which must answer or report what is wrong, whatever the bytes.
//!
//! Each target is a function of an input. It fails by panicking, by not coming back, or by using
//! memory out of proportion; the fuzzers watch for all three, the bounded run of the tests for the
//! first and the last.

use icefloe_format::avro::skip::skip;
use icefloe_format::avro::{
    AvroType, Container, ContainerWriter, Cursor, Header, Kind, Selection, StructColumn,
};
use icefloe_format::codec::Codec;
use icefloe_format::manifest::{
    DecodeOptions, EntryFilter, Inheritance, ManifestColumns, ManifestDecoder, Stats,
    decode_file_locations, decode_listed_manifests, decode_manifest, decode_manifest_list,
    decode_matching, decode_run, inherit,
};
use icefloe_format::orc::{Footer, POSTSCRIPT_BYTES, Postscript, StripeStatistics};
use icefloe_format::predicate::{
    bind, parse_json, project_inclusive, project_strict, to_json, to_unbound_json,
};
use icefloe_format::spec::{
    ArrowOptions, ListType, MapType, NestedField, PartitionSpec, PrimitiveType, Schema, SortOrder,
    StructType, Transform, Type, partition_from_json, schema_to_arrow, single_value,
};
use icefloe_format::{Error, Result};

/// A target: takes any bytes, and panics if what it tests does not hold for them.
pub type Target = fn(&[u8]);

/// All targets by name.
pub const TARGETS: [(&str, Target); 9] = [
    ("container", container),
    ("manifest", manifest),
    ("manifest_list", manifest_list),
    ("records", records),
    ("single_value", single_value),
    ("predicate_json", predicate_json),
    ("schema_json", schema_json),
    ("spec_json", spec_json),
    ("orc_end", orc_end),
];

const TABLE: &str = r#"{"type":"struct","schema-id":0,"fields":[
    {"id":1,"name":"id","required":true,"type":"long"},
    {"id":2,"name":"ts","required":false,"type":"timestamp"},
    {"id":3,"name":"name","required":false,"type":"string"},
    {"id":4,"name":"price","required":false,"type":"decimal(9, 2)"},
    {"id":5,"name":"key","required":false,"type":"uuid"},
    {"id":6,"name":"weight","required":false,"type":"double"},
    {"id":7,"name":"raw","required":false,"type":"fixed[3]"},
    {"id":8,"name":"nested","required":false,"type":{"type":"struct","fields":[
        {"id":9,"name":"flag","required":false,"type":"boolean"}]}}]}"#;
const SPEC: &str = r#"{"spec-id":0,"fields":[
    {"source-id":1,"field-id":1000,"name":"id_bucket","transform":"bucket[8]"},
    {"source-id":2,"field-id":1001,"name":"day","transform":"day"},
    {"source-id":3,"field-id":1002,"name":"name","transform":"truncate[4]"},
    {"source-id":6,"field-id":1003,"name":"weight","transform":"identity"},
    {"source-id":99,"field-id":1004,"name":"gone","transform":"identity"}]}"#;

/// The postscript and the footer of an ORC file.
pub fn orc_end(bytes: &[u8]) {
    let end = bytes.get(bytes.len().saturating_sub(POSTSCRIPT_BYTES)..).unwrap_or_default();
    let checked = Postscript::parse(end, bytes.len() as u64).and_then(|postscript| {
        let footer = postscript.footer();
        let place = |offset| usize::try_from(offset).unwrap_or(usize::MAX);
        let metadata = postscript.metadata();
        let parsed = Footer::parse(&bytes[place(footer.start)..place(footer.end)], &postscript)?;
        let Some(footer) = parsed else { return Ok(()) };
        let metadata = &bytes[place(metadata.start)..place(metadata.end)];
        let Some(statistics) = StripeStatistics::of(metadata, &postscript, &footer)? else {
            return Ok(());
        };
        for leaf in 0..9 {
            let of_stripes = statistics.leaf(leaf)?;
            assert!(of_stripes.is_empty() || of_stripes.len() == footer.stripes.len());
        }
        Ok(())
    });
    // Positions in compressed bytes are not positions in the file.
    check_outcome(checked.map_err(|error| error.or_at(0)));
}

/// Read the header, every block and every record of a container: once skipped, once decoded to columns.
pub fn container(bytes: &[u8]) {
    check_outcome(read_container(bytes));
}

fn read_container(bytes: &[u8]) -> Result<()> {
    let container = Container::parse(bytes)?;
    let mut columns = wanted(container.schema())
        .map(|wanted| {
            StructColumn::compile(&wanted, Some(container.schema()), &Selection::default())
        })
        .transpose()
        .map_err(|error| error.or_at(container.schema_offset()))?;
    let (mut total, mut records) = (0, 0);
    let mut blocks = container.blocks();
    while let Some(block) = blocks.next_block()? {
        total += block.bytes.len();
        records += block.count;
        assert!(total <= (1 << 20) + 1040 * bytes.len(), "blocks decompress to {total} bytes");
        assert!(records <= (1 << 12) + 16 * bytes.len(), "blocks hold {records} records");
        let mut skipped = Cursor::new(block.bytes);
        let mut read = skipped;
        for _ in 0..block.count.min(block.bytes.len()) {
            let passed = skip(&mut skipped, container.schema());
            passed.map_err(|error| block.malformed("record", error, skipped.remaining()))?;
            if let Some(columns) = &mut columns {
                let decoded = columns.read(&mut read);
                decoded.map_err(|error| block.malformed("record", error, read.remaining()))?;
                // They differ where an array's block claims a length in bytes that is not its own.
                read = skipped;
            }
        }
    }
    columns.map_or(Ok(()), |mut columns| columns.finish().map(drop)).map_err(|error| error.or_at(0))
}

/// The columns that a reader may request of a writer's records: all that Iceberg has a type for.
fn wanted(written: &AvroType) -> Option<StructType> {
    match iceberg_type(written)? {
        Type::Struct(fields) => Some(fields),
        _ => None,
    }
}

fn iceberg_type(written: &AvroType) -> Option<Type> {
    Some(match &written.kind {
        Kind::Record(record) => {
            let fields = record.fields.iter().filter_map(|field| {
                let field_type = iceberg_type(&field.field_type)?;
                Some(NestedField::optional(field.field_id?, field.name.clone(), field_type))
            });
            Type::Struct(StructType { fields: fields.collect() })
        }
        Kind::Array { items, element_id } => match (items.as_record(), element_id) {
            (_, Some(id)) => {
                let element = iceberg_type(items)?;
                let list = ListType { element_id: *id, element_required: false, element };
                Type::List(Box::new(list))
            }
            (Some(record), None) => {
                let [key, value] = record.fields.as_slice() else { return None };
                map(
                    (key.field_id?, iceberg_type(&key.field_type)?),
                    (value.field_id?, iceberg_type(&value.field_type)?),
                )
            }
            (None, None) => return None,
        },
        Kind::Map { values, key_id, value_id } => {
            map(((*key_id)?, PrimitiveType::String.into()), ((*value_id)?, iceberg_type(values)?))
        }
        Kind::Union(branches) => {
            iceberg_type(branches.iter().find(|branch| branch.kind != Kind::Null)?)?
        }
        Kind::Null => PrimitiveType::Unknown.into(),
        _ => written.primitive_type().ok()?.into(),
    })
}

fn map((key_id, key): (i32, Type), (value_id, value): (i32, Type)) -> Type {
    Type::Map(Box::new(MapType { key_id, key, value_id, value_required: false, value }))
}

/// Read a manifest with all, no and some statistics, filter it, and decode it in runs.
pub fn manifest(bytes: &[u8]) {
    for stats in [Stats::All, Stats::Skip, Stats::Columns(vec![3, 1])] {
        check_outcome(read_manifest(bytes, stats));
    }
    check_outcome(read_matching(bytes));
    check_outcome(decode_file_locations(bytes, None));
    check_outcome(read_runs(bytes));
}

/// Check that a manifest whose runs all decode also decodes as a whole, to the same number of entries.
fn read_runs(bytes: &[u8]) -> Result<()> {
    let tuple = table_tuple();
    let options = DecodeOptions { spec_id: 0, partition_type: &tuple, stats: Stats::All };
    let runs = Header::parse(bytes)?.runs(3);
    let parts =
        runs.iter().map(|run| decode_run(bytes, Some(run), &options).map(|part| part.len()));
    // The whole says what is wrong and where.
    let Ok(parts) = parts.collect::<Result<Vec<_>>>() else {
        return decode_manifest(bytes, &options).map(drop);
    };
    let whole = decode_manifest(bytes, &options).map(|whole| whole.len());
    assert_eq!(whole, Ok(parts.iter().sum()));
    Ok(())
}

/// The entries that might match a filter are some of all.
fn read_matching(bytes: &[u8]) -> Result<()> {
    let (schema, tuple) = (Schema::from_json(TABLE).expect("a schema"), table_tuple());
    let filter = r#"{"type":"and","left":{"type":"gt","term":"id","value":5},
        "right":{"type":"lt","term":"name","value":"m"}}"#;
    let rows = bind(&parse_json(filter).expect("a filter"), &schema, true).expect("it binds");
    let spec = PartitionSpec::from_json(SPEC).expect("a spec");
    let partitions = project_inclusive(&rows, &schema, &spec).expect("it projects");
    let options = DecodeOptions { spec_id: 0, partition_type: &tuple, stats: Stats::All };
    let filter = EntryFilter { partitions: &partitions, rows: &rows };
    let matching = decode_matching(bytes, &options, filter)?;
    assert!(matching.columns.len() <= matching.live);
    Ok(())
}

fn read_manifest(bytes: &[u8], stats: Stats) -> Result<()> {
    let tuple = table_tuple();
    let options = DecodeOptions { spec_id: 0, partition_type: &tuple, stats };
    let mut decoder = ManifestDecoder::new(bytes, &options)?;
    let header = decoder.header();
    if let (Some(schema), Some(spec)) = (&header.schema, &header.partition_spec) {
        let schema = Schema::from_json(schema).ok();
        let spec = PartitionSpec::from_fields_json(spec).ok();
        drop(schema.zip(spec).map(|(schema, spec)| spec.partition_type(&schema)));
    }
    while let Some(entries) = decoder.next_batch(1000)? {
        let from = Inheritance { added_snapshot_id: Some(9), sequence_number: Some(5) };
        let entries = inherit(entries, from).map_err(|error| error.or_at(0))?;
        written_and_read_again(&entries, &tuple);
    }
    Ok(())
}

fn written_and_read_again(entries: &ManifestColumns, tuple: &StructType) {
    let Ok(batch) = entries.to_batch(tuple) else { return };
    let again = ManifestColumns::from_batch(&batch, tuple);
    assert!(again.is_ok_and(|again| again.len() == entries.len()), "entries cross and come back");
}

fn table_tuple() -> StructType {
    let spec = PartitionSpec::from_json(SPEC).expect("a spec");
    spec.partition_type(&Schema::from_json(TABLE).expect("a schema"))
}

/// Read a manifest list.
pub fn manifest_list(bytes: &[u8]) {
    let listed = decode_listed_manifests(bytes);
    if let Ok(list) = decode_manifest_list(bytes) {
        assert_eq!(
            listed.as_ref().map(|found| found.paths.iter().count()).ok(),
            Some(list.num_rows())
        );
    }
    check_outcome(decode_manifest_list(bytes));
    check_outcome(listed);
}

/// Read records after their schema: `<JSON>`, a zero byte, the number of records in one byte, the records.
///
/// In a container the schema sits behind its length, which mutations break first.
pub fn records(bytes: &[u8]) {
    let mut parts = bytes.splitn(2, |byte| *byte == 0);
    let (Some(schema), Some([count, records @ ..])) = (parts.next(), parts.next()) else { return };
    let Ok(schema) = std::str::from_utf8(schema) else { return };
    let mut writer = ContainerWriter::new(schema, &[], Codec::Null, [7; 16]);
    for at in 0..(*count).max(1) {
        let record = if at == 0 { records } else { &[] };
        let written = writer.record(|out| {
            out.extend_from_slice(record);
            Ok(())
        });
        written.expect("a record of the null codec");
    }
    let bytes = writer.finish().expect("it compresses nothing");
    container(&bytes);
    manifest(&bytes);
    manifest_list(&bytes);
}

/// A value as bytes and as JSON: the first byte chooses the type, and which of the two.
pub fn single_value(bytes: &[u8]) {
    let Some((choice, value)) = bytes.split_first() else { return };
    let types = [
        "boolean",
        "int",
        "long",
        "float",
        "double",
        "decimal(9, 2)",
        "decimal(38, 10)",
        "date",
        "time",
        "timestamp",
        "timestamptz",
        "timestamp_ns",
        "timestamptz_ns",
        "string",
        "uuid",
        "fixed[3]",
        "binary",
        "unknown",
    ];
    let value_type = types[usize::from(choice >> 1) % types.len()].parse().expect("a type");
    let found = if choice & 1 == 0 {
        single_value::from_bytes(&value_type, value)
    } else {
        let Ok(json) = serde_json::from_slice(value) else { return };
        single_value::from_json(&value_type, &json)
    };
    let Ok(found) = found else { return };
    // A value that was read is written and read again as the same value, in every form that holds it.
    let bytes = single_value::to_bytes(&found);
    let again = single_value::from_bytes(&value_type, &bytes).expect("what is written is read");
    assert_eq!(single_value::to_bytes(&again), bytes, "{found:?} of {value_type}");
    if found.is_nan() {
        // JSON has one NaN for all of them.
        return;
    }
    if let Ok(again) = single_value::from_json(&value_type, &single_value::to_json(&found)) {
        assert_eq!(single_value::to_bytes(&again), bytes, "{found:?} of {value_type}");
    }
    drop(found.human_string());
}

/// A predicate: parsed, written, bound, written again, projected.
pub fn predicate_json(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(predicate) = parse_json(text) else { return };
    let written = to_json(&predicate);
    let again = parse_json(&written).expect("what is written is read");
    assert_eq!(to_json(&again), written);
    let schema = Schema::from_json(TABLE).expect("a schema");
    let spec = PartitionSpec::from_json(SPEC).expect("a spec");
    for case_sensitive in [true, false] {
        let Ok(bound) = bind(&predicate, &schema, case_sensitive) else { continue };
        drop(to_unbound_json(&bound));
        drop(project_inclusive(&bound, &schema, &spec));
        drop(project_strict(&bound, &schema, &spec));
    }
}

/// A schema: parsed, walked, written, and parsed again.
pub fn schema_json(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(schema) = Schema::from_json(text) else { return };
    let written = schema.to_json();
    let again = Schema::from_json(&written).expect("what is written is read");
    assert_eq!(again.to_json(), written);
    drop(schema_to_arrow(&schema, ArrowOptions::default()));
    for name in schema.full_names() {
        assert!(schema.id_by_name(&name, true).is_some(), "{name:?}");
    }
    drop(AvroType::parse(text));
}

/// Partition specs, sort orders, partition tuples and names of transforms and types.
pub fn spec_json(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(spec) = PartitionSpec::from_json(text) {
        let written = spec.to_json();
        let again = PartitionSpec::from_json(&written).expect("what is written is read");
        assert_eq!(again.to_json(), written);
    }
    drop(PartitionSpec::from_fields_json(text));
    if let Ok(order) = SortOrder::from_json(text) {
        let written = order.to_json();
        let again = SortOrder::from_json(&written).expect("what is written is read");
        assert_eq!(again.to_json(), written);
    }
    drop(partition_from_json(&table_tuple(), text));
    if let Ok(transform) = text.parse::<Transform>() {
        assert_eq!(transform.to_string().parse(), Ok(transform));
    }
    if let Ok(primitive) = text.parse::<PrimitiveType>() {
        assert_eq!(primitive.to_string().parse(), Ok(primitive));
    }
}

/// Check that bytes are read, or refused as corrupt at a position, or refused as unsupported.
fn check_outcome<T>(outcome: Result<T>) {
    match outcome {
        Ok(_) | Err(Error::Corrupt { offset: Some(_), .. } | Error::Unsupported { .. }) => {}
        Err(other) => {
            panic!("expected a corrupt position or an unsupported feature, got {other:?}")
        }
    }
}
