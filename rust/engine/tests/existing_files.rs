//! Existing Parquet files checked against a table.
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{ArrayRef, Decimal128Array, Int64Array, RecordBatch, StructArray};
use arrow_schema::{DataType, Field, Fields};
use icefloe_engine::Error;
use icefloe_engine::existing_files::{Checks, describe_data_files};
use icefloe_engine::store::FileIo;
use icefloe_engine::table::TableContext;
use icefloe_format::Error as FormatError;
use parquet::arrow::ArrowWriter;
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

const POINT: &str = r#"{"id":1,"name":"c","required":false,"type":{"type":"struct","fields":[
    {"id":2,"name":"x","required":true,"type":"long"}]}}"#;
const COUNTS: &str = r#"{"id":1,"name":"c","required":false,"type":{"type":"map","key-id":2,"key":"string",
    "value-id":3,"value":"int","value-required":false}}"#;
const OPTIONAL_KEYS: &str = "message m { optional group c (MAP) { repeated group key_value {
    optional binary key (UTF8); optional int32 value; } } }";
const AMOUNT: &str = r#"{"id":1,"name":"c","required":false,"type":"decimal(5, 2)"}"#;

struct File(PathBuf);

impl File {
    fn of(column: ArrayRef) -> Self {
        let path = std::env::temp_dir().join(format!("icefloe-{}.parquet", uuid::Uuid::new_v4()));
        let batch = RecordBatch::try_from_iter_with_nullable([("c", column, true)]).unwrap();
        let file = std::fs::File::create(&path).unwrap();
        let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        Self(path)
    }

    /// Write one row with a map of optional keys, each with the value 1.
    fn of_keys(keys: &[Option<&str>]) -> Self {
        let path = std::env::temp_dir().join(format!("icefloe-{}.parquet", uuid::Uuid::new_v4()));
        let file = std::fs::File::create(&path).unwrap();
        let schema = Arc::new(parse_message_type(OPTIONAL_KEYS).unwrap());
        let mut writer = SerializedFileWriter::new(file, schema, Arc::default()).unwrap();
        let mut rows = writer.next_row_group().unwrap();
        let repetitions: Vec<i16> = (0..keys.len()).map(|place| i16::from(place > 0)).collect();
        let levels: Vec<i16> = keys.iter().map(|key| if key.is_some() { 3 } else { 2 }).collect();
        let found: Vec<ByteArray> =
            keys.iter().flatten().map(|key| ByteArray::from(*key)).collect();
        let mut column = rows.next_column().unwrap().unwrap();
        let typed = column.typed::<ByteArrayType>();
        typed.write_batch(&found, Some(&levels), Some(&repetitions)).unwrap();
        column.close().unwrap();
        let mut column = rows.next_column().unwrap().unwrap();
        let (values, levels) = (vec![1; keys.len()], vec![3; keys.len()]);
        let typed = column.typed::<Int32Type>();
        typed.write_batch(&values, Some(&levels), Some(&repetitions)).unwrap();
        column.close().unwrap();
        rows.close().unwrap();
        writer.close().unwrap();
        Self(path)
    }

    /// Describe the file as one of a table with a single column; return the column and the values of a mismatch, or the text of another error.
    fn mismatch(&self, field: &str, check_names: bool) -> Option<(String, String)> {
        let context = format!(
            r#"{{"schema":{{"type":"struct","schema-id":0,"fields":[{field}]}},"schemas":[],
            "partition-specs":[{{"spec-id":0,"fields":[]}}],
            "name-mapping":[{{"field-id":1,"names":["c"],"fields":[
                {{"field-id":2,"names":["x","key"]}},{{"field-id":3,"names":["value"]}}]}}]}}"#
        );
        let context = Arc::new(TableContext::from_json(&context).unwrap());
        let io = FileIo::new(std::iter::empty::<(String, String)>());
        let location = self.0.to_str().unwrap().to_owned();
        let checks = Checks { format: None, names: check_names };
        match describe_data_files(&io, context, 0, vec![location.clone()], None, checks) {
            Ok(_) => None,
            Err(Error::InFile {
                location: named,
                source: FormatError::Mismatch { column, found, .. },
            }) if named == location => Some((column, found)),
            Err(other) => Some((other.to_string(), String::new())),
        }
    }
}

impl Drop for File {
    fn drop(&mut self) {
        std::fs::remove_file(&self.0).unwrap();
    }
}

/// Return structs of optional values, null where the outer value is.
fn points(values: &[Option<Option<i64>>]) -> ArrayRef {
    let fields = Fields::from(vec![Field::new("x", DataType::Int64, true)]);
    let inner: Int64Array = values.iter().map(|value| value.flatten()).collect();
    let nulls = values.iter().map(Option::is_some).collect::<Vec<_>>().into();
    Arc::new(StructArray::new(fields, vec![Arc::new(inner)], Some(nulls)))
}

#[test]
fn nulls_of_optional_structs_differ_from_nulls_of_their_required_fields() {
    assert_eq!(File::of(points(&[Some(Some(1)), None])).mismatch(POINT, true), None);
    let bad = File::of(points(&[Some(Some(1)), Some(None)]));
    let (column, found) = bad.mismatch(POINT, true).unwrap();
    assert_eq!(column, "c.x");
    assert!(found.starts_with("nulls;"), "{found}");
    // Files of the table already are described from their footers, which do not decide.
    assert_eq!(bad.mismatch(POINT, false), None);
}

#[test]
fn null_keys_of_maps_are_refused() {
    assert_eq!(File::of_keys(&[Some("a"), Some("b")]).mismatch(COUNTS, true), None);
    let (column, found) = File::of_keys(&[Some("a"), None]).mismatch(COUNTS, true).unwrap();
    assert_eq!(column, "c.key");
    assert_eq!(found, "nulls, which keys of maps cannot be; replace them in the file");
}

#[test]
fn wider_decimals_are_taken_if_their_values_fit() {
    let amounts = |values: Vec<i128>| -> ArrayRef {
        let values = Decimal128Array::from_iter_values(values);
        Arc::new(values.with_precision_and_scale(38, 2).unwrap())
    };
    assert_eq!(File::of(amounts(vec![99_999, -99_999])).mismatch(AMOUNT, true), None);
    let (column, found) = File::of(amounts(vec![1, 100_000])).mismatch(AMOUNT, true).unwrap();
    assert_eq!(column, "c");
    assert!(found.starts_with("decimal128(38, 2) with values of more than 5 digits"), "{found}");
}
