"""The places of a query's words where names of tables stand, and the names that the query itself gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from icefloe.spark.lexer import PARSER_KEYWORDS
from icefloe.spark.statements.query_start import QUERIES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from icefloe.spark.lexer import Word

_FUNCTIONS_WITH_FROM = ("EXTRACT", "OVERLAY", "SUBSTR", "SUBSTRING", "TRIM")
_AFTER_TABLES = (
    *("WHERE", "GROUP", "HAVING", "QUALIFY", "WINDOW", "ORDER", "SORT", "CLUSTER", "DISTRIBUTE", "LIMIT", "OFFSET"),
    *("SELECT", "MAP", "REDUCE", "UNION", "EXCEPT", "INTERSECT", "MINUS", "INSERT", "|>"),
)
_AFTER_ALIASES = (",", ")", "|>", "JOIN", *_AFTER_TABLES)


@dataclass(frozen=True, kw_only=True)
class NamedQuery:
    """A common table expression, and the words that may read it.

    Args:
        name: Its name in lower case.
        after: Index of the word after which it can be read.
        before: Index of the word before which it can be read.
    """

    name: str
    after: int
    before: int

    def is_named(self, name: str, index: int) -> bool:
        """Return whether a name at the index of a word is the expression's."""
        return name.lower() == self.name and self.after < index < self.before


@dataclass(kw_only=True)
class _Level:
    """What the words read so far within the innermost brackets say of the next one.

    Args:
        expected: Whether a name of a table may follow.
        certain: Whether nothing but a table has a name there.
        in_list: Whether a comma separates tables.
        has_from: Whether FROM begins a list of tables; it does not within some functions.
        in_merge: Whether USING is before the source of MERGE.
    """

    expected: bool = False
    certain: bool = False
    in_list: bool = False
    has_from: bool = True
    in_merge: bool = False

    def expect(self, *, certain: bool = True) -> None:
        """Note that a name of a table may follow."""
        self.expected, self.certain = True, certain


def table_places(words: Sequence[Word]) -> dict[int, bool]:
    """Return the indices of words at which names of tables begin, each with whether nothing but a table has a name there.

    Examples:
        >>> from icefloe.spark.lexer import words_of
        >>> table_places(words_of("FROM a x, b JOIN (c) USING (d) |> SELECT trim(e FROM f), TABLE"))
        {1: True, 4: True, 7: False}
    """
    found, levels = dict[int, bool](), [_Level()]
    for index, word in enumerate(words):
        level = levels[-1]
        expected, level.expected = level.expected, False
        if word.is_keyword("(", "["):
            of_function = index > 0 and words[index - 1].is_keyword(*_FUNCTIONS_WITH_FROM)
            levels.append(_Level(expected=expected and word.text == "(", has_from=not of_function))
        elif word.is_keyword(")", "]"):
            del levels[max(len(levels) - 1, 1) :]
        elif index > 0 and words[index - 1].is_keyword("."):
            continue
        elif not _read(level, words, index, expected=expected) and expected and word.is_name:
            found[index] = level.certain and not word.is_keyword(*PARSER_KEYWORDS)
    return found


def _read(level: _Level, words: Sequence[Word], index: int, *, expected: bool) -> bool:
    """Note what a keyword or comma says of the following words, and return whether the word is one of these."""
    word = words[index]
    if word.is_keyword("FROM"):
        _read_from(level, words[max(index - 2, 0) : index])
    elif word.is_keyword("JOIN", "TABLE"):
        level.expect(certain=word.is_keyword("JOIN"))
    elif word.is_keyword(","):
        level.expected = level.certain = level.in_list
    elif word.is_keyword("MERGE"):
        level.in_merge = True
    elif word.is_keyword("USING") and level.in_merge:
        level.in_merge = False
        level.expect()
    elif word.is_keyword("LATERAL"):
        _read_lateral(level, words[index + 1 : index + 2], expected=expected)
    elif word.is_keyword(*_AFTER_TABLES) and not _is_alias(words, index):
        level.in_list = False
    else:
        return False
    return True


def _read_from(level: _Level, before: Sequence[Word]) -> None:
    """Note that tables follow FROM, unless it is a part of a function or of a comparison."""
    if level.has_from and not _compares(before):
        level.in_list = True
        level.expect()


def _read_lateral(level: _Level, after: Sequence[Word], *, expected: bool) -> None:
    """Note that LATERAL VIEW ends the tables, and that LATERAL alone is before one."""
    if after and after[0].is_keyword("VIEW"):
        level.in_list = False
    elif expected:
        level.expect(certain=level.certain)


def _compares(before: Sequence[Word]) -> bool:
    """Return whether FROM after some words is a part of IS DISTINCT FROM or IS NOT DISTINCT FROM."""
    return len(before) == 2 and before[0].is_keyword("IS", "NOT") and before[1].is_keyword("DISTINCT")


def _is_alias(words: Sequence[Word], index: int) -> bool:
    """Return whether a word that may begin a clause after the tables is the name of one: words of clauses follow it then."""
    if words[index].kind != "word":
        return False
    is_last = index + 1 == len(words)
    return words[index - 1].is_keyword("AS") or is_last or words[index + 1].is_keyword(*_AFTER_ALIASES)


def named_queries(words: Sequence[Word]) -> list[NamedQuery]:
    """Return the common table expressions of a query.

    Examples:
        >>> from icefloe.spark.lexer import words_of
        >>> named_queries(words_of("WITH A AS (SELECT 1) FROM a"))
        [NamedQuery(name='a', after=6, before=9)]
    """
    closing, around = _brackets(words)
    found = []
    for index, word in enumerate(words):
        if not word.is_keyword("WITH"):
            continue
        at = index + 1
        recursive = _is_at(words, at, "RECURSIVE") and not _is_at(words, at + 1, "AS", "(")
        at += recursive
        while (opening := _opening(words, at, closing)) is not None:
            closed = closing[opening]
            after = opening if recursive else closed
            found.append(NamedQuery(name=words[at].text.lower(), after=after, before=around[index]))
            at = closed + 2
            if not _is_at(words, closed + 1, ","):
                break
    return found


def _opening(words: Sequence[Word], at: int, closing: dict[int, int]) -> int | None:
    """Return the index of the parenthesis before the query of a common table expression; None if a word names none."""
    if at >= len(words) or not words[at].is_name:
        return None
    at += 1
    if _is_at(words, at, "(") and not _is_at(words, at + 1, "(", *QUERIES):
        at = closing[at] + 1
    if _is_at(words, at, "MAX"):
        at += len(("MAX", "RECURSION", "LEVEL", "n"))
    at += _is_at(words, at, "AS")
    return at if _is_at(words, at, "(") else None


def _brackets(words: Sequence[Word]) -> tuple[dict[int, int], list[int]]:
    """Return the index of the word that closes each parenthesis, and for each word the index of the one that closes those around it."""
    closing, opened = dict[int, int](), list[int]()
    outer = list[int | None]()
    for index, word in enumerate(words):
        if word.is_keyword(")") and opened:
            closing[opened.pop()] = index
        outer.append(opened[-1] if opened else None)
        if word.is_keyword("("):
            opened.append(index)
    closing.update(dict.fromkeys(opened, len(words)))
    return closing, [len(words) if one is None else closing[one] for one in outer]


def _is_at(words: Sequence[Word], index: int, *keywords: str) -> bool:
    return index < len(words) and words[index].is_keyword(*keywords)
