//! Predicates as JSON: the expression objects of the REST catalog specification.

use serde_json::{Map, Value, json};

use super::tree::{BoundPredicate, Operator, Predicate, Term, UnboundLeaf, UnboundPredicate};
use crate::error::{Error, Result};
use crate::spec::single_value;

const OPERATORS: [(&str, Operator); 14] = [
    ("is-null", Operator::IsNull),
    ("not-null", Operator::NotNull),
    ("is-nan", Operator::IsNan),
    ("not-nan", Operator::NotNan),
    ("lt", Operator::Lt),
    ("lt-eq", Operator::LtEq),
    ("gt", Operator::Gt),
    ("gt-eq", Operator::GtEq),
    ("eq", Operator::Eq),
    ("not-eq", Operator::NotEq),
    ("in", Operator::In),
    ("not-in", Operator::NotIn),
    ("starts-with", Operator::StartsWith),
    ("not-starts-with", Operator::NotStartsWith),
];

impl Operator {
    /// Return the `type` of the operator's expression object.
    pub fn json_name(self) -> &'static str {
        OPERATORS.iter().find(|(_, op)| *op == self).map_or("", |(name, _)| name)
    }
}

/// Parse an expression object, for example `{"type":"lt","term":"a.b","value":5}`.
///
/// # Errors
/// `InvalidArgument` where the text is not JSON, nests deeper than 127 levels, or is not an
/// expression.
pub fn parse_json(text: &str) -> Result<UnboundPredicate> {
    let value: Value = serde_json::from_str(text).map_err(|error| {
        // The parser reports its recursion limit by text only. The limit also bounds the recursion over predicates.
        if error.is_syntax() && error.to_string().starts_with("recursion limit") {
            return invalid(
                "the expression nests too deep; expected at most 127 levels".to_owned(),
            );
        }
        invalid(format!("the expression is not valid JSON: {error}"))
    })?;
    from_value(&value)
}

/// Parse an expression object from a JSON value; see [`parse_json`].
///
/// # Errors
/// `InvalidArgument` where the value is not an expression.
pub fn from_value(value: &Value) -> Result<UnboundPredicate> {
    let object = match value {
        Value::Bool(true) => return Ok(Predicate::AlwaysTrue),
        Value::Bool(false) => return Ok(Predicate::AlwaysFalse),
        Value::Object(object) => object,
        other => return Err(invalid(format!("expected an expression object, got {other}"))),
    };
    match text_of(object, "type")? {
        "true" => Ok(Predicate::AlwaysTrue),
        "false" => Ok(Predicate::AlwaysFalse),
        "and" => Ok(child(object, "left")?.and(child(object, "right")?)),
        "or" => Ok(child(object, "left")?.or(child(object, "right")?)),
        "not" => Ok(child(object, "child")?.negate()),
        name => match OPERATORS.iter().find(|(known, _)| *known == name) {
            Some((_, op)) => Ok(Predicate::Leaf(leaf(*op, object)?)),
            None => Err(invalid(format!("the expression type is unknown; got {name:?}"))),
        },
    }
}

/// Format an unbound predicate as JSON; the inverse of [`parse_json`].
pub fn to_json(predicate: &UnboundPredicate) -> String {
    tree_value(predicate, &|leaf| leaf_value(leaf.op, term_value(&leaf.term), &leaf.literals))
        .to_string()
}

/// Format a bound predicate as JSON with column names, which can be bound again.
pub fn to_unbound_json(predicate: &BoundPredicate) -> String {
    tree_value(predicate, &|leaf| {
        let literals: Vec<Value> = leaf.literals.iter().map(single_value::to_json).collect();
        let column = leaf.name.clone();
        let term = match &leaf.transform {
            Some(transform) => Term::Transform { transform: transform.to_string(), column },
            None => Term::Reference(column),
        };
        leaf_value(leaf.op, term_value(&term), &literals)
    })
    .to_string()
}

fn tree_value<T>(predicate: &Predicate<T>, leaf: &impl Fn(&T) -> Value) -> Value {
    match predicate {
        Predicate::AlwaysTrue => Value::Bool(true),
        Predicate::AlwaysFalse => Value::Bool(false),
        Predicate::And(left, right) => {
            json!({"type": "and", "left": tree_value(left, leaf), "right": tree_value(right, leaf)})
        }
        Predicate::Or(left, right) => {
            json!({"type": "or", "left": tree_value(left, leaf), "right": tree_value(right, leaf)})
        }
        Predicate::Not(child) => json!({"type": "not", "child": tree_value(child, leaf)}),
        Predicate::Leaf(inner) => leaf(inner),
    }
}

fn leaf_value(op: Operator, term: Value, literals: &[Value]) -> Value {
    let mut object = Map::new();
    object.insert("type".to_owned(), Value::from(op.json_name()));
    object.insert("term".to_owned(), term);
    if op.is_set() {
        object.insert("values".to_owned(), Value::Array(literals.to_vec()));
    } else if let Some(literal) = literals.first() {
        object.insert("value".to_owned(), literal.clone());
    }
    Value::Object(object)
}

fn term_value(term: &Term) -> Value {
    match term {
        Term::Reference(name) => Value::from(name.as_str()),
        Term::Transform { transform, column } => {
            json!({"type": "transform", "transform": transform, "term": column})
        }
    }
}

fn child(object: &Map<String, Value>, key: &str) -> Result<UnboundPredicate> {
    from_value(object.get(key).ok_or_else(|| missing(object, key))?)
}

fn leaf(op: Operator, object: &Map<String, Value>) -> Result<UnboundLeaf> {
    let term = term(object.get("term").ok_or_else(|| missing(object, "term"))?)?;
    let literals = if op.is_unary() {
        Vec::new()
    } else if op.is_set() {
        match object.get("values") {
            Some(Value::Array(values)) => values.clone(),
            _ => return Err(missing(object, "values")),
        }
    } else {
        vec![object.get("value").ok_or_else(|| missing(object, "value"))?.clone()]
    };
    for literal in &literals {
        check_literal(op, literal)?;
    }
    Ok(UnboundLeaf { op, term, literals })
}

fn check_literal(op: Operator, literal: &Value) -> Result<()> {
    match literal {
        Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
        Value::Null => {
            let name = op.json_name();
            Err(invalid(format!("{name} does not compare with null; use is-null or not-null")))
        }
        other => Err(invalid(format!("expected a literal, got {other}"))),
    }
}

fn term(value: &Value) -> Result<Term> {
    let object = match value {
        Value::String(name) => return Ok(Term::Reference(name.clone())),
        Value::Object(object) => object,
        other => return Err(invalid(format!("expected a column name, got {other}"))),
    };
    let column = text_of(object, "term")?.to_owned();
    match text_of(object, "type")? {
        "reference" => Ok(Term::Reference(column)),
        "transform" => {
            Ok(Term::Transform { transform: text_of(object, "transform")?.to_owned(), column })
        }
        other => Err(invalid(format!(
            "the term type is unknown; expected reference or transform, got {other:?}"
        ))),
    }
}

fn text_of<'a>(object: &'a Map<String, Value>, key: &str) -> Result<&'a str> {
    object.get(key).and_then(Value::as_str).ok_or_else(|| missing(object, key))
}

fn missing(object: &Map<String, Value>, key: &str) -> Error {
    let kind = object.get("type").and_then(Value::as_str).unwrap_or("expression");
    invalid(format!("{kind} has no {key}"))
}

fn invalid(reason: String) -> Error {
    Error::invalid("filter", reason)
}
