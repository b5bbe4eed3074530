"""The functions of an attached catalog in queries: ``lake.system.bucket(16, id)`` and the other transforms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe import _core
from icefloe.exceptions import ValidationError
from icefloe.spark.lexer import words_of
from icefloe.spark.statements.argument_types import argument_types
from icefloe.spark.statements.function_call import FunctionCall
from icefloe.spark.statements.literals import as_given, literal_text
from icefloe.spark.statements.select_list import is_whole_item, select_lists
from icefloe.spark.statements.show_functions import CATALOG_FUNCTIONS
from icefloe.spark.statements.statement import run
from icefloe.spark.statements.transform_sql import transform_sql
from icefloe.spark.types.conform import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyspark.sql import DataFrame

    from icefloe.spark.lexer import Word
    from icefloe.spark.statements.statement import Statement


def run_query(
    statement: Statement, command: str, text: str, frames: Mapping[str, DataFrame] | None = None
) -> DataFrame:
    """Run a query in Spark with expressions in the place of functions of attached catalogs.

    Args:
        statement: The statement that the query is a part of.
        command: Words before the query for Spark, such as `EXPLAIN`.
        text: The query.
        frames: DataFrames that the query names in braces.

    Raises:
        ValidationError: A function takes other arguments.
    """

    def kinds_of(text: str, calls: Sequence[FunctionCall], arguments: Sequence[str]) -> list[str]:
        return argument_types(text, calls, arguments, lambda probe: run(statement, probe, frames).schema)

    text = with_catalog_functions(statement, text, kinds_of)
    if frames:
        # The text is a format of DataFrames.
        command = command.replace("{", "{{").replace("}", "}}")
    return run(statement, command + text, frames)


def with_catalog_functions(
    statement: Statement, text: str, kinds_of: Callable[[str, Sequence[FunctionCall], Sequence[str]], list[str]]
) -> str:
    """Return a text in which expressions take the place of functions of attached catalogs.

    Args:
        statement: The statement that the text is a part of.
        text: A query or an expression.
        kinds_of: Returns Spark's names of the types of the arguments of the last of some calls in a text.

    Raises:
        ValidationError: A function takes other arguments.
    """
    # The last call has no other one within its arguments.
    while calls := _calls(statement, text):
        call = calls[-1]
        arguments = call.arguments(text)
        if call.function == "iceberg_version":
            new = literal_text(f"icefloe {_core.__version__}")
        else:
            kinds = kinds_of(text, calls, arguments)
            new = f"({transform_sql(statement.spark, call.function, arguments, kinds, call.label)})"
        text = call.replaced(text, new if call.column is None else f"{new} AS {quoted(call.column)}")
    return text


def is_function_namespace(statement: Statement, names: tuple[str, ...]) -> bool:
    """Return whether some names before a function are of the functions of an attached catalog, as in ``lake.system.bucket(16, id)``."""
    *catalog, namespace = names or ("",)
    if catalog or namespace.lower() in statement.lakes:
        is_catalog = len(catalog) == 1 and catalog[0].lower() in statement.lakes
    else:
        is_catalog = statement.references.current is not None
    return is_catalog and namespace.lower() == "system"


def _calls(statement: Statement, text: str) -> list[FunctionCall]:
    """Return the calls of functions of attached catalogs, in their order.

    Raises:
        ValidationError: A catalog has no function of a name.
    """
    words = words_of(text)
    in_list = select_lists(words)
    found = []
    for index, word in enumerate(words):
        length = _length_of_name(statement, words, index)
        if length is None:
            continue
        label = ".".join(one.text for one in words[index : index + length : 2])
        function = words[index + length - 1].text.lower()
        if function not in CATALOG_FUNCTIONS:
            raise ValidationError(f"{label}: expected one of {', '.join(CATALOG_FUNCTIONS)}, got {function}")
        opening = index + length
        closing = _closing(words, opening)
        whole = is_whole_item(words, in_list, index, closing)
        column = f"{label}({as_given(text[words[opening].end : words[closing].start])})" if whole else None
        found.append(
            FunctionCall(
                function=function,
                label=label,
                start=word.start,
                opened=words[opening].end,
                closed=words[closing].start,
                column=column,
            )
        )
    return found


def _length_of_name(statement: Statement, words: list[Word], index: int) -> int | None:
    """Return the number of words in the name of a function of an attached catalog that is called; None for other words."""
    if not words[index].is_name or (index > 0 and words[index - 1].is_keyword(".")):
        return None
    prefix = 0
    if words[index].text.lower() in statement.lakes:
        prefix = 2
    elif statement.references.current is None:
        return None
    following = words[index : index + prefix + 4]
    signs = (*(["."] if prefix else []), ".", "(")
    if len(following) < prefix + 4 or not all(
        sign.is_keyword(text) for sign, text in zip(following[1::2], signs, strict=True)
    ):
        return None
    return prefix + 3 if following[prefix].text.lower() == "system" and following[prefix + 2].is_name else None


def _closing(words: list[Word], opening: int) -> int:
    """Return the index of the parenthesis that closes another one.

    Raises:
        ValidationError: There is none.
    """
    depth = 0
    for index in range(opening, len(words)):
        depth += words[index].is_keyword("(") - words[index].is_keyword(")")
        if depth == 0:
            return index
    raise ValidationError(f"SQL: expected ) after the arguments of {words[opening - 1].text}, got none")
