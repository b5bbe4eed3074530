//! What can go wrong while touching storage; each variant names the location.

use icefloe_format::Error as FormatError;

/// A failure of the engine.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The format refused something that belongs to no file.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// The format refused the contents of a file.
    #[error("{location}: {source}")]
    InFile {
        /// The file.
        location: String,
        /// What the format said.
        source: FormatError,
    },
    /// Nothing is stored at a location.
    #[error("{location}: no such file")]
    Missing {
        /// The location.
        location: String,
    },
    /// Something is stored already where a new file was to be.
    #[error("{location}: the file exists already")]
    Exists {
        /// The location.
        location: String,
    },
    /// Storage failed.
    #[error("{location}: {reason}")]
    Storage {
        /// The location.
        location: String,
        /// What storage said.
        reason: String,
    },
}

/// The result of an operation of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Attach a file to what the format said about its contents.
    pub fn in_file(location: impl Into<String>, source: FormatError) -> Self {
        Self::InFile { location: location.into(), source }
    }
}
