//! How the values of one column become an Arrow array.

use arrow_array::ArrayRef;
use arrow_buffer::{BooleanBuffer, NullBuffer};
use parquet::basic::Type as PhysicalType;
use parquet::errors::Result;

use super::encoded::Encoded;
use super::validity::Validity;

/// The page that values are read of.
pub(crate) struct Page<'a, D> {
    pub(crate) bytes: &'a [u8],
    /// The column's dictionary, where the page holds keys of it.
    pub(crate) dictionary: Option<&'a D>,
    /// Room for keys.
    pub(crate) keys: &'a mut Vec<u32>,
}

/// A type of columns: how their values are read, and what array they become.
pub(crate) trait ValueType: Send + Sync + 'static {
    /// Values of an array that is being built.
    type Values: Send;
    /// The entries of a dictionary page.
    type Dictionary: Send + Sync;

    /// The type in the file, and the bytes of a value; 0 where they vary.
    fn physical(&self) -> (PhysicalType, usize);

    /// Decode a dictionary page, whose entries are plain.
    ///
    /// # Errors
    /// `General` where the page ends before its last entry, or holds what the type does not.
    fn dictionary(&self, bytes: &[u8], entries: usize) -> Result<Self::Dictionary>;

    /// No values, with room for `rows`.
    fn values(&self, rows: usize) -> Self::Values;

    /// Append the next `count` values, none of them null.
    ///
    /// # Errors
    /// `General` where the page ends before; `NYI` for an encoding that the type has not.
    fn append(
        &self,
        page: Page<'_, Self::Dictionary>,
        encoded: &mut Encoded,
        count: usize,
        values: &mut Self::Values,
    ) -> Result<()>;

    /// Move the last `valid` values to those of the last `rows` rows that have one.
    fn spread(&self, validity: &Validity, rows: usize, valid: usize, values: &mut Self::Values);

    /// Keep the rows whose bit is set, none of them null, and return true; false where the array is filtered instead.
    fn retain(&self, _values: &mut Self::Values, _kept: &BooleanBuffer) -> bool {
        false
    }

    /// The array of all values.
    ///
    /// # Errors
    /// Where the values are not what the type holds.
    fn finish(&self, values: Self::Values, nulls: Option<NullBuffer>) -> Result<ArrayRef>;
}
