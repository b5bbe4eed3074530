//! Encoded arrays: dictionaries and run ends, each value of which is worked on once.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

use super::arrow_values::{arrow_failure, strictly_cast};
use crate::error::Result;

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
