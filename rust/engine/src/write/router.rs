//! Rows to their partitions' files, in one pass and within a memory limit.
//!
//! A batch of few partitions is sliced and written. Other batches are collected in a window; when it is full, each
//! partition's rows are taken out of it at once and wait until they are worth writing. Over the memory limit, the lane
//! that holds most is flushed first: waiting rows are written, open row groups are ended.

use std::ops::RangeInclusive;
use std::sync::Arc;

use arrow_array::RecordBatch;
use icefloe_format::spec::{PartitionSpec, Schema, SortOrder};

use super::batch_bytes::batch_bytes;
use super::copied_rows::CopiedGroup;
use super::groups::{Grouped, Groups};
use super::in_parallel::in_parallel;
use super::last_rows::{LastRows, write_last_rows};
use super::rolling::{Files, Rolling};
use super::sort::{Sorter, gather};
use crate::error::Result;

/// Bytes of the window for each partition: more partitions need more rows to get some each. Small windows stay in the
/// processor's cache.
const WINDOW_BYTES_EACH: usize = 128 * 1024;
const WINDOW_BYTES: RangeInclusive<usize> = 4 * MIB..=64 * MIB;
/// Bytes that wait for a partition before they are written. Writing reloads dictionaries that have left the processor's
/// cache, so small writes cost more; the limit is higher if not all files can be open.
const WAITING_BYTES: RangeInclusive<usize> = 4 * MIB..=16 * MIB;
const MIB: usize = 1024 * 1024;
/// The least rows of a stretch that are written without waiting.
const LONG_RUN: usize = 4096;
/// The most open files; most systems allow a process 1,024.
const OPEN_FILES: usize = 256;

/// The order of rows before and after writing.
pub(super) enum Arrangement {
    /// Unsorted, in any order of partitions.
    AsTheyCome,
    /// Sorted already, by partition and by the sort order.
    Presorted,
    /// Sorted before they are written.
    Sort(Arc<Sorter>),
}

impl Arrangement {
    /// # Errors
    /// `InvalidArgument` for a sort order that the schema does not fit.
    pub(super) fn new(schema: &Schema, order: Option<&SortOrder>, presorted: bool) -> Result<Self> {
        match order.filter(|order| !order.is_unsorted()) {
            _ if presorted => Ok(Self::Presorted),
            None => Ok(Self::AsTheyCome),
            Some(order) => Ok(Self::Sort(Arc::new(Sorter::new(schema, order)?))),
        }
    }
}

/// A partition: its waiting rows and its files.
struct Lane {
    rolling: Rolling,
    waiting: Vec<RecordBatch>,
    waiting_bytes: usize,
    /// Bytes in memory of the open file after its last write.
    file_bytes: usize,
}

impl Lane {
    fn held_bytes(&self) -> usize {
        self.waiting_bytes + self.file_bytes
    }
}

/// Routes the batches of one task.
pub(super) struct Router {
    files: Files,
    groups: Groups,
    arrangement: Arrangement,
    lanes: Vec<Lane>,
    window: Vec<(RecordBatch, Vec<u32>)>,
    window_bytes: usize,
    /// The only partition with an open file, if rows are presorted.
    current: Option<usize>,
    /// Bytes in memory of all lanes.
    held_bytes: usize,
}

impl Router {
    pub(super) fn new(
        files: Files,
        schema: &Schema,
        spec: &PartitionSpec,
        arrangement: Arrangement,
    ) -> Result<Self> {
        Ok(Self {
            files,
            groups: Groups::new(schema, spec)?,
            arrangement,
            lanes: Vec::new(),
            window: Vec::new(),
            window_bytes: 0,
            current: None,
            held_bytes: 0,
        })
    }

    /// Add each row of a batch to its partition.
    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.write_part(batch, batch)
    }

    /// Write the rows of `batch`, each to the partition of the same row of `routed`, whose columns the partition spec
    /// reads.
    pub(super) fn write_part(&mut self, routed: &RecordBatch, batch: &RecordBatch) -> Result<()> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        let presorted = matches!(self.arrangement, Arrangement::Presorted);
        match self.groups.of(routed, presorted)? {
            Grouped::Runs(runs) => {
                for (start, length, group) in runs {
                    self.write_run(index(group), batch.slice(start, length))?;
                }
            }
            Grouped::Scattered(groups) => {
                self.window_bytes += batch_bytes(batch);
                self.window.push((batch.clone(), groups));
                if self.window_bytes >= self.window_limit() {
                    self.scatter()?;
                }
            }
        }
        self.flush_to_limits()
    }

    /// Write row groups of copied pages to the files of their partitions, after all other rows. `empty` is a batch without
    /// rows.
    pub(super) fn append_copied(
        &mut self,
        groups: Vec<CopiedGroup>,
        empty: &RecordBatch,
    ) -> Result<()> {
        self.scatter()?;
        // The rows of the first file decide on the dictionaries of all files.
        let waiting = self.lanes.iter().find_map(|lane| lane.waiting.first());
        let first = waiting.unwrap_or(empty).clone();
        for copied in groups {
            let group = index(self.groups.of_partition(copied.partition())?);
            self.add_lanes();
            self.write_waiting(group)?;
            self.lanes[group].rolling.append_copied(&mut self.files, copied, &first)?;
            self.count_file(group);
            self.flush_to_limits()?;
        }
        Ok(())
    }

    /// Write all waiting rows, and close every file.
    pub(super) fn finish(&mut self) -> Result<()> {
        self.scatter()?;
        self.held_bytes = 0;
        let sorter = match &self.arrangement {
            Arrangement::Sort(sorter) => Some(Arc::clone(sorter)),
            Arrangement::AsTheyCome | Arrangement::Presorted => None,
        };
        let last = std::mem::take(&mut self.lanes).into_iter().map(|lane| LastRows {
            rolling: lane.rolling,
            batches: lane.waiting,
            sorter: sorter.clone(),
        });
        write_last_rows(last, &mut self.files)
    }

    /// Return the created files.
    pub(super) fn into_files(self) -> Files {
        self.files
    }

    fn window_limit(&self) -> usize {
        let wanted = self.groups.len().saturating_mul(WINDOW_BYTES_EACH);
        wanted.clamp(*WINDOW_BYTES.start(), *WINDOW_BYTES.end()).min(self.memory_limit() / 4)
    }

    fn waiting_limit(&self) -> usize {
        let few = self.groups.len() <= OPEN_FILES;
        if few { *WAITING_BYTES.start() } else { *WAITING_BYTES.end() }
    }

    fn memory_limit(&self) -> usize {
        usize::try_from(self.files.options.memory_bytes).unwrap_or(usize::MAX)
    }

    fn write_run(&mut self, group: usize, batch: RecordBatch) -> Result<()> {
        self.add_lanes();
        match &self.arrangement {
            Arrangement::Sort(_) => self.add_rows(group, copied(batch)?),
            Arrangement::AsTheyCome if self.lanes.len() == 1 || batch.num_rows() >= LONG_RUN => {
                self.write_waiting(group)?;
                self.write_through(group, &batch)
            }
            Arrangement::AsTheyCome => self.add_rows(group, copied(batch)?),
            Arrangement::Presorted => {
                if let Some(previous) = self.current.replace(group)
                    && previous != group
                {
                    self.close(previous)?;
                }
                self.write_through(group, &batch)
            }
        }
    }

    /// Move each partition's rows out of the window.
    fn scatter(&mut self) -> Result<()> {
        self.add_lanes();
        let window = std::mem::take(&mut self.window);
        self.window_bytes = 0;
        let (batches, groups): (Vec<_>, Vec<_>) = window.into_iter().unzip();
        let parts = rows_by_group(&groups, self.groups.len());
        let gathered = in_parallel("gather rows", parts, move |(group, rows)| {
            Ok((group, gather(&batches, &rows)?))
        });
        gathered?.into_iter().try_for_each(|(group, batch)| self.add_rows(group, batch))
    }

    /// Add rows to their partition, and write its rows once there are enough.
    fn add_rows(&mut self, group: usize, batch: RecordBatch) -> Result<()> {
        let sorting = matches!(self.arrangement, Arrangement::Sort(_));
        let waiting_limit = self.waiting_limit();
        let lane = &mut self.lanes[group];
        let bytes = batch_bytes(&batch);
        lane.waiting.push(batch);
        lane.waiting_bytes += bytes;
        self.held_bytes += bytes;
        if !sorting && lane.waiting_bytes >= waiting_limit {
            self.write_waiting(group)?;
        }
        Ok(())
    }

    fn write_through(&mut self, group: usize, batch: &RecordBatch) -> Result<()> {
        let lane = &mut self.lanes[group];
        lane.rolling.write(&mut self.files, batch)?;
        self.count_file(group);
        Ok(())
    }

    /// Write the waiting rows, sorted first where the order requires it; sorted rows are a file of their own.
    fn write_waiting(&mut self, group: usize) -> Result<()> {
        let lane = &mut self.lanes[group];
        if lane.waiting.is_empty() {
            return Ok(());
        }
        let waiting = std::mem::take(&mut lane.waiting);
        self.held_bytes -= std::mem::take(&mut lane.waiting_bytes);
        if let Arrangement::Sort(sorter) = &self.arrangement {
            for batch in sorter.sort(&waiting)? {
                lane.rolling.write(&mut self.files, &batch)?;
            }
            return self.close(group);
        }
        for batch in waiting {
            lane.rolling.write(&mut self.files, &batch)?;
        }
        self.count_file(group);
        Ok(())
    }

    fn close(&mut self, group: usize) -> Result<()> {
        self.lanes[group].rolling.close(&mut self.files)?;
        self.count_file(group);
        Ok(())
    }

    /// Update the bytes that a lane holds.
    fn count_file(&mut self, group: usize) {
        let lane = &mut self.lanes[group];
        let now = lane.rolling.memory_bytes();
        self.held_bytes = self.held_bytes - lane.file_bytes + now;
        lane.file_bytes = now;
    }

    /// Flush lanes until memory and open files are below their limits.
    fn flush_to_limits(&mut self) -> Result<()> {
        while self.held_bytes > self.memory_limit() {
            let Some(group) = self.largest(|_| true) else { break };
            let before = self.held_bytes;
            self.write_waiting(group)?;
            self.lanes[group].rolling.flush()?;
            self.count_file(group);
            // Bytes that wait for their upload leave memory when the file is complete.
            if self.held_bytes >= before {
                self.close(group)?;
            }
            if self.held_bytes >= before {
                break;
            }
        }
        while self.lanes.iter().filter(|lane| lane.rolling.is_open()).count() > OPEN_FILES {
            let Some(group) = self.largest(|lane| lane.rolling.is_open()) else { break };
            self.close(group)?;
        }
        Ok(())
    }

    fn largest(&self, among: impl Fn(&Lane) -> bool) -> Option<usize> {
        let lanes = self.lanes.iter().enumerate().filter(|(_, lane)| among(lane));
        lanes.max_by_key(|(_, lane)| lane.held_bytes()).map(|(group, _)| group)
    }

    fn add_lanes(&mut self) {
        for group in self.lanes.len()..self.groups.len() {
            self.lanes.push(Lane {
                rolling: Rolling::new(self.groups.destination(group)),
                waiting: Vec::new(),
                waiting_bytes: 0,
                file_bytes: 0,
            });
        }
    }
}

/// Return the rows of each group in order, as positions of batches and of rows in them.
fn rows_by_group(groups: &[Vec<u32>], count: usize) -> Vec<(usize, Vec<(usize, usize)>)> {
    let mut sizes = vec![0; count];
    groups.iter().flatten().for_each(|group| sizes[index(*group)] += 1);
    let mut rows: Vec<_> = sizes.into_iter().map(Vec::with_capacity).collect();
    for (batch, groups) in groups.iter().enumerate() {
        for (row, group) in groups.iter().enumerate() {
            rows[index(*group)].push((batch, row));
        }
    }
    rows.into_iter().enumerate().filter(|(_, rows)| !rows.is_empty()).collect()
}

/// Copy a short run, so that it does not keep its whole batch in memory while it waits.
fn copied(run: RecordBatch) -> Result<RecordBatch> {
    if run.num_rows() >= LONG_RUN {
        return Ok(run);
    }
    let rows: Vec<_> = (0..run.num_rows()).map(|row| (0, row)).collect();
    Ok(gather(&[run], &rows)?)
}

fn index(group: u32) -> usize {
    usize::try_from(group).unwrap_or(usize::MAX)
}
