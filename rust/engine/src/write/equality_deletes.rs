//! Keys of deleted rows to equality delete files.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::RecordBatchReader;
use arrow_schema::{DataType, Fields, Schema as ArrowSchema};
use icefloe_format::Error as FormatError;
use icefloe_format::metrics::MetricsConfig;
use icefloe_format::spec::{
    PartitionField, PartitionSpec, PrimitiveType, Schema, Transform, UNSORTED_ORDER_ID,
};

use super::column_selection::{selected_columns, selected_schema};
use super::data_file::WrittenFile;
use super::file_format::FileKind;
use super::file_options::FileOptions;
use super::file_shape::FileShape;
use super::fit::Fit;
use super::output::Outputs;
use super::rolling::Files;
use super::router::{Arrangement, Router};
use super::task::{TableLayout, WriteTask, keep_or_discard, unreadable};
use crate::error::Result;
use crate::store::FileIo;

/// `content` of an equality delete file.
const EQUALITY_DELETES: i32 = 2;

/// Write keys of deleted rows as equality delete files: each key to its partition, files rolled at
/// `write.delete.target-file-size-bytes`. Keys are written as they come, repeated ones too.
///
/// `data` has the columns of `equality_ids`, and the source columns of the partition spec; other columns of the table
/// are ignored. Files hold the key columns alone, with the structs around nested ones. A spec without partition fields
/// makes files that apply to every partition. After an error no file is left.
///
/// # Errors
/// `InvalidArgument` for ids that are no key, `Mismatch` for data without these columns or of other types;
/// [`crate::Error::Storage`].
pub fn write_equality_deletes(
    io: &FileIo,
    data: &mut dyn RecordBatchReader,
    layout: &TableLayout,
    equality_ids: &[i32],
    task: &WriteTask,
) -> Result<Vec<WrittenFile>> {
    check_ids(&layout.schema, equality_ids)?;
    let keys = layout.schema.select(equality_ids);
    let needed = needed_ids(equality_ids, &layout.spec);
    check_columns(&data.schema(), layout, equality_ids)?;
    let routed = layout.schema.select(&needed);
    let fit = Fit::new(&selected_schema(&data.schema(), &routed), &routed)?;
    let written = selected_schema(fit.schema(), &keys);
    let options = FileOptions::new(&task.properties, FileKind::Deletes)?;
    let properties = task.properties.clone().into_iter().collect();
    let order = layout.sort_order.as_ref().filter(|order| !order.is_unsorted());
    let modes = MetricsConfig::from_properties(&layout.schema, order, &properties)?;
    let ids: Vec<String> = equality_ids.iter().map(i32::to_string).collect();
    let key_values = [("delete-type", "equality"), ("delete-field-ids", &ids.join(", "))];
    let shape = FileShape::new(&keys, written, &options, modes, &key_values)?;
    let locations = task.locations(io)?;
    let files = Files {
        outputs: Outputs::new(io, locations.data_path())?,
        names: task.names(FileKind::Deletes, options.format()),
        locations,
        options,
        shape: Arc::new(shape),
        content: EQUALITY_DELETES,
        equality_ids: equality_ids.to_vec(),
        sort_order_id: Some(UNSORTED_ORDER_ID),
        finished: Vec::new(),
    };
    let mut router = Router::new(files, &routed, &layout.spec, Arrangement::AsTheyCome)?;
    let outcome = route(data, &fit, (&routed, &keys), &mut router);
    keep_or_discard(outcome, router.into_files())
}

fn route(
    data: &mut dyn RecordBatchReader,
    fit: &Fit,
    (routed, keys): (&Schema, &Schema),
    router: &mut Router,
) -> Result<()> {
    for batch in data {
        let batch = selected_columns(&batch.map_err(unreadable)?, routed)?;
        let rows = fit.apply(&batch)?;
        router.write_part(&rows, &selected_columns(&rows, keys)?)?;
    }
    router.finish()
}

/// Refuse ids that the specification does not allow as a key.
fn check_ids(schema: &Schema, equality_ids: &[i32]) -> Result<(), FormatError> {
    let refused = |reason: String| FormatError::invalid("equality_ids", reason);
    if equality_ids.is_empty() {
        return Err(refused("expected at least one field id, got none".into()));
    }
    let mut known = BTreeSet::new();
    for id in equality_ids {
        let Some(name) = schema.full_name(*id) else {
            return Err(refused(format!("expected ids of the table's columns, got {id}")));
        };
        if !known.insert(id) {
            return Err(refused(format!("expected each id once, got {id} ({name}) twice")));
        }
        match schema.primitive_type(*id) {
            Some(PrimitiveType::Float | PrimitiveType::Double) => {
                return Err(refused(format!(
                    "expected columns with exact equality, got {name}, a floating-point column, which the specification \
                     excludes from equality deletes"
                )));
            }
            Some(_) if !schema.is_nested(*id) => {}
            _ => {
                return Err(refused(format!(
                    "expected primitive columns outside of lists and maps, got {name}"
                )));
            }
        }
    }
    Ok(())
}

fn needed_ids(equality_ids: &[i32], spec: &PartitionSpec) -> Vec<i32> {
    let sources = computed_fields(spec).map(|field| field.source_id);
    equality_ids.iter().copied().chain(sources).collect()
}

/// The partition fields that are computed from a column: all but void ones.
fn computed_fields(spec: &PartitionSpec) -> impl Iterator<Item = &PartitionField> {
    spec.fields.iter().filter(|field| field.transform != Transform::Void)
}

/// Refuse data without a key column, which would delete rows with nulls, or without a partition's source column.
fn check_columns(
    data: &ArrowSchema,
    layout: &TableLayout,
    equality_ids: &[i32],
) -> Result<(), FormatError> {
    let absent = |name: &str, expected: &str| FormatError::Mismatch {
        column: name.to_owned(),
        found: "no such column".into(),
        expected: expected.to_owned(),
    };
    let top = data.fields().iter();
    if let Some(unknown) = top
        .map(|field| field.name())
        .find(|name| !layout.schema.fields().iter().any(|field| field.name == **name))
    {
        return Err(FormatError::Mismatch {
            column: unknown.clone(),
            found: "a column that the table does not have".into(),
            expected: "columns of the table".into(),
        });
    }
    for id in equality_ids {
        let name = layout.schema.full_name(*id).unwrap_or_default();
        if !has_path(data.fields(), &layout.schema, *id) {
            return Err(absent(&name, "all columns of the key"));
        }
    }
    for field in computed_fields(&layout.spec) {
        let name = layout.schema.full_name(field.source_id);
        let name = name.unwrap_or_else(|| format!("with id {}", field.source_id));
        if !has_path(data.fields(), &layout.schema, field.source_id) {
            let expected = format!(
                "the source column of partition field {}, or a partition spec without fields",
                field.name
            );
            return Err(absent(&name, &expected));
        }
    }
    Ok(())
}

/// Return whether data has a column, by the names of the column and of the structs around it.
fn has_path(data: &Fields, schema: &Schema, id: i32) -> bool {
    let Some(path) = schema.position_path(id) else { return false };
    let (mut data, mut fields) = (data, schema.fields());
    for (level, position) in path.iter().enumerate() {
        let Some(field) = fields.get(*position) else { return false };
        let Some((_, found)) = data.find(&field.name) else { return false };
        if level + 1 == path.len() {
            return true;
        }
        match (found.data_type(), &field.field_type) {
            (DataType::Struct(inner), icefloe_format::spec::Type::Struct(below)) => {
                (data, fields) = (inner, &below.fields);
            }
            // Another type is reported by the fit, with its name.
            _ => return *found.data_type() != DataType::Null,
        }
    }
    false
}
