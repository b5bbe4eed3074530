//! A transform applied to one value and to an Arrow array: the type is dispatched once, then one loop runs the
//! scalar rule.

use arrow_array::{Array, ArrayRef, new_null_array};

use super::bucket::Buckets;
use super::truncate::{self, Width};
use super::{bucket, temporal};
use crate::error::{Error, Result};
use crate::spec::canonical::{can_hold, cannot_hold, each_value};
use crate::spec::{
    Datum, PrimitiveType, Transform, canonical_array, primitive_from_arrow, primitive_to_arrow,
};

impl Transform {
    /// The result for one value; `None` is null.
    ///
    /// # Errors
    /// `InvalidArgument` where the transform cannot take the value's type, `Unsupported` for a transform that
    /// this version does not know.
    ///
    /// ```
    /// use icefloe_format::spec::{Datum, Transform};
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

    fn unknown(&self) -> Error {
        Error::unsupported(format!("the partition transform {self}"))
    }
}

impl Transform {
    /// The results for an array of a source type, in the layout of the result type, of the same length,
    /// null where the input is null.
    ///
    /// # Errors
    /// `InvalidArgument` where the transform cannot take the source type or the array cannot hold it,
    /// `Unsupported` for a transform that this version does not know.
    pub fn apply_array(&self, array: &dyn Array, source: &PrimitiveType) -> Result<ArrayRef> {
        if let Self::Unknown(_) = self {
            return Err(self.unknown());
        }
        if !self.can_transform(source) {
            return Err(self.cannot_take(source));
        }
        if !can_hold(array.data_type(), source) {
            return Err(cannot_hold(array, source));
        }
        match self {
            Self::Void => Ok(new_null_array(&primitive_to_arrow(source), array.len())),
            Self::Identity => canonical_array(array, source),
            _ => canonical_array(&self.apply_values(array, source)?, &self.result_type(source)?),
        }
    }

    /// The results for an array whose own type says what its values are; see [`Transform::apply_array`].
    /// Large strings and string views that are truncated stay what they are, and so do binaries.
    ///
    /// # Errors
    /// `InvalidArgument` naming `array` where the transform cannot take its values.
    pub fn apply_untyped(&self, array: &dyn Array) -> Result<ArrayRef> {
        match (self, primitive_from_arrow(array.data_type())) {
            (Self::Identity | Self::Void | Self::Unknown(_), Some(source)) => {
                self.apply_array(array, &source)
            }
            (_, Some(source)) if self.can_transform(&source) => self.apply_values(array, &source),
            _ => {
                let reason = format!("{self} cannot be applied to values of {}", array.data_type());
                Err(Error::invalid("array", reason))
            }
        }
    }

    fn apply_values(&self, array: &dyn Array, source: &PrimitiveType) -> Result<ArrayRef> {
        each_value(array, &|values| {
            let results = match self {
                Self::Bucket(count) => bucket::apply_array(Buckets::new(*count), values, source)?,
                Self::Truncate(width) => truncate::apply_array(Width::new(*width), values, source)?,
                _ => temporal::apply_array(self, &canonical_array(values, source)?),
            };
            results.ok_or_else(|| self.cannot_take(source))
        })
    }
}
