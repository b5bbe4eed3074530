//! Every error variant, mapped to its class in `icefloe.exceptions`.

use icefloe_engine::Error;
use icefloe_format::Error as FormatError;
use pyo3::prelude::*;
use pyo3::types::PyType;

const MODULE: &str = "icefloe.exceptions";

/// The Python exception for a failure of the engine.
pub(crate) fn raise(error: impl Into<Error>) -> PyErr {
    let error = error.into();
    let class = class_of(&error);
    let message = error.to_string();
    Python::attach(|py| match exception_class(py, class) {
        Ok(class) => PyErr::from_type(class, message),
        Err(missing) => missing,
    })
}

/// The Python exception for a failure of the format.
pub(crate) fn raise_format(error: FormatError) -> PyErr {
    raise(Error::Format(error))
}

fn class_of(error: &Error) -> &'static str {
    match error {
        Error::Format(source) | Error::InFile { source, .. } => format_class(source),
        Error::Missing { .. } => "MissingFileError",
        Error::Exists { .. } => "FileAlreadyExistsError",
        Error::Storage { .. } => "StorageError",
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
