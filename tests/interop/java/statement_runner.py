"""Runs programs of statements by the SQL of the Java reference and by `icefloe.spark.sql`, and notes what each returns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import icefloe.spark
from icefloe.catalog import load_catalog
from pyspark.sql import DataFrame, SparkSession

from tests.interop.java.statement_programs import Program

REPORTS = ("SELECT", "FROM", "TABLE", "WITH", "SHOW", "DESCRIBE", "EXECUTE IMMEDIATE 'SELECT", "EXECUTE IMMEDIATE q")
"""Beginnings of the statements whose rows are compared."""
OWN = ("current-snapshot-id",)
"""Keys of rows whose values belong to one table alone."""


def run_statements(spark: SparkSession, catalog: str, folder: Path, program: Program) -> list[dict[str, Any]]:
    """Return each statement with the outcome and the table's rows after it, of Java and of icefloe."""
    ours = load_catalog("ours", type="hadoop", warehouse=str(folder / "statements"))
    ours.create_namespace_if_not_exists("statements")
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {catalog}.statements")
    sessions = [spark.newSession(), spark.newSession()]
    for session in sessions:
        for key, value in program.settings.items():
            session.conf.set(key, value)
    icefloe.spark.attach(sessions[1], ours, "ours", views=False)
    theirs = outcomes(sessions[0].sql, f"{catalog}.statements", "iceberg", program)
    own = outcomes(lambda text: icefloe.spark.sql(sessions[1], text), "ours.statements", "icefloe", program)
    noted = [
        {"statement": statement, "java": java, "icefloe": icefloe, "refusals": {"java": why, "icefloe": our_why}}
        for statement, (java, why), (icefloe, our_why) in zip(program.statements, theirs, own, strict=True)
    ]
    icefloe.spark.detach(sessions[1], "ours")
    return noted


def outcomes(
    sql: Callable[[str], DataFrame], namespace: str, table_format: str, program: Program
) -> Iterator[tuple[Any, str | None]]:
    """Run each statement; yield what it returned with the table's rows after it, and why it was refused, None if not."""
    names = {
        "t": f"{namespace}.{program.name}",
        "u": f"{namespace}.{program.name}_2",
        "c": namespace.split(".", maxsplit=1)[0],
        "d": namespace,
        "f": table_format,
    }
    for statement in program.statements:
        text = statement
        for key, name in names.items():
            text = text.replace(f"{{{key}}}", name)
        why = None
        try:
            frame = sql(text)
            found = report(frame, names) if statement.startswith(REPORTS) and "INSERT" not in statement else "done"
        except Exception as error:  # noqa: BLE001  the classes of errors differ, and both refuse
            found, why = "refused", f"{type(error).__name__}: {error}"[:1000]
        try:
            after = report(sql(f"SELECT * FROM {names['t']}"), names)
        except Exception:  # noqa: BLE001  there is no table yet
            after = None
        yield {"outcome": found, "table": after}, why


def report(frame: DataFrame, names: dict[str, str]) -> dict[str, Any]:
    """Return the columns of a frame with their types, and its rows in one order."""
    columns = [f"{field.name} {field.dataType.simpleString()}" for field in frame.schema.fields]
    rows = [[plain(value).replace(names["d"], "{d}") for value in row] for row in frame.collect()]
    rows = [[key, "own"] if key in OWN else [key, *rest] for key, *rest in rows]
    return {"columns": columns, "rows": sorted(rows)}


def plain(value: Any) -> str:
    return repr(value.asDict(recursive=True)) if hasattr(value, "asDict") else str(value)
