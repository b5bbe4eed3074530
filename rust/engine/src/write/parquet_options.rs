//! The table properties of Parquet files.

use std::collections::BTreeMap;

use icefloe_format::{Error, Result};
use parquet::basic::{BrotliLevel, Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::{
    EnabledStatistics, WriterProperties, WriterPropertiesBuilder, WriterVersion,
};
use parquet::schema::types::ColumnPath;

use super::file_format::FileKind;
use super::locations::flag;
use super::property_reader::{PropertyReader, number};

const MIB: u64 = 1024 * 1024;
const TRACK_UNCOMPRESSED: &str = "write.parquet.row-group-size-track-uncompressed";
/// Bits of a bloom filter that one value sets.
const BITS_OF_VALUE: f64 = 8.0;
pub(super) const CREATED_BY: &str = concat!("icefloe version ", env!("CARGO_PKG_VERSION"));

/// The row groups, encoding and compression of Parquet files.
#[derive(Debug, Clone)]
pub struct ParquetOptions {
    /// The size at which row groups end.
    pub(super) row_groups: RowGroupOptions,
    page_bytes: u64,
    page_rows: u64,
    pub(super) dictionary_bytes: u64,
    compression: Compression,
    version: WriterVersion,
    bloom_filters: Vec<BloomFilter>,
    /// Columns whose dictionaries are enabled or disabled by a property.
    dictionaries: Vec<(String, bool)>,
    /// Columns whose footer statistics are enabled or disabled by a property.
    statistics: Vec<(String, bool)>,
}

/// The size at which row groups end, and how often it is checked.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowGroupOptions {
    /// Size of a row group on disk, which is the most that one open file holds in memory.
    pub(super) bytes: usize,
    /// The least rows between two checks of the size.
    pub(super) least_rows: usize,
    /// The most rows between two checks of the size.
    pub(super) most_rows: usize,
    /// The rows at which a row group ends.
    pub(super) limit: usize,
}

#[derive(Debug, Clone)]
struct BloomFilter {
    column: String,
    false_positives: f64,
    /// The distinct values that the filter has room for.
    distinct_values: u64,
}

impl ParquetOptions {
    /// Return the options of a table's properties; delete files may have their own (`write.delete.parquet.`).
    ///
    /// # Errors
    /// `InvalidArgument` for a value that the property does not allow.
    pub fn new(properties: &BTreeMap<String, String>, kind: FileKind) -> Result<Self> {
        let read = PropertyReader { properties, kind, format: "parquet" };
        if flag(properties, TRACK_UNCOMPRESSED, false)? {
            let feature = format!("row groups of an uncompressed size ({TRACK_UNCOMPRESSED}=true)");
            return Err(Error::unsupported(feature));
        }
        let row_groups = RowGroupOptions {
            bytes: to_usize(read.number("row-group-size-bytes", 128 * MIB)?),
            least_rows: to_usize(read.number("row-group-check-min-record-count", 100)?),
            most_rows: to_usize(read.number("row-group-check-max-record-count", 10_000)?),
            limit: to_usize(read.number("row-group-limit", u64::MAX)?),
        };
        let page_bytes = read.number("page-size-bytes", MIB)?;
        let page_rows = read.number("page-row-limit", 20_000)?;
        let dictionary_bytes = read.number("dict-size-bytes", 2 * MIB)?;
        let read = Reader(read);
        Ok(Self {
            row_groups,
            page_bytes,
            page_rows,
            dictionary_bytes,
            compression: read.compression()?,
            version: read.version()?,
            bloom_filters: read.bloom_filters()?,
            dictionaries: read.flags("write.parquet.dict-encoding-enabled.column.")?,
            statistics: read.flags("write.parquet.stats-enabled.column.")?,
        })
    }

    /// Return the Parquet writer's settings. `statistics_bytes` is the length of bounds of strings and binaries in
    /// the footer; `None` for all bytes. `path_of` returns the place of a column, by the full name that properties have.
    /// Properties of renamed or dropped columns are ignored.
    pub(super) fn properties(
        &self,
        statistics_bytes: Option<usize>,
        path_of: impl Fn(&str) -> Option<ColumnPath>,
    ) -> WriterPropertiesBuilder {
        let mut builder = WriterProperties::builder()
            .set_created_by(CREATED_BY.to_owned())
            .set_writer_version(self.version)
            .set_compression(self.compression)
            // The file ends its row groups itself.
            .set_max_row_group_row_count(None)
            .set_max_row_group_bytes(None)
            .set_data_page_size_limit(to_usize(self.page_bytes))
            .set_data_page_row_count_limit(to_usize(self.page_rows))
            .set_dictionary_page_size_limit(to_usize(self.dictionary_bytes))
            .set_statistics_truncate_length(statistics_bytes);
        for filter in &self.bloom_filters {
            let Some(path) = path_of(&filter.column) else { continue };
            builder = builder
                .set_column_bloom_filter_enabled(path.clone(), true)
                .set_column_bloom_filter_fpp(path.clone(), filter.false_positives)
                .set_column_bloom_filter_max_ndv(path, filter.distinct_values);
        }
        for (column, is_enabled) in &self.dictionaries {
            let Some(path) = path_of(column) else { continue };
            builder = builder.set_column_dictionary_enabled(path, *is_enabled);
        }
        for (column, is_enabled) in &self.statistics {
            let level = if *is_enabled { EnabledStatistics::Page } else { EnabledStatistics::None };
            let Some(path) = path_of(column) else { continue };
            builder = builder.set_column_statistics_enabled(path, level);
        }
        builder
    }

    /// Return whether a property enables or disables the dictionary of a column.
    pub(super) fn sets_dictionary(&self, column: &str) -> bool {
        self.dictionaries.iter().any(|(name, _)| name == column)
    }
}

/// Return the distinct values of a bloom filter that takes at most `bytes` bytes, rounded down to a power of two.
fn distinct_values_of(bytes: u64, false_positives: f64) -> u64 {
    let bits = 8.0 * (1_u64 << bytes.max(1).ilog2()) as f64;
    let values = -bits * (1.0 - false_positives.powf(1.0 / BITS_OF_VALUE)).ln() / BITS_OF_VALUE;
    values as u64
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

    fn bloom_filters(&self) -> Result<Vec<BloomFilter>> {
        const DEFAULT_FALSE_POSITIVES: f64 = 0.01;
        let properties = self.0.properties;
        let most_bytes = number(properties, "write.parquet.bloom-filter-max-bytes", MIB)?;
        let mut filters = Vec::new();
        for (column, _) in self
            .flags("write.parquet.bloom-filter-enabled.column.")?
            .into_iter()
            .filter(|(_, is_enabled)| *is_enabled)
        {
            let rate = format!("write.parquet.bloom-filter-fpp.column.{column}");
            let false_positives = match properties.get(&rate) {
                None => DEFAULT_FALSE_POSITIVES,
                Some(text) => match text.trim().parse::<f64>() {
                    Ok(value) if value > 0.0 && value < 1.0 => value,
                    _ => {
                        let reason = format!("expected a number between 0 and 1, got {text:?}");
                        return Err(Error::invalid(rate, reason));
                    }
                },
            };
            let most = distinct_values_of(most_bytes, false_positives);
            let stated = format!("write.parquet.bloom-filter-ndv.column.{column}");
            let distinct_values = number(properties, &stated, most)?.min(most);
            filters.push(BloomFilter { column, false_positives, distinct_values });
        }
        Ok(filters)
    }

    /// Return the columns of data files that properties with a prefix enable or disable.
    fn flags(&self, prefix: &str) -> Result<Vec<(String, bool)>> {
        if self.0.kind == FileKind::Deletes {
            return Ok(Vec::new());
        }
        let named = self.0.properties.range(prefix.to_owned()..);
        let columns = named.map_while(|(name, _)| Some((name, name.strip_prefix(prefix)?)));
        columns
            .map(|(name, column)| Ok((column.to_owned(), flag(self.0.properties, name, false)?)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use parquet::bloom_filter::Sbbf;

    use super::*;

    #[test]
    fn bloom_filters_have_at_most_the_bytes_of_their_limit() {
        for bytes in [1_u64, 32, 100, 4096, 1_000_000, MIB, 3 * MIB] {
            for rate in [0.5, 0.01, 0.0001] {
                let filter = Sbbf::new_with_ndv_fpp(distinct_values_of(bytes, rate), rate).unwrap();
                let mut stored = Vec::new();
                filter.write_bitset(&mut stored).unwrap();
                // 32 bytes is one block, which every filter has.
                assert!(stored.len() as u64 <= bytes.max(32), "{} {bytes} {rate}", stored.len());
                assert!(stored.len() as u64 * 4 > bytes, "{} {bytes} {rate}", stored.len());
            }
        }
    }
}
