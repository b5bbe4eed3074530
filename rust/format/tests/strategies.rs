//! Random values of every primitive type.

use icefloe_format::spec::{Datum, PrimitiveType};
use proptest::collection::vec;
use proptest::prelude::*;

/// One of every primitive type that has values.
pub(crate) const TYPES: [PrimitiveType; 16] = [
    PrimitiveType::Boolean,
    PrimitiveType::Int,
    PrimitiveType::Long,
    PrimitiveType::Float,
    PrimitiveType::Double,
    PrimitiveType::Decimal { precision: 9, scale: 2 },
    PrimitiveType::Decimal { precision: 38, scale: 10 },
    PrimitiveType::Date,
    PrimitiveType::Time,
    PrimitiveType::Timestamp,
    PrimitiveType::Timestamptz,
    PrimitiveType::TimestampNs,
    PrimitiveType::TimestamptzNs,
    PrimitiveType::String,
    PrimitiveType::Uuid,
    PrimitiveType::Fixed(5),
];

/// Any value of a type, extremes included.
pub(crate) fn datum(value_type: PrimitiveType) -> BoxedStrategy<Datum> {
    use PrimitiveType as P;
    match value_type {
        P::Boolean => any::<bool>().prop_map(Datum::Boolean).boxed(),
        P::Int => any::<i32>().prop_map(Datum::Int).boxed(),
        P::Long => any::<i64>().prop_map(Datum::Long).boxed(),
        P::Float => any::<f32>().prop_map(Datum::Float).boxed(),
        P::Double => any::<f64>().prop_map(Datum::Double).boxed(),
        P::Decimal { precision, scale } => {
            let limit = 10_i128.pow(u32::from(precision));
            let near = -1_000_i128.max(1 - limit)..1_000.min(limit);
            prop_oneof![near, (1 - limit)..limit]
                .prop_map(move |unscaled| Datum::Decimal { unscaled, precision, scale })
                .boxed()
        }
        P::Date => any::<i32>().prop_map(Datum::Date).boxed(),
        P::Time => (0..86_400_000_000_i64).prop_map(Datum::Time).boxed(),
        P::Timestamp => any::<i64>().prop_map(Datum::Timestamp).boxed(),
        P::Timestamptz => any::<i64>().prop_map(Datum::Timestamptz).boxed(),
        P::TimestampNs => any::<i64>().prop_map(Datum::TimestampNs).boxed(),
        P::TimestamptzNs => any::<i64>().prop_map(Datum::TimestamptzNs).boxed(),
        P::String => ".{0,20}".prop_map(Datum::String).boxed(),
        P::Uuid => any::<[u8; 16]>().prop_map(Datum::Uuid).boxed(),
        P::Fixed(length) => vec(any::<u8>(), length as usize).prop_map(Datum::Fixed).boxed(),
        P::Binary | P::Unknown => vec(any::<u8>(), 0..20).prop_map(Datum::Binary).boxed(),
    }
}

/// A type and some values and nulls of it.
pub(crate) fn column() -> impl Strategy<Value = (PrimitiveType, Vec<Option<Datum>>)> {
    let types = TYPES.into_iter().chain([PrimitiveType::Binary]).collect::<Vec<_>>();
    proptest::sample::select(types).prop_flat_map(|value_type| {
        let values = vec(proptest::option::weighted(0.8, datum(value_type)), 0..20);
        values.prop_map(move |values| (value_type, values))
    })
}
