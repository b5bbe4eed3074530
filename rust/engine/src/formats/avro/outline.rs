//! The columns and the number of rows of an Avro file, by its header and the headers of its blocks.

use arrow_schema::Schema;
use icefloe_format::avro::natural::undecodable;
use parquet::file::reader::Length;

use super::file::{CHUNK_BYTES, WALK_BYTES, open};
use crate::bytes::data_file::DataFile;
use crate::error::{Error, Result};
use crate::resolve::request::FileRequest;

/// What an Avro file states beside its rows.
pub(crate) struct AvroOutline {
    /// The columns by the file's own schema.
    pub(crate) schema: Schema,
    pub(crate) rows: u64,
    /// The length of the file in bytes.
    pub(crate) length: u64,
}

impl AvroOutline {
    /// Read the headers of a file. The projection of the request should have no columns.
    ///
    /// # Errors
    /// [`Error::Missing`]; `Corrupt` naming the file; `Unsupported` for a column that no scan decodes.
    pub(crate) fn read(request: &FileRequest<'_>) -> Result<Self> {
        let source = request.file()?;
        let chunk = match source {
            DataFile::Remote(_) => CHUNK_BYTES,
            DataFile::Local(_) => WALK_BYTES,
        };
        let (file, first_block) = open(request, source)?;
        if let Some(column) =
            undecodable(&file.numbered, &|length| request.context.has_fixed(length))
        {
            let feature = format!("adding Avro files with the type of column {column}");
            return Err(Error::unsupported_in(request.location, feature));
        }
        let mut reader = file.reader(file.source.clone(), chunk);
        let (mut offset, mut rows) = (first_block, 0_u64);
        while let Some(header) = reader.header(offset)? {
            reader.skip(&header)?;
            rows = rows.saturating_add(header.rows);
            file.check_claim(rows)?;
            offset = header.end();
        }
        Ok(Self { schema: file.schema, rows, length: file.source.len() })
    }
}
