use icefloe_format::spec::{PrimitiveType, decimal};
use proptest::prelude::*;

use crate::vectors::cases;

#[test]
fn storage_holds_every_value_of_a_precision() {
    for case in cases("decimal_storage") {
        let precision = u8::try_from(case["precision"].as_u64().unwrap()).unwrap();
        assert_eq!(decimal::storage_bytes(precision) as u64, case["bytes"].as_u64().unwrap());
    }
}

#[test]
fn inexact_decimal_text_is_none() {
    for text in ["", "-", ".", "1.2.3", "0x1", "1,5", "NaN", "1e", "1.234", "1e-9", " 1", "１"] {
        assert_eq!(decimal::parse(text, 2), None, "{text:?}");
    }
    assert_eq!(decimal::parse(&"9".repeat(39), 0), None);
    assert_eq!(decimal::parse(&"0".repeat(1_000), 2), Some(0));
    assert_eq!(decimal::parse("1.420E+1", 2), Some(1_420));
    assert_eq!(decimal::parse("1e2147483647", 2), None);
    assert_eq!(decimal::parse("0e-2147483648", 2), Some(0));
}

#[test]
fn text_of_a_negative_scale_has_the_negated_scale_as_exponent() {
    assert_eq!(decimal::format(2, -20), "2E+20");
    assert_eq!(decimal::format(-123, -2), "-123E+2");
    assert_eq!(decimal::parse("1.23E+4", -2), Some(123));
    assert_eq!(decimal::parse("12300", -2), Some(123));
    assert_eq!(decimal::parse("12345", -2), None);
    assert_eq!(decimal::format(123, 7), "0.0000123");
}

#[test]
fn decimal_types_allow_scales_beyond_the_precision_and_negative_scales() {
    for (text, precision, scale) in
        [("decimal(5, 7)", 5, 7), ("decimal(10,-2)", 10, -2), ("DECIMAL( 38 , 38 )", 38, 38)]
    {
        let found = text.parse::<PrimitiveType>();
        assert_eq!(found, Ok(PrimitiveType::Decimal { precision, scale }), "{text}");
    }
    for text in
        ["decimal(0, 0)", "decimal(39, 2)", "decimal(9, 200)", "decimal(-9, 2)", "decimal(9)"]
    {
        assert!(text.parse::<PrimitiveType>().is_err(), "{text}");
    }
}

proptest! {
    #[test]
    fn decimals_survive_bytes_and_text(unscaled in any::<i128>(), scale in -38_i8..60) {
        let bytes = decimal::to_minimal_bytes(unscaled);
        prop_assert_eq!(decimal::from_bytes(&bytes), Some(unscaled));
        let mut longer = vec![if unscaled < 0 { 0xff } else { 0 }; 20 - bytes.len()];
        longer.extend_from_slice(&bytes);
        prop_assert_eq!(decimal::from_bytes(&longer), Some(unscaled));
        if decimal::fits(unscaled, 38) {
            prop_assert_eq!(decimal::parse(&decimal::format(unscaled, scale), scale), Some(unscaled));
        }
    }

    #[test]
    fn minimal_bytes_have_no_redundant_first_byte(unscaled in any::<i64>(), shift in 0_u32..63) {
        let bytes = decimal::to_minimal_bytes(i128::from(unscaled >> shift));
        if let [first, second, ..] = bytes[..] {
            prop_assert!(first != 0 || second >= 0x80);
            prop_assert!(first != 0xff || second < 0x80);
        }
    }

    #[test]
    fn decimal_bytes_of_any_length_are_read_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..24)) {
        let read = decimal::from_bytes(&bytes);
        prop_assert!(read.is_some() || bytes.is_empty() || bytes.len() > 16);
    }
}
