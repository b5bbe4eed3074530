//! The interface of an ORC encoder, which is outside of this crate.

use std::io::Write;
use std::sync::OnceLock;

use arrow_array::RecordBatch;
use icefloe_format::Error as FormatError;

use crate::error::Result;

/// The settings of an ORC file.
#[derive(Debug, Clone, PartialEq)]
pub struct OrcSettings {
    /// The codec's name in lower case: `zlib`, `snappy`, `lz4`, `zstd` or `uncompressed`.
    pub compression: String,
    /// `speed` or `compression`.
    pub strategy: String,
    /// Bytes of a stripe in memory.
    pub stripe_bytes: u64,
    /// Rows that are encoded at once.
    pub batch_rows: u64,
    /// ORC column numbers with bloom filters.
    pub bloom_columns: Vec<usize>,
    /// Rate of false positives of the bloom filters.
    pub bloom_false_positives: f64,
}

/// Creates ORC files.
pub trait OrcEncoder: Send + Sync {
    /// Check that files can be written.
    ///
    /// # Errors
    /// `Unsupported` with the reason.
    fn check(&self) -> Result<()>;

    /// Start a file at `location` that is written to `sink`. The metadata of each field of a batch are the attributes
    /// of its ORC type.
    ///
    /// # Errors
    /// [`crate::Error::Storage`]; `Unsupported` for a setting.
    fn create(
        &self,
        sink: Box<dyn Write + Send>,
        location: &str,
        settings: &OrcSettings,
    ) -> Result<Box<dyn OrcWriter>>;
}

/// An ORC file being written.
pub trait OrcWriter: Send {
    /// Append rows.
    ///
    /// # Errors
    /// As for [`OrcEncoder::create`].
    fn write(&mut self, batch: &RecordBatch) -> Result<()>;

    /// Write the last stripe and the footer.
    ///
    /// # Errors
    /// As for [`OrcEncoder::create`].
    fn close(&mut self) -> Result<()>;
}

static ENCODER: OnceLock<Box<dyn OrcEncoder>> = OnceLock::new();

/// Register the encoder of ORC files for this process. The first registered encoder stays.
pub fn register_orc_encoder(encoder: Box<dyn OrcEncoder>) {
    // A second registration comes from a module that is loaded twice and brings the same encoder.
    drop(ENCODER.set(encoder));
}

/// Return the process's encoder.
///
/// # Errors
/// `Unsupported` where there is none, or where it cannot write files.
pub(super) fn orc_encoder() -> Result<&'static dyn OrcEncoder> {
    let Some(encoder) = ENCODER.get() else {
        return Err(FormatError::unsupported("writing ORC files without an encoder").into());
    };
    encoder.check()?;
    Ok(encoder.as_ref())
}
