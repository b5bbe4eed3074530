//! Statistics of rows, and the Puffin files that hold them.

use std::collections::BTreeMap;

use icefloe_engine::{Error, statistics};
use icefloe_format::puffin::{self, Blob, Footer};
use icefloe_format::sketch::ThetaSketch;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::error::{raise, raise_format};
use crate::scan::ScanStream;

/// An interrupt, or a failure of the engine.
struct Raised(PyErr);

impl From<Error> for Raised {
    fn from(error: Error) -> Self {
        Self(raise(error))
    }
}

/// Estimate the number of distinct values of columns.
#[pyfunction]
fn distinct_values<'py>(
    py: Python<'py>,
    rows: &Bound<'py, ScanStream>,
    columns: Vec<Vec<usize>>,
) -> PyResult<Vec<(f64, Bound<'py, PyBytes>)>> {
    let scan = rows.get().scan.clone();
    let check = || Python::attach(|py| py.check_signals().map_err(Raised));
    let sketches = py.detach(|| statistics::distinct_values(&scan, &columns, check));
    let sketches = sketches.map_err(|raised: Raised| raised.0)?;
    let found = sketches.iter();
    Ok(found.map(|it| (it.estimate(), PyBytes::new(py, &it.to_bytes()))).collect())
}

/// Merge theta sketches of parts of a column into the sketch of the column.
#[pyfunction]
fn merge_sketches<'py>(
    py: Python<'py>,
    sketches: Vec<PyBackedBytes>,
) -> PyResult<(f64, Bound<'py, PyBytes>)> {
    let merged = py.detach(|| {
        let mut merged = ThetaSketch::default();
        for bytes in &sketches {
            merged.merge(&ThetaSketch::from_bytes(bytes)?);
        }
        Ok::<_, icefloe_format::Error>(merged)
    });
    let merged = merged.map_err(raise_format)?;
    Ok((merged.estimate(), PyBytes::new(py, &merged.to_bytes())))
}

type BlobIn = (String, Vec<i32>, i64, i64, Vec<u8>, Option<String>, BTreeMap<String, String>);

/// Encode a Puffin file.
#[pyfunction]
fn encode_puffin<'py>(
    py: Python<'py>,
    blobs: Vec<BlobIn>,
    properties: BTreeMap<String, String>,
) -> PyResult<(Bound<'py, PyBytes>, usize)> {
    let blobs = blobs.into_iter().map(|blob| {
        let (blob_type, fields, snapshot_id, sequence_number, bytes, codec, properties) = blob;
        let compress = codec.as_deref() == Some("compress");
        let codec = codec.filter(|_| !compress);
        Blob { blob_type, fields, snapshot_id, sequence_number, bytes, compress, codec, properties }
    });
    let file = puffin::encode(&blobs.collect::<Vec<_>>(), properties).map_err(raise_format)?;
    Ok((PyBytes::new(py, &file.bytes), file.footer_size))
}

/// Return the footer of a Puffin file as JSON.
#[pyfunction]
fn puffin_footer(bytes: &[u8]) -> PyResult<String> {
    let footer = Footer::parse(bytes).map_err(raise_format)?;
    serde_json::to_string(&footer)
        .map_err(|error| raise(Error::internal("write the footer as JSON", error)))
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(distinct_values, module)?)?;
    module.add_function(wrap_pyfunction!(merge_sketches, module)?)?;
    module.add_function(wrap_pyfunction!(encode_puffin, module)?)?;
    module.add_function(wrap_pyfunction!(puffin_footer, module)?)
}
