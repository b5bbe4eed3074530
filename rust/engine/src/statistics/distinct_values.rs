//! Sketches of the distinct values of columns.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, make_array};
use arrow_buffer::NullBuffer;
use icefloe_format::Error as FormatError;
use icefloe_format::sketch::{ColumnSketch, ThetaSketch};

use crate::bytes::data_file::TailFetch;
use crate::error::{Error, Result};
use crate::formats::data_format::DataUnit;
use crate::pipeline::{Pipeline, Step, Work};
use crate::runtime::CHECK_EVERY;
use crate::scan::{Scan, ScanWork};

/// Return one sketch for each column of a scan, given as its path: the position of the column in a batch, then of the child
/// in each enclosing struct.
///
/// The thread that decodes rows hashes them, into sketches of its own. Merged sketches do not depend on how the rows were
/// divided.
///
/// # Errors
/// The errors of the scan; `InvalidArgument` for a column that is not primitive, and for a scan with a limit.
pub fn distinct_values<E: From<Error>>(
    scan: &Scan,
    columns: &[Vec<usize>],
    mut check: impl FnMut() -> std::result::Result<(), E>,
) -> std::result::Result<Vec<ThetaSketch>, E> {
    let work = Arc::new(Counted::new(scan, columns)?);
    let mut pipeline = Pipeline::new(Arc::clone(&work), scan.flight())?;
    loop {
        match pipeline.next_within(CHECK_EVERY)? {
            Step::Item(()) => {}
            Step::Pending => check()?,
            Step::End => break,
        }
    }
    Ok(work.merged()?)
}

/// The columns of a scan whose values are counted.
struct Counted {
    scan: Arc<ScanWork>,
    columns: Vec<Vec<usize>>,
    /// Sketches of all columns that no thread currently adds to.
    idle: Mutex<Vec<Vec<ColumnSketch>>>,
}

impl Counted {
    fn new(scan: &Scan, columns: &[Vec<usize>]) -> Result<Self> {
        let scan = scan.work().of_this_process();
        if let Some(limit) = scan.limit {
            let reason = format!("expected a scan without a limit, got a limit of {limit} rows");
            return Err(FormatError::invalid("distinct values", reason).into());
        }
        // Hashes do not depend on the layout of strings, and dictionaries and offsets are the cheapest to decode.
        let scan = ScanWork { string_views: false, dictionaries: true, ..ScanWork::clone(&scan) };
        let (columns, idle) = (columns.to_vec(), Mutex::default());
        Ok(Self { scan: Arc::new(scan), columns, idle })
    }

    fn add(&self, sketches: &mut [ColumnSketch], batch: &RecordBatch) -> Result<()> {
        for (sketch, path) in sketches.iter_mut().zip(&self.columns) {
            sketch.add(&column(batch, path)?)?;
        }
        Ok(())
    }

    fn none(&self) -> Vec<ColumnSketch> {
        vec![ColumnSketch::default(); self.columns.len()]
    }

    /// Merge the sketches of all threads.
    fn merged(&self) -> Result<Vec<ThetaSketch>> {
        let mut merged = vec![ThetaSketch::default(); self.columns.len()];
        let idle = std::mem::take(&mut *self.idle.lock().unwrap_or_else(PoisonError::into_inner));
        for sketches in idle {
            for (all, part) in merged.iter_mut().zip(sketches) {
                all.merge(&part.finish()?);
            }
        }
        Ok(merged)
    }
}

impl Work for Arc<Counted> {
    type Unit = DataUnit;
    type Item = ();

    fn tasks(&self) -> usize {
        self.scan.tasks()
    }

    fn fetch_tail(&self, task: usize) -> Option<TailFetch> {
        self.scan.fetch_tail(task)
    }

    fn prepare(&self, task: usize, tail: Option<TailFetch>) -> Result<Vec<DataUnit>> {
        self.scan.prepare(task, tail)
    }

    fn prefetch(&self, unit: &DataUnit, most: usize) -> Option<usize> {
        self.scan.prefetch(unit, most)
    }

    fn decode(&self, unit: DataUnit, emit: &mut dyn FnMut(()) -> bool) -> Result<()> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let known = idle().pop();
        let mut sketches = known.unwrap_or_else(|| self.none());
        let mut outcome = Ok(());
        self.scan.decode(unit, &mut |batch| {
            outcome = self.add(&mut sketches, &batch);
            outcome.is_ok()
        })?;
        outcome?;
        idle().push(sketches);
        emit(());
        Ok(())
    }

    fn bytes((): &()) -> usize {
        0
    }
}

/// Return the column at a path. A null struct makes its children null.
fn column(batch: &RecordBatch, path: &[usize]) -> Result<ArrayRef> {
    let absent = || FormatError::invalid("column", format!("the batch has no path {path:?}"));
    let (first, rest) = path.split_first().ok_or_else(absent)?;
    let mut found = batch.columns().get(*first).cloned().ok_or_else(absent)?;
    for child in rest {
        let parent = found.as_struct_opt().ok_or_else(absent)?;
        let values = parent.columns().get(*child).cloned().ok_or_else(absent)?;
        let nulls = NullBuffer::union(values.nulls(), parent.nulls());
        let data = values.to_data().into_builder().nulls(nulls).build();
        found =
            make_array(data.map_err(|error| FormatError::invalid("column", error.to_string()))?);
    }
    Ok(found)
}
