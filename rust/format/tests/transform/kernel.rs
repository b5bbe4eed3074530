use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use icefloe_format::spec::{Datum, PrimitiveType, datums_to_array, primitive_to_arrow};
use icefloe_format::transform::Transform;
use proptest::prelude::*;

use crate::strategies::column;

/// Other Arrow layouts that hold the same values.
fn layouts(array: &ArrayRef) -> Vec<ArrayRef> {
    let key = || Box::new(DataType::Int16);
    let plain = array.data_type().clone();
    let mut types = match plain {
        DataType::Utf8 => vec![DataType::LargeUtf8, DataType::Utf8View],
        DataType::Binary => vec![DataType::LargeBinary, DataType::BinaryView],
        _ => Vec::new(),
    };
    let encodable = !matches!(plain, DataType::Boolean | DataType::FixedSizeBinary(_));
    if encodable {
        types.push(DataType::Dictionary(key(), Box::new(plain)));
    }
    let mut made = vec![array.clone()];
    made.extend(types.iter().filter_map(|layout| arrow_cast::cast(array, layout).ok()));
    made
}

fn transforms(parameter: i64) -> Vec<Transform> {
    let mut all =
        vec![Transform::bucket(parameter).unwrap(), Transform::truncate(parameter).unwrap()];
    all.extend([Transform::Identity, Transform::Void, Transform::Year, Transform::Month]);
    all.extend([Transform::Day, Transform::Hour]);
    all
}

fn assert_array_is_values(
    transform: &Transform,
    source: &PrimitiveType,
    array: &ArrayRef,
    values: &[Option<Datum>],
) {
    let result_type = transform.result_type(source).unwrap();
    let results = transform.apply_array(array, source).unwrap();
    assert_eq!(results.len(), values.len());
    for (row, value) in values.iter().enumerate() {
        let expected = value.as_ref().and_then(|value| transform.apply(value).unwrap());
        let found = Datum::from_array(&results, row, &result_type).unwrap();
        assert_eq!(found, expected, "{transform} of {value:?} in {}", array.data_type());
    }
}

proptest! {
    #[test]
    fn test_an_array_gives_what_its_values_give(
        (source, values) in column(), parameter in prop_oneof![1_i64..20, 1..=i64::from(i32::MAX)],
        start in 0_usize..20,
    ) {
        let array = datums_to_array(&source, &values).unwrap();
        let start = start.min(values.len());
        for layout in layouts(&array) {
            let slice = layout.slice(start, values.len() - start);
            for transform in transforms(parameter).iter().filter(|t| t.can_transform(&source)) {
                assert_array_is_values(transform, &source, &layout, &values);
                assert_array_is_values(transform, &source, &slice, &values[start..]);
            }
        }
    }
}

#[test]
fn test_results_have_the_layout_of_the_result_type() {
    let source = PrimitiveType::Timestamptz;
    let array = datums_to_array(&source, &[Some(Datum::Timestamptz(-1)), None]).unwrap();
    for transform in transforms(4).iter().filter(|transform| transform.can_transform(&source)) {
        let expected = primitive_to_arrow(&transform.result_type(&source).unwrap());
        let results = transform.apply_array(&array, &source).unwrap();
        assert_eq!(*results.data_type(), expected, "{transform}");
        assert!(results.is_null(1));
    }
}

#[test]
fn test_truncation_that_cuts_nothing_copies_nothing() {
    let values = [Some(Datum::String("abc".into())), None];
    let array = datums_to_array(&PrimitiveType::String, &values).unwrap();
    let result =
        Transform::truncate(3).unwrap().apply_array(&array, &PrimitiveType::String).unwrap();
    assert!(result.to_data().ptr_eq(&array.to_data()));
}

#[test]
fn test_an_empty_array_gives_an_empty_one() {
    let array = datums_to_array(&PrimitiveType::String, &[]).unwrap();
    for transform in [Transform::bucket(4).unwrap(), Transform::truncate(4).unwrap()] {
        assert_eq!(transform.apply_array(&array, &PrimitiveType::String).unwrap().len(), 0);
    }
}

#[test]
fn test_an_array_of_another_type_is_refused_by_its_name() {
    let array = Datum::Double(1.0).to_array().unwrap();
    let bucket = Transform::bucket(4).unwrap();
    let message = bucket.apply_untyped(&array).unwrap_err().to_string();
    assert_eq!(message, "array: bucket[4] cannot be applied to values of Float64");
    assert!(bucket.apply_array(&array, &PrimitiveType::Long).is_err());
}
