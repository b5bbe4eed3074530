//! The table properties of ORC files.

use std::collections::BTreeMap;

use icefloe_format::{Error, Result};

use super::file_format::FileKind;
use super::property_reader::PropertyReader;

const MIB: u64 = 1024 * 1024;
const CODECS: [&str; 5] = ["zlib", "snappy", "lz4", "zstd", "none"];
const STRATEGIES: [&str; 2] = ["speed", "compression"];

/// The stripes, compression and bloom filters of ORC files.
#[derive(Debug, Clone)]
pub(super) struct OrcOptions {
    pub(super) compression: String,
    pub(super) strategy: String,
    pub(super) stripe_bytes: u64,
    pub(super) batch_rows: u64,
    /// Full names of the columns with bloom filters.
    pub(super) bloom_columns: Vec<String>,
    pub(super) bloom_false_positives: f64,
}

impl OrcOptions {
    /// Return the options of a table's properties; delete files may have their own (`write.delete.orc.`).
    ///
    /// # Errors
    /// `InvalidArgument` for a value that the property does not allow.
    pub(super) fn new(properties: &BTreeMap<String, String>, kind: FileKind) -> Result<Self> {
        let read = PropertyReader { properties, kind, format: "orc" };
        // Files of one stream have no file system blocks to align stripes with, so the value is only checked.
        read.number("block-size-bytes", 256 * MIB)?;
        let columns = match kind {
            FileKind::Data => read.text("bloom.filter.columns"),
            FileKind::Deletes => None,
        };
        let columns = columns.map(|(_, text)| text.split(',').map(str::trim).map(str::to_owned));
        let codec = one_of(&read, "compression-codec", "zlib", &CODECS)?;
        Ok(Self {
            compression: if codec == "none" { "uncompressed".to_owned() } else { codec },
            strategy: one_of(&read, "compression-strategy", "speed", &STRATEGIES)?,
            stripe_bytes: read.number("stripe-size-bytes", 64 * MIB)?,
            batch_rows: read.number("vectorized.batch-size", 1_024)?,
            bloom_columns: columns.into_iter().flatten().filter(|name| !name.is_empty()).collect(),
            bloom_false_positives: read.fraction("bloom.filter.fpp", 0.05)?,
        })
    }
}

fn one_of(read: &PropertyReader<'_>, name: &str, default: &str, words: &[&str]) -> Result<String> {
    let Some((key, text)) = read.text(name) else { return Ok(default.to_owned()) };
    let word = text.trim().to_ascii_lowercase();
    if words.contains(&word.as_str()) {
        return Ok(word);
    }
    Err(Error::invalid(key, format!("expected one of {}, got {text:?}", words.join(", "))))
}
