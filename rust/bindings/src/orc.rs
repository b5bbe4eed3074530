//! Decoding of ORC files by `pyarrow.orc`. Threads attach to the interpreter to open a file and to read a stripe.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::RecordBatch;
use arrow_pyarrow::FromPyArrow;
use arrow_schema::{Schema, SchemaRef};
use bytes::Bytes;
use icefloe_engine::formats::{OrcDecoder, OrcReader, register_orc_decoder};
use icefloe_engine::runtime::block_on;
use icefloe_engine::store::FileIo;
use icefloe_engine::{Error, Result};
use pyo3::exceptions::{PyMemoryError, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::error::raise;
use crate::views::pyarrow_major;

const WHAT: &str = "the ORC file";
/// The first major version of pyarrow that reports damaged ORC files and timestamps outside the range of nanoseconds as
/// errors. Earlier versions crash on damaged files and return wrong timestamps.
const SOUND_PYARROW: u32 = 25;
/// Minimum bytes of a request: the first request reads the end of the file with the footer, later requests read parts
/// of stripes.
const READ_BYTES: u64 = 1 << 20;

struct PyArrowOrc;

impl OrcDecoder for PyArrowOrc {
    fn open(&self, io: &FileIo, location: &str) -> Result<Box<dyn OrcReader>> {
        check_version(location)?;
        let local = io.local_path(location)?;
        let remote = match &local {
            Some(_) => None,
            None => Some(RangedFile::open(io, location)?),
        };
        attached(location, |py| {
            let source = match (local, remote) {
                (Some(path), _) => path.into_pyobject(py)?.str()?.into_any(),
                (None, remote) => {
                    let file =
                        Bound::new(py, remote.ok_or_else(|| PyValueError::new_err("file"))?)?;
                    py.import("pyarrow")?.getattr("PythonFile")?.call1((file, "r"))?
                }
            };
            let file = py.import("pyarrow.orc")?.getattr("ORCFile")?.call1((source,))?;
            let schema = file.getattr("schema")?;
            check_names(&schema, schema.len()?)?;
            let schema = Schema::from_pyarrow_bound(&schema)?;
            Ok(Box::new(OrcFile {
                location: location.to_owned(),
                schema: Arc::new(schema),
                rows: file.getattr("nrows")?.extract()?,
                stripes: file.getattr("nstripes")?.extract()?,
                file: file.unbind(),
            }) as Box<dyn OrcReader>)
        })
    }
}

/// An open ORC file, read by one thread at a time.
struct OrcFile {
    location: String,
    schema: SchemaRef,
    rows: u64,
    stripes: usize,
    file: Py<PyAny>,
}

impl OrcReader for OrcFile {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn rows(&self) -> u64 {
        self.rows
    }

    fn stripes(&self) -> usize {
        self.stripes
    }

    fn stripe(&self, stripe: usize, columns: &[usize]) -> Result<RecordBatch> {
        let fields = self.schema.fields();
        // pyarrow parses a dot in a column name as a path into a struct, so files with such names are read whole and
        // projected here.
        let dotted = fields.iter().any(|field| field.name().contains(['.', '`']));
        let names = columns.iter().filter_map(|column| fields.get(*column));
        attached(&self.location, |py| {
            let names = PyList::new(py, names.map(|field| field.name()))?;
            let file = self.file.bind(py);
            let batch = match dotted {
                true => file.call_method1("read_stripe", (stripe,))?,
                false => file.call_method1("read_stripe", (stripe, names))?,
            };
            let batch = RecordBatch::from_pyarrow_bound(&batch)?;
            if !dotted {
                return Ok(batch);
            }
            batch.project(columns).map_err(|error| PyValueError::new_err(error.to_string()))
        })
    }
}

fn check_version(location: &str) -> Result<()> {
    let major = attached(location, pyarrow_major)?;
    if major >= SOUND_PYARROW {
        return Ok(());
    }
    let feature = format!(
        "reading ORC with pyarrow {major} (damaged files end its process: pip install 'pyarrow>={SOUND_PYARROW}')"
    );
    Err(Error::unsupported_in(location, feature))
}

/// Check that all field names of a schema or type are UTF-8, because importing other names into Rust panics.
fn check_names(fields: &Bound<'_, PyAny>, count: usize) -> PyResult<()> {
    for index in 0..count {
        let field = fields.call_method1("field", (index,))?;
        field.getattr("name")?;
        let data_type = field.getattr("type")?;
        check_names(&data_type, data_type.getattr("num_fields")?.extract()?)?;
    }
    Ok(())
}

/// Run Python code, and return its exception as an error of the file.
fn attached<T>(location: &str, work: impl FnOnce(Python<'_>) -> PyResult<T>) -> Result<T> {
    let outcome = Python::try_attach(|py| work(py).map_err(|error| failure(py, location, &error)));
    outcome.unwrap_or_else(|| Err(Error::internal("read an ORC file", "Python is shutting down")))
}

fn failure(py: Python<'_>, location: &str, error: &PyErr) -> Error {
    let reason = error.value(py).to_string();
    let class = error.get_type(py).qualname().map(|name| name.to_string());
    let class = class.unwrap_or_default();
    if class == "StorageError" {
        return Error::Storage { location: location.to_owned(), reason };
    }
    if error.is_instance_of::<PyMemoryError>(py) {
        return Error::internal(format!("decode {location}"), reason);
    }
    if reason.contains("out of range for nanosecond") {
        let feature = format!(
            "reading ORC timestamps outside the years 1677 to 2262 ({reason}; select other columns, or rewrite \
             the file as Parquet or Avro)"
        );
        return Error::unsupported_in(location, feature);
    }
    if class == "ArrowNotImplementedError" {
        return Error::unsupported_in(location, format!("pyarrow.orc: {reason}"));
    }
    // pyarrow raises the base class `ArrowException` for damaged data, such as streams that do not decompress.
    let of_data = class == "ArrowException"
        || error.is_instance_of::<PyOSError>(py)
        || error.is_instance_of::<PyValueError>(py);
    if of_data {
        return Error::corrupt_file(location, WHAT, reason);
    }
    Error::internal(format!("decode {location}"), format!("{class}: {reason}"))
}

/// A remote file as a Python file object.
#[pyclass(frozen, module = "icefloe._core")]
struct RangedFile {
    io: FileIo,
    location: String,
    size: u64,
    /// The offset and the bytes of the end of the file.
    tail: (u64, Bytes),
    cursor: Mutex<Cursor>,
}

/// The offset of the next read, and the offset and bytes of the last request.
struct Cursor {
    next: u64,
    window: (u64, Bytes),
}

impl RangedFile {
    fn open(io: &FileIo, location: &str) -> Result<Self> {
        let (tail, size) = block_on(io.tail(location, READ_BYTES))?;
        let tail = (size.saturating_sub(tail.len() as u64), tail);
        let cursor = Mutex::new(Cursor { next: 0, window: (0, Bytes::new()) });
        Ok(Self { io: io.clone(), location: location.to_owned(), size, tail, cursor })
    }

    fn bytes(&self, length: u64) -> Result<Bytes> {
        let mut cursor = self.cursor.lock().unwrap_or_else(PoisonError::into_inner);
        let start = cursor.next;
        let length = length.min(self.size.saturating_sub(start));
        cursor.next += length;
        let held = |(from, bytes): &(u64, Bytes)| {
            let at = usize::try_from(start.checked_sub(*from)?).ok()?;
            let end = at.checked_add(usize::try_from(length).ok()?)?;
            (end <= bytes.len()).then(|| bytes.slice(at..end))
        };
        if let Some(found) = held(&self.tail).or_else(|| held(&cursor.window)) {
            return Ok(found);
        }
        let end = start.saturating_add(length.max(READ_BYTES)).min(self.size);
        let range = start..end;
        let ranges = std::slice::from_ref(&range);
        let read = block_on(self.io.read_ranges(&self.location, ranges))?.pop();
        cursor.window = (start, read.unwrap_or_default());
        let short = || Error::Storage {
            location: self.location.clone(),
            reason: format!("fewer than {length} bytes at {start}"),
        };
        held(&cursor.window).ok_or_else(short)
    }
}

#[pymethods]
impl RangedFile {
    #[pyo3(signature = (length = -1))]
    fn read<'py>(&self, py: Python<'py>, length: i64) -> PyResult<Bound<'py, PyBytes>> {
        let length = u64::try_from(length).unwrap_or(u64::MAX);
        let bytes = py.detach(|| self.bytes(length)).map_err(raise)?;
        Ok(PyBytes::new(py, &bytes))
    }

    #[pyo3(signature = (offset, whence = 0))]
    fn seek(&self, offset: i64, whence: i32) -> PyResult<u64> {
        let mut cursor = self.cursor.lock().unwrap_or_else(PoisonError::into_inner);
        let base = match whence {
            0 => 0,
            1 => cursor.next,
            2 => self.size,
            _ => return Err(PyValueError::new_err("whence is 0, 1 or 2")),
        };
        let next = base.checked_add_signed(offset);
        cursor.next = next.ok_or_else(|| {
            PyValueError::new_err("expected a position within the file, got one before its start")
        })?;
        Ok(cursor.next)
    }

    fn tell(&self) -> u64 {
        self.cursor.lock().unwrap_or_else(PoisonError::into_inner).next
    }

    fn size(&self) -> u64 {
        self.size
    }

    #[getter]
    fn closed(&self) -> bool {
        false
    }

    fn readable(&self) -> bool {
        true
    }

    fn seekable(&self) -> bool {
        true
    }

    fn close(&self) {}

    fn flush(&self) {}
}

pub(crate) fn register() {
    register_orc_decoder(Box::new(PyArrowOrc));
}
