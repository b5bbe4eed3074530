//! Casts of view arrays from versions of pyarrow that export them incorrectly.
//!
//! Before version 25, pyarrow exports `string_view` and `binary_view` arrays to the C data interface with buffer
//! lengths in freed memory. Arrays, batches, tables and readers of these versions are cast to `large_string` and
//! `large_binary` before export.

use std::sync::Arc;

use arrow_pyarrow::{FromPyArrow, ToPyArrow};
use arrow_schema::{DataType, Field, FieldRef, Schema};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// The first major version of pyarrow that exports view arrays correctly.
const EXPORTS_VIEWS: u32 = 25;

static VERSION: PyOnceLock<u32> = PyOnceLock::new();

/// Return the major version of the installed pyarrow, or `u32::MAX` if its version cannot be parsed.
pub(crate) fn pyarrow_major(py: Python<'_>) -> PyResult<u32> {
    let found = VERSION.get_or_try_init(py, || {
        let version: String = py.import("pyarrow")?.getattr("__version__")?.extract()?;
        let major = version.split('.').next().and_then(|major| major.parse().ok());
        PyResult::Ok(major.unwrap_or(u32::MAX))
    })?;
    Ok(*found)
}

/// Return `value`, or a copy with `large_string` and `large_binary` if it has view types that pyarrow cannot export.
pub(crate) fn without_views<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = value.py();
    let module: String = value.get_type().getattr(intern!(py, "__module__"))?.extract()?;
    if !module.starts_with("pyarrow") || pyarrow_major(py)? >= EXPORTS_VIEWS {
        return Ok(value.clone());
    }
    if let Ok(schema) = value.getattr(intern!(py, "schema")) {
        let schema = Schema::from_pyarrow_bound(&schema)?;
        let fields: Vec<FieldRef> = schema.fields().iter().map(plain_field).collect();
        let plain = Schema::new_with_metadata(fields, schema.metadata().clone());
        return match plain == schema {
            true => Ok(value.clone()),
            false => value.call_method1(intern!(py, "cast"), (plain.to_pyarrow(py)?,)),
        };
    }
    let held = DataType::from_pyarrow_bound(&value.getattr(intern!(py, "type"))?)?;
    let plain = plain_type(&held);
    match plain == held {
        true => Ok(value.clone()),
        false => value.call_method1(intern!(py, "cast"), (plain.to_pyarrow(py)?,)),
    }
}

fn plain_field(field: &FieldRef) -> FieldRef {
    let plain = plain_type(field.data_type());
    match plain == *field.data_type() {
        true => Arc::clone(field),
        false => Arc::new(Field::clone(field).with_data_type(plain)),
    }
}

fn plain_type(held: &DataType) -> DataType {
    match held {
        DataType::Utf8View => DataType::LargeUtf8,
        DataType::BinaryView => DataType::LargeBinary,
        DataType::List(item) => DataType::List(plain_field(item)),
        DataType::LargeList(item) => DataType::LargeList(plain_field(item)),
        DataType::FixedSizeList(item, size) => DataType::FixedSizeList(plain_field(item), *size),
        DataType::Map(entries, sorted) => DataType::Map(plain_field(entries), *sorted),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(plain_field).collect()),
        other => other.clone(),
    }
}
