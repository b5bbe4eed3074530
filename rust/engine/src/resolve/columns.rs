//! Columns of a projection in one file, resolved by field id once per file.
//!
//! Spec: Column Projection.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, StructArray};
use arrow_schema::{
    ArrowError, DataType, Field, FieldRef, Fields, Schema as ArrowSchema, SchemaRef,
};
use icefloe_format::Error as FormatError;
use icefloe_format::spec::{
    ArrowName, ArrowOptions, Datum, NestedField, PrimitiveType, Schema, Type, field_to_arrow,
    null_array, schema_to_arrow, single_value,
};
use parquet::arrow::ProjectionMask;
use parquet::schema::types::SchemaDescriptor;
use roaring::RoaringTreemap;

use super::assemble::{ColumnPlan, assemble, schema_of};
use super::convert::{conversion, decoded_type};
use super::file_columns::FileColumn;
use super::metadata_columns as reserved;
use crate::error::Result;

/// The rule that makes batches of a schema from the decoded leaves of a file.
#[derive(Debug, Clone)]
pub(crate) struct BatchPlan {
    /// Leaves to decode.
    pub(crate) leaves: BTreeSet<usize>,
    /// Arrow types to decode leaves to, where they differ from what the file suggests.
    pub(crate) decoded: HashMap<usize, DataType>,
    /// Schema of the batches.
    pub(crate) schema: SchemaRef,
    /// The file in error messages: `the Parquet file`.
    pub(crate) what: &'static str,
    columns: Vec<ColumnPlan>,
}

/// A file's columns, and the values that all of its rows share.
#[derive(Debug)]
pub(crate) struct FileFacts<'a> {
    /// The file in error messages: `the Parquet file`.
    pub(crate) what: &'static str,
    pub(crate) columns: &'a [FileColumn],
    /// The Parquet leaves; `None` for other formats.
    pub(crate) descriptor: Option<&'a SchemaDescriptor>,
    pub(crate) location: &'a str,
    pub(crate) spec_id: i32,
    /// Number of the file's task in its scan.
    pub(crate) task: i32,
    /// Values of identity-partitioned columns, by source id.
    pub(crate) identities: &'a HashMap<i32, Option<Datum>>,
    /// The partition tuple, by partition field id.
    pub(crate) partition: &'a HashMap<i32, Option<Datum>>,
    /// Positions of the rows that `_deleted` is true for.
    pub(crate) deleted: Option<&'a Arc<RoaringTreemap>>,
}

impl BatchPlan {
    /// Resolve every column of `wanted`.
    ///
    /// # Errors
    /// `Mismatch` for a column whose type in the file cannot be promoted to the table's.
    pub(crate) fn new(wanted: &Schema, facts: &FileFacts<'_>, views: bool) -> Result<Self> {
        Self::beside(wanted, facts, views, BTreeSet::new())
    }

    /// As [`BatchPlan::new`], for batches that contain these decoded leaves as well.
    ///
    /// # Errors
    /// As for [`BatchPlan::new`].
    pub(crate) fn beside(
        wanted: &Schema,
        facts: &FileFacts<'_>,
        views: bool,
        leaves: BTreeSet<usize>,
    ) -> Result<Self> {
        let options = ArrowOptions { string_views: views, ..ArrowOptions::default() };
        let mut resolver = Resolver { facts, options, leaves, decoded: HashMap::new() };
        for field in wanted.fields() {
            resolver.select(field, facts.columns);
        }
        let columns = wanted
            .fields()
            .iter()
            .map(|field| resolver.column(field, facts.columns, ""))
            .collect::<Result<_>>()?;
        let schema = Arc::new(schema_to_arrow(wanted, options));
        let Resolver { leaves, decoded, .. } = resolver;
        Ok(Self { leaves, decoded, schema, what: facts.what, columns })
    }

    /// Return the leaves as a mask over the file.
    pub(crate) fn mask(&self, descriptor: &SchemaDescriptor) -> ProjectionMask {
        ProjectionMask::leaves(descriptor, self.leaves.iter().copied())
    }

    /// Return whether physical row numbers must be decoded.
    pub(crate) fn needs_positions(&self) -> bool {
        self.columns
            .iter()
            .any(|column| matches!(column, ColumnPlan::Position | ColumnPlan::Deleted(_)))
    }

    /// Return the leaves of top-level columns whose decoded values are the column's values. Every leaf must be a top-level
    /// column.
    pub(crate) fn unconverted(&self) -> BTreeSet<usize> {
        let kept = self.columns.iter().filter_map(|column| match column {
            ColumnPlan::Leaf { index, conversion } if conversion.keeps_values() => {
                self.leaves.iter().nth(*index).copied()
            }
            _ => None,
        });
        kept.collect()
    }

    /// Make a batch of the wanted schema from a decoded one. A column that was decoded to a dictionary remains one.
    pub(crate) fn make(&self, decoded: &RecordBatch) -> Result<RecordBatch, ArrowError> {
        let rows = decoded.num_rows();
        let columns = self
            .columns
            .iter()
            .map(|column| assemble(column, decoded.columns(), rows))
            .collect::<Result<Vec<_>, _>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(schema_of(&self.schema, &columns), columns, &options)
    }
}

struct Resolver<'a> {
    facts: &'a FileFacts<'a>,
    options: ArrowOptions,
    leaves: BTreeSet<usize>,
    decoded: HashMap<usize, DataType>,
}

impl Resolver<'_> {
    /// Collect the leaves that a column needs.
    fn select(&mut self, wanted: &NestedField, siblings: &[FileColumn]) {
        let Some(column) = find(siblings, wanted.id) else { return };
        self.select_type(&wanted.field_type, column);
        // A struct without any selected field still needs a leaf for its nulls.
        self.keep_container(column);
    }

    fn select_type(&mut self, wanted: &Type, column: &FileColumn) {
        match wanted {
            Type::Primitive(PrimitiveType::Unknown) => {}
            Type::Primitive(primitive) => self.select_leaf(primitive, column),
            Type::Struct(fields) => {
                for field in &fields.fields {
                    self.select(field, &column.children);
                }
            }
            Type::List(list) => {
                self.select(&element_field(list), &column.parts(&[list.element_id]));
                self.keep_container(column);
            }
            Type::Map(map) => {
                let parts = column.parts(&[map.key_id, map.value_id]);
                map_fields(map).iter().for_each(|field| self.select(field, &parts));
                // Arrow's map always has a key and a value.
                for child in &column.children {
                    self.keep_container(child);
                }
            }
        }
    }

    fn keep_container(&mut self, column: &FileColumn) {
        if self.leaves.range(column.leaves.clone()).next().is_none() {
            column.fewest_leaves(&mut self.leaves);
        }
    }

    fn select_leaf(&mut self, wanted: &PrimitiveType, column: &FileColumn) {
        if !column.children.is_empty() {
            return;
        }
        let leaf = column.leaves.start;
        self.leaves.insert(leaf);
        if let Some(descriptor) = self.facts.descriptor.filter(|it| leaf < it.num_columns()) {
            let physical = descriptor.column(leaf).physical_type();
            let decoded = decoded_type(column.field.data_type(), physical, wanted);
            if decoded != *column.field.data_type() {
                self.decoded.insert(leaf, decoded);
            }
        }
    }

    fn column(
        &self,
        wanted: &NestedField,
        siblings: &[FileColumn],
        path: &str,
    ) -> Result<ColumnPlan> {
        if let Some(plan) = self.metadata_column(wanted)? {
            return Ok(plan);
        }
        let path =
            if path.is_empty() { wanted.name.clone() } else { format!("{path}.{}", wanted.name) };
        match find(siblings, wanted.id) {
            Some(column) => self.found(wanted, column, self.index(column, siblings), &path),
            None => self.absent(wanted, &path),
        }
    }

    /// Return the number of decoded siblings before a column.
    fn index(&self, column: &FileColumn, siblings: &[FileColumn]) -> usize {
        siblings
            .iter()
            .take_while(|sibling| sibling.leaves.start < column.leaves.start)
            .filter(|sibling| self.leaves.range(sibling.leaves.clone()).next().is_some())
            .count()
    }

    fn found(
        &self,
        wanted: &NestedField,
        column: &FileColumn,
        index: usize,
        path: &str,
    ) -> Result<ColumnPlan> {
        let target = field_to_arrow(wanted, self.options);
        match (&wanted.field_type, column.field.data_type(), target.data_type()) {
            (Type::Primitive(PrimitiveType::Unknown), _, _) => Ok(ColumnPlan::Null(DataType::Null)),
            (Type::Primitive(_), found, to) => {
                let decoded = self.decoded.get(&column.leaves.start).unwrap_or(found);
                match conversion(decoded, to) {
                    Some(conversion) => Ok(ColumnPlan::Leaf { index, conversion }),
                    None => Err(self.mismatch(wanted, found, path)),
                }
            }
            (Type::Struct(fields), DataType::Struct(_), DataType::Struct(to)) => {
                let children = fields
                    .fields
                    .iter()
                    .map(|field| self.column(field, &column.children, path))
                    .collect::<Result<_>>()?;
                Ok(ColumnPlan::Struct { index, fields: to.clone(), children })
            }
            (Type::List(list), DataType::List(_), DataType::List(to)) => {
                let parts = column.parts(&[list.element_id]);
                let child = self.column(&element_field(list), &parts, path)?;
                Ok(ColumnPlan::List { index, element: to.clone(), child: Box::new(child) })
            }
            (Type::Map(map), DataType::Map(..), DataType::Map(to, _)) => {
                let parts = column.parts(&[map.key_id, map.value_id]);
                let children = map_fields(map);
                let children = children.iter().map(|field| self.column(field, &parts, path));
                let children = children.collect::<Result<_>>()?;
                Ok(ColumnPlan::Map { index, entries: to.clone(), children })
            }
            (_, found, _) => Err(self.mismatch(wanted, found, path)),
        }
    }

    fn absent(&self, wanted: &NestedField, path: &str) -> Result<ColumnPlan> {
        let target = field_to_arrow(wanted, self.options);
        let primitive = wanted.field_type.as_primitive();
        let default = match (self.facts.identities.get(&wanted.id), primitive) {
            (Some(Some(value)), Some(_)) => return constant(value, target.data_type()),
            // A null partition value takes precedence over the default.
            (Some(None), Some(_)) => None,
            _ => wanted.initial_default.as_ref(),
        };
        if let (Some(default), Some(primitive)) = (default, primitive) {
            return constant(&single_value::from_json(&primitive, default)?, target.data_type());
        }
        if wanted.required {
            let reason = format!("required column {path} (field id {}) is absent", wanted.id);
            return Err(FormatError::corrupt(self.facts.what, reason).into());
        }
        Ok(ColumnPlan::Null(target.data_type().clone()))
    }

    fn metadata_column(&self, wanted: &NestedField) -> Result<Option<ColumnPlan>> {
        Ok(match wanted.id {
            reserved::FILE_ID => {
                let location = Datum::String(self.facts.location.to_owned());
                let target = field_to_arrow(wanted, self.options);
                Some(constant(&location, target.data_type())?)
            }
            reserved::POSITION_ID => Some(ColumnPlan::Position),
            reserved::SPEC_ID_ID => {
                Some(constant(&Datum::Int(self.facts.spec_id), &DataType::Int32)?)
            }
            reserved::TASK_ID => Some(constant(&Datum::Int(self.facts.task), &DataType::Int32)?),
            reserved::DELETED_ID => Some(match self.facts.deleted {
                Some(deleted) => ColumnPlan::Deleted(Arc::clone(deleted)),
                None => constant(&Datum::Boolean(false), &DataType::Boolean)?,
            }),
            reserved::PARTITION_ID => Some(self.partition(wanted)?),
            _ => None,
        })
    }

    /// Return the partition tuple as a struct; fields that the file's spec lacks are null. The tuple of a table without
    /// partition fields is null.
    fn partition(&self, wanted: &NestedField) -> Result<ColumnPlan> {
        let target = field_to_arrow(wanted, self.options);
        let (Type::Struct(tuple), DataType::Struct(fields)) =
            (&wanted.field_type, target.data_type())
        else {
            return Err(self.mismatch(wanted, target.data_type(), &wanted.name));
        };
        if fields.is_empty() {
            return Ok(ColumnPlan::Null(target.data_type().clone()));
        }
        let values = tuple.fields.iter().zip(fields).map(|(field, to)| {
            match self.facts.partition.get(&field.id).and_then(Option::as_ref) {
                Some(value) => constant_array(value, to.data_type()),
                None => Ok(null_array(to.data_type(), 1)?),
            }
        });
        let values = values.collect::<Result<_>>()?;
        let tuple = StructArray::try_new(fields.clone(), values, None)
            .map_err(|error| FormatError::invalid("partition", error.to_string()))?;
        Ok(ColumnPlan::Constant(Arc::new(tuple)))
    }

    fn mismatch(&self, wanted: &NestedField, found: &DataType, path: &str) -> crate::Error {
        let expected = match &wanted.field_type {
            Type::Primitive(primitive) => primitive.to_string(),
            Type::Struct(_) => "a struct".into(),
            Type::List(_) => "a list".into(),
            Type::Map(_) => "a map".into(),
        };
        FormatError::Mismatch {
            column: path.to_owned(),
            found: ArrowName(found).to_string(),
            expected,
        }
        .into()
    }
}

fn find(siblings: &[FileColumn], id: i32) -> Option<&FileColumn> {
    siblings.iter().find(|column| column.id == Some(id))
}

pub(crate) fn element_field(list: &icefloe_format::spec::ListType) -> NestedField {
    let element = list.element.clone();
    if list.element_required {
        NestedField::required(list.element_id, "element", element)
    } else {
        NestedField::optional(list.element_id, "element", element)
    }
}

pub(crate) fn map_fields(map: &icefloe_format::spec::MapType) -> [NestedField; 2] {
    let value = if map.value_required {
        NestedField::required(map.value_id, "value", map.value.clone())
    } else {
        NestedField::optional(map.value_id, "value", map.value.clone())
    };
    [NestedField::required(map.key_id, "key", map.key.clone()), value]
}

fn constant(value: &Datum, target: &DataType) -> Result<ColumnPlan> {
    constant_array(value, target).map(ColumnPlan::Constant)
}

fn constant_array(value: &Datum, target: &DataType) -> Result<ArrayRef> {
    let array = value.to_array()?;
    Ok(arrow_cast::cast(&array, target)
        .map_err(|error| FormatError::invalid("constant column", error.to_string()))?)
}

/// Return the natural schema of a file with some leaves decoded to other types.
pub(crate) fn decoded_schema(
    natural: &ArrowSchema,
    columns: &[FileColumn],
    decoded: &HashMap<usize, DataType>,
) -> ArrowSchema {
    let fields: Fields = columns.iter().map(|column| decoded_field(column, decoded)).collect();
    ArrowSchema::new_with_metadata(fields, natural.metadata().clone())
}

fn decoded_field(column: &FileColumn, decoded: &HashMap<usize, DataType>) -> FieldRef {
    let children: Vec<_> =
        column.children.iter().map(|child| decoded_field(child, decoded)).collect();
    let data_type = match (column.field.data_type(), children.as_slice()) {
        (DataType::Struct(_), _) => DataType::Struct(children.into()),
        (DataType::List(_), [element]) => DataType::List(element.clone()),
        (DataType::Map(entries, sorted), [_, _]) => {
            let entries = Field::clone(entries).with_data_type(DataType::Struct(children.into()));
            DataType::Map(Arc::new(entries), *sorted)
        }
        (natural, _) => decoded.get(&column.leaves.start).unwrap_or(natural).clone(),
    };
    Arc::new(Field::clone(&column.field).with_data_type(data_type))
}
