//! The locations that renewed credentials must cover, and the credentials of a catalog that cover them.

use super::location::{Location, Service};
use super::properties::Properties;

/// The location of the table that credentials are renewed for.
const TABLE_LOCATION: &str = "client.refresh-credentials-location";

/// The locations that renewed credentials must cover.
pub(super) enum Scope {
    /// A table's files.
    Table(String),
    /// Any file of a bucket or container.
    Store(String),
}

impl Scope {
    /// Return the scope of a store's credentials: the table's location if the properties have one of the same service.
    pub(super) fn new(store: String, properties: Properties<'_>) -> Self {
        match properties.text(&[TABLE_LOCATION]) {
            Some(table) if service(table).is_some_and(|it| Some(it) == service(&store)) => {
                Self::Table(table.to_owned())
            }
            _ => Self::Store(store),
        }
    }

    pub(super) fn location(&self) -> &str {
        match self {
            Self::Table(location) | Self::Store(location) => location,
        }
    }

    /// Return the best of the prefixes that cover the location: the longest one, the first of equal ones.
    ///
    /// As when a table is loaded, a prefix of the location's exact text is preferred to one with another scheme of the
    /// service.
    pub(super) fn best<'a, T>(&self, items: &'a [T], prefix: impl Fn(&T) -> &str) -> Option<&'a T> {
        let rank = |item: &T| {
            let prefix = prefix(item);
            let is_exact = match self {
                Self::Table(table) if starts_with(table, prefix) => table.starts_with(prefix),
                Self::Store(store) if overlaps(store, prefix) => true,
                _ => return None,
            };
            Some((is_exact, prefix.len()))
        };
        let ranked = items.iter().rev().filter_map(|item| Some((rank(item)?, item)));
        ranked.max_by_key(|(rank, _)| *rank).map(|(_, item)| item)
    }
}

/// Return the service of a location.
fn service(location: &str) -> Option<Service> {
    match Location::parse(location) {
        Ok(Location::Remote(remote)) => Some(remote.service),
        _ => None,
    }
}

/// Return whether a location starts with `prefix`; schemes of one service are equal.
fn starts_with(location: &str, prefix: &str) -> bool {
    let schemeless = || {
        let (own, other) = (location.split_once("://")?.1, prefix.split_once("://")?.1);
        Some(own.starts_with(other) && service(location) == service(prefix))
    };
    location.starts_with(prefix) || schemeless().unwrap_or(false)
}

/// Return whether credentials for `prefix` may cover files of `store`: a location in the store, the name of the service,
/// or the prefix of all locations.
fn overlaps(store: &str, prefix: &str) -> bool {
    let scheme = store.split("://").next().unwrap_or(store);
    match prefix.split_once("://") {
        None => prefix.is_empty() || prefix.starts_with(scheme),
        Some((_, rest)) => {
            let own = store.split_once("://").map_or("", |(_, own)| own);
            let (prefix, own) = (rest.trim_end_matches('/'), own.trim_end_matches('/'));
            prefix.is_empty() || prefix == own || prefix.starts_with(&format!("{own}/"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{overlaps, starts_with};

    #[test]
    fn prefixes_in_a_store_overlap_it() {
        assert!(overlaps("s3://bucket", ""));
        assert!(overlaps("s3://bucket", "s3"));
        assert!(overlaps("s3://bucket", "s3://bucket"));
        assert!(overlaps("s3://bucket", "s3://bucket/warehouse/table"));
        assert!(overlaps("s3://bucket", "s3a://bucket/"));
        assert!(!overlaps("s3://bucket", "s3://bucket2/warehouse"));
        assert!(!overlaps("s3://bucket", "gs"));
    }

    #[test]
    fn location_starts_with_its_prefixes_in_any_scheme_of_the_service() {
        let location = "s3://bucket/warehouse/table/";
        for prefix in ["", "s3", "s3://", "s3://bucket", "s3a://bucket/ware", location] {
            assert!(starts_with(location, prefix), "{prefix}");
        }
        for prefix in
            ["gs", "gs://bucket/", "s3://bucket/elsewhere", "s3://bucket/warehouse/table/data"]
        {
            assert!(!starts_with(location, prefix), "{prefix}");
        }
    }
}
