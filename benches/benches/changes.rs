//! Hashing of the rows of change scans.

#![allow(missing_docs, clippy::unwrap_used, reason = "criterion writes main; a bench may stop")]

use std::hint::black_box;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, StringArray};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use icefloe_format::changelog::RowHasher;

// The allocator of the extension module, whose cost is part of every measurement.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

const ROWS: i64 = 1 << 16;

fn longs(nulls: bool) -> ArrayRef {
    let values = (0..ROWS).map(|row| (!nulls || row % 7 != 0).then_some(row * 31));
    Arc::new(values.collect::<Int64Array>())
}

fn doubles() -> ArrayRef {
    Arc::new((0..ROWS).map(|row| Some(row as f64 * 0.25)).collect::<Float64Array>())
}

fn texts() -> ArrayRef {
    Arc::new((0..ROWS).map(|row| Some(format!("customer-{row}"))).collect::<StringArray>())
}

fn row_hashes(criterion: &mut Criterion) {
    let cases: [(&str, Vec<ArrayRef>); 3] = [
        ("one long", vec![longs(false)]),
        ("long, text and double", vec![longs(true), texts(), doubles()]),
        ("twelve columns", (0..4).flat_map(|_| [longs(true), texts(), doubles()]).collect()),
    ];
    let mut group = criterion.benchmark_group("row hashes");
    group.throughput(Throughput::Elements(ROWS.unsigned_abs()));
    let hasher = RowHasher::new([1, 2]);
    for (name, columns) in cases {
        let rows = columns.first().map_or(0, |column| column.len());
        group.bench_function(name, |bench| {
            bench.iter(|| hasher.hash(black_box(&columns), rows).unwrap());
        });
    }
    group.finish();
}

criterion_group!(benches, row_hashes);
criterion_main!(benches);
