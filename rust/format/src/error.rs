//! What can go wrong in the format, as facts; prose is made only in `Display`.

/// A failure, by what the caller can do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// An argument is outside what the operation takes.
    #[error("{argument}: {reason}")]
    InvalidArgument {
        /// The argument, as the caller knows it.
        argument: String,
        /// What is wrong with it and what would be right.
        reason: String,
    },
    /// Bytes are not what the spec says they must be.
    #[error("{what} is corrupt{}: {reason}", offset.map(|at| format!(" at byte {at}")).unwrap_or_default())]
    Corrupt {
        /// The thing that was being decoded.
        what: String,
        /// Position in the decoded bytes, where known.
        offset: Option<u64>,
        /// What was found and what was expected.
        reason: String,
    },
    /// A valid feature that is not implemented or may not be read.
    #[error("{feature} is not supported")]
    Unsupported {
        /// The feature, as the spec names it.
        feature: String,
    },
    /// Data does not fit a table's schema.
    #[error("column {column}: found {found}, expected {expected}")]
    Mismatch {
        /// The column's full name.
        column: String,
        /// What the data has.
        found: String,
        /// What the table needs.
        expected: String,
    },
    /// A name that no column has.
    #[error("no column named {name}; {}", near_misses(name, known))]
    UnknownColumn {
        /// The name that was asked for.
        name: String,
        /// Full names that exist.
        known: Vec<String>,
    },
}

/// As many names as help to find the right one.
const SHOWN: usize = 20;

/// The names that a misspelled one may have been meant for, else the names that there are.
fn near_misses(name: &str, known: &[String]) -> String {
    let wanted = name.to_lowercase();
    let length = wanted.chars().count();
    let allowed = (length / 2).min(1 + length / 5);
    let near = |known: &&String| {
        let known = known.to_lowercase();
        let same_end = known.rsplit('.').next() == wanted.rsplit('.').next();
        same_end || distance(&wanted, &known) <= allowed
    };
    let meant: Vec<&str> = known.iter().filter(near).take(SHOWN).map(String::as_str).collect();
    if !meant.is_empty() {
        return format!("did you mean {}?", meant.join(" or "));
    }
    let shown = known.get(..SHOWN).unwrap_or(known).join(", ");
    match known.len().checked_sub(SHOWN) {
        Some(more @ 1..) => format!("the columns are {shown} and {more} more"),
        _ => format!("the columns are {shown}"),
    }
}

/// How many characters have to be changed, added or dropped.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (place, character) in left.chars().enumerate() {
        let mut diagonal = place;
        let mut before = place + 1;
        for (cell, other) in row.iter_mut().skip(1).zip(&right) {
            let changed = diagonal + usize::from(character != *other);
            diagonal = *cell;
            *cell = changed.min(before + 1).min(diagonal + 1);
            before = *cell;
        }
        if let Some(none) = row.first_mut() {
            *none = place + 1;
        }
    }
    row.pop().unwrap_or_default()
}

/// The result of an operation of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An [`Error::InvalidArgument`].
    pub fn invalid(argument: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::InvalidArgument { argument: argument.into(), reason: reason.into() }
    }

    /// An [`Error::Corrupt`] without a known position.
    pub fn corrupt(what: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Corrupt { what: what.into(), offset: None, reason: reason.into() }
    }

    /// An [`Error::Corrupt`] at a byte position.
    pub fn corrupt_at(what: impl Into<String>, offset: u64, reason: impl Into<String>) -> Self {
        Self::Corrupt { what: what.into(), offset: Some(offset), reason: reason.into() }
    }

    /// The same error; if it is [`Error::Corrupt`] without a position, with this one.
    #[must_use]
    pub fn or_at(self, position: u64) -> Self {
        match self {
            Self::Corrupt { what, offset: None, reason } => {
                Self::Corrupt { what, offset: Some(position), reason }
            }
            other => other,
        }
    }

    /// An [`Error::Unsupported`].
    pub fn unsupported(feature: impl Into<String>) -> Self {
        Self::Unsupported { feature: feature.into() }
    }
}
