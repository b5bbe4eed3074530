"""The attached tables that a query names, found by its words alone: for syntax of Spark that sqlglot does not have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from icefloe.exceptions import NoSuchTableError, ValidationError
from icefloe.spark.lexer import PARSER_KEYWORDS, words_of
from icefloe.spark.statements.query_start import QUERIES
from icefloe.spark.statements.table_places import named_queries, table_places

if TYPE_CHECKING:
    from icefloe.spark.lexer import Word
    from icefloe.spark.statements.references import Reference, References

_OF_VERSIONS = ("FOR", "VERSION", "TIMESTAMP", "SYSTEM_VERSION", "SYSTEM_TIME")
_CHANGES = ("MERGE", "UPDATE", "DELETE")


@dataclass(frozen=True)
class NamedTable:
    """A table of an attached catalog among the words of a query.

    Args:
        reference: The table.
        start: Offset of its first character.
        end: Offset after its name.
        has_alias: Whether a name for the query follows, or none can.
    """

    reference: Reference
    start: int
    end: int
    has_alias: bool


def named_tables(references: References, text: str) -> list[NamedTable] | None:
    """Return the attached tables that a query names; None if a clause for a version follows one of them.

    Raises:
        NoSuchTableError: A name that only a table can have is none of the query's own, nor of a table.
    """
    words = words_of(text)
    places, of_query = table_places(words), named_queries(words)
    is_query = bool(words) and words[0].is_keyword("(", *QUERIES, *_CHANGES)
    found, index = list[NamedTable](), 0
    while index < len(words):
        parts = dotted_name(words[index:])
        end = index + max(2 * len(parts) - 1, 1)
        after = words[end] if end < len(words) else None
        is_call = after is not None and after.is_keyword("(")
        is_table = len(parts) > 1 or index in places
        is_known = len(parts) == 1 and any(one.is_named(parts[0], index) for one in of_query)
        reference = None
        if is_table and not is_call and not is_known:
            reference = _reference(references, parts, required=is_query and places.get(index, False))
        if reference is not None:
            if after is not None and after.is_keyword(*_OF_VERSIONS):
                return None
            # Spark takes no alias after TABLE.
            has_alias = _is_alias(after) or (index > 0 and words[index - 1].is_keyword("TABLE"))
            found.append(NamedTable(reference, words[index].start, words[end - 1].end, has_alias))
        index = end
    return found


def dotted_name(words: list[Word]) -> tuple[str, ...]:
    """Return the parts of the dotted name that some words begin with; empty without a name."""
    parts = list[str]()
    for name, dot in zip(words[::2], [None, *words[1::2]], strict=False):
        if not name.is_name or (dot is not None and not dot.is_keyword(".")):
            break
        parts.append(name.text)
    return tuple(parts)


def _reference(references: References, parts: tuple[str, ...], *, required: bool) -> Reference | None:
    """Return the attached table of a name; None for other names.

    Raises:
        NoSuchTableError: The name is relative to an attached catalog, only a table can have it, and no table does.
    """
    if not parts or not references.is_attached(parts):
        return None
    try:
        return references.resolve(parts)
    except (NoSuchTableError, ValidationError) as error:
        if not required or references.current is None:
            return None
        # Spark would read a table of its own current database by this name.
        raise NoSuchTableError(
            f"{'.'.join(parts)}: no table of {references.current.catalog} has this name, to which USE makes it relative; expected a table, or the "
            f"full name of one elsewhere, such as spark_catalog.default.{parts[-1]}"
        ) from error


def _is_alias(word: Word | None) -> bool:
    return word is not None and (word.is_keyword("AS") or (word.is_name and not word.is_keyword(*PARSER_KEYWORDS)))
