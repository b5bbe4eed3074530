"""The types of the arguments of a function's call within a query, as Spark's analysis finds them."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pyspark.errors import AnalysisException
from pyspark.logger import PySparkLogger

from icefloe.spark.lexer import words_of

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable, Iterator, Sequence

    from icefloe.spark.lexer import Word
    from icefloe.spark.statements.function_call import FunctionCall

_RESULTS = {"truncate": "NULL", "days": "CAST(NULL AS DATE)", "iceberg_version": "''"}
_OTHER_RESULT = "CAST(NULL AS INT)"
_MARK = "/*icefloe*/"
_REJECTS_ALL_BUT_MAPS = "map_keys"
_MISMATCH = "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE"
_QUERIES = ("SELECT", "WITH", "FROM", "VALUES")
_SET_OPERATORS = ("UNION", "INTERSECT", "EXCEPT", "MINUS")
_AFTER_FROM = (
    "WHERE",
    "GROUP",
    "HAVING",
    "ORDER",
    "SORT",
    "CLUSTER",
    "DISTRIBUTE",
    "LIMIT",
    "OFFSET",
    "WINDOW",
    "SELECT",
    "|>",
)
_OF_RESULTS = ("HAVING", "ORDER", "SORT", "CLUSTER", "DISTRIBUTE", "|>")
"""The words after which names are names of the list after SELECT first."""
_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")


def argument_types(
    text: str, calls: Sequence[FunctionCall], arguments: Sequence[str], analyse: Callable[[str], Any]
) -> list[str]:
    """Return Spark's names of the types of the arguments of the last of some calls, in lower case.

    Args:
        text: A query.
        calls: The calls of functions that Spark does not have, in their order.
        arguments: The arguments of the last one, which have no such call.
        analyse: Returns the schema of a query, without running it.

    Raises:
        AnalysisException: The query is wrong.
    """
    with _unlogged():
        query = _query_of_arguments(_with_nulls(text, calls), arguments)
        if query is not None:
            try:
                return [field.dataType.simpleString().lower() for field in analyse(query).fields]
            except AnalysisException:
                pass  # names of queries around this one, or of WITH clauses within it
        return [_reported_type(text, calls, argument, analyse) for argument in arguments]


def _with_nulls(text: str, calls: Sequence[FunctionCall]) -> str:
    """Return a query with nulls of the types of their results in the place of calls, and a mark before the last one."""
    return _edited(text, [edit for call in calls for edit in _nulls(call, _MARK if call is calls[-1] else "")])


def _nulls(call: FunctionCall, mark: str) -> list[tuple[int, int, str]]:
    null = _RESULTS.get(call.function, _OTHER_RESULT)
    # The arguments stay: another call may be among them.
    return [
        (call.start, call.opened, f"{mark}IF(isnull(struct("),
        (call.closed, call.closed + 1, f")), {null}, {null})"),
    ]


def _reported_type(text: str, calls: Sequence[FunctionCall], argument: str, analyse: Callable[[str], Any]) -> str:
    """Return the type that Spark reports where a function that takes no value of any such type has the place of the last call."""
    *others, call = calls
    edits = [edit for other in others for edit in _nulls(other, "")]
    edits.append((call.start, call.closed + 1, f"{_REJECTS_ALL_BUT_MAPS}({argument})"))
    try:
        analyse(_edited(text, edits))
    except AnalysisException as error:
        parameters = error.getMessageParameters() or {}
        of_call = parameters.get("sqlExpr", "").strip('"').startswith(_REJECTS_ALL_BUT_MAPS)
        if (error.getCondition() or "") != _MISMATCH or not of_call:
            raise
        return parameters["inputType"].strip('"').lower()
    return "void or map"


def _query_of_arguments(text: str, arguments: Sequence[str]) -> str | None:
    """Return a query of arguments over the FROM clause of the SELECT around a mark; None if names may be names of its results."""
    words, at = words_of(text), text.index(_MARK)
    index = next(number for number, word in enumerate(words) if word.start > at)
    scope, start = _scope(words, index)
    outer = [number for number in scope if _depth(words, start, number) == 0]
    before = [number for number in outer if number < index]
    first = max((number for number in before if words[number].is_keyword(*_SET_OPERATORS)), default=start - 1)
    if any(number > first and words[number].is_keyword(*_OF_RESULTS) for number in before):
        return None
    selected = f"SELECT {', '.join(f'{one} AS c{number}' for number, one in enumerate(arguments))}"
    tables = [number for number in outer if number > first and _is_from(words, number)]
    if not tables:
        return selected
    ends = (*_SET_OPERATORS, *_AFTER_FROM)
    end = next((number for number in outer if number > tables[0] and words[number].is_keyword(*ends)), scope[-1] + 1)
    clause = text[words[tables[0]].start : words[end - 1].end]
    return f"{_with_clause(text, words, index)}{selected} {clause}"


def _scope(words: list[Word], index: int) -> tuple[range, int]:
    """Return the indexes of the words of the innermost query around a word, and the first of them."""
    opened: list[int] = []
    for number, word in enumerate(words[:index]):
        if word.is_keyword("("):
            opened.append(number)
        elif word.is_keyword(")"):
            opened.pop()
    start = next((number + 1 for number in reversed(opened) if words[number + 1].is_keyword(*_QUERIES)), 0)
    depth, end = 0, len(words)
    for number in range(start, len(words)):
        depth += words[number].is_keyword("(") - words[number].is_keyword(")")
        if depth < 0:
            end = number
            break
    return range(start, end), start


def _depth(words: list[Word], start: int, index: int) -> int:
    """Return the number of parentheses around a word within a query that begins at another one."""
    inner = words[start:index]
    return sum(word.is_keyword("(") - word.is_keyword(")") for word in inner) - words[index].is_keyword(")")


def _is_from(words: list[Word], index: int) -> bool:
    is_comparison = index > 1 and words[index - 1].is_keyword("DISTINCT") and words[index - 2].is_keyword("IS", "NOT")
    return words[index].is_keyword("FROM") and not is_comparison


def _with_clause(text: str, words: list[Word], index: int) -> str:
    """Return the WITH clause of a query before a word; empty if the word is within it."""
    if not words[0].is_keyword("WITH"):
        return ""
    main = next(
        (
            number
            for number, word in enumerate(words)
            if word.is_keyword("SELECT", "FROM") and not _depth(words, 0, number)
        ),
        len(words),
    )
    return text[: words[main].start] if main <= index else ""


def _edited(text: str, edits: Sequence[tuple[int, int, str]]) -> str:
    for start, end, new in sorted(edits, reverse=True):
        text = f"{text[:start]}{new}{text[end:]}"
    return text


@contextmanager
def _unlogged() -> Iterator[None]:
    """Keep the errors of this thread's analyses out of the logs of PySpark during a block."""
    thread = threading.get_ident()

    def of_other_thread(record: logging.LogRecord) -> bool:
        return record.thread != thread

    loggers = [PySparkLogger.getLogger(name) for name in _LOGGERS]
    for logger in loggers:
        logger.addFilter(of_other_thread)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(of_other_thread)
