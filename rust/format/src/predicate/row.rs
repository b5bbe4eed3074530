//! The row filter: a mask over a batch of table rows.

use std::borrow::Cow;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, make_array};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::DataType;
use arrow_select::take::take;

use super::compare::satisfies;
use super::tree::{BoundLeaf, BoundPredicate, Operator, Predicate};
use super::tuples::nan_slots;
use crate::error::{Error, Result};
use crate::spec::{canonical_array, primitive_to_arrow};

/// Which rows of a batch satisfy a predicate: one bit per row, none null.
///
/// `resolve` gives the place of a field in the batch: the index of its column, then of the child
/// in each enclosing struct. A field without a place is null in every row. Columns may be
/// narrower than the table's type (int for long) and strings may be views or dictionaries.
///
/// # Errors
/// `Mismatch` where a column's type cannot become the field's.
pub fn filter_mask(
    predicate: &BoundPredicate,
    batch: &RecordBatch,
    resolve: &dyn Fn(i32) -> Option<Vec<usize>>,
) -> Result<BooleanArray> {
    let mask = tree_mask(&predicate.push_not_down(), batch, resolve)?;
    Ok(BooleanArray::new(mask, None))
}

/// Which values of one column satisfy a leaf: one bit per value.
///
/// # Errors
/// `Mismatch` where the column's type cannot become the field's.
pub fn leaf_mask(leaf: &BoundLeaf, column: &ArrayRef) -> Result<BooleanBuffer> {
    match leaf.op {
        Operator::IsNull => return Ok(!&valid(column)),
        Operator::NotNull => return Ok(valid(column)),
        _ => {}
    }
    if let Some(dictionary) = column.as_any_dictionary_opt() {
        // Each distinct value is asked once; a key to nothing is a null.
        let values = BooleanArray::new(leaf_mask(leaf, dictionary.values())?, None);
        let by_row = take(&values, dictionary.keys(), None).map_err(|_| unfit(leaf, column))?;
        let by_row = by_row.as_boolean();
        let accepted = by_row.values() & &valid(by_row);
        return Ok(if leaf.op.accepts_null() { &accepted | &!&valid(by_row) } else { accepted });
    }
    let column = conform(leaf, column)?;
    let positive = |op| satisfies(&column, op, &leaf.literals);
    match leaf.op {
        Operator::IsNan => Ok(&nan_slots(&column) & &valid(column.as_ref())),
        Operator::NotNan => Ok(!&(&nan_slots(&column) & &valid(column.as_ref()))),
        // These accept null and NaN, which satisfy nothing.
        Operator::NotEq | Operator::NotIn | Operator::NotStartsWith => {
            Ok(!&positive(leaf.op.negated())?)
        }
        op => positive(op),
    }
}

fn tree_mask(
    predicate: &BoundPredicate,
    batch: &RecordBatch,
    resolve: &dyn Fn(i32) -> Option<Vec<usize>>,
) -> Result<BooleanBuffer> {
    let rows = batch.num_rows();
    Ok(match predicate {
        Predicate::AlwaysTrue => BooleanBuffer::new_set(rows),
        Predicate::AlwaysFalse => BooleanBuffer::new_unset(rows),
        Predicate::And(left, right) => {
            let left = tree_mask(left, batch, resolve)?;
            if left.count_set_bits() == 0 {
                return Ok(left);
            }
            &left & &tree_mask(right, batch, resolve)?
        }
        Predicate::Or(left, right) => {
            let left = tree_mask(left, batch, resolve)?;
            if left.count_set_bits() == rows {
                return Ok(left);
            }
            &left | &tree_mask(right, batch, resolve)?
        }
        Predicate::Not(_) => tree_mask(&predicate.push_not_down(), batch, resolve)?,
        Predicate::Leaf(leaf) => match resolve(leaf.field_id) {
            Some(path) => leaf_mask(leaf, &column_at(batch, &path, leaf)?)?,
            None if leaf.op.accepts_null() => BooleanBuffer::new_set(rows),
            None => BooleanBuffer::new_unset(rows),
        },
    })
}

/// The column at a path; a null struct makes its children null.
fn column_at(batch: &RecordBatch, path: &[usize], leaf: &BoundLeaf) -> Result<ArrayRef> {
    let absent = || {
        Error::invalid(
            format!("filter on {}", leaf.name),
            format!("the batch has no column at {path:?}"),
        )
    };
    let (first, rest) = path.split_first().ok_or_else(absent)?;
    let mut column = batch.columns().get(*first).cloned().ok_or_else(absent)?;
    for child in rest {
        let parent = column.as_struct_opt().ok_or_else(absent)?;
        let child = parent.columns().get(*child).cloned().ok_or_else(absent)?;
        column = mask_nulls(child, parent.nulls(), leaf)?;
    }
    Ok(column)
}

fn mask_nulls(child: ArrayRef, parent: Option<&NullBuffer>, leaf: &BoundLeaf) -> Result<ArrayRef> {
    let Some(parent) = parent.filter(|nulls| nulls.null_count() > 0) else { return Ok(child) };
    let nulls = NullBuffer::union(child.nulls(), Some(parent));
    let data = child.to_data().into_builder().nulls(nulls).build();
    data.map(make_array).map_err(|_| unfit(leaf, &child))
}

fn valid(column: &dyn Array) -> BooleanBuffer {
    match column.logical_nulls() {
        Some(nulls) => nulls.into_inner(),
        None => BooleanBuffer::new_set(column.len()),
    }
}

/// The column in the field's Arrow type, or in one that compares the same.
fn conform<'a>(leaf: &BoundLeaf, column: &'a ArrayRef) -> Result<Cow<'a, ArrayRef>> {
    use DataType as D;
    let expected = primitive_to_arrow(&leaf.field_type);
    let found = column.data_type();
    let same = match (found, &expected) {
        (D::LargeUtf8 | D::Utf8View, D::Utf8) | (D::LargeBinary | D::BinaryView, D::Binary) => true,
        (D::Timestamp(found, Some(_)), D::Timestamp(unit, Some(_))) => found == unit,
        _ => *found == expected,
    };
    if same {
        return Ok(Cow::Borrowed(column));
    }
    canonical_array(column, &leaf.field_type).map(Cow::Owned).map_err(|_| unfit(leaf, column))
}

fn unfit(leaf: &BoundLeaf, column: &dyn Array) -> Error {
    Error::Mismatch {
        column: leaf.name.clone(),
        found: column.data_type().to_string(),
        expected: leaf.field_type.to_string(),
    }
}
