//! Locations and names of data files.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use icefloe_format::{Error, Result};

use super::file_format::{FileFormat, FileKind};

/// The layout of new files under a table, by its properties.
#[derive(Debug, Clone)]
pub struct Locations {
    /// Directory of data files, without a trailing slash.
    data_path: String,
    layout: Layout,
}

#[derive(Debug, Clone)]
enum Layout {
    /// `<data path>/<partition>/<file>`.
    Directories,
    /// Hash directories spread files over an object store's key space.
    Hashed {
        /// Whether partition directories come after the hash.
        partitioned_paths: bool,
        /// `<database>/<table>`, where the data path is outside the table's location.
        context: Option<String>,
    },
}

/// The property that holds the directory of data files.
pub(super) const DATA_PATH: &str = "write.data.path";
const OBJECT_STORAGE: &str = "write.object-storage.enabled";
const PARTITIONED_PATHS: &str = "write.object-storage.partitioned-paths";
/// The property of tables whose files are encrypted. Plain files would disclose their data.
const ENCRYPTION_KEY: &str = "encryption.key-id";
/// Former properties of the data path, which are refused: ignoring them would write to another directory.
const REFUSED: [&str; 2] = ["write.object-storage.path", "write.folder-storage.path"];

impl Locations {
    /// Return the layout of a table's properties.
    ///
    /// # Errors
    /// `InvalidArgument` for a property that is malformed or no longer used, `Unsupported` for a
    /// custom location provider.
    pub fn new(table_location: &str, properties: &BTreeMap<String, String>) -> Result<Self> {
        if let Some(refused) = REFUSED.iter().find(|name| properties.contains_key(**name)) {
            return Err(Error::invalid(
                *refused,
                format!("expected {DATA_PATH}, which replaces this property"),
            ));
        }
        if properties.contains_key(ENCRYPTION_KEY) {
            let feature =
                format!("writing encrypted files, which property {ENCRYPTION_KEY} asks for");
            return Err(Error::unsupported(feature));
        }
        if let Some(provider) = properties.get("write.location-provider.impl") {
            return Err(Error::unsupported(format!("the location provider {provider}")));
        }
        let table_location = table_location.trim_end_matches('/');
        let data_path = match properties.get(DATA_PATH) {
            Some(path) => path.trim_end_matches('/').to_owned(),
            None => format!("{table_location}/data"),
        };
        let layout = if flag(properties, OBJECT_STORAGE, false)? {
            let outside = !data_path.starts_with(table_location);
            Layout::Hashed {
                partitioned_paths: flag(properties, PARTITIONED_PATHS, true)?,
                context: outside.then(|| path_context(table_location)),
            }
        } else {
            Layout::Directories
        };
        Ok(Self { data_path, layout })
    }

    /// Return the directory of data files.
    pub(super) fn data_path(&self) -> &str {
        &self.data_path
    }

    /// Return the location of a file in a partition; `partition_path` is empty for an unpartitioned table.
    ///
    /// The object-storage layout hashes `<partition path>/<file name>` (murmur3, 32 bits) and takes
    /// the last 20 bits as directories of 4, 4, 4 and 8.
    pub fn file(&self, partition_path: &str, file_name: &str) -> String {
        let in_partition = if partition_path.is_empty() {
            file_name.to_owned()
        } else {
            format!("{partition_path}/{file_name}")
        };
        let Layout::Hashed { partitioned_paths, context } = &self.layout else {
            return format!("{}/{in_partition}", self.data_path);
        };
        let hash = hash_directories(if *partitioned_paths { &in_partition } else { file_name });
        let rest = if *partitioned_paths { &in_partition } else { file_name };
        match context {
            Some(context) => format!("{}/{hash}/{context}/{rest}", self.data_path),
            None if *partitioned_paths => format!("{}/{hash}/{rest}", self.data_path),
            None => format!("{}/{hash}-{rest}", self.data_path),
        }
    }
}

/// Names of one task's files, unique over all tasks. Clones share the counter.
#[derive(Debug, Clone)]
pub struct FileNames {
    prefix: String,
    suffix: String,
    made: Arc<AtomicU32>,
}

impl FileNames {
    /// Names `%05d-%d-<operation id>-%05d` of partition, task, operation and a counter from 1.
    pub fn new(
        partition_id: u32,
        task_id: u64,
        operation_id: &str,
        (kind, format): (FileKind, FileFormat),
    ) -> Self {
        let suffix = match kind {
            FileKind::Data => format!(".{}", format.extension()),
            FileKind::Deletes => format!("-deletes.{}", format.extension()),
        };
        Self {
            prefix: format!("{partition_id:05}-{task_id}-{operation_id}"),
            suffix,
            made: Arc::default(),
        }
    }

    /// Return the next name.
    pub fn next_name(&self) -> String {
        let number = self.made.fetch_add(1, Ordering::Relaxed) + 1;
        format!("{}-{number:05}{}", self.prefix, self.suffix)
    }
}

fn hash_directories(text: &str) -> String {
    // Reading from a byte slice cannot fail.
    let hash = murmur3::murmur3_32(&mut text.as_bytes(), 0).unwrap_or_default();
    let bits = format!("{:032b}", hash | 0x8000_0000);
    format!("{}/{}/{}/{}", &bits[12..16], &bits[16..20], &bits[20..24], &bits[24..32])
}

/// Return the last two segments of a table's location.
fn path_context(table_location: &str) -> String {
    let segments: Vec<&str> = table_location.split('/').collect();
    let start = segments.len().saturating_sub(2);
    segments[start..].join("/")
}

pub(super) fn flag(
    properties: &BTreeMap<String, String>,
    name: &str,
    default: bool,
) -> Result<bool> {
    match properties.get(name) {
        None => Ok(default),
        Some(text) if text.eq_ignore_ascii_case("true") => Ok(true),
        Some(text) if text.eq_ignore_ascii_case("false") => Ok(false),
        Some(text) => Err(Error::invalid(name, format!("expected true or false, got {text:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_directories_match_the_java_reference() {
        assert_eq!(hash_directories("a"), "0101/0110/1001/10110010");
        assert_eq!(hash_directories("b"), "1110/0111/1110/00000011");
        assert_eq!(hash_directories("c"), "0010/1101/0110/01011111");
        assert_eq!(hash_directories("d"), "1001/0001/0100/01110011");
        assert_eq!(hash_directories("test.parquet"), "0110/1010/0011/11101000");
        assert_eq!(
            hash_directories("string_field=example_string/test.parquet"),
            "0001/0010/1001/00000011"
        );
        assert_eq!(hash_directories("file.parquet"), "0010/1111/0101/11011101");
    }
}
