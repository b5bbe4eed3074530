//! Loops over arrays of numbers, in blocks and with SIMD instructions.

use std::sync::Arc;

use arrow_array::types::ArrowPrimitiveType;
use arrow_array::{Array, ArrayRef, Int32Array, PrimitiveArray};
use arrow_buffer::{ArrowNativeType, NullBuffer};
use fearless_simd::{Level, dispatch};

/// Slots per pass, so that intermediate results stay in the first-level cache.
const BLOCK: usize = 2_048;

/// Apply a rule to every slot, including null slots: rules are total, and a loop without branches compiles to the
/// widest SIMD instructions of the machine.
pub(super) fn map<S: Copy, R: ArrowNativeType>(
    values: &[S],
    rule: impl Fn(S) -> R + Copy,
) -> Vec<R> {
    in_blocks(values, |level, block, results| dispatch!(level, _simd => fill(block, results, rule)))
}

/// Apply `first` and then `second` to every slot, in separate loops, as only one of them compiles to SIMD instructions.
pub(super) fn map_twice<S: Copy, M: ArrowNativeType, R: ArrowNativeType>(
    values: &[S],
    first: impl Fn(S) -> M + Copy,
    second: impl Fn(M) -> R + Copy,
) -> Vec<R> {
    let mut between = [M::default(); BLOCK];
    in_blocks(values, |level, block, results| {
        let between = between.get_mut(..block.len()).unwrap_or_default();
        dispatch!(level, _simd => fill(block, between, first));
        dispatch!(level, _simd => fill(between, results, second));
    })
}

/// Apply `rule` to blocks whose slots all satisfy `fit`, and `any` to all other blocks.
pub(super) fn map_where<S: Copy, R: ArrowNativeType>(
    values: &[S],
    fit: impl Fn(S) -> bool + Copy,
    rule: impl Fn(S) -> R + Copy,
    any: impl Fn(S) -> R + Copy,
) -> Vec<R> {
    in_blocks(values, |level, block, results| {
        if dispatch!(level, _simd => all(block, fit)) {
            dispatch!(level, _simd => fill(block, results, rule));
        } else {
            dispatch!(level, _simd => fill(block, results, any));
        }
    })
}

/// Apply `narrow` to blocks whose numbers all fit in 64 bits, and `wide` to all other blocks.
pub(super) fn map_narrowed<R: ArrowNativeType>(
    values: &[i128],
    narrow: impl Fn(i64) -> R + Copy,
    wide: impl Fn(i128) -> R + Copy,
) -> Vec<R> {
    let mut between = [0; BLOCK];
    in_blocks(values, |level, block, results| {
        let between = between.get_mut(..block.len()).unwrap_or_default();
        // The next pass checks that no number lost bits.
        dispatch!(level, _simd => fill(block, between, |value| value as i64));
        if dispatch!(level, _simd => are_narrow(block)) {
            dispatch!(level, _simd => fill(between, results, narrow));
        } else {
            dispatch!(level, _simd => fill(block, results, wide));
        }
    })
}

fn in_blocks<S, R: ArrowNativeType>(
    values: &[S],
    mut work: impl FnMut(Level, &[S], &mut [R]),
) -> Vec<R> {
    let mut results = Vec::with_capacity(values.len());
    let level = Level::new();
    for block in values.chunks(BLOCK) {
        let start = results.len();
        results.resize(start + block.len(), R::default());
        work(level, block, results.get_mut(start..).unwrap_or_default());
    }
    results
}

/// Apply `rule` to every slot. The rule is passed by value: a reference would reload its constants for every slot.
#[inline(always)]
fn fill<S: Copy, R>(values: &[S], results: &mut [R], rule: impl Fn(S) -> R) {
    for (result, value) in results.iter_mut().zip(values) {
        *result = rule(*value);
    }
}

/// Return whether all slots fit. Every slot is tested: without a branch the loop compiles to SIMD instructions.
#[inline(always)]
fn all<S: Copy>(values: &[S], fit: impl Fn(S) -> bool) -> bool {
    values.iter().fold(true, |so_far, value| so_far & fit(*value))
}

/// Return whether the upper half of every number is the sign extension of the lower half.
#[inline(always)]
fn are_narrow(values: &[i128]) -> bool {
    let differ = |value: i128| (value >> 64) as i64 ^ ((value as i64) >> 63);
    values.iter().fold(0, |so_far, value| so_far | differ(*value)) == 0
}

pub(super) fn ints(results: Vec<i32>, nulls: Option<&NullBuffer>) -> ArrayRef {
    Arc::new(Int32Array::new(results.into(), nulls.cloned()))
}

/// Return an array of results that have the type of the source.
pub(super) fn same_type<T: ArrowPrimitiveType>(
    array: &PrimitiveArray<T>,
    results: Vec<T::Native>,
) -> ArrayRef {
    let nulls = array.nulls().cloned();
    Arc::new(
        PrimitiveArray::<T>::new(results.into(), nulls).with_data_type(array.data_type().clone()),
    )
}
