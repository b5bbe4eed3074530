//! The footer of a Parquet file, and a file that is ready to decode.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use arrow_schema::{ArrowError, DataType, Field};
use icefloe_format::spec::{NestedField, PrimitiveType, Type};
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::arrow::{ProjectionMask, RowNumber};
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData,
};
use parquet::file::reader::Length;
use roaring::RoaringTreemap;

use super::encrypted::ends_encrypted;
use super::page_header::CheckedPages;
use super::page_index::IndexedPages;
use super::row_size::row_bytes;
use crate::bytes::data_file::DataFile;
use crate::error::{Error, Result};
use crate::formats::batch_size::BatchSize;
use crate::resolve::columns::{BatchPlan, decoded_schema, element_field, map_fields};
use crate::resolve::file_columns::FileColumn;
use crate::resolve::key_filters::KeyFilters;
use crate::resolve::request::{FileRequest, check_record_count};
use crate::resolve::row_filter::RowTest;
use crate::runtime::catch_panic;

/// The minimum bytes of a page: the size of the smallest page header.
const MIN_PAGE_BYTES: u64 = 10;
/// The maximum rows of a page, whose header states a 32-bit count.
const MAX_PAGE_ROWS: u64 = i32::MAX as u64;

pub(crate) const WHAT: &str = "the Parquet file";

/// A file's footer and its schema as an Arrow schema.
#[derive(Debug)]
pub(crate) struct Footer {
    pub(crate) location: String,
    pub(crate) metadata: Arc<ParquetMetaData>,
    pub(crate) source: DataFile,
    natural: ArrowReaderMetadata,
}

/// A file ready to decode.
pub(crate) struct OpenFile {
    pub(crate) location: String,
    pub(crate) source: DataFile,
    pub(crate) reader: ArrowReaderMetadata,
    pub(crate) output: BatchPlan,
    /// Whether batches hold strings and binaries as views.
    pub(crate) string_views: bool,
    /// Whether the columns of batches may be dictionaries of their types.
    pub(crate) dictionaries: bool,
    pub(crate) tests: Vec<RowTest>,
    pub(crate) keys: Option<KeyFilters>,
    pub(crate) deleted: Option<Arc<RoaringTreemap>>,
}

impl Footer {
    /// Read a file's footer and compare its row count with the `record_count` of the request. A negative `record_count`
    /// is unknown.
    ///
    /// # Errors
    /// [`Error::Missing`]; `Corrupt` with the location of the file.
    pub(crate) fn read(request: &FileRequest<'_>) -> Result<Self> {
        guarded(request.location, || Self::parse(request))
    }

    fn parse(request: &FileRequest<'_>) -> Result<Self> {
        let (location, record_count) = (request.location, request.record_count);
        let source = request.file()?;
        let metadata = ParquetMetaDataReader::new().parse_and_finish(&source);
        let metadata = metadata.map_err(|error| match ends_encrypted(&source) {
            true => Error::unsupported_in(location, "reading encrypted Parquet files"),
            false => match decimal_beyond_parquet(request.context.schema.fields()) {
                Some(field) if error.to_string().contains("DECIMAL") => Error::unsupported_in(
                    location,
                    format!(
                        "reading column {} of type {} in Parquet",
                        field.name, field.field_type
                    ),
                ),
                _ => parquet_error(location, error),
            },
        })?;
        check_footer(location, &metadata, (source.len(), record_count))?;
        let metadata = without_absent_dictionaries(metadata);
        let metadata = Arc::new(metadata.map_err(|error| parquet_error(location, error))?);
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let natural = ArrowReaderMetadata::try_new(Arc::clone(&metadata), options)
            .map_err(|error| parquet_error(location, error))?;
        Ok(Self { location: location.to_owned(), metadata, natural, source })
    }

    /// Return the file's columns as an Arrow schema.
    pub(crate) fn schema(&self) -> &arrow_schema::Schema {
        self.natural.schema()
    }

    /// Return the decoder's metadata for these plans, with the page indexes of `pages`.
    ///
    /// # Errors
    /// `Corrupt` naming the file.
    pub(crate) fn reader<'a>(
        &self,
        columns: &[FileColumn],
        plans: impl Iterator<Item = &'a BatchPlan> + Clone,
        pages: IndexedPages<'_>,
    ) -> Result<ArrowReaderMetadata> {
        let decoded: HashMap<usize, DataType> = plans
            .clone()
            .flat_map(|plan| plan.decoded.iter().map(|(leaf, to)| (*leaf, to.clone())))
            .collect();
        let mut options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        if !decoded.is_empty() {
            let schema = decoded_schema(self.schema(), columns, &decoded);
            options = options.with_schema(Arc::new(schema));
        }
        if plans.clone().any(BatchPlan::needs_positions) {
            let field = Field::new("_pos", DataType::Int64, false).with_extension_type(RowNumber);
            options = options
                .with_virtual_columns(vec![Arc::new(field)])
                .map_err(|error| parquet_error(&self.location, error))?;
        }
        let leaves = plans.flat_map(|plan| plan.leaves.iter().copied()).collect();
        let metadata = guarded(&self.location, || {
            let read = pages.read(&self.metadata, &leaves, &self.source);
            read.map_err(|error| parquet_error(&self.location, error))
        })?;
        ArrowReaderMetadata::try_new(metadata, options)
            .map_err(|error| parquet_error(&self.location, error))
    }

    /// Return a decoder of all rows of `leaves`, to the types that the file suggests.
    ///
    /// # Errors
    /// `Corrupt` naming the file.
    pub(crate) fn decoder(
        &self,
        leaves: &BTreeSet<usize>,
        batch_size: BatchSize,
    ) -> Result<ParquetRecordBatchReader> {
        let groups = self.metadata.row_groups().iter();
        let row = groups.map(|group| row_bytes(group, leaves)).max().unwrap_or(1);
        let source = CheckedPages(self.source.for_thread(false, Vec::new));
        let mask = ProjectionMask::leaves(self.natural.parquet_schema(), leaves.iter().copied());
        ParquetRecordBatchReaderBuilder::new_with_metadata(source, self.natural.clone())
            .with_projection(mask)
            .with_batch_size(batch_size.of_rows(row))
            .build()
            .map_err(|error| parquet_error(&self.location, error))
    }
}

/// Return a footer without offsets of dictionary pages that are not before the data pages. Some writers record offset 0
/// for an absent dictionary page, which the decoder would take as the start of the column chunk.
///
/// # Errors
/// None for a parsed footer, whose row groups have all columns.
fn without_absent_dictionaries(
    metadata: ParquetMetaData,
) -> std::result::Result<ParquetMetaData, ParquetError> {
    let is_absent = |column: &ColumnChunkMetaData| {
        let present = 1..column.data_page_offset();
        column.dictionary_page_offset().is_some_and(|offset| !present.contains(&offset))
    };
    if !metadata.row_groups().iter().flat_map(RowGroupMetaData::columns).any(is_absent) {
        return Ok(metadata);
    }
    let mut builder = metadata.into_builder();
    let groups = builder.take_row_groups().into_iter().map(|group| {
        let mut group = group.into_builder();
        let columns = group.take_columns().into_iter().map(|column| match is_absent(&column) {
            true => column.into_builder().set_dictionary_page_offset(None).build(),
            false => Ok(column),
        });
        let columns = columns.collect::<std::result::Result<_, _>>()?;
        group.set_column_metadata(columns).build()
    });
    let groups = groups.collect::<std::result::Result<_, ParquetError>>()?;
    Ok(builder.set_row_groups(groups).build())
}

/// Compare the row count of the footer with the sum over its row groups, with `record_count` and with the maximum rows
/// of a file of `length` bytes.
///
/// # Errors
/// `Corrupt` with the location of the file and both counts.
fn check_footer(
    location: &str,
    metadata: &ParquetMetaData,
    (length, record_count): (u64, i64),
) -> Result<()> {
    let total = metadata.file_metadata().num_rows();
    let most = (length / MIN_PAGE_BYTES).saturating_mul(MAX_PAGE_ROWS);
    if u64::try_from(total).is_ok_and(|total| total > most) {
        let reason = format!("its footer states {total} rows, more than {length} bytes can hold");
        return Err(Error::corrupt_file(location, WHAT, reason));
    }
    check_record_count(location, WHAT, total, record_count)?;
    let groups = metadata.row_groups().iter().map(|group| group.num_rows());
    let found = groups.fold(0_i64, i64::saturating_add);
    if found == total {
        return Ok(());
    }
    let reason = format!("its row groups hold {found} rows, the total of its footer is {total}");
    Err(Error::corrupt_file(location, WHAT, reason))
}

/// Compare the number of rows decoded from a row group with the expected number.
///
/// # Errors
/// `Corrupt` with the location of the file and both counts.
pub(crate) fn check_row_group(
    location: &str,
    row_group: usize,
    found: u64,
    expected: u64,
) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    let reason = format!("row group {row_group} holds {found} rows, its footer says {expected}");
    Err(Error::corrupt_file(location, WHAT, reason))
}

/// Return the first decimal field whose scale is negative or above its precision, which Parquet does not allow.
fn decimal_beyond_parquet(fields: &[NestedField]) -> Option<NestedField> {
    fields.iter().find_map(|field| match &field.field_type {
        Type::Primitive(PrimitiveType::Decimal { precision, scale }) => {
            let allowed = 0..=i16::from(*precision);
            (!allowed.contains(&i16::from(*scale))).then(|| field.clone())
        }
        Type::Primitive(_) => None,
        Type::Struct(inner) => decimal_beyond_parquet(&inner.fields),
        Type::List(list) => decimal_beyond_parquet(&[element_field(list)]),
        Type::Map(map) => decimal_beyond_parquet(&map_fields(map)),
    })
}

/// Run the Parquet decoder, with a panic as a `Corrupt` error: the Parquet crate panics on some damaged bytes.
pub(crate) fn guarded<T>(location: &str, decode: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_panic(decode).unwrap_or_else(|text| {
        Err(Error::corrupt_file(location, WHAT, format!("decoding it failed: {text}")))
    })
}

pub(crate) fn parquet_error(location: &str, error: ParquetError) -> Error {
    match error {
        ParquetError::External(source) => external(location, source.as_ref()),
        ParquetError::NYI(feature) => Error::unsupported_in(location, feature),
        error => Error::corrupt_file(location, WHAT, error),
    }
}

pub(crate) fn arrow_error(location: &str, error: ArrowError) -> Error {
    match error {
        ArrowError::ExternalError(source) => external(location, source.as_ref()),
        error => Error::corrupt_file(location, WHAT, error),
    }
}

fn external(location: &str, source: &(dyn std::error::Error + Send + Sync + 'static)) -> Error {
    if let Some(error) = source.downcast_ref::<Error>() {
        return match error {
            Error::Format(source) => Error::in_file(location, source.clone()),
            error => error.clone(),
        };
    }
    match source.downcast_ref::<std::io::Error>() {
        Some(error) => match error.get_ref() {
            Some(source) => external(location, source),
            None => Error::of_system(location, error),
        },
        None => Error::corrupt_file(location, WHAT, source),
    }
}
