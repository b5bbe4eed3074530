"""FROM ... INSERT ... INSERT ...: several INSERT statements over one FROM clause."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from icefloe.exceptions import FeatureUnsupportedError, ValidationError
from icefloe.spark.lexer import Cursor, words_of
from icefloe.spark.statements.brackets import depths
from icefloe.spark.statements.insert import planned_insert
from icefloe.spark.statements.spark_write import SparkWrite

if TYPE_CHECKING:
    from collections.abc import Sequence

    from icefloe.spark.lexer import Word
    from icefloe.spark.statements.statement import Statement


_SET_OPERATORS = ("UNION", "INTERSECT", "EXCEPT", "MINUS")


def is_multi_insert(words: Sequence[Word]) -> bool:
    """Return whether the words are a FROM clause with INSERT after it."""
    return words[0].is_keyword("FROM") and bool(_inserts(words))


def multi_insert(statement: Statement, text: str) -> None:
    """Run each INSERT of a statement: one commit for each, in their order, after Spark has analysed all of them.

    All queries read the version of each attached table from before the statement. An INSERT into a table of Spark's own reads the rows that
    Spark's own tables have when its turn comes.
    """
    cursor = Cursor(text)
    starts = [word.start for word in _inserts(cursor.words)]
    source = text[cursor.words[0].start : starts[0]].rstrip()
    _check_no_query(source, "the FROM clause", ("SELECT",))
    parts = [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]
    planned = [planned_insert(statement, _with_source(part, source)) for part in parts]
    for one in planned:
        if isinstance(one, SparkWrite):
            one.check()
    for one in planned:
        one.commit()


def _with_source(part: str, source: str) -> str:
    """Return an INSERT with the FROM clause before its SELECT."""
    cursor = Cursor(part)
    _check_no_query(part, "INSERT", _SET_OPERATORS)
    for word, depth in depths(cursor.words):
        if depth == 0 and word.is_keyword("SELECT"):
            return f"{part[: word.start]}{source} {part[word.start :]}"
    raise FeatureUnsupportedError(
        f"FROM before INSERT: expected INSERT INTO table SELECT ..., got {part.strip()}: write SELECT after the table"
    )


def _check_no_query(text: str, where: str, keywords: tuple[str, ...]) -> None:
    """Raise ValidationError if a part of the statement has a keyword outside of brackets, as Spark does not parse it."""
    found = next((word for word, depth in depths(words_of(text)) if depth == 0 and word.is_keyword(*keywords)), None)
    if found is not None:
        raise ValidationError(
            f"FROM before INSERT: expected FROM tables INSERT INTO table SELECT ..., got {found.text} in {where}: put the query in parentheses "
            "after FROM"
        )


def _inserts(words: Sequence[Word]) -> list[Word]:
    """Return the words INSERT outside of brackets that INTO or OVERWRITE follows."""
    outer = [word for word, depth in depths(words) if depth == 0]
    return [
        word
        for word, after in itertools.pairwise(outer)
        if word.is_keyword("INSERT") and after.is_keyword("INTO", "OVERWRITE")
    ]
