"""``*`` in a query: as in the Java runtime it stands for the columns of the schema, without the metadata columns that the query names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from icefloe.spark.lexer import words_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from icefloe.spark.lexer import Word

    Edit = tuple[int, int, str]

_BEFORE = ("SELECT", "DISTINCT", "ALL", ",", ".")


@dataclass
class _Select:
    """A SELECT under way.

    Attributes:
        depth: Number of parentheses around it.
        stars: Places of its stars in the words.
        tables: Offsets of the tables in its FROM clause.
    """

    depth: int
    stars: list[int]
    tables: list[int]


def star_edits(text: str, hidden: Mapping[int, tuple[str, Sequence[str]]]) -> list[Edit]:
    """Return the edits of a query by which its stars leave out metadata columns.

    Args:
        text: The query.
        hidden: For each table by the offset of its name, its quoted alias and the metadata columns that its frame has.

    Examples:
        >>> star_edits("SELECT *, _file FROM t", {21: ("`t`", ["_file"])})
        [(8, 8, ' EXCEPT (`t`.`_file`)')]
    """
    words = words_of(text)
    edits = []
    for select in _selects(words, hidden):
        for at in select.stars:
            owner = words[at - 2].text if words[at - 1].is_keyword(".") else None
            tables = [hidden[start] for start in select.tables]
            names = [f"{alias}.`{name}`" for alias, columns in tables for name in columns if _is_of(owner, alias)]
            if names:
                edits.append(_edit(words, at, ", ".join(names)))
    return edits


def _selects(words: Sequence[Word], hidden: Mapping[int, object]) -> list[_Select]:
    found, open_selects, depth = list[_Select](), list[_Select](), 0
    for at, word in enumerate(words):
        if word.is_keyword("("):
            depth += 1
        elif word.is_keyword(")"):
            depth -= 1
        while open_selects and (open_selects[-1].depth > depth or _starts_again(word, open_selects[-1].depth, depth)):
            open_selects.pop()
        if word.is_keyword("SELECT"):
            open_selects.append(_Select(depth, [], []))
            found.append(open_selects[-1])
        elif not open_selects:
            continue
        elif word.start in hidden:
            open_selects[-1].tables.append(word.start)
        elif word.is_keyword("*") and words[at - 1].is_keyword(*_BEFORE) and open_selects[-1].depth == depth:
            open_selects[-1].stars.append(at)
    return found


def _starts_again(word: Word, open_depth: int, depth: int) -> bool:
    """Return whether a word is the SELECT of the next query of a UNION."""
    return word.is_keyword("SELECT") and open_depth == depth


def _is_of(owner: str | None, alias: str) -> bool:
    return owner is None or alias.lower() == f"`{owner.replace('`', '``').lower()}`"


def _edit(words: Sequence[Word], at: int, names: str) -> Edit:
    """Return the edit of a star, which may have an EXCEPT clause."""
    after = words[at + 1 : at + 4]
    if (
        len(after) == 3
        and after[0].is_keyword("EXCEPT")
        and after[1].is_keyword("(")
        and not after[2].is_keyword("SELECT")
    ):
        return after[1].end, after[1].end, f"{names}, "
    return words[at].end, words[at].end, f" EXCEPT ({names})"
