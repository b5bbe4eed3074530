//! The errors of the engine; each names a location or a task.

use std::io;

use icefloe_format::Error as FormatError;

/// A failure of the engine.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// An error of the format that concerns no file.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// An error of the format in the content of a file.
    #[error("{location}: {source}")]
    InFile {
        /// The file.
        location: String,
        /// The error of the format.
        source: FormatError,
    },
    /// No file at a location.
    #[error("{location}: no such file")]
    Missing {
        /// The location.
        location: String,
    },
    /// A file exists at the location of a new file.
    #[error("{location}: the file exists already")]
    Exists {
        /// The location.
        location: String,
    },
    /// A failure of storage.
    #[error("{location}: {reason}")]
    Storage {
        /// The location.
        location: String,
        /// The reason that storage gives.
        reason: String,
    },
    /// A failed call of the operating system.
    #[error("{location}: {reason}")]
    System {
        /// The location.
        location: String,
        /// The error code, `errno`.
        code: i32,
        /// The operating system's text for the code.
        reason: String,
    },
    /// A defect of this library or a lack of resources: a task panicked, or no thread could be started.
    #[error("cannot {task}: {reason}")]
    Internal {
        /// The task, a verb phrase.
        task: String,
        /// The observed failure.
        reason: String,
    },
}

/// The result of an operation of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Return an error of the format in the content of a file.
    pub fn in_file(location: impl Into<String>, source: FormatError) -> Self {
        Self::InFile { location: location.into(), source }
    }

    /// Return an [`Error::Internal`].
    pub fn internal(task: impl Into<String>, reason: impl ToString) -> Self {
        Self::Internal { task: task.into(), reason: reason.to_string() }
    }

    /// Return an error of the operating system at a location.
    pub fn of_system(location: impl Into<String>, error: &io::Error) -> Self {
        let location = location.into();
        match (error.kind(), error.raw_os_error()) {
            (io::ErrorKind::NotFound, _) => Self::Missing { location },
            (io::ErrorKind::AlreadyExists, _) => Self::Exists { location },
            (_, Some(code)) => Self::System { location, code, reason: error.to_string() },
            (_, None) => Self::Storage { location, reason: error.to_string() },
        }
    }

    /// Return a corrupt file.
    pub fn corrupt_file(location: impl Into<String>, what: &str, reason: impl ToString) -> Self {
        Self::in_file(location, FormatError::corrupt(what, reason.to_string()))
    }

    /// Return a feature of a file that is not supported.
    pub fn unsupported_in(location: impl Into<String>, feature: impl Into<String>) -> Self {
        Self::in_file(location, FormatError::unsupported(feature))
    }

    /// Return the error with a file, unless it has one.
    pub fn at(self, location: &str) -> Self {
        match self {
            Self::Format(source) => Self::in_file(location, source),
            other => other,
        }
    }
}
