//! Errors of the Parquet writer as errors of the file that is written.

use std::io;

use icefloe_format::Error as FormatError;
use parquet::errors::ParquetError;

use super::output::write_failure;
use crate::error::Error;

/// Return the error of the file at `location`: the failure of storage that the writer met, or what it cannot write.
pub(super) fn failed(location: &str, error: ParquetError) -> Error {
    match error {
        ParquetError::External(source) => {
            match (source.downcast_ref::<io::Error>(), source.downcast_ref::<Error>()) {
                (Some(failure), _) => write_failure(location, failure),
                (None, Some(own)) => own.clone(),
                (None, None) => {
                    Error::Storage { location: location.to_owned(), reason: source.to_string() }
                }
            }
        }
        ParquetError::NYI(feature) => {
            Error::in_file(location, FormatError::Unsupported { feature })
        }
        other => Error::internal(format!("write {location}"), other),
    }
}
