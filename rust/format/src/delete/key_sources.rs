//! Which delete files each key comes from.

use arrow_buffer::BooleanBuffer;

/// No further source.
const NONE: u32 = u32::MAX;

/// The sources of keys, by the keys' places.
#[derive(Debug, Default)]
pub(super) struct KeySources {
    newest: Vec<Link>,
    /// Sources that further ones were added to.
    older: Vec<Link>,
}

#[derive(Debug, Clone, Copy)]
struct Link {
    source: u32,
    /// Place in `older`.
    next: u32,
}

impl KeySources {
    /// Add the next key, from this source.
    pub(super) fn push(&mut self, source: u32) {
        self.newest.push(Link { source, next: NONE });
    }

    /// Add a source to a key. Sources are added one after the other.
    pub(super) fn add(&mut self, key: usize, source: u32) {
        let Some(newest) = self.newest.get_mut(key).filter(|link| link.source != source) else {
            return;
        };
        let next = u32::try_from(self.older.len()).unwrap_or(NONE);
        self.older.push(*newest);
        *newest = Link { source, next };
    }

    /// Whether a key comes from one of the wanted sources.
    pub(super) fn any(&self, key: usize, wanted: &BooleanBuffer) -> bool {
        let mut link = self.newest.get(key);
        while let Some(Link { source, next }) = link {
            let source = *source as usize;
            if source < wanted.len() && wanted.value(source) {
                return true;
            }
            link = self.older.get(*next as usize);
        }
        false
    }
}
