//! Rows of delete files, decoded on several threads and returned in the order of the files.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::RecordBatch;
use icefloe_format::spec::Schema;

use super::delete_file::DeleteFile;
use crate::bytes::data_file::TailFetch;
use crate::error::Result;
use crate::formats::batch_size::BatchSize;
use crate::formats::data_format::{DataFormat, DataUnit};
use crate::pipeline::{Flight, Pipeline, Work};
use crate::resolve::request::FileRequest;
use crate::store::FileIo;
use crate::table::TableContext;

/// Delete files to read with one schema.
pub(crate) struct DeleteBatches {
    pub(crate) io: FileIo,
    pub(crate) context: Arc<TableContext>,
    pub(crate) schema: Arc<Schema>,
    pub(crate) files: Vec<DeleteFile>,
    /// The request for the end of the first file, if it was sent.
    pub(crate) tail: Mutex<Option<TailFetch>>,
}

impl DeleteBatches {
    /// Call `take` with each batch and the index of its file.
    ///
    /// # Errors
    /// Errors of reading the files and of `take`.
    pub(crate) fn each(
        self,
        flight: Flight,
        take: &mut dyn FnMut(usize, RecordBatch) -> Result<()>,
    ) -> Result<()> {
        if self.is_small() {
            return self.each_on_this_thread(take);
        }
        for taken in Pipeline::new(self, flight)? {
            let (file, batch) = taken?;
            take(file, batch)?;
        }
        Ok(())
    }

    fn take_first_tail(&self, file: usize) -> Option<TailFetch> {
        let mut tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.take_if(|_| file == 0)
    }

    fn is_small(&self) -> bool {
        match self.files.as_slice() {
            [] => true,
            [file] => {
                usize::try_from(file.record_count).is_ok_and(|rows| rows <= BatchSize::PASSING.rows)
            }
            _ => false,
        }
    }

    fn each_on_this_thread(
        &self,
        take: &mut dyn FnMut(usize, RecordBatch) -> Result<()>,
    ) -> Result<()> {
        for unit in (0..self.files.len()).map(|file| self.prepare(file, self.take_first_tail(file)))
        {
            for unit in unit? {
                let mut outcome = Ok(());
                self.decode(unit, &mut |(file, batch)| {
                    outcome = take(file, batch);
                    outcome.is_ok()
                })?;
                outcome?;
            }
        }
        Ok(())
    }
}

impl Work for DeleteBatches {
    type Unit = (usize, DataUnit);
    type Item = (usize, RecordBatch);

    fn tasks(&self) -> usize {
        self.files.len()
    }

    fn fetch_tail(&self, task: usize) -> Option<TailFetch> {
        let file = self.files.get(task)?;
        self.take_first_tail(task).or_else(|| TailFetch::start(&self.io, &file.location))
    }

    fn prefetch(&self, (_, unit): &Self::Unit, most: usize) -> Option<usize> {
        unit.prefetch(most)
    }

    fn prepare(&self, task: usize, tail: Option<TailFetch>) -> Result<Vec<Self::Unit>> {
        let Some(file) = self.files.get(task) else { return Ok(vec![]) };
        let what = (file.location.as_str(), file.record_count);
        let request = FileRequest::whole((&self.io, &self.context), what, &self.schema);
        request.tail.set(tail);
        let format = DataFormat::of(&file.file_format, &file.location)?;
        let units = format.open(&request).map_err(|error| error.at(&file.location))?;
        Ok(units.into_iter().map(|unit| (task, unit)).collect())
    }

    fn decode(
        &self,
        (file, unit): Self::Unit,
        emit: &mut dyn FnMut(Self::Item) -> bool,
    ) -> Result<()> {
        unit.decode(BatchSize::PASSING, None, &mut |batch| emit((file, batch)))
    }

    fn bytes((_, batch): &Self::Item) -> usize {
        batch.get_array_memory_size()
    }
}
