//! Growing struct columns: the writer's record compiled against the requested fields.
//!
//! Fields are matched by id only. Fields that are not requested are skipped; fields that the writer does not have are
//! null.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, StructArray};
use arrow_buffer::NullBufferBuilder;
use arrow_schema::{Field, Fields};

use super::cursor::{Cursor, Malformed};
use super::decoder::{ColumnDecoder, Selection};
use super::flat_column::invalid_column;
use super::forecast::Forecast;
use super::schema::{AvroType, Kind, Record};
use super::skip::Skipper;
use crate::spec::types::{NestedField, StructType};
use crate::{Error, Result};

/// Records of one writer, decoded into the requested columns.
#[derive(Debug)]
pub struct RecordColumn<C> {
    // In the writer's order, so that a record is read in one pass.
    steps: Vec<Step>,
    // In the reader's order.
    columns: Vec<Member<C>>,
    rows: usize,
    nulls: NullBufferBuilder,
}

#[derive(Debug)]
struct Member<C> {
    name: Arc<str>,
    required: bool,
    /// Whether the writer has the field and the reader does not skip it; otherwise it is null in every row.
    is_read: bool,
    column: C,
}

#[derive(Debug)]
enum Step {
    Skip(Skipper),
    Read(usize),
}

impl<C: ColumnDecoder> RecordColumn<C> {
    /// Compile `wanted` against a writer's record; `None` if every row is null.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the writer has no such required field, has a field twice, or has it with a type that does
    /// not fit; [`Error::Unsupported`] for unions other than of null and one type.
    pub fn compile(
        wanted: &StructType,
        written: Option<&AvroType>,
        selection: &Selection,
    ) -> Result<Self> {
        let record = match written.map(|written| &written.kind) {
            None => None,
            Some(Kind::Record(record)) => Some(&**record),
            Some(_) => {
                return Err(Error::corrupt(
                    "Avro schema",
                    "the written type does not fit; expected a record",
                ));
            }
        };
        let mut steps = Vec::new();
        for field in record.map_or(&[][..], |record| &record.fields) {
            steps.push(match position(wanted, field.field_id, selection) {
                Some(index) => Step::Read(index),
                None => Step::Skip(Skipper::compile(&field.field_type)),
            });
        }
        let mut columns = Vec::with_capacity(wanted.fields.len());
        for (index, field) in wanted.fields.iter().enumerate() {
            let reads = steps.iter().filter(|step| step.reads(index)).count();
            let column = source(field, record, reads)
                .and_then(|source| C::compile(&field.field_type, source, selection));
            let (is_read, column) = match column {
                Err(_) if selection.dispensable_fields.contains(&field.id) => {
                    let written = record.map_or(&[][..], |record| &record.fields);
                    for (step, written) in steps.iter_mut().zip(written) {
                        if step.reads(index) {
                            *step = Step::Skip(Skipper::compile(&written.field_type));
                        }
                    }
                    (false, C::compile(&field.field_type, None, selection)?)
                }
                column => (reads > 0, column.map_err(|error| named(error, field))?),
            };
            let (name, required) = (Arc::from(field.name.as_str()), field.required);
            columns.push(Member { name, required, is_read, column });
        }
        Ok(Self { steps, columns, rows: 0, nulls: NullBufferBuilder::new(0) })
    }

    /// Return the number of rows since the last [`Self::finish`].
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Read one record. After an error the columns are unusable.
    ///
    /// # Errors
    /// [`Malformed`] if the bytes do not hold such a record.
    pub fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Malformed> {
        for step in &mut self.steps {
            match step {
                Step::Skip(skipper) => skipper.skip(cursor)?,
                Step::Read(index) => {
                    if let Some(member) = self.columns.get_mut(*index) {
                        member.column.read(cursor)?;
                    }
                }
            }
        }
        self.rows += 1;
        self.nulls.append_non_null();
        Ok(())
    }

    /// Return the records, with fields in the reader's order; the columns are empty afterwards.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if a required field is null or a string is not UTF-8.
    pub fn finish(&mut self) -> Result<StructArray> {
        let rows = std::mem::take(&mut self.rows);
        let nulls = self.nulls.finish();
        let mut fields = Vec::with_capacity(self.columns.len());
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(self.columns.len());
        for Member { name, required, is_read, column } in &mut self.columns {
            if !*is_read {
                column.push_nulls(rows);
            }
            let array = column.finish()?;
            // In a null struct, required fields are null too.
            if *required && nulls.is_none() && array.null_count() > 0 {
                return Err(Error::corrupt(
                    "Avro record",
                    format!("the required field {name} is null"),
                ));
            }
            fields.push(Field::new(&**name, array.data_type().clone(), true));
            arrays.push(array);
        }
        StructArray::try_new_with_length(Fields::from(fields), arrays, nulls, rows)
            .map_err(|error| invalid_column(&error))
    }

    /// Reserve capacity for the records of the blocks to come.
    pub fn reserve(&mut self, forecast: Forecast) {
        for member in self.columns.iter_mut().filter(|member| member.is_read) {
            member.column.reserve(forecast);
        }
    }

    /// Return the bytes of the records read. Fields that are not read have none until [`Self::finish`].
    pub fn bytes(&self) -> usize {
        self.read_columns().map(ColumnDecoder::bytes).fold(0, usize::saturating_add)
    }

    /// Return the bytes of one record whose fields are all null.
    pub fn null_bytes(&self) -> usize {
        self.read_columns().map(ColumnDecoder::null_bytes).fold(0, usize::saturating_add)
    }

    fn read_columns(&self) -> impl Iterator<Item = &C> {
        self.columns.iter().filter(|member| member.is_read).map(|member| &member.column)
    }

    pub(super) fn push_nulls(&mut self, count: usize) {
        for member in self.columns.iter_mut().filter(|member| member.is_read) {
            member.column.push_nulls(count);
        }
        self.rows += count;
        self.nulls.append_n_nulls(count);
    }
}

impl Step {
    fn reads(&self, column: usize) -> bool {
        matches!(self, Self::Read(index) if *index == column)
    }
}

fn position(wanted: &StructType, id: Option<i32>, selection: &Selection) -> Option<usize> {
    let id = id.filter(|id| !selection.skipped_fields.contains(id))?;
    wanted.fields.iter().position(|field| field.id == id)
}

fn source<'r>(
    field: &NestedField,
    record: Option<&'r Record>,
    reads: usize,
) -> Result<Option<&'r AvroType>> {
    let Some(record) = record else { return Ok(None) };
    match reads {
        0 if field.required => {
            let reason =
                format!("the record {} has no field {} (id {})", record.name, field.name, field.id);
            Err(Error::corrupt("Avro schema", reason))
        }
        0 => Ok(None),
        1 => {
            let source = record.fields.iter().find(|written| written.field_id == Some(field.id));
            Ok(source.map(|written| &written.field_type))
        }
        _ => {
            let reason = format!("{} has the field id {} twice", record.name, field.id);
            Err(Error::corrupt("Avro schema", reason))
        }
    }
}

fn named(error: Error, field: &NestedField) -> Error {
    match error {
        Error::Corrupt { what, offset, reason } => {
            Error::Corrupt { what, offset, reason: format!("{}: {reason}", field.name) }
        }
        other => other,
    }
}
