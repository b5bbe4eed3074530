//! Rows of the metadata tables about files: `files`, `entries` and their variants.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, StructArray};
use arrow_schema::Schema as ArrowSchema;

use super::file_columns::in_layout_of;
use super::readable_metrics::readable_metrics;
use super::unified_partition::unified_partition;
use crate::manifest::ManifestColumns;
use crate::spec::{
    ArrowOptions, NestedField, Schema, StructType, Type, null_array, struct_to_arrow, type_to_arrow,
};
use crate::{Error, Result};

/// Decoded entries and the types to interpret them with.
#[derive(Debug, Clone, Copy)]
pub struct FileRows<'a> {
    /// The entries of one manifest, or of a part of one.
    pub columns: &'a ManifestColumns,
    /// The type of their partition tuples.
    pub partition_type: &'a StructType,
    /// The current schema of the table, whose columns `readable_metrics` describes.
    pub table: &'a Schema,
}

impl FileRows<'_> {
    /// Return the columns of `wanted`, a selection from the schema of a metadata table. Columns are matched by name;
    /// one that manifests of format versions 1 and 2 do not have is null.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if a required column has null, or a value does not fit its type.
    pub fn batch(&self, wanted: &Schema) -> Result<RecordBatch> {
        let columns = self.all(wanted.fields())?;
        let fields = struct_to_arrow(&wanted.as_struct(), ArrowOptions::default());
        let options = RecordBatchOptions::new().with_row_count(Some(self.columns.len()));
        RecordBatch::try_new_with_options(Arc::new(ArrowSchema::new(fields)), columns, &options)
            .map_err(|error| Error::invalid("metadata table", error.to_string()))
    }

    fn all(&self, fields: &[NestedField]) -> Result<Vec<ArrayRef>> {
        fields.iter().map(|field| self.column(field)).collect()
    }

    fn column(&self, field: &NestedField) -> Result<ArrayRef> {
        let name = field.name.as_str();
        match (name, &field.field_type) {
            ("partition", Type::Struct(unified)) => {
                let tuples = &self.columns.partition;
                Ok(Arc::new(unified_partition(tuples, self.partition_type, unified)?))
            }
            ("readable_metrics", Type::Struct(wanted)) => {
                readable_metrics(&self.columns.entries, self.table, wanted)
            }
            ("data_file", Type::Struct(wanted)) => {
                let fields = struct_to_arrow(wanted, ArrowOptions::default());
                let columns = self.all(&wanted.fields)?;
                StructArray::try_new_with_length(fields, columns, None, self.columns.len())
                    .map(|files| Arc::new(files) as ArrayRef)
                    .map_err(|error| Error::invalid(name, error.to_string()))
            }
            (_, value_type) => {
                let data_type = type_to_arrow(value_type, ArrowOptions::default());
                match self.columns.entries.column_by_name(name) {
                    Some(column) if *column.data_type() == data_type => Ok(Arc::clone(column)),
                    Some(column) => in_layout_of(name, column, &data_type),
                    None => null_array(&data_type, self.columns.len()),
                }
            }
        }
    }
}
