//! Selection of columns of a schema.

use super::schema::Schema;
use super::types::{NestedField, StructType, Type};

impl Schema {
    /// Return the schema of the fields with the given ids and of the structs around them; a selected struct, list or map keeps
    /// all that it holds. Fields keep their order, names and nullability. Unless every field is selected, the result has schema
    /// id 0 and no identifier fields, as in the Java reference.
    ///
    /// ```
    /// use icefloe_format::spec::{NestedField, PrimitiveType, Schema};
    /// let id = NestedField::required(1, "id", PrimitiveType::Long);
    /// let name = NestedField::optional(2, "name", PrimitiveType::String);
    /// let schema = Schema::new(3, vec![id.clone(), name], vec![]);
    /// assert_eq!(schema.select(&[1]), Schema::new(0, vec![id], vec![]));
    /// ```
    #[must_use]
    pub fn select(&self, field_ids: &[i32]) -> Self {
        let fields = selected(self.fields(), field_ids);
        if fields == self.fields() { self.clone() } else { Self::new(0, fields, vec![]) }
    }
}

fn selected(fields: &[NestedField], field_ids: &[i32]) -> Vec<NestedField> {
    let found = fields.iter().filter_map(|field| {
        if field_ids.contains(&field.id) {
            return Some(field.clone());
        }
        let Type::Struct(inner) = &field.field_type else { return None };
        let below = selected(&inner.fields, field_ids);
        let field_type = Type::Struct(StructType { fields: below });
        let is_empty = matches!(&field_type, Type::Struct(inner) if inner.fields.is_empty());
        (!is_empty).then(|| NestedField { field_type, ..field.clone() })
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::types::PrimitiveType;

    fn nested() -> Schema {
        let inner = vec![
            NestedField::required(3, "x", PrimitiveType::Int),
            NestedField::optional(4, "y", PrimitiveType::Int),
        ];
        let point = Type::Struct(StructType { fields: inner });
        let fields = vec![
            NestedField::required(1, "id", PrimitiveType::Long),
            NestedField::optional(2, "point", point),
        ];
        Schema::new(7, fields, vec![1])
    }

    #[test]
    fn a_nested_field_is_selected_with_its_parents() {
        let selected = nested().select(&[4]);
        assert_eq!(selected.full_names(), ["point", "point.y"]);
        assert_eq!((selected.schema_id(), selected.identifier_field_ids().len()), (0, 0));
        assert!(selected.field_by_id(2).is_some_and(|field| !field.required));
    }

    #[test]
    fn a_selected_struct_keeps_its_fields() {
        assert_eq!(nested().select(&[2]).full_names(), ["point", "point.x", "point.y"]);
    }

    #[test]
    fn a_selection_of_all_fields_is_the_schema() {
        assert_eq!(nested().select(&[1, 3, 4]), nested());
    }
}
