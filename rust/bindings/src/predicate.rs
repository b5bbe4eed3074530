//! Binding, projection and evaluation of filters.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray};
use icefloe_format::predicate::{SchemaFilter, validate};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;

use crate::arrow::{BatchIn, array_out};
use crate::error::raise_format;

fn mask_out(py: Python<'_>, mask: BooleanArray) -> PyResult<Bound<'_, PyAny>> {
    let mask: ArrayRef = Arc::new(mask);
    array_out(py, &mask)
}

#[pyfunction]
fn validate_filter(py: Python<'_>, context: &str, filter: &str) -> PyResult<String> {
    py.detach(|| validate(context, filter)).map_err(raise_format)
}

#[pyfunction]
#[pyo3(signature = (schema, spec, filter, *, strict, case_sensitive = true))]
fn project_filter(
    py: Python<'_>,
    schema: &str,
    spec: &str,
    filter: &str,
    strict: bool,
    case_sensitive: bool,
) -> PyResult<String> {
    py.detach(|| SchemaFilter::new(schema, filter, case_sensitive)?.project(spec, strict))
        .map_err(raise_format)
}

#[pyfunction]
#[pyo3(signature = (schema, spec, filter, partition, *, case_sensitive = true))]
fn residual_filter(
    py: Python<'_>,
    schema: &str,
    spec: &str,
    filter: &str,
    partition: &str,
    case_sensitive: bool,
) -> PyResult<String> {
    py.detach(|| SchemaFilter::new(schema, filter, case_sensitive)?.residual(spec, partition))
        .map_err(raise_format)
}

#[pyfunction]
#[pyo3(signature = (schema, spec, filter, partitions, *, case_sensitive = true))]
#[expect(clippy::needless_pass_by_value, reason = "extracted from Python")]
fn covered_partitions<'py>(
    py: Python<'py>,
    schema: &str,
    spec: &str,
    filter: &str,
    partitions: Vec<PyBackedStr>,
    case_sensitive: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let partitions = partitions.iter().map(|partition| &**partition);
    let covers = || SchemaFilter::new(schema, filter, case_sensitive)?.covers(spec, partitions);
    let mask = py.detach(covers).map_err(raise_format)?;
    mask_out(py, mask)
}

#[pyfunction]
#[pyo3(signature = (schema, filter, rows, *, case_sensitive = true))]
fn filter_rows<'py>(
    py: Python<'py>,
    schema: &str,
    filter: &str,
    rows: BatchIn,
    case_sensitive: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let mask = py
        .detach(|| SchemaFilter::new(schema, filter, case_sensitive)?.rows(&rows.0))
        .map_err(raise_format)?;
    mask_out(py, mask)
}

type TwoMasks<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>);

#[pyfunction]
#[pyo3(signature = (schema, filter, files, *, case_sensitive = true))]
fn prune_files<'py>(
    py: Python<'py>,
    schema: &str,
    filter: &str,
    files: BatchIn,
    case_sensitive: bool,
) -> PyResult<TwoMasks<'py>> {
    let (might, must) = py
        .detach(|| SchemaFilter::new(schema, filter, case_sensitive)?.files(&files.0))
        .map_err(raise_format)?;
    Ok((mask_out(py, might)?, mask_out(py, must)?))
}

#[pyfunction]
#[pyo3(signature = (schema, spec, filter, manifests, *, case_sensitive = true))]
fn prune_manifests<'py>(
    py: Python<'py>,
    schema: &str,
    spec: &str,
    filter: &str,
    manifests: BatchIn,
    case_sensitive: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let mask = py
        .detach(|| SchemaFilter::new(schema, filter, case_sensitive)?.manifests(spec, &manifests.0))
        .map_err(raise_format)?;
    mask_out(py, mask)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(validate_filter, module)?)?;
    module.add_function(wrap_pyfunction!(project_filter, module)?)?;
    module.add_function(wrap_pyfunction!(residual_filter, module)?)?;
    module.add_function(wrap_pyfunction!(covered_partitions, module)?)?;
    module.add_function(wrap_pyfunction!(filter_rows, module)?)?;
    module.add_function(wrap_pyfunction!(prune_files, module)?)?;
    module.add_function(wrap_pyfunction!(prune_manifests, module)?)
}
