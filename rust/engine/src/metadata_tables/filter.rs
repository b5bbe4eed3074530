//! The filters of a metadata table about files.

use arrow_array::BooleanArray;
use icefloe_format::Result as FormatResult;
use icefloe_format::manifest::ManifestFile;
use icefloe_format::metadata_tables::{FileRows, ManifestFacts, partition_filter};
use icefloe_format::predicate::{
    BoundPredicate, Predicate, RowFilter, bind, evaluate_inclusive, parse_json, references,
};
use icefloe_format::spec::{Schema, StructType};

use crate::error::Result;
use crate::plan::ScanFilter;
use crate::table::TableContext;

/// A filter on the columns of the metadata table, and a filter on the rows of the files.
#[derive(Debug)]
pub struct FileFilter {
    /// The filter on the rows of the files: files without a matching row may be omitted.
    pub(super) rows: ScanFilter,
    /// The filter on the metadata table; `None` for all rows.
    pub(super) own: Option<OwnFilter>,
}

/// A filter on the columns of a metadata table.
#[derive(Debug)]
pub(super) struct OwnFilter {
    bound: BoundPredicate,
    prepared: RowFilter,
    /// The columns that the filter reads.
    pub(super) columns: Schema,
    /// The type of the column `partition`, without fields if the table has none.
    unified: StructType,
}

impl FileFilter {
    /// Bind filters, both as expression JSON: `own` to the schema of the metadata table, `rows` to the schema of the context.
    ///
    /// # Errors
    /// `UnknownColumn`, and `InvalidArgument` naming the literal that does not fit.
    pub fn new(table: &Schema, own: &str, rows: &str, context: &TableContext) -> Result<Self> {
        let bound = bind(&parse_json(own)?, table, context.case_sensitive)?.push_not_down();
        let own = (!matches!(bound, Predicate::AlwaysTrue)).then(|| OwnFilter {
            prepared: RowFilter::new(&bound),
            columns: table.select(&references(&bound)),
            unified: unified(table),
            bound,
        });
        Ok(Self { rows: ScanFilter::new(rows, context)?, own })
    }

    /// Return the manifests that the filter on `content` and `spec_id` does not exclude; `None` without a filter.
    ///
    /// # Errors
    /// The errors of [`evaluate_inclusive`].
    pub(super) fn manifests(
        &self,
        manifests: &[ManifestFile],
    ) -> FormatResult<Option<BooleanArray>> {
        let own = self.own.as_ref();
        own.map(|own| evaluate_inclusive(&own.bound, &ManifestFacts::new(manifests))).transpose()
    }

    /// Return the predicate on the tuples of a spec: false proves that no file of the partition belongs to the result.
    pub(super) fn partitions(&self, spec_id: i32, partition_type: &StructType) -> BoundPredicate {
        let rows = self.rows.of_spec(spec_id).map(|of_spec| of_spec.partitions.clone());
        let own = self.own.as_ref();
        let own = own.map(|own| partition_filter(&own.bound, &own.unified, partition_type));
        match (rows, own) {
            (Some(rows), Some(own)) => Predicate::And(Box::new(rows), Box::new(own)),
            (rows, own) => rows.or(own).unwrap_or(Predicate::AlwaysTrue),
        }
    }
}

impl OwnFilter {
    /// Return the rows that match.
    ///
    /// # Errors
    /// As for [`FileRows::batch`].
    pub(super) fn mask(&self, rows: FileRows<'_>) -> FormatResult<BooleanArray> {
        let batch = rows.batch(&self.columns)?;
        self.prepared.mask(&batch, &|id| self.columns.position_path(id))
    }
}

fn unified(table: &Schema) -> StructType {
    let partition = table.field_by_name("partition", true);
    let partition = partition.or_else(|| table.field_by_name("data_file.partition", true));
    partition.and_then(|field| field.field_type.as_struct().cloned()).unwrap_or_default()
}
