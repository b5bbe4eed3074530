//! Partition transforms of arrays, in input values and bytes per second.

#![allow(clippy::expect_used, reason = "a bench that cannot run has nothing to report")]

use std::hint::black_box;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, BinaryArray};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use icefloe_benches::{
    binaries, dates, decimals, fixed, international_texts, ints, longs, nano_timestamps, numbers,
    repeated_texts, strings, texts_of_16, times, timestamps, wide_decimals, zoned_timestamps,
};
use icefloe_format::spec::{PrimitiveType, Transform, single_values};

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

const TIMES: [&str; 5] = ["bucket[16]", "year", "month", "day", "hour"];

fn transforms(criterion: &mut Criterion) {
    let of_numbers = ["bucket[16]", "bucket[100]", "truncate[10]"];
    bench(criterion, "int", &ints(COUNT), &of_numbers);
    bench(criterion, "long", &longs(COUNT), &of_numbers);
    bench(criterion, "decimal", &decimals(COUNT), &of_numbers);
    bench(criterion, "decimal of 128 bits", &wide_decimals(COUNT), &of_numbers);
    bench(criterion, "date", &dates(COUNT), &["bucket[16]", "year", "month", "day"]);
    bench(criterion, "time", &times(COUNT), &["bucket[16]"]);
    bench(criterion, "timestamp", &timestamps(COUNT), &TIMES);
    bench(criterion, "timestamptz", &zoned_timestamps(COUNT), &TIMES);
    bench(criterion, "timestamp_ns", &nano_timestamps(COUNT), &TIMES);
    let texts = ["bucket[16]", "truncate[5]", "truncate[20]"];
    bench(criterion, "string", &strings(COUNT), &texts);
    bench(criterion, "string of 16 bytes", &texts_of_16(COUNT), &texts);
    bench(criterion, "string beyond ASCII", &international_texts(COUNT), &texts);
    bench(criterion, "string in a dictionary", &repeated_texts(COUNT), &texts);
    bench(criterion, "binary", &binaries(COUNT), &texts);
    bench(criterion, "uuid", &fixed(16, COUNT), &["bucket[16]"]);
    bench(criterion, "fixed[5]", &fixed(5, COUNT), &["bucket[16]"]);
}

/// Measure copying of the same longs into 32-bit integers, the width of bucket numbers: the cost of memory traffic
/// alone.
fn copies(criterion: &mut Criterion) {
    let longs = longs(COUNT);
    let mut group = criterion.benchmark_group("long");
    group.throughput(Throughput::ElementsAndBytes {
        elements: COUNT as u64,
        bytes: longs.to_data().get_slice_memory_size().unwrap_or(0) as u64,
    });
    let values = longs.as_primitive::<Int64Type>().values();
    group.bench_function("copied to ints", |bencher| {
        bencher.iter(|| black_box(values).iter().map(|value| *value as i32).collect::<Vec<_>>());
    });
    group.finish();
}

/// Measure decoding of the bounds of a `long` column, half of which were written when its type was `int`.
fn single_values(criterion: &mut Criterion) {
    let bounds: Vec<Vec<u8>> = numbers(1, COUNT)
        .map(|bits| bits.to_le_bytes()[..if bits % 2 == 0 { 4 } else { 8 }].to_vec())
        .collect();
    let bounds: ArrayRef = Arc::new(BinaryArray::from_iter_values(bounds));
    let mut group = criterion.benchmark_group("single values");
    group.throughput(Throughput::Elements(COUNT as u64));
    for (name, kind) in [("long", PrimitiveType::Long), ("binary", PrimitiveType::Binary)] {
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                single_values::decode_array(&kind, black_box(&bounds)).expect("bounds of the type")
            });
        });
    }
    group.finish();
}

criterion_group!(benches, transforms, copies, single_values);
criterion_main!(benches);
