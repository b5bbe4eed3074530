//! A pass over a scan that another library reads through the C stream interface.

use std::fmt;
use std::thread::{self, ThreadId};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use icefloe_engine::scan::{Scan, ScanReader};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::intern;
use pyo3::prelude::*;

use crate::error::raise;

/// A pass whose errors name the scan, and which an interrupt ends if the consumer waits on the main thread.
pub(crate) struct Exported {
    reader: ScanReader,
    origin: Option<String>,
    /// The main thread, if the pass was opened there.
    main: Option<ThreadId>,
    /// Whether threads of the scan call Python and need the GIL, which the consumer may hold.
    is_foreign: bool,
}

impl Exported {
    pub(crate) fn new(py: Python<'_>, scan: &Scan, origin: Option<String>) -> PyResult<Self> {
        let main = is_main(py)?.then(|| thread::current().id());
        Ok(Self {
            reader: scan.open().map_err(raise)?,
            origin,
            main,
            is_foreign: scan.is_foreign(),
        })
    }

    fn pull(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        let pulled = match self.main {
            // Waiting for the GIL on another thread could deadlock with the holder of the GIL.
            Some(main) if main == thread::current().id() => {
                self.reader.next_batch_checking(interrupted)?
            }
            _ => self.reader.next_batch(),
        };
        pulled.map_err(|error| match &self.origin {
            Some(origin) => external(format!("{error} (reading {origin})")),
            None => external(error.to_string()),
        })
    }
}

impl Iterator for Exported {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = match self.is_foreign {
            true => Python::try_attach(|py| py.detach(|| self.pull())),
            false => None,
        };
        next.unwrap_or_else(|| self.pull()).transpose()
    }
}

impl RecordBatchReader for Exported {
    fn schema(&self) -> SchemaRef {
        self.reader.schema()
    }
}

/// An error as text, which is all that the interface carries.
#[derive(Debug)]
struct Told(String);

impl fmt::Display for Told {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Told {}

fn external(text: String) -> ArrowError {
    ArrowError::from_external_error(Box::new(Told(text)))
}

fn is_main(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import(intern!(py, "threading"))?;
    let main = threading.call_method0(intern!(py, "main_thread"))?.getattr(intern!(py, "ident"))?;
    threading.call_method0(intern!(py, "get_ident"))?.eq(main)
}

/// Check for interrupts. The consumer raises an exception of its own, so the interrupt is set again, for the interpreter
/// to raise afterwards.
fn interrupted() -> Result<(), ArrowError> {
    let checked = Python::try_attach(|py| {
        py.check_signals().map_err(|error| {
            // Make the text first: it runs Python, which would consume the interrupt.
            let text = format!("reading was interrupted: {error}");
            let again = match error.is_instance_of::<PyKeyboardInterrupt>(py) {
                true => py.import("_thread").and_then(|it| it.call_method0("interrupt_main")),
                false => Ok(py.None().into_bound(py)),
            };
            match again {
                Ok(_) => external(text),
                Err(failed) => external(format!("{text} ({failed})")),
            }
        })
    });
    checked.unwrap_or(Ok(()))
}
