//! The end of a write: the last rows of all partitions, on several threads.

use std::sync::Arc;

use arrow_array::RecordBatch;

use super::in_parallel::in_parallel;
use super::rolling::{Files, Rolling};
use super::sort::Sorter;
use crate::error::Result;

/// The rows of one partition that are not written yet, and its open file.
pub(super) struct LastRows {
    pub(super) rolling: Rolling,
    pub(super) batches: Vec<RecordBatch>,
    /// The order of the rows, unless they stay as they came.
    pub(super) sorter: Option<Arc<Sorter>>,
}

impl LastRows {
    fn has_work(&self) -> bool {
        self.rolling.is_open() || !self.batches.is_empty()
    }

    /// Write the rows and close the file.
    fn write(mut self, files: &mut Files) -> Result<()> {
        let batches = match &self.sorter {
            Some(sorter) => sorter.sort(&self.batches)?,
            None => self.batches,
        };
        for batch in batches {
            self.rolling.write(files, &batch)?;
        }
        self.rolling.close(files)
    }
}

/// Write the last rows of all partitions and close their files. Names and order of the files do not depend on the threads.
///
/// # Errors
/// The error of the first partition that failed. The files of other partitions remain, and are discarded with the outputs.
pub(super) fn write_last_rows(
    partitions: impl Iterator<Item = LastRows>,
    files: &mut Files,
) -> Result<()> {
    let mut partitions = partitions.filter(LastRows::has_work);
    // The first rows are the sample that decides on dictionaries.
    if let Some(first) = partitions.next() {
        first.write(files)?;
    }
    if !files.shape.gains_from_threads() {
        return partitions.try_for_each(|partition| partition.write(files));
    }
    let mut partitions: Vec<LastRows> = partitions.collect();
    partitions.iter_mut().for_each(|partition| partition.rolling.reserve_name(&files.names));
    let shared = files.share();
    let written = in_parallel("write data files", partitions, move |partition| {
        let mut files = shared.share();
        partition.write(&mut files).map(|()| files.finished)
    });
    files.finished.extend(written?.into_iter().flatten());
    Ok(())
}
