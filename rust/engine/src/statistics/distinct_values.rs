//! Sketches of the distinct values of columns.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, make_array};
use arrow_buffer::NullBuffer;
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use icefloe_format::Error as FormatError;
use icefloe_format::sketch::{ThetaSketch, add_values};

use crate::error::{Error, Result};
use crate::runtime::executor::compute;
use crate::runtime::{block_on, default_threads, runtime};
use crate::scan::Scan;

const TASK: &str = "count distinct values";

/// Return one sketch for each column of a scan, given as its path: the position of the column in a batch, then of the child
/// in each enclosing struct.
///
/// Batches are hashed on several threads, each into sketches of its own. Merged sketches do not depend on how the
/// batches were divided.
///
/// # Errors
/// The errors of the scan; `InvalidArgument` for a column that is not primitive.
pub fn distinct_values<E: From<Error>>(
    scan: &Scan,
    columns: &[Vec<usize>],
    mut check: impl FnMut() -> std::result::Result<(), E>,
) -> std::result::Result<Vec<ThetaSketch>, E> {
    let mut reader = scan.open()?;
    let none = || vec![ThetaSketch::default(); columns.len()];
    let mut idle: Vec<Vec<ThetaSketch>> = (0..default_threads()).map(|_| none()).collect();
    let mut busy = FuturesUnordered::new();
    while let Some(batch) = reader.next_batch_checking(&mut check)?? {
        let mut sketches = match idle.pop() {
            Some(sketches) => sketches,
            None => block_on(async { finished(busy.next().await) })?,
        };
        let columns = columns.to_vec();
        let work =
            compute(TASK, move || add_batch(&mut sketches, &batch, &columns).map(|()| sketches));
        busy.push(runtime()?.spawn(work));
    }
    while !busy.is_empty() {
        idle.push(block_on(async { finished(busy.next().await) })?);
    }
    let mut merged = none();
    for sketches in idle {
        for (all, part) in merged.iter_mut().zip(&sketches) {
            all.merge(part);
        }
    }
    Ok(merged)
}

type Joined = std::result::Result<Result<Vec<ThetaSketch>>, tokio::task::JoinError>;

fn finished(outcome: Option<Joined>) -> Result<Vec<ThetaSketch>> {
    let outcome = outcome.ok_or_else(|| Error::internal(TASK, "no task runs"))?;
    outcome.unwrap_or_else(|error| Err(Error::internal(TASK, error)))
}

fn add_batch(
    sketches: &mut [ThetaSketch],
    batch: &RecordBatch,
    columns: &[Vec<usize>],
) -> Result<()> {
    for (sketch, path) in sketches.iter_mut().zip(columns) {
        add_values(sketch, &column(batch, path)?)?;
    }
    Ok(())
}

/// The column at a path; a null struct makes its children null.
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
