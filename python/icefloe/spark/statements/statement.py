"""A statement under way: its session, the attached catalogs, the tables that it has loaded and its parameters."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from icefloe.spark.lexer import words_of
from icefloe.spark.session import is_case_sensitive

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import DataFrame

    from icefloe.spark.statements.attached import AttachedCatalog
    from icefloe.spark.statements.references import References

    Arguments = Mapping[str, Any] | Sequence[Any] | None


@dataclass(frozen=True)
class Statement:
    """A statement under way.

    Args:
        spark: Session.
        lakes: Attached catalogs by name.
        references: Tables that the statement has loaded.
        arguments: Parameters as the caller gave them.
        above: The WITH clause of a change, which its queries begin with; empty without one.
        views: The views of catalogs whose queries this one is a part of, outermost first.
    """

    spark: Any
    lakes: dict[str, AttachedCatalog]
    references: References
    arguments: Arguments = None
    above: str = ""
    views: tuple[str, ...] = ()

    @property
    def named_arguments(self) -> Mapping[str, Any]:
        """The parameters that have names."""
        given = self.arguments
        return {} if given is None or not hasattr(given, "keys") else dict(given)

    def with_named_queries(self, query: str) -> str:
        """Return a query of the statement with the WITH clause before the statement."""
        if not self.above:
            return query
        words = words_of(query)
        # A query with a WITH clause of its own has both in Spark's grammar only where the own one is within parentheses.
        of_its_own = bool(words) and words[0].is_keyword("WITH")
        return f"{self.above}SELECT * FROM ({query})" if of_its_own else self.above + query

    def case_sensitive(self) -> bool:
        """Return whether the session distinguishes names of columns by case."""
        return is_case_sensitive(self.spark)

    def quotes_names(self) -> bool:
        """Return whether double quotes are around names in the session, not around texts."""
        settings = ("spark.sql.ansi.enabled", "spark.sql.ansi.doubleQuotedIdentifiers")
        return all(self.spark.conf.get(key) == "true" for key in settings)

    def values(self, expressions: Sequence[str]) -> list[Any]:
        """Return the values of SQL expressions without columns, computed by Spark."""
        if not expressions:
            return []
        row: Any = run(
            self, "SELECT " + ", ".join(f"{text} AS c{index}" for index, text in enumerate(expressions))
        ).first()
        return list(row)


def run(statement: Statement, text: str, frames: Mapping[str, DataFrame] | None = None) -> DataFrame:
    """Run a text in Spark with the parameters that the text uses."""
    words = words_of(text)
    takes = any(word.is_keyword("?", ":") for word in words)
    arguments = statement.arguments if takes else None
    if arguments is not None and hasattr(arguments, "keys"):
        named = {after.text for word, after in itertools.pairwise(words) if word.is_keyword(":")}
        arguments = {key: value for key, value in statement.named_arguments.items() if key in named}
    frame: DataFrame = statement.spark.sql(text, args=arguments, **(frames or {}))
    return frame


def mentions(statement: Statement, text: str) -> bool:
    """Return whether a text may name a table of an attached catalog."""
    return statement.references.current is not None or names_catalog(statement, text)


def names_catalog(statement: Statement, text: str) -> bool:
    """Return whether a text has a dotted name in an attached catalog, or in a database of its tables."""
    words = words_of(text)
    for word, after in itertools.pairwise(words):
        if word.is_name and after.is_keyword("."):
            if word.text.lower() in statement.lakes:
                return True
            if any(word.text.lower() in lake.databases for lake in statement.lakes.values()):
                return True
    return False
