//! Planning and reading of scans.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use icefloe_engine::formats::BatchSize;
use icefloe_engine::plan::{self, Packing, PlanRequest};
use icefloe_engine::scan::{DeleteFile, RowSelection, Scan, ScanOptions, ScanReader, ScanTask};
use icefloe_engine::table::TableContext;
use icefloe_format::spec::Schema;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::arrow::{BatchIn, batch_out, schema_capsule, schema_out, stream_capsule};
use crate::error::raise;
use crate::exported::Exported;
use crate::io::PyFileIo;

/// Plan the scan of one snapshot.
#[pyfunction]
#[pyo3(name = "plan", signature = (io, context, *, manifest_list, manifests, filter, split_size, include_stats, include_deletes = true, added_by = None))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of the Python function")]
fn plan_scan(
    py: Python<'_>,
    io: PyFileIo,
    context: &str,
    manifest_list: Option<String>,
    manifests: Vec<String>,
    filter: String,
    split_size: Option<u64>,
    include_stats: bool,
    include_deletes: bool,
    added_by: Option<i64>,
) -> PyResult<ScanPlan> {
    let request = PlanRequest {
        manifest_list,
        manifests,
        filter,
        split_size,
        include_stats,
        include_deletes,
        added_by,
    };
    let plan = py.detach(|| {
        let context = Arc::new(TableContext::from_json(context)?);
        plan::plan(&io.inner, context, &request)
    });
    Ok(ScanPlan { plan: plan.map_err(raise)? })
}

/// Return the plan in the replies of a catalog server.
#[pyfunction]
#[pyo3(signature = (replies, context, *, filter, split_size))]
fn served_plan(
    py: Python<'_>,
    replies: Vec<Vec<u8>>,
    context: &str,
    filter: &str,
    split_size: Option<u64>,
) -> PyResult<ScanPlan> {
    let plan = py.detach(|| {
        let context = TableContext::from_json(context)?;
        plan::served(&replies, &context, filter, split_size)
    });
    Ok(ScanPlan { plan: plan.map_err(raise)? })
}

/// Empty the cache of manifests of this process.
#[pyfunction]
fn clear_manifest_cache(py: Python<'_>) -> PyResult<()> {
    py.detach(plan::clear_cache).map_err(raise)
}

/// The data files and delete files of a planned scan.
#[pyclass(frozen, module = "icefloe._core")]
struct ScanPlan {
    plan: plan::ScanPlan,
}

#[pymethods]
impl ScanPlan {
    #[getter]
    fn files<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        batch_out(py, &self.plan.files)
    }

    #[getter]
    fn deletes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        batch_out(py, &self.plan.deletes)
    }

    #[getter]
    fn counters(&self) -> HashMap<&'static str, u64> {
        self.plan.counters.named().into_iter().collect()
    }
}

/// Return some data files of a plan with the delete files that apply to them.
#[pyfunction]
fn own_deletes<'py>(
    py: Python<'py>,
    files: BatchIn,
    deletes: BatchIn,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let own = py.detach(|| plan::own_deletes(&files.0, &deletes.0)).map_err(raise)?;
    Ok((batch_out(py, &own.0)?, batch_out(py, &own.1)?))
}

/// Pack the tasks of a plan into groups of similar size, each with the delete files of its tasks.
#[pyfunction]
#[pyo3(signature = (files, deletes, *, target_size, lookback, open_file_cost))]
fn pack_tasks<'py>(
    py: Python<'py>,
    files: BatchIn,
    deletes: BatchIn,
    target_size: u64,
    lookback: usize,
    open_file_cost: u64,
) -> PyResult<Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>> {
    let packing = Packing { target_size, lookback, open_file_cost };
    let groups = py.detach(|| plan::pack(&files.0, &deletes.0, packing)).map_err(raise)?;
    let groups =
        groups.iter().map(|(files, deletes)| Ok((batch_out(py, files)?, batch_out(py, deletes)?)));
    groups.collect()
}

/// Read scan tasks.
#[pyfunction]
#[pyo3(signature = (io, context, files, deletes, *, projection, batch_size = 65536, batch_bytes = 1_572_864, limit = None, string_views = false, extension_types = false, threads = None, rows = None, keep = true))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of the Python function")]
fn read(
    py: Python<'_>,
    io: PyFileIo,
    context: &str,
    files: BatchIn,
    deletes: BatchIn,
    projection: &str,
    batch_size: usize,
    batch_bytes: u64,
    limit: Option<usize>,
    string_views: bool,
    extension_types: bool,
    threads: Option<usize>,
    rows: Option<BatchIn>,
    keep: bool,
) -> PyResult<ScanStream> {
    let scan = py.detach(|| {
        let context = TableContext::from_json(context)?;
        let projection = Schema::from_json(projection)?;
        let deletes = DeleteFile::from_batch(&deletes.0)?;
        let tasks = ScanTask::from_batch(&files.0, deletes.len())?;
        let batch_size = BatchSize { rows: batch_size, bytes: batch_bytes };
        let rows = rows.map(|rows| RowSelection::from_batch(&rows.0, keep)).transpose()?;
        let options = ScanOptions {
            projection,
            batch_size,
            limit,
            string_views,
            extension_types,
            threads,
            rows,
        };
        Scan::new(io.inner, Arc::new(context), tasks, deletes, options)
    });
    Ok(ScanStream { scan: scan.map_err(raise)?, origin: None })
}

/// Report what a scan reads of each task, from the footers of the data files.
#[pyfunction]
#[pyo3(signature = (io, context, files, deletes, *, projection, threads = None))]
fn explain_read<'py>(
    py: Python<'py>,
    io: PyFileIo,
    context: &str,
    files: BatchIn,
    deletes: BatchIn,
    projection: &str,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let BatchSize { rows, bytes } = BatchSize::PASSING;
    let scan = read(
        py, io, context, files, deletes, projection, rows, bytes, None, true, false, threads, None,
        true,
    )?
    .scan;
    let survey = py.detach(|| scan.survey()).map_err(raise)?;
    batch_out(py, &survey)
}

/// A scan as a stream that every consumer reads from the start.
#[pyclass(frozen, module = "icefloe._core")]
pub(crate) struct ScanStream {
    pub(crate) scan: Scan,
    /// The name of the scan in errors of exported streams.
    origin: Option<String>,
}

#[pymethods]
impl ScanStream {
    #[getter]
    fn schema<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        schema_out(py, &self.scan.schema())
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The Arrow PyCapsule interface allows producers to ignore the requested schema.
        drop(requested_schema);
        stream_capsule(py, Box::new(Exported::new(py, &self.scan, self.origin.clone())?))
    }

    fn named(&self, origin: String) -> Self {
        Self { scan: self.scan.clone(), origin: Some(origin) }
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.scan.schema())
    }

    fn __iter__(&self) -> PyResult<ScanIterator> {
        Ok(ScanIterator { reader: Mutex::new(self.scan.open().map_err(raise)?) })
    }
}

/// An iterator over the batches of a scan.
#[pyclass(frozen, module = "icefloe._core")]
struct ScanIterator {
    reader: Mutex<ScanReader>,
}

#[pymethods]
impl ScanIterator {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        // Consumers written in C may not return to the interpreter between batches, so interrupts are checked here.
        py.check_signals()?;
        let next = py.detach(|| {
            let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
            reader.next_batch_checking(|| Python::attach(|py| py.check_signals()))
        });
        next?.map_err(raise)?.map(|batch| batch_out(py, &batch)).transpose()
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ScanPlan>()?;
    module.add_function(wrap_pyfunction!(plan_scan, module)?)?;
    module.add_function(wrap_pyfunction!(served_plan, module)?)?;
    module.add_function(wrap_pyfunction!(clear_manifest_cache, module)?)?;
    module.add_class::<ScanStream>()?;
    module.add_class::<ScanIterator>()?;
    module.add_function(wrap_pyfunction!(own_deletes, module)?)?;
    module.add_function(wrap_pyfunction!(pack_tasks, module)?)?;
    module.add_function(wrap_pyfunction!(explain_read, module)?)?;
    module.add_function(wrap_pyfunction!(read, module)?)
}
