"""UPDATE and DELETE of one percent of lineitem in both modes, each round from the same snapshot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from peers.case import Case
from peers.spark_session import JVM_WARM_UPS
from peers.spark_tables import MODES, NAME, ChangedTable, icefloe_change, java_change, lineitem
from peers.tables import raw_lineitem

# One part in a hundred: their line items are one row in a hundred, all over the files.
WHERE = "pmod(l_partkey, 100) = 7"
COMPARED = "l_partkey <= 2000"
SET = {"l_comment": "'updated'", "l_tax": "l_tax + 0.01"}


def prepare(data: Path) -> None:
    raw_lineitem(data)


def icefloe_update(mode: str):
    def setup(data: Path) -> ChangedTable:
        import icefloe.spark

        def change(spark: Any, table: Any) -> int:
            return icefloe.spark.update(table, SET, COMPARED, spark=spark).rows_updated

        return icefloe_change(data, {"write.update.mode": mode}, change)

    return setup


def icefloe_delete(mode: str, where: str):
    def setup(data: Path) -> ChangedTable:
        import icefloe.spark

        def change(spark: Any, table: Any) -> int:
            return icefloe.spark.delete_from(table, where, spark=spark).rows_deleted

        return icefloe_change(data, {"write.delete.mode": mode}, change)

    return setup


def java(verb: str, mode: str, where: str):
    assigned = ", ".join(f"{column} = {value}" for column, value in SET.items())
    statement = f"UPDATE {NAME} SET {assigned}" if verb == "update" else f"DELETE FROM {NAME}"

    def setup(data: Path) -> ChangedTable:
        counted: list[int] = []

        def change(spark: Any) -> int:
            if not counted:
                counted.append(lineitem(spark, data).where(where).count())
            spark.sql(f"{statement} WHERE {where}")
            return counted[0]

        return java_change(data, {f"write.{verb}.mode": mode}, change)

    return setup


def case(name: str, what: str, icefloe: Any, java: Any) -> Case:
    return Case(
        name=name,
        what=f"Spark, local[2]: {what}",
        prepare=prepare,
        warm_ups=JVM_WARM_UPS,
        contenders={"icefloe": icefloe, "Java runtime": java},
        rounds=5,
    )


SHORT = {"merge-on-read": "mor", "copy-on-write": "cow"}
CASES = [
    *(
        case(
            f"spark_update_{SHORT[mode]}",
            f"UPDATE two columns of 1 % of lineitem, {mode}",
            icefloe_update(mode),
            java("update", mode, COMPARED),
        )
        for mode in MODES
    ),
    *(
        case(
            f"spark_delete_{SHORT[mode]}",
            f"DELETE 1 % of lineitem by a comparison, {mode}",
            icefloe_delete(mode, COMPARED),
            java("delete", mode, COMPARED),
        )
        for mode in MODES
    ),
    *(
        case(
            f"spark_delete_sql_{SHORT[mode]}",
            f"DELETE 1 % of lineitem by a function of a column, {mode}",
            icefloe_delete(mode, WHERE),
            java("delete", mode, WHERE),
        )
        for mode in MODES
    ),
]
