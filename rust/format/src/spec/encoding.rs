//! Arrays in other layouts: dictionaries and run ends, each value of which is worked on once, and casts.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{ArrowError, DataType};

use crate::error::{Error, Result};

/// What `rule` makes of the values that an array's slots stand for, one result per slot. A dictionary or
/// run ends with no more values than slots are worked on value by value and then spread, others spread
/// first; every other array is the rule's alone.
///
/// # Errors
/// Those of `rule`.
pub(crate) fn each_value(
    array: &dyn Array,
    rule: &dyn Fn(&dyn Array) -> Result<ArrayRef>,
) -> Result<ArrayRef> {
    if let Some(dictionary) = array.as_any_dictionary_opt() {
        let (values, keys) = (dictionary.values(), dictionary.keys());
        return if values.len() <= array.len() {
            taken(&each_value(values, rule)?, keys)
        } else {
            each_value(&taken(values, keys)?, rule)
        };
    }
    if let Some(runs) = array.as_any_ree_opt() {
        return if runs.values().len() <= array.len() {
            spread(&runs.with_values(each_value(runs.values(), rule)?))
        } else {
            each_value(&spread(array)?, rule)
        };
    }
    rule(array)
}

fn taken(values: &ArrayRef, keys: &dyn Array) -> Result<ArrayRef> {
    arrow_select::take::take(values, keys, None).map_err(|error| arrow_failure(&error))
}

/// Run ends with one slot per row, in the layout of their values.
fn spread(runs: &dyn Array) -> Result<ArrayRef> {
    match runs.data_type() {
        DataType::RunEndEncoded(_, values) => strictly_cast(runs, values.data_type()),
        _ => Ok(runs.slice(0, runs.len())),
    }
}

/// The same values in another layout; a value that it cannot hold is an error, not a null.
pub(crate) fn strictly_cast(array: &dyn Array, layout: &DataType) -> Result<ArrayRef> {
    let options = CastOptions { safe: false, ..CastOptions::default() };
    cast_with_options(array, layout, &options).map_err(|error| arrow_failure(&error))
}

pub(crate) fn arrow_failure(error: &ArrowError) -> Error {
    Error::invalid("array", error.to_string())
}
