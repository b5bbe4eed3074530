//! Storage: files by location, local or remote.
//!
//! | scheme | where |
//! |---|---|
//! | none, `file` | the local file system |
//! | `s3`, `s3a`, `s3n` | Amazon S3 and servers of its protocol; properties `s3.*`, `client.*` |
//! | `gs`, `gcs` | Google Cloud Storage; properties `gcs.*` |
//! | `abfs`, `abfss`, `wasb`, `wasbs`, `az` | Azure; properties `adls.*` |
//! | `http`, `https` | web servers, read only |

mod azure;
mod client;
mod content;
mod create;
mod credential_scope;
mod directories;
mod exclusive;
mod file_io;
mod gcs;
mod http;
mod local;
mod location;
mod properties;
mod relative;
mod remote;
mod s3;
mod signing;
mod silence;
mod stores;
mod storing;
mod unsynced;
mod upload;
mod vended;

pub use content::Content;
pub use file_io::FileIo;
pub(crate) use local::{create_file, delete as delete_file, facts, open_file};
pub use location::{Children, Listed};
pub(crate) use relative::absolute_entries;
pub use unsynced::UnsyncedFiles;
pub(crate) use upload::{Abandoned, Upload};
