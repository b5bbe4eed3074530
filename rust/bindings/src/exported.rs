//! Scan streams that another library reads through Arrow's C stream interface.

use std::fmt;
use std::thread::{self, ThreadId};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use icefloe_engine::scan::{Scan, ScanReader};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::intern;
use pyo3::prelude::*;

use crate::error::raise;

/// An exported scan stream. Its errors name the scan, and Ctrl-C interrupts a blocked read on the main thread.
pub(crate) struct Exported {
    reader: ScanReader,
    origin: Option<String>,
    /// The id of the main thread, if the stream was opened on it.
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
            // Only the main thread checks for interrupts: on other threads, waiting for the GIL could deadlock with its
            // holder.
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

/// The text of an error, the only part that the C stream interface transfers.
#[derive(Debug)]
struct ErrorText(String);

impl fmt::Display for ErrorText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for ErrorText {}

fn external(text: String) -> ArrowError {
    ArrowError::from_external_error(Box::new(ErrorText(text)))
}

fn is_main(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import(intern!(py, "threading"))?;
    let main = threading.call_method0(intern!(py, "main_thread"))?.getattr(intern!(py, "ident"))?;
    threading.call_method0(intern!(py, "get_ident"))?.eq(main)
}

/// Return an error if the process was interrupted. The consumer reports the error as its own exception, so the
/// interrupt is set again and the interpreter raises it afterwards.
fn interrupted() -> Result<(), ArrowError> {
    let checked = Python::try_attach(|py| {
        py.check_signals().map_err(|error| {
            // The error is formatted before the interrupt is set again, because formatting runs Python code, which
            // would raise it.
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
