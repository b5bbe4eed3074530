"""The parser of filters as text, in a syntax like that of SQL.

```
expression := term ('or' term)*            term := factor ('and' factor)*
factor     := 'not' factor | '(' expression ')' | 'true' | 'false' | predicate
predicate  := value ('=' | '==' | '!=' | '<>' | '<' | '<=' | '>' | '>=') literal       either side first
            | value 'is' ['not'] ('null' | 'nan')
            | value ['not'] 'in' '(' literal (',' literal)* ')'
            | value ['not'] 'between' literal 'and' literal
            | value ['not'] 'like' 'prefix%'
value      := column | ('bucket' | 'truncate') '(' number ',' column ')'
            | ('years' | 'months' | 'days' | 'hours') '(' column ')'                   or year, month, day, hour
column     := name ('.' name)*             name: letters, digits, _; or in double quotes or backquotes
literal    := 5 | 1.50 | 1e3 | 'text' | true | false | date '2026-01-31' | time '10:00:00' | timestamp '2026-01-31 10:00:00+00:00' | X'00ff'
```

Results of the time transforms are years, months, days or hours of the calendar: ``years(ts) = 2026``, ``months(ts) = '2026-01'``,
``days(ts) >= date '2026-01-31'``, ``hours(ts) < '2026-01-31-10'``. Whole numbers other than years are ordinals from 1970.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from icefloe.arguments import checked_text
from icefloe.conversions import temporal
from icefloe.exceptions import ValidationError
from icefloe.expressions.literals import (
    BinaryLiteral,
    DateLiteral,
    Literal,
    LongLiteral,
    StringLiteral,
    TimeLiteral,
    TimestampLiteral,
    literal,
)
from icefloe.expressions.predicates import (
    EqualTo,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNaN,
    IsNull,
    LessThan,
    LessThanOrEqual,
    LiteralPredicate,
    NotEqualTo,
    NotIn,
    NotNaN,
    NotNull,
    NotStartsWith,
    StartsWith,
)
from icefloe.expressions.terms import Reference, UnboundTerm, UnboundTransform
from icefloe.expressions.tokens import Token, tokenize
from icefloe.expressions.tree import AlwaysFalse, AlwaysTrue, And, BooleanExpression, Not, all_of, any_of
from icefloe.transforms import (
    BucketTransform,
    DayTransform,
    HourTransform,
    MonthTransform,
    Transform,
    TruncateTransform,
    YearTransform,
)
from icefloe.transforms.time import ordinal_of

MAX_DEPTH = 100

_COMPARISONS: dict[str, type[LiteralPredicate]] = {
    "=": EqualTo,
    "==": EqualTo,
    "!=": NotEqualTo,
    "<>": NotEqualTo,
    "<": LessThan,
    "<=": LessThanOrEqual,
    ">": GreaterThan,
    ">=": GreaterThanOrEqual,
}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_TYPED = {"date", "time", "timestamp", "x"}
# Transforms with a parameter by their class, the others by their instance.
_TRANSFORMS: dict[str, type[BucketTransform | TruncateTransform] | Transform] = {
    "bucket": BucketTransform,
    "truncate": TruncateTransform,
    **dict.fromkeys(("years", "year"), YearTransform()),
    **dict.fromkeys(("months", "month"), MonthTransform()),
    **dict.fromkeys(("days", "day"), DayTransform()),
    **dict.fromkeys(("hours", "hour"), HourTransform()),
}


def parse(expr: str) -> BooleanExpression:
    """Return the expression of a text; the syntax is in the module's docstring.

    Raises:
        ValidationError: The text is not an expression; the message shows the position.

    >>> parse("x in (1, 2) and not name like 'a%'")
    And(left=In(Reference(name='x'), {LongLiteral(1), LongLiteral(2)}), right=Not(child=StartsWith(term=Reference(name='name'), literal=literal('a'))))
    """
    parser = _Parser(checked_text("filter", expr))
    expression = parser.expression(0)
    parser.expect("end", "the end, `and` or `or`")
    return expression


class _Parser:
    """A recursive-descent parser over the tokens of one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokenize(text)
        self.at = 0

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    @property
    def following(self) -> Token:
        return self.tokens[min(self.at + 1, len(self.tokens) - 1)]

    def expression(self, depth: int) -> BooleanExpression:
        parts = [self.conjunction(depth)]
        while self.accept("or"):
            parts.append(self.conjunction(depth))
        return any_of(*parts) if len(parts) > 1 else parts[0]

    def conjunction(self, depth: int) -> BooleanExpression:
        parts = [self.factor(depth)]
        while self.accept("and"):
            parts.append(self.factor(depth))
        return all_of(*parts) if len(parts) > 1 else parts[0]

    def factor(self, depth: int) -> BooleanExpression:
        if depth > MAX_DEPTH:
            raise self.error(f"no more than {MAX_DEPTH} levels of parentheses and `not`")
        if self.accept("not"):
            return Not(self.factor(depth + 1))
        if self.accept("("):
            inner = self.expression(depth + 1)
            self.expect(")", "`)`")
            return inner
        if self.token.is_word("true", "false") and not self.next_is_comparison():
            self.at += 1
            return AlwaysTrue() if self.tokens[self.at - 1].key == "true" else AlwaysFalse()
        return self.predicate()

    def predicate(self) -> BooleanExpression:
        if self.starts_literal():
            value = self.literal()
            symbol = self.comparison()
            column = self.value()
            return _COMPARISONS[_MIRRORED.get(symbol, symbol)](column, _ordinal(column, value))
        column = self.value()
        if self.accept("is"):
            return self.is_predicate(column)
        negated = self.accept("not")
        if self.accept("in"):
            values = [_ordinal(column, value) for value in self.literals()]
            return NotIn(column, values) if negated else In(column, values)
        if self.accept("between"):
            return self.between(column, negated)
        if self.accept("like"):
            return self.like(column, negated)
        if negated:
            raise self.error("`in`, `between` or `like`")
        symbol = self.comparison()
        return _COMPARISONS[symbol](column, _ordinal(column, self.literal()))

    def is_predicate(self, column: UnboundTerm) -> BooleanExpression:
        negated = self.accept("not")
        if self.accept("null"):
            return NotNull(column) if negated else IsNull(column)
        if self.accept("nan"):
            return NotNaN(column) if negated else IsNaN(column)
        raise self.error("`null` or `nan`")

    def between(self, column: UnboundTerm, negated: bool) -> BooleanExpression:
        low = _ordinal(column, self.literal())
        if not self.accept("and"):
            raise self.error("`and`")
        high = _ordinal(column, self.literal())
        inside: BooleanExpression = And(GreaterThanOrEqual(column, low), LessThanOrEqual(column, high))
        return ~inside if negated else inside

    def like(self, column: UnboundTerm, negated: bool) -> BooleanExpression:
        if self.token.kind != "string":
            raise self.error("a string in single quotes")
        pattern, is_prefix = _prefix_of(self.token.value)
        if pattern is None:
            raise self.error("a pattern with a single % at its end, no _, and \\% for the character itself")
        self.at += 1
        if is_prefix:
            return NotStartsWith(column, pattern) if negated else StartsWith(column, pattern)
        return NotEqualTo(column, pattern) if negated else EqualTo(column, pattern)

    def comparison(self) -> str:
        if self.token.kind != "symbol" or self.token.key not in _COMPARISONS:
            raise self.error("a comparison, `is`, `in`, `between` or `like`")
        self.at += 1
        return self.tokens[self.at - 1].key

    def value(self) -> UnboundTerm:
        if self.token.kind == "word" and self.following.key == "(":
            return self.transform()
        if self.token.is_word("true", "false", "null") and self.following.key != ".":
            raise self.error("a column name")
        return Reference(self.column())

    def transform(self) -> UnboundTerm:
        name = self.token
        kind = _TRANSFORMS.get(name.key)
        if kind is None:
            raise self.error(f"a column or one of {', '.join(_TRANSFORMS)}")
        self.at += 2
        parameters = []
        if isinstance(kind, type):
            if self.token.kind != "number" or not isinstance(self.token.value, int):
                raise self.error("a whole number")
            parameters.append(self.token.value)
            self.at += 1
            self.expect(",", "`,`")
        column = self.column()
        self.expect(")", "`)`")
        try:
            return UnboundTransform(column, kind(*parameters) if isinstance(kind, type) else kind)
        except ValidationError as error:
            raise self.error_at(name, str(error)) from error

    def column(self) -> str:
        parts = [self.name()]
        while self.accept("."):
            parts.append(self.name())
        return ".".join(parts)

    def name(self) -> str:
        if self.token.kind not in {"word", "name"}:
            raise self.error("a column name")
        self.at += 1
        return str(self.tokens[self.at - 1].value)

    def literals(self) -> list[Literal]:
        self.expect("(", "`(`")
        values = [self.literal()]
        while self.accept(","):
            values.append(self.literal())
        self.expect(")", "`,` or `)`")
        return values

    def starts_literal(self) -> bool:
        typed = self.token.is_word(*_TYPED) and self.following.kind == "string"
        constant = self.token.is_word("true", "false") and self.next_is_comparison()
        return self.token.kind in {"string", "number"} or self.token.key in {"-", "+"} or typed or constant

    def next_is_comparison(self) -> bool:
        return self.following.kind == "symbol" and self.following.key in _COMPARISONS

    def literal(self) -> Literal:
        token = self.token
        self.at += 1
        if token.kind in {"string", "number"}:
            return literal(token.value)
        if token.key in {"-", "+"} and self.token.kind == "number":
            self.at += 1
            number: Any = self.tokens[self.at - 1].value
            return literal(_negated(number) if token.key == "-" else number)
        if token.is_word("true", "false"):
            return literal(token.key == "true")
        if token.is_word(*_TYPED) and self.token.kind == "string":
            self.at += 1
            return self.typed(token, self.tokens[self.at - 1])
        self.at -= 1
        hint = "; use `is null`" if token.is_word("null") else ""
        raise self.error(f"a literal{hint}")

    def typed(self, kind: Token, text: Token) -> Literal:
        try:
            if kind.key == "date":
                return DateLiteral(temporal.date_from_text(text.value))
            if kind.key == "time":
                return TimeLiteral(temporal.time_from_text(text.value))
            if kind.key == "x":
                return BinaryLiteral(bytes.fromhex(text.value))
            nanos, zoned = temporal.timestamp_nanos_from_text(text.value)
        except ValueError as error:
            raise self.error_at(text, str(error)) from error
        if nanos % temporal.NANOS_PER_MICRO != 0:
            return literal(text.value)
        return TimestampLiteral(nanos // temporal.NANOS_PER_MICRO, zoned)

    def accept(self, key: str) -> bool:
        if self.token.kind in {"word", "symbol"} and self.token.key == key:
            self.at += 1
            return True
        return False

    def expect(self, key: str, what: str) -> None:
        if not (key == self.token.kind == "end" or self.accept(key)):
            raise self.error(what)

    def error(self, expected: str) -> ValidationError:
        return self.error_at(self.token, f"expected {expected}, got {self.token}")

    def error_at(self, token: Token, problem: str) -> ValidationError:
        return ValidationError(
            f"filter, position {token.position}: {problem}\n  {self.text}\n  {' ' * token.position}^"
        )


def _ordinal(term: UnboundTerm, value: Literal) -> Literal:
    """Return the literal to compare a term with; the text or year beside a time transform becomes the ordinal."""
    if not isinstance(term, UnboundTransform) or not isinstance(value, (LongLiteral, StringLiteral)):
        return value
    ordinal = ordinal_of(term.transform, value.value)
    return value if ordinal is None else literal(ordinal)


def _negated(number: Any) -> Any:
    """Return the negative of a number; unary minus would round a Decimal to the context's precision."""
    return number.copy_negate() if isinstance(number, Decimal) else -number


def _prefix_of(pattern: str) -> tuple[str | None, bool]:
    """Return the prefix of a LIKE pattern and whether the pattern ends with %; None as the prefix of any other pattern."""
    prefix, position = [], 0
    while position < len(pattern):
        character = pattern[position]
        if character == "\\" and position + 1 < len(pattern):
            prefix.append(pattern[position + 1])
            position += 2
            continue
        if character == "%":
            return ("".join(prefix), True) if position == len(pattern) - 1 else (None, False)
        if character == "_":
            return None, False
        prefix.append(character)
        position += 1
    return "".join(prefix), False
