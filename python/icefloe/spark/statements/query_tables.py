"""The attached tables in the tree of a query, with their places in its text and the versions that it selects."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import sqlglot
from sqlglot import exp

from icefloe.exceptions import NoSuchTableError, ValidationError
from icefloe.spark.lexer import words_of
from icefloe.spark.statements.catalog_views import catalog_view
from icefloe.spark.statements.literals import as_given

if TYPE_CHECKING:
    from collections.abc import Collection

    from icefloe.spark.lexer import Word
    from icefloe.spark.statements.references import Reference
    from icefloe.spark.statements.statement import Statement

_VERSION_WORDS = ("FOR", "VERSION", "TIMESTAMP", "SYSTEM_VERSION", "SYSTEM_TIME")


@dataclass(frozen=True)
class TableInQuery:
    """A table of an attached catalog in a query.

    Args:
        node: Its place in the tree.
        reference: The table and its version.
        alias: Its name in the query.
        start: Offset of its first character.
        end: Offset after its name and version.
        alias_at: Offset after which an alias must be added; None if the query has one.
    """

    node: exp.Table
    reference: Reference
    alias: str
    start: int
    end: int
    alias_at: int | None


def tables_in_query(statement: Statement, tree: Any, text: str, frames: Collection[str] = ()) -> list[TableInQuery]:
    """Return the attached tables that a query names; views are left out.

    Args:
        statement: The statement that the query is a part of.
        tree: Syntax tree of the query.
        text: The query.
        frames: Names of DataFrames, which the query reads as tables.

    Raises:
        ValidationError: A version is no version, or a table has two.
        NoSuchTableError: A table does not exist.
    """
    words = words_of(text)
    found = []
    for node in tree.find_all(exp.Table):
        parts = named_node(statement, node, frames)
        if parts is None:
            continue
        try:
            reference = statement.references.resolve(parts)
        except NoSuchTableError:
            if catalog_view(statement.references, parts) is None:
                raise
            continue
        start, name_end = span_of(node)
        end = name_end
        if node.args.get("version") is not None:
            version, end = _version(statement, node, words, text, name_end)
            if reference.version:
                raise ValidationError(
                    f"{'.'.join(parts)}: the name has a version already; expected one version, got two"
                )
            reference = replace(reference, version=version)
        alias = node.alias
        alias_at = None if alias else after_sample(words, end)
        found.append(TableInQuery(node, reference, alias or parts[-1], start, end, alias_at))
    return found


def named_node(statement: Statement, node: exp.Table, frames: Collection[str] = ()) -> tuple[str, ...] | None:
    """Return the parts of a name in an attached catalog; None for a name of the query, a DataFrame or a table of Spark's own."""
    parts = tuple(part.name for part in node.parts)
    if not isinstance(node.parts[-1], exp.Identifier) or (len(parts) == 1 and _is_of_query(node, frames)):
        return None
    return parts if statement.references.is_attached(parts) else None


def _is_of_query(node: exp.Table, frames: Collection[str]) -> bool:
    """Return whether a name is a DataFrame's, or a common table expression's around the place where it stands."""
    if node.name in frames or "start" not in node.parts[0].meta:
        return True
    name = node.name.lower()
    child: Any = node
    while (parent := child.parent) is not None:
        expressions = parent.args.get("with_") or parent.args.get("with")
        if isinstance(parent, exp.With):
            # An expression reads the ones before it, and itself if it is recursive.
            known = list(parent.expressions[: parent.expressions.index(child)])
            known += [child] if parent.args.get("recursive") else []
        else:
            known = [] if expressions is None or expressions is child else expressions.expressions
        if any(one.alias.lower() == name for one in known):
            return True
        child = parent
    return False


def span_of(node: exp.Table) -> tuple[int, int]:
    """Return the offsets of the name of a table.

    Raises:
        ValidationError: The text has no name there.
    """
    first, last = node.parts[0].meta, node.parts[-1].meta
    if "start" not in first:
        raise ValidationError(f"SQL: expected the name of a table, got {node.sql('spark')}")
    return int(first["start"]), int(last["end"]) + 1


def _version(
    statement: Statement, node: exp.Table, words: list[Word], text: str, name_end: int
) -> tuple[dict[str, Any], int]:
    """Return the version in ``VERSION AS OF`` or ``TIMESTAMP AS OF``, and the offset after it."""
    tree = node.args["version"]
    clause = [word for word in words if word.start >= name_end]
    if clause and clause[0].is_keyword("FOR"):
        clause = clause[1:]
    if len(clause) < 4 or not clause[0].is_keyword(*_VERSION_WORDS) or not clause[1].is_keyword("AS"):
        raise ValidationError(
            f"SQL: expected VERSION AS OF or TIMESTAMP AS OF after {node.parts[-1].name}, got {text[name_end:].strip()!r}"
        )
    start = clause[3].start
    expected = tree.expression.sql("spark")
    for word, after in itertools.zip_longest(clause[3:], clause[4:]):
        if after is not None and after.is_keyword("(") and after.start == word.end:
            continue  # the name of a function, which means the same as its call without arguments
        try:
            same = sqlglot.parse_one(text[start : word.end], dialect="spark").sql("spark") == expected
        except sqlglot.errors.SqlglotError:
            continue
        if same:
            return _version_value(statement, clause[0], text[start : word.end]), word.end
    raise ValidationError(f"SQL: expected a version, got {text[start : start + 40]!r}")


def _version_value(statement: Statement, kind: Word, value: str) -> dict[str, Any]:
    if kind.is_keyword("TIMESTAMP", "SYSTEM_TIME"):
        (time,) = statement.values([f"unix_millis(cast(({value}) AS timestamp))"])
        if time is None:
            raise ValidationError(f"TIMESTAMP AS OF {as_given(value)}: expected a time, got null")
        return {"as_of_timestamp": time}
    (version,) = statement.values([f"({value})"])
    if isinstance(version, int):
        return {"snapshot_id": version}
    if isinstance(version, str):
        digits = version.removeprefix("-")
        return {"snapshot_id": int(version)} if digits.isascii() and digits.isdigit() else {"branch": version}
    raise ValidationError(f"VERSION AS OF {as_given(value)}: expected a snapshot id, branch or tag, got {version!r}")


def after_sample(words: list[Word], end: int) -> int:
    """Return the offset after TABLESAMPLE and its parentheses, which stand between a table and its alias."""
    following = [word for word in words if word.start >= end]
    if not following or not following[0].is_keyword("TABLESAMPLE"):
        return end
    depth = 0
    for index, word in enumerate(following):
        depth += word.is_keyword("(") - word.is_keyword(")")
        if depth == 0 and word.is_keyword(")"):
            after = following[index + 1] if index + 1 < len(following) else None
            if after is None or not after.is_keyword("REPEATABLE"):
                return word.end
    return end
