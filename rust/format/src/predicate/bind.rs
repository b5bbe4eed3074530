//! Binding: names become fields, JSON literals become values of the field's type.
//!
//! What the type alone decides folds to a constant: a literal that no value of the type equals,
//! `is-null` of a required field. Where nulls would be let in by such a constant (`x < 10^20` of
//! an optional int), the leaf becomes `not-null` instead.

use std::cmp::Ordering;

use super::literal::{Converted, convert};
use super::tree::{BoundLeaf, BoundPredicate, Operator, Predicate, Term, UnboundLeaf};
use crate::error::{Error, Result};
use crate::spec::{Datum, NestedField, PrimitiveType, Schema, Type};

/// Bind a predicate to a schema. NOT stays where it is.
///
/// Names are full dotted names and reach through structs to any depth.
///
/// # Errors
/// `UnknownColumn`; `InvalidArgument` naming column, literal and type where a literal does not
/// fit, is NaN, or the operator does not fit the column; `Unsupported` for a transform term and
/// for questions about a struct, list or map as a whole.
pub fn bind(
    predicate: &Predicate<UnboundLeaf>,
    schema: &Schema,
    case_sensitive: bool,
) -> Result<BoundPredicate> {
    predicate.try_map(&mut |leaf| bind_leaf(leaf, schema, case_sensitive))
}

struct Column {
    field_id: i32,
    field_type: PrimitiveType,
    name: String,
    nested: bool,
    required: bool,
}

impl Column {
    fn leaf(&self, op: Operator, literals: Vec<Datum>) -> BoundPredicate {
        Predicate::Leaf(BoundLeaf {
            op,
            field_id: self.field_id,
            field_type: self.field_type,
            name: self.name.clone(),
            nested: self.nested,
            literals,
        })
    }

    fn not_null(&self) -> BoundPredicate {
        if self.required { Predicate::AlwaysTrue } else { self.leaf(Operator::NotNull, Vec::new()) }
    }
}

fn bind_leaf(leaf: &UnboundLeaf, schema: &Schema, case_sensitive: bool) -> Result<BoundPredicate> {
    let name = match &leaf.term {
        Term::Reference(name) => name,
        Term::Transform { transform, column } => {
            return Err(Error::unsupported(format!("a filter on {transform} of {column}")));
        }
    };
    let column = resolve(name, schema, case_sensitive)?;
    match leaf.op {
        op if op.is_unary() => Ok(bind_unary(op, &column)),
        op if op.is_set() => bind_set(op, &column, leaf),
        Operator::StartsWith | Operator::NotStartsWith => bind_prefix(&column, leaf),
        _ => bind_comparison(&column, leaf),
    }
}

fn resolve(name: &str, schema: &Schema, case_sensitive: bool) -> Result<Column> {
    let Some(field_id) = schema.id_by_name(name, case_sensitive) else {
        return Err(Error::UnknownColumn { name: name.to_owned(), known: schema.full_names() });
    };
    let Some(path) = schema.position_path(field_id) else {
        return Err(Error::invalid(
            format!("filter on {name}"),
            "a value inside a list or map has no single value per row",
        ));
    };
    let Some(field_type) = schema.primitive_type(field_id) else {
        return Err(Error::unsupported(format!(
            "a filter on {name}, which is no primitive column,"
        )));
    };
    Ok(Column {
        field_id,
        field_type,
        name: schema.full_name(field_id).unwrap_or_else(|| name.to_owned()),
        nested: path.len() > 1,
        required: required_along(&schema.fields, &path),
    })
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
    let floating = matches!(column.field_type, PrimitiveType::Float | PrimitiveType::Double);
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
    let converted = convert(&column.name, &column.field_type, only_literal(column, leaf)?)?;
    Ok(match (converted, leaf.op) {
        (Converted::Exact(datum), op) => column.leaf(op, vec![datum]),
        (_, Eq) => Predicate::AlwaysFalse,
        (Converted::JustAbove(datum), Lt | LtEq) => column.leaf(LtEq, vec![datum]),
        (Converted::JustAbove(datum), Gt | GtEq) => column.leaf(Gt, vec![datum]),
        (Converted::AboveAll, Lt | LtEq) | (Converted::BelowAll, Gt | GtEq) => column.not_null(),
        (Converted::AboveAll, Gt | GtEq) | (Converted::BelowAll, Lt | LtEq) => {
            Predicate::AlwaysFalse
        }
        _ => Predicate::AlwaysTrue,
    })
}

fn bind_prefix(column: &Column, leaf: &UnboundLeaf) -> Result<BoundPredicate> {
    if column.field_type != PrimitiveType::String {
        return Err(Error::invalid(
            format!("filter on {}", column.name),
            format!("{} needs a string column, not {}", leaf.op.json_name(), column.field_type),
        ));
    }
    let literal = only_literal(column, leaf)?;
    match convert(&column.name, &column.field_type, literal)? {
        Converted::Exact(prefix) => Ok(column.leaf(leaf.op, vec![prefix])),
        _ => Ok(Predicate::AlwaysFalse),
    }
}

fn bind_set(op: Operator, column: &Column, leaf: &UnboundLeaf) -> Result<BoundPredicate> {
    let mut literals = Vec::with_capacity(leaf.literals.len());
    for literal in &leaf.literals {
        // A literal that no value of the type equals neither adds to IN nor takes from NOT IN.
        if let Converted::Exact(datum) = convert(&column.name, &column.field_type, literal)? {
            literals.push(datum);
        }
    }
    Ok(match set_leaf(op, literals) {
        Some((op, literals)) => column.leaf(op, literals),
        None if op == Operator::In => Predicate::AlwaysFalse,
        None => Predicate::AlwaysTrue,
    })
}

/// The operator and literals of a set leaf: sorted, without duplicates, a set of one as a
/// comparison; `None` where the set is empty.
pub(super) fn set_leaf(op: Operator, mut literals: Vec<Datum>) -> Option<(Operator, Vec<Datum>)> {
    literals.sort_by(|left, right| left.compare(right).unwrap_or(Ordering::Equal));
    literals.dedup_by(|left, right| left.compare(right) == Some(Ordering::Equal));
    match (literals.len(), op) {
        (0, _) => None,
        (1, Operator::In) => Some((Operator::Eq, literals)),
        (1, Operator::NotIn) => Some((Operator::NotEq, literals)),
        _ => Some((op, literals)),
    }
}

fn only_literal<'a>(column: &Column, leaf: &'a UnboundLeaf) -> Result<&'a serde_json::Value> {
    match leaf.literals.as_slice() {
        [literal] => Ok(literal),
        other => Err(Error::invalid(
            format!("filter on {}", column.name),
            format!("{} takes one literal, not {}", leaf.op.json_name(), other.len()),
        )),
    }
}
