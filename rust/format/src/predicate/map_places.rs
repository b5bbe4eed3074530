//! Where each map of a column has the value of one key.

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, Int64Array, MapArray};

/// Places in the values below a map array, one for each map.
pub(super) enum Places {
    /// All maps have the same keys, as files of one table mostly do: the first place and how many
    /// keys there are.
    Even { first: usize, keys: usize, maps: usize },
    /// None where a map lacks the key, or has a null for it.
    Each(Vec<Option<usize>>),
}

impl Places {
    /// The places of a key's values; `None` where keys are no 32-bit integers.
    pub(super) fn of(map: &MapArray, key: i32) -> Option<Self> {
        let keys: &[i32] = map.keys().as_primitive_opt::<Int32Type>()?.values();
        let even = if map.null_count() == 0 && map.values().null_count() == 0 {
            even(map.value_offsets(), keys, key)
        } else {
            None
        };
        Some(even.unwrap_or_else(|| Self::Each(each(map, keys, key))))
    }

    /// The places, in the order of the maps.
    pub(super) fn iter(&self) -> impl Iterator<Item = Option<usize>> + '_ {
        let maps = match self {
            Self::Even { maps, .. } => *maps,
            Self::Each(places) => places.len(),
        };
        (0..maps).map(move |map| match self {
            Self::Even { first, keys, .. } => Some(first + map * keys),
            Self::Each(places) => places.get(map).copied().flatten(),
        })
    }

    /// The counts at the places.
    pub(super) fn longs(&self, values: &Int64Array) -> Int64Array {
        match self {
            Self::Even { first, keys, maps } => {
                let values = values.values().get(*first..).unwrap_or_default();
                let found: Vec<i64> = values.iter().step_by(*keys).take(*maps).copied().collect();
                Int64Array::new(found.into(), None)
            }
            Self::Each(places) => {
                places.iter().map(|place| place.map(|place| values.value(place))).collect()
            }
        }
    }
}

fn even(offsets: &[i32], keys: &[i32], key: i32) -> Option<Places> {
    let (start, second) = (*offsets.first()?, *offsets.get(1)?);
    let width = second - start;
    let equal = offsets.windows(2).fold(true, |equal, ends| match ends {
        [start, end] => equal & (end.wrapping_sub(*start) == width),
        _ => equal,
    });
    let (start, width) = (usize::try_from(start).ok()?, usize::try_from(width).ok()?);
    let position = keys.get(start..start + width)?.iter().position(|found| *found == key)?;
    let (first, maps) = (start + position, offsets.len() - 1);
    let mut same = keys.get(first..)?.iter().step_by(width).take(maps);
    (equal && same.len() == maps && same.all(|found| *found == key)).then_some(Places::Even {
        first,
        keys: width,
        maps,
    })
}

fn each(map: &MapArray, keys: &[i32], key: i32) -> Vec<Option<usize>> {
    let (values, valid) = (map.values(), map.nulls());
    let mut likely = 0;
    let place = |(map, ends): (usize, &[i32])| {
        let [start, end] = ends else { return None };
        let start = usize::try_from(*start).ok()?;
        let found = keys.get(start..usize::try_from(*end).ok()?)?;
        // Maps of a column mostly have their keys at the same places.
        if found.get(likely) != Some(&key) {
            likely = found.iter().position(|found| *found == key)?;
        }
        let known =
            valid.is_none_or(|valid| valid.is_valid(map)) && values.is_valid(start + likely);
        known.then_some(start + likely)
    };
    map.value_offsets().windows(2).enumerate().map(place).collect()
}
