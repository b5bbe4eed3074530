//! The `FileIo` class: access to storage.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use icefloe_engine::Result;
use icefloe_engine::runtime::{block_on, block_on_checking};
use icefloe_engine::store::{Content, FileIo, Listed, UnsyncedFiles};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::arrow::{array_out, batch_out, raise_arrow};
use crate::error::raise;

/// The content of a file: bytes, or a list of pieces.
#[derive(FromPyObject)]
enum Data {
    Whole(PyBackedBytes),
    Pieces(Vec<PyBackedBytes>),
}

impl Data {
    /// Return the content without a copy.
    fn content(self) -> Content {
        match self {
            Self::Whole(data) => bytes::Bytes::from_owner(data).into(),
            Self::Pieces(pieces) => pieces.into_iter().map(bytes::Bytes::from_owner).collect(),
        }
    }
}

/// New local files that are not synced yet.
#[pyclass(name = "UnsyncedFiles", frozen, module = "icefloe._core")]
#[derive(Default)]
pub(crate) struct PyUnsyncedFiles(UnsyncedFiles);

#[pymethods]
impl PyUnsyncedFiles {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    fn sync(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.sync()).map_err(raise)
    }
}

/// Access to storage.
#[pyclass(name = "FileIo", frozen, module = "icefloe._core", from_py_object)]
#[derive(Clone)]
pub(crate) struct PyFileIo {
    pub(crate) inner: FileIo,
}

#[pymethods]
impl PyFileIo {
    #[new]
    #[pyo3(signature = (properties = BTreeMap::new()))]
    fn new(properties: BTreeMap<String, String>) -> Self {
        Self { inner: FileIo::new(properties) }
    }

    fn deferring(&self, unsynced: &PyUnsyncedFiles) -> Self {
        Self { inner: self.inner.deferring(&unsynced.0) }
    }

    #[getter]
    fn properties(&self) -> BTreeMap<String, String> {
        self.inner.properties().clone()
    }

    fn absolute(&self, location: &str) -> String {
        self.inner.absolute(location).into_owned()
    }

    fn read<'py>(&self, py: Python<'py>, location: &str) -> PyResult<Bound<'py, PyBytes>> {
        let data = wait(py, self.inner.read(location))?;
        Ok(PyBytes::new(py, &data))
    }

    #[pyo3(signature = (location, data, *, overwrite))]
    fn write(&self, py: Python<'_>, location: &str, data: Data, overwrite: bool) -> PyResult<()> {
        let data = data.content();
        py.detach(|| block_on(self.inner.write(location, data, overwrite))).map_err(raise)
    }

    fn publish(&self, py: Python<'_>, location: &str, data: Data) -> PyResult<()> {
        let data = data.content();
        py.detach(|| block_on(self.inner.publish(location, data))).map_err(raise)
    }

    fn read_unless<'py>(
        &self,
        py: Python<'py>,
        location: &str,
        data: Data,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let found = wait(py, self.inner.read_unless(location, data.content()))?;
        Ok(found.map(|found| PyBytes::new(py, &found)))
    }

    fn exists(&self, py: Python<'_>, location: &str) -> PyResult<bool> {
        wait(py, self.inner.exists(location))
    }

    fn size(&self, py: Python<'_>, location: &str) -> PyResult<u64> {
        wait(py, self.inner.size(location))
    }

    fn sizes<'py>(&self, py: Python<'py>, locations: Vec<String>) -> PyResult<Bound<'py, PyAny>> {
        let sizes = wait(py, self.inner.sizes(&locations))?;
        array_out(py, &(Arc::new(bytes_counts(sizes)) as ArrayRef))
    }

    fn delete(&self, py: Python<'_>, location: &str) -> PyResult<()> {
        py.detach(|| block_on(self.inner.delete(location))).map_err(raise)
    }

    fn delete_many(
        &self,
        py: Python<'_>,
        locations: Vec<String>,
    ) -> PyResult<Vec<(String, String)>> {
        let failures = py
            .detach(|| block_on(async { Ok(self.inner.delete_many(&locations).await) }))
            .map_err(raise)?;
        Ok(failures.into_iter().map(|(location, error)| (location, error.to_string())).collect())
    }

    fn delete_directory(&self, py: Python<'_>, location: &str) -> PyResult<Vec<(String, String)>> {
        let failures =
            py.detach(|| block_on(self.inner.delete_directory(location))).map_err(raise)?;
        Ok(failures.into_iter().map(|(location, error)| (location, error.to_string())).collect())
    }

    fn list<'py>(&self, py: Python<'py>, prefix: &str) -> PyResult<Bound<'py, PyAny>> {
        let found = wait(py, self.inner.list(prefix))?;
        batch_out(py, &listing(&found)?)
    }

    fn children(&self, py: Python<'_>, location: &str) -> PyResult<(Vec<String>, Vec<String>)> {
        let found = wait(py, self.inner.children(location))?;
        Ok((found.directories, found.files))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyAny>, (BTreeMap<String, String>,)) {
        (slf.get_type().into_any(), (slf.get().properties(),))
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.inner.properties() == other.inner.properties()
    }

    /// Return the names of the properties without their values, which may be secrets.
    fn __repr__(&self) -> String {
        let names: Vec<_> = self.inner.properties().keys().map(String::as_str).collect();
        format!("FileIo({})", names.join(", "))
    }
}

/// Wait for a future without the GIL, until Ctrl-C interrupts. Only for calls that change nothing in storage.
fn wait<T: Send>(py: Python<'_>, future: impl Future<Output = Result<T>> + Send) -> PyResult<T> {
    let check = || Python::attach(|py| py.check_signals());
    py.detach(|| block_on_checking(future, check))?.map_err(raise)
}

/// Return sizes in bytes as an `int64` array.
fn bytes_counts(sizes: impl IntoIterator<Item = u64>) -> Int64Array {
    let longs = sizes.into_iter().map(|size| i64::try_from(size).unwrap_or(i64::MAX));
    Int64Array::from_iter_values(longs)
}

fn listing(found: &[Listed]) -> PyResult<RecordBatch> {
    let locations = StringArray::from_iter_values(found.iter().map(|one| one.location.as_str()));
    let sizes = bytes_counts(found.iter().map(|one| one.size));
    let modified = found.iter().map(|one| one.last_modified_ms);
    let columns: [(&str, ArrayRef); 3] = [
        ("location", Arc::new(locations)),
        ("size", Arc::new(sizes)),
        ("last_modified_ms", Arc::new(Int64Array::from_iter_values(modified))),
    ];
    RecordBatch::try_from_iter(columns).map_err(raise_arrow)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyFileIo>()?;
    module.add_class::<PyUnsyncedFiles>()
}
