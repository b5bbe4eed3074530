//! Filters on the rows of a batch.

use std::borrow::Cow;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, make_array};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::DataType;
use arrow_select::take::take;

use super::compare::Test;
use super::mask::{nan_slots, valid};
use super::nodes::{Node, gather};
use super::tree::{BoundLeaf, BoundPredicate, Operator};
use crate::error::{Error, Result};
use crate::spec::{ArrowName, canonical_array, primitive_to_arrow};

/// Return which rows of a batch match a predicate; see [`RowFilter::mask`].
///
/// # Errors
/// The errors of [`RowFilter::mask`].
pub fn filter_mask(
    predicate: &BoundPredicate,
    batch: &RecordBatch,
    resolve: &dyn Fn(i32) -> Option<Vec<usize>>,
) -> Result<BooleanArray> {
    RowFilter::new(predicate).mask(batch, resolve)
}

/// A predicate that is prepared once and evaluated on many batches of rows: sets are built here.
#[derive(Debug, Clone)]
pub struct RowFilter {
    root: Node<LeafTest>,
}

/// A leaf and, where it has literals, the comparison that answers it: its own, or the one that its
/// operator negates.
#[derive(Debug, Clone)]
struct LeafTest {
    leaf: BoundLeaf,
    test: Test,
}

impl LeafTest {
    fn new(leaf: BoundLeaf) -> Self {
        let op = if is_negation(leaf.op) { leaf.op.negated() } else { leaf.op };
        Self { test: Test::new(op, &leaf.literals), leaf }
    }
}

/// Return whether the operator holds of every value, NaN included, that its counterpart does not hold of.
fn is_negation(op: Operator) -> bool {
    matches!(op, Operator::NotEq | Operator::NotIn | Operator::NotStartsWith)
}

impl RowFilter {
    /// Make a predicate ready.
    pub fn new(predicate: &BoundPredicate) -> Self {
        Self { root: gather(predicate, &mut LeafTest::new) }
    }

    /// Return the rows of a batch for which the predicate is true: one bit per row, unset where the predicate is false
    /// or unknown.
    ///
    /// `resolve` returns the path of a field in the batch: the index of its column, then of the child in each
    /// enclosing struct; `None` for a field that is null in every row. Columns may be narrower than the table's type
    /// (int for long), and strings may be views or dictionaries.
    ///
    /// # Errors
    /// `Mismatch` where a column's type does not convert to the field's.
    pub fn mask(
        &self,
        batch: &RecordBatch,
        resolve: &dyn Fn(i32) -> Option<Vec<usize>>,
    ) -> Result<BooleanArray> {
        Ok(BooleanArray::new(node_mask(&self.root, batch, resolve)?, None))
    }
}

fn leaf_mask(test: &LeafTest, column: &ArrayRef) -> Result<BooleanBuffer> {
    let leaf = &test.leaf;
    match leaf.op {
        Operator::IsNull => return Ok(!&valid(column)),
        Operator::NotNull => return Ok(valid(column)),
        _ => {}
    }
    if let Some(dictionary) = column.as_any_dictionary_opt() {
        // Each distinct value is tested once.
        let values = BooleanArray::new(leaf_mask(test, dictionary.values())?, None);
        let by_row = take(&values, dictionary.keys(), None).map_err(|_| unfit(leaf, column))?;
        let by_row = by_row.as_boolean();
        let accepted = by_row.values() & &valid(by_row);
        return Ok(if leaf.op.accepts_null() { &accepted | &!&valid(by_row) } else { accepted });
    }
    let column = conform(leaf, column)?;
    let column = match &leaf.transform {
        Some(transform) => Cow::Owned(transform.apply_array(column.as_ref(), &leaf.field_type)?),
        None => column,
    };
    match leaf.op {
        Operator::IsNan => Ok(&nan_slots(&column) & &valid(column.as_ref())),
        Operator::NotNan => Ok(!&(&nan_slots(&column) & &valid(column.as_ref()))),
        op if is_negation(op) => test.test.negated_mask(&column),
        _ => test.test.mask(&column),
    }
}

fn node_mask(
    node: &Node<LeafTest>,
    batch: &RecordBatch,
    resolve: &dyn Fn(i32) -> Option<Vec<usize>>,
) -> Result<BooleanBuffer> {
    let rows = batch.num_rows();
    match node {
        Node::True => Ok(BooleanBuffer::new_set(rows)),
        Node::False => Ok(BooleanBuffer::new_unset(rows)),
        Node::All(parts) => {
            let mut all = BooleanBuffer::new_set(rows);
            for part in parts {
                all &= &node_mask(part, batch, resolve)?;
                if all.count_set_bits() == 0 {
                    break;
                }
            }
            Ok(all)
        }
        Node::Any(parts) => {
            let mut any = BooleanBuffer::new_unset(rows);
            for part in parts {
                any |= &node_mask(part, batch, resolve)?;
                if any.count_set_bits() == rows {
                    break;
                }
            }
            Ok(any)
        }
        Node::Leaf(test) => match resolve(test.leaf.field_id) {
            Some(path) => leaf_mask(test, &column_at(batch, &path, &test.leaf)?),
            None if test.leaf.op.accepts_null() => Ok(BooleanBuffer::new_set(rows)),
            None => Ok(BooleanBuffer::new_unset(rows)),
        },
    }
}

/// Return the column at a path; a null struct makes its children null.
fn column_at(batch: &RecordBatch, path: &[usize], leaf: &BoundLeaf) -> Result<ArrayRef> {
    let absent = || {
        Error::invalid(
            format!("filter on {}", leaf.name),
            format!("the batch has no column at the path {path:?}"),
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

/// Convert a column to the field's Arrow type, or keep an equivalent layout.
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
        found: ArrowName(column.data_type()).to_string(),
        expected: leaf.field_type.to_string(),
    }
}
