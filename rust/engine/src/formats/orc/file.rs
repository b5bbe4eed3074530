//! An ORC data file, whose stripes are pruned by statistics and decoded one by one.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, FieldRef, Fields, Schema};
use icefloe_format::orc::Stripe;
use parquet::arrow::PARQUET_FIELD_ID_META_KEY;

use super::footer::OrcEnd;
use super::reader::{OrcReader, orc_decoder};
use super::stripes::{WantedStripe, in_range, that_might_match};
use crate::error::{Error, Result};
use crate::formats::survey::{Survey, reasons};
use crate::formats::whole_rows::WholeRows;
use crate::resolve::file_columns::{FileColumn, file_columns};
use crate::resolve::request::{FileRequest, check_record_count};
use crate::table::NameMapping;

pub(crate) const WHAT: &str = "the ORC file";
/// The attribute of an ORC type that holds its field id.
const ID_ATTRIBUTE: &str = "iceberg.id";

/// Stripes of a file, decoded on one thread.
pub(crate) struct OrcUnit {
    reader: Box<dyn OrcReader>,
    rows: WholeRows,
    /// The top-level columns that are decoded.
    columns: Vec<usize>,
    /// In file order.
    stripes: Vec<WantedStripe>,
}

/// A file with a checked end and resolved columns.
struct OpenOrc {
    reader: Box<dyn OrcReader>,
    end: OrcEnd,
    columns: Vec<FileColumn>,
    /// The stripes of the part to read.
    stripes: Vec<WantedStripe>,
}

impl OpenOrc {
    /// Open a file.
    ///
    /// # Errors
    /// [`Error::Missing`]; `Corrupt` naming the file.
    fn open(request: &FileRequest<'_>) -> Result<Self> {
        let location = request.location;
        let end = OrcEnd::read(request.file()?, location)?;
        let reader = orc_decoder(location)?.open(request.io, location)?;
        let rows = i64::try_from(reader.rows()).unwrap_or(i64::MAX);
        check_record_count(location, WHAT, rows, request.record_count)?;
        let stripes = match &end.footer {
            Some(footer) if footer.stripes.len() == reader.stripes() => {
                in_range(&footer.stripes, request.start, request.length)
            }
            Some(_) => {
                return Err(Error::corrupt_file(
                    location,
                    WHAT,
                    "expected the same number of stripes in the footer and from the decoder",
                ));
            }
            // Row positions are unknown until all stripes are decoded.
            None => {
                let all = 0..reader.stripes() * usize::from(request.start == 0);
                all.map(|number| WantedStripe { number, rows: None }).collect()
            }
        };
        let schema = with_ids(&reader.schema());
        // Unlike in Parquet, columns without ids are matched by name.
        let by_name = NameMapping::of_schema(&request.context.schema);
        let mapping = request.context.name_mapping.as_ref().unwrap_or(&by_name);
        let columns = file_columns(&schema, Some(mapping));
        Ok(Self { reader, end, columns, stripes })
    }

    /// Return the bytes of stripes; `None` without a readable footer.
    fn bytes(&self, stripes: &[WantedStripe]) -> Option<u64> {
        let all = &self.end.footer.as_ref()?.stripes;
        let of = stripes.iter().filter_map(|stripe| all.get(stripe.number));
        Some(of.map(Stripe::length).fold(0, u64::saturating_add))
    }

    /// Return the stripes that may hold a row that matches.
    ///
    /// # Errors
    /// Errors of evaluating the residual; [`Error::Storage`].
    fn matching(&self, request: &FileRequest<'_>) -> Result<Vec<WantedStripe>> {
        that_might_match(request, &self.end, &self.columns, self.stripes.clone())
    }
}

/// Open a file. The stripes of the requested part that may hold a matching row are one unit.
///
/// # Errors
/// [`Error::Missing`]; `Corrupt` naming the file; errors of resolving columns.
pub(crate) fn orc_units(request: &FileRequest<'_>) -> Result<Vec<OrcUnit>> {
    let open = OpenOrc::open(request)?;
    let rows = WholeRows::of_whole_columns(request, &open.columns, WHAT)?;
    let columns = decoded(&open.columns, rows.leaves());
    let mut stripes = open.matching(request)?;
    if columns.is_empty() && stripes.iter().any(|stripe| stripe.rows.is_none()) {
        stripes = vec![WantedStripe { number: 0, rows: Some(0..open.reader.rows()) }];
    }
    let unit = OrcUnit { reader: open.reader, rows, columns, stripes };
    Ok(std::iter::once(unit).filter(|unit| !unit.stripes.is_empty()).collect())
}

/// Survey a file by its footer and the statistics of its stripes.
///
/// # Errors
/// The errors of [`OpenOrc::open`] and of reading the statistics.
pub(crate) fn orc_survey(request: &FileRequest<'_>) -> Result<Survey> {
    let open = OpenOrc::open(request)?;
    let matching = open.matching(request)?;
    let Some(bytes) = open.bytes(&matching) else { return Ok(Survey::default()) };
    let rows = |stripes: &[WantedStripe]| stripes.iter().map(WantedStripe::count).sum();
    Ok(Survey {
        row_groups: Some(open.stripes.len() as u64),
        row_groups_kept: Some(matching.len() as u64),
        rows: rows(&open.stripes),
        rows_selected: rows(&matching),
        bytes_to_read: Some(bytes),
        reason: reasons([("statistics", matching.len() < open.stripes.len())]),
        ..Survey::default()
    })
}

/// Return the schema with the ids of ORC types under the metadata key of Parquet's ids.
pub(super) fn with_ids(schema: &Schema) -> Schema {
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

/// Return the top-level columns that hold any of these leaves.
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
        let mut emit_batch = |batch: RecordBatch| {
            for start in (0..batch.num_rows()).step_by(batch_size) {
                let part = batch.slice(start, batch_size.min(batch.num_rows() - start));
                left = left.saturating_sub(part.num_rows());
                if !emit(part) || left == 0 {
                    return false;
                }
            }
            true
        };
        let mut next_row = 0;
        for stripe in &self.stripes {
            let rows = stripe.rows.clone().filter(|_| self.columns.is_empty());
            let goes_on = match rows {
                Some(rows) => self.count(rows, batch_size, &mut emit_batch)?,
                None => emit_batch(self.decoded(stripe, &mut next_row)?),
            };
            if !goes_on {
                break;
            }
        }
        Ok(())
    }

    /// Decode the columns of all stripes as they are stored.
    ///
    /// # Errors
    /// `Corrupt` naming the file.
    pub(crate) fn decode_as_stored(&self) -> Result<()> {
        self.stripes
            .iter()
            .try_for_each(|stripe| self.reader.stripe(stripe.number, &self.columns).map(drop))
    }

    /// Emit rows without decoded columns.
    fn count(
        &self,
        rows: Range<u64>,
        batch_size: usize,
        emit_batch: &mut dyn FnMut(RecordBatch) -> bool,
    ) -> Result<bool> {
        let mut next_row = rows.start;
        while next_row < rows.end {
            let step = (rows.end - next_row).min(batch_size as u64);
            let count = usize::try_from(step).unwrap_or(batch_size);
            if !emit_batch(self.rows.batch(vec![], count, next_row)?) {
                return Ok(false);
            }
            next_row += step;
        }
        Ok(true)
    }

    /// Decode the rows of a stripe, and advance `next_row` after them.
    fn decoded(&self, stripe: &WantedStripe, next_row: &mut u64) -> Result<RecordBatch> {
        let decoded = self.reader.stripe(stripe.number, &self.columns)?;
        self.check_columns(&decoded)?;
        let rows = decoded.num_rows();
        if let Some(expected) = stripe.count().filter(|expected| *expected != rows as u64) {
            let reason = format!("stripe {}: expected {expected} rows, got {rows}", stripe.number);
            return Err(Error::corrupt_file(&self.rows.location, WHAT, reason));
        }
        let first_row = stripe.rows.as_ref().map_or(*next_row, |rows| rows.start);
        *next_row = first_row.saturating_add(rows as u64);
        let columns: Vec<ArrayRef> = decoded.columns().to_vec();
        drop(decoded);
        let batch = self.rows.batch(columns, rows, first_row);
        batch.map_err(|error| error.at(&self.rows.location))
    }

    /// Check the types of the decoded columns. A decoder finds columns by name, which may be ambiguous in a damaged file.
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
                let reason = "expected columns of different names";
                Err(Error::corrupt_file(&self.rows.location, WHAT, reason))
            }
        }
    }
}
