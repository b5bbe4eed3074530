"""Entries of manifests: written, listed and read they are what they were, and inherit what they lacked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from icefloe import _core
from icefloe.conversions import from_json_value, to_json_value
from icefloe.types import type_from_text

from tests.property.documents import is_no_nan, longs, ordinals
from tests.property.test_single_values import native

KINDS = ["long", "string", "decimal(9, 2)", "date", "uuid", "double", "timestamptz", "binary", "boolean", "fixed[3]"]
SCHEMA = {
    "type": "struct",
    "schema-id": 4,
    "fields": [{"id": at, "name": f"c-{at}", "required": False, "type": kind} for at, kind in enumerate(KINDS, 1)],
}
SPEC = {
    "spec-id": 2,
    "fields": [
        {"name": f"c-{at}", "transform": "identity", "source-id": at, "field-id": 999 + at}
        for at in range(1, len(KINDS) + 1)
    ],
}
COUNTS, BOUNDS = pa.map_(pa.int32(), pa.int64()), pa.map_(pa.int32(), pa.binary())
MAPS = {
    **dict.fromkeys(["column_sizes", "value_counts", "null_value_counts", "nan_value_counts"], COUNTS),
    **dict.fromkeys(["lower_bounds", "upper_bounds"], BOUNDS),
}
LISTS = {"split_offsets": pa.list_(pa.int64()), "equality_ids": pa.list_(pa.int32())}
ENTRY = pa.schema(
    [
        ("status", pa.int32()),
        ("snapshot_id", pa.int64()),
        ("sequence_number", pa.int64()),
        ("file_sequence_number", pa.int64()),
        ("content", pa.int32()),
        ("file_path", pa.string()),
        ("file_format", pa.string()),
        ("spec_id", pa.int32()),
        ("partition", pa.string()),
        ("record_count", pa.int64()),
        ("file_size_in_bytes", pa.int64()),
        *MAPS.items(),
        ("key_metadata", pa.binary()),
        *LISTS.items(),
        ("sort_order_id", pa.int32()),
        ("referenced_data_file", pa.string()),
    ]
)
SNAPSHOT, SEQUENCE = 77, 9
counts = st.integers(0, 2**63 - 1)


def values(kind: str) -> st.SearchStrategy[Any]:
    """Return JSON single values of a type; bounds of NaN would be none."""
    plain = ordinals(kind).filter(is_no_nan)
    return plain.map(lambda value: to_json_value(type_from_text(kind), native(kind, value)))


def maps(value: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    pairs = st.dictionaries(st.integers(1, 2**31 - 1), value, max_size=4).map(lambda found: list(found.items()))
    return st.none() | pairs


@st.composite
def entries(draw: st.DrawFn, content: int) -> dict[str, Any]:
    """Draw an entry as its writer knows it: an added one has no file sequence number."""
    status = draw(st.sampled_from([0, 1, 2]))
    sequence = draw(st.integers(0, SEQUENCE - 1))
    tuple_json = [draw(st.none() | values(kind)) for kind in KINDS]
    found = {
        "status": status,
        "snapshot_id": draw(st.none() | longs) if status == 1 else draw(longs),
        "sequence_number": draw(st.none() | st.just(sequence)) if status == 1 else sequence,
        "file_sequence_number": None if status == 1 else draw(st.integers(0, sequence)),
        "content": content if content == 0 else draw(st.sampled_from([1, 2])),
        "file_path": "s3://b/" + draw(st.text(st.characters(codec="utf-8"), max_size=12)),
        "file_format": draw(st.sampled_from(["PARQUET", "AVRO", "ORC"])),
        "spec_id": 2,
        "partition": json.dumps(tuple_json),
        "record_count": draw(st.integers(0, 2**60)),
        "file_size_in_bytes": draw(counts),
        "key_metadata": draw(st.none() | st.binary(max_size=8)),
        "split_offsets": draw(st.none() | st.lists(counts, max_size=3)),
        "equality_ids": draw(st.none() | st.lists(st.integers(1, 2**31 - 1), max_size=3)),
        "sort_order_id": draw(st.none() | st.integers(0, 2**31 - 1)),
        "referenced_data_file": draw(st.none() | st.just("s3://b/data")) if content else None,
    }
    for name, kind in MAPS.items():
        found[name] = draw(maps(counts if kind == COUNTS else st.binary(max_size=8)))
    return found


def inherited(entry: dict[str, Any]) -> dict[str, Any]:
    """Return what a reader makes of an entry of the commit."""
    found = read_back(entry)
    if found["snapshot_id"] is None:
        found["snapshot_id"] = SNAPSHOT
    if found["status"] == 1:
        found["sequence_number"] = SEQUENCE if found["sequence_number"] is None else found["sequence_number"]
        found["file_sequence_number"] = SEQUENCE
    return found


def read_back(found: dict[str, Any]) -> dict[str, Any]:
    """Return an entry with the values of its tuple, which have more than one text."""
    texts = json.loads(found["partition"])
    return {
        **found,
        "partition": [from_json_value(type_from_text(kind), text) for kind, text in zip(KINDS, texts, strict=True)],
    }


@settings(max_examples=25)
@given(
    content=st.sampled_from([0, 1]), codec=st.sampled_from(["gzip", "zstd", "snappy", "uncompressed"]), data=st.data()
)
def test_entries_are_read_as_they_were_written(
    content: int, codec: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    rows = data.draw(st.lists(entries(content), min_size=1, max_size=6))
    directory = tmp_path_factory.mktemp("m")
    io, shared = _core.FileIo({}), {"schema": json.dumps(SCHEMA), "specs": json.dumps([SPEC])}
    manifests = _core.write_manifests(
        io,
        str(directory / "m"),
        pa.RecordBatch.from_pylist(rows, schema=ENTRY),
        format_version=2,
        snapshot_id=SNAPSHOT,
        content=content,
        first_index=0,
        properties={"write.manifest.compression-codec": codec},
        **shared,
    )
    location = str(directory / "list.avro")
    ids = {"format_version": 2, "snapshot_id": SNAPSHOT, "parent_snapshot_id": None, "sequence_number": SEQUENCE}
    _core.write_manifest_list(io, location, manifests, **ids)
    listed = _core.read_manifest_list(io, location)
    found = [read_back(row) for row in _core.read_manifest(io, listed, keep="all", **shared).to_pylist()]
    expected = [inherited(row) for row in rows]
    assert found == expected
    (summary,) = listed.to_pylist()
    assert summary["manifest_length"] == Path(summary["manifest_path"]).stat().st_size
    assert [summary[f"{kind}_files_count"] for kind in ("existing", "added", "deleted")] == [
        sum(row["status"] == status for row in rows) for status in (0, 1, 2)
    ]
    live = [row["sequence_number"] for row in expected if row["status"] != 2]
    assert summary["min_sequence_number"] == min(live, default=SEQUENCE)
    kept = [read_back(row) for row in _core.read_manifest(io, listed, keep="live", **shared).to_pylist()]
    assert kept == [row for row in expected if row["status"] != 2]
