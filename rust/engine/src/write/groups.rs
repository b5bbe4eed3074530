//! The partition of each row of a batch.

use arrow_array::{ArrayRef, RecordBatch};
use arrow_row::{RowConverter, Rows, SortField};
use arrow_schema::ArrowError;
use hashbrown::HashMap;
use icefloe_format::spec::{
    Partition, PartitionSpec, Schema, partition_path, partition_to_json, primitive_to_arrow,
};
use icefloe_format::{Error, Result};

use super::keys::{Key, partition_at};
use super::rolling::Destination;

/// Numbers partitions in the order of their first rows.
pub(super) struct Groups {
    schema: Schema,
    spec: PartitionSpec,
    keys: Vec<Key>,
    converter: RowConverter,
    /// Group by the row-encoded tuple.
    known: HashMap<Box<[u8]>, u32>,
    /// Group by the tuple as JSON.
    by_partition: HashMap<String, u32>,
    destinations: Vec<Destination>,
}

/// The groups of a batch's rows.
pub(super) enum Grouped {
    /// Few stretches of neighbouring rows of one group: start, length and group of each, in order.
    Runs(Vec<(usize, usize, u32)>),
    /// The group of each row.
    Scattered(Vec<u32>),
}

/// The most stretches of a batch that are sliced one by one.
const MAX_RUNS: usize = 8;

impl Groups {
    /// # Errors
    /// As for [`Key::new`].
    pub(super) fn new(schema: &Schema, spec: &PartitionSpec) -> Result<Self> {
        let keys = Key::of_spec(schema, spec)?;
        let fields = keys.iter().map(|key| SortField::new(primitive_to_arrow(key.result())));
        let converter = RowConverter::new(fields.collect()).map_err(refused)?;
        Ok(Self {
            schema: schema.clone(),
            spec: spec.clone(),
            keys,
            converter,
            known: HashMap::new(),
            by_partition: HashMap::new(),
            destinations: Vec::new(),
        })
    }

    /// Return the destination of the files of a group.
    pub(super) fn destination(&self, group: usize) -> Destination {
        self.destinations.get(group).cloned().unwrap_or_default()
    }

    /// Return the number of groups so far.
    pub(super) fn len(&self) -> usize {
        self.destinations.len()
    }

    /// Return the groups of a batch's rows. With `runs_only` they are always stretches.
    pub(super) fn of(&mut self, batch: &RecordBatch, runs_only: bool) -> Result<Grouped> {
        let columns = self.keys.iter().map(|key| key.column(batch));
        let columns = columns.collect::<Result<Vec<ArrayRef>>>()?;
        if columns.is_empty() {
            let group = self.group_of(&[], &columns, 0)?;
            return Ok(Grouped::Runs(vec![(0, batch.num_rows(), group)]));
        }
        let rows = self.converter.convert_columns(&columns).map_err(refused)?;
        let most = if runs_only { usize::MAX } else { MAX_RUNS };
        if let Some(starts) = run_starts(&rows, most) {
            let ends = starts.iter().skip(1).copied().chain([rows.num_rows()]);
            let runs = starts.iter().zip(ends).map(|(start, end)| {
                let group = self.group_of(rows.row(*start).as_ref(), &columns, *start)?;
                Ok((*start, end - start, group))
            });
            return runs.collect::<Result<_>>().map(Grouped::Runs);
        }
        let groups = (0..rows.num_rows())
            .map(|row| self.group_of(rows.row(row).as_ref(), &columns, row))
            .collect::<Result<_>>()?;
        Ok(Grouped::Scattered(groups))
    }

    fn group_of(&mut self, key: &[u8], columns: &[ArrayRef], row: usize) -> Result<u32> {
        if let Some(group) = self.known.get(key) {
            return Ok(*group);
        }
        let tuple = partition_at(&self.keys, columns, row)?;
        let group = self.add(&tuple, partition_to_json(&tuple))?;
        self.known.insert(key.into(), group);
        Ok(group)
    }

    /// Return the group of a partition, which may be new.
    ///
    /// # Errors
    /// `Unsupported` for more than 4 billion partitions.
    pub(super) fn of_partition(&mut self, tuple: &Partition) -> Result<u32> {
        let partition = partition_to_json(tuple);
        match self.by_partition.get(&partition) {
            Some(group) => Ok(*group),
            None => self.add(tuple, partition),
        }
    }

    fn add(&mut self, tuple: &Partition, partition: String) -> Result<u32> {
        let group = u32::try_from(self.destinations.len())
            .map_err(|_| Error::unsupported("more than 4 billion partitions in one task"))?;
        self.by_partition.entry(partition.clone()).or_insert(group);
        let path = partition_path(&self.spec, &self.schema, tuple);
        self.destinations.push(Destination { spec_id: self.spec.spec_id, partition, path });
        Ok(group)
    }
}

/// Return the first row of each stretch of equal rows; `None` if there are more than `most`.
fn run_starts(rows: &Rows, most: usize) -> Option<Vec<usize>> {
    let mut starts = Vec::new();
    for row in 0..rows.num_rows() {
        if row == 0 || rows.row(row) != rows.row(row - 1) {
            if starts.len() == most {
                return None;
            }
            starts.push(row);
        }
    }
    Some(starts)
}

fn refused(error: ArrowError) -> Error {
    Error::invalid("data", error.to_string())
}
