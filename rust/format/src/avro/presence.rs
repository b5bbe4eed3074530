//! Optional values: how a writer encodes whether a value is present.

use super::cursor::{Cursor, Malformed};
use super::schema::{AvroType, Kind};
use crate::{Error, Result};

/// The encoding of whether a value is present.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    Always,
    Never,
    /// A union of null and a type, with the indices of its branches.
    Branch {
        null: i64,
        value: i64,
    },
}

impl Presence {
    /// Return the encoding of presence, and the type of present values.
    pub(super) fn of(written: &AvroType) -> Result<(Self, Option<&AvroType>)> {
        let Kind::Union(branches) = &written.kind else {
            let null = written.kind == Kind::Null;
            return Ok(if null { (Self::Never, None) } else { (Self::Always, Some(written)) });
        };
        match &**branches {
            [first, second] if first.kind == Kind::Null => {
                Ok((Self::Branch { null: 0, value: 1 }, Some(second)))
            }
            [first, second] if second.kind == Kind::Null => {
                Ok((Self::Branch { null: 1, value: 0 }, Some(first)))
            }
            [only] if only.kind == Kind::Null => Ok((Self::Branch { null: 0, value: -1 }, None)),
            [only] => Ok((Self::Branch { null: -1, value: 0 }, Some(only))),
            _ => Err(Error::unsupported("an Avro union other than of null and one type")),
        }
    }

    /// Return whether a value follows.
    #[inline(always)]
    pub(super) fn read(self, cursor: &mut Cursor<'_>) -> Result<bool, Malformed> {
        match self {
            Self::Always => Ok(true),
            Self::Never => Ok(false),
            Self::Branch { null, value } => match cursor.long()? {
                branch if branch == value => Ok(true),
                branch if branch == null => Ok(false),
                _ => Err(Malformed::UnionBranch),
            },
        }
    }
}
