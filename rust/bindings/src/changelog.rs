//! Changes of rows.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray};
use icefloe_engine::plan;
use icefloe_format::Error as FormatError;
use icefloe_format::changelog;
use pyo3::prelude::*;

use crate::arrow::{ArrayIn, BatchIn, StreamIn, array_out, batch_out};
use crate::error::{raise, raise_format};

type ThreeBatches<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);

/// What one state of a table has that another has not.
#[pyfunction]
fn plan_changes<'py>(
    py: Python<'py>,
    before_files: BatchIn,
    before_deletes: BatchIn,
    after_files: BatchIn,
    after_deletes: BatchIn,
) -> PyResult<ThreeBatches<'py>> {
    let before = (&before_files.0, &before_deletes.0);
    let changes = py.detach(|| plan::changes(before, (&after_files.0, &after_deletes.0)));
    let changes = changes.map_err(raise)?;
    let batches = [&changes.inserted, &changes.deleted, &changes.deletes];
    let [inserted, deleted, deletes] = batches.map(|batch| batch_out(py, batch));
    Ok((inserted?, deleted?, deletes?))
}

/// What is left of changes once those that undo each other are taken out.
#[pyfunction]
fn net_changes<'py>(
    py: Python<'py>,
    rows: StreamIn,
    deleted: ArrayIn,
) -> PyResult<Bound<'py, PyAny>> {
    let deleted = bits(&deleted)?;
    let told = py.detach(|| changelog::net_changes(rows.0, &deleted));
    let told: ArrayRef = Arc::new(told.map_err(raise_format)?);
    array_out(py, &told)
}

/// Which changes are halves of an update.
#[pyfunction]
fn row_updates<'py>(
    py: Python<'py>,
    keys: StreamIn,
    deleted: ArrayIn,
) -> PyResult<Bound<'py, PyAny>> {
    let deleted = bits(&deleted)?;
    let halves = py.detach(|| changelog::updates(keys.0, &deleted));
    mask_out(py, halves.map_err(raise_format)?)
}

fn bits(array: &ArrayIn) -> PyResult<BooleanArray> {
    let bits = array.0.as_any().downcast_ref::<BooleanArray>();
    let bits = bits.filter(|bits| bits.null_count() == 0).cloned();
    let wrong = || FormatError::invalid("deleted", "expected booleans without nulls");
    bits.ok_or_else(wrong).map_err(raise_format)
}

fn mask_out(py: Python<'_>, mask: BooleanArray) -> PyResult<Bound<'_, PyAny>> {
    let mask: ArrayRef = Arc::new(mask);
    array_out(py, &mask)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(plan_changes, module)?)?;
    module.add_function(wrap_pyfunction!(net_changes, module)?)?;
    module.add_function(wrap_pyfunction!(row_updates, module)?)
}
