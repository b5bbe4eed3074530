//! Errors of the format as facts; text is made only in `Display`.

/// A failure, by what the caller can do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// An argument is outside what the operation takes.
    #[error("{argument}: {reason}")]
    InvalidArgument {
        /// The name of the argument in the call, or the subject of the refusal.
        argument: String,
        /// The deviation, and the expected form.
        reason: String,
    },
    /// Bytes do not follow the specification of their format.
    #[error("{what} is corrupt{}: {reason}", offset.map(|at| format!(" at byte {at}")).unwrap_or_default())]
    Corrupt {
        /// The structure that was decoded.
        what: String,
        /// Position in the file, where known.
        offset: Option<u64>,
        /// The deviation, and the expected form.
        reason: String,
    },
    /// A valid feature of the format that is not implemented.
    #[error("{feature} is not supported")]
    Unsupported {
        /// The name of the feature in the specification.
        feature: String,
    },
    /// The type or the values of a column do not fit the table's schema.
    #[error("column {column}: the data does not fit; expected {expected}, got {found}")]
    Mismatch {
        /// The column's full name.
        column: String,
        /// The type or the value in the data.
        found: String,
        /// The type or the values that the table requires.
        expected: String,
    },
    /// A column name that the schema does not have.
    #[error("no column named {name}; {}", near_misses(name, known))]
    UnknownColumn {
        /// The requested name.
        name: String,
        /// The full names of all columns.
        known: Vec<String>,
    },
}

/// The most column names in one message.
const MAX_NAMES: usize = 20;

/// Return a suggestion of similar names, or else the list of columns.
fn near_misses(name: &str, known: &[String]) -> String {
    let wanted = name.to_lowercase();
    let length = wanted.chars().count();
    let allowed = (length / 2).min(1 + length / 5);
    let near = |known: &&String| {
        let known = known.to_lowercase();
        let same_end = known.rsplit('.').next() == wanted.rsplit('.').next();
        same_end || distance(&wanted, &known) <= allowed
    };
    let meant: Vec<&str> = known.iter().filter(near).take(MAX_NAMES).map(String::as_str).collect();
    if !meant.is_empty() {
        return format!("did you mean {}?", meant.join(" or "));
    }
    let shown = known.get(..MAX_NAMES).unwrap_or(known).join(", ");
    match known.len().checked_sub(MAX_NAMES) {
        Some(more @ 1..) => format!("the columns are {shown} and {more} more"),
        _ => format!("the columns are {shown}"),
    }
}

/// Return the edit distance: the number of characters to change, add or remove.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, character) in left.chars().enumerate() {
        let mut diagonal = index;
        let mut before = index + 1;
        for (cell, other) in row.iter_mut().skip(1).zip(&right) {
            let changed = diagonal + usize::from(character != *other);
            diagonal = *cell;
            *cell = changed.min(before + 1).min(diagonal + 1);
            before = *cell;
        }
        if let Some(none) = row.first_mut() {
            *none = index + 1;
        }
    }
    row.pop().unwrap_or_default()
}

/// The result of an operation of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Return an [`Error::InvalidArgument`].
    pub fn invalid(argument: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::InvalidArgument { argument: argument.into(), reason: reason.into() }
    }

    /// Return an [`Error::Corrupt`] of unknown position.
    pub fn corrupt(what: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Corrupt { what: what.into(), offset: None, reason: reason.into() }
    }

    /// Return an [`Error::Corrupt`] at a byte position.
    pub fn corrupt_at(what: impl Into<String>, offset: u64, reason: impl Into<String>) -> Self {
        Self::Corrupt { what: what.into(), offset: Some(offset), reason: reason.into() }
    }

    /// Add a position to an [`Error::Corrupt`] that has none.
    #[must_use]
    pub fn or_at(self, position: u64) -> Self {
        match self {
            Self::Corrupt { what, offset: None, reason } => {
                Self::Corrupt { what, offset: Some(position), reason }
            }
            other => other,
        }
    }

    /// Return an [`Error::Unsupported`].
    pub fn unsupported(feature: impl Into<String>) -> Self {
        Self::Unsupported { feature: feature.into() }
    }
}
