"""Row-level changes: upserts by one key and by three, a delete by predicate, and batches of changes by key."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from peers.case import Case, Work
from peers.cases.deletes import batch

TARGET_ROWS = 1_000_000
COMPOSITE_ROWS = 10_000_000
SOURCE_ROWS = 200_000
CDC_BATCHES = 50


def prepare(data: Path) -> None:
    data.mkdir(parents=True, exist_ok=True)


def target_rows(count: int = TARGET_ROWS) -> pa.Table:
    parts = [batch(start, min(1_000_000, count - start)) for start in range(0, count, 1_000_000)]
    return with_keys(pa.Table.from_batches(parts))


def source_rows(count: int = SOURCE_ROWS, target: int = TARGET_ROWS) -> pa.Table:
    """Rows of which half exist in the target."""
    return with_keys(pa.Table.from_batches([batch(target - count // 2, count)]))


def with_keys(rows: pa.Table) -> pa.Table:
    """Return rows with the columns `a` and `b`, which with `code` are a key of three columns."""
    ids = rows.column("id").to_numpy()
    return rows.append_column("a", pa.array(ids % 1000)).append_column("b", pa.array(ids // 1000))


def restored(
    data: Path,
    name: str,
    make: Callable[[Path], Any],
    change: Callable[[Any], int],
    rows: Callable[[Any], pa.Table] | None = None,
) -> Work:
    """Return a change of a table that is made anew before each run, untimed; `rows` returns what the first change left behind."""
    folder = data / f"row-level-{name}"
    made: list[Any] = []
    left: list[pa.Table] = []

    def reset() -> None:
        if rows is not None and made and not left:
            left.append(rows(made[0]))
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        made[:] = [make(folder)]
        # What the disk still has to write would be part of the first sync of the change.
        os.sync()

    def work() -> int:
        return change(made[0])

    # The first run is not preceded by a call of `reset`.
    reset()
    work.reset = reset  # type: ignore[attr-defined]
    if rows is not None:
        work.outcome = lambda: left[0]  # type: ignore[attr-defined]
    return work


def icefloe_table(rows: pa.Table, properties: dict[str, str]) -> Callable[[Path], Any]:
    def make(folder: Path) -> Any:
        from icefloe.catalog import load_catalog

        catalog = load_catalog(
            "local", type="sql", uri=f"sqlite:///{folder}/catalog.db", warehouse=str(folder / "data")
        )
        catalog.create_namespace("db")
        table = catalog.create_table("db.t", schema=rows.schema, properties=properties)
        table.append(rows)
        return table

    return make


def pyiceberg_table(rows: pa.Table) -> Callable[[Path], Any]:
    def make(folder: Path) -> Any:
        from pyiceberg.catalog import load_catalog

        catalog = load_catalog(
            "local", type="sql", uri=f"sqlite:///{folder}/catalog.db", warehouse=str(folder / "data")
        )
        catalog.create_namespace("db")
        table = catalog.create_table("db.t", rows.schema)
        table.append(rows)
        return table

    return make


def delta_table(rows: pa.Table) -> Callable[[Path], Any]:
    def make(folder: Path) -> Any:
        import deltalake

        deltalake.write_deltalake(str(folder / "data"), rows)
        return deltalake.DeltaTable(str(folder / "data"))

    return make


def upserted(source: pa.Table, keys: list[str]) -> Callable[[Any], int]:
    def change(table: Any) -> int:
        result = table.upsert(source, join_cols=keys)
        return int(result.rows_updated + result.rows_inserted)

    return change


def merged_by_delta(source: pa.Table, keys: list[str]) -> Callable[[Any], int]:
    def change(table: Any) -> int:
        on = " and ".join(f"s.{key} = t.{key}" for key in keys)
        merge = table.merge(source, on, source_alias="s", target_alias="t")
        counts = merge.when_matched_update_all().when_not_matched_insert_all().execute()
        return int(counts["num_target_rows_updated"] + counts["num_target_rows_inserted"])

    return change


def icefloe_upsert(mode: str, keys: list[str], count: int, target: int):
    return lambda data: restored(
        data,
        f"icefloe-{mode}-{len(keys)}",
        icefloe_table(target_rows(target), {"write.merge.mode": mode}),
        upserted(source_rows(count, target), keys),
    )


def pyiceberg_upsert(data: Path) -> Work:
    return restored(data, "pyiceberg", pyiceberg_table(target_rows()), upserted(source_rows(), ["id"]))


def delta_upsert(keys: list[str], count: int, target: int):
    return lambda data: restored(
        data, f"delta-{len(keys)}", delta_table(target_rows(target)), merged_by_delta(source_rows(count, target), keys)
    )


def icefloe_delete(data: Path) -> Work:
    def change(table: Any) -> int:
        table.delete("price < 1000")
        return int(table.current_snapshot().summary["added-position-deletes"])

    make = icefloe_table(target_rows(COMPOSITE_ROWS), {"write.delete.mode": "merge-on-read"})
    return restored(data, "icefloe-delete", make, change)


def icefloe_scan(name: str, **options: Any):
    """Return the scan of the column that the delete reads."""
    make = icefloe_table(target_rows(COMPOSITE_ROWS), {})

    def rows(table: Any) -> int:
        return int(table.scan(selected_fields=("price",), **options).to_arrow().num_rows)

    return lambda data: restored(data, f"icefloe-{name}", make, rows)


def delta_delete(data: Path) -> Work:
    make = delta_table(target_rows(COMPOSITE_ROWS))
    return restored(data, "delta-delete", make, lambda table: table.delete("price < 1000")["num_deleted_rows"])


def icefloe_changes(data: Path) -> Work:
    random = np.random.default_rng(1)
    batches = []
    for number in range(CDC_BATCHES):
        rows = target_rows(1_000)
        ids = pa.array(random.integers(0, TARGET_ROWS + TARGET_ROWS // 10, rows.num_rows))
        rows = rows.set_column(0, "id", ids).append_column(
            "op", pa.array(random.choice(["I", "U", "D"], rows.num_rows))
        )
        batches.append((str(number), rows))

    def change(table: Any) -> int:
        for number, rows in batches:
            table.apply_changes(rows, ["id"], "op", batch_id=number)
        return len(batches)

    return restored(data, "icefloe-changes", icefloe_table(target_rows(), {}), change)


def delta_changes(data: Path) -> Work:
    sources = [source_rows(1_000) for _ in range(CDC_BATCHES)]
    change = merged_by_delta(sources[0], ["id"])

    def all_batches(table: Any) -> int:
        for _ in sources:
            change(table)
        return len(sources)

    return restored(data, "delta-changes", delta_table(target_rows()), all_batches)


COMPOSITE = (["a", "b", "code"], 100_000, COMPOSITE_ROWS)

CASES = [
    Case(
        name="upsert",
        what="upsert of 200,000 rows into 1M by one key, half of them new",
        prepare=prepare,
        contenders={
            "icefloe": icefloe_upsert("copy-on-write", ["id"], SOURCE_ROWS, TARGET_ROWS),
            "icefloe merge-on-read": icefloe_upsert("merge-on-read", ["id"], SOURCE_ROWS, TARGET_ROWS),
            "delta-rs": delta_upsert(["id"], SOURCE_ROWS, TARGET_ROWS),
            "pyiceberg": pyiceberg_upsert,
        },
        rounds=5,
        same_rows=False,
    ),
    Case(
        name="upsert_composite",
        what="upsert of 100,000 rows into 10M by three keys",
        prepare=prepare,
        contenders={
            "icefloe merge-on-read": icefloe_upsert("merge-on-read", *COMPOSITE),
            "delta-rs": delta_upsert(*COMPOSITE),
        },
        rounds=3,
        same_rows=False,
    ),
    Case(
        name="delete_rows",
        what="delete of 1 % of 10M rows by predicate, beside the scans of its column and of these rows",
        prepare=prepare,
        contenders={
            "icefloe merge-on-read": icefloe_delete,
            "icefloe scan of the column": icefloe_scan("column-scan"),
            "icefloe scan of the rows": icefloe_scan("scan", row_filter="price < 1000"),
            "delta-rs": delta_delete,
        },
        floors=frozenset({"icefloe scan of the column", "icefloe scan of the rows"}),
        rounds=3,
        same_rows=False,
    ),
    Case(
        name="apply_changes",
        what="50 batches of 1,000 changes into 1M rows",
        prepare=prepare,
        contenders={"icefloe": icefloe_changes, "delta-rs merge": delta_changes},
        rounds=3,
        same_rows=False,
    ),
]
