"""The rows that the statements of a random program leave in a plain table of DuckDB."""

from __future__ import annotations

from collections import Counter
from typing import Any

import duckdb
import pyarrow as pa

from tests.property.typed_outcome import ARITHMETIC, KEY_OUT_OF_RANGE, SEVERAL_MATCHES, counted
from tests.property.typed_program import Clause, Statement, TypedProgram, quoted
from tests.property.typed_sql import in_duckdb

REORDERING = "expression_rewriter,filter_pullup,filter_pushdown,reorder_filter,statistics_propagation"


class TypedModel:
    """The table of a program in DuckDB."""

    def __init__(self, program: TypedProgram) -> None:
        self.program = program
        self.connection = duckdb.connect()
        # Terms are evaluated in the order of the text, also after one that is null, as in Spark; the last of them may be out of range.
        self.connection.execute(f"set timezone = 'UTC'; set disabled_optimizers = '{REORDERING}'")
        self._create("target", pa.concat_tables(program.layout.batches))
        self._create("others", program.others)

    def rows(self) -> Counter[tuple[Any, ...]]:
        names = ", ".join(in_duckdb(quoted(name)) for name in self.program.columns)
        return counted(self.connection.execute(f"select {names} from target").to_arrow_table().to_pylist())

    def apply(self, statement: Statement) -> str | None:
        """Apply a statement, and return why it is refused."""
        if statement.source is not None:
            self._create("source", statement.source)
        try:
            self.connection.execute("begin")
            if self._has_key_out_of_range(statement):
                self.connection.execute("rollback")
                return KEY_OUT_OF_RANGE
            return self._applied(statement)
        except (duckdb.OutOfRangeException, duckdb.ConversionException):
            self.connection.execute("rollback")
            return ARITHMETIC

    def _applied(self, statement: Statement) -> str | None:
        condition = in_duckdb(statement.condition).replace("{source}", "others")
        if statement.kind == "delete":
            self.connection.execute(f"delete from target where coalesce({condition}, false)")
        elif statement.kind == "update":
            self.connection.execute(
                f"update target set {self._assignments(statement.values)} where coalesce({condition}, false)"
            )
        else:
            clauses = statement.clauses
            if statement.kind == "upsert":
                condition = " and ".join(f"target.{_name(key)} = source.{_name(key)}" for key in statement.keys)
                clauses = [Clause("matched", "update", None), Clause("not_matched", "insert", None)]
            if self._changes_a_row_twice(condition, clauses):
                self.connection.execute("rollback")
                return SEVERAL_MATCHES
            self._merge(condition, clauses)
        self.connection.execute("commit")
        return None

    def _has_key_out_of_range(self, statement: Statement) -> bool:
        """Return whether a key of a merge is out of range in a source row: DuckDB evaluates keys of some rows alone, Spark of all."""
        keys = ", ".join(f"({in_duckdb(key)})" for key in statement.source_keys)
        try:
            if keys:
                self.connection.execute(f"select {keys} from source").fetchall()
        except (duckdb.OutOfRangeException, duckdb.ConversionException):
            return True
        return False

    def _create(self, name: str, rows: pa.Table) -> None:
        self.connection.register("given", rows)
        self.connection.execute(f"create or replace table {name} as select * from given")
        self.connection.unregister("given")

    def _changes_a_row_twice(self, on: str, clauses: list[Clause]) -> bool:
        matched = [clause for clause in clauses if clause.match == "matched"]
        if not matched or _deletes_all(matched):
            return False
        changed = " or ".join(f"coalesce({in_duckdb(clause.condition or 'true')}, false)" for clause in matched)
        query = f"select 1 from target join source on {on} where {changed} group by target.rowid having count(*) > 1"
        return bool(self.connection.execute(query).fetchall())

    def _merge(self, on: str, clauses: list[Clause]) -> None:
        matched = [clause for clause in clauses if clause.match == "matched"]
        if _deletes_all(matched):  # DuckDB counts each of several source rows
            inserted = [clause for clause in clauses if clause.match == "not_matched"]
            by_source = [clause for clause in clauses if clause.match == "by_source"]
            self.connection.execute(
                f"create or replace table gone as select rowid as number from target where exists (select 1 from source where {on})"
            )
            if inserted or by_source:
                self._run_merge(on, [*inserted, *by_source])
            self.connection.execute("delete from target where rowid in (from gone)")
            return
        self._run_merge(on, clauses)

    def _run_merge(self, on: str, clauses: list[Clause]) -> None:
        whens = " ".join(self._when(clause) for clause in clauses)
        self.connection.execute(f"merge into target using source on coalesce({on}, false) {whens}")

    def _when(self, clause: Clause) -> str:
        kind = {"matched": "matched", "not_matched": "not matched", "by_source": "not matched by source"}[clause.match]
        start = f"when {kind}{'' if clause.condition is None else f' and coalesce({in_duckdb(clause.condition)}, false)'} then "
        values = clause.values
        if clause.action == "delete":
            return start + "delete"
        if values is None:
            values = {name: f"source.{quoted(name)}" for name in self.program.columns}
        if clause.action == "update":
            return start + f"update set {self._assignments(values)}"
        names = ", ".join(_name(name) for name in values)
        return start + f"insert ({names}) values ({', '.join(in_duckdb(value) for value in values.values())})"

    def _assignments(self, values: dict[str, str]) -> str:
        """Return assignments; a `p` of which a field is set is not null."""
        whole = {name: in_duckdb(value) for name, value in values.items() if "." not in name}
        fields = {name: in_duckdb(value) for name, value in values.items() if "." in name}
        if fields:
            x, y = (fields.get(f"p.{name}", f"target.p.{name}") for name in ("x", "y"))
            whole["p"] = f"struct_pack(x := {x}, y := {y})"
        return ", ".join(f"{_name(name)} = {value}" for name, value in whole.items())


def _name(name: str) -> str:
    return in_duckdb(quoted(name))


def _deletes_all(matched: list[Clause]) -> bool:
    """Return whether any number of source rows may match: the only clause deletes without a condition."""
    return len(matched) == 1 and matched[0].action == "delete" and matched[0].condition is None
