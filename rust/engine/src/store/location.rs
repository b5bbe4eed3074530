//! Locations, parsed.
//!
//! A location is the exact string of table metadata. Its characters are used as written (`%20`
//! is three characters, `#` is one); only in paths of the local file system are empty and `.` segments
//! folded, and only HTTP locations are URLs, whose escapes stand for characters.

use std::path::PathBuf;

use icefloe_format::Error as FormatError;
use object_store::path::{Path, PathPart};

use crate::error::Result;

/// A parsed location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Location<'a> {
    /// A local file.
    Local(LocalLocation<'a>),
    /// An object of a remote store.
    Remote(RemoteLocation<'a>),
}

/// A path of the local file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LocalLocation<'a> {
    /// The text before the path: empty, or `file:` in one of its spellings.
    pub(super) scheme: &'a str,
    pub(super) path: PathBuf,
}

/// An object of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RemoteLocation<'a> {
    pub(super) service: Service,
    /// The location up to the key, without the slash between them: `s3a://bucket`.
    pub(super) root: &'a str,
    /// The text between the slashes: the bucket, `container@account.host`, or `host:port`.
    pub(super) authority: &'a str,
    pub(super) key: Path,
}

/// The protocol of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Service {
    S3,
    Gcs,
    Azure,
    /// Read only; the scheme is part of the address.
    Http {
        tls: bool,
    },
}

impl Service {
    /// Return the prefix of the service's property names.
    pub(super) fn prefix(self) -> &'static str {
        match self {
            Self::S3 => "s3.",
            Self::Gcs => "gcs.",
            Self::Azure => "adls.",
            Self::Http { .. } => "http.",
        }
    }
}

impl<'a> Location<'a> {
    /// # Errors
    /// `Unsupported` for a scheme without a store, `InvalidArgument` for text that is not a location.
    pub(super) fn parse(text: &'a str) -> Result<Self> {
        if text.starts_with('/') {
            return local(text, "", text);
        }
        if is_relative(text) {
            return Err(invalid(
                text,
                "is a relative path without a working directory; write an absolute path",
            ));
        }
        let Some((scheme, rest)) = text.split_once(':').filter(|(scheme, _)| is_scheme(scheme))
        else {
            return Err(invalid(text, "is not a location; expected an absolute path or a URI"));
        };
        let service = match scheme.to_ascii_lowercase().as_str() {
            "file" => return file_uri(text, rest),
            "s3" | "s3a" | "s3n" => Service::S3,
            "gs" | "gcs" => Service::Gcs,
            "abfs" | "abfss" | "wasb" | "wasbs" | "az" => Service::Azure,
            "http" => Service::Http { tls: false },
            "https" => Service::Http { tls: true },
            _ => return Err(FormatError::unsupported(format!("storage scheme {scheme}://")).into()),
        };
        remote(text, service, rest)
    }
}

impl Location<'_> {
    /// Return an absolute local path.
    ///
    /// # Errors
    /// `InvalidArgument` for a path with `..` segments or zero bytes.
    pub(super) fn local_path(path: &str) -> Result<Location<'static>> {
        Ok(Location::Local(LocalLocation { scheme: "", path: folded(path, path)? }))
    }
}

/// Return whether a location is neither absolute nor a URI.
pub(super) fn is_relative(text: &str) -> bool {
    let is_uri = || text.split_once(':').is_some_and(|(scheme, _)| is_scheme(scheme));
    !text.is_empty() && !text.starts_with('/') && !is_uri()
}

fn remote<'a>(text: &'a str, service: Service, rest: &'a str) -> Result<Location<'a>> {
    let scheme = text.len() - rest.len();
    let Some(rest) = rest.strip_prefix("//") else {
        return Err(invalid(text, "has no // after its scheme"));
    };
    let (authority, key) = rest.split_once('/').unwrap_or((rest, ""));
    if authority.is_empty() {
        return Err(invalid(text, "names no bucket, container or host"));
    }
    // A password in a URL would appear in table metadata and messages.
    if service != Service::Azure && authority.contains('@') {
        let reason = format!("a {}//... location holds user information", &text[..scheme]);
        return Err(FormatError::invalid("location", reason).into());
    }
    let root = &text[..scheme + "//".len() + authority.len()];
    let key = match service {
        Service::Http { .. } if key.contains(['?', '#']) => {
            return Err(invalid(root, "is followed by a query, which HTTP locations cannot have"));
        }
        Service::Http { .. } => {
            Path::from_url_path(key).map_err(|error| invalid(text, &error.to_string()))?
        }
        _ => verbatim(text, key)?,
    };
    Ok(Location::Remote(RemoteLocation { service, root, authority, key }))
}

/// Return the key as written, empty segments included: `a//b` and `a/b` are different objects.
fn verbatim(text: &str, key: &str) -> Result<Path> {
    if key.starts_with('/') {
        return Err(invalid(text, "has a key that begins with a slash"));
    }
    key.split('/').try_fold(Path::ROOT, |path, segment| {
        let part = PathPart::parse(segment).map_err(|error| invalid(text, &error.to_string()))?;
        Ok(path.join(part))
    })
}

fn file_uri<'a>(text: &'a str, rest: &'a str) -> Result<Location<'a>> {
    let path = match rest.strip_prefix("//") {
        Some(with_host) => with_host.strip_prefix("localhost").unwrap_or(with_host),
        None => rest,
    };
    if path.starts_with('/') {
        return local(text, &text[..text.len() - path.len()], path);
    }
    Err(invalid(text, "is not an absolute local path; write a relative path without file:"))
}

fn local<'a>(text: &str, scheme: &'a str, path: &str) -> Result<Location<'a>> {
    Ok(Location::Local(LocalLocation { scheme, path: folded(text, path)? }))
}

/// Return a path without empty and `.` segments. `..` is refused, since its meaning depends on links.
fn folded(text: &str, path: &str) -> Result<PathBuf> {
    let segments = path.split('/').filter(|segment| !segment.is_empty() && *segment != ".");
    let mut folded = PathBuf::from("/");
    for segment in segments {
        if segment == ".." {
            return Err(invalid(text, "contains a .. segment"));
        }
        if segment.contains('\0') {
            return Err(invalid(text, "contains a zero byte"));
        }
        folded.push(segment);
    }
    Ok(folded)
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
}

fn invalid(text: &str, reason: &str) -> crate::Error {
    FormatError::invalid("location", format!("{text:?} {reason}")).into()
}

/// A stored object, as a listing reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Location, spelled like the prefix that was listed.
    pub location: String,
    /// Size in bytes.
    pub size: u64,
    /// Time of the last modification, milliseconds since the epoch.
    pub last_modified_ms: i64,
}

/// The names directly in a directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Children {
    /// Names of directories, without slashes.
    pub directories: Vec<String>,
    /// Names of files.
    pub files: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> String {
        match Location::parse(text).unwrap() {
            Location::Remote(found) => format!("{} {}", found.authority, found.key),
            Location::Local(found) => found.path.to_string_lossy().into_owned(),
        }
    }

    #[test]
    fn object_keys_follow_the_rules_of_the_scheme() {
        assert_eq!(key("s3a://bucket/a b/%20#1?x"), "bucket a b/%20#1?x");
        assert_eq!(key("gs://bucket/a//b"), "bucket a//b");
        assert_eq!(key("abfss://box@me.dfs.core.windows.net/a"), "box@me.dfs.core.windows.net a");
        assert_eq!(key("http://host:80/a%20b/c"), "host:80 a b/c");
        assert_eq!(key("file:/a//b/./c#12"), "/a/b/c#12");
    }

    #[test]
    fn invalid_locations_are_refused_without_their_secrets() {
        for text in ["s3:/x", "s3:///x", "s3://b//x", "s3://b/../x", "s3://b/a\nb", "a/b", "C:x"] {
            assert!(Location::parse(text).is_err(), "{text}");
        }
        for text in ["s3://key:hush@b/x", "https://user:hush@h/x", "https://h/x?sig=hush"] {
            assert!(!Location::parse(text).unwrap_err().to_string().contains("hush"), "{text}");
        }
    }
}
