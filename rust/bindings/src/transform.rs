//! Partition transforms and single-value serialization.

use icefloe_format::Result;
use icefloe_format::spec::single_values::decode_array;
use icefloe_format::spec::{
    PartitionSpec, PrimitiveType, Schema, Transform, partition_from_json, single_value,
};
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::arrow::{ArrayIn, array_out};
use crate::error::raise_format;

/// An integer argument. Integers above 64 bits become `i64::MAX`, so that they raise the error of too large an
/// argument.
struct WholeNumber(i64);

impl FromPyObject<'_, '_> for WholeNumber {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        match value.extract::<i64>() {
            Err(error) if error.is_instance_of::<PyOverflowError>(value.py()) => Ok(Self(i64::MAX)),
            extracted => extracted.map(Self),
        }
    }
}

fn apply<'py>(
    py: Python<'py>,
    array: &ArrayIn,
    transform: Result<Transform>,
) -> PyResult<Bound<'py, PyAny>> {
    let results = py.detach(|| transform?.apply_untyped(&array.0)).map_err(raise_format)?;
    array_out(py, &results)
}

#[pyfunction]
fn bucket<'py>(
    py: Python<'py>,
    array: ArrayIn,
    num_buckets: WholeNumber,
) -> PyResult<Bound<'py, PyAny>> {
    apply(py, &array, Transform::bucket(num_buckets.0))
}

#[pyfunction]
fn truncate<'py>(
    py: Python<'py>,
    array: ArrayIn,
    width: WholeNumber,
) -> PyResult<Bound<'py, PyAny>> {
    apply(py, &array, Transform::truncate(width.0))
}

#[pyfunction]
fn years<'py>(py: Python<'py>, array: ArrayIn) -> PyResult<Bound<'py, PyAny>> {
    apply(py, &array, Ok(Transform::Year))
}

#[pyfunction]
fn months<'py>(py: Python<'py>, array: ArrayIn) -> PyResult<Bound<'py, PyAny>> {
    apply(py, &array, Ok(Transform::Month))
}

#[pyfunction]
fn days<'py>(py: Python<'py>, array: ArrayIn) -> PyResult<Bound<'py, PyAny>> {
    apply(py, &array, Ok(Transform::Day))
}

#[pyfunction]
fn hours<'py>(py: Python<'py>, array: ArrayIn) -> PyResult<Bound<'py, PyAny>> {
    apply(py, &array, Ok(Transform::Hour))
}

#[pyfunction]
fn transform<'py>(
    py: Python<'py>,
    array: ArrayIn,
    transform: &str,
    source_type: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let results = py.detach(|| {
        let source: PrimitiveType = source_type.parse()?;
        transform.parse::<Transform>()?.apply_array(&array.0, &source)
    });
    array_out(py, &results.map_err(raise_format)?)
}

#[pyfunction]
fn single_value_to_bytes<'py>(
    py: Python<'py>,
    r#type: &str,
    json: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = py.detach(|| single_value::json_to_bytes(&r#type.parse()?, json));
    Ok(PyBytes::new(py, &bytes.map_err(raise_format)?))
}

#[pyfunction]
fn single_value_from_bytes(py: Python<'_>, r#type: &str, data: &[u8]) -> PyResult<String> {
    py.detach(|| single_value::bytes_to_json(&r#type.parse()?, data)).map_err(raise_format)
}

#[pyfunction]
fn partition_path(py: Python<'_>, spec: &str, schema: &str, partition: &str) -> PyResult<String> {
    let path = py.detach(|| {
        let (spec, schema) = (PartitionSpec::from_json(spec)?, Schema::from_json(schema)?);
        let partition = partition_from_json(&spec.partition_type(&schema), partition)?;
        Ok(icefloe_format::spec::partition_path(&spec, &schema, &partition))
    });
    path.map_err(raise_format)
}

#[pyfunction]
fn single_values<'py>(
    py: Python<'py>,
    array: ArrayIn,
    r#type: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let values = py.detach(|| decode_array(&r#type.parse()?, &array.0));
    array_out(py, &values.map_err(raise_format)?)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(bucket, module)?)?;
    module.add_function(wrap_pyfunction!(truncate, module)?)?;
    module.add_function(wrap_pyfunction!(years, module)?)?;
    module.add_function(wrap_pyfunction!(months, module)?)?;
    module.add_function(wrap_pyfunction!(days, module)?)?;
    module.add_function(wrap_pyfunction!(hours, module)?)?;
    module.add_function(wrap_pyfunction!(transform, module)?)?;
    module.add_function(wrap_pyfunction!(single_value_to_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(single_value_from_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(single_values, module)?)?;
    module.add_function(wrap_pyfunction!(partition_path, module)?)
}
