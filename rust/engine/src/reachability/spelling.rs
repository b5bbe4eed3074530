//! Normalised spellings of locations, so that one file has one spelling.
//!
//! | spelled | normalised |
//! |---|---|
//! | `s3a://b/k`, `s3n://b/k` | `s3://b/k` |
//! | `gcs://b/k` | `gs://b/k` |
//! | `abfss://`, `wasb://`, `wasbs://`, `az://` | `abfs://`, `.blob.` of the host as `.dfs.` |
//! | `/x`, `file:/x`, `file://localhost/x` | `file:///x` |
//! | upper case in scheme or authority, a default port | lower case, no port |
//! | doubled slashes, a slash at the end | one slash, none |
//!
//! Escapes are not decoded: `%20` is three characters. On object stores `a//b` and `a/b` are different keys; they have one
//! spelling here, which keeps a file that might otherwise be deleted.

use std::borrow::Cow;

/// A location in two parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spelling<'t> {
    /// The text before the path, as written: `s3a://bucket`, `file:`, or empty.
    pub(crate) root: &'t str,
    /// The normalised path; it begins with a slash unless the location is relative.
    pub(crate) path: Cow<'t, str>,
}

/// The normalised scheme and authority of locations.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Prefix {
    pub(crate) scheme: String,
    /// Empty for local files and for locations such as `hdfs:/x`.
    pub(crate) authority: String,
}

impl Prefix {
    /// Return the prefix of a root as written.
    pub(crate) fn of(root: &str) -> Self {
        let (scheme, rest) = root.split_once(':').unwrap_or(("file", ""));
        let scheme = match scheme.to_ascii_lowercase().as_str() {
            "s3a" | "s3n" => "s3".to_owned(),
            "gcs" => "gs".to_owned(),
            "abfss" | "wasb" | "wasbs" | "az" => "abfs".to_owned(),
            other => other.to_owned(),
        };
        let authority = rest.strip_prefix("//").unwrap_or(rest).to_ascii_lowercase();
        let port = match scheme.as_str() {
            "https" | "abfs" => ":443",
            "http" => ":80",
            "hdfs" => ":8020",
            _ => "",
        };
        let authority = authority.strip_suffix(port).unwrap_or(&authority);
        let authority = match scheme.as_str() {
            "file" if authority == "localhost" => String::new(),
            "abfs" => authority.replacen(".blob.", ".dfs.", 1),
            _ => authority.to_owned(),
        };
        Self { scheme, authority }
    }

    /// Return the text before a normalised path.
    pub(crate) fn text(&self) -> String {
        format!("{}://{}", self.scheme, self.authority)
    }
}

impl<'t> Spelling<'t> {
    /// Split a location.
    pub(crate) fn of(location: &'t str) -> Self {
        let root = root_length(location);
        let (root, path) = location.split_at_checked(root).unwrap_or(("", location));
        let dots = Prefix::is_local(root) && path.contains("/.");
        Self { root, path: folded(path, dots) }
    }
}

impl Prefix {
    fn is_local(root: &str) -> bool {
        root.is_empty() || root.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"))
    }
}

/// Return the normalised text of a location.
pub fn normalized(location: &str) -> String {
    let spelling = Spelling::of(location);
    Prefix::of(spelling.root).text() + &spelling.path
}

/// Return the bytes before the path.
fn root_length(location: &str) -> usize {
    let is_scheme = |text: &str| {
        text.starts_with(|first: char| first.is_ascii_alphabetic())
            && text.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'+' | b'-' | b'.'))
    };
    let Some((scheme, rest)) = location.split_once(':').filter(|(scheme, _)| is_scheme(scheme))
    else {
        return 0;
    };
    let after_scheme = scheme.len() + 1;
    match rest.strip_prefix("//") {
        None => after_scheme,
        Some(rest) => after_scheme + 2 + rest.find('/').unwrap_or(rest.len()),
    }
}

/// Return a path without empty segments and, with `dots`, without `.` segments.
fn folded(path: &str, dots: bool) -> Cow<'_, str> {
    let trimmed = path.strip_suffix('/').unwrap_or(path);
    if !dots && !trimmed.contains("//") && !trimmed.ends_with('/') {
        return Cow::Borrowed(trimmed);
    }
    let mut folded = String::with_capacity(path.len());
    let is_folded = |segment: &str| segment.is_empty() || (dots && segment == ".");
    let segments = path.split('/').filter(|segment| !is_folded(segment));
    for (place, segment) in segments.enumerate() {
        if place > 0 || path.starts_with('/') {
            folded.push('/');
        }
        folded.push_str(segment);
    }
    Cow::Owned(folded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_file_are_equal() {
        for (spellings, expected) in [
            (&["s3a://b/k/x", "s3n://b/k/x", "S3://B/k/x", "s3://b//k/x"][..], "s3://b/k/x"),
            (&["gcs://b/k", "gs://b/k/"][..], "gs://b/k"),
            (
                &[
                    "abfss://c@a.dfs.core.windows.net/k",
                    "wasbs://c@a.blob.core.windows.net:443/k",
                    "abfs://c@A.dfs.core.windows.net/k",
                ][..],
                "abfs://c@a.dfs.core.windows.net/k",
            ),
            (
                &["/t/x", "file:/t/x", "file:///t/x", "file://localhost/t//x", "/t/./x"][..],
                "file:///t/x",
            ),
            (&["hdfs://nn:8020/t", "hdfs://NN/t/"][..], "hdfs://nn/t"),
        ] {
            for spelling in spellings {
                assert_eq!(normalized(spelling), expected, "{spelling}");
            }
        }
    }

    #[test]
    fn escapes_case_and_characters_of_paths_stay() {
        for location in ["s3://b/a%20b", "s3://b/A", "file:///a:b", "s3://b/./x", "s3://b/a b#?"] {
            assert_eq!(normalized(location), location);
        }
        assert_ne!(normalized("s3://b/a%2Fb"), normalized("s3://b/a/b"));
    }

    #[test]
    fn locations_without_a_path_are_split() {
        assert_eq!(normalized("s3://b"), "s3://b");
        assert_eq!(normalized("s3://b/"), "s3://b");
        assert_eq!(normalized("hdfs:/x"), "hdfs:///x");
        assert_eq!(normalized(""), "file://");
        assert_eq!(normalized("a/b"), "file://a/b");
    }
}
