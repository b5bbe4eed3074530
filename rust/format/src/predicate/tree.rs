//! The predicate tree: constants, AND, OR, NOT and leaves, before and after binding.
//!
//! A predicate is true, false or unknown for a row, and selects the rows for which it is true.
//! Operators with literals are unknown for null; `<`, `<=`, `>` and `>=` are also unknown for NaN, which equals no
//! literal. AND, OR and NOT follow Kleene's logic, so NOT can be pushed down to the leaves ([`Operator::negated`]).
//! Without NOT, evaluation needs only the rows for which each leaf is true.

use std::cmp::Ordering;

use serde_json::Value;

use crate::spec::{Datum, PrimitiveType, Transform};

/// The test of a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operator {
    /// The value is null.
    IsNull,
    /// The value is not null.
    NotNull,
    /// The value is NaN.
    IsNan,
    /// The value is not NaN; true for null.
    NotNan,
    /// Less than the literal.
    Lt,
    /// Less than or equal to the literal.
    LtEq,
    /// Greater than the literal.
    Gt,
    /// Greater than or equal to the literal.
    GtEq,
    /// Equal to the literal; -0.0 equals 0.0.
    Eq,
    /// Not equal to the literal; true for NaN, unknown for null.
    NotEq,
    /// Equal to one of the literals.
    In,
    /// Different from every literal; true for NaN, unknown for null.
    NotIn,
    /// A string that starts with the literal.
    StartsWith,
    /// A string that does not start with the literal; unknown for null.
    NotStartsWith,
}

impl Operator {
    /// Return the operator that is true where this one is false, and unknown where this one is unknown.
    pub fn negated(self) -> Self {
        match self {
            Self::IsNull => Self::NotNull,
            Self::NotNull => Self::IsNull,
            Self::IsNan => Self::NotNan,
            Self::NotNan => Self::IsNan,
            Self::Lt => Self::GtEq,
            Self::LtEq => Self::Gt,
            Self::Gt => Self::LtEq,
            Self::GtEq => Self::Lt,
            Self::Eq => Self::NotEq,
            Self::NotEq => Self::Eq,
            Self::In => Self::NotIn,
            Self::NotIn => Self::In,
            Self::StartsWith => Self::NotStartsWith,
            Self::NotStartsWith => Self::StartsWith,
        }
    }

    /// Return whether the operator takes no literal.
    pub fn is_unary(self) -> bool {
        matches!(self, Self::IsNull | Self::NotNull | Self::IsNan | Self::NotNan)
    }

    /// Return whether the operator takes a set of literals.
    pub fn is_set(self) -> bool {
        matches!(self, Self::In | Self::NotIn)
    }

    /// Return whether the operator is true for null.
    pub fn accepts_null(self) -> bool {
        matches!(self, Self::IsNull | Self::NotNan)
    }

    /// Return whether the operator is true for NaN.
    pub fn accepts_nan(self) -> bool {
        matches!(self, Self::NotNull | Self::IsNan | Self::NotEq | Self::NotIn)
    }
}

/// A boolean expression over leaves of type `T`.
#[derive(Debug, Clone, PartialEq)]
pub enum Predicate<T> {
    /// Every row.
    AlwaysTrue,
    /// No row.
    AlwaysFalse,
    /// Both sides hold.
    And(Box<Self>, Box<Self>),
    /// One side holds.
    Or(Box<Self>, Box<Self>),
    /// The child is false.
    Not(Box<Self>),
    /// A test of one column.
    Leaf(T),
}

/// The operand of an unbound leaf.
#[derive(Debug, Clone, PartialEq)]
pub enum Term {
    /// A column by its full dotted name.
    Reference(String),
    /// A transform of a column, such as `bucket[16]` of `id`.
    Transform {
        /// The name of the transform.
        transform: String,
        /// The column's full dotted name.
        column: String,
    },
}

/// A leaf before binding, with column names and JSON literals.
#[derive(Debug, Clone, PartialEq)]
pub struct UnboundLeaf {
    /// The test.
    pub op: Operator,
    /// The operand.
    pub term: Term,
    /// JSON number, string or boolean; none, one, or many for a set operator.
    pub literals: Vec<Value>,
}

/// A leaf bound to a field, with literals of the field's type.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundLeaf {
    /// The test.
    pub op: Operator,
    /// The field (of the table, or of a partition tuple after projection).
    pub field_id: i32,
    /// The field's type; `Unknown` for a whole struct, list or map, which is compared with null only.
    pub field_type: PrimitiveType,
    /// The transform of the field's values before the comparison. Never identity or void; `None` for operators
    /// without literals, as a result is null where the value is.
    pub transform: Option<Transform>,
    /// The field's full dotted name.
    pub name: String,
    /// Whether the field is inside a struct, where a null parent makes it null, or is a struct, list or map itself.
    pub nested: bool,
    /// None, one, or for a set operator many: of the [`BoundLeaf::value_type`], sorted, without
    /// duplicates, never NaN or -0.0.
    pub literals: Vec<Datum>,
}

impl BoundLeaf {
    /// Return the type of the compared values: of the transform's results, or else of the field.
    pub fn value_type(&self) -> PrimitiveType {
        let result = self.transform.as_ref().map(|it| it.result_type(&self.field_type));
        result.and_then(Result::ok).unwrap_or(self.field_type)
    }
}

/// A predicate before binding.
pub type UnboundPredicate = Predicate<UnboundLeaf>;

/// A predicate bound to fields.
pub type BoundPredicate = Predicate<BoundLeaf>;

/// A leaf whose negation is a leaf.
pub trait Negate {
    /// Return the leaf that is true where this one is false; see [`Operator::negated`].
    #[must_use]
    fn negated(&self) -> Self;
}

impl Negate for UnboundLeaf {
    fn negated(&self) -> Self {
        Self { op: self.op.negated(), ..self.clone() }
    }
}

impl Negate for BoundLeaf {
    fn negated(&self) -> Self {
        Self { op: self.op.negated(), ..self.clone() }
    }
}

impl<T> Predicate<T> {
    /// Combine with AND, folding constants.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::AlwaysFalse, _) | (_, Self::AlwaysFalse) => Self::AlwaysFalse,
            (Self::AlwaysTrue, other) | (other, Self::AlwaysTrue) => other,
            (left, right) => Self::And(Box::new(left), Box::new(right)),
        }
    }

    /// Combine with OR, folding constants.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::AlwaysTrue, _) | (_, Self::AlwaysTrue) => Self::AlwaysTrue,
            (Self::AlwaysFalse, other) | (other, Self::AlwaysFalse) => other,
            (left, right) => Self::Or(Box::new(left), Box::new(right)),
        }
    }

    /// Negate, folding constants and double negation.
    #[must_use]
    pub fn negate(self) -> Self {
        match self {
            Self::AlwaysTrue => Self::AlwaysFalse,
            Self::AlwaysFalse => Self::AlwaysTrue,
            Self::Not(child) => *child,
            other => Self::Not(Box::new(other)),
        }
    }

    /// Return the leaves from left to right.
    pub fn leaves(&self) -> Vec<&T> {
        let mut found = Vec::new();
        self.collect_leaves(&mut found);
        found
    }

    /// Replace each leaf by a predicate, folding constants.
    ///
    /// # Errors
    /// The first error of `replace`.
    pub fn try_map<U, E>(
        &self,
        replace: &mut impl FnMut(&T) -> Result<Predicate<U>, E>,
    ) -> Result<Predicate<U>, E> {
        Ok(match self {
            Self::AlwaysTrue => Predicate::AlwaysTrue,
            Self::AlwaysFalse => Predicate::AlwaysFalse,
            Self::And(left, right) => left.try_map(replace)?.and(right.try_map(replace)?),
            Self::Or(left, right) => left.try_map(replace)?.or(right.try_map(replace)?),
            Self::Not(child) => child.try_map(replace)?.negate(),
            Self::Leaf(leaf) => replace(leaf)?,
        })
    }

    fn collect_leaves<'a>(&'a self, found: &mut Vec<&'a T>) {
        match self {
            Self::AlwaysTrue | Self::AlwaysFalse => {}
            Self::And(left, right) | Self::Or(left, right) => {
                left.collect_leaves(found);
                right.collect_leaves(found);
            }
            Self::Not(child) => child.collect_leaves(found),
            Self::Leaf(leaf) => found.push(leaf),
        }
    }
}

impl<T: Negate + Clone> Predicate<T> {
    /// Return an equivalent predicate without NOT.
    #[must_use]
    pub fn push_not_down(&self) -> Self {
        self.pushed(false)
    }

    fn pushed(&self, negated: bool) -> Self {
        match (self, negated) {
            (Self::AlwaysTrue, false) | (Self::AlwaysFalse, true) => Self::AlwaysTrue,
            (Self::AlwaysFalse, false) | (Self::AlwaysTrue, true) => Self::AlwaysFalse,
            (Self::And(left, right), false) | (Self::Or(left, right), true) => {
                left.pushed(negated).and(right.pushed(negated))
            }
            (Self::Or(left, right), false) | (Self::And(left, right), true) => {
                left.pushed(negated).or(right.pushed(negated))
            }
            (Self::Not(child), _) => child.pushed(!negated),
            (Self::Leaf(leaf), false) => Self::Leaf(leaf.clone()),
            (Self::Leaf(leaf), true) => Self::Leaf(leaf.negated()),
        }
    }
}

/// Return the distinct ids of the fields of a predicate, ascending.
pub fn references(predicate: &BoundPredicate) -> Vec<i32> {
    let mut ids: Vec<i32> = predicate.leaves().iter().map(|leaf| leaf.field_id).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// Return the operator and literals of a set leaf in normal form: sorted, without duplicates, and a set of one as a
/// comparison. `None` where the set is empty.
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
