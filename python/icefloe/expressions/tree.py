"""Expressions that are true or false of a row, and how they combine. Immutable; ``&``, ``|`` and ``~`` combine them.

An expression that a null makes neither true nor false does not select the row, as in SQL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from icefloe.exceptions import ValidationError

if TYPE_CHECKING:
    from typing_extensions import Self


class BooleanExpression:
    """Root of all expressions."""

    __slots__ = ()

    def __invert__(self) -> BooleanExpression:
        return Not(self)

    def __and__(self, other: BooleanExpression) -> BooleanExpression:
        return And(self, other)

    def __or__(self, other: BooleanExpression) -> BooleanExpression:
        return Or(self, other)

    def __str__(self) -> str:
        return repr(self)


class AlwaysTrue(BooleanExpression):
    """True of every row."""

    __slots__ = ()

    def __invert__(self) -> BooleanExpression:
        return AlwaysFalse()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AlwaysTrue)

    def __hash__(self) -> int:
        return hash(AlwaysTrue)

    def __repr__(self) -> str:
        return "AlwaysTrue()"


class AlwaysFalse(BooleanExpression):
    """True of no row."""

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
    __slots__ = ("left", "right")
    left: BooleanExpression
    right: BooleanExpression

    @classmethod
    def _of(cls, left: BooleanExpression, right: BooleanExpression) -> Self:
        made = object.__new__(cls)
        object.__setattr__(made, "left", left)
        object.__setattr__(made, "right", right)
        return made

    @classmethod
    def _balanced(cls, parts: tuple[BooleanExpression, ...]) -> BooleanExpression:
        """Return a tree as deep as the logarithm of its leaves, so that long filters need no deep stack."""
        if len(parts) == 1:
            return parts[0]
        middle = (len(parts) + 1) // 2
        return cls._of(cls._balanced(parts[:middle]), cls._balanced(parts[middle:]))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("an expression is immutable")

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
    """True where all its parts are; folds constants, so that the result may be of another kind.

    >>> And(AlwaysTrue(), AlwaysFalse())
    AlwaysFalse()
    """

    __slots__ = ()

    def __new__(cls, left: BooleanExpression, right: BooleanExpression, *rest: BooleanExpression) -> Self:
        """Return the conjunction, or what is left of it once constants are gone."""
        parts = _checked(left, right, *rest)
        if any(isinstance(part, AlwaysFalse) for part in parts):
            return cast("Self", AlwaysFalse())
        kept = tuple(part for part in parts if not isinstance(part, AlwaysTrue))
        return cast("Self", cls._balanced(kept) if kept else AlwaysTrue())


class Or(_Pair):
    """True where any of its parts is; folds constants, so that the result may be of another kind.

    >>> Or(AlwaysTrue(), AlwaysFalse())
    AlwaysTrue()
    """

    __slots__ = ()

    def __new__(cls, left: BooleanExpression, right: BooleanExpression, *rest: BooleanExpression) -> Self:
        """Return the disjunction, or what is left of it once constants are gone."""
        parts = _checked(left, right, *rest)
        if any(isinstance(part, AlwaysTrue) for part in parts):
            return cast("Self", AlwaysTrue())
        kept = tuple(part for part in parts if not isinstance(part, AlwaysFalse))
        return cast("Self", cls._balanced(kept) if kept else AlwaysFalse())


class Not(BooleanExpression):
    """True where its part is false; two of them cancel out.

    >>> Not(AlwaysTrue())
    AlwaysFalse()
    """

    __slots__ = ("child",)
    child: BooleanExpression

    def __new__(cls, child: BooleanExpression) -> Self:
        """Return the negation, simplified where that is possible at once."""
        (child,) = _checked(child)
        if isinstance(child, Not):
            return cast("Self", child.child)
        if isinstance(child, (AlwaysTrue, AlwaysFalse)):
            return cast("Self", ~child)
        made = object.__new__(cls)
        object.__setattr__(made, "child", child)
        return made

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("an expression is immutable")

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
    """Return what is true where all parts are; of no part, what is always true."""
    return And(AlwaysTrue(), *parts) if parts else AlwaysTrue()


def any_of(*parts: BooleanExpression) -> BooleanExpression:
    """Return what is true where any part is; of no part, what is never true."""
    return Or(AlwaysFalse(), *parts) if parts else AlwaysFalse()


def _checked(*parts: Any) -> tuple[BooleanExpression, ...]:
    for part in parts:
        if not isinstance(part, BooleanExpression):
            raise ValidationError(f"not an expression: {part!r}")
    return parts
