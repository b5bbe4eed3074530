//! The table properties of Parquet files.

use std::collections::BTreeMap;

use icefloe_format::{Error, Result};
use parquet::basic::{BrotliLevel, Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};
use parquet::schema::types::ColumnPath;

use super::file_format::FileKind;
use super::locations::flag;
use super::property_reader::PropertyReader;

const MIB: u64 = 1024 * 1024;
const CREATED_BY: &str = concat!("icefloe version ", env!("CARGO_PKG_VERSION"));

/// The row groups, encoding and compression of Parquet files.
#[derive(Debug, Clone)]
pub struct ParquetOptions {
    /// Size of a row group on disk, which is the most that one open file holds in memory.
    pub row_group_bytes: u64,
    page_bytes: u64,
    page_rows: u64,
    pub(super) dictionary_bytes: u64,
    compression: Compression,
    version: WriterVersion,
    bloom_filters: Vec<(String, f64)>,
}

impl ParquetOptions {
    /// The options of a table's properties; delete files may have their own (`write.delete.parquet.`).
    ///
    /// # Errors
    /// `InvalidArgument` for a value that the property does not allow.
    pub fn new(properties: &BTreeMap<String, String>, kind: FileKind) -> Result<Self> {
        let read = PropertyReader { properties, kind, format: "parquet" };
        let row_group_bytes = read.number("row-group-size-bytes", 128 * MIB)?;
        let page_bytes = read.number("page-size-bytes", MIB)?;
        let page_rows = read.number("page-row-limit", 20_000)?;
        let dictionary_bytes = read.number("dict-size-bytes", 2 * MIB)?;
        let read = Reader(read);
        Ok(Self {
            row_group_bytes,
            page_bytes,
            page_rows,
            dictionary_bytes,
            compression: read.compression()?,
            version: read.version()?,
            bloom_filters: read.bloom_filters()?,
        })
    }

    /// The Parquet writer's settings. `statistics_bytes` is the length of bounds of strings and binaries in
    /// the footer; `None` for all bytes.
    pub(super) fn properties(&self, statistics_bytes: Option<usize>) -> WriterPropertiesBuilder {
        let mut builder = WriterProperties::builder()
            .set_created_by(CREATED_BY.to_owned())
            .set_writer_version(self.version)
            .set_compression(self.compression)
            .set_max_row_group_row_count(None)
            .set_max_row_group_bytes(Some(to_usize(self.row_group_bytes)))
            .set_data_page_size_limit(to_usize(self.page_bytes))
            .set_data_page_row_count_limit(to_usize(self.page_rows))
            .set_dictionary_page_size_limit(to_usize(self.dictionary_bytes))
            .set_statistics_truncate_length(statistics_bytes);
        for (path, false_positives) in &self.bloom_filters {
            let parts: Vec<String> = path.split('.').map(str::to_owned).collect();
            let path = ColumnPath::new(parts);
            builder = builder
                .set_column_bloom_filter_enabled(path.clone(), true)
                .set_column_bloom_filter_fpp(path, *false_positives);
        }
        builder
    }
}

fn to_usize(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

struct Reader<'a>(PropertyReader<'a>);

impl Reader<'_> {
    fn version(&self) -> Result<WriterVersion> {
        match self.0.text("page-version") {
            None => Ok(WriterVersion::PARQUET_1_0),
            Some((_, text)) if text.eq_ignore_ascii_case("v1") => Ok(WriterVersion::PARQUET_1_0),
            Some((_, text)) if text.eq_ignore_ascii_case("v2") => Ok(WriterVersion::PARQUET_2_0),
            Some((key, text)) => {
                Err(Error::invalid(key, format!("expected v1 or v2, got {text:?}")))
            }
        }
    }

    fn compression(&self) -> Result<Compression> {
        let level = self.0.level()?.map(|(_, level)| level);
        let (key, codec) = match self.0.text("compression-codec") {
            Some((key, text)) => (key, text.to_ascii_lowercase()),
            None => (String::new(), "zstd".to_owned()),
        };
        let refused = |error: parquet::errors::ParquetError| {
            Error::invalid("compression level", error.to_string())
        };
        let unsigned = level.map(|level| u32::try_from(level).unwrap_or(u32::MAX));
        Ok(match codec.as_str() {
            "zstd" => Compression::ZSTD(
                level.map_or(Ok(ZstdLevel::default()), ZstdLevel::try_new).map_err(refused)?,
            ),
            "gzip" => Compression::GZIP(
                unsigned.map_or(Ok(GzipLevel::default()), GzipLevel::try_new).map_err(refused)?,
            ),
            "brotli" => Compression::BROTLI(
                unsigned
                    .map_or(Ok(BrotliLevel::default()), BrotliLevel::try_new)
                    .map_err(refused)?,
            ),
            "snappy" => Compression::SNAPPY,
            "lz4" => Compression::LZ4,
            "lz4_raw" => Compression::LZ4_RAW,
            "uncompressed" | "none" => Compression::UNCOMPRESSED,
            _ => {
                let names = "zstd, gzip, snappy, lz4, lz4_raw, brotli or uncompressed";
                return Err(Error::invalid(key, format!("expected {names}, got {codec:?}")));
            }
        })
    }

    fn bloom_filters(&self) -> Result<Vec<(String, f64)>> {
        const ENABLED: &str = "write.parquet.bloom-filter-enabled.column.";
        const DEFAULT_FALSE_POSITIVES: f64 = 0.01;
        let mut filters = Vec::new();
        if self.0.kind == FileKind::Deletes {
            return Ok(filters);
        }
        for (name, _) in self.0.properties.range(ENABLED.to_owned()..) {
            let Some(column) = name.strip_prefix(ENABLED) else { break };
            if !flag(self.0.properties, name, false)? {
                continue;
            }
            let rate = format!("write.parquet.bloom-filter-fpp.column.{column}");
            let false_positives = match self.0.properties.get(&rate) {
                None => DEFAULT_FALSE_POSITIVES,
                Some(text) => match text.trim().parse::<f64>() {
                    Ok(value) if value > 0.0 && value < 1.0 => value,
                    _ => return Err(Error::invalid(rate, "expected a number between 0 and 1")),
                },
            };
            filters.push((column.to_owned(), false_positives));
        }
        Ok(filters)
    }
}
