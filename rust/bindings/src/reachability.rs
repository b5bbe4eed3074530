//! The files that snapshots refer to.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray, UInt8Array};
use icefloe_engine::Error;
use icefloe_engine::reachability::{self, EqualNames, Match, NewestVersions, Roots};
use icefloe_engine::runtime::block_on_checking;
use icefloe_format::Error as FormatError;
use pyo3::prelude::*;

use crate::arrow::{ArrayIn, StreamIn, array_out, batch_out, raise_arrow};
use crate::error::{raise, raise_format};
use crate::io::PyFileIo;

type Unread = (String, String, bool);

/// The files of snapshots that no kept snapshot refers to.
#[pyclass(frozen, module = "icefloe._core")]
struct FilesOfSnapshots {
    inner: reachability::FilesOfSnapshots,
}

#[pymethods]
impl FilesOfSnapshots {
    #[getter]
    fn files<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        batch_out(py, &self.inner.files)
    }

    #[getter]
    fn ambiguous(&self) -> Vec<String> {
        self.inner.ambiguous.clone()
    }

    #[getter]
    fn unread(&self) -> Vec<Unread> {
        let described = self.inner.unread.iter().map(|(location, error)| {
            let is_missing = matches!(error, Error::Missing { .. });
            (location.clone(), error.to_string(), is_missing)
        });
        described.collect()
    }

    #[getter]
    fn kept_spec_ids(&self) -> Vec<i32> {
        self.inner.kept_spec_ids.clone()
    }
}

/// Find the files of snapshots that no kept snapshot refers to.
#[pyfunction]
#[pyo3(signature = (io, *, lists, manifests, kept_lists, kept_manifests, with_deleted = false))]
fn files_of_snapshots(
    py: Python<'_>,
    io: PyFileIo,
    lists: Vec<String>,
    manifests: Vec<String>,
    kept_lists: Vec<String>,
    kept_manifests: Vec<String>,
    with_deleted: bool,
) -> PyResult<FilesOfSnapshots> {
    let removed = Roots { lists, manifests };
    let kept = Roots { lists: kept_lists, manifests: kept_manifests };
    let check = || Python::attach(|py| py.check_signals());
    let find = || {
        let found = reachability::files_of_snapshots(&io.inner, removed, kept, with_deleted);
        block_on_checking(found, check)
    };
    let inner = py.detach(find)?.map_err(raise)?;
    Ok(FilesOfSnapshots { inner })
}

/// The files that snapshots refer to.
#[pyclass(frozen, module = "icefloe._core")]
struct ReachableFiles {
    inner: reachability::ReachableFiles,
}

#[pymethods]
impl ReachableFiles {
    fn __len__(&self) -> usize {
        self.inner.len()
    }

    #[pyo3(signature = (locations, *, equal_schemes, equal_authorities))]
    fn compare<'py>(
        &self,
        py: Python<'py>,
        locations: ArrayIn,
        equal_schemes: HashMap<String, String>,
        equal_authorities: HashMap<String, String>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let locations = texts(&locations)?;
        let equal = EqualNames { schemes: equal_schemes, authorities: equal_authorities };
        let matches = py.detach(|| self.inner.compare(&locations, &equal));
        let codes = matches.into_iter().map(|found| match found {
            Match::Unreachable => 0,
            Match::Reachable => 1,
            Match::OtherPrefix => 2,
        });
        array_out(py, &(Arc::new(UInt8Array::from_iter_values(codes)) as ArrayRef))
    }

    fn prefixes_of(&self, location: &str) -> Vec<String> {
        self.inner.prefixes_of(location)
    }
}

/// Read the files that snapshots refer to.
#[pyfunction]
#[pyo3(signature = (io, *, lists, manifests, others))]
fn reachable_files(
    py: Python<'_>,
    io: PyFileIo,
    lists: Vec<String>,
    manifests: Vec<String>,
    others: Vec<String>,
) -> PyResult<ReachableFiles> {
    let roots = Roots { lists, manifests };
    let check = || Python::attach(|py| py.check_signals());
    let read = || {
        let found = reachability::ReachableFiles::read(&io.inner, roots, others);
        block_on_checking(found, check)
    };
    let inner = py.detach(read)?.map_err(raise)?;
    Ok(ReachableFiles { inner })
}

/// Find the newest version of each file of a report.
#[pyfunction]
fn newest_versions<'py>(py: Python<'py>, files: StreamIn) -> PyResult<Bound<'py, PyAny>> {
    let newest = py.detach(|| {
        let mut versions = NewestVersions::default();
        for batch in files.0 {
            let batch = batch.map_err(raise_arrow)?;
            let (locations, modified) = versions_of(&batch).ok_or_else(|| {
                raise_format(FormatError::invalid("files", "expected location, last_modified_ms"))
            })?;
            versions.add(locations, modified);
        }
        PyResult::Ok(versions.finish())
    })?;
    array_out(py, &(Arc::new(newest) as ArrayRef))
}

fn versions_of(files: &RecordBatch) -> Option<(&StringArray, &Int64Array)> {
    let locations = files.column_by_name("location")?.as_string_opt()?;
    Some((locations, files.column_by_name("last_modified_ms")?.as_primitive_opt::<Int64Type>()?))
}

/// Normalise the spellings of locations.
#[pyfunction]
fn normalized_locations<'py>(py: Python<'py>, locations: ArrayIn) -> PyResult<Bound<'py, PyAny>> {
    let locations = texts(&locations)?;
    let normalized = py.detach(|| {
        let texts = locations.iter().map(|text| text.map(reachability::normalized));
        texts.collect::<StringArray>()
    });
    array_out(py, &(Arc::new(normalized) as ArrayRef))
}

/// Return the texts of an array of `string` or `large_string`.
fn texts(locations: &ArrayIn) -> PyResult<StringArray> {
    if let Some(texts) = locations.0.as_string_opt::<i32>() {
        return Ok(texts.clone());
    }
    match locations.0.as_string_opt::<i64>() {
        Some(texts) => Ok(texts.iter().collect()),
        None => Err(raise_format(FormatError::invalid("locations", "expected an array of text"))),
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<FilesOfSnapshots>()?;
    module.add_class::<ReachableFiles>()?;
    module.add_function(wrap_pyfunction!(files_of_snapshots, module)?)?;
    module.add_function(wrap_pyfunction!(reachable_files, module)?)?;
    module.add_function(wrap_pyfunction!(newest_versions, module)?)?;
    module.add_function(wrap_pyfunction!(normalized_locations, module)?)
}
