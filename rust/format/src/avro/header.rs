//! The header of an object container.

use std::collections::BTreeMap;

use super::cursor::{Cursor, Malformed};
use super::schema::AvroType;
use crate::codec::Codec;
use crate::{Error, Result};

/// The first four bytes of every container.
pub const MAGIC: [u8; 4] = *b"Obj\x01";
/// The first bytes of a file that is encrypted as an AES-GCM stream.
const ENCRYPTED_MAGIC: &[u8] = b"AGS1";
/// Length of a synchronisation marker.
pub const SYNC_BYTES: usize = 16;

const RECORDS_PER_BYTE: usize = 16;
const FREE_RECORDS: usize = 1 << 12;

/// The header of an object container over a byte slice, with an unparsed schema.
#[derive(Debug)]
pub struct Header<'a> {
    bytes: &'a [u8],
    metadata: Metadata<'a>,
    codec: Codec,
    sync: [u8; SYNC_BYTES],
    first_block: usize,
}

impl<'a> Header<'a> {
    /// Parse the header.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if `bytes` are no container; [`Error::Unsupported`] for a codec that is not
    /// implemented.
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        let mut cursor = Cursor::new(bytes);
        if bytes.starts_with(ENCRYPTED_MAGIC) {
            return Err(Error::unsupported("encrypted Avro"));
        }
        if cursor.take_array::<4>() != Ok(MAGIC) {
            return Err(Error::corrupt_at("Avro header", 0, "the magic bytes are missing"));
        }
        let header = read_header(&mut cursor, bytes.len());
        let first_block = bytes.len() - cursor.remaining();
        let (metadata, sync) = header.map_err(|error| {
            Error::corrupt_at("Avro header", position(first_block), error.to_string())
        })?;
        let codec = match metadata.get("avro.codec") {
            None => Codec::Null,
            Some(name) => Codec::from_avro_name(text("avro.codec", name)?)?,
        };
        Ok(Self { bytes, metadata, codec, sync, first_block })
    }

    /// Return the writer's schema as JSON.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the header has no schema or it is not UTF-8.
    pub fn schema_json(&self) -> Result<&'a str> {
        let missing = || {
            let reason = "the metadata have no avro.schema";
            Error::corrupt_at("Avro header", position(self.first_block), reason)
        };
        self.metadata("avro.schema")?.ok_or_else(missing)
    }

    /// Parse the writer's schema.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the header has no valid Avro schema.
    pub fn schema(&self) -> Result<AvroType> {
        AvroType::parse(self.schema_json()?).map_err(|error| error.or_at(self.schema_offset()))
    }

    /// Return the position of the schema in the container.
    pub fn schema_offset(&self) -> u64 {
        self.metadata.get("avro.schema").map_or(0, |schema| schema.offset)
    }

    /// Return the codec of the blocks.
    pub fn codec(&self) -> Codec {
        self.codec
    }

    /// Return a value of the metadata as text; `None` if the key is missing.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the value is not UTF-8.
    pub fn metadata(&self, key: &str) -> Result<Option<&'a str>> {
        self.metadata.get(key).map(|value| text(key, value)).transpose()
    }

    /// Return the synchronisation marker at the end of every block.
    pub fn sync(&self) -> [u8; SYNC_BYTES] {
        self.sync
    }

    /// Return the position of the first block.
    pub fn first_block(&self) -> usize {
        self.first_block
    }

    pub(super) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Return the most records that all blocks together may have.
    pub(super) fn most_records(&self) -> usize {
        self.bytes.len().saturating_mul(RECORDS_PER_BYTE).saturating_add(FREE_RECORDS)
    }
}

/// A metadata value with its position in the container.
#[derive(Debug, Clone, Copy)]
struct Entry<'a> {
    value: &'a [u8],
    offset: u64,
}

type Metadata<'a> = BTreeMap<String, Entry<'a>>;

fn read_header<'a>(
    cursor: &mut Cursor<'a>,
    total: usize,
) -> Result<(Metadata<'a>, [u8; SYNC_BYTES]), Malformed> {
    let mut metadata = BTreeMap::new();
    loop {
        let items = cursor.begin_items()?;
        if items.count == 0 {
            break;
        }
        for _ in 0..items.count {
            let key = String::from_utf8_lossy(cursor.bytes()?).into_owned();
            let value = cursor.bytes()?;
            let offset = position(total - cursor.remaining() - value.len());
            metadata.insert(key, Entry { value, offset });
        }
        cursor.end_items(items)?;
    }
    Ok((metadata, cursor.take_array()?))
}

fn text<'a>(key: &str, entry: &Entry<'a>) -> Result<&'a str> {
    std::str::from_utf8(entry.value)
        .map_err(|_| Error::corrupt_at("Avro header", entry.offset, format!("{key} is not UTF-8")))
}

pub(super) fn position(offset: usize) -> u64 {
    u64::try_from(offset).unwrap_or(u64::MAX)
}
