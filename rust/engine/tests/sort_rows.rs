//! Rows sorted across batches, in memory and over the memory limit.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array, RecordBatch, RecordBatchIterator, StringArray};
use icefloe_engine::write::{RowOrder, SortedRows, TableCurve};
use icefloe_format::curve::{Curve, CurveKeys};
use icefloe_format::spec::{PartitionSpec, Schema, SortOrder};

const SCHEMA: &str = r#"{"type":"struct","schema-id":0,"fields":[
    {"id":1,"name":"a","required":false,"type":"long"},
    {"id":2,"name":"b","required":false,"type":"string"},
    {"id":3,"name":"n","required":false,"type":"long"}]}"#;
const UNPARTITIONED: &str = r#"{"spec-id":0,"fields":[]}"#;
const BY_BUCKET: &str = r#"{"spec-id":1,"fields":[{"source-id":1,"field-id":1000,"name":"a_bucket","transform":"bucket[3]"}]}"#;
const BY_A: &str = r#"{"order-id":1,"fields":[{"source-id":1,"transform":"identity","direction":"asc","null-order":"nulls-first"}]}"#;
const BY_B_AND_A: &str = r#"{"order-id":1,"fields":[
    {"source-id":2,"transform":"identity","direction":"desc","null-order":"nulls-last"},
    {"source-id":1,"transform":"identity","direction":"asc","null-order":"nulls-first"}]}"#;

type Row = (Option<i64>, Option<String>, i64);

/// Rows in a scrambled order, numbered in `n`; every 16th value is null.
fn rows(count: i64) -> Vec<Row> {
    let value = |number: i64| {
        let mixed = number.wrapping_mul(6_364_136_223_846_793_005).rotate_left(29);
        let a = (mixed % 16 != 0).then_some(mixed % 97);
        let b = (mixed % 5 != 0).then(|| format!("a long common beginning {}", mixed % 7));
        (a, b, number)
    };
    (0..count).map(value).collect()
}

fn batches(rows: &[Row], size: usize) -> Vec<RecordBatch> {
    let batch = |rows: &[Row]| {
        let a: ArrayRef = Arc::new(Int64Array::from_iter(rows.iter().map(|row| row.0)));
        let b: ArrayRef = Arc::new(StringArray::from_iter(rows.iter().map(|row| row.1.clone())));
        let n: ArrayRef = Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.2)));
        RecordBatch::try_from_iter_with_nullable([("a", a, true), ("b", b, true), ("n", n, true)])
            .unwrap()
    };
    rows.chunks(size).map(batch).collect()
}

fn order(spec: &str, sort_order: Option<&str>, curve: Option<TableCurve>) -> RowOrder {
    let sort_order = sort_order.map(|text| SortOrder::from_json(text).unwrap());
    let schema = Schema::from_json(SCHEMA).unwrap();
    RowOrder::new(&schema, &PartitionSpec::from_json(spec).unwrap(), sort_order.as_ref(), curve)
        .unwrap()
}

fn sorted(batches: Vec<RecordBatch>, order: RowOrder, memory_bytes: usize) -> Vec<i64> {
    let schema = batches[0].schema();
    let reader = RecordBatchIterator::new(batches.into_iter().map(Ok), schema);
    let mut found = vec![];
    for batch in SortedRows::new(Box::new(reader), order, memory_bytes) {
        found.extend(batch.unwrap().column(2).as_primitive::<Int64Type>().values().iter());
    }
    found
}

#[test]
fn rows_are_sorted_alike_in_memory_and_over_the_limit() {
    let rows = rows(20_000);
    let mut expected: Vec<&Row> = rows.iter().collect();
    // Descending, nulls last.
    expected.sort_by(|left, right| right.1.cmp(&left.1).then_with(|| left.0.cmp(&right.0)));
    let expected: Vec<i64> = expected.iter().map(|row| row.2).collect();
    for memory_bytes in [usize::MAX, 1 << 20, 100_000, 1] {
        let found =
            sorted(batches(&rows, 512), order(UNPARTITIONED, Some(BY_B_AND_A), None), memory_bytes);
        assert_eq!(found, expected, "{memory_bytes} bytes");
    }
}

#[test]
fn equal_rows_keep_their_order() {
    let rows: Vec<Row> = (0..5_000).map(|number| (Some(number % 3), None, number)).collect();
    for memory_bytes in [usize::MAX, 20_000] {
        let found =
            sorted(batches(&rows, 100), order(UNPARTITIONED, Some(BY_A), None), memory_bytes);
        let expected: Vec<i64> = (0..3).flat_map(|a| (a..5_000).step_by(3)).collect();
        assert_eq!(found, expected);
    }
}

#[test]
fn partitions_come_one_after_the_other() {
    let rows = rows(3_000);
    for memory_bytes in [usize::MAX, 20_000] {
        let found = sorted(batches(&rows, 100), order(BY_BUCKET, Some(BY_A), None), memory_bytes);
        let values: Vec<Option<i64>> =
            found.iter().map(|number| rows[usize::try_from(*number).unwrap()].0).collect();
        let changes = values.windows(2).filter(|pair| pair[1] < pair[0]).count();
        assert!(changes <= 3, "{changes} descents in at most 4 partitions");
        assert_eq!(found.len(), rows.len());
    }
}

#[test]
fn rows_without_keys_keep_their_order() {
    let rows = rows(300);
    let found = sorted(batches(&rows, 7), order(UNPARTITIONED, None, None), 10_000);
    assert_eq!(found, (0..300).collect::<Vec<_>>());
}

#[test]
fn rows_follow_a_curve() {
    let rows = rows(2_000);
    let all = batches(&rows, 2_000);
    let samples = [Arc::clone(all[0].column(0)), Arc::clone(all[0].column(2))];
    let curve = || TableCurve {
        columns: vec![1, 3],
        keys: CurveKeys::new(Curve::Hilbert, &samples).unwrap(),
    };
    let keys = curve().keys.keys(&samples).unwrap();
    let mut expected: Vec<i64> = (0..2_000).collect();
    expected.sort_by_key(|number| keys[usize::try_from(*number).unwrap()]);
    for memory_bytes in [usize::MAX, 30_000] {
        assert_eq!(
            sorted(batches(&rows, 64), order(UNPARTITIONED, None, Some(curve())), memory_bytes),
            expected
        );
    }
}

#[test]
fn error_of_the_input_ends_the_rows() {
    let schema = batches(&rows(1), 1)[0].schema();
    let broken = arrow_schema::ArrowError::ComputeError("no more".into());
    let reader = RecordBatchIterator::new([Err(broken)], schema);
    let mut found =
        SortedRows::new(Box::new(reader), order(UNPARTITIONED, Some(BY_A), None), 1 << 20);
    let error = found.next().unwrap().unwrap_err().to_string();
    assert!(error.contains("no more"), "{error}");
    assert!(found.next().is_none());
}

/// Run work in a thread; panic if it takes a minute, as it does when threads wait for each other.
fn without_deadlock(work: impl FnOnce() + Send + 'static) {
    let (done, finished) = mpsc::channel();
    std::thread::spawn(move || {
        work();
        done.send(()).unwrap();
    });
    finished.recv_timeout(Duration::from_secs(60)).unwrap();
}

#[test]
fn consumer_may_stop_before_the_last_row() {
    without_deadlock(|| {
        let rows = rows(5_000);
        for _ in 0..20 {
            let all = batches(&rows, 100);
            let schema = all[0].schema();
            let reader = RecordBatchIterator::new(all.into_iter().map(Ok), schema);
            let order = order(UNPARTITIONED, Some(BY_A), None);
            let mut sorted = SortedRows::new(Box::new(reader), order, 50_000);
            assert!(sorted.next().unwrap().unwrap().num_rows() < rows.len());
        }
        let found = sorted(batches(&rows, 100), order(UNPARTITIONED, Some(BY_A), None), 50_000);
        assert_eq!(found.len(), rows.len());
    });
}

#[test]
fn error_of_the_input_after_spilled_runs_ends_the_rows() {
    without_deadlock(|| {
        let all = batches(&rows(5_000), 100);
        let schema = all[0].schema();
        let broken = arrow_schema::ArrowError::ComputeError("no more".into());
        let data = all.into_iter().map(Ok).chain([Err(broken)]);
        let reader = RecordBatchIterator::new(data, schema);
        let order = order(UNPARTITIONED, Some(BY_A), None);
        let mut sorted = SortedRows::new(Box::new(reader), order, 50_000);
        let error = sorted.next().unwrap().unwrap_err().to_string();
        assert!(error.contains("no more"), "{error}");
        assert!(sorted.next().is_none());
    });
}

#[test]
fn merged_batches_keep_their_values_while_more_of_the_runs_is_read() {
    let rows = rows(20_000);
    let all = batches(&rows, 512);
    let schema = all[0].schema();
    let reader = RecordBatchIterator::new(all.into_iter().map(Ok), schema);
    let order = order(UNPARTITIONED, Some(BY_A), None);
    let merged: Vec<RecordBatch> =
        SortedRows::new(Box::new(reader), order, 100_000).map(Result::unwrap).collect();
    assert!(merged.len() > 10);
    let mut found: Vec<Row> = vec![];
    for batch in &merged {
        let a = batch.column(0).as_primitive::<Int64Type>().iter();
        let b = batch.column(1).as_string::<i32>().iter();
        let n = batch.column(2).as_primitive::<Int64Type>().values().iter();
        found.extend(a.zip(b).zip(n).map(|((a, b), n)| (a, b.map(str::to_owned), *n)));
    }
    let mut expected = rows;
    expected.sort_by_key(|row| row.0);
    assert_eq!(found, expected);
}
