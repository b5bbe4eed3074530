//! Detection of Parquet encryption, which is refused as unsupported and not as corrupt.
//!
//! The parquet crate drops the field of encrypted columns unless its `encryption` feature is on, so it is read here.

use icefloe_format::codec::thrift::struct_has_field;
use parquet::file::reader::{ChunkReader, Length};

use crate::bytes::data_file::DataFile;

/// The last bytes of a file whose footer is encrypted.
const ENCRYPTED_END: &[u8] = b"PARE";
/// A footer's length and the magic.
const END_BYTES: usize = 8;
/// The field of a plaintext footer that is present if columns are encrypted.
const ENCRYPTION_ALGORITHM: i64 = 8;

/// Whether a file ends with the magic of an encrypted footer.
pub(crate) fn ends_encrypted(source: &DataFile) -> bool {
    end(source).is_some_and(|end| end.ends_with(ENCRYPTED_END))
}

/// Whether a plaintext footer has the field of encrypted columns.
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
