"""Random row-level programs: merges, updates and deletes over small tables, as texts that DuckDB reads as well."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

PAIR = pa.struct([("x", pa.int64()), ("y", pa.string())])
SCHEMA = pa.schema([("id", pa.int64()), ("k", pa.string()), ("n", pa.int64()), ("s", pa.string()), ("p", PAIR)])
NUMBERS = ("id", "n", "p.x")
TEXTS = ("k", "s", "p.y")


@dataclass
class Clause:
    """One WHEN: `matched`, `not_matched` or `by_source`, and `update`, `delete` or `insert`."""

    match: str
    action: str
    condition: str | None
    values: dict[str, str] = field(default_factory=dict)


class RandomProgram:
    """Rows and texts of one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def rows(self, count: int, width: int = 12) -> pa.Table:
        """Return rows with few distinct keys, some null."""
        pick = self.random
        rows = [
            {
                "id": None if pick.random() < 0.1 else pick.randrange(width),
                "k": pick.choice([None, "a", "b", "c"]),
                "n": None if pick.random() < 0.15 else pick.randrange(-3, 9),
                "s": pick.choice([None, "", "x", "Yz"]),
                "p": pick.choice([None, {"x": pick.choice([None, 1, 4]), "y": pick.choice([None, "a", "x"])}]),
            }
            for _ in range(count)
        ]
        return pa.Table.from_pylist(rows, SCHEMA)

    def source(self) -> pa.Table:
        """Return rows of a source; most often with one row for each key."""
        rows = self.rows(self.random.randrange(12))
        if self.random.random() < 0.3:
            return rows
        seen: set[object] = set()
        keep = [one["id"] not in seen and not seen.add(one["id"]) for one in rows.to_pylist()]  # type: ignore[func-returns-value]
        return rows.filter(pa.array(keep, pa.bool_()))

    def on(self) -> str:
        """Return the condition of a join: equalities of columns and of values, other conditions, or both."""
        keys = self.random.choice([["id"], ["id"], ["id", "k"], ["k", "n"], []])
        terms = [f"target.{key} {self.random.choice(['=', '=', '=', '<=>'])} source.{key}" for key in keys]
        if self.random.random() < 0.2:
            terms.append(f"target.n = {self.number(['source'])}")
        if not terms or self.random.random() < 0.4:
            terms.append(self.condition(self.random.choice([["source"], ["target"], ["source", "target"]])))
        self.random.shuffle(terms)
        return " and ".join(terms)

    def clauses(self) -> list[Clause]:
        """Return clauses, of which only the last of each kind may be without a condition."""
        found = []
        for match, sides in (("matched", ["source", "target"]), ("not_matched", ["source"]), ("by_source", ["target"])):
            count = self.random.choice([0, 1, 1, 2])
            for number in range(count):
                last = number == count - 1
                condition = None if last and self.random.random() < 0.5 else self.condition(sides)
                action = "insert" if match == "not_matched" else self.random.choice(["update", "update", "delete"])
                values = {} if action == "delete" else self.values(sides, whole=action == "insert")
                found.append(Clause(match, action, condition, values))
        return found

    def values(self, sides: list[str], *, whole: bool = False) -> dict[str, str]:
        """Return new values of at least one column, or field within a struct unless `whole`."""
        settable = [*NUMBERS, *TEXTS]
        if whole or self.random.random() < 0.2:
            settable = [*(name for name in settable if "." not in name), "p"]
        names = self.random.sample(settable, self.random.randrange(1, len(settable) + 1))
        values = {name: self.number(sides) if name in NUMBERS else self.text(sides) for name in names if name != "p"}
        return values | ({"p": f"{self.random.choice(sides)}.p"} if "p" in names else {})

    def condition(self, sides: list[str], depth: int = 2) -> str:
        """Return a boolean text."""
        pick = self.random.random()
        if depth > 0 and pick < 0.4:
            word = self.random.choice(["and", "or"])
            return f"({self.condition(sides, depth - 1)} {word} {self.condition(sides, depth - 1)})"
        if depth > 0 and pick < 0.5:
            return f"not ({self.condition(sides, depth - 1)})"
        if pick < 0.6:
            return f"{self.column(sides, SCHEMA.names)} is {self.random.choice(['', 'not '])}null"
        if pick < 0.7:
            return f"{self.number(sides)} {self.random.choice(['', 'not '])}in ({self.number(sides)}, 3, 5)"
        if pick < 0.75:
            return f"{self.number(sides)} between 0 and {self.number(sides)}"
        operator = self.random.choice(["=", "<>", "<", "<=", ">", ">=", "<=>"])
        if pick < 0.85:
            return f"{self.text(sides)} {operator} {self.text(sides)}"
        return f"{self.number(sides)} {operator} {self.number(sides)}"

    def number(self, sides: list[str], depth: int = 2) -> str:
        """Return a whole number."""
        pick = self.random.random()
        if depth > 0 and pick < 0.3:
            left, right = self.number(sides, depth - 1), self.number(sides, depth - 1)
            return f"({left} {self.random.choice('+-*')} {right})"
        if depth > 0 and pick < 0.4:
            return f"coalesce({self.number(sides, depth - 1)}, {self.random.randrange(9)})"
        if depth > 0 and pick < 0.5:
            left, right = self.number(sides, depth - 1), self.number(sides, depth - 1)
            return f"case when {self.condition(sides, 0)} then {left} else {right} end"
        return self.column(sides, NUMBERS) if pick < 0.85 else str(self.random.randrange(9))

    def text(self, sides: list[str]) -> str:
        """Return a string."""
        pick = self.random.random()
        if pick < 0.2:
            return f"upper({self.column(sides, TEXTS)})"
        return self.column(sides, TEXTS) if pick < 0.7 else self.random.choice(["'a'", "'x'", "''"])

    def column(self, sides: list[str], names: tuple[str, ...] | list[str]) -> str:
        """Return the name of a column of one of the sides."""
        return f"{self.random.choice(sides)}.{self.random.choice(list(names))}"


def new_values(values: dict[str, str], pair: str, default: str = "target.{}") -> str:
    """Return a SELECT list of the new values of all columns.

    Args:
        values: Column, or field of `p`, to value. A `p` of which a field is set is not null.
        pair: Format of a struct of `x` and `y`, in the engine's SQL.
        default: Format of the value of a column that is not set.
    """
    if values.keys() & {"p.x", "p.y"}:
        values = {**values, "p": pair.format(*(values.get(f"p.{name}", f"target.p.{name}") for name in ("x", "y")))}
    return ", ".join(f"{values.get(name, default.format(name))} as {name}" for name in SCHEMA.names)


def merge_query(on: str, clauses: list[Clause], pair: str) -> str:
    """Return the SQL of the changes of a merge of `source` into `target`, which have a column `row` with their number.

    The query has the column `gone` of the target rows that go, and for other rows null and the columns of a new row.
    """
    nothing = ", ".join(f"null as {name}" for name in SCHEMA.names)
    queries = [f"select cast(null as bigint) as gone, {new_values({}, pair)} from target where false"]
    others = {"matched": f"target join source on {on}"}
    others["not_matched"] = f"source where not exists (select 1 from target where {on})"
    others["by_source"] = f"target where not exists (select 1 from source where {on})"
    for match, rows in others.items():
        taken = "false"
        own = [clause for clause in clauses if clause.match == match]
        # Several source rows may match a row that the only clause deletes.
        once = "distinct " if len(own) == 1 and own[0].action == "delete" and own[0].condition is None else ""
        for clause in own:
            condition = f"coalesce({clause.condition or 'true'}, false)"
            where = f"{rows} {'where' if match == 'matched' else 'and'} not ({taken}) and {condition}"
            if clause.action != "insert":
                queries.append(f"select {once}target.row, {nothing} from {where}")
            if clause.action != "delete":
                default = "null" if clause.action == "insert" else "target.{}"
                queries.append(f"select null, {new_values(clause.values, pair, default)} from {where}")
            taken = f"{taken} or {condition}"
    return " union all ".join(queries)


def hashable(row: Iterable[Any]) -> tuple[Any, ...]:
    """Return a row with structs as tuples."""
    return tuple(tuple(value.values()) if isinstance(value, dict) else value for value in row)
