"""Boolean expressions: constants, AND, OR and NOT. Expressions are immutable; ``&``, ``|`` and ``~`` combine them.

A comparison with null is unknown, and so is its negation; AND and OR combine unknown as in SQL (Kleene's logic). A filter
selects the rows for which its expression is true.
"""

from __future__ import annotations

import json
from functools import singledispatch
from types import GenericAlias
from typing import TYPE_CHECKING, Any, ClassVar, cast

from icefloe.exceptions import ValidationError

if TYPE_CHECKING:
    from typing_extensions import Self


# The maximum nesting of AND, OR and NOT. It keeps recursive functions within the interpreter's stack, and the JSON of an
# expression within the 127 levels that the core reads.
MAX_DEPTH = 120
# A chain deeper than this becomes a balanced tree, which leaves levels for the expressions around it.
_REBALANCE_AT = 64


@singledispatch
def json_form(expression: object) -> Any:
    """Return an expression as a JSON object; :mod:`icefloe.expressions.rest_json` registers the case of expressions."""
    raise ValidationError(f"not an expression: {expression!r}; expected a BooleanExpression")


class BooleanExpression:
    """The base class of all expressions. Annotations may parametrise subclasses, as in `LiteralPredicate[int]`."""

    __slots__ = ()
    __class_getitem__: Any = classmethod(GenericAlias)

    def __invert__(self) -> BooleanExpression:
        return Not(self)

    def model_dump(self, **options: Any) -> Any:
        """Return the expression as a JSON object of the REST catalog protocol; options are accepted and ignored."""
        del options
        return json_form(self)

    def model_dump_json(self, **options: Any) -> str:
        """Return the expression as JSON text.

        >>> from icefloe.expressions import GreaterThan
        >>> GreaterThan("x", 5).model_dump_json()
        '{"type":"gt","term":"x","value":5}'
        """
        return json.dumps(self.model_dump(**options), separators=(",", ":"), ensure_ascii=False)

    @property
    def type(self) -> str:
        """The value of the key ``type`` in the expression's JSON, such as ``and``."""
        return type(self).__name__.lower()

    def __and__(self, other: BooleanExpression) -> BooleanExpression:
        return And(self, other)

    def __or__(self, other: BooleanExpression) -> BooleanExpression:
        return Or(self, other)

    def __str__(self) -> str:
        return repr(self)


class _Constant(BooleanExpression):
    """A constant expression; each class has one instance."""

    __slots__ = ()
    _instances: ClassVar[dict[type, Any]] = {}

    def __new__(cls) -> Self:
        """Return the instance of the class."""
        instance: Self = _Constant._instances.setdefault(cls, super().__new__(cls))
        return instance

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __copy__(self) -> Self:
        return self


class AlwaysTrue(_Constant):
    """The expression that is true for every row."""

    __slots__ = ()

    def __invert__(self) -> BooleanExpression:
        return AlwaysFalse()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AlwaysTrue)

    def __hash__(self) -> int:
        return hash(AlwaysTrue)

    def __repr__(self) -> str:
        return "AlwaysTrue()"


class AlwaysFalse(_Constant):
    """The expression that is false for every row."""

    __slots__ = ()

    def __invert__(self) -> BooleanExpression:
        return AlwaysTrue()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AlwaysFalse)

    def __hash__(self) -> int:
        return hash(AlwaysFalse)

    def __repr__(self) -> str:
        return "AlwaysFalse()"


class _Pair(BooleanExpression):
    __slots__ = ("depth", "left", "right", "size")
    left: BooleanExpression
    right: BooleanExpression
    depth: int
    size: int

    @classmethod
    def _of(cls, left: BooleanExpression, right: BooleanExpression) -> Self:
        pair = object.__new__(cls)
        object.__setattr__(pair, "left", left)
        object.__setattr__(pair, "right", right)
        object.__setattr__(pair, "depth", 1 + max(_depth_of(left), _depth_of(right)))
        object.__setattr__(pair, "size", _size_of(left) + _size_of(right))
        return pair

    @classmethod
    def _joined(cls, parts: tuple[BooleanExpression, ...]) -> BooleanExpression:
        """Return the parts as one expression whose depth grows with the logarithm of a chain's length."""
        tree = cls._balanced(parts)
        if _depth_of(tree) > _REBALANCE_AT:
            tree = cls._balanced(cls._chain(tree))
        if _depth_of(tree) > MAX_DEPTH:
            raise ValidationError(f"expression: nested more than {MAX_DEPTH} deep; split it into several filters")
        return tree

    @classmethod
    def _balanced(cls, parts: tuple[BooleanExpression, ...]) -> BooleanExpression:
        """Return a tree of the parts, split in halves of about equal numbers of predicates."""
        if len(parts) == 1:
            return parts[0]
        half, taken, middle = (sum(map(_size_of, parts)) + 1) // 2, 0, 0
        while middle < len(parts) - 1 and (middle == 0 or taken + _size_of(parts[middle]) <= half):
            taken += _size_of(parts[middle])
            middle += 1
        return cls._of(cls._balanced(parts[:middle]), cls._balanced(parts[middle:]))

    @classmethod
    def _chain(cls, expr: BooleanExpression) -> tuple[BooleanExpression, ...]:
        """Return the operands of the longest chain of this class from the root, in order."""
        before: list[BooleanExpression] = []
        after: list[BooleanExpression] = []
        while type(expr) is cls:
            left, right = expr.left, expr.right
            if _depth_of(left) >= _depth_of(right):
                after.append(right)
                expr = left
            else:
                before.append(left)
                expr = right
        return (*before, expr, *reversed(after))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"cannot set {name!r}: expressions are immutable")

    def __eq__(self, other: object) -> bool:
        return (
            type(self) is type(other) and (self.left, self.right) == (other.left, other.right)
            if isinstance(other, _Pair)
            else False
        )

    def __hash__(self) -> int:
        return hash((type(self), self.left, self.right))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(left={self.left!r}, right={self.right!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.left, self.right)


class And(_Pair):
    """A conjunction: true where all operands are true. Constants fold, so the result may be of another class.

    >>> And(AlwaysTrue(), AlwaysFalse())
    AlwaysFalse()
    """

    __slots__ = ()

    def __new__(cls, left: BooleanExpression, right: BooleanExpression, *rest: BooleanExpression) -> Self:
        """Return the conjunction of the operands that are not constant; a constant if it is decided or none remains."""
        parts = _checked(left, right, *rest)
        if any(isinstance(part, AlwaysFalse) for part in parts):
            return cast("Self", AlwaysFalse())
        operands = tuple(part for part in parts if not isinstance(part, AlwaysTrue))
        return cast("Self", cls._joined(operands) if operands else AlwaysTrue())

    def __invert__(self) -> BooleanExpression:
        return Or(~self.left, ~self.right)


class Or(_Pair):
    """A disjunction: true where any operand is true. Constants fold, so the result may be of another class.

    >>> Or(AlwaysTrue(), AlwaysFalse())
    AlwaysTrue()
    """

    __slots__ = ()

    def __new__(cls, left: BooleanExpression, right: BooleanExpression, *rest: BooleanExpression) -> Self:
        """Return the disjunction of the operands that are not constant; a constant if it is decided or none remains."""
        parts = _checked(left, right, *rest)
        if any(isinstance(part, AlwaysTrue) for part in parts):
            return cast("Self", AlwaysTrue())
        operands = tuple(part for part in parts if not isinstance(part, AlwaysFalse))
        return cast("Self", cls._joined(operands) if operands else AlwaysFalse())

    def __invert__(self) -> BooleanExpression:
        return And(~self.left, ~self.right)


class Not(BooleanExpression):
    """A negation: true where its operand is false. Two negations cancel out.

    >>> Not(AlwaysTrue())
    AlwaysFalse()
    """

    __slots__ = ("child",)
    child: BooleanExpression

    def __new__(cls, child: BooleanExpression) -> Self:
        """Return the negation; of a constant or a negation, the simplified expression."""
        (child,) = _checked(child)
        if isinstance(child, Not):
            return cast("Self", child.child)
        if isinstance(child, (AlwaysTrue, AlwaysFalse)):
            return cast("Self", ~child)
        if _depth_of(child) >= MAX_DEPTH:
            raise ValidationError(f"expression: nested more than {MAX_DEPTH} deep; split it into several filters")
        negation = object.__new__(cls)
        object.__setattr__(negation, "child", child)
        return negation

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"cannot set {name!r}: expressions are immutable")

    def __invert__(self) -> BooleanExpression:
        return self.child

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Not) and self.child == other.child

    def __hash__(self) -> int:
        return hash((Not, self.child))

    def __repr__(self) -> str:
        return f"Not(child={self.child!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Not, (self.child,)


def all_of(*parts: BooleanExpression) -> BooleanExpression:
    """Return the conjunction of expressions; :class:`AlwaysTrue` of none."""
    return And(AlwaysTrue(), *parts) if parts else AlwaysTrue()


def any_of(*parts: BooleanExpression) -> BooleanExpression:
    """Return the disjunction of expressions; :class:`AlwaysFalse` of none."""
    return Or(AlwaysFalse(), *parts) if parts else AlwaysFalse()


def _depth_of(expr: BooleanExpression) -> int:
    if isinstance(expr, _Pair):
        return expr.depth
    return 1 + _depth_of(expr.child) if isinstance(expr, Not) else 0


def _size_of(expr: BooleanExpression) -> int:
    if isinstance(expr, _Pair):
        return expr.size
    return _size_of(expr.child) if isinstance(expr, Not) else 1


def _checked(*parts: Any) -> tuple[BooleanExpression, ...]:
    for part in parts:
        if not isinstance(part, BooleanExpression):
            raise ValidationError(f"not an expression: {part!r}; expected an operand such as EqualTo('x', 1)")
    return parts


def rewrite_not(expr: BooleanExpression) -> BooleanExpression:
    """Return an equivalent expression without ``Not``: negations are pushed down to the predicates.

    Both expressions are true for the same rows: a comparison with null is unknown, and so is its negation. A predicate that is
    unknown for null may fold to a constant only in an expression without ``Not``: NOT unknown is unknown, NOT false is true.

    >>> from icefloe.expressions import EqualTo, Not
    >>> rewrite_not(Not(EqualTo("x", 5)))
    NotEqualTo(term=Reference(name='x'), literal=literal(5))
    """
    if isinstance(expr, Not):
        child = expr.child
        if isinstance(child, And):
            return Or(rewrite_not(Not(child.left)), rewrite_not(Not(child.right)))
        if isinstance(child, Or):
            return And(rewrite_not(Not(child.left)), rewrite_not(Not(child.right)))
        return ~child
    if isinstance(expr, And):
        return And(rewrite_not(expr.left), rewrite_not(expr.right))
    if isinstance(expr, Or):
        return Or(rewrite_not(expr.left), rewrite_not(expr.right))
    return expr


# The number of conjunctions grows with the product of the operands.
MAX_CONJUNCTIONS = 10_000


def rewrite_to_dnf(expr: BooleanExpression) -> tuple[BooleanExpression, ...]:
    """Return the disjunctive normal form of an expression: conjunctions whose disjunction is equivalent to it.

    Raises:
        ValidationError: The form has more than 10,000 conjunctions.

    >>> from icefloe.expressions.parser import parse
    >>> len(rewrite_to_dnf(parse("(a = 1 or b = 2) and (c = 3 or d = 4)")))
    4
    """
    return _conjunctions(rewrite_not(expr))


def _conjunctions(expr: BooleanExpression) -> tuple[BooleanExpression, ...]:
    if isinstance(expr, Or):
        return _conjunctions(expr.left) + _conjunctions(expr.right)
    if isinstance(expr, And):
        left, right = _conjunctions(expr.left), _conjunctions(expr.right)
        if len(left) * len(right) > MAX_CONJUNCTIONS:
            raise ValidationError(
                f"expression: its disjunctive normal form has {len(left) * len(right)} conjunctions; expected at most {MAX_CONJUNCTIONS}"
            )
        return tuple(And(first, second) for first in left for second in right)
    return (expr,)
