//! Bound truncation against the shared vectors; metrics modes from properties.

use std::collections::HashMap;

use icefloe_format::metrics::{MetricsConfig, MetricsMode, truncate_lower, truncate_upper};
use icefloe_format::spec::{
    Datum, NestedField, NullOrder, PrimitiveType, Schema, SortDirection, SortField, SortOrder,
    single_value,
};
use proptest::prelude::*;
use serde_json::Value;

use crate::vectors;

#[test]
fn bounds_are_cut_as_in_the_vectors() {
    for case in vectors::cases("bound_truncation") {
        let kind = vectors::type_of(&case, "type");
        let value = single_value::from_json(&kind, &case["value"]).unwrap();
        let width = usize::try_from(case["width"].as_u64().unwrap()).unwrap();
        assert_eq!(single_value::to_json(&truncate_lower(&value, width)), case["lower"], "{case}");
        let upper = truncate_upper(&value, width);
        let upper = upper.as_ref().map_or(Value::Null, single_value::to_json);
        assert_eq!(upper, case["upper"], "{case}");
    }
}

proptest! {
    #[test]
    fn cut_bounds_enclose_the_text(text in "\\PC{0,6}", width in 1_usize..5) {
        let value = Datum::String(text.clone());
        prop_assert!(truncate_lower(&value, width).compare(&value).unwrap().is_le());
        if let Some(upper) = truncate_upper(&value, width) {
            prop_assert!(upper.compare(&value).unwrap().is_ge());
            let Datum::String(upper) = upper else { panic!("not a string") };
            prop_assert!(upper.chars().count() <= width);
        }
    }

    #[test]
    fn cut_bounds_enclose_the_bytes(bytes in prop::collection::vec(any::<u8>(), 0..6), width in 1_usize..5) {
        let value = Datum::Binary(bytes);
        prop_assert!(truncate_lower(&value, width).compare(&value).unwrap().is_le());
        if let Some(upper) = truncate_upper(&value, width) {
            prop_assert!(upper.compare(&value).unwrap().is_ge());
        }
    }
}

/// Characters at the edges of what increments pass over, and some that are not.
fn edges() -> impl Strategy<Value = String> {
    let letters = ['a', 'b', '\u{7f}', '\u{80}', '\u{d7ff}', '\u{e000}', '\u{ffff}', '\u{10ffff}'];
    prop::collection::vec(prop::sample::select(letters.to_vec()), 0..6)
        .prop_map(|letters| letters.into_iter().collect())
}

fn edge_bytes() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop::sample::select(vec![0_u8, 1, 0x7f, 0xfe, 0xff]), 0..6)
}

/// The lower bound is the greatest of those no longer than the width, the upper bound the least.
fn is_tight(value: &Datum, other: &Datum, width: usize) -> Result<(), TestCaseError> {
    let (lower, upper) = (truncate_lower(value, width), truncate_upper(value, width));
    if other.compare(value).unwrap().is_le() {
        prop_assert!(other.compare(&lower).unwrap().is_le(), "{lower:?} is not the greatest");
    }
    if other.compare(value).unwrap().is_ge() {
        let Some(upper) = upper else {
            return Err(TestCaseError::fail(format!("{other:?} would be an upper bound")));
        };
        prop_assert!(other.compare(&upper).unwrap().is_ge(), "{upper:?} is not the least");
    }
    Ok(())
}

proptest! {
    #[test]
    fn cut_texts_are_tight(text in edges(), other in edges(), width in 1_usize..5) {
        let other: String = other.chars().take(width).collect();
        is_tight(&Datum::String(text), &Datum::String(other), width)?;
    }

    #[test]
    fn cut_bytes_are_tight(bytes in edge_bytes(), other in edge_bytes(), width in 1_usize..5) {
        let other = other.into_iter().take(width).collect();
        is_tight(&Datum::Binary(bytes), &Datum::Binary(other), width)?;
    }
}

fn schema(columns: i32) -> Schema {
    let fields =
        (1..=columns).map(|id| NestedField::optional(id, format!("c{id}"), PrimitiveType::Int));
    Schema::new(0, fields.collect(), Vec::new())
}

fn properties(pairs: &[(&str, &str)]) -> HashMap<String, String> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

fn truncate(width: u32) -> MetricsMode {
    MetricsMode::Truncate(width.try_into().unwrap())
}

#[test]
fn modes_read_and_write_their_text() {
    for text in ["none", "counts", "full", "truncate(16)"] {
        assert_eq!(text.parse::<MetricsMode>().unwrap().to_string(), text);
    }
    assert_eq!("Truncate(4)".parse::<MetricsMode>().unwrap(), truncate(4));
    for text in ["", "truncate", "truncate(0)", "truncate(-1)", "all"] {
        assert!(text.parse::<MetricsMode>().is_err(), "{text}");
    }
}

#[test]
fn column_property_overrides_the_default() {
    let properties = properties(&[
        ("write.metadata.metrics.default", "counts"),
        ("write.metadata.metrics.column.c2", "full"),
        ("write.metadata.metrics.column.gone", "full"),
    ]);
    let config = MetricsConfig::from_properties(&schema(3), None, &properties).unwrap();
    assert_eq!(config.mode(1), MetricsMode::Counts);
    assert_eq!(config.mode(2), MetricsMode::Full);
    let none = MetricsConfig::from_properties(&schema(3), None, &HashMap::new()).unwrap();
    assert_eq!(none.mode(3), truncate(16));
}

#[test]
fn only_the_first_columns_of_a_wide_schema_have_inferred_modes() {
    let config = MetricsConfig::from_properties(&schema(101), None, &HashMap::new()).unwrap();
    assert_eq!((config.mode(100), config.mode(101)), (truncate(16), MetricsMode::None));
    let all = MetricsConfig::from_properties(&schema(100), None, &HashMap::new()).unwrap();
    assert_eq!(all.mode(100), truncate(16));
    let limit = properties(&[("write.metadata.metrics.max-inferred-column-defaults", "2")]);
    let config = MetricsConfig::from_properties(&schema(3), None, &limit).unwrap();
    assert_eq!((config.mode(2), config.mode(3)), (truncate(16), MetricsMode::None));
    let explicit = properties(&[
        ("write.metadata.metrics.max-inferred-column-defaults", "2"),
        ("write.metadata.metrics.default", "full"),
    ]);
    let config = MetricsConfig::from_properties(&schema(3), None, &explicit).unwrap();
    assert_eq!(config.mode(3), MetricsMode::Full);
}

#[test]
fn sorted_columns_keep_bounds_unless_their_own_property_drops_them() {
    let field = |source_id, transform: &str| SortField {
        source_id,
        transform: transform.parse().unwrap(),
        direction: SortDirection::Ascending,
        null_order: NullOrder::First,
    };
    let order = SortOrder {
        order_id: 1,
        fields: vec![
            field(1, "truncate[4]"),
            field(2, "identity"),
            field(3, "bucket[4]"),
            field(4, "void"),
        ],
    };
    let properties = properties(&[
        ("write.metadata.metrics.default", "none"),
        ("write.metadata.metrics.column.c2", "counts"),
    ]);
    let config = MetricsConfig::from_properties(&schema(4), Some(&order), &properties).unwrap();
    assert_eq!(config.mode(1), truncate(16));
    assert_eq!(config.mode(2), MetricsMode::Counts);
    // Bounds of a column tell nothing of the order of its buckets.
    assert_eq!([config.mode(3), config.mode(4)], [MetricsMode::None; 2]);
}

#[test]
fn invalid_metrics_mode_is_an_error_with_its_property() {
    let properties = properties(&[("write.metadata.metrics.column.c1", "some")]);
    let error = MetricsConfig::from_properties(&schema(1), None, &properties).unwrap_err();
    assert!(error.to_string().contains("write.metadata.metrics.column.c1"), "{error}");
}
