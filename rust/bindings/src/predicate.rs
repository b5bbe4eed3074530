//! Binding and checking filters.

use icefloe_format::predicate::validate;
use pyo3::prelude::*;

use crate::error::raise_format;

#[pyfunction]
fn validate_filter(py: Python<'_>, context: &str, filter: &str) -> PyResult<String> {
    py.detach(|| validate(context, filter)).map_err(raise_format)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(validate_filter, module)?)
}
