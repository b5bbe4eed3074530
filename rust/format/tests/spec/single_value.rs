use arrow_array::{Array, BinaryArray, Float64Array, Int64Array};
use arrow_schema::DataType;
use icefloe_format::Error;
use icefloe_format::spec::{
    Datum, PrimitiveType, datums_to_array, primitive_to_arrow, single_value, single_values,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::strategies::column;
use crate::vectors::{cases, datum, text, type_of};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    let pairs = (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16));
    pairs.collect::<Result<_, _>>().unwrap()
}

#[test]
fn binary_values_match_the_vectors() {
    for case in cases("single_value") {
        let value_type = type_of(&case, "type");
        let value = datum(&value_type, &case["value"]).unwrap();
        let bytes = unhex(text(&case, "hex"));
        assert_eq!(single_value::from_bytes(&value_type, &bytes).unwrap(), value, "{case}");
        let written = single_value::to_json(&value);
        if case["text"].is_null() {
            assert_eq!(written, case["value"], "{case}");
        } else {
            // The reference leaves out trailing zeros of a second, and reads them as well.
            assert_eq!(datum(&value_type, &written), datum(&value_type, &case["text"]), "{case}");
        }
        if case["decode_only"] != true {
            assert_eq!(hex(&single_value::to_bytes(&value)), text(&case, "hex"), "{case}");
        }
    }
}

#[test]
fn bytes_of_a_wrong_length_are_corrupt() {
    use PrimitiveType as P;
    let wrong: [(P, &[u8]); 9] = [
        (P::Boolean, &[]),
        (P::Int, &[0; 8]),
        (P::Long, &[0; 5]),
        (P::Double, &[0; 3]),
        (P::Timestamp, &[0; 4]),
        (P::Uuid, &[0; 15]),
        (P::Fixed(2), &[0; 3]),
        (P::Decimal { precision: 9, scale: 2 }, &[]),
        (P::String, &[0xff]),
    ];
    for (value_type, bytes) in wrong {
        let found = single_value::from_bytes(&value_type, bytes);
        assert!(matches!(found, Err(Error::Corrupt { .. })), "{value_type}: {found:?}");
    }
}

#[test]
fn json_of_another_type_or_range_is_refused() {
    use PrimitiveType as P;
    let decimal = P::Decimal { precision: 3, scale: 1 };
    let wrong: [(P, Value); 17] = [
        (P::Boolean, json!(1)),
        (P::Int, json!(2_147_483_648_i64)),
        (P::Int, json!(1.0)),
        (P::Long, json!(9_223_372_036_854_775_808_u64)),
        (P::Float, json!(1e300)),
        (P::Double, json!("nan")),
        (decimal, json!("100.0")),
        (decimal, json!("1.25")),
        (P::Date, json!("2017-02-29")),
        (P::Date, json!("2017-1-1")),
        (P::Time, json!("24:00:00")),
        (P::Time, json!("22:31:08.1234567")),
        (P::Timestamp, json!("2017-11-16T22:31:08+00:00")),
        (P::Timestamptz, json!("2017-11-16T22:31:08")),
        (P::Uuid, json!("f79c3e09")),
        (P::Fixed(2), json!("616263")),
        (P::Binary, json!("5g")),
    ];
    for (value_type, value) in wrong {
        let found = single_value::from_json(&value_type, &value);
        assert!(matches!(found, Err(Error::InvalidArgument { .. })), "{value_type}: {found:?}");
    }
}

#[test]
fn common_notations_of_dates_and_numbers_are_read() {
    use PrimitiveType as P;
    let decimal = P::Decimal { precision: 9, scale: 2 };
    let read: [(P, Value, Datum); 6] = [
        (P::Timestamp, json!("2017-11-16"), Datum::Timestamp(1_510_790_400_000_000)),
        (P::Timestamp, json!("2017-11-16 22:31"), Datum::Timestamp(1_510_871_460_000_000)),
        (P::Timestamptz, json!("2017-11-16T22:31:08Z"), Datum::Timestamptz(1_510_871_468_000_000)),
        (decimal, json!(14.2), Datum::Decimal { unscaled: 1_420, precision: 9, scale: 2 }),
        (P::Double, json!(1), Datum::Double(1.0)),
        (P::Date, json!("-0001-12-31"), Datum::Date(-719_529)),
    ];
    for (value_type, value, expected) in read {
        assert_eq!(single_value::from_json(&value_type, &value).unwrap(), expected, "{value}");
    }
}

#[test]
fn column_with_one_invalid_value_is_corrupt() {
    use PrimitiveType as P;
    let wrong: [(P, &[u8]); 8] = [
        (P::Boolean, &[1, 2]),
        (P::Int, &[0; 8]),
        (P::Long, &[0; 5]),
        (P::Timestamptz, &[0; 4]),
        (P::Uuid, &[0; 15]),
        (P::Fixed(2), &[0; 1]),
        (P::Decimal { precision: 9, scale: 2 }, &[]),
        (P::String, &[0xff]),
    ];
    for (value_type, bytes) in wrong {
        let found = single_values::decode_values(&value_type, [None, Some(bytes)].into_iter());
        assert!(matches!(found, Err(Error::Corrupt { .. })), "{value_type}: {found:?}");
    }
    let numbers = Datum::Int(1).to_array().unwrap();
    let found = single_values::decode_array(&P::Int, &numbers);
    assert!(matches!(found, Err(Error::InvalidArgument { .. })), "{found:?}");
}

proptest! {
    #[test]
    fn binary_column_decodes_to_its_values((value_type, values) in column()) {
        let forms: Vec<_> =
            values.iter().map(|value| value.as_ref().map(single_value::to_bytes)).collect();
        let decoded =
            single_values::decode_values(&value_type, forms.iter().map(Option::as_deref)).unwrap();
        prop_assert_eq!(decoded.data_type(), &primitive_to_arrow(&value_type));
        prop_assert_eq!(&decoded.to_data(), &datums_to_array(&value_type, &values).unwrap().to_data());
        let array: BinaryArray = forms.iter().map(Option::as_deref).collect();
        let views = arrow_cast::cast(&array, &DataType::BinaryView).unwrap();
        let from_views = single_values::decode_array(&value_type, &views).unwrap();
        prop_assert_eq!(from_views.to_data(), decoded.to_data());
    }

    #[test]
    fn column_written_before_a_promotion_is_read(
        ints in vec(option::of(any::<i32>()), 0..20), floats in vec(option::of(any::<f32>()), 0..20),
    ) {
        let narrow = ints.iter().map(|n| n.map(|n| n.to_le_bytes().to_vec())).collect::<Vec<_>>();
        let longs = single_values::decode_values(&PrimitiveType::Long, narrow.iter().map(Option::as_deref));
        let expected: Int64Array = ints.iter().map(|n| n.map(i64::from)).collect();
        prop_assert_eq!(longs.unwrap().to_data(), expected.to_data());
        let narrow = floats.iter().map(|n| n.map(|n| n.to_le_bytes().to_vec())).collect::<Vec<_>>();
        let doubles = single_values::decode_values(&PrimitiveType::Double, narrow.iter().map(Option::as_deref));
        let expected: Float64Array = floats.iter().map(|n| n.map(f64::from)).collect();
        prop_assert_eq!(doubles.unwrap().to_data(), expected.to_data());
    }

    #[test]
    fn binary_and_json_values_survive_a_round_trip((value_type, values) in column()) {
        for value in values.into_iter().flatten() {
            let bytes = single_value::to_bytes(&value);
            prop_assert_eq!(&single_value::from_bytes(&value_type, &bytes).unwrap(), &value);
            let json: Value = serde_json::from_str(&single_value::to_json(&value).to_string()).unwrap();
            prop_assert_eq!(&single_value::from_json(&value_type, &json).unwrap(), &value);
        }
    }

    #[test]
    fn single_value_json_of_any_text_is_read_or_refused_without_a_panic(text in "[-+0-9TZ:. eE]{0,30}|.{0,12}") {
        for value_type in crate::strategies::TYPES {
            let _ = single_value::from_json(&value_type, &Value::String(text.clone()));
            let _ = single_value::from_bytes(&value_type, text.as_bytes());
        }
    }
}

#[test]
fn bytes_of_a_time_of_another_day_have_no_text() {
    let text =
        |micros: i64| single_value::bytes_to_json(&PrimitiveType::Time, &micros.to_le_bytes());
    assert_eq!(text(86_399_000_000).unwrap(), r#""23:59:59""#);
    for micros in [86_400_000_000, -1] {
        assert!(matches!(text(micros), Err(Error::Corrupt { .. })));
    }
}
