//! The meaning of predicates, one value at a time; and random types, values and predicates.

use std::cmp::Ordering;

use icefloe_format::predicate::{BoundLeaf, BoundPredicate, Operator, Predicate};
use icefloe_format::spec::{Datum, NestedField, PrimitiveType, Schema, Transform};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

pub(crate) type Row = Vec<Option<Datum>>;

/// Whether a predicate is true of a row; column `n` has field id `n + 1`.
pub(crate) fn matches(predicate: &BoundPredicate, row: &Row) -> bool {
    truth(predicate, row) == Some(true)
}

/// Kleene's three-valued logic: `None` is unknown.
fn truth(predicate: &BoundPredicate, row: &Row) -> Option<bool> {
    match predicate {
        Predicate::AlwaysTrue => Some(true),
        Predicate::AlwaysFalse => Some(false),
        Predicate::Not(child) => truth(child, row).map(|it| !it),
        Predicate::And(a, b) => match (truth(a, row), truth(b, row)) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        },
        Predicate::Or(a, b) => match (truth(a, row), truth(b, row)) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        },
        Predicate::Leaf(leaf) => {
            let column = usize::try_from(leaf.field_id).unwrap() - 1;
            let value = row[column].as_ref();
            let result = leaf.transform.as_ref().zip(value);
            match result.map(|(transform, value)| transform.apply(value).unwrap().unwrap()) {
                Some(result) => leaf_truth(leaf.op, &leaf.literals, Some(&result)),
                None => leaf_truth(leaf.op, &leaf.literals, value),
            }
        }
    }
}

fn leaf_truth(op: Operator, literals: &[Datum], value: Option<&Datum>) -> Option<bool> {
    use Operator as O;
    let Some(value) = value else {
        return match op {
            O::IsNull | O::NotNan => Some(true),
            O::NotNull | O::IsNan => Some(false),
            _ => None,
        };
    };
    let nan = value.is_nan();
    // NaN has no place among the numbers, but it is a value that differs from each of them.
    let order = |literal: &Datum| if nan { None } else { plain(value).compare(&plain(literal)) };
    let equal = |literal: &Datum| order(literal) == Some(Ordering::Equal);
    let prefixed = || match (value, &literals[0]) {
        (Datum::String(text), Datum::String(prefix)) => text.starts_with(prefix.as_str()),
        _ => false,
    };
    match op {
        O::IsNull => Some(false),
        O::NotNull => Some(true),
        O::IsNan => Some(nan),
        O::NotNan => Some(!nan),
        O::Lt => order(&literals[0]).map(Ordering::is_lt),
        O::LtEq => order(&literals[0]).map(Ordering::is_le),
        O::Gt => order(&literals[0]).map(Ordering::is_gt),
        O::GtEq => order(&literals[0]).map(Ordering::is_ge),
        O::Eq => Some(equal(&literals[0])),
        O::NotEq => Some(!equal(&literals[0])),
        O::In => Some(literals.iter().any(equal)),
        O::NotIn => Some(!literals.iter().any(equal)),
        O::StartsWith => Some(prefixed()),
        O::NotStartsWith => Some(!prefixed()),
    }
}

/// -0.0 equals 0.0.
fn plain(datum: &Datum) -> Datum {
    match datum {
        Datum::Float(value) if *value == 0.0 => Datum::Float(0.0),
        Datum::Double(value) if *value == 0.0 => Datum::Double(0.0),
        other => other.clone(),
    }
}

pub(crate) fn schema(types: &[PrimitiveType]) -> Schema {
    let fields =
        types.iter().zip(1..).map(|(kind, id)| NestedField::optional(id, format!("c{id}"), *kind));
    Schema::new(0, fields.collect(), Vec::new())
}

pub(crate) fn types() -> impl Strategy<Value = PrimitiveType> {
    use PrimitiveType as P;
    select(vec![
        P::Boolean,
        P::Int,
        P::Long,
        P::Float,
        P::Double,
        P::Decimal { precision: 9, scale: 2 },
        P::Decimal { precision: 38, scale: 10 },
        P::Date,
        P::Time,
        P::Timestamp,
        P::Timestamptz,
        P::TimestampNs,
        P::TimestamptzNs,
        P::String,
        P::Uuid,
        P::Fixed(2),
        P::Binary,
    ])
}

fn longs(step: i64) -> BoxedStrategy<i64> {
    prop_oneof![
        8 => (-30_i64..30).prop_map(move |n| n * step),
        4 => (-30_i64..30, -1_i64..=1).prop_map(move |(n, off)| n * step + off),
        1 => select(vec![i64::MIN, i64::MIN + 3, i64::MAX - 3, i64::MAX]),
    ]
    .boxed()
}

/// Values close enough together to meet, the ends of the type, and what is special in it.
pub(crate) fn datum(kind: PrimitiveType) -> BoxedStrategy<Datum> {
    use PrimitiveType as P;
    let ints = || {
        prop_oneof![10 => -30_i32..30, 2 => -800_i32..800,
            1 => select(vec![i32::MIN, i32::MIN + 3, i32::MAX - 3, i32::MAX])]
    };
    let bytes = |len| vec(select(vec![0_u8, 1, 0x7f, 0x80, 0xfe, 0xff]), len);
    const HOUR: i64 = 3_600_000_000;
    match kind {
        P::Boolean => any::<bool>().prop_map(Datum::Boolean).boxed(),
        P::Int => ints().prop_map(Datum::Int).boxed(),
        P::Date => ints().prop_map(Datum::Date).boxed(),
        P::Long => longs(1).prop_map(Datum::Long).boxed(),
        P::Time => (0_i64..40).prop_map(|n| Datum::Time(n * 30_000_000)).boxed(),
        P::Timestamp => longs(HOUR * 7).prop_map(Datum::Timestamp).boxed(),
        P::Timestamptz => longs(HOUR * 24 * 11).prop_map(Datum::Timestamptz).boxed(),
        P::TimestampNs => longs(HOUR * 1000).prop_map(Datum::TimestampNs).boxed(),
        P::TimestamptzNs => longs(HOUR * 24_000).prop_map(Datum::TimestamptzNs).boxed(),
        P::Float => select(vec![
            f32::NEG_INFINITY,
            f32::MIN,
            -1.5,
            -0.0,
            0.0,
            0.1,
            1.5,
            f32::MAX,
            f32::INFINITY,
            f32::NAN,
        ])
        .prop_map(Datum::Float)
        .boxed(),
        P::Double => select(vec![
            f64::NEG_INFINITY,
            f64::MIN,
            -1.5,
            -0.0,
            0.0,
            0.1,
            1.5,
            f64::MAX,
            f64::INFINITY,
            f64::NAN,
        ])
        .prop_map(Datum::Double)
        .boxed(),
        P::Decimal { precision, scale } => {
            let limit = 10_i128.pow(u32::from(precision)) - 1;
            prop_oneof![10 => -300_i128..300, 1 => select(vec![-limit, limit])]
                .prop_map(move |unscaled| Datum::Decimal { unscaled, precision, scale })
                .boxed()
        }
        P::String => {
            vec(select(vec!['a', 'b', 'é', '\u{D7FF}', '\u{FFFF}', '😀', '\u{10FFFF}']), 0..5)
                .prop_map(|chars| Datum::String(chars.into_iter().collect()))
                .boxed()
        }
        P::Uuid => vec(select(vec![0_u8, 0x7f, 0x80, 0xff]), 2)
            .prop_map(|ends| {
                let mut uuid = [7; 16];
                (uuid[0], uuid[15]) = (ends[0], ends[1]);
                Datum::Uuid(uuid)
            })
            .boxed(),
        P::Fixed(length) => {
            bytes(usize::try_from(length).unwrap()..usize::try_from(length).unwrap() + 1)
                .prop_map(Datum::Fixed)
                .boxed()
        }
        P::Binary => bytes(0..5).prop_map(Datum::Binary).boxed(),
        P::Unknown => unreachable!(),
    }
}

pub(crate) fn value(kind: PrimitiveType) -> BoxedStrategy<Option<Datum>> {
    prop_oneof![1 => Just(None), 6 => datum(kind).prop_map(Some)].boxed()
}

pub(crate) fn rows(
    types: Vec<PrimitiveType>,
    count: std::ops::Range<usize>,
) -> BoxedStrategy<Vec<Row>> {
    let row: Vec<BoxedStrategy<Option<Datum>>> = types.into_iter().map(value).collect();
    vec(row, count).boxed()
}

/// A bound predicate over columns of these types.
pub(crate) fn predicate(types: Vec<PrimitiveType>) -> BoxedStrategy<BoundPredicate> {
    let leaves: Vec<_> =
        types.into_iter().zip(1..).map(|(kind, id)| leaf(kind, id).boxed()).collect();
    let leaf = proptest::strategy::Union::new(leaves).prop_map(Predicate::Leaf);
    leaf.prop_recursive(3, 10, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone())
                .prop_map(|(a, b)| Predicate::And(Box::new(a), Box::new(b))),
            (inner.clone(), inner.clone())
                .prop_map(|(a, b)| Predicate::Or(Box::new(a), Box::new(b))),
            inner.prop_map(|child| Predicate::Not(Box::new(child))),
        ]
    })
    .boxed()
}

/// Transforms that may stand in a predicate on a column of a type.
pub(crate) fn terms(kind: PrimitiveType) -> Vec<Option<Transform>> {
    let texts = ["bucket[3]", "truncate[2]", "truncate[7]", "year", "month", "day", "hour"];
    let parsed = texts.iter().map(|text| text.parse::<Transform>().unwrap());
    let fitting = parsed.filter(|transform| transform.can_transform(&kind)).map(Some);
    [None, None].into_iter().chain(fitting).collect()
}

fn leaf(kind: PrimitiveType, field_id: i32) -> impl Strategy<Value = BoundLeaf> {
    use Operator as O;
    let literals = vec(datum(kind).prop_filter("NaN", |d| !d.is_nan()), 2..5);
    (select(terms(kind)), any::<proptest::sample::Index>(), literals).prop_map(
        move |(transform, op, literals)| {
            let mut ops = vec![O::Lt, O::LtEq, O::Gt, O::GtEq, O::Eq, O::NotEq, O::In, O::NotIn];
            if transform.is_none() {
                ops.extend([O::IsNull, O::NotNull]);
            }
            let is_text = kind == PrimitiveType::String;
            if is_text && matches!(transform, None | Some(Transform::Truncate(_))) {
                ops.extend([O::StartsWith, O::NotStartsWith]);
            }
            if matches!(kind, PrimitiveType::Float | PrimitiveType::Double) {
                ops.extend([O::IsNan, O::NotNan]);
            }
            let op = *op.get(&ops);
            // A result; a comparison of texts may have none.
            let value = |literal: &Datum| match &transform {
                Some(transform) if !(is_text && op == O::StartsWith) => {
                    transform.apply(literal).unwrap().unwrap()
                }
                _ => plain(literal),
            };
            let mut literals: Vec<Datum> = literals.iter().map(value).collect();
            literals.sort_by(|a, b| a.compare(b).unwrap());
            literals.dedup();
            if op.is_unary() {
                literals.clear();
            } else if !op.is_set() {
                literals.truncate(1);
            }
            BoundLeaf {
                op,
                field_id,
                field_type: kind,
                transform,
                name: format!("c{field_id}"),
                nested: false,
                literals,
            }
        },
    )
}
