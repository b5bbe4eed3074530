//! Metadata tables: rows about files, manifests and partitions.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use icefloe_engine::manifests::Keep;
use icefloe_engine::metadata_tables::{self, FileFilter, FileTable, FileTableReader};
use icefloe_engine::runtime::block_on;
use icefloe_engine::table::TableContext;
use icefloe_format::Error as FormatError;
use icefloe_format::spec::Schema;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::arrow::{BatchIn, batch_out, schema_capsule, schema_out, stream_capsule};
use crate::error::{raise, raise_format};
use crate::io::PyFileIo;

/// Return one of the metadata tables about files, to be read as a stream.
#[pyfunction]
#[pyo3(signature = (io, context, manifests, *, table, columns, filter, row_filter, keep))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of the Python function")]
fn file_table(
    py: Python<'_>,
    io: PyFileIo,
    context: &str,
    manifests: BatchIn,
    table: &str,
    columns: &str,
    filter: &str,
    row_filter: &str,
    keep: &str,
) -> PyResult<FileTableStream> {
    let keep = keep_of(keep)?;
    let made = py.detach(|| {
        let context = Arc::new(TableContext::from_json(context)?);
        let filter = FileFilter::new(&Schema::from_json(table)?, filter, row_filter, &context)?;
        let wanted = Schema::from_json(columns)?;
        FileTable::new(io.inner, context, &manifests.0, wanted, (filter, keep))
    });
    Ok(FileTableStream { table: made.map_err(raise)?, origin: None })
}

fn keep_of(keep: &str) -> PyResult<Keep> {
    match keep {
        "all" => Ok(Keep::All),
        "live" => Ok(Keep::Live),
        other => {
            let reason = format!("{other:?} is neither \"all\" nor \"live\"");
            Err(raise_format(FormatError::invalid("keep", reason)))
        }
    }
}

/// Return the rows of `manifests` or `all_manifests`.
#[pyfunction]
#[pyo3(signature = (context, manifests, *, columns))]
fn manifest_table<'py>(
    py: Python<'py>,
    context: &str,
    manifests: BatchIn,
    columns: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let rows = py.detach(|| {
        let (context, wanted) = (TableContext::from_json(context)?, Schema::from_json(columns)?);
        metadata_tables::manifest_table(&manifests.0, &context, &wanted)
    });
    batch_out(py, &rows.map_err(raise)?)
}

/// Read manifest lists, several at once.
#[pyfunction]
fn read_manifest_lists<'py>(
    py: Python<'py>,
    io: PyFileIo,
    locations: Vec<String>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let lists = py.detach(|| block_on(metadata_tables::read_manifest_lists(&io.inner, &locations)));
    lists.map_err(raise)?.iter().map(|list| batch_out(py, list)).collect()
}

/// Return the rows of `partitions` or, with deleted entries, of partition statistics.
#[pyfunction]
#[pyo3(signature = (io, context, manifests, *, columns, committed_at, row_filter, keep))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of the Python function")]
fn partition_table<'py>(
    py: Python<'py>,
    io: PyFileIo,
    context: &str,
    manifests: BatchIn,
    columns: &str,
    committed_at: HashMap<i64, i64>,
    row_filter: &str,
    keep: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let keep = keep_of(keep)?;
    let rows = py.detach(|| {
        let context = Arc::new(TableContext::from_json(context)?);
        let wanted = Schema::from_json(columns)?;
        let filter = FileFilter::new(&wanted, "true", row_filter, &context)?;
        let (columns, entries) = ((&wanted, committed_at), (filter, keep));
        block_on(metadata_tables::partition_table(
            io.inner,
            context,
            &manifests.0,
            columns,
            entries,
        ))
    });
    batch_out(py, &rows.map_err(raise)?)
}

/// A metadata table that every consumer reads from the start.
#[pyclass(frozen, module = "icefloe._core")]
struct FileTableStream {
    table: FileTable,
    /// The name of the table in errors of exported streams.
    origin: Option<String>,
}

#[pymethods]
impl FileTableStream {
    #[getter]
    fn schema<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        schema_out(py, &self.table.schema())
    }

    fn named(&self, origin: String) -> Self {
        Self { table: self.table.clone(), origin: Some(origin) }
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The Arrow PyCapsule interface allows producers to ignore the requested schema.
        drop(requested_schema);
        let reader = self.table.open();
        stream_capsule(py, Box::new(Batches { reader, origin: self.origin.clone() }))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.table.schema())
    }

    fn __iter__(&self) -> FileTableIterator {
        FileTableIterator { reader: Mutex::new(self.table.open()) }
    }
}

/// An iterator over the batches of a metadata table.
#[pyclass(frozen, module = "icefloe._core")]
struct FileTableIterator {
    reader: Mutex<FileTableReader>,
}

#[pymethods]
impl FileTableIterator {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let next = py.detach(|| {
            let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
            reader.next_batch_checking(|| Python::attach(|py| py.check_signals()))
        });
        next?.map_err(raise)?.map(|batch| batch_out(py, &batch)).transpose()
    }
}

/// A metadata table that another library reads through Arrow's C stream interface.
struct Batches {
    reader: FileTableReader,
    origin: Option<String>,
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.reader.next_batch().map_err(|error| {
            let text = match &self.origin {
                Some(origin) => format!("{error} (reading {origin})"),
                None => error.to_string(),
            };
            ArrowError::ExternalError(text.into())
        });
        next.transpose()
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        self.reader.schema()
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<FileTableStream>()?;
    module.add_class::<FileTableIterator>()?;
    module.add_function(wrap_pyfunction!(file_table, module)?)?;
    module.add_function(wrap_pyfunction!(manifest_table, module)?)?;
    module.add_function(wrap_pyfunction!(read_manifest_lists, module)?)?;
    module.add_function(wrap_pyfunction!(partition_table, module)?)
}
