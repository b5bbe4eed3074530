//! The row filter: a mask over a batch of table rows.

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
use crate::spec::{canonical_array, primitive_to_arrow};

/// Which rows of a batch satisfy a predicate; see [`RowFilter::mask`].
///
/// # Errors
/// Those of [`RowFilter::mask`].
pub fn filter_mask(
    predicate: &BoundPredicate,
    batch: &RecordBatch,
    resolve: &dyn Fn(i32) -> Option<Vec<usize>>,
) -> Result<BooleanArray> {
    RowFilter::new(predicate).mask(batch, resolve)
}

/// A predicate made ready once and asked of many batches of rows: sets are built here.
#[derive(Debug, Clone)]
pub struct RowFilter {
    root: Node<Question>,
}

/// A leaf and, where it has literals, the comparison that answers it: its own, or the one that its
/// operator negates.
#[derive(Debug, Clone)]
struct Question {
    leaf: BoundLeaf,
    test: Test,
}

impl Question {
    fn new(leaf: BoundLeaf) -> Self {
        let op = if is_negation(leaf.op) { leaf.op.negated() } else { leaf.op };
        Self { test: Test::new(op, &leaf.literals), leaf }
    }
}

/// Whether the operator holds of every value, NaN included, that its counterpart does not hold of.
fn is_negation(op: Operator) -> bool {
    matches!(op, Operator::NotEq | Operator::NotIn | Operator::NotStartsWith)
}

impl RowFilter {
    /// Make a predicate ready.
    pub fn new(predicate: &BoundPredicate) -> Self {
        Self { root: gather(predicate, &mut Question::new) }
    }

    /// Return the rows of a batch that the predicate is true of: one bit per row, none null. Rows
    /// that it is false of or unknown for are off.
    ///
    /// `resolve` gives the place of a field in the batch: the index of its column, then of the
    /// child in each enclosing struct. A field without a place is null in every row. Columns may
    /// be narrower than the table's type (int for long) and strings may be views or dictionaries.
    ///
    /// # Errors
    /// `Mismatch` where a column's type cannot become the field's.
    pub fn mask(
        &self,
        batch: &RecordBatch,
        resolve: &dyn Fn(i32) -> Option<Vec<usize>>,
    ) -> Result<BooleanArray> {
        Ok(BooleanArray::new(node_mask(&self.root, batch, resolve)?, None))
    }
}

fn answer(question: &Question, column: &ArrayRef) -> Result<BooleanBuffer> {
    let leaf = &question.leaf;
    match leaf.op {
        Operator::IsNull => return Ok(!&valid(column)),
        Operator::NotNull => return Ok(valid(column)),
        _ => {}
    }
    if let Some(dictionary) = column.as_any_dictionary_opt() {
        // Each distinct value is tested once; a key of a null value is a null.
        let values = BooleanArray::new(answer(question, dictionary.values())?, None);
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
        op if is_negation(op) => question.test.negated_mask(&column),
        _ => question.test.mask(&column),
    }
}

fn node_mask(
    node: &Node<Question>,
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
        Node::Leaf(question) => match resolve(question.leaf.field_id) {
            Some(path) => answer(question, &column_at(batch, &path, &question.leaf)?),
            None if question.leaf.op.accepts_null() => Ok(BooleanBuffer::new_set(rows)),
            None => Ok(BooleanBuffer::new_unset(rows)),
        },
    }
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
