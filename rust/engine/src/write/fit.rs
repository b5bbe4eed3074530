//! Fitting data to a table: matching columns by name and casting them.
//!
//! Columns and struct fields are matched by name, in any order. Values are only cast to types that hold exactly the
//! same value; other data is refused with the column's full name, its type and the expected type. Types are checked
//! once, before anything is written; nulls in required columns and values that a cast would change are checked batch by
//! batch.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Field, Fields, Schema as ArrowSchema, SchemaRef};
use icefloe_format::Error;
use icefloe_format::Result;
use icefloe_format::spec::{ArrowName, NestedField, Schema, Type, null_array};

use super::cast::{casts_to, mismatch};
use super::part::{Part, Step};

/// The conversion of batches of an Arrow schema to batches of a table's columns in order.
#[derive(Debug)]
pub struct Fit {
    columns: Vec<(Option<usize>, Part)>,
    schema: SchemaRef,
}

impl Fit {
    /// Match an Arrow schema with a table's schema.
    ///
    /// # Errors
    /// `Mismatch` for a column that the table lacks, a required column that the data lacks, and a
    /// type whose values the table's type cannot hold exactly.
    pub fn new(data: &ArrowSchema, table: &Schema) -> Result<Self> {
        let columns = match_fields(data.fields(), table.fields(), "")?;
        let fields = columns.iter().zip(table.fields()).map(|((_, part), field)| {
            Field::new(&field.name, part.data_type.clone(), !field.required)
        });
        let schema = Arc::new(ArrowSchema::new(fields.collect::<Fields>()));
        Ok(Self { columns, schema })
    }

    /// Return the Arrow schema of fitted batches: the table's columns in order, required ones not nullable.
    /// String and binary columns keep the layout of the data (views, dictionaries, wide offsets).
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Return the batch as columns of the table.
    ///
    /// # Errors
    /// `Mismatch` for a null in a required column and for a value that cannot be held exactly.
    pub fn apply(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let columns = self.columns.iter().map(|(position, part)| {
            let column = match position {
                Some(position) => part.fit(batch.column(*position))?,
                None => null_array(&part.data_type, batch.num_rows())?,
            };
            part.check_nulls(&column, None)?;
            Ok(column)
        });
        let columns: Vec<ArrayRef> = columns.collect::<Result<_>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)
            .map_err(|error| Error::invalid("data", error.to_string()))
    }
}

/// Return the parts of a struct or of a table, each with its position in the data.
fn match_fields(
    data: &Fields,
    table: &[NestedField],
    parent: &str,
) -> Result<Vec<(Option<usize>, Part)>> {
    for (position, field) in data.iter().enumerate() {
        let name = full_name(parent, field.name());
        if !table.iter().any(|known| known.name == *field.name()) {
            let known: Vec<_> = table.iter().map(|known| known.name.as_str()).collect();
            let expected = format!("only columns of the table ({})", known.join(", "));
            return Err(mismatch(&name, "a column that the table does not have", expected));
        }
        if data.iter().take(position).any(|earlier| earlier.name() == field.name()) {
            return Err(mismatch(&name, "two columns of this name", "one column"));
        }
    }
    table.iter().map(|field| match_field(data, field, parent)).collect()
}

fn match_field(data: &Fields, field: &NestedField, parent: &str) -> Result<(Option<usize>, Part)> {
    let name = full_name(parent, &field.name);
    if let Some((position, found)) = data.find(&field.name) {
        return Ok((Some(position), part(found.data_type(), field, name)?));
    }
    if field.write_default.is_some() {
        let feature = format!("the write default of column {name}");
        return Err(Error::unsupported(feature));
    }
    if field.required {
        let expected = format!("a required {}", field.field_type);
        return Err(mismatch(&name, "no such column", expected));
    }
    let step = part(&DataType::Null, field, name)?;
    Ok((None, Part { step: Step::Absent, ..step }))
}

fn part(found: &DataType, field: &NestedField, name: String) -> Result<Part> {
    node(found, &field.field_type, field.required, name)
}

fn node(found: &DataType, wanted: &Type, required: bool, name: String) -> Result<Part> {
    let (data_type, step) = match wanted {
        Type::Primitive(primitive) => {
            let (data_type, casts) = casts_to(found, primitive, &name)?;
            (data_type, Step::Casts(casts))
        }
        Type::Struct(inner) => match found {
            DataType::Struct(fields) => {
                let parts = match_fields(fields, &inner.fields, &name)?;
                let fields = parts.iter().zip(&inner.fields).map(|((_, part), field)| {
                    Field::new(&field.name, part.data_type.clone(), !field.required)
                });
                (DataType::Struct(fields.collect()), Step::Struct(parts))
            }
            DataType::Null => (null_struct(&inner.fields, &name)?, Step::Absent),
            _ => return Err(refused(found, wanted, &name)),
        },
        Type::List(list) => list_node(found, list, wanted, &name)?,
        Type::Map(map) => map_node(found, map, wanted, &name)?,
    };
    Ok(Part { name, required, data_type, step })
}

fn list_node(
    found: &DataType,
    list: &icefloe_format::spec::ListType,
    wanted: &Type,
    name: &str,
) -> Result<(DataType, Step)> {
    let (element, container, wide) = match found {
        DataType::List(element) => (element.data_type(), None, false),
        DataType::LargeList(element) => (element.data_type(), None, true),
        DataType::FixedSizeList(element, _) | DataType::ListView(element) => {
            (element.data_type(), Some(DataType::List(Arc::clone(element))), false)
        }
        DataType::LargeListView(element) => {
            (element.data_type(), Some(DataType::LargeList(Arc::clone(element))), true)
        }
        DataType::Null => (found, None, false),
        _ => return Err(refused(found, wanted, name)),
    };
    let part = node(element, &list.element, list.element_required, format!("{name}.element"))?;
    let field = Arc::new(Field::new("element", part.data_type.clone(), !list.element_required));
    let data_type = if wide { DataType::LargeList(field) } else { DataType::List(field) };
    if *found == DataType::Null {
        return Ok((data_type, Step::Absent));
    }
    Ok((data_type, Step::List(container, Box::new(part))))
}

fn map_node(
    found: &DataType,
    map: &icefloe_format::spec::MapType,
    wanted: &Type,
    name: &str,
) -> Result<(DataType, Step)> {
    let (key, value) = match found {
        DataType::Map(entries, _) => match entries.data_type() {
            DataType::Struct(fields) => match fields.as_ref() {
                [key, value] => (key.data_type(), value.data_type()),
                _ => return Err(refused(found, wanted, name)),
            },
            _ => return Err(refused(found, wanted, name)),
        },
        DataType::Null => (found, found),
        _ => return Err(refused(found, wanted, name)),
    };
    let key = node(key, &map.key, true, format!("{name}.key"))?;
    let value = node(value, &map.value, map.value_required, format!("{name}.value"))?;
    let entries = Fields::from(vec![
        Field::new("key", key.data_type.clone(), false),
        Field::new("value", value.data_type.clone(), !map.value_required),
    ]);
    let entries = Arc::new(Field::new("key_value", DataType::Struct(entries), false));
    let data_type = DataType::Map(entries, false);
    if *found == DataType::Null {
        return Ok((data_type, Step::Absent));
    }
    Ok((data_type, Step::Map(Box::new(key), Box::new(value))))
}

/// Return the type of a struct that is null in every row: its required fields need no value.
fn null_struct(fields: &[NestedField], name: &str) -> Result<DataType> {
    let fields = fields.iter().map(|field| {
        let part = part(&DataType::Null, field, full_name(name, &field.name))?;
        Ok(Field::new(&field.name, part.data_type, !field.required))
    });
    Ok(DataType::Struct(fields.collect::<Result<Fields>>()?))
}

fn refused(found: &DataType, wanted: &Type, name: &str) -> Error {
    mismatch(name, ArrowName(found).to_string(), wanted.to_string())
}

fn full_name(parent: &str, name: &str) -> String {
    if parent.is_empty() { name.to_owned() } else { format!("{parent}.{name}") }
}
