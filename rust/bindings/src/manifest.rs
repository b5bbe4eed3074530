//! Reading and writing of manifests and manifest lists.

use std::collections::BTreeMap;
use std::sync::Arc;

use icefloe_engine::manifests::{self, Keep, ManifestOptions, MergeOptions, TableTypes};
use icefloe_engine::runtime::block_on;
use icefloe_format::Error as FormatError;
use icefloe_format::manifest::{ListOptions, ManifestContent, Stats, entry_schema};
use pyo3::prelude::*;

use crate::arrow::{ArrayIn, BatchIn, batch_out, table_out};
use crate::error::{raise, raise_format};
use crate::io::PyFileIo;

/// Write entries as new manifests.
#[pyfunction]
#[pyo3(signature = (io, location_prefix, entries, *, schema, specs, format_version, snapshot_id, content, first_index, properties))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of the Python function")]
fn write_manifests<'py>(
    py: Python<'py>,
    io: PyFileIo,
    location_prefix: String,
    entries: BatchIn,
    schema: &str,
    specs: &str,
    format_version: u8,
    snapshot_id: i64,
    content: i32,
    first_index: usize,
    properties: BTreeMap<String, String>,
) -> PyResult<Bound<'py, PyAny>> {
    let types = types(schema, specs)?;
    let content = ManifestContent::from_code(content).map_err(raise_format)?;
    let codec = ManifestOptions::codec_of(&properties).map_err(raise)?;
    let options =
        ManifestOptions { location_prefix, first_index, format_version, snapshot_id, codec };
    let (io, entries) = (&io.inner, &entries.0);
    let write = || block_on(manifests::write_manifests(io, entries, content, types, &options));
    batch_out(py, &py.detach(write).map_err(raise)?)
}

/// Read the entries of manifests.
#[pyfunction]
#[pyo3(signature = (io, manifests, *, schema, specs, keep, statistics=true))]
fn read_manifest<'py>(
    py: Python<'py>,
    io: PyFileIo,
    manifests: BatchIn,
    schema: &str,
    specs: &str,
    keep: &str,
    statistics: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let stats = if statistics { Stats::All } else { Stats::Skip };
    let keep = match keep {
        "all" => Keep::All,
        "live" => Keep::Live,
        other => {
            let reason = format!("{other:?} is neither \"all\" nor \"live\"");
            return Err(raise_format(FormatError::invalid("keep", reason)));
        }
    };
    let types = types(schema, specs)?;
    let entries = manifests::read_entries(&io.inner, &manifests.0, types, (keep, stats));
    table_out(py, py.detach(|| block_on(entries)).map_err(raise)?, entry_schema())
}

/// Read a manifest list.
#[pyfunction]
fn read_manifest_list<'py>(
    py: Python<'py>,
    io: PyFileIo,
    location: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let manifests = manifests::read_manifest_list(&io.inner, location);
    batch_out(py, &py.detach(|| block_on(manifests)).map_err(raise)?)
}

/// Describe manifests by their own headers and entries.
#[pyfunction]
fn describe_manifests<'py>(
    py: Python<'py>,
    io: PyFileIo,
    locations: Vec<String>,
) -> PyResult<Bound<'py, PyAny>> {
    let manifests = manifests::describe_manifests(&io.inner, locations);
    batch_out(py, &py.detach(|| block_on(manifests)).map_err(raise)?)
}

/// Write a manifest list.
#[pyfunction]
#[pyo3(signature = (io, location, manifests, *, format_version, snapshot_id, parent_snapshot_id, sequence_number))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of the Python function")]
fn write_manifest_list(
    py: Python<'_>,
    io: PyFileIo,
    location: &str,
    manifests: BatchIn,
    format_version: u8,
    snapshot_id: i64,
    parent_snapshot_id: Option<i64>,
    sequence_number: i64,
) -> PyResult<()> {
    let options = ListOptions { format_version, snapshot_id, parent_snapshot_id, sequence_number };
    let (io, manifests) = (&io.inner, &manifests.0);
    let write = || block_on(manifests::write_manifest_list(io, location, manifests, options));
    py.detach(write).map_err(raise)
}

/// Remove files from manifests.
#[pyfunction]
#[pyo3(signature = (io, location_prefix, manifests, *, deleted_paths, schema, specs, format_version, snapshot_id, first_index, properties))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of the Python function")]
fn filter_manifests(
    py: Python<'_>,
    io: PyFileIo,
    location_prefix: String,
    manifests: BatchIn,
    deleted_paths: ArrayIn,
    schema: &str,
    specs: &str,
    format_version: u8,
    snapshot_id: i64,
    first_index: usize,
    properties: BTreeMap<String, String>,
) -> PyResult<FilteredManifests> {
    let types = types(schema, specs)?;
    let codec = ManifestOptions::codec_of(&properties).map_err(raise)?;
    let options =
        ManifestOptions { location_prefix, first_index, format_version, snapshot_id, codec };
    let (manifests, paths) = (&manifests.0, &deleted_paths.0);
    let io = &io.inner;
    let filter = || block_on(manifests::filter_manifests(io, manifests, paths, types, &options));
    let inner = py.detach(filter).map_err(raise)?;
    Ok(FilteredManifests { inner })
}

/// The manifests that remain after the removal of files.
#[pyclass(frozen, module = "icefloe._core")]
struct FilteredManifests {
    inner: manifests::FilteredManifests,
}

#[pymethods]
impl FilteredManifests {
    #[getter]
    fn manifests<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        batch_out(py, &self.inner.manifests)
    }

    #[getter]
    fn deleted<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        batch_out(py, &self.inner.deleted)
    }

    #[getter]
    fn missing(&self) -> Vec<String> {
        self.inner.missing.clone()
    }

    #[getter]
    fn rewritten(&self) -> usize {
        self.inner.rewritten
    }
}

/// Merge small manifests.
#[pyfunction]
#[pyo3(signature = (io, location_prefix, manifests, *, schema, specs, format_version, snapshot_id, first_index, target_size_bytes, min_count_to_merge, properties))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of the Python function")]
fn merge_manifests<'py>(
    py: Python<'py>,
    io: PyFileIo,
    location_prefix: String,
    manifests: BatchIn,
    schema: &str,
    specs: &str,
    format_version: u8,
    snapshot_id: i64,
    first_index: usize,
    target_size_bytes: i64,
    min_count_to_merge: usize,
    properties: BTreeMap<String, String>,
) -> PyResult<Bound<'py, PyAny>> {
    let types = types(schema, specs)?;
    let codec = ManifestOptions::codec_of(&properties).map_err(raise)?;
    let options =
        ManifestOptions { location_prefix, first_index, format_version, snapshot_id, codec };
    let merge = MergeOptions { target_size_bytes, min_count_to_merge };
    let (io, manifests) = (&io.inner, &manifests.0);
    let write = || block_on(manifests::merge_manifests(io, manifests, merge, types, &options));
    batch_out(py, &py.detach(write).map_err(raise)?)
}

fn types(schema: &str, specs: &str) -> PyResult<Arc<TableTypes>> {
    TableTypes::from_json(schema, specs).map(Arc::new).map_err(raise_format)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<FilteredManifests>()?;
    module.add_function(wrap_pyfunction!(write_manifests, module)?)?;
    module.add_function(wrap_pyfunction!(read_manifest, module)?)?;
    module.add_function(wrap_pyfunction!(read_manifest_list, module)?)?;
    module.add_function(wrap_pyfunction!(describe_manifests, module)?)?;
    module.add_function(wrap_pyfunction!(write_manifest_list, module)?)?;
    module.add_function(wrap_pyfunction!(filter_manifests, module)?)?;
    module.add_function(wrap_pyfunction!(merge_manifests, module)?)
}
