"""The functions ``current_catalog``, ``current_database`` and ``current_schema`` in a session whose current catalog is attached."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.spark.lexer import words_of
from icefloe.spark.statements.literals import literal_text
from icefloe.spark.statements.select_list import is_whole_item, select_lists
from icefloe.spark.types.conform import quoted

if TYPE_CHECKING:
    from icefloe.spark.lexer import Word
    from icefloe.spark.statements.current_namespace import CurrentNamespace

_NAMES = {
    "CURRENT_CATALOG": "current_catalog()",
    **dict.fromkeys(("CURRENT_DATABASE", "CURRENT_SCHEMA"), "current_schema()"),
}


def with_current_namespace(text: str, current: CurrentNamespace) -> str:
    """Return a query with the current catalog and namespace in the place of the functions that return them.

    A function that is a whole item of a SELECT list keeps the name of its column.

    Examples:
        >>> from icefloe.spark.statements.current_namespace import CurrentNamespace
        >>> with_current_namespace("SELECT current_catalog(), upper(current_schema())", CurrentNamespace("lake", ("db",)))
        "SELECT 'lake' AS `current_catalog()`, upper('db')"
    """
    words = words_of(text)
    in_list = select_lists(words)
    for index in range(len(words) - 3, -1, -1):
        name = words[index].text.upper()
        if name not in _NAMES or words[index].kind != "word" or not _is_call(words, index):
            continue
        value = literal_text(current.catalog if name == "CURRENT_CATALOG" else current.quoted_namespace)
        if is_whole_item(words, in_list, index, index + 2):
            value = f"{value} AS {quoted(_NAMES[name])}"
        text = f"{text[: words[index].start]}{value}{text[words[index + 2].end :]}"
    return text


def _is_call(words: list[Word], index: int) -> bool:
    """Return whether a name without another before it is followed by empty parentheses."""
    is_qualified = index > 0 and words[index - 1].is_keyword(".")
    return not is_qualified and words[index + 1].is_keyword("(") and words[index + 2].is_keyword(")")
