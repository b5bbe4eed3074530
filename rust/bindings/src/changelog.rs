//! Change scans: planning, cancelling of equal rows, and net changes.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{Array, ArrayRef, BooleanArray};
use icefloe_engine::{changes, plan};
use icefloe_format::Error as FormatError;
use icefloe_format::spec::ArrowName;
use pyo3::prelude::*;

use crate::arrow::{ArrayIn, BatchIn, array_out, batch_out};
use crate::error::{raise, raise_format};

type ThreeArrays<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);
type ThreeBatches<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);

/// Plan the rows that differ between two snapshots of a table.
#[pyfunction]
fn plan_changes<'py>(
    py: Python<'py>,
    before_files: BatchIn,
    before_deletes: BatchIn,
    after_files: BatchIn,
    after_deletes: BatchIn,
) -> PyResult<ThreeBatches<'py>> {
    let before = (&before_files.0, &before_deletes.0);
    let changes = py.detach(|| plan::changes(before, (&after_files.0, &after_deletes.0)));
    let changes = changes.map_err(raise)?;
    let batches = [&changes.inserted, &changes.deleted, &changes.deletes];
    let [inserted, deleted, deletes] = batches.map(|batch| batch_out(py, batch));
    Ok((inserted?, deleted?, deletes?))
}

/// Deleted and inserted rows whose equal rows cancel.
#[pyclass(frozen, module = "icefloe._core")]
struct ChangePairs {
    pairs: Mutex<Option<changes::ChangePairs>>,
}

#[pymethods]
impl ChangePairs {
    #[new]
    #[pyo3(signature = (*, keyed = false, budget = 67_108_864))]
    fn new(keyed: bool, budget: usize) -> Self {
        Self { pairs: Mutex::new(Some(changes::ChangePairs::new(keyed, budget))) }
    }

    fn begin_part(&self) -> PyResult<()> {
        let mut pairs = self.pairs.lock().unwrap_or_else(PoisonError::into_inner);
        pairs.as_mut().ok_or_else(cancelled)?.begin_part();
        Ok(())
    }

    #[pyo3(signature = (rows, keys = None, wanted = None, *, deleted))]
    fn add(
        &self,
        py: Python<'_>,
        rows: BatchIn,
        keys: Option<BatchIn>,
        wanted: Option<ArrayIn>,
        deleted: bool,
    ) -> PyResult<()> {
        let wanted = wanted.as_ref().map(bits).transpose()?;
        let keys = keys.map(|keys| keys.0.columns().to_vec()).unwrap_or_default();
        py.detach(|| {
            let mut pairs = self.pairs.lock().unwrap_or_else(PoisonError::into_inner);
            let pairs = pairs.as_mut().ok_or_else(cancelled)?;
            pairs.add(&rows.0, &keys, deleted, wanted.as_ref()).map_err(raise)
        })
    }

    fn cancel(&self, py: Python<'_>) -> PyResult<NetChanges> {
        let changes = py.detach(|| {
            let mut pairs = self.pairs.lock().unwrap_or_else(PoisonError::into_inner);
            pairs.take().ok_or_else(cancelled)?.cancel().map_err(raise)
        });
        Ok(NetChanges { changes: changes? })
    }
}

/// The changes that remain after cancelling.
#[pyclass(frozen, module = "icefloe._core")]
struct NetChanges {
    changes: changes::NetChanges,
}

#[pymethods]
impl NetChanges {
    fn count(&self, first: usize, count: usize) -> PyResult<usize> {
        self.changes.count(first, count).map_err(raise)
    }

    fn rows<'py>(&self, py: Python<'py>, first: usize, count: usize) -> PyResult<ThreeArrays<'py>> {
        let net = py.detach(|| self.changes.rows(first, count)).map_err(raise)?;
        let arrays: [ArrayRef; 3] =
            [Arc::new(net.remaining), Arc::new(net.halves), Arc::new(net.parts)];
        let [remaining, halves, parts] = arrays.map(|array| array_out(py, &array));
        Ok((remaining?, halves?, parts?))
    }
}

fn bits(array: &ArrayIn) -> PyResult<BooleanArray> {
    let bits = array.0.as_any().downcast_ref::<BooleanArray>();
    let bits = bits.filter(|bits| bits.null_count() == 0).cloned();
    let wrong = || {
        let (found, nulls) = (ArrowName(array.0.data_type()), array.0.null_count());
        let reason = format!("expected bool without nulls, got {found} with {nulls} nulls");
        FormatError::invalid("wanted", reason)
    };
    bits.ok_or_else(wrong).map_err(raise_format)
}

fn cancelled() -> PyErr {
    raise_format(FormatError::invalid(
        "changes",
        "cancel() was called before; add changes to another ChangePairs",
    ))
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(plan_changes, module)?)?;
    module.add_class::<ChangePairs>()?;
    module.add_class::<NetChanges>()
}
