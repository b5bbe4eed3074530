"""The pairs of data files and delete files that planning finds."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pyarrow as pa
from icefloe import _core

from tests.unit.vectors.test_pruning import ENTRY, entry
from tests.unit.vectors.vector_cases import cases, read_context

DELETE_ENTRY = pa.schema(
    [
        ("status", pa.int32()),
        ("snapshot_id", pa.int64()),
        ("sequence_number", pa.int64()),
        ("file_sequence_number", pa.int64()),
        *ENTRY,
        ("equality_ids", pa.list_(pa.int32())),
        ("referenced_data_file", pa.string()),
    ]
)


class Table:
    """A snapshot of files with chosen sequence numbers."""

    def __init__(self, path: Path, schema: dict[str, Any], specs: list[dict[str, Any]]) -> None:
        self.io, self.path, self.schema, self.specs = _core.FileIo({}), path, schema, specs
        self.manifests: list[pa.RecordBatch] = []

    def write(self, files: list[dict[str, Any]], content: int) -> None:
        """Write existing files: added ones could have no sequence number of their own."""
        rows = [{"status": 0, "snapshot_id": 1, **file} for file in files]
        written = _core.write_manifests(
            self.io,
            f"{self.path}/c{content}",
            pa.RecordBatch.from_pylist(rows, schema=DELETE_ENTRY),
            schema=json.dumps(self.schema),
            specs=json.dumps(self.specs),
            format_version=2,
            snapshot_id=1,
            content=content,
            first_index=0,
            properties={},
        )
        self.manifests.append(written)

    def pairs(self) -> dict[str, set[str]]:
        """Return the paths of the delete files of every data file."""
        location = f"{self.path}/list.avro"
        manifests = pa.Table.from_batches(self.manifests).combine_chunks().to_batches()[0]
        ids = {"format_version": 2, "snapshot_id": 1, "parent_snapshot_id": None, "sequence_number": 9}
        _core.write_manifest_list(self.io, location, manifests, **ids)
        plan = _core.plan(
            self.io,
            read_context(self.schema, self.specs),
            manifest_list=location,
            manifests=[],
            filter="true",
            split_size=None,
            include_stats=False,
        )
        deletes = plan.deletes["file_path"].to_pylist()
        found: dict[str, set[str]] = defaultdict(set)
        for row in plan.files.to_pylist():
            found[row["file_path"]] |= {
                delete for run in row["deletes"] for delete in deletes[run["first"] : run["first"] + run["count"]]
            }
        return found


def numbered(path: str, case: dict[str, Any], partition: list[Any]) -> dict[str, Any]:
    """Return an entry of a case's spec and sequence number."""
    numbers = {"sequence_number": case["sequence_number"], "file_sequence_number": case["sequence_number"]}
    return {**entry(path, partition), "record_count": 10, "spec_id": case["spec_id"], **numbers}


def test_sequence_numbers_decide_as_in_the_vectors(tmp_path: Path) -> None:
    schema = {"type": "struct", "fields": [{"id": 1, "name": "id", "required": False, "type": "long"}]}
    specs = [
        {"spec-id": 0, "fields": []},
        {"spec-id": 1, "fields": [{"source-id": 1, "field-id": 1000, "name": "p", "transform": "bucket[8]"}]},
    ]
    table = Table(tmp_path, schema, specs)
    deletes = []
    for name in ("E@4", "E@6", "P@5", "P@6"):
        case = {"spec_id": 0, "sequence_number": int(name[2:])}
        kind = {"content": 2, "equality_ids": [1]} if name[0] == "E" else {"content": 1}
        deletes.append({**numbered(name, case, []), **kind})
    table.write(deletes, 1)
    rows = list(enumerate(cases("delete_applicability")))
    table.write([numbered(str(row), case, [3] if case["spec_id"] else []) for row, case in rows], 0)
    found = table.pairs()
    for row, case in rows:
        assert found[str(row)] == set(case["deletes"]), case


def stats(case: dict[str, Any]) -> dict[str, Any]:
    """Return the statistics of column 1 among 10 rows."""
    known = case.get("stats") or {"null_count": None, "lower": None, "upper": None}
    found: dict[str, Any] = {}
    if known["null_count"] is not None:
        found |= {"value_counts": [(1, 10)], "null_value_counts": [(1, known["null_count"])]}
    for name in ("lower", "upper"):
        if known[name] is not None:
            found[f"{name}_bounds"] = [(1, known[name].to_bytes(8, "little", signed=True))]
    return found


def test_planned_deletes_are_those_of_the_vectors(tmp_path: Path) -> None:
    for number, case in enumerate(cases("delete_index")):
        table = Table(tmp_path / str(number), case["schema"], case["specs"])
        deletes = []
        for row, delete in enumerate(case["deletes"]):
            more = {"content": delete["content"], "referenced_data_file": delete.get("referenced")}
            ids = {"equality_ids": [1]} if delete["content"] == 2 else {}
            deletes.append({**numbered(str(row), delete, delete["partition"]), **stats(delete), **more, **ids})
        table.write(deletes, 1)
        # A path may be there once, so files of one path are planned by themselves, one sequence number after another.
        by_number: dict[int, list[dict[str, Any]]] = defaultdict(list)
        for data in case["data"]:
            by_number[data["sequence_number"]].append(data)
        for sequence, files in by_number.items():
            one = Table(tmp_path / f"{number}-{sequence}", case["schema"], case["specs"])
            one.manifests = list(table.manifests)
            one.write([{**numbered(data["path"], data, data["partition"]), **stats(data)} for data in files], 0)
            found = one.pairs()
            for data in files:
                assert found[data["path"]] == {str(row) for row in data["deletes"]}, data
