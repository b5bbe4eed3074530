"""The table of a random program, made and changed by SQL: by the Java reference, and by icefloe in Spark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import icefloe.spark
from icefloe.catalog import Catalog
from pyspark.sql import DataFrame, SparkSession

from tests.property.typed_outcome import counted, refusal
from tests.property.typed_program import KIND_OF, Statement, TypedProgram, quoted, rows_text, statement_text
from tests.property.typed_sql import SQL
from tests.property.typed_table import first_rows, made_table


class SqlTable:
    """A table that statements change.

    Args:
        program: The program.
        name: Name of the table.
        run: Function that runs a statement.
    """

    def __init__(self, program: TypedProgram, name: str, run: Callable[[str], DataFrame]) -> None:
        self.program, self.name, self.run = program, name, run

    @staticmethod
    def of_java(spark: SparkSession, name: str, program: TypedProgram) -> SqlTable:
        """Create the table of a program by statements."""
        for text in creation(program, name):
            spark.sql(text)
        return SqlTable(program, name, spark.sql)

    @staticmethod
    def of_icefloe(spark: SparkSession, catalog: Catalog, name: str, program: TypedProgram) -> SqlTable:
        """Create the table of a program in a catalog that is attached under its name."""
        made_table(catalog, name, program)
        return SqlTable(program, f"{catalog.name}.{name}", lambda text: icefloe.spark.sql(spark, text))

    def apply(self, statement: Statement) -> str | None:
        """Apply a statement, and return why it is refused."""
        try:
            self.run(statement_text(statement, self.name, self.program.others)).collect()
        except Exception as error:  # noqa: BLE001  errors of Spark and of icefloe have no class in common
            return refusal(error)
        return None

    def rows(self) -> Counter[tuple[Any, ...]]:
        names = ", ".join(quoted(name) for name in self.program.columns)
        return counted(self.run(f"SELECT {names} FROM {self.name}").toArrow().to_pylist())


def creation(program: TypedProgram, name: str) -> Iterator[str]:
    """Yield the statements that make a table with its history."""
    layout, first = program.layout, first_rows(program)
    columns = ", ".join(f"{quoted(one.name)} {SQL[KIND_OF[one.type]]}" for one in first.schema)
    fields = ", ".join(_transform(*one) for one in layout.specs[0])
    modes = {f"write.{verb}.mode": mode for verb, mode in layout.modes.items()}
    properties = ", ".join(f"'{key}' = '{value}'" for key, value in {"format-version": layout.version, **modes}.items())
    parted = f"PARTITIONED BY ({fields})" if fields else ""
    yield f"CREATE TABLE {name} ({columns}) USING iceberg {parted} TBLPROPERTIES ({properties})"
    if first.num_rows:
        yield f"INSERT INTO {name} SELECT * FROM {rows_text(first)} AS v"
    alter = f"ALTER TABLE {name}"
    if layout.has_dropped:
        yield f"{alter} DROP COLUMN gone"
    yield from (f"{alter} ALTER COLUMN {layout.renamed.get(one, one)} TYPE bigint" for one in layout.widened)
    yield from (f"{alter} RENAME COLUMN {old} TO {quoted(one)}" for one, old in layout.renamed.items())
    if layout.added:
        added = [f"{quoted(one)} {SQL[KIND_OF[program.schema.field(one).type]]}" for one in layout.added]
        yield f"{alter} ADD COLUMNS ({', '.join(added)})"
    old, new = layout.specs
    yield from (f"{alter} DROP PARTITION FIELD {_transform(*one)}" for one in old if one not in new)
    yield from (f"{alter} ADD PARTITION FIELD {_transform(*one)}" for one in new if one not in old)
    order = [one for one in first.column_names if one != "gone"]
    names = [*({old: one for one, old in layout.renamed.items()}.get(one, one) for one in order), *layout.added]
    for rows in layout.batches[1:]:
        if rows.num_rows:
            yield f"INSERT INTO {name} SELECT {', '.join(quoted(one) for one in names)} FROM {rows_text(rows)} AS v"


def _transform(column: str, transform: str) -> str:
    if transform == "identity":
        return column
    kind, _, width = transform.rstrip("]").partition("[")
    return f"{kind}({width}, {column})" if width else f"{kind}s({column})"
