//! Changes of rows: those that undo each other, and those that are halves of an update.
//!
//! Rows are compared by all columns that are given, of any type: null equals null, and floats are equal
//! where their bits are.

use std::hash::BuildHasher;

use arrow_array::{BooleanArray, RecordBatch, UInt64Array};
use arrow_row::{RowConverter, Rows, SortField};
use arrow_schema::ArrowError;
use hashbrown::{DefaultHashBuilder, HashTable};

use crate::error::{Error, Result};

/// What is left of changes once those of equal rows that undo each other are taken out, the newest first.
/// The changes are in the order in which they were made. For each that is left, the number of the change
/// that it is told as: the first of equal rows since all changes of them were last undone, as the Java
/// reference has it; null for the others.
///
/// # Errors
/// `InvalidArgument` where lengths differ or a column cannot be compared.
pub fn net_changes(
    rows: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
    deleted: &BooleanArray,
) -> Result<UInt64Array> {
    let groups = Groups::new(rows, deleted.len())?;
    let mut open: Vec<Vec<usize>> = vec![vec![]; groups.count];
    for (change, group) in groups.of_rows.iter().enumerate() {
        let Some(open) = open.get_mut(*group) else { continue };
        match open.last() {
            Some(last) if deleted.value(*last) != deleted.value(change) => drop(open.pop()),
            _ => open.push(change),
        }
    }
    let mut told = vec![None; deleted.len()];
    for open in open {
        let first = open.first().map(|first| *first as u64);
        for change in open {
            if let Some(told) = told.get_mut(change) {
                *told = first;
            }
        }
    }
    Ok(UInt64Array::from(told))
}

/// Which changes are halves of an update: a deletion and an insertion with the same key, one bit per change.
///
/// # Errors
/// `InvalidArgument` where lengths differ, a column cannot be compared, or a key that is both deleted and
/// inserted is so more than once.
pub fn updates(
    keys: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
    deleted: &BooleanArray,
) -> Result<BooleanArray> {
    let groups = Groups::new(keys, deleted.len())?;
    let mut counts = vec![[0_usize; 2]; groups.count];
    for (change, group) in groups.of_rows.iter().enumerate() {
        if let Some([before, after]) = counts.get_mut(*group) {
            *(if deleted.value(change) { before } else { after }) += 1;
        }
    }
    let ambiguous = |[before, after]: &&[usize; 2]| *before > 0 && *after > 0 && before + after > 2;
    if let Some([before, after]) = counts.iter().find(ambiguous) {
        let reason = format!(
            "they do not tell rows apart: {before} rows with the same values were deleted and {after} inserted at once"
        );
        return Err(Error::invalid("identifier columns", reason));
    }
    let halves = groups.of_rows.iter().map(|group| counts.get(*group) == Some(&[1, 1]));
    Ok(BooleanArray::from(halves.collect::<Vec<_>>()))
}

/// Rows numbered so that equal ones have the same number.
struct Groups {
    of_rows: Vec<usize>,
    count: usize,
}

impl Groups {
    fn new(
        batches: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
        row_count: usize,
    ) -> Result<Self> {
        let rows = match encoded(batches).map_err(|error| invalid(&error.to_string()))? {
            Some(rows) => rows,
            None => return Ok(Self { of_rows: vec![0; row_count], count: row_count.min(1) }),
        };
        if rows.num_rows() != row_count {
            return Err(invalid(&format!("{} beside {row_count} changes", rows.num_rows())));
        }
        let hasher = DefaultHashBuilder::default();
        let mut firsts: HashTable<(usize, usize)> = HashTable::with_capacity(row_count);
        let hash_of = |row: usize| hasher.hash_one(rows.row(row).data());
        let mut of_rows = Vec::with_capacity(row_count);
        for row in 0..row_count {
            let number = firsts.len();
            let same = |(first, _): &(usize, usize)| rows.row(*first) == rows.row(row);
            let entry = firsts.entry(hash_of(row), same, |(first, _)| hash_of(*first));
            of_rows.push(entry.or_insert((row, number)).get().1);
        }
        Ok(Self { of_rows, count: firsts.len() })
    }
}

/// Rows as byte strings that are equal where the rows are; `None` for rows without columns, which all are.
fn encoded(
    batches: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
) -> Result<Option<Rows>, ArrowError> {
    let mut encoded: Option<(RowConverter, Rows)> = None;
    for batch in batches {
        let batch = batch?;
        if batch.num_columns() == 0 {
            return Ok(None);
        }
        let (converter, mut rows) = match encoded.take() {
            Some(both) => both,
            None => {
                let types = batch.columns().iter().map(|column| column.data_type().clone());
                let converter = RowConverter::new(types.map(SortField::new).collect())?;
                let rows = converter.empty_rows(0, 0);
                (converter, rows)
            }
        };
        converter.append(&mut rows, batch.columns())?;
        encoded = Some((converter, rows));
    }
    Ok(encoded.map(|(_, rows)| rows))
}

fn invalid(reason: &str) -> Error {
    Error::invalid("rows", reason)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{Array, ArrayRef, Float64Array, RecordBatchOptions, StringArray};
    use arrow_schema::Schema;

    use super::*;

    type Batches = std::vec::IntoIter<Result<RecordBatch, ArrowError>>;

    /// A column in batches of two rows.
    fn batches(column: ArrayRef) -> Batches {
        let whole = RecordBatch::try_from_iter([("column", column)]).unwrap();
        let starts = (0..whole.num_rows()).step_by(2);
        let parts = starts.map(|start| Ok(whole.slice(start, 2.min(whole.num_rows() - start))));
        parts.collect::<Vec<_>>().into_iter()
    }

    fn changes(text: &str) -> (Batches, BooleanArray) {
        let values = text.split(' ').map(|change| Some(&change[1..]).filter(|it| *it != "null"));
        let deleted = text.split(' ').map(|change| change.starts_with('-')).collect::<Vec<_>>();
        (batches(Arc::new(StringArray::from_iter(values))), BooleanArray::from(deleted))
    }

    fn kept(text: &str) -> String {
        let (columns, deleted) = changes(text);
        let kept = net_changes(columns, &deleted).unwrap();
        let words = text.split(' ').zip(kept.iter());
        words
            .filter_map(|(word, told)| told.map(|first| format!("{word}@{first}")))
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn equal_changes_undo_each_other_as_often_as_they_occur() {
        assert_eq!(kept("-a -b +b +c"), "-a@0 +c@3");
        assert_eq!(kept("-a -a -a +a"), "-a@0 -a@0");
        assert_eq!(kept("-a +a +a"), "+a@2");
        assert_eq!(kept("-null +null +x"), "+x@2");
        assert_eq!(kept("+a -a +a"), "+a@2");
    }

    #[test]
    fn not_a_number_equals_itself() {
        let rows = batches(Arc::new(Float64Array::from(vec![f64::NAN, f64::NAN])));
        let kept = net_changes(rows, &BooleanArray::from(vec![true, false])).unwrap();
        assert_eq!(kept.null_count(), 2);
    }

    #[test]
    fn halves_of_updates_share_a_key() {
        let (keys, deleted) = changes("-1 -2 +2 +3 +3");
        let halves = updates(keys, &deleted).unwrap();
        assert_eq!(halves.values().iter().collect::<Vec<_>>(), [false, true, true, false, false]);
        let (keys, deleted) = changes("-1 +1 +1");
        assert!(updates(keys, &deleted).unwrap_err().to_string().contains("1 rows"));
    }

    #[test]
    fn rows_without_columns_are_equal() {
        let options = RecordBatchOptions::new().with_row_count(Some(3));
        let rows = RecordBatch::try_new_with_options(Schema::empty().into(), vec![], &options);
        let kept = net_changes([rows].into_iter(), &BooleanArray::from(vec![true, false, false]));
        assert_eq!(kept.unwrap().null_count(), 2);
    }
}
