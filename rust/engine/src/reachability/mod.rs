//! Reachability: the files that snapshots refer to.
//!
//! Snapshots go in as the locations of their manifest lists. Every list and every manifest is read once, several at once,
//! and only the columns that locate files are decoded. Files are compared by their normalised locations.

mod files;
mod identity;
mod read;
mod set;
mod spelling;
mod versions;

pub use files::{FilesOfSnapshots, files_of_snapshots};
pub use read::Roots;
pub use set::{EqualNames, Match, ReachableFiles};
pub use spelling::normalized;
pub use versions::NewestVersions;
