//! The table's side of a join: rows are added batch by batch, and pairs come out as columns.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Int32Array, Int64Array, RecordBatch, UInt32Array};
use arrow_buffer::BooleanBufferBuilder;
use arrow_cast::cast;
use arrow_schema::{DataType, Field, Schema};
use icefloe_format::Error as FormatError;
use icefloe_format::spec::ArrowName;

use super::index::KeyIndex;
use super::keys::{hash_of, words_of};
use super::shares::{SHARES, Shares};
use super::source_keys::{SourceKeys, SourceRows, index_of};
use crate::error::Result;

/// A row of the table: the number of its file, and its position in the file.
type Position = (i32, i64);

/// The rows of both sides of a join.
#[derive(Debug)]
pub struct JoinedRows {
    /// Pairs of rows with equal keys, by position: `__file_row` int32, `_pos` int64, `__source_row` uint32.
    pub pairs: RecordBatch,
    /// Rows of the table without a source row, if requested: `__file_row` int32, `_pos` int64.
    pub unmatched: RecordBatch,
    /// Source rows without a row of the table, ascending.
    pub unmatched_source: ArrayRef,
}

/// A join whose table side is being added.
#[derive(Debug)]
pub struct Probe {
    source: SourceKeys,
    files: HashMap<String, i32>,
    /// The table's rows, where the source is in shares: the words of the hash, file and position.
    waiting: Option<Shares<4>>,
    found: Found,
}

#[derive(Debug)]
struct Found {
    pairs: Vec<(Position, u32)>,
    matched: BooleanBufferBuilder,
    unmatched: Option<Vec<Position>>,
}

impl Found {
    fn add(&mut self, index: &KeyIndex, hash: u128, position: Position) {
        let before = self.pairs.len();
        self.pairs.extend(index.rows_of(hash).map(|row| (position, row)));
        for (_, row) in self.pairs.get(before..).unwrap_or_default() {
            self.matched.set_bit(*row as usize, true);
        }
        if self.pairs.len() == before {
            self.add_unmatched(position);
        }
    }

    fn add_unmatched(&mut self, position: Position) {
        if let Some(unmatched) = &mut self.unmatched {
            unmatched.push(position);
        }
    }
}

impl Probe {
    /// Begin the join with a table's rows. `paths` are the table's data files; with `unmatched`, rows that no source
    /// row matches are returned as well.
    pub fn new(source: SourceKeys, paths: Vec<String>, unmatched: bool) -> Self {
        let mut matched = BooleanBufferBuilder::new(source.count as usize);
        matched.append_n(source.count as usize, false);
        let waiting = match &source.rows {
            SourceRows::InMemory(_) => None,
            SourceRows::InShares(_) => Some(Shares::new(source.budget / 2)),
        };
        let found = Found { pairs: vec![], matched, unmatched: unmatched.then(Vec::new) };
        Self { source, files: paths.into_iter().zip(0..).collect(), waiting, found }
    }

    /// Add rows of the table: the key columns, `_file` and `_pos`.
    ///
    /// # Errors
    /// `InvalidArgument` for other columns or an unknown file, `Storage` where the temporary file cannot be written.
    pub fn add(&mut self, rows: &RecordBatch) -> Result<()> {
        let (keys, files, positions) = split(rows, self.source.hasher.width())?;
        let hashed = self.source.hasher.hash(keys, rows.num_rows())?;
        let files = self.numbers(files)?;
        let Some(positions) = positions.as_primitive_opt::<Int64Type>() else {
            return Err(FormatError::invalid("_pos", "expected long values").into());
        };
        let located = files.iter().zip(positions.values()).zip(&hashed.hashes).enumerate();
        for (row, ((file, position), hash)) in located {
            let position = (*file, *position);
            if !hashed.can_match(row) {
                self.found.add_unmatched(position);
                continue;
            }
            match (&mut self.waiting, &self.source.rows) {
                (None, SourceRows::InMemory(index)) => self.found.add(index, *hash, position),
                (Some(waiting), _) => {
                    let [low, high] = words_of(*hash);
                    let file = u64::from(position.0.cast_unsigned());
                    waiting.push(*hash, [low, high, file, position.1.cast_unsigned()])?;
                }
                (None, SourceRows::InShares(_)) => {}
            }
        }
        Ok(())
    }

    /// Return the pairs of all rows added.
    ///
    /// # Errors
    /// `Storage` where a temporary file cannot be read.
    pub fn finish(mut self) -> Result<JoinedRows> {
        if let (Some(mut waiting), SourceRows::InShares(shares)) =
            (self.waiting.take(), &mut self.source.rows)
        {
            for share in 0..SHARES {
                let index = index_of(shares, share)?;
                let found = &mut self.found;
                waiting.each(share, |[low, high, file, position]| {
                    let position = ((file as u32).cast_signed(), position.cast_signed());
                    found.add(&index, hash_of(low, high), position);
                })?;
            }
        }
        self.found.into_columns()
    }

    /// Return the number of each row's file. The rows of a batch are most often of one file.
    fn numbers(&self, files: &ArrayRef) -> Result<Vec<i32>> {
        let number = |path: &str| {
            self.files.get(path).copied().ok_or_else(|| {
                FormatError::invalid("_file", format!("{path} is not a file of the plan"))
            })
        };
        let views = match files.data_type() {
            DataType::Utf8View => Arc::clone(files),
            _ => cast(files, &DataType::Utf8View)
                .map_err(|error| FormatError::invalid("_file", error.to_string()))?,
        };
        let Some(paths) = views.as_string_view_opt() else {
            let reason = format!("expected string, got {}", ArrowName(files.data_type()));
            return Err(FormatError::invalid("_file", reason).into());
        };
        let mut last: Option<(u128, i32)> = None;
        let numbers = paths.views().iter().enumerate().map(|(row, view)| match last {
            // Equal views of one array are equal paths.
            Some((same, number)) if same == *view => Ok(number),
            _ => {
                let number = number(paths.value(row))?;
                last = Some((*view, number));
                Ok(number)
            }
        });
        numbers.collect()
    }
}

impl Found {
    fn into_columns(mut self) -> Result<JoinedRows> {
        if !self.pairs.is_sorted() {
            self.pairs.sort_unstable();
        }
        let mut unmatched = self.unmatched.unwrap_or_default();
        if !unmatched.is_sorted() {
            unmatched.sort_unstable();
        }
        let matched = self.matched.finish();
        let others = (0_u32..).zip(matched.iter()).filter(|(_, matched)| !matched);
        let unmatched_source: UInt32Array = others.map(|(row, _)| row).collect();
        let sources: UInt32Array = self.pairs.iter().map(|(_, source)| *source).collect();
        let positions = self.pairs.iter().map(|(position, _)| *position);
        let mut columns = located(positions);
        columns.push(("__source_row", Arc::new(sources)));
        Ok(JoinedRows {
            pairs: batch(columns)?,
            unmatched: batch(located(unmatched.iter().copied()))?,
            unmatched_source: Arc::new(unmatched_source),
        })
    }
}

fn located(positions: impl Iterator<Item = Position> + Clone) -> Vec<(&'static str, ArrayRef)> {
    let files: Int32Array = positions.clone().map(|(file, _)| file).collect();
    let ordinals: Int64Array = positions.map(|(_, position)| position).collect();
    vec![("__file_row", Arc::new(files)), ("_pos", Arc::new(ordinals))]
}

fn batch(columns: Vec<(&'static str, ArrayRef)>) -> Result<RecordBatch> {
    let fields =
        columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), false));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let arrays = columns.iter().map(|(_, array)| Arc::clone(array)).collect();
    let batch = RecordBatch::try_new(schema, arrays);
    Ok(batch.map_err(|error| FormatError::invalid("rows", error.to_string()))?)
}

/// Return the key columns, file and position of a batch of the table's rows.
fn split(batch: &RecordBatch, keys: usize) -> Result<(&[ArrayRef], &ArrayRef, &ArrayRef)> {
    match batch.columns() {
        [columns @ .., file, position] if columns.len() == keys => Ok((columns, file, position)),
        columns => {
            let reason =
                format!("expected {keys} keys, _file and _pos, got {} columns", columns.len());
            Err(FormatError::invalid("target rows", reason).into())
        }
    }
}
