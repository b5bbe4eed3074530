"""The syntax tree of the text of a condition or value."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any

from icefloe.exceptions import ValidationError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

QUOTE_HINT = "write a literal text in single quotes: \"'de'\""
_UNESCAPED = {
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "b": "\b",
    "Z": "\x1a",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "%": "\\%",
    "_": "\\_",
}
_ANY_NUMBER = 1_000_000
_FUNCTIONS: dict[str, tuple[int, int]] = {
    **dict.fromkeys(("cast", "isnan", "isnotnull", "isnull"), (1, 1)),
    **dict.fromkeys(("ifnull", "nullif", "nvl"), (2, 2)),
    "coalesce": (1, _ANY_NUMBER),
    **dict.fromkeys(("greatest", "least"), (2, _ANY_NUMBER)),
    "if": (3, 3),
    **dict.fromkeys(("lcase", "length", "lower", "ucase", "upper"), (1, 1)),
    **dict.fromkeys(("contains", "endswith", "startswith"), (2, 2)),
    **dict.fromkeys(("ltrim", "rtrim", "trim"), (1, 2)),
    "concat": (1, _ANY_NUMBER),
    "replace": (2, 3),
    **dict.fromkeys(("substr", "substring"), (1, 3)),  # one argument of `substring(s from 2)`
    "abs": (1, 1),
    **dict.fromkeys(("ceil", "ceiling", "floor", "round"), (1, 2)),
    "mod": (2, 2),
    **dict.fromkeys(("date_add", "date_sub", "datediff"), (2, 2)),
    **dict.fromkeys(("day", "dayofmonth", "month", "year"), (1, 1)),
}
"""The least and greatest number of arguments of each function, of which sqlglot drops further arguments of some."""
_WORDS_BEFORE_PARENTHESES = {
    *(
        "and",
        "between",
        "case",
        "dec",
        "decimal",
        "div",
        "else",
        "from",
        "in",
        "like",
        "not",
        "numeric",
        "or",
        "then",
        "when",
    ),
}
# sqlglot raises these for functions with unexpected arguments.
_PARSER_FAILURES = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.|$)", re.DOTALL)


def parse(text: str, names: Collection[str] = (), *, any_function: bool = False) -> Any:
    """Return the tree of one expression.

    Double quotes next to a dot or around the full name of a column quote a name, as in row filters; otherwise they quote a string,
    as in Spark.

    Args:
        text: One SQL expression.
        names: Full names of columns.
        any_function: Accept functions that the grammar lacks, for a text that Spark evaluates.

    Raises:
        ValidationError: The text is not one SQL expression.
    """
    from sqlglot import exp
    from sqlglot.dialects.spark import Spark
    from sqlglot.errors import SqlglotError

    if not text.strip():
        raise ValidationError("expected an SQL expression, got an empty text")
    dialect = Spark()
    try:
        tokens = _respelled(dialect.tokenize(text), text, names)
        if not any_function:
            _check_functions(tokens, text, names)
        trees = dialect.parser().parse_into(exp.Condition, tokens, text)
    except ValidationError:
        raise
    except (SqlglotError, *_PARSER_FAILURES) as error:
        raise ValidationError(f"not an SQL expression{_position(error)}; {QUOTE_HINT}") from error
    except RecursionError as error:
        raise ValidationError("the expression is nested too deeply; write it as a pyarrow expression") from error
    if len(trees) != 1 or trees[0] is None:
        raise ValidationError(f"expected one SQL expression, got {len(trees)}")
    return trees[0]


def not_in_grammar(names: Collection[str] = ()) -> str:
    """Return the words for a part of a text that the grammar lacks, with what to write instead.

    Args:
        names: Full names of the columns that the text may read.

    >>> not_in_grammar(["target.id"])
    "not part of the SQL of conditions and values; write the whole text as a pyarrow expression, such as pc.field('target.id')"
    """
    example = next(iter(names), "target.id")
    return (
        "not part of the SQL of conditions and values; write the whole text as a pyarrow expression, such as "
        f"pc.field({example!r})"
    )


def conjuncts(node: Any) -> Iterator[Any]:
    """Yield the parts of a condition between its outermost `and`, in order."""
    waiting = [node]
    while waiting:
        part = waiting.pop()
        kind = type(part).__name__
        if kind == "Paren":
            waiting.append(part.this)
        elif kind == "And":
            waiting += [part.expression, part.this]
        else:
            yield part


def piece(node: Any) -> str:
    """Return the SQL of a part of a tree, for messages."""
    try:
        shown: str = node.sql("spark")
    except _PARSER_FAILURES:
        shown = type(node).__name__
    return shown if len(shown) <= 80 else shown[:77] + "..."


def _position(error: Any) -> str:
    """Return the position at which the parser stopped; empty if it reports none."""
    while error is not None:
        for found in getattr(error, "errors", ()):
            if found.get("description") and found.get("col") is not None:
                at = f" at character {found['col']}" if found["col"] else ""
                return f"{at} ({found['description'].rstrip('.')})"
        error = error.__cause__
    return ""


def _respelled(tokens: list[Any], text: str, names: Collection[str]) -> list[Any]:
    """Return tokens with strings unescaped as in Spark and doubled quotes joined."""
    from sqlglot import TokenType

    respelled: list[Any] = []
    end_of_string = -2
    for position, token in enumerate(tokens):
        raw = text[token.start : token.end + 1]
        if token.token_type is TokenType.STRING and raw[:1] in {"'", '"'}:
            if raw[0] == '"' and (raw[1:-1] in names or _is_beside_dot(tokens, position)):
                respelled.append(_copied(token, TokenType.IDENTIFIER, raw[1:-1]))
                continue
            unescaped = _unescaped(raw[1:-1])
            if token.start == end_of_string + 1 and text[end_of_string] == raw[0]:
                last = respelled.pop()
                respelled.append(_copied(last, TokenType.STRING, last.text + raw[0] + unescaped))
            else:
                respelled.append(_copied(token, TokenType.STRING, unescaped))
            end_of_string = token.end
        else:
            respelled.append(token)
    return respelled


def _check_functions(tokens: list[Any], text: str, names: Collection[str]) -> None:
    """Check that every function is supported: sqlglot reads some functions as casts, and drops arguments of others."""
    for index, (token, following) in enumerate(itertools.pairwise(tokens)):
        name = text[token.start : token.end + 1].lower()
        if following.text != "(" or not name.isidentifier() or name in _WORDS_BEFORE_PARENTHESES:
            continue
        if name not in _FUNCTIONS:
            raise ValidationError(f"{name}(): {not_in_grammar(names)}")
        least, most = _FUNCTIONS[name]
        count = _argument_count(tokens[index + 1 :])
        if not least <= count <= most:
            raise ValidationError(f"{name}(): expected {_counted(least, most)}, got {count}")


def _counted(least: int, most: int) -> str:
    """Return words for a number of arguments.

    >>> _counted(1, 3)
    '1 to 3 arguments'
    """
    if least == most:
        return f"{least} argument{'s' if least > 1 else ''}"
    return (
        f"at least {least} argument{'s' if least > 1 else ''}"
        if most == _ANY_NUMBER
        else f"{least} to {most} arguments"
    )


def _argument_count(tokens: Sequence[Any]) -> int:
    """Return the number of arguments within the parentheses that tokens begin with."""
    from sqlglot import TokenType

    depth = commas = inner = 0
    for kind in (token.token_type for token in tokens):
        depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
        commas += depth == 1 and kind is TokenType.COMMA
        if depth == 0:
            break
        inner += 1
    return commas + 1 if inner > 1 else 0


def _is_beside_dot(tokens: list[Any], position: int) -> bool:
    from sqlglot import TokenType

    neighbours = [*tokens[max(position - 1, 0) : position], *tokens[position + 1 : position + 2]]
    return any(token.token_type is TokenType.DOT for token in neighbours)


def _copied(token: Any, kind: Any, text: str) -> Any:
    return type(token)(kind, text, token.line, token.col, token.start, token.end, list(token.comments))


def _unescaped(raw: str) -> str:
    """Return the value of a string literal.

    Raises:
        ValidationError: A backslash starts no escape sequence of Spark, which would drop it.
    """

    def value_of(match: re.Match[str]) -> str:
        found = match[1]
        if found[:1] in {"u", "U"} and len(found) > 1:
            return chr(int(found[1:], 16))
        if found not in _UNESCAPED:
            raise ValidationError(
                f"string: expected a backslash to be written twice, as \\\\, got \\{found} in {raw!r}"
            )
        return _UNESCAPED[found]

    return _ESCAPE.sub(value_of, raw)
