//! The formats of written files.

use std::collections::BTreeMap;

use icefloe_format::{Error, Result};

const FORMAT: &str = "write.format.default";
const DELETE_FORMAT: &str = "write.delete.format.default";

/// The content of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// Rows of the table.
    Data,
    /// Positions or keys of deleted rows.
    Deletes,
}

/// A format of data files and delete files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileFormat {
    /// Apache Parquet.
    Parquet,
    /// Apache Avro object containers.
    Avro,
    /// Apache ORC.
    Orc,
}

impl FileFormat {
    /// Return the format that a table's properties state for new files; Parquet if they state none.
    ///
    /// # Errors
    /// `Unsupported` for a format that is not written.
    pub fn of(properties: &BTreeMap<String, String>, kind: FileKind) -> Result<Self> {
        let data = properties.get(FORMAT);
        let name = match kind {
            FileKind::Data => data,
            FileKind::Deletes => properties.get(DELETE_FORMAT).or(data),
        };
        let Some(name) = name.map(|name| name.to_ascii_lowercase()) else {
            return Ok(Self::Parquet);
        };
        Self::named(&name).ok_or_else(|| Error::unsupported(format!("writing {name} files")))
    }

    /// Return the format of a name in lower case.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "parquet" => Some(Self::Parquet),
            "avro" => Some(Self::Avro),
            "orc" => Some(Self::Orc),
            _ => None,
        }
    }

    /// Return the format's name in manifests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Parquet => "PARQUET",
            Self::Avro => "AVRO",
            Self::Orc => "ORC",
        }
    }

    /// Return the ending of file names.
    pub(super) fn extension(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Avro => "avro",
            Self::Orc => "orc",
        }
    }
}
