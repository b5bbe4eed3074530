"""A merge with conditions on both sides: matched rows are deleted or updated, others inserted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from peers.case import Case
from peers.cases.row_level import delta_table, icefloe_table, prepare, restored, source_rows, target_rows

SEED = 1


def changes() -> pa.Table:
    """Rows of which half exist in the target, with the column `op`: one in ten is to be deleted."""
    rows = source_rows()
    random = np.random.default_rng(SEED)
    return rows.append_column("op", pa.array(np.where(random.random(rows.num_rows) < 0.1, "D", "U")))


def icefloe(mode: str):
    def setup(data: Path) -> Any:
        source = changes()
        values = {name: f"source.{name}" for name in source.column_names if name != "op"}

        def change(table: Any) -> int:
            merge = table.merge(source, on=["id"])
            merge.when_matched_delete("source.op = 'D'")
            merge.when_matched_update(values, "source.at > target.at")
            merge.when_not_matched_insert(values, "source.op <> 'D'")
            result = merge.execute()
            return int(result.rows_updated + result.rows_deleted + result.rows_inserted)

        make = icefloe_table(target_rows(), {"write.merge.mode": mode})
        return restored(data, f"merge-icefloe-{mode}", make, change, lambda table: table.scan().to_arrow())

    return setup


def delta(data: Path) -> Any:
    source = changes()
    values = {name: f"s.{name}" for name in source.column_names if name != "op"}

    def change(table: Any) -> int:
        merge = table.merge(source, "s.id = t.id", source_alias="s", target_alias="t")
        merge = merge.when_matched_delete("s.op = 'D'")
        merge = merge.when_matched_update(values, "s.at > t.at")
        counts = merge.when_not_matched_insert(values, "s.op <> 'D'").execute()
        return int(sum(counts[f"num_target_rows_{name}"] for name in ("updated", "deleted", "inserted")))

    return restored(
        data, "merge-delta", delta_table(target_rows()), change, lambda table: pa.table(table.to_pyarrow_table())
    )


CASES = [
    Case(
        name="merge",
        what="merge of 200,000 changes into 1M rows by one key: 10% deletes, updates of older rows, half of the keys new",
        prepare=prepare,
        contenders={
            "icefloe": icefloe("copy-on-write"),
            "icefloe merge-on-read": icefloe("merge-on-read"),
            "delta-rs": delta,
        },
        rounds=5,
    ),
]
