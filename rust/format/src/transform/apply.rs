//! A transform applied to one value and to an Arrow array: the type is dispatched once, then one loop runs the
//! scalar rule.

use arrow_array::{Array, ArrayRef, new_null_array};

use super::bucket::Buckets;
use super::truncate::{self, Width};
use super::{bucket, temporal};
use crate::error::{Error, Result};
use crate::spec::canonical::{can_hold, cannot_hold, each_value};
use crate::spec::{
    ArrowName, Datum, PrimitiveType, Transform, canonical_array, primitive_from_arrow,
    primitive_to_arrow,
};

impl Transform {
    /// Transform one value; `None` is null.
    ///
    /// # Errors
    /// `InvalidArgument` where the transform does not apply to the type of the value, `Unsupported` for an unknown
    /// transform.
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
    /// Transform an array of a source type. The result has the canonical layout of the result type and the same
    /// length, and is null where the input is null.
    ///
    /// # Errors
    /// `InvalidArgument` where the transform does not apply to the source type or the array's type does not fit,
    /// `Unsupported` for an unknown transform.
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

    /// Transform an array whose source type follows from its Arrow type; see [`Transform::apply_array`]. Truncated
    /// strings and binaries keep their layout.
    ///
    /// # Errors
    /// `InvalidArgument` where the transform does not apply to the values.
    pub fn apply_untyped(&self, array: &dyn Array) -> Result<ArrayRef> {
        match (self, primitive_from_arrow(array.data_type())) {
            (Self::Identity | Self::Void | Self::Unknown(_), Some(source)) => {
                self.apply_array(array, &source)
            }
            (_, Some(source)) if self.can_transform(&source) => self.apply_values(array, &source),
            _ => {
                let reason = format!(
                    "{self} does not apply to values of type {}",
                    ArrowName(array.data_type())
                );
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
