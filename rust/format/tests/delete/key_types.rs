//! Equality keys of every type and encoding against a naive comparison.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, DictionaryArray, StringArray, UInt32Array};
use arrow_cast::cast;
use arrow_schema::DataType;
use arrow_select::take::take;
use icefloe_format::delete::EqualityKeys;
use icefloe_format::spec::{Datum, PrimitiveType, datums_to_array};
use proptest::prelude::*;

/// A few values of each type, some that differ in one bit, one byte or the last byte only.
fn values(kind: &PrimitiveType) -> Vec<Datum> {
    use PrimitiveType as P;
    let longs = [0, 1, -1, i64::MAX, i64::MIN, 1 << 32];
    let ints = [0, 1, -1, i32::MAX, i32::MIN];
    let texts = [
        "",
        "a",
        "ab",
        "abcdefghijkl",
        "abcdefghijklm",
        "abcdefghijkln",
        "é",
        "a text of more than sixteen bytes, 1",
        "a text of more than sixteen bytes, 2",
    ];
    match *kind {
        P::Boolean => vec![Datum::Boolean(false), Datum::Boolean(true)],
        P::Int => ints.map(Datum::Int).to_vec(),
        P::Date => ints.map(Datum::Date).to_vec(),
        P::Long => longs.map(Datum::Long).to_vec(),
        P::Time => [0, 1, 86_399_999_999].map(Datum::Time).to_vec(),
        P::Timestamp => longs.map(Datum::Timestamp).to_vec(),
        P::Timestamptz => longs.map(Datum::Timestamptz).to_vec(),
        P::TimestampNs => longs.map(Datum::TimestampNs).to_vec(),
        P::TimestamptzNs => longs.map(Datum::TimestamptzNs).to_vec(),
        P::Float => [0.0, -0.0, 1.0, f32::NAN, f32::INFINITY].map(Datum::Float).to_vec(),
        P::Double => [0.0, -0.0, 1.0, f64::NAN, f64::INFINITY].map(Datum::Double).to_vec(),
        P::Decimal { precision, scale } => [0_i128, 1, -1, 1 << 64, 1 << 70]
            .map(|unscaled| Datum::Decimal { unscaled, precision, scale })
            .to_vec(),
        P::String => texts.map(|text| Datum::String(text.to_owned())).to_vec(),
        P::Binary => texts.map(|text| Datum::Binary(text.as_bytes().to_vec())).to_vec(),
        P::Uuid => [0, 1, 255]
            .map(|last| {
                let mut bytes = [7; 16];
                bytes[15] = last;
                Datum::Uuid(bytes)
            })
            .to_vec(),
        P::Fixed(length) => [0, 1, 255]
            .map(|last| {
                let mut bytes = vec![0; usize::try_from(length).unwrap()];
                *bytes.last_mut().unwrap() = last;
                Datum::Fixed(bytes)
            })
            .to_vec(),
        P::Unknown => vec![],
    }
}

fn kinds() -> Vec<PrimitiveType> {
    use PrimitiveType as P;
    vec![
        P::Boolean,
        P::Int,
        P::Long,
        P::Float,
        P::Double,
        P::Date,
        P::Time,
        P::Timestamp,
        P::Timestamptz,
        P::TimestampNs,
        P::TimestamptzNs,
        P::String,
        P::Binary,
        P::Uuid,
        P::Fixed(3),
        P::Fixed(16),
        P::Fixed(20),
        P::Decimal { precision: 38, scale: 3 },
    ]
}

/// Rows of several columns: for each cell a choice among the type's values; none is null.
type Rows = Vec<Vec<Option<prop::sample::Index>>>;

fn rows(columns: usize, count: usize) -> impl Strategy<Value = Rows> {
    let cell = prop::option::weighted(0.8, any::<prop::sample::Index>());
    prop::collection::vec(prop::collection::vec(cell, columns), 0..count)
}

fn chosen(kinds: &[PrimitiveType], rows: &Rows) -> Vec<Vec<Option<Datum>>> {
    let row = |row: &Vec<Option<prop::sample::Index>>| {
        let cells = kinds.iter().zip(row);
        cells.map(|(kind, index)| index.map(|index| index.get(&values(kind)).clone())).collect()
    };
    rows.iter().map(row).collect()
}

fn columns(kinds: &[PrimitiveType], rows: &[Vec<Option<Datum>>]) -> Vec<ArrayRef> {
    let column = |at: usize| rows.iter().map(|row| row[at].clone()).collect::<Vec<_>>();
    kinds.iter().enumerate().map(|(at, kind)| datums_to_array(kind, &column(at)).unwrap()).collect()
}

/// The same values in another layout.
fn recoded(array: &ArrayRef, how: u8) -> ArrayRef {
    let view = match array.data_type() {
        DataType::Utf8 => DataType::Utf8View,
        DataType::Binary => DataType::BinaryView,
        _ => array.data_type().clone(),
    };
    match how {
        0 => Arc::clone(array),
        1 => cast(array, &view).unwrap(),
        2 => {
            // A slice, as the middle of a batch is.
            let twice = UInt32Array::from_iter_values(
                (0..array.len()).chain(0..array.len()).map(|row| u32::try_from(row).unwrap()),
            );
            take(&cast(array, &view).unwrap(), &twice, None)
                .unwrap()
                .slice(array.len(), array.len())
        }
        _ => {
            let keys = (0..array.len()).map(|row| i32::try_from(row).unwrap());
            let keys = arrow_array::Int32Array::from_iter_values(keys);
            Arc::new(DictionaryArray::new(keys, Arc::clone(array)))
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn every_type_and_layout_is_compared_by_value(
        (kinds, keys, rows) in prop::collection::vec(prop::sample::select(kinds()), 1..4)
            .prop_flat_map(|kinds| {
                let width = kinds.len();
                (Just(kinds), rows(width, 12), rows(width, 150))
            }),
        layouts in prop::collection::vec((0_u8..4, 0_u8..4), 3),
    ) {
        let (keys, rows) = (chosen(&kinds, &keys), chosen(&kinds, &rows));
        let recode = |arrays: Vec<ArrayRef>, of_rows: bool| -> Vec<ArrayRef> {
            let layouts = layouts.iter().map(|(keys, rows)| if of_rows { *rows } else { *keys });
            arrays.iter().zip(layouts).map(|(array, how)| recoded(array, how)).collect()
        };
        let mut set = EqualityKeys::new(&kinds).unwrap();
        set.insert(&recode(columns(&kinds, &keys), false), 0).unwrap();
        let deleted = set.deleted(&recode(columns(&kinds, &rows), true)).unwrap();
        // Values of data files compare like values of partition tuples.
        let expected: BooleanArray = rows.iter().map(|row| Some(keys.contains(row))).collect();
        prop_assert_eq!(&deleted, expected.values());
    }
}

#[test]
fn dictionary_values_are_looked_up_once() {
    let mut keys = EqualityKeys::new(&[PrimitiveType::String]).unwrap();
    let texts = |texts: Vec<Option<&str>>| -> ArrayRef { Arc::new(StringArray::from(texts)) };
    keys.insert(&[texts(vec![Some("b"), None])], 0).unwrap();
    let dictionary: DictionaryArray<arrow_array::types::Int8Type> =
        [Some("a"), Some("b"), None, Some("b")].into_iter().collect();
    let deleted = keys.deleted(&[Arc::new(dictionary) as ArrayRef]).unwrap();
    assert_eq!(deleted.iter().collect::<Vec<_>>(), [false, true, true, true]);
}
