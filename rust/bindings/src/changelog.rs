//! Changes of rows.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray};
use icefloe_format::Error as FormatError;
use icefloe_format::changelog;
use pyo3::prelude::*;

use crate::arrow::{ArrayIn, BatchIn, array_out};
use crate::error::raise_format;

/// Which changes are left once those that undo each other are taken out.
#[pyfunction]
fn net_changes<'py>(
    py: Python<'py>,
    rows: BatchIn,
    deleted: ArrayIn,
) -> PyResult<Bound<'py, PyAny>> {
    let deleted = bits(&deleted)?;
    let kept = py.detach(|| changelog::net_changes(rows.0.columns(), &deleted));
    mask_out(py, kept.map_err(raise_format)?)
}

/// Which changes are halves of an update.
#[pyfunction]
fn row_updates<'py>(
    py: Python<'py>,
    keys: BatchIn,
    deleted: ArrayIn,
) -> PyResult<Bound<'py, PyAny>> {
    let deleted = bits(&deleted)?;
    let halves = py.detach(|| changelog::updates(keys.0.columns(), &deleted));
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
    module.add_function(wrap_pyfunction!(net_changes, module)?)?;
    module.add_function(wrap_pyfunction!(row_updates, module)?)
}
