//! The table properties of Avro files.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use icefloe_format::codec::Codec;
use icefloe_format::{Error, Result};

use super::file_format::FileKind;
use super::property_reader::PropertyReader;

/// Levels of DEFLATE.
const GZIP_LEVELS: RangeInclusive<i32> = 0..=9;
/// Levels of Zstandard that take a reasonable amount of memory.
const ZSTD_LEVELS: RangeInclusive<i32> = -7..=22;

/// The compression of Avro files.
#[derive(Debug, Clone, Copy)]
pub(super) struct AvroOptions {
    pub(super) codec: Codec,
}

impl AvroOptions {
    /// Return the options of a table's properties; delete files may have their own (`write.delete.avro.`).
    ///
    /// # Errors
    /// `InvalidArgument` for an unknown codec, and for a level that the codec does not have.
    pub(super) fn new(properties: &BTreeMap<String, String>, kind: FileKind) -> Result<Self> {
        let read = PropertyReader { properties, kind, format: "avro" };
        let level = read.level()?;
        let (key, name) = match read.text("compression-codec") {
            Some((key, name)) => (key, name.to_ascii_lowercase()),
            None => (String::new(), "gzip".to_owned()),
        };
        let levels = match name.as_str() {
            "gzip" => Some(GZIP_LEVELS),
            "zstd" => Some(ZSTD_LEVELS),
            "snappy" | "uncompressed" => None,
            other => {
                let expected = "gzip, zstd, snappy or uncompressed";
                return Err(Error::invalid(key, format!("expected {expected}, got {other:?}")));
            }
        };
        if let (Some((key, level)), Some(levels)) = (&level, levels)
            && !levels.contains(level)
        {
            let (least, most) = (levels.start(), levels.end());
            let expected = format!("a level of {name} from {least} to {most}");
            return Err(Error::invalid(key, format!("expected {expected}, got {level}")));
        }
        Ok(Self { codec: Codec::from_property(&name, level.map(|(_, level)| level))? })
    }
}
