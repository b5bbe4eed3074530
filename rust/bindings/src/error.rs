//! Mapping of error variants to the classes of `icefloe.exceptions`.

use icefloe_engine::Error;
use icefloe_format::Error as FormatError;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyType;

const MODULE: &str = "icefloe.exceptions";

/// Return the Python exception for an error of the engine.
pub(crate) fn raise(error: impl Into<Error>) -> PyErr {
    let error = error.into();
    let class = class_of(&error);
    let message = error.to_string();
    Python::attach(|py| match exception_class(py, class) {
        Ok(class) => with_cause(py, PyErr::from_type(class, message), &error),
        Err(missing) => missing,
    })
}

/// Set an exception's `errno` and cause from an error of the operating system.
fn with_cause(py: Python<'_>, raised: PyErr, error: &Error) -> PyErr {
    let Error::System { location, code, .. } = error else { return raised };
    let described = py.import("os").and_then(|os| os.call_method1("strerror", (*code,)));
    let Ok(described) = described.and_then(|text| text.extract::<String>()) else { return raised };
    // Only `errno` is set: with `strerror` as well, Python shows both instead of the message.
    if let Err(failure) = raised.value(py).setattr("errno", *code) {
        return failure;
    }
    raised.set_cause(py, Some(PyOSError::new_err((*code, described, location.clone()))));
    raised
}

/// Return the Python exception for an error of the format.
pub(crate) fn raise_format(error: FormatError) -> PyErr {
    raise(Error::Format(error))
}

fn class_of(error: &Error) -> &'static str {
    match error {
        Error::Format(source) | Error::InFile { source, .. } => format_class(source),
        Error::Missing { .. } => "MissingFileError",
        Error::Exists { .. } => "FileAlreadyExistsError",
        Error::Storage { .. } | Error::System { .. } => "StorageError",
        Error::Internal { .. } => "IcebergError",
    }
}

fn format_class(error: &FormatError) -> &'static str {
    match error {
        FormatError::InvalidArgument { .. } => "ValidationError",
        FormatError::Corrupt { .. } => "CorruptFileError",
        FormatError::Unsupported { .. } => "FeatureUnsupportedError",
        FormatError::Mismatch { .. } => "SchemaMismatchError",
        FormatError::UnknownColumn { .. } => "ResolveError",
    }
}

fn exception_class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyType>> {
    Ok(py.import(MODULE)?.getattr(name)?.cast_into::<PyType>()?)
}
