//! Detection of Parquet encryption, which is reported as unsupported instead of corrupt.
//!
//! Without its `encryption` feature the Parquet crate drops the footer field that marks encrypted columns, so the field
//! is read here.

use icefloe_format::codec::thrift::struct_has_field;
use parquet::file::reader::{ChunkReader, Length};

use crate::bytes::data_file::DataFile;

/// The magic at the end of a file with an encrypted footer.
const ENCRYPTED_END: &[u8] = b"PARE";
/// Bytes of the footer's length and the magic.
const END_BYTES: usize = 8;
/// Id of the field `encryption_algorithm` of `FileMetaData`, present in a plaintext footer if columns are encrypted.
const ENCRYPTION_ALGORITHM: i64 = 8;

/// Return whether a file ends with the magic of an encrypted footer.
pub(crate) fn ends_encrypted(source: &DataFile) -> bool {
    end(source).is_some_and(|end| end.ends_with(ENCRYPTED_END))
}

/// Return whether a plaintext footer has the field `encryption_algorithm`.
pub(crate) fn has_encrypted_columns(source: &DataFile) -> bool {
    let footer = || {
        let end = end(source)?;
        let length = u32::from_le_bytes(*end.first_chunk()?);
        let start = source.len().checked_sub(END_BYTES as u64 + u64::from(length))?;
        source.get_bytes(start, usize::try_from(length).ok()?).ok()
    };
    footer().is_some_and(|footer| struct_has_field(&footer, ENCRYPTION_ALGORITHM) == Ok(true))
}

fn end(source: &DataFile) -> Option<bytes::Bytes> {
    let start = source.len().checked_sub(END_BYTES as u64)?;
    source.get_bytes(start, END_BYTES).ok()
}
