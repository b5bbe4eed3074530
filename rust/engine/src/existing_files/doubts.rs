//! Fields of the table whose values in an existing file may not fit, by the file's statistics.

use std::collections::HashMap;

use arrow_schema::{DataType, TimeUnit};
use icefloe_format::Error as FormatError;
use icefloe_format::spec::{
    ArrowName, Datum, ListType, MapType, NestedField, PrimitiveType, Schema, StructType, Type,
    decimal,
};

use super::statistics::FileStatistics;
use crate::error::Result;
use crate::resolve::columns::{element_field, map_fields};
use crate::resolve::file_columns::FileColumn;

/// The advice that follows a refusal of nulls.
const NULLS: &str = "nulls; replace them in the file, or make the field optional";

/// A field whose values must be decoded to decide whether they fit the table.
#[derive(Debug)]
pub(super) struct Doubt {
    /// Full name of the field.
    name: String,
    /// The values that the file may have.
    found: String,
    /// The values that the table requires.
    expected: String,
    /// The top-level column narrowed to the field; the fields around it are optional.
    pub(super) column: NestedField,
    /// Whether the values that do not fit cannot be decoded as stored either.
    pub(super) fails_as_stored: bool,
}

impl Doubt {
    /// Return the error of a file that has values which do not fit.
    pub(super) fn mismatch(&self) -> FormatError {
        FormatError::Mismatch {
            column: self.name.clone(),
            found: self.found.clone(),
            expected: self.expected.clone(),
        }
    }

    /// Return the doubt as one of the column around the field.
    fn within(self, field: &NestedField, field_type: impl FnOnce(NestedField) -> Type) -> Self {
        let column = NestedField::optional(field.id, &field.name, field_type(self.column));
        Self { column, ..self }
    }
}

/// The facts about a file that decide whether its values fit.
pub(super) struct Evidence<'a> {
    pub(super) statistics: &'a dyn FileStatistics,
    /// Values of identity-partitioned columns, by source id.
    pub(super) identities: &'a HashMap<i32, Option<Datum>>,
}

/// The fields around a field.
struct Surroundings {
    /// Full name of the innermost one; empty for a top-level column.
    name: String,
    /// Whether every row has exactly one value there: no optional, list or map field is around.
    is_in_every_row: bool,
}

impl Surroundings {
    fn name_of(&self, field: &NestedField) -> String {
        match self.name.as_str() {
            "" => field.name.clone(),
            name => format!("{name}.{}", field.name),
        }
    }
}

impl Evidence<'_> {
    /// Return the fields of a schema whose values the statistics do not show to fit, inner fields first.
    ///
    /// # Errors
    /// `Mismatch` naming a required field that the file lacks, or whose nulls the file counts.
    pub(super) fn doubts(&self, columns: &[FileColumn], schema: &Schema) -> Result<Vec<Doubt>> {
        let around = Surroundings { name: String::new(), is_in_every_row: true };
        let mut doubts = Vec::new();
        for field in schema.fields() {
            doubts.extend(self.of_field(field, columns, &around)?);
        }
        // A file without rows has no values.
        if self.statistics.rows() == 0 {
            doubts.clear();
        }
        Ok(doubts)
    }

    fn of_field(
        &self,
        field: &NestedField,
        siblings: &[FileColumn],
        around: &Surroundings,
    ) -> Result<Vec<Doubt>> {
        let name = around.name_of(field);
        let Some(column) = siblings.iter().find(|column| column.id == Some(field.id)) else {
            return self.check_absent(field, name).map(|()| vec![]);
        };
        let is_in_every_row = around.is_in_every_row && !column.field.is_nullable();
        let here = Surroundings { name, is_in_every_row };
        let mut doubts = self.inside(field, column, &here)?;
        if field.required && column.field.is_nullable() {
            doubts.extend(self.nulls(field, column, (around, here.name))?);
        }
        Ok(doubts)
    }

    /// Return the doubts about the values of a field, and about the fields within it.
    fn inside(
        &self,
        field: &NestedField,
        column: &FileColumn,
        here: &Surroundings,
    ) -> Result<Vec<Doubt>> {
        let mut doubts = Vec::new();
        match (&field.field_type, column.field.data_type()) {
            (Type::Primitive(wanted), _) => {
                self.check_times(wanted, column, here)?;
                self.check_zone(wanted, column, here)?;
                doubts.extend(self.values(field, wanted, column, here));
            }
            (Type::Struct(fields), DataType::Struct(_)) => {
                for inner in &fields.fields {
                    let found = self.of_field(inner, &column.children, here)?;
                    doubts.extend(found.into_iter().map(|doubt| doubt.within(field, struct_of)));
                }
            }
            (Type::List(list), DataType::List(_)) => {
                let here = Surroundings { name: here.name.clone(), is_in_every_row: false };
                let parts = column.parts(&[list.element_id]);
                let found = self.of_field(&element_field(list), &parts, &here)?;
                doubts.extend(found.into_iter().map(|doubt| doubt.within(field, list_of)));
            }
            (Type::Map(map), DataType::Map(..)) => {
                let here = Surroundings { name: here.name.clone(), is_in_every_row: false };
                let parts = column.parts(&[map.key_id, map.value_id]);
                let [key, value] = map_fields(map);
                let mut found = self.of_field(&key, &parts, &here)?;
                found.extend(self.null_keys(&key, &parts, &here)?);
                let of_key = |key| map_of(key, ignored(&value));
                doubts.extend(found.into_iter().map(|doubt| doubt.within(field, of_key)));
                let found = self.of_field(&value, &parts, &here)?;
                let of_value = |value| map_of(key.clone(), value);
                doubts.extend(found.into_iter().map(|doubt| doubt.within(field, of_value)));
            }
            // The types do not fit, which resolving the columns refuses.
            _ => {}
        }
        Ok(doubts)
    }

    /// Check that the statistics of a time column have times of a day alone. A scan returns values outside a day as they
    /// are, so that decoding them would not refuse them.
    fn check_times(
        &self,
        wanted: &PrimitiveType,
        column: &FileColumn,
        here: &Surroundings,
    ) -> Result<()> {
        let units = match (wanted, column.field.data_type()) {
            (PrimitiveType::Time, DataType::Time32(TimeUnit::Millisecond)) => 1_000,
            (PrimitiveType::Time, DataType::Time64(TimeUnit::Nanosecond)) => 1_000_000_000,
            (PrimitiveType::Time, _) => 1_000_000,
            _ => return Ok(()),
        };
        if !self.statistics.has_times_outside_a_day(column, units) {
            return Ok(());
        }
        let natural = ArrowName(column.field.data_type());
        let found = format!("{natural} with times outside a day; correct them in the file");
        let expected = wanted.to_string();
        Err(FormatError::Mismatch { column: here.name.clone(), found, expected }.into())
    }

    /// Check that timestamps have a zone if and only if the table's have one, in a format in which the zone of the writer
    /// makes timestamps without zone other instants.
    fn check_zone(
        &self,
        wanted: &PrimitiveType,
        column: &FileColumn,
        here: &Surroundings,
    ) -> Result<()> {
        let wants_zone = match wanted {
            PrimitiveType::Timestamp | PrimitiveType::TimestampNs => false,
            PrimitiveType::Timestamptz | PrimitiveType::TimestamptzNs => true,
            _ => return Ok(()),
        };
        let DataType::Timestamp(_, zone) = column.field.data_type() else { return Ok(()) };
        if !self.statistics.has_local_timestamps() || wants_zone == zone.is_some() {
            return Ok(());
        }
        let [found, other] = match zone {
            Some(_) => ["timestamps with a zone", "timestamptz"],
            None => ["timestamps without a zone", "timestamp"],
        };
        let found = format!("{found}; make the field {other}, or rewrite the file");
        let expected = wanted.to_string();
        Err(FormatError::Mismatch { column: here.name.clone(), found, expected }.into())
    }

    /// Return the doubt about the values of a primitive field, whose nulls are no matter.
    fn values(
        &self,
        field: &NestedField,
        wanted: &PrimitiveType,
        column: &FileColumn,
        here: &Surroundings,
    ) -> Option<Doubt> {
        let reason = self.misfit(wanted, column)?;
        if self.fits_by_bounds(wanted, column) {
            return None;
        }
        let natural = ArrowName(column.field.data_type());
        Some(Doubt {
            name: here.name.clone(),
            found: format!("{natural} with {reason}; rewrite the file in the table's type"),
            expected: wanted.to_string(),
            column: NestedField::optional(field.id, &field.name, field.field_type.clone()),
            fails_as_stored: false,
        })
    }

    /// Return the values of a column's type that the table's type does not have; `None` if it has all.
    fn misfit(&self, wanted: &PrimitiveType, column: &FileColumn) -> Option<String> {
        use PrimitiveType as P;
        match (column.field.data_type(), wanted) {
            (DataType::Binary, P::String) if !self.statistics.is_text(column) => {
                Some("values that are not UTF-8".into())
            }
            (DataType::Binary, P::Fixed(_) | P::Uuid) => Some("values of another length".into()),
            (
                DataType::Decimal128(found, _) | DataType::Decimal256(found, _),
                P::Decimal { precision, .. },
            ) if found > precision => Some(format!("values of more than {precision} digits")),
            (DataType::Timestamp(TimeUnit::Millisecond, _), P::Timestamp | P::Timestamptz) => {
                Some("times that 64 bits of microseconds do not hold".into())
            }
            _ => None,
        }
    }

    /// Return whether the least and the greatest value of a column fit.
    fn fits_by_bounds(&self, wanted: &PrimitiveType, column: &FileColumn) -> bool {
        if !self.statistics.has_exact_bounds(column) {
            return false;
        }
        let fits = |bound: &Datum| match bound {
            Datum::Decimal { unscaled, precision, .. } => decimal::fits(*unscaled, *precision),
            // Conversion of the bound to the table's unit has not overflowed.
            Datum::Timestamp(_) | Datum::Timestamptz(_) => true,
            _ => false,
        };
        self.statistics
            .bounds(column, wanted)
            .is_some_and(|(lower, upper)| fits(&lower) && fits(&upper))
    }

    /// Return the doubt about the nulls of a required field whose column is optional in the file.
    ///
    /// # Errors
    /// `Mismatch` if the file counts nulls of the field.
    fn nulls(
        &self,
        field: &NestedField,
        column: &FileColumn,
        (around, name): (&Surroundings, String),
    ) -> Result<Option<Doubt>> {
        if self.has_leaf_without_nulls(column) {
            return Ok(None);
        }
        let expected = format!("a required {}", type_name(&field.field_type));
        if around.is_in_every_row
            && column.children.is_empty()
            && let Some(nulls @ 1..) = self.statistics.null_count(column)
        {
            let found = format!("{nulls} {NULLS}");
            return Err(FormatError::Mismatch { column: name, found, expected }.into());
        }
        let narrow = NestedField::required(field.id, &field.name, narrowed(&field.field_type));
        let found = NULLS.to_owned();
        Ok(Some(Doubt { name, found, expected, column: narrow, fails_as_stored: false }))
    }

    /// Return the doubt about the nulls of a map's keys, which some writers declare optional. Arrow has no optional keys.
    fn null_keys(
        &self,
        key: &NestedField,
        parts: &[FileColumn],
        here: &Surroundings,
    ) -> Result<Option<Doubt>> {
        let is_optional = |column: &&FileColumn| {
            column.id == Some(key.id)
                && column.children.is_empty()
                && self.statistics.may_have_null_keys(column)
        };
        let Some(column) = parts.iter().find(is_optional) else { return Ok(None) };
        let doubt = self.nulls(key, column, (here, here.name_of(key)))?;
        let found = "nulls, which keys of maps cannot be; replace them in the file";
        Ok(doubt.map(|doubt| Doubt { found: found.to_owned(), fails_as_stored: true, ..doubt }))
    }

    /// Return whether the file counts no null in a leaf that is a column itself or reached from the column through
    /// structs only. Such a leaf is null wherever the column is null. Within a list or a map it may be that writers do
    /// not count the nulls around.
    fn has_leaf_without_nulls(&self, column: &FileColumn) -> bool {
        match column.field.data_type() {
            DataType::Struct(_) => {
                column.children.iter().any(|child| self.has_leaf_without_nulls(child))
            }
            DataType::List(_) | DataType::Map(..) => false,
            _ => self.statistics.null_count(column) == Some(0),
        }
    }

    /// Check that an absent field has a value in every row, or may be null.
    fn check_absent(&self, field: &NestedField, name: String) -> Result<()> {
        let has_value = match self.identities.get(&field.id) {
            Some(partition) => partition.is_some(),
            None => field.initial_default.is_some(),
        };
        if !field.required || (has_value && field.field_type.as_primitive().is_some()) {
            return Ok(());
        }
        let expected = format!("required column {name}");
        let found = "a file without it; add the column to the file, or make the field optional";
        Err(FormatError::Mismatch { column: name, found: found.to_owned(), expected }.into())
    }
}

/// Return a type without the fields within it, from which nulls of a field of this type can be decoded.
fn narrowed(field_type: &Type) -> Type {
    match field_type {
        Type::Primitive(_) => field_type.clone(),
        Type::Struct(_) => StructType::default().into(),
        Type::List(list) => list_of(ignored(&element_field(list))),
        Type::Map(map) => {
            let [key, value] = map_fields(map);
            map_of(key, ignored(&value))
        }
    }
}

/// Return a field whose values are not decoded.
fn ignored(field: &NestedField) -> NestedField {
    NestedField::optional(field.id, &field.name, PrimitiveType::Unknown)
}

fn struct_of(field: NestedField) -> Type {
    Type::Struct(StructType { fields: vec![field] })
}

fn list_of(element: NestedField) -> Type {
    Type::List(Box::new(ListType {
        element_id: element.id,
        element_required: element.required,
        element: element.field_type,
    }))
}

fn map_of(key: NestedField, value: NestedField) -> Type {
    Type::Map(Box::new(MapType {
        key_id: key.id,
        key: key.field_type,
        value_id: value.id,
        value_required: value.required,
        value: value.field_type,
    }))
}

fn type_name(field_type: &Type) -> String {
    match field_type {
        Type::Primitive(primitive) => primitive.to_string(),
        Type::Struct(_) => "struct".into(),
        Type::List(_) => "list".into(),
        Type::Map(_) => "map".into(),
    }
}
