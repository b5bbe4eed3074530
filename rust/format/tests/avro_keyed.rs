//! Reading pairs at once is reading their parts one after the other.

use icefloe_format::avro::encode::{put_bytes, put_long};
use icefloe_format::avro::keyed::ShortBytes;
use icefloe_format::avro::{Cursor, Malformed};
use proptest::prelude::*;

/// Integers of every length.
fn long() -> impl Strategy<Value = i64> {
    (any::<i64>(), 0_u32..64).prop_map(|(value, shift)| value >> shift)
}

fn int() -> impl Strategy<Value = i32> {
    (any::<i32>(), 0_u32..32).prop_map(|(value, shift)| value >> shift)
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let length = prop_oneof![Just(4_usize), Just(8), Just(16), 0_usize..40, 100_usize..200];
    length.prop_flat_map(|length| proptest::collection::vec(any::<u8>(), length))
}

fn slice<'a>(value: &'a ShortBytes<'a>) -> &'a [u8] {
    match value {
        ShortBytes::Four(value) => &value[..],
        ShortBytes::Eight(value) => &value[..],
        ShortBytes::Sixteen(value) => &value[..],
        ShortBytes::Fewer(chunk, length) => &chunk[..*length],
        ShortBytes::Any(value) => value,
    }
}

/// The pairs that a cursor reads until it cannot.
fn longs(encoded: &[u8]) -> (Vec<(i32, i64)>, Option<Malformed>) {
    let (mut cursor, mut found) = (Cursor::new(encoded), Vec::new());
    while cursor.remaining() > 0 {
        match cursor.int_and_long() {
            Ok(pair) => found.push(pair),
            Err(error) => return (found, Some(error)),
        }
    }
    (found, None)
}

proptest! {
    #[test]
    fn pairs_of_integers(
        pairs in proptest::collection::vec((int(), long()), 1..20),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut encoded = Vec::new();
        let mut ends = Vec::new();
        for (key, value) in &pairs {
            put_long(&mut encoded, i64::from(*key));
            put_long(&mut encoded, *value);
            ends.push(encoded.len());
        }
        prop_assert_eq!(longs(&encoded), (pairs.clone(), None));
        let mut cursor = Cursor::new(&encoded);
        cursor.skip_varints(2 * pairs.len()).unwrap();
        prop_assert_eq!(cursor.remaining(), 0);

        let cut = cut.index(encoded.len());
        let whole = ends.iter().filter(|end| **end <= cut).count();
        let (found, error) = longs(&encoded[..cut]);
        prop_assert_eq!(&found, &pairs[..whole]);
        prop_assert_eq!(error.is_none(), cut == 0 || ends.contains(&cut));
    }

    #[test]
    fn pairs_of_an_integer_and_bytes(
        pairs in proptest::collection::vec((int(), bytes()), 1..20),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut encoded = Vec::new();
        for (key, value) in &pairs {
            put_long(&mut encoded, i64::from(*key));
            put_bytes(&mut encoded, value);
        }
        let mut cursor = Cursor::new(&encoded);
        for (key, value) in &pairs {
            let (found, bytes) = cursor.int_and_bytes().unwrap();
            prop_assert_eq!((found, slice(&bytes)), (*key, value.as_slice()));
        }
        prop_assert_eq!(cursor.remaining(), 0);
        let mut cursor = Cursor::new(&encoded);
        cursor.skip_ints_and_bytes(pairs.len()).unwrap();
        prop_assert_eq!(cursor.remaining(), 0);

        let mut cursor = Cursor::new(&encoded[..cut.index(encoded.len())]);
        prop_assert!((0..pairs.len()).any(|_| cursor.int_and_bytes().is_err()));
    }

    #[test]
    fn anything_is_read_or_refused(encoded in proptest::collection::vec(any::<u8>(), 0..60)) {
        longs(&encoded);
        let mut cursor = Cursor::new(&encoded);
        while cursor.remaining() > 0 && cursor.int_and_bytes().is_ok() {}
        let mut cursor = Cursor::new(&encoded);
        while cursor.remaining() > 0 && cursor.skip_ints_and_bytes(1).is_ok() {}
    }
}
