"""The lists after SELECT among the words of a query."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from icefloe.spark.lexer import Word

_ENDS_OF_LIST = ("FROM", "WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "UNION", "EXCEPT", "INTERSECT", "VALUES")
_ENDS_OF_ITEM = (",", ")", *_ENDS_OF_LIST)


def select_lists(words: list[Word]) -> list[bool]:
    """Return for each word whether it is directly in the list after SELECT, not in parentheses within the list.

    Examples:
        >>> from icefloe.spark.lexer import words_of
        >>> select_lists(words_of("SELECT a, f(b) FROM t"))
        [True, True, True, True, True, False, True, False, False]
    """
    found, states = [], [False]
    for word in words:
        if word.is_keyword(")") and len(states) > 1:
            states.pop()
        if word.is_keyword("SELECT"):
            states[-1] = True
        elif word.is_keyword(*_ENDS_OF_LIST):
            states[-1] = False
        found.append(states[-1])
        if word.is_keyword("("):
            states.append(False)
    return found


def is_whole_item(words: list[Word], in_list: list[bool], first: int, last: int) -> bool:
    """Return whether some words are a whole item of the list after SELECT, without a name for the column.

    Args:
        words: The words of a query.
        in_list: The result of :func:`select_lists`.
        first: Index of the first word.
        last: Index of the last word.
    """
    if not in_list[first] or first == 0 or not words[first - 1].is_keyword("SELECT", "DISTINCT", "ALL", ","):
        return False
    return last + 1 == len(words) or words[last + 1].is_keyword(*_ENDS_OF_ITEM)
