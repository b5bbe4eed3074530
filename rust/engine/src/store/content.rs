//! The content of a file in pieces, so that a large file is stored without a copy in one piece.

use bytes::Bytes;

/// The content of a file: pieces, one after the other.
#[derive(Debug, Clone, Default)]
pub struct Content(Vec<Bytes>);

impl Content {
    /// Return the pieces in order.
    pub(super) fn pieces(&self) -> &[Bytes] {
        &self.0
    }

    /// Return the bytes of all pieces.
    pub(super) fn size(&self) -> u64 {
        self.0.iter().map(|piece| piece.len() as u64).sum()
    }

    /// Return the content in one piece, copied unless it is in one piece already.
    pub(super) fn joined(mut self) -> Bytes {
        match self.0.len() {
            1 => self.0.pop().unwrap_or_default(),
            _ => self.0.concat().into(),
        }
    }

    /// Return whether `data` is this content.
    pub(super) fn is(&self, mut data: &[u8]) -> bool {
        for piece in &self.0 {
            match data.strip_prefix(&**piece) {
                Some(rest) => data = rest,
                None => return false,
            }
        }
        data.is_empty()
    }
}

impl From<Bytes> for Content {
    fn from(piece: Bytes) -> Self {
        Self(vec![piece])
    }
}

impl FromIterator<Bytes> for Content {
    fn from_iter<Pieces: IntoIterator<Item = Bytes>>(pieces: Pieces) -> Self {
        Self(pieces.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_compared_across_its_pieces() {
        let content: Content = ["ab", "", "c"].map(Bytes::from).into_iter().collect();
        assert_eq!(content.size(), 3);
        assert!(content.is(b"abc"));
        for other in ["", "ab", "abd", "abcd", "xbc"] {
            assert!(!content.is(other.as_bytes()), "{other}");
        }
        assert_eq!(content.joined(), Bytes::from("abc"));
        assert!(Content::default().is(b""));
    }
}
