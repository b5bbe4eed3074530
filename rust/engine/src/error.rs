//! What can go wrong while touching storage; each variant names the location.

use std::io;

use icefloe_format::Error as FormatError;

/// A failure of the engine.
#[derive(Debug, Clone, thiserror::Error)]
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
    /// The operating system refused or failed a call.
    #[error("{location}: {reason}")]
    System {
        /// The location.
        location: String,
        /// The error code, `errno`.
        code: i32,
        /// The operating system's words for the code.
        reason: String,
    },
    /// A defect of this library or an exhausted machine: a task that panicked, no thread to start.
    #[error("cannot {task}: {reason}")]
    Internal {
        /// What was being done.
        task: String,
        /// What was observed.
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

    /// An [`Error::Internal`].
    pub fn internal(task: impl Into<String>, reason: impl ToString) -> Self {
        Self::Internal { task: task.into(), reason: reason.to_string() }
    }

    /// What the operating system said about a location.
    pub fn of_system(location: impl Into<String>, error: &io::Error) -> Self {
        let location = location.into();
        match (error.kind(), error.raw_os_error()) {
            (io::ErrorKind::NotFound, _) => Self::Missing { location },
            (io::ErrorKind::AlreadyExists, _) => Self::Exists { location },
            (_, Some(code)) => Self::System { location, code, reason: error.to_string() },
            (_, None) => Self::Storage { location, reason: error.to_string() },
        }
    }

    /// A file whose bytes are not what they should be.
    pub fn corrupt_file(location: impl Into<String>, what: &str, reason: impl ToString) -> Self {
        Self::in_file(location, FormatError::corrupt(what, reason.to_string()))
    }

    /// A feature that a file needs and that is not supported.
    pub fn unsupported_in(location: impl Into<String>, feature: impl Into<String>) -> Self {
        Self::in_file(location, FormatError::unsupported(feature))
    }

    /// The same failure, tied to a file if it was tied to none.
    pub fn at(self, location: &str) -> Self {
        match self {
            Self::Format(source) => Self::in_file(location, source),
            other => other,
        }
    }
}
