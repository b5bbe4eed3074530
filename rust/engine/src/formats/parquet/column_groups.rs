//! Groups of columns, decoded one group at a time: a decoder holds a page and a decompressor for each of its columns.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, Schema};
use parquet::schema::types::SchemaDescriptor;

/// Target leaves of a group.
const GROUP_COLUMNS: usize = 8;
/// Maximum leaves that are decoded together, batch by batch.
const FEW_COLUMNS: usize = 2 * GROUP_COLUMNS;

/// Return leaves in groups of whole top-level columns, in file order. At most [`FEW_COLUMNS`] leaves form one group.
pub(crate) fn column_groups(
    descriptor: &SchemaDescriptor,
    leaves: &BTreeSet<usize>,
) -> Vec<BTreeSet<usize>> {
    if leaves.len() <= FEW_COLUMNS {
        return vec![leaves.clone()];
    }
    let mut groups: Vec<BTreeSet<usize>> = Vec::new();
    let mut last_root = None;
    for leaf in leaves.iter().copied() {
        let root = descriptor.get_column_root_idx(leaf);
        let starts = last_root != Some(root);
        last_root = Some(root);
        match groups.last_mut().filter(|group| !starts || group.len() < GROUP_COLUMNS) {
            Some(group) => {
                group.insert(leaf);
            }
            None => groups.push(BTreeSet::from([leaf])),
        }
    }
    groups
}

/// Return one batch of the columns of `batches`, which hold the same rows.
///
/// # Errors
/// `ArrowError` if the batches differ in their numbers of rows.
pub(crate) fn side_by_side(batches: &[RecordBatch]) -> Result<RecordBatch, ArrowError> {
    let rows = batches.first().map_or(0, RecordBatch::num_rows);
    let fields: Vec<_> = batches.iter().flat_map(|it| it.schema().fields().to_vec()).collect();
    let columns = batches.iter().flat_map(|it| it.columns().to_vec()).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::schema::parser::parse_message_type;

    fn groups(columns: usize) -> Vec<Vec<usize>> {
        let flat: String = (2..columns).map(|n| format!("required int32 c{n};")).collect();
        let text = format!(
            "message m {{ required group s {{ required int32 a; required int32 b; }} {flat} }}"
        );
        let descriptor = SchemaDescriptor::new(Arc::new(parse_message_type(&text).unwrap()));
        let leaves = (0..columns).collect();
        let groups = column_groups(&descriptor, &leaves);
        groups.into_iter().map(|group| group.into_iter().collect()).collect()
    }

    #[test]
    fn few_columns_are_one_group() {
        assert_eq!(groups(16), [(0..16).collect::<Vec<_>>()]);
    }

    #[test]
    fn many_columns_are_several_groups_of_whole_columns() {
        let found = groups(20);
        assert_eq!(found.concat(), (0..20).collect::<Vec<_>>());
        assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [8, 8, 4]);
    }
}
