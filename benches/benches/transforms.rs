//! Transforms over arrays: values and bytes of input per second.

#![allow(clippy::expect_used, reason = "a bench that cannot run has nothing to report")]

use std::hint::black_box;

use arrow_array::{Array, ArrayRef};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use icefloe_benches::{dates, decimals, ints, longs, strings, timestamps};
use icefloe_format::transform::Transform;

const COUNT: usize = 1 << 20;

fn bench(criterion: &mut Criterion, source: &str, array: &ArrayRef, transforms: &[&str]) {
    let mut group = criterion.benchmark_group(source);
    group.throughput(Throughput::ElementsAndBytes {
        elements: COUNT as u64,
        bytes: array.to_data().get_slice_memory_size().unwrap_or(0) as u64,
    });
    for name in transforms {
        let transform: Transform = name.parse().expect("the name of a transform");
        group.bench_function(*name, |bencher| {
            bencher
                .iter(|| transform.apply_untyped(black_box(array)).expect("a source it can take"));
        });
    }
    group.finish();
}

fn transforms(criterion: &mut Criterion) {
    bench(criterion, "long", &longs(COUNT), &["bucket[16]", "bucket[100]", "truncate[10]"]);
    bench(criterion, "int", &ints(COUNT), &["bucket[16]", "truncate[10]"]);
    bench(criterion, "decimal", &decimals(COUNT), &["bucket[16]", "truncate[10]"]);
    bench(criterion, "string", &strings(COUNT), &["bucket[16]", "truncate[5]", "truncate[20]"]);
    bench(criterion, "date", &dates(COUNT), &["bucket[16]", "year", "month", "day"]);
    bench(criterion, "timestamp", &timestamps(COUNT), &["year", "month", "day", "hour"]);
}

criterion_group!(benches, transforms);
criterion_main!(benches);
