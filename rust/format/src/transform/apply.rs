//! A transform of one value.

use super::Transform;
use super::bucket::Buckets;
use super::temporal;
use super::truncate::Width;
use crate::error::{Error, Result};
use crate::spec::Datum;

impl Transform {
    /// The result for one value; `None` is null.
    ///
    /// # Errors
    /// `InvalidArgument` where the transform cannot take the value's type, `Unsupported` for a transform that
    /// this version does not know.
    ///
    /// ```
    /// use icefloe_format::{spec::Datum, transform::Transform};
    /// let transform: Transform = "bucket[16]".parse()?;
    /// assert_eq!(transform.apply(&Datum::Long(34))?, Some(Datum::Int(3)));
    /// # Ok::<(), icefloe_format::Error>(())
    /// ```
    pub fn apply(&self, value: &Datum) -> Result<Option<Datum>> {
        let result = match self {
            Self::Identity => Some(value.clone()),
            Self::Void => return Ok(None),
            Self::Bucket(count) => Buckets::new(*count).of(value).map(Datum::Int),
            Self::Truncate(width) => Width::new(*width).of(value),
            Self::Year | Self::Month | Self::Day | Self::Hour => temporal::apply(self, value),
            Self::Unknown(_) => return Err(self.unknown()),
        };
        result.map(Some).ok_or_else(|| self.cannot_take(&value.primitive_type()))
    }

    pub(super) fn unknown(&self) -> Error {
        Error::unsupported(format!("the partition transform {self}"))
    }
}
