//! Encoding of ORC files by `pyarrow.orc`. Threads attach to the interpreter to open a file, to write rows and to close.

use std::io::Write;
use std::sync::{Mutex, PoisonError};

use arrow_array::RecordBatch;
use icefloe_engine::write::{OrcEncoder, OrcSettings, OrcWriter, register_orc_encoder};
use icefloe_engine::{Error, Result};
use icefloe_format::Error as FormatError;
use pyo3::exceptions::{PyMemoryError, PyOSError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PySet};

use crate::arrow::batch_out;
use crate::views::pyarrow_major;

/// The first major version of pyarrow by which written files are read (see the decoder).
const SOUND_PYARROW: u32 = 25;
/// The dictionary threshold of Java's ORC writer: distinct values for each value of a column.
const DICTIONARY_THRESHOLD: f64 = 0.8;

struct PyArrowOrcEncoder;

impl OrcEncoder for PyArrowOrcEncoder {
    fn check(&self) -> Result<()> {
        let major = attached("pyarrow", pyarrow_major)?;
        if major >= SOUND_PYARROW {
            return Ok(());
        }
        let feature = format!(
            "writing ORC with pyarrow {major} (it cannot read the files back: pip install 'pyarrow>={SOUND_PYARROW}')"
        );
        Err(FormatError::unsupported(feature).into())
    }

    fn create(
        &self,
        sink: Box<dyn Write + Send>,
        location: &str,
        settings: &OrcSettings,
    ) -> Result<Box<dyn OrcWriter>> {
        let writer = attached(location, |py| {
            let sink = Bound::new(py, SinkFile { sink: Mutex::new(sink) })?;
            let file = py.import("pyarrow")?.getattr("PythonFile")?.call1((sink, "w"))?;
            let options = PyDict::new(py);
            options.set_item("compression", &settings.compression)?;
            options.set_item("compression_strategy", &settings.strategy)?;
            options.set_item("stripe_size", settings.stripe_bytes)?;
            options.set_item("batch_size", settings.batch_rows)?;
            options.set_item("dictionary_key_size_threshold", DICTIONARY_THRESHOLD)?;
            if !settings.bloom_columns.is_empty() {
                options
                    .set_item("bloom_filter_columns", PySet::new(py, &settings.bloom_columns)?)?;
                options.set_item("bloom_filter_fpp", settings.bloom_false_positives)?;
            }
            let writer = py.import("pyarrow.orc")?.getattr("ORCWriter")?;
            Ok(writer.call((file,), Some(&options))?.unbind())
        })?;
        Ok(Box::new(OrcFile { location: location.to_owned(), writer }))
    }
}

struct OrcFile {
    location: String,
    writer: Py<PyAny>,
}

impl OrcWriter for OrcFile {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        attached(&self.location, |py| {
            let batches = vec![batch_out(py, batch)?];
            let tables = py.import("pyarrow")?.getattr("Table")?;
            let table = tables.call_method1("from_batches", (batches,))?;
            self.writer.bind(py).call_method1("write", (table,)).map(drop)
        })
    }

    fn close(&mut self) -> Result<()> {
        attached(&self.location, |py| self.writer.bind(py).call_method0("close").map(drop))
    }
}

/// An output as a Python file object.
#[pyclass(frozen, module = "icefloe._core")]
struct SinkFile {
    sink: Mutex<Box<dyn Write + Send>>,
}

#[pymethods]
impl SinkFile {
    fn write(&self, py: Python<'_>, bytes: &[u8]) -> PyResult<usize> {
        let bytes = bytes.to_vec();
        let written = py.detach(|| {
            let mut sink = self.sink.lock().unwrap_or_else(PoisonError::into_inner);
            sink.write_all(&bytes).map(|()| bytes.len())
        });
        written.map_err(|error| PyOSError::new_err(error.to_string()))
    }

    #[getter]
    fn closed(&self) -> bool {
        false
    }

    fn writable(&self) -> bool {
        true
    }

    fn close(&self) {}

    fn flush(&self) {}
}

/// Run Python code, and return its exception as an error of the file.
fn attached<T>(location: &str, work: impl FnOnce(Python<'_>) -> PyResult<T>) -> Result<T> {
    let outcome = Python::try_attach(|py| work(py).map_err(|error| failure(py, location, &error)));
    outcome.unwrap_or_else(|| Err(Error::internal("write an ORC file", "Python is shutting down")))
}

fn failure(py: Python<'_>, location: &str, error: &PyErr) -> Error {
    let reason = error.value(py).to_string();
    let class = error.get_type(py).qualname().map(|name| name.to_string()).unwrap_or_default();
    if class == "ArrowNotImplementedError" {
        return Error::unsupported_in(location, format!("pyarrow.orc: {reason}"));
    }
    if error.is_instance_of::<PyMemoryError>(py) || !error.is_instance_of::<PyOSError>(py) {
        return Error::internal(format!("write {location}"), format!("{class}: {reason}"));
    }
    Error::Storage { location: location.to_owned(), reason }
}

pub(crate) fn register() {
    register_orc_encoder(Box::new(PyArrowOrcEncoder));
}
