//! The table properties of new files.

use std::collections::BTreeMap;

use icefloe_format::Result;

use super::avro_options::AvroOptions;
use super::file_format::{FileFormat, FileKind};
use super::orc_options::OrcOptions;
use super::parquet_options::ParquetOptions;
use super::property_reader::number;

const MIB: u64 = 1024 * 1024;

/// The size and encoding of new files.
#[derive(Debug, Clone)]
pub struct FileOptions {
    /// Size on disk at which a file is closed and the next one is started.
    pub target_file_bytes: u64,
    /// Bytes of batches, encoded columns and upload buffers that one task may hold.
    pub memory_bytes: u64,
    pub(super) encoding: Encoding,
}

/// The settings of one format.
#[derive(Debug, Clone)]
pub(super) enum Encoding {
    Parquet(ParquetOptions),
    Avro(AvroOptions),
    Orc(OrcOptions),
}

impl FileOptions {
    /// Return the options of a table's properties; delete files may have their own (`write.delete.`).
    ///
    /// # Errors
    /// `InvalidArgument` for a value that the property does not allow, `Unsupported` for a format that is not written.
    pub fn new(properties: &BTreeMap<String, String>, kind: FileKind) -> Result<Self> {
        let encoding = match FileFormat::of(properties, kind)? {
            FileFormat::Parquet => Encoding::Parquet(ParquetOptions::new(properties, kind)?),
            FileFormat::Avro => Encoding::Avro(AvroOptions::new(properties, kind)?),
            FileFormat::Orc => Encoding::Orc(OrcOptions::new(properties, kind)?),
        };
        let target_file_bytes = match kind {
            FileKind::Data => number(properties, "write.target-file-size-bytes", 512 * MIB)?,
            FileKind::Deletes => {
                number(properties, "write.delete.target-file-size-bytes", 64 * MIB)?
            }
        };
        let memory_bytes = number(properties, "write.icefloe.memory-bytes", 512 * MIB)?;
        Ok(Self { target_file_bytes, memory_bytes, encoding })
    }

    /// Return the format of the files.
    pub fn format(&self) -> FileFormat {
        match self.encoding {
            Encoding::Parquet(_) => FileFormat::Parquet,
            Encoding::Avro(_) => FileFormat::Avro,
            Encoding::Orc(_) => FileFormat::Orc,
        }
    }
}
