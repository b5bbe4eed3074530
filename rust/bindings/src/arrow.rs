//! Conversion of Arrow data from and to Python, by the Arrow PyCapsule interface.

use std::sync::{Mutex, PoisonError};

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchReader, make_array};
use arrow_pyarrow::{FromPyArrow, IntoPyArrow, Table, ToPyArrow};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, SchemaRef};
use icefloe_engine::Error;
use icefloe_format::Error as FormatError;
use icefloe_format::spec::check_texts;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::error::{raise, raise_format};
use crate::views::without_views;

/// A stream of batches. Reading a batch may block, so callers release the GIL.
pub(crate) type BatchReader = Box<dyn RecordBatchReader + Send>;

/// Sorted rows, which can be read once.
#[pyclass(frozen, module = "icefloe._core")]
pub(crate) struct SortedStream {
    reader: Mutex<Option<BatchReader>>,
}

impl SortedStream {
    pub(crate) fn new(reader: BatchReader) -> Self {
        Self { reader: Mutex::new(Some(reader)) }
    }

    /// Return the rows, for a consumer in the core.
    fn take(&self) -> PyResult<BatchReader> {
        let reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner).take();
        reader.ok_or_else(|| {
            let reason = "sorted rows can be read once; call sort_rows() again";
            raise_format(FormatError::invalid("data", reason))
        })
    }
}

#[pymethods]
impl SortedStream {
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        stream_capsule(py, self.take()?)
    }
}

/// An array argument: any object with `__arrow_c_array__`.
pub(crate) struct ArrayIn(pub(crate) ArrayRef);

impl<'py> FromPyObject<'_, 'py> for ArrayIn {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self(make_array(arrow_data_from(&value)?)))
    }
}

fn arrow_data_from(value: &Bound<'_, PyAny>) -> PyResult<arrow_data::ArrayData> {
    if value.hasattr(intern!(value.py(), "__arrow_c_array__"))? {
        return validated(&without_views(value)?);
    }
    // A `pyarrow.ChunkedArray` exports a stream; pyarrow concatenates its chunks into one array.
    if value.hasattr(intern!(value.py(), "combine_chunks"))? {
        let joined = value.call_method0(intern!(value.py(), "combine_chunks"))?;
        return validated(&without_views(&joined)?);
    }
    Err(not_arrow(value, "an Arrow array", "__arrow_c_array__"))
}

fn validated(value: &Bound<'_, PyAny>) -> PyResult<arrow_data::ArrayData> {
    let data = arrow_data::ArrayData::from_pyarrow_bound(value);
    data.map_err(|error| not_valid(value, &error))
}

/// Return the exception for an array or a batch. Their import validates all values, and raises exceptions of pyarrow.
fn not_valid(value: &Bound<'_, PyAny>, error: &PyErr) -> PyErr {
    raise_format(FormatError::invalid("data", error.value(value.py()).to_string()))
}

/// A batch argument: any object with `__arrow_c_array__` (a struct array) or, concatenated into one
/// batch, with `__arrow_c_stream__`.
pub(crate) struct BatchIn(pub(crate) RecordBatch);

impl<'py> FromPyObject<'_, 'py> for BatchIn {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if value.hasattr(intern!(value.py(), "__arrow_c_array__"))? {
            return Ok(Self(batch_from(&value)?));
        }
        let StreamIn(reader) = value.extract()?;
        let schema = reader.schema();
        let batches = value.py().detach(|| reader.collect::<Result<Vec<_>, _>>());
        let batches = batches.map_err(raise_arrow)?;
        arrow_select::concat::concat_batches(&schema, &batches).map(Self).map_err(raise_arrow)
    }
}

fn batch_from(value: &Bound<'_, PyAny>) -> PyResult<RecordBatch> {
    let batch = RecordBatch::from_pyarrow_bound(&without_views(value)?);
    batch.map_err(|error| not_valid(value, &error))
}

/// A stream of another library. Its import validates nothing, so the texts are checked batch by batch.
struct CheckedTexts<R>(R);

impl<R: RecordBatchReader> Iterator for CheckedTexts<R> {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.0.next()?;
        Some(batch.and_then(|batch| match check_texts(&batch) {
            Ok(()) => Ok(batch),
            Err(error) => Err(ArrowError::from_external_error(Box::new(Error::Format(error)))),
        }))
    }
}

impl<R: RecordBatchReader> RecordBatchReader for CheckedTexts<R> {
    fn schema(&self) -> SchemaRef {
        self.0.schema()
    }
}

/// A stream argument: any object with `__arrow_c_stream__`, or a single batch.
pub(crate) struct StreamIn(pub(crate) BatchReader);

impl<'py> FromPyObject<'_, 'py> for StreamIn {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        // Rows of the core keep the classes of their errors, which the C stream interface would turn into text.
        if let Ok(sorted) = value.cast::<SortedStream>() {
            return Ok(Self(sorted.get().take()?));
        }
        if value.hasattr(intern!(value.py(), "__arrow_c_stream__"))? {
            let plain = without_views(&value)?;
            let reader =
                arrow_array::ffi_stream::RecordBatchStreamReader::from_pyarrow_bound(&plain)?;
            return Ok(Self(Box::new(CheckedTexts(reader))));
        }
        if value.hasattr(intern!(value.py(), "__arrow_c_array__"))? {
            let batch = batch_from(&value)?;
            let schema = batch.schema();
            let one = arrow_array::RecordBatchIterator::new([Ok(batch)], schema);
            return Ok(Self(Box::new(one)));
        }
        Err(not_arrow(&value, "Arrow data", "__arrow_c_stream__ or __arrow_c_array__"))
    }
}

/// Return an array result: a `pyarrow.Array`.
pub(crate) fn array_out<'py>(py: Python<'py>, array: &ArrayRef) -> PyResult<Bound<'py, PyAny>> {
    array.to_data().to_pyarrow(py)
}

/// Return a batch result: a `pyarrow.RecordBatch`.
pub(crate) fn batch_out<'py>(py: Python<'py>, batch: &RecordBatch) -> PyResult<Bound<'py, PyAny>> {
    batch.to_pyarrow(py)
}

/// Return a table result: a `pyarrow.Table` whose chunks are the batches.
pub(crate) fn table_out<'py>(
    py: Python<'py>,
    batches: Vec<RecordBatch>,
    schema: SchemaRef,
) -> PyResult<Bound<'py, PyAny>> {
    Table::try_new(batches, schema).map_err(raise_arrow)?.into_pyarrow(py)
}

/// Return a schema result: a `pyarrow.Schema`.
pub(crate) fn schema_out<'py>(py: Python<'py>, schema: &SchemaRef) -> PyResult<Bound<'py, PyAny>> {
    schema.to_pyarrow(py)
}

/// Return a capsule named `arrow_array_stream` over an opened stream.
pub(crate) fn stream_capsule(
    py: Python<'_>,
    reader: BatchReader,
) -> PyResult<Bound<'_, PyCapsule>> {
    let reader = Box::new(PrintableErrors(reader));
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), c"arrow_array_stream")
}

/// A stream whose error texts have no NUL, which a damaged file or a location may contain: the export through the C
/// stream interface panics for such a text, and the panic ends the process.
struct PrintableErrors(BatchReader);

impl Iterator for PrintableErrors {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        Some(self.0.next()?.map_err(|error| match error.to_string().contains('\0') {
            true => {
                let text = match &error {
                    ArrowError::ExternalError(source) => source.to_string(),
                    other => other.to_string(),
                };
                ArrowError::ExternalError(text.replace('\0', "\\0").into())
            }
            false => error,
        }))
    }
}

impl RecordBatchReader for PrintableErrors {
    fn schema(&self) -> SchemaRef {
        self.0.schema()
    }
}

/// Return a capsule named `arrow_schema`.
pub(crate) fn schema_capsule<'py>(
    py: Python<'py>,
    schema: &SchemaRef,
) -> PyResult<Bound<'py, PyCapsule>> {
    let exported = FFI_ArrowSchema::try_from(schema.as_ref()).map_err(raise_arrow)?;
    PyCapsule::new_with_value(py, exported, c"arrow_schema")
}

/// Return the Python exception for an Arrow error.
pub(crate) fn raise_arrow(error: ArrowError) -> PyErr {
    if let ArrowError::ExternalError(source) = &error
        && let Some(own) = source.downcast_ref::<Error>()
    {
        return raise(own.clone());
    }
    raise_format(FormatError::invalid("Arrow data", error.to_string()))
}

fn not_arrow(value: &Bound<'_, PyAny>, wanted: &str, method: &str) -> PyErr {
    let found = value.get_type().fully_qualified_name().map(|name| name.to_string());
    let found = found.unwrap_or_else(|_| "an object".into());
    let reason = format!("expected {wanted} (an object with {method}), got {found}");
    raise_format(FormatError::invalid("data", reason))
}
