//! Conversion of encoded values to Arrow arrays, by type.

use arrow_array::ArrayRef;
use arrow_buffer::{BooleanBuffer, NullBuffer};
use parquet::basic::Type as PhysicalType;
use parquet::errors::Result;

use super::encoded::Encoded;
use super::validity::Validity;

/// A page whose values are decoded.
pub(crate) struct Page<'a, D> {
    pub(crate) bytes: &'a [u8],
    /// The column's dictionary, if the page is dictionary-encoded.
    pub(crate) dictionary: Option<&'a D>,
    /// A reused buffer for dictionary keys.
    pub(crate) keys: &'a mut Vec<u32>,
}

/// A decoder of one type of values into one type of Arrow arrays.
pub(crate) trait ValueType: Send + Sync + 'static {
    /// The decoded values of an array under construction.
    type Values: Send;
    /// The decoded entries of a dictionary page.
    type Dictionary: Send + Sync;

    /// Return the physical type and the bytes of a value, 0 for a variable length.
    fn physical(&self) -> (PhysicalType, usize);

    /// Decode a dictionary page, whose entries are PLAIN-encoded.
    ///
    /// # Errors
    /// `General` if the page ends before its last entry; `NYI` for a type without dictionaries.
    fn dictionary(&self, bytes: &[u8], entries: usize) -> Result<Self::Dictionary>;

    /// Return an empty array under construction with capacity for `rows` rows.
    fn values(&self, rows: usize) -> Self::Values;

    /// Append the next `count` values of the page, which are all non-null.
    ///
    /// # Errors
    /// `General` if the page ends before the last of these values; `NYI` for an encoding that is invalid for the type.
    fn append(
        &self,
        page: Page<'_, Self::Dictionary>,
        encoded: &mut Encoded,
        count: usize,
        values: &mut Self::Values,
    ) -> Result<()>;

    /// Move the last `valid` values to the non-null rows among the last `rows` rows.
    fn spread(&self, validity: &Validity, rows: usize, valid: usize, values: &mut Self::Values);

    /// Retain the rows whose bit in `kept` is set and return true. All rows are non-null. Return false if the type
    /// cannot do so in place; the finished array is then filtered.
    fn retain(&self, _values: &mut Self::Values, _kept: &BooleanBuffer) -> bool {
        false
    }

    /// Return the array of all values.
    ///
    /// # Errors
    /// `ArrowError` for values that the Arrow type does not allow.
    fn finish(&self, values: Self::Values, nulls: Option<NullBuffer>) -> Result<ArrayRef>;
}
