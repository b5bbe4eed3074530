"""Every operation of Python that writes rows sorts them within files by the table's sort order, and records its id."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from icefloe.catalog import load_catalog
from icefloe.table.sorting import NullOrder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from icefloe.table import Table

SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string()), ("ratio", pa.float64())])


def rows(*ids: int) -> pa.Table:
    names = [None if number % 5 == 0 else f"n{number % 7}" for number in ids]
    ratios = [math.nan if number % 4 == 0 else -number / 2 for number in ids]
    return pa.table({"id": list(ids), "name": names, "ratio": ratios}, schema=SCHEMA)


@pytest.fixture
def table(tmp_path: Path) -> Table:
    catalog = load_catalog("sorted", type="hadoop", warehouse=str(tmp_path))
    catalog.create_namespace("db")
    table = catalog.create_table("db.t", SCHEMA)
    order = table.update_sort_order()
    order.desc("name", None, NullOrder.NULLS_LAST).asc("ratio", None, NullOrder.NULLS_FIRST).commit()
    table.append(rows(*range(20, 0, -1)))
    return table


def sort_key(row: dict[str, Any]) -> tuple[Any, ...]:
    name = row["name"]
    ratio = row["ratio"]
    return name is None, [-ord(each) for each in name or ""], math.isnan(ratio), 0.0 if math.isnan(ratio) else ratio


CHANGES: dict[str, Callable[[Table], Any]] = {
    "append": lambda table: table.append(rows(33, 31, 32, 40)),
    "append_of_a_stream": lambda table: table.append(rows(33, 31, 32, 40).to_reader(max_chunksize=1)),
    "overwrite": lambda table: table.overwrite(rows(33, 31, 32, 40)),
    "overwrite_of_a_part": lambda table: table.overwrite(rows(33, 31, 32), "id < 9"),
    "delete": lambda table: table.delete("id = 7"),
    "upsert": lambda table: table.upsert(rows(19, 3, 50, 41), ["id"]),
    "merge": lambda table: (
        table.merge(rows(19, 3, 50, 41), ["id"]).when_matched_update().when_not_matched_insert().execute()
    ),
}


@pytest.mark.parametrize("mode", ["copy-on-write", "merge-on-read"])
@pytest.mark.parametrize("change", CHANGES)
def test_files_of_every_operation_are_sorted_and_say_so(table: Table, change: str, mode: str) -> None:
    with table.transaction() as transaction:
        transaction.set_properties({f"write.{verb}.mode": mode for verb in ("delete", "update", "merge")})
    before = set(table.inspect.files().column("file_path").to_pylist())
    CHANGES[change](table)
    assert table.metadata.default_sort_order_id == 1
    added = 0
    for file in table.inspect.files().to_pylist():
        if file["content"] != 0:
            assert file["sort_order_id"] is None
            continue
        assert file["sort_order_id"] == 1
        added += file["file_path"] not in before
        found = pq.read_table(file["file_path"]).to_pylist()
        assert found == sorted(found, key=sort_key)
    assert added >= (0 if change == "delete" and mode == "merge-on-read" else 1)


def test_unsorted_table_records_order_0_as_java_does(table: Table) -> None:
    before = set(table.inspect.files().column("file_path").to_pylist())
    table.update_sort_order().commit()
    table.append(rows(9, 8))
    files = [file for file in table.inspect.files().to_pylist() if file["file_path"] not in before]
    assert [file["sort_order_id"] for file in files] == [0]
    assert pq.read_table(files[0]["file_path"]).column("id").to_pylist() == [9, 8]
