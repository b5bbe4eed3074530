//! Binding: resolves names to fields and converts JSON literals to values of the field's type.
//!
//! Leaves that the type decides fold to constants, such as `is-null` of a required field. A leaf that is true for
//! every value but unknown for null (`x < 10^20` of an optional int) becomes `not-null`. A leaf that is never true
//! becomes false; NOT is pushed down first, as it must not invert this constant.

use serde_json::Value;

use super::literal::{Converted, calendar_ordinal, convert};
use super::tree::{BoundLeaf, BoundPredicate, Operator, Predicate, Term, UnboundLeaf, set_leaf};
use crate::error::{Error, Result};
use crate::spec::{Datum, NestedField, PrimitiveType, Schema, Transform, Type};

/// Bind a predicate to a schema. The result has no NOT.
///
/// Names are full dotted names and reach through structs to any depth.
///
/// # Errors
/// `UnknownColumn`; `InvalidArgument` where a literal does not fit the column's type or is NaN, the operator or transform
/// does not apply to the column, or a name is ambiguous without case sensitivity; `Unsupported` for an unknown
/// transform, and for operators other than `is-null` and `not-null` on a whole struct, list or map.
pub fn bind(
    predicate: &Predicate<UnboundLeaf>,
    schema: &Schema,
    case_sensitive: bool,
) -> Result<BoundPredicate> {
    predicate.push_not_down().try_map(&mut |leaf| bind_leaf(leaf, schema, case_sensitive))
}

/// A precision above that of every 128-bit integer.
const UNLIMITED: u8 = 39;

/// The resolved operand of a leaf: a column, or a transform of a column.
struct Column {
    field_id: i32,
    field_type: PrimitiveType,
    transform: Option<Transform>,
    /// The type of the compared values and of the literals.
    value_type: PrimitiveType,
    name: String,
    /// The operand in error messages.
    shown: String,
    nested: bool,
    required: bool,
}

impl Column {
    fn leaf(&self, op: Operator, literals: Vec<Datum>) -> BoundPredicate {
        Predicate::Leaf(BoundLeaf {
            op,
            field_id: self.field_id,
            field_type: self.field_type,
            // Results are null exactly where values are.
            transform: if op.is_unary() { None } else { self.transform.clone() },
            name: self.name.clone(),
            nested: self.nested,
            literals,
        })
    }

    fn not_null(&self) -> BoundPredicate {
        if self.required { Predicate::AlwaysTrue } else { self.leaf(Operator::NotNull, Vec::new()) }
    }

    fn convert(&self, literal: &Value) -> Result<Converted> {
        let ordinal =
            self.transform.as_ref().and_then(|transform| calendar_ordinal(transform, literal));
        let literal = ordinal.as_ref().unwrap_or(literal);
        let converted = convert(&self.shown, &self.value_type, literal)?;
        match (&self.transform, self.value_type) {
            // Truncating the least decimals can exceed the precision of the type.
            (Some(Transform::Truncate(_)), PrimitiveType::Decimal { precision, scale }) => {
                let unlimited = PrimitiveType::Decimal { precision: UNLIMITED, scale };
                let datum = |datum| match datum {
                    Datum::Decimal { unscaled, .. } => {
                        Datum::Decimal { unscaled, precision, scale }
                    }
                    other => other,
                };
                Ok(match convert(&self.shown, &unlimited, literal)? {
                    Converted::Exact(found) => Converted::Exact(datum(found)),
                    Converted::JustAbove(found) => Converted::JustAbove(datum(found)),
                    beyond => beyond,
                })
            }
            _ => Ok(converted),
        }
    }

    /// Apply a transform to the column.
    fn transformed(mut self, transform: Transform) -> Result<Self> {
        self.shown = format!("{transform}({})", self.name);
        if !transform.can_transform(&self.field_type) {
            let reason =
                format!("{transform} does not apply to a column of type {}", self.field_type);
            return Err(Error::invalid(format!("filter on {}", self.shown), reason));
        }
        self.value_type = transform.result_type(&self.field_type)?;
        self.transform = Some(transform).filter(|it| *it != Transform::Identity);
        Ok(self)
    }
}

fn bind_leaf(leaf: &UnboundLeaf, schema: &Schema, case_sensitive: bool) -> Result<BoundPredicate> {
    let column = match &leaf.term {
        Term::Reference(name) => resolve(name, leaf.op, schema, case_sensitive)?,
        Term::Transform { transform, column } => match transform.parse()? {
            Transform::Unknown(name) => {
                return Err(Error::unsupported(format!(
                    "the transform {name} in a filter on {column}"
                )));
            }
            transform => {
                resolve(column, leaf.op, schema, case_sensitive)?.transformed(transform)?
            }
        },
    };
    match leaf.op {
        // Every result is null, for which comparisons are unknown.
        op if column.transform == Some(Transform::Void) => Ok(match op.accepts_null() {
            true => Predicate::AlwaysTrue,
            false => Predicate::AlwaysFalse,
        }),
        op if op.is_unary() => Ok(bind_unary(op, &column)),
        op if op.is_set() => bind_set(op, &column, leaf),
        Operator::StartsWith | Operator::NotStartsWith => bind_prefix(&column, leaf),
        _ => bind_comparison(&column, leaf),
    }
}

fn resolve(name: &str, op: Operator, schema: &Schema, case_sensitive: bool) -> Result<Column> {
    if !case_sensitive {
        check_unambiguous(name, schema)?;
    }
    let Some(field_id) = schema.id_by_name(name, case_sensitive) else {
        return Err(Error::UnknownColumn { name: name.to_owned(), known: schema.full_names() });
    };
    let Some(path) = schema.position_path(field_id) else {
        return Err(Error::invalid(
            format!("filter on {name}"),
            "a field inside a list or map has no single value per row; filter on the fields of structs only",
        ));
    };
    let primitive = schema.primitive_type(field_id);
    let field_type = match primitive {
        Some(primitive) => primitive,
        None if matches!(op, Operator::IsNull | Operator::NotNull) => PrimitiveType::Unknown,
        None => {
            let reason = format!(
                "{} on the struct, list or map {name}; use is-null or not-null, or filter on the fields of the struct",
                op.json_name()
            );
            return Err(Error::unsupported(reason));
        }
    };
    let name = schema.full_name(field_id).unwrap_or_else(|| name.to_owned());
    Ok(Column {
        field_id,
        field_type,
        transform: None,
        value_type: field_type,
        shown: name.clone(),
        name,
        // Writers differ on the counts of a whole struct, list or map as well.
        nested: path.len() > 1 || primitive.is_none(),
        required: required_along(schema.fields(), &path),
    })
}

fn check_unambiguous(name: &str, schema: &Schema) -> Result<()> {
    let names = schema.names_like(name);
    if names.len() > 1 {
        let reason = format!(
            "the name is ambiguous without case sensitivity; expected one of {}",
            names.join(", ")
        );
        return Err(Error::invalid(format!("filter on {name}"), reason));
    }
    Ok(())
}

fn required_along(fields: &[NestedField], path: &[usize]) -> bool {
    let Some((first, rest)) = path.split_first() else { return true };
    let Some(field) = fields.get(*first) else { return false };
    match &field.field_type {
        Type::Struct(inner) => field.required && required_along(&inner.fields, rest),
        _ => field.required,
    }
}

fn bind_unary(op: Operator, column: &Column) -> BoundPredicate {
    let floating = matches!(column.value_type, PrimitiveType::Float | PrimitiveType::Double);
    match op {
        Operator::IsNull if column.required => Predicate::AlwaysFalse,
        Operator::NotNull => column.not_null(),
        Operator::IsNan if !floating => Predicate::AlwaysFalse,
        Operator::NotNan if !floating => Predicate::AlwaysTrue,
        _ => column.leaf(op, Vec::new()),
    }
}

fn bind_comparison(column: &Column, leaf: &UnboundLeaf) -> Result<BoundPredicate> {
    use Operator::{Eq, Gt, GtEq, Lt, LtEq};
    let converted = column.convert(only_literal(column, leaf)?)?;
    Ok(match (converted, leaf.op) {
        (Converted::Exact(datum), op) => column.leaf(op, vec![datum]),
        (_, Eq) => Predicate::AlwaysFalse,
        (Converted::JustAbove(datum), Lt | LtEq) => column.leaf(LtEq, vec![datum]),
        (Converted::JustAbove(datum), Gt | GtEq) => column.leaf(Gt, vec![datum]),
        (Converted::AboveAll, Lt | LtEq) | (Converted::BelowAll, Gt | GtEq) => column.not_null(),
        (Converted::AboveAll, Gt | GtEq) | (Converted::BelowAll, Lt | LtEq) => {
            Predicate::AlwaysFalse
        }
        _ => column.not_null(),
    })
}

fn bind_prefix(column: &Column, leaf: &UnboundLeaf) -> Result<BoundPredicate> {
    if column.value_type != PrimitiveType::String {
        return Err(Error::invalid(
            format!("filter on {}", column.shown),
            format!(
                "{} does not apply to the column; expected string, got {}",
                leaf.op.json_name(),
                column.value_type
            ),
        ));
    }
    let literal = only_literal(column, leaf)?;
    match column.convert(literal)? {
        Converted::Exact(prefix) => Ok(column.leaf(leaf.op, vec![prefix])),
        _ => Ok(Predicate::AlwaysFalse),
    }
}

fn bind_set(op: Operator, column: &Column, leaf: &UnboundLeaf) -> Result<BoundPredicate> {
    let mut literals = Vec::with_capacity(leaf.literals.len());
    for literal in &leaf.literals {
        // A literal that no value of the type equals affects neither IN nor NOT IN.
        if let Converted::Exact(datum) = column.convert(literal)? {
            literals.push(datum);
        }
    }
    Ok(match set_leaf(op, literals) {
        Some((op, literals)) => column.leaf(op, literals),
        None if op == Operator::In => Predicate::AlwaysFalse,
        // NOT IN of an empty set is true even for null.
        None if leaf.literals.is_empty() => Predicate::AlwaysTrue,
        None => column.not_null(),
    })
}

fn only_literal<'a>(column: &Column, leaf: &'a UnboundLeaf) -> Result<&'a Value> {
    match leaf.literals.as_slice() {
        [literal] => Ok(literal),
        other => Err(Error::invalid(
            format!("filter on {}", column.shown),
            format!("{} takes one literal; got {}", leaf.op.json_name(), other.len()),
        )),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use crate::predicate::{bind, parse_json};
    use crate::spec::schema_index::visits;
    use crate::spec::{NestedField, PrimitiveType, Schema};

    #[test]
    fn filter_binding_visits_each_field_a_constant_number_of_times() {
        let column = |id| NestedField::optional(id, format!("c{id}"), PrimitiveType::Long);
        let schema = Schema::new(0, (1..=500).map(column).collect(), vec![]);
        visits::taken();
        for id in 1..=500 {
            let leaf = parse_json(&format!(r#"{{"type":"is-null","term":"C{id}"}}"#)).unwrap();
            bind(&leaf, &schema, false).unwrap();
        }
        assert!(visits::taken() <= 8 * 500);
    }
}
