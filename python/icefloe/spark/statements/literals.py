"""Values of Python as literals of Spark SQL, for statements whose parts Spark analyses without the parameters."""

from __future__ import annotations

import re
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from icefloe.exceptions import FeatureUnsupportedError, ValidationError
from icefloe.spark.lexer import words_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_PREFIX = "icefloe_"
_NAMED = re.compile(rf":{_PREFIX}\d+\b")
_WORD = re.compile(r"\w")


def with_literals(
    text: str, arguments: Mapping[str, Any] | Sequence[Any] | None, literal: Callable[[Any], str] | None = None
) -> str:
    r"""Return a statement with its parameters replaced by literals.

    Args:
        text: The statement.
        arguments: Values of the parameters.
        literal: Returns the literal of a value; one of Spark SQL if None.

    Raises:
        ValidationError: A parameter has no value.
        FeatureUnsupportedError: A value has no literal.

    Examples:
        >>> with_literals("a = :x AND b = :y", {"x": "it's", "y": 5})
        "a = 'it\\'s' AND b = 5"
    """
    if arguments is None:
        return text
    named: dict[str, Any] = dict(arguments) if hasattr(arguments, "keys") else {}
    values: list[Any] = [] if hasattr(arguments, "keys") else list(arguments)
    words = words_of(text)
    pieces, at, number = [], 0, 0
    for index, word in enumerate(words):
        after = words[index + 1] if index + 1 < len(words) else None
        if word.is_keyword("?") and not named:
            value, end = _at(values, number), word.end
            number += 1
        elif word.is_keyword(":") and after is not None and after.start == word.end and after.text in named:
            value, end = named[after.text], after.end
        else:
            continue
        pieces += [text[at : word.start], (literal or literal_text)(value)]
        at = end
    return "".join([*pieces, text[at:]])


def with_named_parameters(
    text: str, arguments: Mapping[str, Any] | Sequence[Any] | None
) -> tuple[str, Mapping[str, Any] | None]:
    """Return a statement with a name for each ``?``, and the parameters by name.

    Raises:
        ValidationError: A parameter has no value.

    Examples:
        >>> with_named_parameters("a = ? AND b = ?", [1, 2])
        ('a = :icefloe_0 AND b = :icefloe_1', {'icefloe_0': 1, 'icefloe_1': 2})
    """
    if arguments is None or hasattr(arguments, "keys"):
        return text, None if arguments is None else dict(arguments)
    values, pieces, at = list(arguments), [], 0
    named: dict[str, Any] = {}
    for word in words_of(text):
        if word.is_keyword("?"):
            name = f"{_PREFIX}{len(named)}"
            named[name] = _at(values, len(named))
            # Without the space, the name would go on with the letters of `?AND`.
            pieces += [text[at : word.start], f":{name}", " " if _WORD.match(text, word.end) else ""]
            at = word.end
    return "".join([*pieces, text[at:]]), named


def as_given(text: str) -> str:
    """Return a text of a statement with ``?`` for each parameter that the caller gave without a name.

    Examples:
        >>> as_given("a = :icefloe_0 AND b = :x")
        'a = ? AND b = :x'
    """
    return _NAMED.sub("?", text)


def literal_text(value: Any) -> str:
    """Return the literal of a value."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return f"{value}L" if not -(2**31) <= value < 2**31 else str(value)
    if isinstance(value, float):
        return f"CAST('{value}' AS DOUBLE)"
    if isinstance(value, Decimal):
        return f"{value:f}BD"
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    if isinstance(value, bytes):
        return f"X'{value.hex()}'"
    if isinstance(value, datetime):
        moment = value.astimezone(timezone.utc)
        return f"TIMESTAMP '{moment.replace(tzinfo=None).isoformat(sep=' ')}+00:00'"
    if isinstance(value, date):
        return f"DATE '{value.isoformat()}'"
    raise FeatureUnsupportedError(
        f"SQL: a parameter of type {type(value).__name__} is not supported in this statement; expected numbers, texts, bytes, dates, "
        "times, booleans or None"
    )


def _at(arguments: Sequence[Any], number: int) -> Any:
    if number >= len(arguments):
        raise ValidationError(f"SQL: expected a value for each ?, got {len(arguments)} values")
    return arguments[number]


def in_utc(value: Any) -> Any:
    """Return a value of Spark; a time gets its zone, since Spark returns local times without one."""
    return value.astimezone() if isinstance(value, datetime) and value.tzinfo is None else value
