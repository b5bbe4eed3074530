//! Encoding of manifests from columns.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Int32Array, Int64Array, StructArray};
use arrow_schema::{Field, Fields};

use super::entries::{ADDED, ManifestColumns, invalid};
use super::fields::{ENTRY_RECORD, written_entry};
use super::partition::typed_by_columns;
use super::summary::{ManifestSummary, summarise};
use crate::avro::iceberg_schema::record_schema;
use crate::avro::{ContainerWriter, RowEncoder};
use crate::codec::Codec;
use crate::spec::types::{NestedField, StructType, Type};
use crate::spec::{
    PartitionSpec, PrimitiveType, Schema, Transform, null_array, primitive_to_arrow,
    same_legal_name,
};
use crate::{Error, Result};

/// The block size that version 1 requires and readers ignore, with the value of the reference implementation.
const BLOCK_SIZE_IN_BYTES: i64 = 64 * 1024 * 1024;

/// The kind of files in a manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ManifestContent {
    /// Data files.
    Data,
    /// Delete files, by position or by equality.
    Deletes,
}

/// Options of encoding a manifest.
#[derive(Debug, Clone)]
pub struct EncodeOptions<'a> {
    /// 1 or 2.
    pub format_version: u8,
    /// The kind of files.
    pub content: ManifestContent,
    /// The table's current schema, for the header.
    pub schema: &'a Schema,
    /// The spec of the entries, for the header.
    pub spec: &'a PartitionSpec,
    /// Type of the tuples; see [`written_partition_type`](PartitionSpec::written_partition_type).
    pub partition_type: &'a StructType,
    /// The snapshot id of added and deleted entries that have none.
    pub snapshot_id: i64,
    /// Block compression.
    pub codec: Codec,
    /// The synchronisation marker.
    pub sync: [u8; 16],
}

/// An encoded manifest and its summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedManifest {
    /// The whole file.
    pub bytes: Vec<u8>,
    /// Counts and ranges.
    pub summary: ManifestSummary,
}

impl ManifestContent {
    /// Return the code in manifest lists: 0 or 1.
    pub fn code(self) -> i32 {
        match self {
            Self::Data => 0,
            Self::Deletes => 1,
        }
    }

    /// Return the content with a code.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a code other than 0 and 1.
    pub fn from_code(code: i32) -> Result<Self> {
        match code {
            0 => Ok(Self::Data),
            1 => Ok(Self::Deletes),
            _ => Err(Error::invalid("content", format!("{code} is neither 0 nor 1"))),
        }
    }
}

/// Encode entries, all of one spec, as a manifest.
///
/// Sequence numbers are written as they are: null means that the entry inherits.
///
/// # Errors
/// [`Error::InvalidArgument`] if a required value is null, an entry is of the other content, an
/// entry that is not added has no sequence number, or version 1 is to hold deletes;
/// [`Error::Unsupported`] for other format versions, and for two partition fields of the same name in Avro.
pub fn encode_manifest(
    columns: &ManifestColumns,
    options: &EncodeOptions<'_>,
) -> Result<EncodedManifest> {
    if !(1..=2).contains(&options.format_version) {
        let feature = format!("writing manifests of format version {}", options.format_version);
        return Err(Error::unsupported(feature));
    }
    check_content(columns, options)?;
    check_unique_names(options.spec)?;
    let columns = with_snapshot_id(columns, options)?;
    let columns = &columns.with_void_columns(options.spec, options.partition_type)?;
    check_sequence_numbers(columns, options)?;
    let partition_type = typed_by_columns(options.partition_type, &columns.partition);
    let fields = written_entry(options.format_version, &partition_type);
    let arrays = arrays(columns, &fields)?;
    let encoder = RowEncoder::compile(&fields, &arrays)?;
    let schema = record_schema(ENTRY_RECORD, &fields).to_string();
    let metadata = metadata(options, fields);
    let mut writer = ContainerWriter::new(&schema, &metadata, options.codec, options.sync);
    for row in 0..columns.len() {
        writer.record(|out| encoder.encode(row, out))?;
    }
    let summary = summarise(columns, &partition_type)?;
    Ok(EncodedManifest { bytes: writer.finish()?, summary })
}

/// Return the header, by which a reader without the table's metadata interprets the entries.
fn metadata(options: &EncodeOptions<'_>, fields: StructType) -> Vec<(&'static str, String)> {
    let own = Schema::new(0, fields.fields, vec![]);
    let content = match options.content {
        ManifestContent::Data => "data",
        ManifestContent::Deletes => "deletes",
    };
    vec![
        ("schema", options.schema.to_json()),
        ("schema-id", options.schema.schema_id().to_string()),
        ("partition-spec", options.spec.fields_to_json()),
        ("partition-spec-id", options.spec.spec_id.to_string()),
        ("format-version", options.format_version.to_string()),
        ("content", content.to_owned()),
        ("iceberg.schema", own.to_json()),
    ]
}

fn check_content(columns: &ManifestColumns, options: &EncodeOptions<'_>) -> Result<()> {
    if options.format_version == 1 && options.content == ManifestContent::Deletes {
        return Err(Error::invalid("content", "tables of format version 1 hold no delete files"));
    }
    let fits = |content: i32| match options.content {
        ManifestContent::Data => content == 0,
        ManifestContent::Deletes => content == 1 || content == 2,
    };
    let contents = columns.ints("content")?;
    match contents.iter().flatten().find(|content| !fits(*content)) {
        Some(content) => {
            let reason = format!("{content} has no place in a manifest of {:?}", options.content);
            Err(Error::invalid("content", reason))
        }
        None => Ok(()),
    }
}

/// Refuse a spec with two fields whose legal names in Avro are the same: Avro libraries do not read such a schema.
fn check_unique_names(spec: &PartitionSpec) -> Result<()> {
    match same_legal_name(spec.fields.iter().map(|field| field.name.as_str())) {
        Some((other, name, legal)) => Err(Error::unsupported(format!(
            "writing partition fields {other} and {name} to one manifest, where both have the name {legal},"
        ))),
        None => Ok(()),
    }
}

/// The reason of a refusal: an entry of an earlier snapshot cannot inherit the value of this one.
const MISSING_IN_EXISTING: &str =
    "an existing entry has null; expected the value that it was added with";

/// Set the snapshot id of added and deleted entries that have none to this snapshot's.
fn with_snapshot_id(
    columns: &ManifestColumns,
    options: &EncodeOptions<'_>,
) -> Result<ManifestColumns> {
    let (statuses, ids) = (columns.statuses()?, columns.longs("snapshot_id")?);
    if ids.null_count() == 0 {
        return Ok(columns.clone());
    }
    let pairs = statuses.iter().zip(ids);
    if pairs.clone().any(|(status, id)| status == Some(super::entries::EXISTING) && id.is_none()) {
        return Err(Error::invalid("snapshot_id", MISSING_IN_EXISTING));
    }
    let filled = pairs.map(|(_, id)| id.or(Some(options.snapshot_id))).collect::<Int64Array>();
    columns.with_columns(vec![("snapshot_id", Arc::new(filled))])
}

impl ManifestColumns {
    /// Replace the columns of `void` fields by nulls of the type to write: manifests of other writers may have another
    /// type, and so have older ones if the source column was promoted since.
    ///
    /// # Errors
    /// None for columns of this crate.
    pub fn with_void_columns(
        mut self,
        spec: &PartitionSpec,
        partition_type: &StructType,
    ) -> Result<Self> {
        let fields = spec.fields.iter().zip(&partition_type.fields);
        let void_types = fields.map(|(field, value)| {
            let value_type =
                value.field_type.as_primitive().filter(|it| *it != PrimitiveType::Unknown);
            value_type.filter(|_| field.transform == Transform::Void)
        });
        let void_types: Vec<Option<PrimitiveType>> = void_types.collect();
        if void_types.iter().all(Option::is_none) {
            return Ok(self);
        }
        let (fields, arrays, nulls) = self.partition.into_parts();
        let rows = self.entries.num_rows();
        let tuples =
            fields.iter().zip(arrays).zip(void_types).map(|((field, array), value_type)| {
                let array = match value_type {
                    Some(value_type) => null_array(&primitive_to_arrow(&value_type), rows)?,
                    None => array,
                };
                Ok((Field::new(field.name(), array.data_type().clone(), true), array))
            });
        let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) =
            tuples.collect::<Result<Vec<_>>>()?.into_iter().unzip();
        let tuples = StructArray::try_new_with_length(fields.into(), arrays, nulls, rows);
        self.partition = tuples.map_err(|error| invalid(&error))?;
        Ok(self)
    }
}

/// Check that only added entries lack a sequence number: other entries cannot inherit theirs.
/// Deleted entries are forgiven, since old writers left none to copy.
fn check_sequence_numbers(columns: &ManifestColumns, options: &EncodeOptions<'_>) -> Result<()> {
    let (statuses, numbers) = (columns.statuses()?, columns.longs("sequence_number")?);
    let mut pairs = statuses.iter().zip(numbers);
    let lacking = |(status, number): (Option<i32>, Option<i64>)| {
        status == Some(super::entries::EXISTING) && number.is_none()
    };
    if options.format_version > 1 && pairs.any(lacking) {
        return Err(Error::invalid("sequence_number", MISSING_IN_EXISTING));
    }
    let files = columns.longs("file_sequence_number")?;
    let explicit =
        |(status, file): (Option<i32>, Option<i64>)| status == Some(ADDED) && file.is_some();
    if options.format_version > 1 && statuses.iter().zip(files).any(explicit) {
        let reason =
            "the number of an added entry is set; expected null, since the entry inherits it";
        return Err(Error::invalid("file_sequence_number", reason));
    }
    Ok(())
}

/// Return the arrays of `fields` in order; struct fields are assembled from the flat columns.
fn arrays(columns: &ManifestColumns, fields: &StructType) -> Result<Vec<ArrayRef>> {
    let array = |field: &NestedField| -> Result<ArrayRef> {
        match (field.name.as_str(), &field.field_type) {
            ("partition", _) => Ok(Arc::new(columns.partition.clone())),
            ("block_size_in_bytes", _) => {
                Ok(Arc::new(Int64Array::from(vec![BLOCK_SIZE_IN_BYTES; columns.len()])))
            }
            (_, Type::Struct(inner)) => {
                let parts = arrays(columns, inner)?;
                let named = inner.fields.iter().zip(&parts);
                let named = named.map(|(f, a)| Field::new(&f.name, a.data_type().clone(), true));
                let named = named.collect::<Fields>();
                let array = StructArray::try_new(named, parts, None);
                Ok(Arc::new(array.map_err(|error| invalid(&error))?))
            }
            (name, _) => columns.column(name).cloned(),
        }
    };
    fields.fields.iter().map(array).collect()
}

/// Return the `spec_id` that all entries have; `None` if there are no entries.
///
/// # Errors
/// [`Error::InvalidArgument`] if they differ.
pub fn single_spec_id(columns: &ManifestColumns) -> Result<Option<i32>> {
    let ids: &Int32Array = columns.ints("spec_id")?;
    let mut distinct = ids.iter().flatten();
    let Some(first) = distinct.next() else { return Ok(None) };
    match distinct.find(|id| *id != first) {
        Some(other) => Err(Error::invalid("spec_id", format!("both {first} and {other}"))),
        None => Ok(Some(first)),
    }
}
