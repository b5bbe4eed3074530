"""Random programs: a table with a history, and updates, deletes, merges and upserts of it, as texts of Spark's SQL."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from tests.property.typed_sql import ARROW, FIELDS, KINDS, SQL, TypedSql, literal

KIND_OF = {arrow: kind for kind, arrow in ARROW.items()}
VERBS = ("delete", "update", "merge")
TRANSFORMS = {
    "id": ["bucket[3]", "truncate[2]", "identity"],
    "k": ["identity", "truncate[1]", "bucket[2]"],
    "n": ["identity", "truncate[3]"],
    "m": ["bucket[2]"],
    "c": ["truncate[10]", "bucket[2]"],
    "b": ["identity"],
    "d": ["day", "month", "year", "identity"],
    "ts": ["hour", "day"],
    "w": ["month", "bucket[2]"],
}


@dataclass
class Clause:
    """One WHEN: `matched`, `not_matched` or `by_source`, and `update`, `delete` or `insert`; values None for all columns."""

    match: str
    action: str
    condition: str | None
    values: dict[str, str] | None = None


@dataclass
class Statement:
    """A change of the table.

    Args:
        kind: `update`, `delete`, `merge` or `upsert`.
        condition: Condition of the rows, or of the join.
        values: New values of an update.
        clauses: Clauses of a merge.
        keys: Keys of an upsert, or of a merge that has names instead of a condition.
        source: Rows of a merge or an upsert, and the table in subqueries.
        source_keys: Values of every row of the source that the condition of a merge equates with columns of the table.
    """

    kind: str
    condition: str = "true"
    values: dict[str, str] = field(default_factory=dict)
    clauses: list[Clause] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    source: pa.Table | None = None
    source_keys: list[str] = field(default_factory=list)


@dataclass
class Layout:
    """How the table came about.

    Args:
        version: Format version.
        modes: Verb to copy-on-write or merge-on-read.
        specs: Partition fields, column and transform, of the first rows and of later rows.
        batches: Rows of each append, as the newest schema reads them.
        added: Columns that the first append does not have.
        renamed: Column to its name at the first append.
        widened: Columns that were ints at the first append.
        has_dropped: The first append has one more column, which is dropped.
    """

    version: int
    modes: dict[str, str]
    specs: list[list[tuple[str, str]]]
    batches: list[pa.Table]
    added: list[str]
    renamed: dict[str, str]
    widened: list[str]
    has_dropped: bool


class TypedProgram:
    """The table and the statements of one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(f"typed {seed}")
        self.columns = self._columns()
        self.sql = TypedSql(self.random, self.columns)
        self.layout = self._layout()
        self.sql_only = self.random.random() < 0.06
        self.others = self.rows(5)
        self.statements = [self._statement() for _ in range(self.random.choice([1, 1, 2, 2, 3]))]

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([(name, ARROW[KINDS[name]]) for name in self.columns])

    def _columns(self) -> list[str]:
        some = self.random.sample([name for name in KINDS if name not in ("id", "k", "n")], self.random.randrange(1, 6))
        columns = ["id", "k", "n", *some]
        if self.random.random() < 0.3:
            self.random.shuffle(columns)
        return columns

    # ---- the table

    def _layout(self) -> Layout:
        pick = self.random
        version = pick.choice([1, 2, 2])
        modes = {
            verb: "copy-on-write" if version == 1 else pick.choice(["copy-on-write", "merge-on-read"]) for verb in VERBS
        }
        free = [name for name in self.columns if name in TRANSFORMS]
        first = self._spec(free)
        is_evolved = pick.random() < 0.35
        others = [name for name in self.columns if name != "id" and name not in dict(first)]
        added = pick.sample(others, min(len(others), pick.choice([0, 1, 2]))) if is_evolved else []
        renamed = {
            name: f"old{number}"
            for number, name in enumerate(others)
            if is_evolved and name not in added and pick.random() < 0.2
        }
        widened = [name for name in others if is_evolved and name == "m" and name not in added]
        specs = [first, self._spec(free) if is_evolved and pick.random() < 0.5 else first]
        batches = [self.rows(pick.randrange(0, 10)) for _ in range(pick.choice([1, 1, 2, 3]))]
        for name in added:
            batches[0] = batches[0].set_column(
                self.columns.index(name), name, pa.nulls(batches[0].num_rows, ARROW[KINDS[name]])
            )
        has_dropped = is_evolved and pick.random() < 0.4
        if widened:
            batches[0] = self._narrow(batches[0])
        return Layout(version, modes, specs, batches, added, renamed, widened, has_dropped)

    def _narrow(self, rows: pa.Table) -> pa.Table:
        values = [None if value is not None and abs(value) >= 2**31 else value for value in rows["m"].to_pylist()]
        return rows.set_column(self.columns.index("m"), "m", pa.array(values, pa.int64()))

    def _spec(self, names: Sequence[str]) -> list[tuple[str, str]]:
        chosen = self.random.sample(list(names), self.random.choice([0, 0, 1, 1, 2]))
        return [(name, self.random.choice(TRANSFORMS[name])) for name in chosen]

    def rows(self, count: int) -> pa.Table:
        """Return random rows, some of them more than once."""
        rows = [{name: self.sql.cell(KINDS[name]) for name in self.columns} for _ in range(count)]
        rows += [row for row in rows if self.random.random() < 0.05]
        return pa.Table.from_pylist(rows, self.schema)

    # ---- the statements

    def _statement(self) -> Statement:
        pick = self.random.random()
        if pick < 0.15:
            return Statement("delete", self._rows_condition())
        if pick < 0.35:
            return Statement("update", self._rows_condition(), self._values(["target"]))
        if pick < 0.45:
            return self._upsert()
        keys = self._keys() if self.random.random() < 0.3 else []
        on, computed = " and ".join(f"target.{quoted(key)} = source.{quoted(key)}" for key in keys), list[str]()
        if not on:
            on, computed = self._on()
        clauses, source = self._clauses(), self._source(keys or ["id"])
        return Statement("merge", on, clauses=clauses, keys=keys, source=source, source_keys=computed)

    def _rows_condition(self) -> str:
        if not self.sql_only:
            return self.sql.condition(["target"])
        where = self.sql.condition(["s"], 0)
        return self.random.choice(
            [
                f"target.id in (select s.id from {{source}} s where {where})",
                f"target.id not in (select s.id from {{source}} s where {where})",
                f"exists (select 1 from {{source}} s where s.n <=> target.n and {where})",
                f"not exists (select 1 from {{source}} s where s.id = target.id) and {self.sql.condition(['target'], 0)}",
                f"target.n >= (select max(s.n) from {{source}} s where {where})",
            ]
        )

    def _keys(self) -> list[str]:
        names = [name for name in self.columns if KINDS[name] not in ("pair", "double")]
        return ["id", *self.random.sample([name for name in names if name != "id"], self.random.choice([0, 0, 1, 2]))]

    def _upsert(self) -> Statement:
        keys = self._keys()
        rows = unique(self.rows(self.random.randrange(8)).to_pylist(), keys)
        rows = [row for row in rows if all(row[key] is not None for key in keys)]
        return Statement("upsert", keys=keys, source=pa.Table.from_pylist(rows, self.schema))

    def _source(self, keys: Sequence[str]) -> pa.Table:
        rows = self.rows(self.random.randrange(10))
        if self.random.random() < 0.75:
            rows = pa.Table.from_pylist(unique(rows.to_pylist(), keys), self.schema)
        return rows.select(self.random.sample(self.columns, len(self.columns)))

    def _on(self) -> tuple[str, list[str]]:
        """Return the condition of a join, and the computed values in it that every row of the source has as keys."""
        keys = self.random.choice([["id"], ["id"], ["id"], ["id", "k"], ["id", self.random.choice(self.columns)], []])
        names = [name for name in dict.fromkeys(keys) if name != "p"]
        terms = [
            f"{self.sql.column(name, 'target')} {self.random.choice(['=', '=', '=', '<=>'])} {self.sql.column(name, 'source')}"
            for name in names
        ]
        computed = [self.sql.value("int", ["source"], 1)] if self.random.random() < 0.1 else []
        terms += [f"target.n = {value}" for value in computed]
        if not terms or self.random.random() < 0.35:
            sides = self.random.choice([["source"], ["target"], ["source", "target"]])
            terms.append(self.sql.condition(sides, 1))
            # A condition on the source alone may leave out rows whose keys are out of range.
            computed = [] if sides == ["source"] else computed
        self.random.shuffle(terms)
        return " and ".join(terms), computed

    def _clauses(self) -> list[Clause]:
        """Return at least one clause; only the last of each kind may be without a condition."""
        found: list[Clause] = []
        while not found:
            for match, sides in (
                ("matched", ["source", "target"]),
                ("not_matched", ["source"]),
                ("by_source", ["target"]),
            ):
                count = self.random.choice([0, 0, 1, 1, 1, 2, 3] if match != "by_source" else [0, 0, 0, 1, 2])
                for number in range(count):
                    is_bare = number == count - 1 and self.random.random() < 0.5
                    condition = None if is_bare else self.sql.condition(sides, 1)
                    action = "insert" if match == "not_matched" else self.random.choice(["update", "update", "delete"])
                    found.append(Clause(match, action, condition, self._clause_values(match, action, sides)))
        return found

    def _clause_values(self, match: str, action: str, sides: Sequence[str]) -> dict[str, str] | None:
        if action == "delete" or (match != "by_source" and self.random.random() < 0.3):
            return None
        return self._values(sides, whole=action == "insert")

    def _values(self, sides: Sequence[str], *, whole: bool = False) -> dict[str, str]:
        """Return new values of at least one column, or field of `p` unless `whole`."""
        kinds = {name: KINDS[name] for name in self.columns}
        if "p" in kinds and not whole and self.random.random() < 0.7:
            del kinds["p"]
            kinds |= FIELDS
        names = self.random.sample(
            list(kinds),
            self.random.randrange(1, len(kinds) + 1) if whole else min(len(kinds), self.random.randrange(1, 5)),
        )
        return {name: self._new_value(kinds[name], sides) for name in names}

    def _new_value(self, kind: str, sides: Sequence[str]) -> str:
        if kind == "pair":
            return f"{self.random.choice(sides)}.p"
        return self.sql.value(kind, sides)


def quoted(name: str) -> str:
    """Return a column's name as SQL has it."""
    return f"`{name}`" if " " in name else name


def unique(rows: Iterable[dict[str, Any]], keys: Sequence[str]) -> list[dict[str, Any]]:
    """Return the first row of each key."""
    seen: set[tuple[Any, ...]] = set()
    return [row for row in rows if (key := tuple(row[name] for name in keys)) not in seen and not seen.add(key)]  # type: ignore[func-returns-value]


def rows_text(rows: pa.Table) -> str:
    """Return a SELECT of rows."""
    kinds = [KIND_OF[one.type] for one in rows.schema]
    names = ", ".join(
        f"cast(c{number} as {SQL[kind]}) as {quoted(name)}"
        for number, (kind, name) in enumerate(zip(kinds, rows.column_names, strict=True))
    )
    given = rows.to_pylist() or [dict.fromkeys(rows.column_names)]
    values = ", ".join(
        f"({', '.join(literal(kind, value) for kind, value in zip(kinds, row.values(), strict=True))})" for row in given
    )
    columns = ", ".join(f"c{number}" for number in range(rows.num_columns))
    return f"(select {names} from values {values} as v({columns}){'' if rows.num_rows else ' where false'})"


def statement_text(statement: Statement, table: str, others: pa.Table) -> str:
    """Return a statement as SQL.

    Args:
        statement: The statement.
        table: Name of the table.
        others: Rows of subqueries.
    """
    condition = statement.condition.replace("{source}", rows_text(others))
    if statement.kind == "delete":
        return f"DELETE FROM {table} AS target WHERE {condition}"
    if statement.kind == "update":
        return f"UPDATE {table} AS target SET {_assignments(statement.values)} WHERE {condition}"
    if statement.kind == "upsert":
        condition = " and ".join(f"target.{quoted(key)} = source.{quoted(key)}" for key in statement.keys)
        clauses = [Clause("matched", "update", None), Clause("not_matched", "insert", None)]
    else:
        clauses = statement.clauses
    assert statement.source is not None
    whens = " ".join(_when(clause) for clause in clauses)
    return f"MERGE INTO {table} AS target USING {rows_text(statement.source)} AS source ON {condition} {whens}"


def _when(clause: Clause) -> str:
    kind = {"matched": "MATCHED", "not_matched": "NOT MATCHED", "by_source": "NOT MATCHED BY SOURCE"}[clause.match]
    start = f"WHEN {kind}{'' if clause.condition is None else f' AND {clause.condition}'} THEN "
    if clause.action == "delete":
        return start + "DELETE"
    if clause.action == "update":
        return start + f"UPDATE SET {'*' if clause.values is None else _assignments(clause.values)}"
    if clause.values is None:
        return start + "INSERT *"
    names = ", ".join(quoted(name) for name in clause.values)
    return start + f"INSERT ({names}) VALUES ({', '.join(clause.values.values())})"


def _assignments(values: dict[str, str]) -> str:
    return ", ".join(f"target.{quoted(name)} = {value}" for name, value in values.items())
