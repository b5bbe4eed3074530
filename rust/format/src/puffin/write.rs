//! Encoding of Puffin files.

use std::collections::BTreeMap;

use super::MAGIC;
use super::footer::{BlobEntry, Footer};
use crate::{Error, Result};

const ZSTD_LEVEL: i32 = 3;
const ZSTD: &str = "zstd";

/// A blob to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blob {
    /// Type, such as `apache-datasketches-theta-v1`.
    pub blob_type: String,
    /// Ids of the columns that the blob describes.
    pub fields: Vec<i32>,
    /// The snapshot that the blob was computed from.
    pub snapshot_id: i64,
    /// The sequence number of that snapshot.
    pub sequence_number: i64,
    /// The content, in the form of `codec`.
    pub bytes: Vec<u8>,
    /// Whether to compress the content with Zstandard.
    pub compress: bool,
    /// The compression of `bytes` when they are copied from another file.
    pub codec: Option<String>,
    /// Properties such as `ndv`.
    pub properties: BTreeMap<String, String>,
}

/// The bytes of a Puffin file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedPuffin {
    /// The whole file.
    pub bytes: Vec<u8>,
    /// The footer, with the positions of the blobs.
    pub footer: Footer,
    /// Length of the footer in bytes, from its first magic to the end of the file.
    pub footer_size: usize,
}

/// Encode blobs, in order, and a footer without compression.
///
/// # Errors
/// [`Error::InvalidArgument`] if the footer would have 2 GiB or more.
pub fn encode(blobs: &[Blob], properties: BTreeMap<String, String>) -> Result<EncodedPuffin> {
    let mut bytes = Vec::from(MAGIC);
    let entries = blobs.iter().map(|blob| append_blob(&mut bytes, blob));
    let footer = Footer { blobs: entries.collect::<Result<_>>()?, properties };
    let start = bytes.len();
    append_footer(&mut bytes, &footer)?;
    let footer_size = bytes.len() - start;
    Ok(EncodedPuffin { bytes, footer, footer_size })
}

fn append_blob(bytes: &mut Vec<u8>, blob: &Blob) -> Result<BlobEntry> {
    let offset = bytes.len();
    let codec = if blob.compress {
        // A frame of the bulk compressor states its content's size, as the specification requires.
        let compressed = zstd::bulk::compress(&blob.bytes, ZSTD_LEVEL)
            .map_err(|error| Error::invalid("blob", error.to_string()))?;
        bytes.extend(compressed);
        Some(ZSTD.to_owned())
    } else {
        bytes.extend(&blob.bytes);
        blob.codec.clone()
    };
    Ok(BlobEntry {
        blob_type: blob.blob_type.clone(),
        fields: blob.fields.clone(),
        snapshot_id: blob.snapshot_id,
        sequence_number: blob.sequence_number,
        offset: offset as u64,
        length: (bytes.len() - offset) as u64,
        compression_codec: codec,
        properties: blob.properties.clone(),
    })
}

/// Append the magic, the JSON payload, its length, the flags and the magic again.
fn append_footer(bytes: &mut Vec<u8>, footer: &Footer) -> Result<()> {
    let payload =
        serde_json::to_vec(footer).map_err(|error| Error::invalid("footer", error.to_string()))?;
    let length = i32::try_from(payload.len())
        .map_err(|_| Error::invalid("footer", "has more than 2 GiB; write fewer blobs"))?;
    bytes.extend(MAGIC);
    bytes.extend(payload);
    bytes.extend(length.to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend(MAGIC);
    Ok(())
}
