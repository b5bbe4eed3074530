"""Random programs of statements that one session runs on a table of the Java reference and on an equal one of icefloe."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import icefloe.spark
from icefloe.catalog import load_catalog

from tests.interop.java.program_campaign import Campaign
from tests.spark.statements.random_statements import RandomStatements, ordered

STATEMENTS = 6
MODES = ("copy-on-write", "merge-on-read")
SEVERAL_MATCHES = "several source rows match one row of the target"
PARTITIONS = (
    "",
    "PARTITIONED BY (bucket(2, id))",
    "PARTITIONED BY (truncate(1, s))",
    "PARTITIONED BY (id)",
    "PARTITIONED BY (bucket(3, id), s)",
)


class StatementsOfSpark(RandomStatements):
    """Statements of Spark's own grammar: beside those of DuckDB, overwrites, null-safe comparisons, and sources with repeated keys."""

    def comparison(self, sides):
        pick = self.random.random()
        side = self.random.choice(sides)
        if pick < 0.1:
            column = self.random.choice(["id", "n", "s"])
            return f"{side}.{column} <=> {self.value(column)}"
        if pick < 0.15:
            return f"{side}.s LIKE '{self.random.choice(['a%', '%i%', '_', ''])}'"
        return super().comparison(sides)

    def statement(self):
        pick = self.random.random()
        if pick < 0.1:
            return f"INSERT OVERWRITE {{t}} VALUES {self.rows(self.random.randrange(1, 12))}"
        if pick < 0.15:
            return f"INSERT OVERWRITE {{t}} SELECT id, n + 1, s FROM {{t}} AS t WHERE {self.condition(['t'])}"
        if pick < 0.2:
            return f"INSERT INTO {{t}} SELECT id, id, s FROM {{t}} AS t WHERE {self.condition(['t'])}"
        if pick < 0.35:
            return self.merge_of_all_columns()
        return super().statement()

    def merge_of_all_columns(self):
        """Return a merge of `*` clauses whose source may have a key twice or a null one."""
        on = self.random.choice(
            [
                *(
                    "t.id = s.id",
                    "t.n = s.n",
                    "t.s = s.s AND t.id = s.id",
                    "t.n <=> s.n",
                    "t.id = s.id AND t.s <=> s.s",
                ),
                *("t.id = s.id AND t.n >= s.n", "t.id < s.id AND t.s = s.s", "t.id = s.id OR t.n = s.n", "false"),
                *(
                    "t.id = s.id AND t.n IN (1, 3, 5)",
                    "t.n BETWEEN s.id AND s.n AND t.s = s.s",
                    "NOT t.id = s.id AND t.s <=> s.s",
                ),
            ]
        )
        clauses = [
            self.random.choice(["WHEN MATCHED THEN UPDATE SET *", "WHEN MATCHED THEN DELETE"]),
            *self.random.choice([[], ["WHEN NOT MATCHED THEN INSERT *"]]),
            *self.random.choice([[], [f"WHEN NOT MATCHED BY SOURCE AND ({self.condition(['t'])}) THEN DELETE"]]),
        ]
        rows = self.rows(self.random.randrange(1, 6))
        source = f"(SELECT bigint(id) id, bigint(n) n, string(s) s FROM VALUES {rows} AS v(id, n, s))"
        return f"MERGE INTO {{t}} AS t USING {source} AS s ON {on} {' '.join(clauses)}"


def run_program(spark: Any, folder: Path, seed: int) -> dict[str, Any]:
    """Run both programs of a seed, each in a session of its own.

    Returns:
        The steps of the program of statements, and the record of the typed program if its outcomes differ.
    """
    return {"steps": run_steps(spark, folder, seed), "typed": Campaign(spark, folder, 1).run(seed)}


def run_steps(spark: Any, folder: Path, seed: int) -> list[dict[str, Any]]:
    """Run a program of statements in a session of its own.

    Returns:
        Each statement, with why either engine refused it and the rows that a query with a random condition then finds in
        either table; the last query has no condition.
    """
    made = StatementsOfSpark(seed)
    own = spark.newSession()
    own.conf.set("spark.sql.sources.partitionOverwriteMode", made.random.choice(["static", "dynamic"]))
    properties = {"type": "sql", "uri": f"sqlite:///{folder}/program-{seed}.db", "warehouse": f"{folder}/programs"}
    catalog = load_catalog("ours", **properties)
    catalog.create_namespace("db")
    icefloe.spark.attach(own, catalog, "ours", views=False)
    modes = [f"'write.{verb}.mode' = '{made.random.choice(MODES)}'" for verb in ("delete", "update", "merge")]
    columns = f"(id bigint, n bigint, s string) USING {{}} {made.random.choice(PARTITIONS)}"
    engines = {
        "java": (f"java.programs.p{seed}", "iceberg", lambda text: own.sql(text).collect()),
        "icefloe": (f"ours.db.p{seed}", "icefloe", lambda text: icefloe.spark.sql(own, text).collect()),
    }
    for name, source, run in engines.values():
        run(f"CREATE TABLE {name} {columns.format(source)} TBLPROPERTIES ({', '.join(modes)})")
    steps = [f"INSERT INTO {{t}} VALUES {made.rows(10)}", *(made.statement() for _ in range(STATEMENTS))]
    found = []
    for step in steps:
        where = "" if step is steps[-1] else f" WHERE {made.condition(['t'])}"
        outcomes = {
            engine: _outcome(run, step.format(t=name), f"SELECT * FROM {name} AS t{where}")
            for engine, (name, _, run) in engines.items()
        }
        found.append({"statement": step, "where": where, **outcomes})
    icefloe.spark.detach(own, "ours")
    return found


def _outcome(run: Callable[[str], list[Any]], statement: str, query: str) -> dict[str, Any]:
    """Run a statement and a query; return why the statement was refused, None if it was not, and the rows of the query."""
    refused = None
    try:
        run(statement)
    except Exception as error:  # noqa: BLE001  errors of Spark and of icefloe have no class in common
        words = ("MERGE_CARDINALITY_VIOLATION", "everal source rows")
        refused = SEVERAL_MATCHES if any(word in str(error) for word in words) else str(error)[:2000]
    return {"refused": refused, "rows": ordered(run(query))}
