//! Keys of space-filling curves over two columns, in rows per second.

#![allow(clippy::expect_used, reason = "a bench that cannot run has nothing to report")]

use std::hint::black_box;

use arrow_array::ArrayRef;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use icefloe_benches::{dates, longs, strings};
use icefloe_format::curve::{Curve, CurveKeys};

const COUNT: usize = 1 << 20;
const SAMPLE: usize = 1 << 15;

fn keys_of(criterion: &mut Criterion, source: &str, columns: &[ArrayRef; 2]) {
    let mut group = criterion.benchmark_group(format!("curve of {source}"));
    group.throughput(Throughput::Elements(COUNT as u64));
    for (name, curve) in [("zorder", Curve::ZOrder), ("hilbert", Curve::Hilbert)] {
        let samples: Vec<_> = columns.iter().map(|column| column.slice(0, SAMPLE)).collect();
        let keys = CurveKeys::new(curve, &samples).expect("samples of primitive types");
        group.bench_function(name, |bencher| {
            bencher.iter(|| keys.keys(black_box(columns)).expect("columns of the samples' types"));
        });
    }
}

fn curves(criterion: &mut Criterion) {
    keys_of(criterion, "dates and longs", &[dates(COUNT), longs(COUNT)]);
    keys_of(criterion, "strings and longs", &[strings(COUNT), longs(COUNT)]);
}

criterion_group!(benches, curves);
criterion_main!(benches);
