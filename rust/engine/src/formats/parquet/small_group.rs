//! Row groups of at most 1 MiB, decoded as one batch.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::RecordBatch;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReader, RowGroups};
use parquet::arrow::{FieldLevels, parquet_to_arrow_field_levels_with_virtual};
use parquet::basic::Compression;
use parquet::column::page::{PageIterator, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};
use parquet::file::serialized_reader::SerializedPageReader;

use super::page_header::CheckedPages;
use super::zstd_pages::ZstdPages;
use crate::bytes::data_file::DataFile;

/// Maximum uncompressed bytes of the decoded columns of a small row group.
const SMALL_BYTES: u64 = 1 << 20;

/// A row group of at most [`SMALL_BYTES`] uncompressed bytes.
pub(crate) struct SmallGroup {
    source: Arc<CheckedPages>,
    metadata: Arc<ParquetMetaData>,
    row_group: usize,
}

impl SmallGroup {
    /// Return a row group of an open file. `None` if `leaves` have more than [`SMALL_BYTES`] uncompressed bytes.
    pub(crate) fn of(
        metadata: &Arc<ParquetMetaData>,
        source: &DataFile,
        row_group: usize,
        leaves: &BTreeSet<usize>,
    ) -> Option<Self> {
        let group = metadata.row_groups().get(row_group)?;
        let mut bytes = 0_u64;
        for leaf in leaves {
            let size = u64::try_from(group.columns().get(*leaf)?.uncompressed_size()).ok()?;
            bytes = bytes.checked_add(size).filter(|bytes| *bytes <= SMALL_BYTES)?;
        }
        Some(Self {
            source: Arc::new(CheckedPages(source.clone())),
            metadata: Arc::clone(metadata),
            row_group,
        })
    }

    /// Decode all rows of the leaves of `levels` as one batch.
    ///
    /// # Errors
    /// The errors of the decoder; `General` if the number of decoded rows differs from the footer's.
    pub(crate) fn decode(&self, levels: &FieldLevels) -> Result<RecordBatch> {
        let rows = self.num_rows();
        let mut reader =
            ParquetRecordBatchReader::try_new_with_row_groups(levels, self, rows, None)?;
        let batch = reader.next().transpose()?;
        batch.filter(|batch| batch.num_rows() == rows).ok_or_else(|| {
            ParquetError::General(format!(
                "expected {rows} rows in the row group, got another number"
            ))
        })
    }

    fn group(&self) -> Option<&RowGroupMetaData> {
        self.metadata.row_groups().get(self.row_group)
    }

    fn pages(&self, column: &ColumnChunkMetaData) -> Result<Box<dyn PageReader>> {
        let source = Arc::clone(&self.source);
        if !matches!(column.compression(), Compression::ZSTD(_)) {
            return Ok(Box::new(SerializedPageReader::new(source, column, self.num_rows(), None)?));
        }
        let stored = column.clone().into_builder();
        let stored = stored.set_compression(Compression::UNCOMPRESSED).build()?;
        let stored = SerializedPageReader::new(source, &stored, self.num_rows(), None)?;
        let most = usize::try_from(column.uncompressed_size())?;
        Ok(Box::new(ZstdPages { stored, most }))
    }
}

impl RowGroups for SmallGroup {
    fn num_rows(&self) -> usize {
        let rows = self.group().map(RowGroupMetaData::num_rows);
        rows.and_then(|rows| usize::try_from(rows).ok()).unwrap_or(0)
    }

    fn column_chunks(&self, leaf: usize) -> Result<Box<dyn PageIterator>> {
        let column = self.group().and_then(|group| group.columns().get(leaf));
        let column = column.ok_or_else(|| ParquetError::General(format!("no column {leaf}")))?;
        Ok(Box::new(OneChunk(Some(self.pages(column)?))))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(self.group().into_iter())
    }

    fn metadata(&self) -> &ParquetMetaData {
        &self.metadata
    }
}

/// The pages of the only column chunk of a leaf.
struct OneChunk(Option<Box<dyn PageReader>>);

impl Iterator for OneChunk {
    type Item = Result<Box<dyn PageReader>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.take().map(Ok)
    }
}

impl PageIterator for OneChunk {}

/// Return the field levels to decode leaves of a file, followed by row numbers if `positions` is true.
///
/// # Errors
/// The errors of the decoder.
pub(crate) fn levels_of(
    reader: &ArrowReaderMetadata,
    leaves: &BTreeSet<usize>,
    positions: bool,
) -> Result<FieldLevels> {
    let descriptor = reader.parquet_schema();
    let mask = ProjectionMask::leaves(descriptor, leaves.iter().copied());
    let (columns, numbers) = match reader.schema().fields().split_last() {
        Some((last, columns)) if positions => (columns, std::slice::from_ref(last)),
        _ => (reader.schema().fields().as_ref(), [].as_slice()),
    };
    let hint = columns.to_vec().into();
    parquet_to_arrow_field_levels_with_virtual(descriptor, mask, Some(&hint), numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int64Type;
    use arrow_array::{ArrayRef, Int64Array, StringArray};
    use parquet::arrow::ArrowWriter;
    use parquet::arrow::arrow_reader::ArrowReaderOptions;
    use parquet::file::properties::{WriterProperties, WriterVersion};

    fn decoded(compression: Compression, version: WriterVersion) -> RecordBatch {
        let text = (0..50).map(|n| (n % 3 > 0).then(|| format!("text {}", n % 7)));
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("n", Arc::new(Int64Array::from_iter_values(0..50))),
            ("s", Arc::new(text.collect::<StringArray>())),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let properties = WriterProperties::builder().set_compression(compression);
        let properties = properties.set_writer_version(version).build();
        let path = std::env::temp_dir().join(format!("{}.parquet", uuid::Uuid::new_v4()));
        let file = std::fs::File::create(&path).unwrap();
        let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        let io = crate::store::FileIo::new([]);
        let source = DataFile::open(&io, path.to_str().unwrap()).unwrap();
        std::fs::remove_file(&path).unwrap();
        let reader = ArrowReaderMetadata::load(&source, ArrowReaderOptions::new()).unwrap();
        let leaves = BTreeSet::from([0, 1]);
        let group = SmallGroup::of(reader.metadata(), &source, 0, &leaves).unwrap();
        group.decode(&levels_of(&reader, &leaves, false).unwrap()).unwrap()
    }

    #[test]
    fn rows_are_equal_for_every_codec() {
        let zstd = Compression::ZSTD(parquet::basic::ZstdLevel::default());
        let plain = decoded(Compression::UNCOMPRESSED, WriterVersion::PARQUET_1_0);
        assert_eq!(plain.column(0).as_primitive::<Int64Type>().values()[49], 49);
        for compression in [zstd, Compression::SNAPPY, Compression::UNCOMPRESSED] {
            for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
                assert_eq!(decoded(compression, version), plain);
            }
        }
    }
}
