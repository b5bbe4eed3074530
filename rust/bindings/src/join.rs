//! Joins of a source with rows of a table.

use std::sync::{Mutex, PoisonError};

use icefloe_engine::join;
use icefloe_format::Error as FormatError;
use pyo3::prelude::*;

use crate::arrow::{BatchIn, array_out, batch_out};
use crate::error::{raise, raise_format};
use crate::scan::ScanStream;

type Joined<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);

/// The keys of a join's source rows.
#[pyclass(frozen, module = "icefloe._core")]
struct SourceKeys {
    keys: Mutex<Option<join::SourceKeys>>,
}

#[pymethods]
impl SourceKeys {
    #[new]
    #[pyo3(signature = (null_safe, *, budget))]
    fn new(null_safe: Vec<bool>, budget: usize) -> Self {
        Self { keys: Mutex::new(Some(join::SourceKeys::new(null_safe, budget))) }
    }

    fn add(&self, py: Python<'_>, keys: BatchIn) -> PyResult<()> {
        py.detach(|| self.with(|source| source.add(&keys.0)))
    }

    fn repeated(&self, py: Python<'_>) -> PyResult<Option<(u32, u32)>> {
        py.detach(|| self.with(join::SourceKeys::repeated))
    }

    #[pyo3(signature = (rows, paths, *, unmatched = false))]
    fn join<'py>(
        &self,
        py: Python<'py>,
        rows: &ScanStream,
        paths: Vec<String>,
        unmatched: bool,
    ) -> PyResult<Joined<'py>> {
        let source = self.keys.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut probe = join::Probe::new(source.ok_or_else(joined)?, paths, unmatched);
        let mut reader = rows.scan.open().map_err(raise)?;
        let found = py.detach(|| {
            loop {
                let check = || Python::attach(|py| py.check_signals());
                match reader.next_batch_checking(check)?.map_err(raise)? {
                    Some(batch) => probe.add(&batch).map_err(raise)?,
                    None => return probe.finish().map_err(raise),
                }
            }
        })?;
        Ok((
            batch_out(py, &found.pairs)?,
            batch_out(py, &found.unmatched)?,
            array_out(py, &found.unmatched_source)?,
        ))
    }
}

impl SourceKeys {
    fn with<T>(
        &self,
        call: impl FnOnce(&mut join::SourceKeys) -> icefloe_engine::Result<T>,
    ) -> PyResult<T> {
        let mut source = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        call(source.as_mut().ok_or_else(joined)?).map_err(raise)
    }
}

fn joined() -> PyErr {
    let reason = "join() was called before; add the rows to another SourceKeys";
    raise_format(FormatError::invalid("source", reason))
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<SourceKeys>()
}
