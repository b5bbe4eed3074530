//! Sorting of rows across files, and keys of space-filling curves.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use icefloe_engine::write::{RowOrder, SortedRows, TableCurve};
use icefloe_format::curve::{Curve, CurveKeys};
use icefloe_format::spec::{PartitionSpec, Schema, SortOrder};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

#[cfg(not(target_env = "msvc"))]
use crate::allocator::QuickReturn;
use crate::arrow::{BatchIn, SortedStream, StreamIn, array_out};
use crate::error::raise_format;

#[pyfunction]
#[pyo3(signature = (data, *, schema, spec, sort_order = None, curve = None, curve_columns = vec![], samples = None, memory_bytes))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of the Python function")]
fn sort_rows(
    py: Python<'_>,
    data: StreamIn,
    schema: &str,
    spec: &str,
    sort_order: Option<&str>,
    curve: Option<&str>,
    curve_columns: Vec<i32>,
    samples: Option<BatchIn>,
    memory_bytes: usize,
) -> PyResult<SortedStream> {
    let curve = curve.zip(samples).map(|(name, samples)| (name, curve_columns, samples));
    let order = py.detach(|| order_of(schema, spec, sort_order, curve));
    let StreamIn(reader) = data;
    let sorted = Sorting {
        rows: SortedRows::new(reader, order.map_err(raise_format)?, memory_bytes),
        #[cfg(not(target_env = "msvc"))]
        _memory: QuickReturn::start(),
    };
    Ok(SortedStream::new(Box::new(sorted)))
}

/// A curve by its name, the field ids of its columns, and sampled rows of them.
type CurveIn<'a> = (&'a str, Vec<i32>, BatchIn);

fn order_of(
    schema: &str,
    spec: &str,
    sort_order: Option<&str>,
    curve: Option<CurveIn<'_>>,
) -> icefloe_format::Result<RowOrder> {
    let schema = Schema::from_json(schema)?;
    let spec = PartitionSpec::from_json(spec)?;
    let sort_order = sort_order.map(SortOrder::from_json).transpose()?;
    let curve = curve.map(|(name, columns, samples)| {
        let keys = CurveKeys::new(name.parse()?, samples.0.columns())?;
        Ok::<_, icefloe_format::Error>(TableCurve { columns, keys })
    });
    RowOrder::new(&schema, &spec, sort_order.as_ref(), curve.transpose()?)
}

/// The order of `sort_rows`, to cut rows into ranges.
#[pyclass(name = "RowOrder", module = "icefloe._core", frozen)]
struct OrderOfRows {
    order: RowOrder,
}

#[pymethods]
impl OrderOfRows {
    #[new]
    #[pyo3(signature = (*, schema, spec, sort_order = None, curve = None, curve_columns = vec![], samples = None))]
    fn new(
        py: Python<'_>,
        schema: &str,
        spec: &str,
        sort_order: Option<&str>,
        curve: Option<&str>,
        curve_columns: Vec<i32>,
        samples: Option<BatchIn>,
    ) -> PyResult<Self> {
        let curve = curve.zip(samples).map(|(name, samples)| (name, curve_columns, samples));
        let order = py.detach(|| order_of(schema, spec, sort_order, curve));
        Ok(Self { order: order.map_err(raise_format)? })
    }

    fn keys<'py>(&self, py: Python<'py>, rows: BatchIn) -> PyResult<Bound<'py, PyAny>> {
        let keys = py.detach(|| self.order.key_bytes(&rows.0)).map_err(raise_format)?;
        array_out(py, &(Arc::new(keys) as ArrayRef))
    }

    fn ranges<'py>(
        &self,
        py: Python<'py>,
        rows: BatchIn,
        bounds: Vec<PyBackedBytes>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let ranges = py.detach(|| self.order.ranges(&rows.0, &bounds)).map_err(raise_format)?;
        array_out(py, &(Arc::new(ranges) as ArrayRef))
    }
}

/// Sorted rows; until they are dropped, freed memory returns early to the operating system.
struct Sorting {
    rows: SortedRows,
    #[cfg(not(target_env = "msvc"))]
    _memory: QuickReturn,
}

impl Iterator for Sorting {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.rows.next()
    }
}

impl RecordBatchReader for Sorting {
    fn schema(&self) -> SchemaRef {
        self.rows.schema()
    }
}

#[pyfunction]
fn curve_keys<'py>(
    py: Python<'py>,
    curve: &str,
    samples: BatchIn,
    columns: BatchIn,
) -> PyResult<Bound<'py, PyAny>> {
    let keys = py.detach(|| {
        let curve: Curve = curve.parse()?;
        CurveKeys::new(curve, samples.0.columns())?.column(columns.0.columns())
    });
    array_out(py, &(Arc::new(keys.map_err(raise_format)?) as ArrayRef))
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<SortedStream>()?;
    module.add_class::<OrderOfRows>()?;
    module.add_function(wrap_pyfunction!(sort_rows, module)?)?;
    module.add_function(wrap_pyfunction!(curve_keys, module)?)
}
