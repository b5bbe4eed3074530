//! The interface of an ORC decoder, which is outside of this crate.

use std::sync::OnceLock;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use crate::error::{Error, Result};
use crate::store::FileIo;

/// Opens ORC files.
pub trait OrcDecoder: Send + Sync {
    /// Open a file.
    ///
    /// # Errors
    /// [`Error::Missing`], [`Error::Storage`]; `Corrupt` naming the file.
    fn open(&self, io: &FileIo, location: &str) -> Result<Box<dyn OrcReader>>;
}

/// An open ORC file.
pub trait OrcReader: Send + Sync {
    /// Return the columns, with the attributes of each ORC type as metadata of its field.
    fn schema(&self) -> SchemaRef;

    /// Return the rows of the whole file.
    fn rows(&self) -> u64;

    /// Return the number of stripes.
    fn stripes(&self) -> usize;

    /// Decode top-level columns of a stripe, at least one, in the order of the file.
    ///
    /// # Errors
    /// As for [`OrcDecoder::open`]; `Unsupported` for what the decoder cannot represent.
    fn stripe(&self, stripe: usize, columns: &[usize]) -> Result<RecordBatch>;
}

static DECODER: OnceLock<Box<dyn OrcDecoder>> = OnceLock::new();

/// Register the decoder of ORC files for this process. The first registered decoder stays.
pub fn register_orc_decoder(decoder: Box<dyn OrcDecoder>) {
    // A second registration comes from a module that is loaded twice and brings the same decoder.
    drop(DECODER.set(decoder));
}

/// Return the process's decoder.
///
/// # Errors
/// `Unsupported` naming the file, where there is none.
pub(crate) fn orc_decoder(location: &str) -> Result<&'static dyn OrcDecoder> {
    let decoder = DECODER.get().map(AsRef::as_ref);
    decoder.ok_or_else(|| Error::unsupported_in(location, "reading ORC files without a decoder"))
}
