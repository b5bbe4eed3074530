"""The ON condition of MERGE: equalities that become keys, conditions on the source, and conditions on pairs of rows.

Every part keeps the words of the statement: Spark evaluates them, and only names of columns are replaced.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from icefloe.spark.dml.candidate_pairs import of_pairs
from icefloe.spark.lexer import words_of
from icefloe.spark.statements.brackets import depths

if TYPE_CHECKING:
    from collections.abc import Iterator

    from icefloe.spark.lexer import Word
    from icefloe.spark.statements.merge_scope import MergeScope

_OPERATORS = ("=", "==", "<=>")
_OTHER_OPERATORS = (
    *("<", "<=", ">", ">=", "<>", "!=", "!"),
    *("NOT", "OR", "BETWEEN", "IN", "IS", "LIKE", "ILIKE", "RLIKE", "REGEXP"),
)


@dataclass(frozen=True)
class Equality:
    """An equality of a column of the target and a value of the source.

    Attributes:
        target: Name of the target's column.
        value: Spark SQL over `source`.
        null_safe: Null equals null (`<=>`).
    """

    target: str
    value: str
    null_safe: bool


@dataclass(frozen=True)
class OnCondition:
    """The parts of an ON condition, all of which must hold.

    Attributes:
        equalities: At most one for each column of the target.
        of_source: Spark SQL over `source`.
        of_pairs: Spark SQL over `target` and `source`.
        source_columns: The columns of the source that `of_pairs` reads.
        of_target: The words of the parts of `of_pairs` that read columns of the target alone.
        filter_columns: The columns of the source that `of_source` reads.
        in_pairs: The parts of `of_source` and `of_pairs` in the order of the text, all evaluated for pairs of rows with equal keys.
    """

    equalities: tuple[Equality, ...]
    of_source: tuple[str, ...]
    of_pairs: tuple[str, ...]
    source_columns: tuple[str, ...]
    of_target: tuple[str, ...]
    filter_columns: tuple[str, ...]
    in_pairs: tuple[str, ...]

    @staticmethod
    def of(text: str, scope: MergeScope) -> OnCondition:
        """Return the parts of a condition.

        Raises:
            ValidationError: A part does not parse.
            ResolveError: A name is no column, or the name of several.
            FeatureUnsupportedError: The condition has a subquery.
        """
        equalities: dict[str, Equality] = {}
        of_source, on_pairs, of_target, in_pairs = list[str](), list[str](), list[str](), list[str]()
        read, filtered = dict[str, None](), dict[str, None]()
        for part in conjuncts(text):
            rewritten = scope.condition(part, None, "ON")
            equality = _equality(part, scope)
            if equality is not None and equality.target not in equalities:
                equalities[equality.target] = equality
                continue
            columns = scope.columns(part)
            sides = {side for side, _ in columns}
            names = {name: None for side, name in columns if side == "source"}
            (of_source if sides == {"source"} else on_pairs).append(rewritten)
            (filtered if sides == {"source"} else read).update(names)
            if sides == {"target"}:
                of_target.append(part)
            in_pairs.append(rewritten if sides == {"target"} else of_pairs(rewritten))
        found = (tuple(equalities.values()), tuple(of_source), tuple(on_pairs), tuple(read))
        return OnCondition(*found, tuple(of_target), tuple(filtered), tuple(in_pairs))

    def with_source_in_pairs(self) -> OnCondition:
        """Return the condition with the parts on the source among the parts on pairs."""
        return replace(
            self,
            of_source=(),
            filter_columns=(),
            of_pairs=self.in_pairs,
            source_columns=tuple(dict.fromkeys((*self.source_columns, *self.filter_columns))),
        )


def conjuncts(text: str) -> Iterator[str]:
    """Yield the parts of a condition between its outermost AND.

    Examples:
        >>> list(conjuncts("(a = 1 AND b BETWEEN 2 AND 3) AND (c = 4 OR d = 5)"))
        ['a = 1', 'b BETWEEN 2 AND 3', 'c = 4 OR d = 5']
    """
    words = _unwrapped(words_of(text))
    start, in_between = 0, False
    if not words or any(word.is_keyword("OR") for word in _outermost(words)):
        yield _slice(text, words) if words else text
        return
    for index, (word, depth) in enumerate(depths(words)):
        if depth > 0 or not word.is_keyword("AND", "BETWEEN"):
            continue
        if word.is_keyword("AND") and not in_between:
            yield from conjuncts(_slice(text, words[start:index]))
            start = index + 1
        in_between = word.is_keyword("BETWEEN")
    part = _slice(text, words[start:])
    if start == 0:
        yield part
    else:
        yield from conjuncts(part)


def _equality(part: str, scope: MergeScope) -> Equality | None:
    """Return the equality that a part of the condition is."""
    words = words_of(part)
    outermost = list(_outermost(words))
    signs = [word for word in outermost if word.is_keyword(*_OPERATORS)]
    texts = [word.text.upper() for word in outermost]
    if texts.count("IS") == 1 and texts[(at := texts.index("IS")) :][:4] == ["IS", "NOT", "DISTINCT", "FROM"]:
        before, after, null_safe = part[: outermost[at].start], part[outermost[at + 3].end :], True
        rest = [word for word in outermost if not outermost[at].start <= word.start < outermost[at + 3].end]
    elif len(signs) == 1:
        before, after, null_safe = part[: signs[0].start], part[signs[0].end :], signs[0].text == "<=>"
        rest = [word for word in outermost if word is not signs[0]]
    else:
        return None
    if any(word.is_keyword(*_OPERATORS, *_OTHER_OPERATORS) for word in rest):
        return None
    for one, other in ((before, after), (after, before)):
        column = scope.target_column(one)
        if column is not None and all(side == "source" for side, _ in scope.columns(other)):
            return Equality(column, scope.rewritten(other.strip(), "source", "ON"), null_safe)
    return None


def _outermost(words: list[Word]) -> Iterator[Word]:
    """Return the words outside of parentheses, brackets and CASE."""
    return (word for word, depth in depths(words) if depth == 0 and not word.is_keyword(")", "]"))


def _unwrapped(words: list[Word]) -> list[Word]:
    """Return words without the parentheses around all of them."""
    while len(words) > 2 and words[0].is_keyword("(") and _closing(words) == len(words) - 1:
        words = words[1:-1]
    return words


def _closing(words: list[Word]) -> int | None:
    """Return the index of the parenthesis that closes the first one."""
    depth = 0
    for index, word in enumerate(words):
        depth += word.is_keyword("(") - word.is_keyword(")")
        if depth == 0:
            return index
    return None


def _slice(text: str, words: list[Word]) -> str:
    return text[words[0].start : words[-1].end] if words else ""
