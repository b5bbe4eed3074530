//! Files as 16 bytes each: a hash of the normalised path, and the number of the storage prefix.

use std::collections::HashMap;
use std::hash::Hasher;
use std::sync::{Mutex, MutexGuard, PoisonError};

use siphasher::sip128::{Hasher128, SipHasher13};

use super::spelling::{Prefix, Spelling};

/// Bits of the number of a prefix.
const PREFIX_BITS: u32 = 16;
/// The number of prefixes beyond the first 65,535, which is taken as equal to every prefix.
const OTHERS: u16 = u16::MAX;

/// A file: 112 bits of a hash of its path, above 16 bits for its prefix. A collision of two paths keeps a file that might be
/// deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Identity(u128);

impl Identity {
    /// Return the part that all files of one path have in common.
    pub(crate) fn path(self) -> u128 {
        self.0 >> PREFIX_BITS
    }

    pub(crate) fn prefix(self) -> u16 {
        u16::try_from(self.0 & u128::from(u16::MAX)).unwrap_or(OTHERS)
    }
}

/// Numbers of the prefixes that have been met.
#[derive(Debug, Default)]
pub(crate) struct Prefixes {
    known: Mutex<Known>,
}

#[derive(Debug, Default, Clone)]
struct Known {
    list: Vec<Prefix>,
    numbers: HashMap<Prefix, u16>,
    by_root: HashMap<String, u16>,
}

impl Prefixes {
    /// Return the identities of locations. The root of the location before is compared first: most locations share it.
    pub(crate) fn identities<'t>(
        &self,
        locations: impl IntoIterator<Item = &'t str>,
    ) -> impl Iterator<Item = Identity> {
        let mut last: Option<(&'t str, u16)> = None;
        locations.into_iter().map(move |location| {
            let spelling = Spelling::of(location);
            let number = match last {
                Some((root, number)) if root == spelling.root => number,
                _ => self.number(spelling.root),
            };
            last = Some((spelling.root, number));
            let mut hasher = SipHasher13::new();
            hasher.write(spelling.path.as_bytes());
            let hash = hasher.finish128().as_u128();
            Identity(hash << PREFIX_BITS | u128::from(number))
        })
    }

    /// Return the identity of one location.
    pub(crate) fn identity(&self, location: &str) -> Identity {
        let mut found = self.identities([location]);
        found.next().unwrap_or(Identity(u128::from(OTHERS)))
    }

    /// Return the prefix of a number; `None` for one of the prefixes beyond the first 65,535.
    pub(crate) fn get(&self, number: u16) -> Option<Prefix> {
        self.lock().list.get(usize::from(number)).cloned()
    }

    fn number(&self, root: &str) -> u16 {
        let mut known = self.lock();
        if let Some(number) = known.by_root.get(root) {
            return *number;
        }
        let prefix = Prefix::of(root);
        let next = u16::try_from(known.list.len()).unwrap_or(OTHERS);
        let number = known.numbers.get(&prefix).copied().unwrap_or(next);
        if number == OTHERS {
            return OTHERS;
        }
        if number == next {
            known.list.push(prefix.clone());
            known.numbers.insert(prefix, number);
        }
        known.by_root.insert(root.to_owned(), number);
        number
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_file_have_one_identity() {
        let prefixes = Prefixes::default();
        let found: Vec<_> =
            prefixes.identities(["s3a://b/x", "s3://b//x", "s3://c/x", "s3://b/y"]).collect();
        assert_eq!(found[0], found[1]);
        assert_eq!(found[0].path(), found[2].path());
        assert_ne!(found[0], found[2]);
        assert_ne!(found[0].path(), found[3].path());
        assert_eq!(prefixes.get(found[2].prefix()).map(|it| it.text()), Some("s3://c".into()));
    }

    #[test]
    fn prefixes_beyond_the_limit_share_a_number() {
        let prefixes = Prefixes::default();
        let locations: Vec<_> = (0..70_000).map(|number| format!("x{number}:/a")).collect();
        let found: Vec<_> = prefixes.identities(locations.iter().map(String::as_str)).collect();
        assert_eq!(found[69_999].prefix(), OTHERS);
        assert_eq!(prefixes.get(OTHERS), None);
        assert_eq!(found[65_534].prefix(), 65_534);
    }
}
