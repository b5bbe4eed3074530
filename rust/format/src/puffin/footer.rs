//! The footer of a Puffin file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::MAGIC;
use crate::{Error, Result};

const WHAT: &str = "puffin file";
/// Length of the payload's size, the flags and the magic after the payload.
const TAIL: usize = 12;
/// The bit of the first flag byte that marks a compressed payload.
const COMPRESSED: u8 = 1;

/// The blobs of a file and its properties.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Footer {
    /// The blobs in the order of the footer.
    pub blobs: Vec<BlobEntry>,
    /// Properties of the file, such as `created-by`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub properties: BTreeMap<String, String>,
}

/// One blob as the footer describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct BlobEntry {
    /// Type, such as `apache-datasketches-theta-v1`.
    #[serde(rename = "type")]
    pub blob_type: String,
    /// Ids of the columns that the blob describes, in the order of its type.
    pub fields: Vec<i32>,
    /// The snapshot that the blob was computed from.
    pub snapshot_id: i64,
    /// The sequence number of that snapshot.
    pub sequence_number: i64,
    /// Position of the first byte.
    pub offset: u64,
    /// Length in bytes, as stored.
    pub length: u64,
    /// `zstd`, `lz4`, or none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compression_codec: Option<String>,
    /// Properties of the blob, such as `ndv`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub properties: BTreeMap<String, String>,
}

impl Footer {
    /// Parse the footer of a whole file. Every blob is inside the file.
    ///
    /// # Errors
    /// [`Error::Corrupt`] for bytes that are not a Puffin file; [`Error::Unsupported`] for a compressed footer.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let corrupt = |reason: &str| Error::corrupt(WHAT, reason);
        if !bytes.starts_with(&MAGIC) || !bytes.ends_with(&MAGIC) {
            return Err(corrupt("expected PFA1 as the first and last bytes"));
        }
        let end = bytes.len().checked_sub(TAIL).ok_or_else(|| corrupt("the file is too short"))?;
        let tail = bytes.get(end..).and_then(|tail| tail.first_chunk::<8>());
        let [a, b, c, d, flags, ..] = *tail.ok_or_else(|| corrupt("the file is too short"))?;
        let length = usize::try_from(i32::from_le_bytes([a, b, c, d])).ok();
        let start = length.and_then(|length| end.checked_sub(length));
        let start = start.filter(|start| *start >= 2 * MAGIC.len());
        let start = start.ok_or_else(|| corrupt("the footer is longer than the file"))?;
        if bytes.get(start - MAGIC.len()..start) != Some(&MAGIC[..]) {
            return Err(corrupt("expected PFA1 before the footer"));
        }
        let payload = bytes.get(start..end).unwrap_or_default();
        if flags & COMPRESSED != 0 {
            return Err(Error::unsupported("a compressed footer of a Puffin file"));
        }
        let footer: Self = serde_json::from_slice(payload)
            .map_err(|error| Error::corrupt(WHAT, format!("the footer does not parse: {error}")))?;
        let data = start - MAGIC.len();
        let is_inside = |blob: &BlobEntry| {
            let end = blob.offset.checked_add(blob.length);
            blob.offset >= MAGIC.len() as u64 && end.is_some_and(|end| end <= data as u64)
        };
        match footer.blobs.iter().find(|blob| !is_inside(blob)) {
            Some(blob) => Err(Error::corrupt(
                WHAT,
                format!("the blob at {} of {} bytes is not in the file", blob.offset, blob.length),
            )),
            None => Ok(footer),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use super::super::{Blob, encode};
    use super::*;

    fn blob(bytes: Vec<u8>, compress: bool) -> Blob {
        let properties = BTreeMap::from([("ndv".to_owned(), "3".to_owned())]);
        let blob_type = "apache-datasketches-theta-v1".to_owned();
        let fields = vec![1];
        Blob {
            blob_type,
            fields,
            snapshot_id: 7,
            sequence_number: 2,
            bytes,
            compress,
            properties,
            codec: None,
        }
    }

    #[test]
    fn footer_describes_the_blobs_of_an_encoded_file() {
        let file =
            encode(&[blob(vec![1; 500], true), blob(vec![2; 3], false)], BTreeMap::new()).unwrap();
        let footer = Footer::parse(&file.bytes).unwrap();
        assert_eq!(footer, file.footer);
        let (zstd, plain) = (&footer.blobs[0], &footer.blobs[1]);
        assert_eq!((zstd.compression_codec.as_deref(), zstd.offset), (Some("zstd"), 4));
        assert!(zstd.length < 100);
        let start = usize::try_from(plain.offset).unwrap();
        assert_eq!(
            (plain.compression_codec.as_deref(), &file.bytes[start..start + 3]),
            (None, &[2, 2, 2][..])
        );
    }

    #[test]
    fn damaged_files_are_refused() {
        let file = encode(&[blob(vec![1; 50], false)], BTreeMap::new()).unwrap().bytes;
        for end in 0..file.len() {
            assert!(Footer::parse(&file[..end]).is_err(), "{end} bytes");
        }
        for place in file.len() - TAIL..file.len() - TAIL + 4 {
            let mut damaged = file.clone();
            damaged[place] ^= 0x55;
            assert!(Footer::parse(&damaged).is_err(), "byte {place}");
        }
    }
}
