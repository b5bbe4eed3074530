//! The row filter against the oracle, on every layout of a column.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Int32Array, RecordBatch, StructArray};
use arrow_buffer::NullBuffer;
use arrow_cast::cast;
use arrow_schema::{DataType, Field, Schema as ArrowSchema};
use icefloe_format::Error;
use icefloe_format::predicate::{bind, filter_mask, parse_json, to_unbound_json};
use icefloe_format::spec::{Datum, PrimitiveType, Schema, datums_to_array};
use proptest::prelude::*;

use super::oracle::{self, Row};

fn columns(types: &[PrimitiveType], rows: &[Row]) -> Vec<ArrayRef> {
    let column = |(position, kind): (usize, &PrimitiveType)| {
        let values: Vec<Option<Datum>> = rows.iter().map(|row| row[position].clone()).collect();
        datums_to_array(kind, &values).unwrap()
    };
    types.iter().enumerate().map(column).collect()
}

fn batch(columns: Vec<ArrayRef>) -> RecordBatch {
    let fields: Vec<Field> = columns
        .iter()
        .enumerate()
        .map(|(n, column)| Field::new(format!("c{}", n + 1), column.data_type().clone(), true))
        .collect();
    RecordBatch::try_new(Arc::new(ArrowSchema::new(fields)), columns).unwrap()
}

fn at(field_id: i32) -> Option<Vec<usize>> {
    usize::try_from(field_id - 1).ok().map(|column| vec![column])
}

/// Other layouts with the same values.
fn layouts(column: &ArrayRef) -> Vec<ArrayRef> {
    let dictionary = |values| DataType::Dictionary(Box::new(DataType::Int32), Box::new(values));
    let others = match column.data_type() {
        DataType::Utf8 => {
            vec![DataType::LargeUtf8, DataType::Utf8View, dictionary(DataType::Utf8)]
        }
        DataType::Binary => vec![DataType::LargeBinary, DataType::BinaryView],
        _ => Vec::new(),
    };
    let mut found: Vec<ArrayRef> =
        others.iter().map(|other| cast(column, other).unwrap()).collect();
    found.push(Arc::clone(column));
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn row_filter_is_the_oracle(
        (types, predicate, rows) in prop::collection::vec(oracle::types(), 1..3)
            .prop_flat_map(|types| {
                let predicate = oracle::predicate(types.clone());
                let rows = oracle::rows(types.clone(), 0..70);
                (Just(types), predicate, rows)
            })
    ) {
        let expected: Vec<bool> = rows.iter().map(|row| oracle::matches(&predicate, row)).collect();
        let plain = columns(&types, &rows);
        for first in layouts(&plain[0]) {
            let mut columns = plain.clone();
            columns[0] = first;
            let mask = filter_mask(&predicate, &batch(columns), &at).unwrap();
            prop_assert_eq!(&mask, &BooleanArray::from(expected.clone()));
        }
    }

    #[test]
    fn json_of_a_bound_predicate_binds_to_the_same(
        (types, predicate) in prop::collection::vec(oracle::types(), 1..3)
            .prop_flat_map(|types| (Just(types.clone()), oracle::predicate(types)))
    ) {
        let text = to_unbound_json(&predicate);
        let again = bind(&parse_json(&text).unwrap(), &oracle::schema(&types), true).unwrap();
        // Folding happens on the way; the text of what is folded is a fixed point.
        let text = to_unbound_json(&again);
        let third = bind(&parse_json(&text).unwrap(), &oracle::schema(&types), true).unwrap();
        prop_assert_eq!(again, third);
    }

    #[test]
    fn rebound_predicate_filters_the_same_rows(
        (types, predicate, rows) in prop::collection::vec(oracle::types(), 1..3)
            .prop_flat_map(|types| {
                let predicate = oracle::predicate(types.clone());
                let rows = oracle::rows(types.clone(), 0..30);
                (Just(types), predicate, rows)
            })
    ) {
        let text = to_unbound_json(&predicate);
        let again = bind(&parse_json(&text).unwrap(), &oracle::schema(&types), true).unwrap();
        for row in &rows {
            prop_assert_eq!(oracle::matches(&predicate, row), oracle::matches(&again, row));
        }
    }
}

const NESTED: &str = r#"{"type":"struct","schema-id":0,"fields":[
  {"id":1,"name":"a","required":false,"type":{"type":"struct","fields":[
    {"id":2,"name":"b","required":false,"type":"long"}]}}]}"#;

fn mask(filter: &str, batch: &RecordBatch, path: Option<Vec<usize>>) -> Result<Vec<bool>, Error> {
    let schema = Schema::from_json(NESTED).unwrap();
    let predicate = bind(&parse_json(filter).unwrap(), &schema, true).unwrap();
    let mask = filter_mask(&predicate, batch, &|_| path.clone())?;
    Ok(mask.iter().map(|bit| bit.unwrap()).collect())
}

#[test]
fn null_struct_has_null_fields_and_narrow_columns_are_widened() {
    let inner: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), Some(1), None]));
    let outer = StructArray::new(
        vec![Field::new("b", DataType::Int32, true)].into(),
        vec![inner],
        Some(NullBuffer::from(vec![true, false, true])),
    );
    let batch = batch(vec![Arc::new(outer)]);
    let path = Some(vec![0, 0]);
    let eq = r#"{"type":"eq","term":"a.b","value":1}"#;
    assert_eq!(mask(eq, &batch, path.clone()).unwrap(), [true, false, false]);
    let null = r#"{"type":"is-null","term":"a.b"}"#;
    assert_eq!(mask(null, &batch, path).unwrap(), [false, true, true]);
    assert_eq!(mask(null, &batch, None).unwrap(), [true, true, true]);
    assert_eq!(mask(eq, &batch, None).unwrap(), [false, false, false]);
    assert!(matches!(mask(eq, &batch, Some(vec![0, 5])), Err(Error::InvalidArgument { .. })));
}

#[test]
fn column_of_another_type_is_a_mismatch() {
    let text: ArrayRef = Arc::new(arrow_array::StringArray::from(vec!["1"]));
    let found = mask(r#"{"type":"eq","term":"a.b","value":1}"#, &batch(vec![text]), Some(vec![0]));
    let Err(Error::Mismatch { column, .. }) = found else { panic!("{found:?}") };
    assert_eq!(column, "a.b");
}
