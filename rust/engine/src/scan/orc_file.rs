//! An ORC data file: opened, its columns resolved, decoded stripe by stripe.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, FieldRef, Fields, Schema};
use parquet::arrow::PARQUET_FIELD_ID_META_KEY;

use super::file_columns::{FileColumn, file_columns};
use super::orc_footer::check_end;
use super::orc_reader::{OrcReader, orc_decoder};
use super::request::FileRequest;
use super::whole_rows::WholeRows;
use crate::error::{Error, Result};
use crate::plan::NameMapping;

const WHAT: &str = "the ORC file";
/// The attribute of an ORC type that holds its field id.
const ID_ATTRIBUTE: &str = "iceberg.id";

/// A file, decoded on one thread.
pub(crate) struct OrcUnit {
    reader: Box<dyn OrcReader>,
    rows: WholeRows,
    /// The top-level columns that are decoded.
    columns: Vec<usize>,
}

/// Open a file. It is one unit, which belongs to the part that begins where the file does.
///
/// # Errors
/// [`Error::Missing`]; `Corrupt` naming the file; those of resolving columns and of reading deletes.
pub(crate) fn orc_units(request: &FileRequest<'_>) -> Result<Vec<OrcUnit>> {
    if request.start > 0 {
        return Ok(vec![]);
    }
    check_end(&request.file()?, request.location)?;
    let reader = orc_decoder(request.location)?.open(request.io, request.location)?;
    check_count(request, reader.rows())?;
    let schema = with_ids(&reader.schema());
    // Unlike those of a Parquet file, columns without ids are those of the same name.
    let by_name = NameMapping::of_schema(&request.context.schema);
    let mapping = request.context.name_mapping.as_ref().unwrap_or(&by_name);
    let columns = file_columns(&schema, Some(mapping));
    let rows = WholeRows::of_whole_columns(request, &columns, WHAT)?;
    let columns = decoded(&columns, rows.leaves());
    Ok(vec![OrcUnit { reader, rows, columns }])
}

fn check_count(request: &FileRequest<'_>, found: u64) -> Result<()> {
    let expected = u64::try_from(request.record_count);
    match expected.ok().filter(|expected| *expected != found) {
        None => Ok(()),
        Some(expected) => {
            let reason = format!("it holds {found} rows, the table's metadata says {expected}");
            Err(Error::corrupt_file(request.location, WHAT, reason))
        }
    }
}

/// The schema with the ids of ORC types where those of Parquet's would be.
fn with_ids(schema: &Schema) -> Schema {
    Schema::new(schema.fields().iter().map(with_id).collect::<Fields>())
}

fn with_id(field: &FieldRef) -> FieldRef {
    let data_type = match field.data_type() {
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(with_id).collect()),
        DataType::List(element) => DataType::List(with_id(element)),
        DataType::Map(entries, sorted) => DataType::Map(with_id(entries), *sorted),
        other => other.clone(),
    };
    let id = field.metadata().get(ID_ATTRIBUTE);
    let metadata = id.map(|id| (PARQUET_FIELD_ID_META_KEY.to_owned(), id.clone()));
    let renewed = Field::new(field.name(), data_type, true);
    Arc::new(renewed.with_metadata(HashMap::from_iter(metadata)))
}

/// The top-level columns that hold any of these leaves.
fn decoded(columns: &[FileColumn], leaves: &BTreeSet<usize>) -> Vec<usize> {
    let holds = |column: &FileColumn| leaves.range(column.leaves.clone()).next().is_some();
    let columns = columns.iter().enumerate();
    columns.filter(|(_, column)| holds(column)).map(|(index, _)| index).collect()
}

impl OrcUnit {
    /// Decode the rows that are neither deleted nor filtered out.
    ///
    /// # Errors
    /// `Corrupt` naming the file.
    pub(crate) fn decode(
        &self,
        batch_size: usize,
        limit: Option<usize>,
        emit: &mut dyn FnMut(RecordBatch) -> bool,
    ) -> Result<()> {
        let (batch_size, mut left) = (batch_size.max(1), limit.unwrap_or(usize::MAX));
        let mut next_row = 0;
        let mut hand_out = |batch: RecordBatch| {
            for start in (0..batch.num_rows()).step_by(batch_size) {
                let part = batch.slice(start, batch_size.min(batch.num_rows() - start));
                left = left.saturating_sub(part.num_rows());
                if !emit(part) || left == 0 {
                    return false;
                }
            }
            true
        };
        if self.columns.is_empty() {
            while next_row < self.reader.rows() {
                let step = (self.reader.rows() - next_row).min(batch_size as u64);
                let rows = usize::try_from(step).unwrap_or(batch_size);
                if !hand_out(self.rows.batch(vec![], rows, next_row)?) {
                    return Ok(());
                }
                next_row += step;
            }
            return Ok(());
        }
        for stripe in 0..self.reader.stripes() {
            let decoded = self.reader.stripe(stripe, &self.columns)?;
            self.check_columns(&decoded)?;
            let rows = decoded.num_rows();
            let columns: Vec<ArrayRef> = decoded.columns().to_vec();
            drop(decoded);
            let batch = self.rows.batch(columns, rows, next_row);
            if !hand_out(batch.map_err(|error| error.at(&self.rows.location))?) {
                return Ok(());
            }
            next_row += rows as u64;
        }
        if next_row != self.reader.rows() {
            let reason = format!("its stripes hold {next_row} rows, not {}", self.reader.rows());
            return Err(Error::corrupt_file(&self.rows.location, WHAT, reason));
        }
        Ok(())
    }

    /// Check that what was decoded is what was asked for. A decoder finds columns by their names, and names of a
    /// damaged file may stand for several.
    fn check_columns(&self, decoded: &RecordBatch) -> Result<()> {
        let schema = self.reader.schema();
        let wanted = self.columns.iter().filter_map(|column| schema.fields().get(*column));
        let wanted: Vec<&FieldRef> = wanted.collect();
        let same = decoded.num_columns() == wanted.len()
            && decoded
                .columns()
                .iter()
                .zip(&wanted)
                .all(|(column, field)| column.data_type().equals_datatype(field.data_type()));
        match same {
            true => Ok(()),
            false => {
                let reason = "its columns cannot be told apart by their names";
                Err(Error::corrupt_file(&self.rows.location, WHAT, reason))
            }
        }
    }
}
