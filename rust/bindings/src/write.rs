//! Writing of data files and delete files.

use std::collections::BTreeMap;
use std::sync::Arc;

use icefloe_engine::existing_files::{Checks, describe_data_files, file_schema};
use icefloe_engine::runtime::block_on;
use icefloe_engine::table::TableContext;
use icefloe_engine::write::{
    self, FileFormat, TableLayout, WriteTask, WrittenFile, data_file_batch, write_data_files,
    write_equality_deletes, write_position_deletes,
};
use icefloe_format::Error as FormatError;
use icefloe_format::spec::{PartitionSpec, Schema, SortOrder};
use pyo3::prelude::*;

use crate::arrow::{BatchIn, StreamIn, array_out, batch_out, schema_out};
use crate::error::{raise, raise_format};
use crate::io::PyFileIo;

/// Rows of existing files that a write takes over as encoded pages.
#[pyclass(frozen, module = "icefloe._core")]
struct CopiedRows {
    rows: write::CopiedRows,
}

#[pymethods]
impl CopiedRows {
    #[new]
    #[pyo3(signature = (io, *, schema, spec, sort_order, properties))]
    fn new(
        io: &PyFileIo,
        schema: &str,
        spec: &str,
        sort_order: Option<&str>,
        properties: BTreeMap<String, String>,
    ) -> PyResult<Self> {
        let layout = parse_layout(schema, spec, sort_order).map_err(raise_format)?;
        let table = (&layout.schema, &layout.spec, layout.sort_order.as_ref());
        let rows = write::CopiedRows::new(&io.inner, table, &properties).map_err(raise)?;
        Ok(Self { rows })
    }

    fn add<'py>(
        &self,
        py: Python<'py>,
        files: BatchIn,
        removed: BatchIn,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let remaining = py.detach(|| self.rows.add(&files.0, &removed.0)).map_err(raise)?;
        let is_copied = array_out(py, &(Arc::new(remaining.is_copied) as _))?;
        Ok((is_copied, batch_out(py, &remaining.others)?))
    }
}

#[pyfunction(name = "write_data_files")]
#[pyo3(signature = (io, data, *, schema, spec, sort_order, table_location, properties, operation_id, partition_id, task_id, presorted = false, copied = None))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of the Python function")]
fn py_write_data_files<'py>(
    py: Python<'py>,
    io: &PyFileIo,
    data: StreamIn,
    schema: &str,
    spec: &str,
    sort_order: Option<&str>,
    table_location: String,
    properties: BTreeMap<String, String>,
    operation_id: String,
    partition_id: u32,
    task_id: u64,
    presorted: bool,
    copied: Option<Py<CopiedRows>>,
) -> PyResult<Bound<'py, PyAny>> {
    let task = WriteTask { table_location, properties, operation_id, partition_id, task_id };
    let layout = parse_layout(schema, spec, sort_order).map_err(raise_format)?;
    let StreamIn(mut reader) = data;
    let copied = copied.as_ref().map(|copied| &copied.get().rows);
    let files =
        py.detach(|| write_data_files(&io.inner, &mut *reader, &layout, &task, presorted, copied));
    written_out(py, io, &files.map_err(raise)?)
}

#[pyfunction(name = "write_position_deletes")]
#[pyo3(signature = (io, data, *, targets, schema, specs, table_location, properties, operation_id, partition_id, task_id))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of the Python function")]
fn py_write_position_deletes<'py>(
    py: Python<'py>,
    io: &PyFileIo,
    data: StreamIn,
    targets: BatchIn,
    schema: &str,
    specs: &str,
    table_location: String,
    properties: BTreeMap<String, String>,
    operation_id: String,
    partition_id: u32,
    task_id: u64,
) -> PyResult<Bound<'py, PyAny>> {
    let task = WriteTask { table_location, properties, operation_id, partition_id, task_id };
    let schema = Schema::from_json(schema).map_err(raise_format)?;
    let specs = parse_specs(specs).map_err(raise_format)?;
    let StreamIn(mut reader) = data;
    let files = py.detach(|| {
        write_position_deletes(&io.inner, &mut *reader, &targets.0, (&schema, &specs), &task)
    });
    written_out(py, io, &files.map_err(raise)?)
}

#[pyfunction(name = "write_equality_deletes")]
#[pyo3(signature = (io, data, *, equality_ids, schema, spec, sort_order, table_location, properties, operation_id, partition_id, task_id))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of the Python function")]
fn py_write_equality_deletes<'py>(
    py: Python<'py>,
    io: &PyFileIo,
    data: StreamIn,
    equality_ids: Vec<i32>,
    schema: &str,
    spec: &str,
    sort_order: Option<&str>,
    table_location: String,
    properties: BTreeMap<String, String>,
    operation_id: String,
    partition_id: u32,
    task_id: u64,
) -> PyResult<Bound<'py, PyAny>> {
    let task = WriteTask { table_location, properties, operation_id, partition_id, task_id };
    let layout = parse_layout(schema, spec, sort_order).map_err(raise_format)?;
    let StreamIn(mut reader) = data;
    let files = py
        .detach(|| write_equality_deletes(&io.inner, &mut *reader, &layout, &equality_ids, &task));
    written_out(py, io, &files.map_err(raise)?)
}

#[pyfunction(name = "describe_data_files")]
#[pyo3(signature = (io, locations, *, context, spec_id, sort_order = None, format = None, check_names = true))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of the Python function")]
fn py_describe_data_files<'py>(
    py: Python<'py>,
    io: &PyFileIo,
    locations: Vec<String>,
    context: &str,
    spec_id: i32,
    sort_order: Option<&str>,
    format: Option<&str>,
    check_names: bool,
) -> PyResult<(Bound<'py, PyAny>, usize)> {
    let named = |name: &str| {
        let reason = format!("expected parquet, orc or avro, got {name:?}");
        FileFormat::named(name).ok_or_else(|| FormatError::invalid("format", reason))
    };
    let format = format.map(named).transpose().map_err(raise_format)?;
    let checks = Checks { format, names: check_names };
    let sort_order = sort_order.map(SortOrder::from_json).transpose().map_err(raise_format)?;
    let described = py.detach(|| {
        let context = Arc::new(TableContext::from_json(context)?);
        describe_data_files(&io.inner, context, spec_id, locations, sort_order.as_ref(), checks)
    });
    let described = described.map_err(raise)?;
    Ok((files_out(py, &described.files)?, described.without_ids))
}

#[pyfunction(name = "file_schema")]
fn py_file_schema<'py>(
    py: Python<'py>,
    io: &PyFileIo,
    location: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let schema = py.detach(|| file_schema(&io.inner, location)).map_err(raise)?;
    schema_out(py, &Arc::new(schema))
}

fn parse_layout(
    schema: &str,
    spec: &str,
    sort_order: Option<&str>,
) -> Result<TableLayout, FormatError> {
    Ok(TableLayout {
        schema: Schema::from_json(schema)?,
        spec: PartitionSpec::from_json(spec)?,
        sort_order: sort_order.map(SortOrder::from_json).transpose()?,
    })
}

fn parse_specs(text: &str) -> Result<Vec<PartitionSpec>, FormatError> {
    let values: Vec<serde_json::Value> = serde_json::from_str(text)
        .map_err(|error| FormatError::invalid("specs", error.to_string()))?;
    values.iter().map(PartitionSpec::from_value).collect()
}

/// Return the columns of new files. After Ctrl-C the files are deleted instead: the interrupt would reach Python before
/// their names.
fn written_out<'py>(
    py: Python<'py>,
    io: &PyFileIo,
    files: &[WrittenFile],
) -> PyResult<Bound<'py, PyAny>> {
    if let Err(interrupt) = py.check_signals() {
        let locations: Vec<String> = files.iter().map(|file| file.location.clone()).collect();
        drop(py.detach(|| block_on(async { Ok(io.inner.delete_many(&locations).await) })));
        return Err(interrupt);
    }
    files_out(py, files)
}

fn files_out<'py>(py: Python<'py>, files: &[WrittenFile]) -> PyResult<Bound<'py, PyAny>> {
    batch_out(py, &data_file_batch(files).map_err(raise)?)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<CopiedRows>()?;
    module.add_function(wrap_pyfunction!(py_write_data_files, module)?)?;
    module.add_function(wrap_pyfunction!(py_write_position_deletes, module)?)?;
    module.add_function(wrap_pyfunction!(py_write_equality_deletes, module)?)?;
    module.add_function(wrap_pyfunction!(py_file_schema, module)?)?;
    module.add_function(wrap_pyfunction!(py_describe_data_files, module)?)
}
