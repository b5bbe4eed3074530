"""Manifests and manifest lists, between icefloe, PyIceberg and fastavro."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from icefloe import _core
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.manifest import ManifestContent, ManifestEntryStatus, read_manifest_list

pytestmark = pytest.mark.interop

SCHEMA = json.dumps(
    {
        "type": "struct",
        "schema-id": 2,
        "fields": [
            {"id": 1, "name": "id", "required": True, "type": "long"},
            {"id": 2, "name": "at", "required": False, "type": "timestamptz"},
            {"id": 3, "name": "price", "required": False, "type": "decimal(9, 2)"},
        ],
    }
)
SPECS = json.dumps(
    [
        {"spec-id": 0, "fields": []},
        {
            "spec-id": 1,
            "fields": [
                {"name": "at_day", "transform": "day", "source-id": 2, "field-id": 1000},
                {"name": "pri-ce", "transform": "identity", "source-id": 3, "field-id": 1001},
            ],
        },
    ]
)
COUNTS = pa.map_(pa.int32(), pa.int64())
BOUNDS = pa.map_(pa.int32(), pa.binary())


def data_files(paths: list[str], *, spec_id: int = 1, content: int = 0) -> pa.RecordBatch:
    """Return data files, in a partition that depends on their position."""
    tuples = [["2017-12-01", "12.30"], [None, None], ["1969-12-31", "-0.05"]]
    partition = [json.dumps(tuples[row % 3] if spec_id == 1 else []) for row in range(len(paths))]
    rows = len(paths)
    return pa.record_batch(
        {
            "content": pa.array([content] * rows, pa.int32()),
            "file_path": pa.array(paths),
            "file_format": pa.array(["PARQUET"] * rows),
            "spec_id": pa.array([spec_id] * rows, pa.int32()),
            "partition": pa.array(partition),
            "record_count": pa.array(range(1, rows + 1), pa.int64()),
            "file_size_in_bytes": pa.array([1234] * rows, pa.int64()),
            "value_counts": pa.array([[(1, 10), (2, 20)]] * rows, COUNTS),
            "lower_bounds": pa.array([[(1, b"\x01\0\0\0\0\0\0\0")]] * rows, BOUNDS),
            "split_offsets": pa.array([[4, 100]] * rows, pa.list_(pa.int64())),
        }
    )


class Session:
    """The arguments that every call of one snapshot shares."""

    def __init__(self, directory: Path, snapshot_id: int, format_version: int = 2) -> None:
        self.io = _core.FileIo({})
        self.directory = directory
        self.snapshot_id = snapshot_id
        self.options: dict[str, Any] = {
            "schema": SCHEMA,
            "specs": SPECS,
            "format_version": format_version,
            "snapshot_id": snapshot_id,
            "properties": {},
        }

    def prefix(self, name: str) -> str:
        return str(self.directory / f"{name}-{self.snapshot_id}")

    def write(self, entries: pa.RecordBatch, name: str = "new", content: int = 0) -> pa.RecordBatch:
        prefix = self.prefix(name)
        return _core.write_manifests(self.io, prefix, entries, content=content, first_index=0, **self.options)

    def read(self, manifests: pa.RecordBatch, keep: str = "all") -> list[dict[str, Any]]:
        return _core.read_manifest(self.io, manifests, schema=SCHEMA, specs=SPECS, keep=keep).to_pylist()

    def commit(self, manifests: pa.RecordBatch, sequence_number: int) -> pa.RecordBatch:
        """Write the list and return it as the next snapshot sees it."""
        location = str(self.directory / f"snap-{self.snapshot_id}.avro")
        _core.write_manifest_list(
            self.io,
            location,
            manifests,
            format_version=self.options["format_version"],
            snapshot_id=self.snapshot_id,
            parent_snapshot_id=None,
            sequence_number=sequence_number,
        )
        return _core.read_manifest_list(self.io, location)


def concat(*batches: pa.RecordBatch) -> pa.RecordBatch:
    """Return one batch of the rows of several."""
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0]


@pytest.mark.parametrize("format_version", [1, 2])
def test_pyiceberg_reads_what_icefloe_writes(tmp_path: Path, format_version: int) -> None:
    session = Session(tmp_path, 11, format_version)
    session.commit(session.write(data_files(["a", "b", "c"])), 1 if format_version == 2 else 0)
    io = PyArrowFileIO()
    (manifest,) = read_manifest_list(io.new_input(str(tmp_path / "snap-11.avro")))
    assert manifest.content == ManifestContent.DATA
    assert manifest.partition_spec_id == 1
    assert (manifest.added_files_count, manifest.added_rows_count) == (3, 6)
    assert manifest.manifest_length == Path(manifest.manifest_path).stat().st_size
    assert manifest.partitions is not None
    day, price = manifest.partitions
    assert (day.contains_null, day.contains_nan) == (True, False)
    assert (day.lower_bound, day.upper_bound) == (
        (-1).to_bytes(4, "little", signed=True),
        (17501).to_bytes(4, "little"),
    )
    assert (price.lower_bound, price.upper_bound) == (b"\xfb", b"\x04\xce")
    entries = manifest.fetch_manifest_entry(io, discard_deleted=False)
    assert [entry.status for entry in entries] == [ManifestEntryStatus.ADDED] * 3
    assert [entry.snapshot_id for entry in entries] == [11] * 3
    assert [entry.sequence_number for entry in entries] == [format_version - 1] * 3
    assert [entry.data_file.file_path for entry in entries] == ["a", "b", "c"]
    assert entries[0].data_file.value_counts == {1: 10, 2: 20}
    assert entries[0].data_file.lower_bounds == {1: b"\x01\0\0\0\0\0\0\0"}
    assert entries[0].data_file.split_offsets == [4, 100]
    assert [str(value) for value in (entries[0].data_file.partition[1], entries[1].data_file.partition[1])] == [
        "12.30",
        "None",
    ]


def test_fastavro_sees_the_names_and_ids_of_the_spec(tmp_path: Path) -> None:
    session = Session(tmp_path, 11)
    manifests = session.write(data_files(["a"]))
    with Path(manifests["manifest_path"][0].as_py()).open("rb") as stored:
        reader = fastavro.reader(stored)
        schema, metadata, (entry,) = reader.writer_schema, reader.metadata, list(reader)
    assert schema["name"] == "manifest_entry"
    data_file = schema["fields"][-1]["type"]
    assert (data_file["name"], schema["fields"][-1]["field-id"]) == ("r2", 2)
    partition = next(field for field in data_file["fields"] if field["name"] == "partition")["type"]
    assert partition["name"] == "r102"
    assert [field["name"] for field in partition["fields"]] == ["at_day", "pri_x2Dce"]
    assert partition["fields"][1]["iceberg-field-name"] == "pri-ce"
    counts = next(field for field in data_file["fields"] if field["name"] == "value_counts")["type"][1]
    assert (counts["logicalType"], counts["items"]["name"]) == ("map", "k119_v120")
    assert entry["data_file"]["value_counts"] == [{"key": 1, "value": 10}, {"key": 2, "value": 20}]
    assert (entry["sequence_number"], entry["file_sequence_number"]) == (None, None)
    assert json.loads(metadata["schema"])["schema-id"] == 2
    assert [field["field-id"] for field in json.loads(metadata["partition-spec"])] == [1000, 1001]
    assert (metadata["partition-spec-id"], metadata["format-version"], metadata["content"]) == ("1", "2", "data")


def test_golden_manifest_of_pyiceberg_crosses_to_python() -> None:
    golden = Path(__file__).parents[1] / "golden" / "manifests"
    io = _core.FileIo({})
    manifests = _core.read_manifest_list(io, str(golden / "pyiceberg_list_v2.avro")).to_pylist()
    path = str(golden / "pyiceberg_v2.avro")
    rows = pa.RecordBatch.from_pylist([manifests[0] | {"manifest_path": path, "partition_spec_id": 0}])
    with Path(path).open("rb") as stored:
        metadata = fastavro.reader(stored).metadata
    specs = f'[{{"spec-id": 0, "fields": {metadata["partition-spec"]}}}]'
    entries = _core.read_manifest(io, rows, schema=metadata["schema"], specs=specs, keep="live").to_pylist()
    assert [entry["partition"] for entry in entries] == ['["2017-12-01",3]', "[null,null]"]
    assert [entry["sequence_number"] for entry in entries] == [3, 2]


def test_deleted_files_are_recorded_and_other_manifests_kept(tmp_path: Path) -> None:
    first = Session(tmp_path, 1)
    base = first.commit(concat(first.write(data_files(["a", "b"])), first.write(data_files(["c"]), "other")), 1)
    second = Session(tmp_path, 2)
    filtered = _core.filter_manifests(
        second.io, second.prefix("f"), base, deleted_paths=pa.array(["b", "nowhere"]), first_index=0, **second.options
    )
    assert (filtered.rewritten, filtered.missing) == (1, ["nowhere"])
    assert filtered.manifests["manifest_path"].to_pylist()[1] == base["manifest_path"].to_pylist()[1]
    assert filtered.deleted["file_path"].to_pylist() == ["b"]
    after = second.commit(filtered.manifests, 2)
    assert after["sequence_number"].to_pylist() == [2, 1]
    assert after["min_sequence_number"].to_pylist() == [1, 1]
    facts = [
        (e["file_path"], e["status"], e["snapshot_id"], e["sequence_number"], e["file_sequence_number"])
        for e in second.read(after)
    ]
    assert facts == [("a", 0, 1, 1, 1), ("b", 2, 2, 1, 1), ("c", 1, 1, 1, 1)]
    io = PyArrowFileIO()
    manifests = list(read_manifest_list(io.new_input(str(tmp_path / "snap-2.avro"))))
    live = [e.data_file.file_path for m in manifests for e in m.fetch_manifest_entry(io, discard_deleted=True)]
    assert live == ["a", "c"]


def test_merging_keeps_ids_and_forgets_earlier_deletions(tmp_path: Path) -> None:
    first = Session(tmp_path, 1)
    base = first.commit(concat(first.write(data_files(["a", "b"])), first.write(data_files(["c"]), "other")), 1)
    second = Session(tmp_path, 2)
    removed = _core.filter_manifests(
        second.io, second.prefix("f"), base, deleted_paths=pa.array(["b"]), first_index=0, **second.options
    )
    head = second.commit(removed.manifests, 2)
    third = Session(tmp_path, 3)
    deletes = third.write(data_files(["x-deletes"], content=1), "deletes", content=1)
    unpartitioned = third.write(data_files(["u"], spec_id=0), "unpartitioned")
    merged = _core.merge_manifests(
        third.io,
        third.prefix("merged"),
        concat(unpartitioned, third.write(data_files(["d"])), head, deletes),
        first_index=0,
        target_size_bytes=8 << 20,
        min_count_to_merge=2,
        **third.options,
    )
    assert merged["partition_spec_id"].to_pylist() == [1, 0, 1]
    assert merged["content"].to_pylist() == [0, 0, 1]
    entries = third.read(third.commit(merged, 3))
    facts = [(e["file_path"], e["status"], e["snapshot_id"], e["sequence_number"]) for e in entries]
    assert facts == [("d", 1, 3, 3), ("a", 0, 1, 1), ("c", 0, 1, 1), ("u", 1, 3, 3), ("x-deletes", 1, 3, 3)]


def test_newest_manifest_is_merged_from_the_minimum_count_on(tmp_path: Path) -> None:
    first = Session(tmp_path, 1)
    base = first.commit(concat(first.write(data_files(["a"])), first.write(data_files(["b"]), "other")), 1)
    second = Session(tmp_path, 2)
    manifests = concat(second.write(data_files(["c"])), base)
    merge = {"first_index": 0, "min_count_to_merge": 100, **second.options}
    kept = _core.merge_manifests(second.io, second.prefix("x"), manifests, target_size_bytes=8 << 20, **merge)
    assert kept["manifest_path"].to_pylist() == manifests["manifest_path"].to_pylist()
    two = sum(base["manifest_length"].to_pylist())
    older = _core.merge_manifests(second.io, second.prefix("y"), manifests, target_size_bytes=two, **merge)
    assert older["manifest_path"].to_pylist()[0] == manifests["manifest_path"].to_pylist()[0]
    assert older.num_rows == 2


def test_many_entries_are_spread_over_manifests(tmp_path: Path) -> None:
    session = Session(tmp_path, 1)
    manifests = session.write(data_files([f"file-{row}" for row in range(20_001)]))
    assert manifests["added_files_count"].to_pylist() == [6667, 6667, 6667]
    assert [Path(path).name for path in manifests["manifest_path"].to_pylist()] == [
        f"new-1-m{n}.avro" for n in range(3)
    ]
    paths = [entry["file_path"] for entry in session.read(manifests)]
    assert paths == [f"file-{row}" for row in range(20_001)]


def test_error_names_a_file_that_is_no_manifest(tmp_path: Path) -> None:
    from icefloe.exceptions import CorruptFileError

    session = Session(tmp_path, 1)
    manifests = session.write(data_files(["a"]))
    path = Path(manifests["manifest_path"][0].as_py())
    path.write_bytes(path.read_bytes()[:-7])
    with pytest.raises(CorruptFileError, match=str(path)):
        session.read(manifests)


def test_counts_that_version_1_lacks_are_found_when_version_2_needs_them(tmp_path: Path) -> None:
    old = Session(tmp_path, 1, format_version=1)
    rows = old.write(data_files(["a", "b"])).to_pylist()
    counts = ["added_files_count", "existing_files_count", "deleted_files_count", "added_rows_count"]
    bare = pa.RecordBatch.from_pylist(
        [rows[0] | dict.fromkeys(counts)], schema=old.write(data_files(["z"]), "z").schema
    )
    new = Session(tmp_path, 2)
    head = new.commit(bare, 1).to_pylist()
    assert [head[0][name] for name in counts] == [2, 0, 0, 3]
    assert (head[0]["sequence_number"], head[0]["min_sequence_number"]) == (0, 0)
