"""A table that Java writes, and the filters and reads that are compared on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

ANSWER_COLUMN = "answer of the filter "
MERGE_ON_READ = {
    "write.delete.mode": "merge-on-read",
    "write.update.mode": "merge-on-read",
    "write.merge.mode": "merge-on-read",
}
# Formats of data files that every table of a family is written in.
FORMATS = ("parquet", "avro", "orc")


@dataclass(frozen=True)
class Case:
    """A table and the questions about it.

    Attributes:
        name: Of the table.
        steps: SQL with `{t}` for the table, or functions of a writer and the table's name, in order.
        filters: Filters, each as icefloe has it; with Spark's text after ` -- ` where that differs.
        reads: Where else than at its head the table is read: what follows `VERSION AS OF`, a branch or tag.
        history: Whether every snapshot is read, too.
        answered_by: What Spark reads for the answer, where Java cannot read its table; `{folder}` is what the writer was given.
    """

    name: str
    steps: tuple[str | Callable[[Any, str], None], ...]
    filters: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    history: bool = False
    answered_by: str = "{t}"

    def filters_here(self) -> list[str]:
        return [text.split(" -- ")[0] for text in self.filters]

    def filters_there(self) -> list[str]:
        return [text.split(" -- ")[-1] for text in self.filters]


def create(columns: str, partitioned: str = "", *, version: int = 2, properties: dict[str, str] | None = None) -> str:
    """The statement that creates a table which takes rows in any order."""
    given = {
        "format-version": str(version),
        "write.distribution-mode": "none",
        "write.delete.distribution-mode": "none",
        "write.update.distribution-mode": "none",
        "write.merge.distribution-mode": "none",
        "write.spark.fanout.enabled": "true",
        **(properties or {}),
    }
    listed = ", ".join(f"'{key}'='{value}'" for key, value in given.items())
    parts = f"PARTITIONED BY ({partitioned})" if partitioned else ""
    return f"CREATE TABLE {{t}} ({columns}) USING iceberg {parts} TBLPROPERTIES ({listed})"


def insert(*rows: str) -> str:
    return f"INSERT INTO {{t}} VALUES {', '.join(rows)}"
