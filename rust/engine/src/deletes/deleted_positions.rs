//! Deletes of a data file as positions, found by reading its key columns where equality deletes apply.

use std::cell::Cell;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use icefloe_format::delete::{KeyedColumns, deleted_rows};
use icefloe_format::predicate::Predicate;
use icefloe_format::spec::{NestedField, PrimitiveType, Schema, Type};
use roaring::RoaringTreemap;

use super::files::DeleteFiles;
use crate::error::Result;
use crate::formats::batch_size::BatchSize;
use crate::formats::data_format::DataFormat;
use crate::resolve::key_set::KeySet;
use crate::resolve::metadata_columns::POSITION_ID;
use crate::resolve::prune::{prune, values_at};
use crate::resolve::request::{FileRequest, RowDeletes};

/// The positions of the rows of a data file that some delete files delete, by position or by key.
///
/// # Errors
/// Errors of reading the delete files and the key columns of the data file.
pub(crate) fn deleted_positions(
    request: &FileRequest<'_>,
    file_format: &str,
    (files, numbers): (&Arc<DeleteFiles>, &[Range<usize>]),
) -> Result<RoaringTreemap> {
    let file = (request.location, request.record_count);
    let mut all = files.positions(file, numbers)?.unwrap_or_default();
    for set in files.key_sets(numbers)? {
        let schema = located_keys(&set);
        let keys = FileRequest {
            identities: request.identities.clone(),
            partition: HashMap::new(),
            projection: &schema,
            string_views: true,
            dictionaries: false,
            residual: Predicate::AlwaysTrue,
            deletes: RowDeletes::default(),
            marked: None,
            tail: Cell::default(),
            ..*request
        };
        for unit in DataFormat::of(file_format, request.location)?.open(&keys)? {
            let mut outcome = Ok(());
            unit.decode(BatchSize::PASSING, None, &mut |batch| {
                outcome = add_positions(&mut all, &set, &schema, &batch);
                outcome.is_ok()
            })?;
            outcome?;
        }
    }
    Ok(all)
}

/// The columns of the keys, then `_pos`.
fn located_keys(set: &KeySet) -> Schema {
    let mut fields = prune(&set.schema, &set.field_ids).fields().to_vec();
    let long = Type::Primitive(PrimitiveType::Long);
    fields.push(NestedField::required(POSITION_ID, "_pos", long));
    Schema::new(set.schema.schema_id(), fields, vec![])
}

fn add_positions(
    all: &mut RoaringTreemap,
    set: &KeySet,
    schema: &Schema,
    batch: &RecordBatch,
) -> Result<()> {
    let paths = set.field_ids.iter().filter_map(|id| schema.position_path(*id));
    let columns = paths.map(|path| values_at(batch, &path)).collect::<Result<_>>()?;
    let keyed = KeyedColumns { keys: &set.keys, sources: set.sources.as_deref(), columns };
    let Some(deleted) = deleted_rows(0..batch.num_rows() as u64, None, &[keyed])? else {
        return Ok(());
    };
    let positions = values_at(batch, &[batch.num_columns().saturating_sub(1)])?;
    let positions = positions.as_primitive::<Int64Type>().values();
    let found = deleted.set_indices().filter_map(|row| positions.get(row));
    all.extend(found.filter_map(|position| u64::try_from(*position).ok()));
    Ok(())
}
