"""The table of a random program, made and changed by icefloe in Python."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
import pytest
from icefloe.catalog import Catalog
from icefloe.exceptions import IcebergError
from icefloe.table import Table
from icefloe.types import LongType

from tests.property.dead_clauses import DEAD, has_dead_clause, reading_rows
from tests.property.typed_outcome import counted, refusal
from tests.property.typed_program import VERBS, Clause, Statement, TypedProgram

MATCHES = {"matched": "matched", "not_matched": "not_matched", "by_source": "not_matched_by_source"}


def made_table(catalog: Catalog, name: str, program: TypedProgram) -> Table:
    """Create the table of a program with its history."""
    layout = program.layout
    properties = {"format-version": str(layout.version)} | {f"write.{verb}.mode": layout.modes[verb] for verb in VERBS}
    first = first_rows(program)
    table = catalog.create_table(name, first.schema, properties=properties)
    _partition(table, layout.specs[0])
    table.append(first)
    _evolve(table, program)
    for rows in layout.batches[1:]:
        table.append(rows)
    return table


def first_rows(program: TypedProgram) -> pa.Table:
    """Return the rows of the first append under its schema."""
    layout, rows = program.layout, program.layout.batches[0]
    for name in layout.widened:
        rows = rows.set_column(rows.column_names.index(name), name, rows[name].cast(pa.int32()))
    rows = rows.drop_columns(layout.added) if layout.added else rows
    rows = rows.rename_columns([layout.renamed.get(name, name) for name in rows.column_names])
    if layout.has_dropped:
        rows = rows.add_column(0, "gone", pa.array(["x"] * rows.num_rows, pa.string()))
    return rows


def _partition(table: Table, fields: list[tuple[str, str]], others: list[tuple[str, str]] = []) -> None:  # noqa: B006  never changed
    with table.update_spec() as change:
        for column, transform in others:
            if (column, transform) not in fields:
                change.remove_field(f"{column}_{transform.split('[')[0]}")
        for column, transform in fields:
            if (column, transform) not in others:
                change.add_field(column, transform, f"{column}_{transform.split('[')[0]}")


def _evolve(table: Table, program: TypedProgram) -> None:
    layout = program.layout
    if layout.has_dropped or layout.renamed or layout.widened:
        change = table.update_schema()
        if layout.has_dropped:
            change.delete_column("gone")
        for name in layout.widened:
            change.update_column(layout.renamed.get(name, name), LongType())
        for name, old in layout.renamed.items():
            change.rename_column(old, name)
        change.commit()
    if layout.added:
        table.update_schema().union_by_name(program.schema).commit()
    if layout.specs[1] != layout.specs[0]:
        _partition(table, layout.specs[1], layout.specs[0])


class PythonTable:
    """A table that the methods of tables change."""

    def __init__(self, catalog: Catalog, name: str, program: TypedProgram) -> None:
        self.program = program
        self.table = made_table(catalog, name, program)

    def apply(self, statement: Statement) -> str | None:
        """Apply a statement, and return why it is refused."""
        try:
            apply_statement(self.table, statement, self.program.random.choice([1, 1 << 20]))
        except IcebergError as error:
            self.table.refresh()
            return refusal(error)
        return None

    def rows(self) -> Counter[tuple[Any, ...]]:
        return counted(self.table.scan().to_arrow().select(self.program.columns).to_pylist())


def apply_statement(table: Table, statement: Statement, memory_limit: int) -> None:
    """Apply a statement to a table."""
    if statement.kind == "delete":
        table.delete(statement.condition)
    elif statement.kind == "update":
        table.update(statement.condition, statement.values)
    elif statement.kind == "upsert":
        assert statement.source is not None
        table.upsert(statement.source, join_cols=statement.keys)
    else:
        clauses = statement.clauses
        if has_dead_clause(clauses):
            before = table.metadata_location
            with pytest.raises(IcebergError) as refused:
                _merge_of(table, statement, clauses, memory_limit).execute()
            assert table.refresh().metadata_location == before
            if DEAD not in str(refused.value):  # a key of the join is out of range, which is found first
                raise refused.value
            clauses = [reading_rows(clause) for clause in clauses]
        _merge_of(table, statement, clauses, memory_limit).execute()


def _merge_of(table: Table, statement: Statement, clauses: list[Clause], memory_limit: int) -> Any:
    assert statement.source is not None
    rows = statement.source.to_reader(max_chunksize=3)
    merge = table.merge(rows, statement.keys or statement.condition, memory_limit=memory_limit)
    for clause in clauses:
        add_clause(merge, clause)
    return merge


def add_clause(merge: Any, clause: Clause) -> None:
    """Add a clause to a merge, in Python or Spark."""
    start = f"when_{MATCHES[clause.match]}_{clause.action}"
    if clause.action == "delete":
        getattr(merge, start)(clause.condition)
    elif clause.values is None:
        getattr(merge, f"{start}_all")(clause.condition)
    else:
        getattr(merge, start)(clause.values, clause.condition)
