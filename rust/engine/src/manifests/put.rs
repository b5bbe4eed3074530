//! Storing metadata files, which are written once and never changed.

use bytes::Bytes;

use crate::error::{Error, Result};
use crate::store::FileIo;

/// Store `data` under a location that nothing else may use.
///
/// A storage client that retries after a lost reply finds its own file there: that is success, and
/// anything else under the same name is not.
pub(super) async fn put_new(io: &FileIo, location: &str, data: Bytes) -> Result<()> {
    match io.write(location, data.clone(), false).await {
        Err(Error::Exists { location }) => {
            if io.read(&location).await? == data {
                Ok(())
            } else {
                Err(Error::Exists { location })
            }
        }
        outcome => outcome,
    }
}
