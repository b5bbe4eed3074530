use icefloe_format::spec::decimal;
use icefloe_format::transform::hash::{hash, hash_bytes, hash_decimal, hash_long};
use proptest::prelude::*;

use crate::vectors::{cases, datum, type_of};

fn oracle(mut bytes: &[u8]) -> i32 {
    murmur3::murmur3_32(&mut bytes, 0).unwrap().cast_signed()
}

#[test]
fn hashes_match_the_vectors() {
    for case in cases("hash") {
        let value = datum(&type_of(&case, "type"), &case["value"]).unwrap();
        assert_eq!(i64::from(hash(&value)), case["hash"].as_i64().unwrap(), "{case}");
    }
}

proptest! {
    #[test]
    fn hashes_equal_the_murmur3_crate(
        bytes in proptest::collection::vec(any::<u8>(), 0..70), long in any::<i64>(), wide in any::<i128>(),
        shift in 0_u32..127,
    ) {
        prop_assert_eq!(hash_bytes(&bytes), oracle(&bytes));
        prop_assert_eq!(hash_long(long), oracle(&long.to_le_bytes()));
        let unscaled = wide >> shift;
        prop_assert_eq!(hash_decimal(unscaled), oracle(&decimal::to_minimal_bytes(unscaled)));
    }
}
