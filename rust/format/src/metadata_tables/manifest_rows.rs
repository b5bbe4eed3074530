//! Rows of the metadata tables about manifests: `manifests` and `all_manifests`.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Int32Array, ListArray, RecordBatch,
    RecordBatchOptions, StringArray, StructArray,
};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Schema as ArrowSchema};

use crate::manifest::entries::conform;
use crate::manifest::manifest_file_schema;
use crate::predicate::FieldSummaries;
use crate::spec::{
    ArrowOptions, NestedField, PartitionSpec, PrimitiveType, Schema, StructType, single_value,
    struct_to_arrow, type_to_arrow,
};
use crate::{Error, Result};

/// Partition specs and the types of their tuples, by spec id.
pub type ManifestSpecs = HashMap<i32, (PartitionSpec, StructType)>;

/// Return the columns of `wanted`, a selection from the schema of a metadata table, for the rows of manifest lists.
///
/// `manifests` has the columns of [`manifest_file_schema`], and for `all_manifests` also `reference_snapshot_id`.
/// Counts of files are those of the manifest's own kind, and 0 for the other kind. Bounds of partition fields are in
/// the text form of the field's transform; the summaries of a spec that is unknown have no bounds.
///
/// # Errors
/// [`Error::InvalidArgument`] if a required value is null.
pub fn manifest_rows(
    manifests: &RecordBatch,
    specs: &ManifestSpecs,
    wanted: &Schema,
) -> Result<RecordBatch> {
    let rows = conform(manifests, &manifest_file_schema())?;
    let columns = wanted.fields().iter().map(|field| match field.name.as_str() {
        "reference_snapshot_id" => part(manifests, "reference_snapshot_id").cloned(),
        "partition_summaries" => summaries(&rows, specs, field),
        name => column(&rows, name),
    });
    let columns = columns.collect::<Result<Vec<_>>>()?;
    let fields = struct_to_arrow(&wanted.as_struct(), ArrowOptions::default());
    let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
    RecordBatch::try_new_with_options(Arc::new(ArrowSchema::new(fields)), columns, &options)
        .map_err(|error| Error::invalid("manifests", error.to_string()))
}

fn column(rows: &RecordBatch, name: &str) -> Result<ArrayRef> {
    if let Some(kind) = name.strip_suffix("_data_files_count") {
        return counts(rows, kind, 0);
    }
    if let Some(kind) = name.strip_suffix("_delete_files_count") {
        return counts(rows, kind, 1);
    }
    let source = match name {
        "path" => "manifest_path",
        "length" => "manifest_length",
        other => other,
    };
    part(rows, source).cloned()
}

fn part<'a>(rows: &'a RecordBatch, name: &str) -> Result<&'a ArrayRef> {
    rows.column_by_name(name).ok_or_else(|| Error::invalid(name, "the column is missing"))
}

fn ints<'a>(rows: &'a RecordBatch, name: &str) -> Result<&'a Int32Array> {
    let column = part(rows, name)?.as_primitive_opt::<Int32Type>();
    column.ok_or_else(|| Error::invalid(name, "expected a column of int"))
}

/// Return the counts of files of one status in manifests of `content`; 0 for other manifests and for lists without
/// counts.
fn counts(rows: &RecordBatch, kind: &str, content: i32) -> Result<ArrayRef> {
    let (contents, counts) = (ints(rows, "content")?, ints(rows, &format!("{kind}_files_count"))?);
    let own = contents.iter().zip(counts).map(|(found, count)| {
        let is_own = found.unwrap_or(0) == content;
        Some(if is_own { count.unwrap_or(0) } else { 0 })
    });
    Ok(Arc::new(own.collect::<Int32Array>()))
}

/// Return the partition summaries with bounds as text. A manifest without summaries has none.
fn summaries(rows: &RecordBatch, specs: &ManifestSpecs, field: &NestedField) -> Result<ArrayRef> {
    let lists = part(rows, "partitions")?.as_list_opt::<i32>().ok_or_else(no_summaries)?;
    let found = FieldSummaries::of(lists)?;
    let listed = Listed::of(lists, &found, ints(rows, "partition_spec_id")?, specs)?;
    let DataType::List(element) = type_to_arrow(&field.field_type, ArrowOptions::default()) else {
        return Err(no_summaries());
    };
    let DataType::Struct(fields) = element.data_type() else { return Err(no_summaries()) };
    let nan_default =
        fields.find("contains_nan").and_then(|(_, nan)| (!nan.is_nullable()).then_some(false));
    let columns = vec![
        listed.flags(found.contains_null, Some(false)),
        listed.flags(found.contains_nan, nan_default),
        Arc::new(listed.lower),
        Arc::new(listed.upper),
    ];
    let invalid =
        |error: arrow_schema::ArrowError| Error::invalid("partition_summaries", error.to_string());
    let values = StructArray::try_new(fields.clone(), columns, None).map_err(invalid)?;
    let nulls = lists.nulls().filter(|_| !field.required).cloned();
    let offsets = OffsetBuffer::from_lengths(listed.lengths);
    ListArray::try_new(element, offsets, Arc::new(values), nulls)
        .map(|list| Arc::new(list) as ArrayRef)
        .map_err(invalid)
}

fn no_summaries() -> Error {
    Error::invalid("partitions", "expected a list of partition summaries")
}

/// The summaries in the lists of all manifests, in their order.
struct Listed {
    /// Index of each summary.
    entries: Vec<usize>,
    /// Number of summaries of each manifest.
    lengths: Vec<usize>,
    lower: StringArray,
    upper: StringArray,
}

impl Listed {
    fn of(
        lists: &ListArray,
        found: &FieldSummaries<'_>,
        spec_ids: &Int32Array,
        specs: &ManifestSpecs,
    ) -> Result<Self> {
        let (mut lower, mut upper) = (StringBuilder::new(), StringBuilder::new());
        let mut entries = Vec::new();
        let mut lengths = Vec::with_capacity(lists.len());
        for row in 0..lists.len() {
            let ends = lists.value_offsets().get(row..row + 2).unwrap_or_default();
            let [start, end] = *ends else { return Err(no_summaries()) };
            let range = if lists.is_valid(row) { start..end } else { 0..0 };
            let spec = spec_ids.is_valid(row).then(|| specs.get(&spec_ids.value(row))).flatten();
            lengths.push(range.len());
            for (place, entry) in range.enumerate() {
                let entry = usize::try_from(entry).map_err(|_| no_summaries())?;
                lower.append_option(text(spec, place, found.lower, entry)?);
                upper.append_option(text(spec, place, found.upper, entry)?);
                entries.push(entry);
            }
        }
        Ok(Self { entries, lengths, lower: lower.finish(), upper: upper.finish() })
    }

    /// Return a flag of each summary, and `missing` where it is null.
    fn flags(&self, column: &BooleanArray, missing: Option<bool>) -> ArrayRef {
        let flag = |entry: &usize| {
            if column.is_valid(*entry) { Some(column.value(*entry)) } else { missing }
        };
        Arc::new(self.entries.iter().map(flag).collect::<BooleanArray>())
    }
}

/// Return the text of a bound: `null` without a bound, `None` where its field or type is unknown.
fn text(
    spec: Option<&(PartitionSpec, StructType)>,
    place: usize,
    bounds: &BinaryArray,
    entry: usize,
) -> Result<Option<String>> {
    let field = spec.and_then(|(spec, kind)| spec.fields.get(place).zip(kind.fields.get(place)));
    let Some((partition, field)) = field else { return Ok(None) };
    let value_type = field.field_type.as_primitive().unwrap_or(PrimitiveType::Unknown);
    if bounds.is_null(entry) {
        return Ok(Some(partition.transform.human_string(&value_type, None)));
    }
    if value_type == PrimitiveType::Unknown {
        return Ok(None);
    }
    let value = single_value::from_bytes(&value_type, bounds.value(entry))?;
    Ok(Some(partition.transform.human_string(&value_type, Some(&value))))
}
