"""Planning: what manifests hold together is what each of them holds by itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from icefloe import _core

from tests.unit.test_core_plan import BY_DAY, BY_MONTH, CONTEXT, ENTRIES, SCHEMA, SPECS, UNPARTITIONED, data_file, leaf

ENTRY = pa.schema(
    [
        ("status", pa.int32()),
        ("snapshot_id", pa.int64()),
        ("sequence_number", pa.int64()),
        ("file_sequence_number", pa.int64()),
        *ENTRIES,
    ]
)
EXISTING, ADDED, DELETED = 0, 1, 2
IO = _core.FileIo({"io.manifest.cache-enabled": "false"})
days = st.sampled_from(["2024-01-01", "2024-01-02", "2024-02-01", "2024-03-05"])


@st.composite
def manifest(draw: st.DrawFn) -> dict[str, Any]:
    """A manifest: its version, spec, entries and whether its writer spells the same schema in another way."""
    spec = draw(st.sampled_from([UNPARTITIONED, BY_DAY, BY_MONTH]))
    version = draw(st.sampled_from([1, 2]))
    entries = []
    for _ in range(draw(st.integers(1, 5))):
        low, status = draw(st.integers(-5, 40)), draw(st.sampled_from([ADDED, ADDED, EXISTING, DELETED]))
        own = status != ADDED
        day = draw(days)
        partition = {0: [], 1: [day], 2: [int(day[5:7]) - 1 + 648]}[spec["spec-id"]]
        entries.append(
            {
                **data_file(f"/{draw(st.integers(0, 10**6))}", low, low + draw(st.integers(0, 9))),
                "status": status,
                "snapshot_id": draw(st.integers(1, 3)) if own else None,
                "sequence_number": draw(st.integers(1, 3)) if own else None,
                "file_sequence_number": draw(st.integers(1, 3)) if own else None,
                "spec_id": spec["spec-id"],
                "partition": json.dumps(partition),
            }
        )
    entries.sort(key=lambda entry: entry["status"])
    return {"version": version, "entries": entries, "respelled": draw(st.booleans())}


predicates = st.recursive(
    st.one_of(
        st.builds(leaf, st.sampled_from(["lt", "gt-eq", "eq", "not-eq"]), st.just("id"), st.integers(-5, 40)),
        st.builds(leaf, st.sampled_from(["lt", "gt-eq", "eq", "not-eq"]), st.just("day"), days),
        st.just({"type": "is-null", "term": "name"}),
    ),
    lambda inner: st.builds(lambda kind, left, right: {"type": kind, "left": left, "right": right}, st.sampled_from(["and", "or"]), inner, inner),
    max_leaves=3,
)  # fmt: skip


def written(folder: Path, number: int, wanted: dict[str, Any]) -> pa.RecordBatch:
    """The manifest as a list of its own commit knows it."""
    files = _core.write_manifests(
        IO,
        f"{folder}/c{number}",
        pa.RecordBatch.from_pylist(wanted["entries"], schema=ENTRY),
        schema=json.dumps(SCHEMA),
        specs=json.dumps(SPECS),
        format_version=wanted["version"],
        snapshot_id=number,
        content=0,
        first_index=0,
        properties={},
    )
    for path in files["manifest_path"].to_pylist() if wanted["respelled"] else ():
        Path(path).write_bytes(respelled(Path(path).read_bytes()))
    return _core.read_manifest_list(IO, listed(folder, f"own{number}", files, number))


def listed(folder: Path, name: str, manifests: pa.RecordBatch, number: int) -> str:
    location = f"{folder}/{name}.avro"
    options = {"format_version": 2, "snapshot_id": number, "parent_snapshot_id": None, "sequence_number": number}
    _core.write_manifest_list(IO, location, manifests, **options)
    return location


def respelled(manifest: bytes) -> bytes:
    """The same manifest with spaces in its schema, as another writer might leave them."""
    start = manifest.index(b"avro.schema") + len(b"avro.schema")
    length, shift, at = 0, 0, start
    while True:
        byte = manifest[at]
        length, shift, at = length | (byte & 0x7F) << shift, shift + 7, at + 1
        if byte < 0x80:
            break
    end = at + length // 2
    text = json.dumps(json.loads(manifest[at:end]), indent=1).encode()
    rest, prefix = 2 * len(text), bytearray()
    while rest >= 0x80:
        prefix.append(rest & 0x7F | 0x80)
        rest >>= 7
    return manifest[:start] + bytes([*prefix, rest]) + text + manifest[end:]


def planned(location: str, predicate: object, **options: Any) -> _core.ScanPlan:
    arguments = {"manifests": [], "filter": json.dumps(predicate), "split_size": None, "include_deletes": False}
    return _core.plan(IO, CONTEXT, manifest_list=location, **{**arguments, "include_stats": False, **options})


@settings(max_examples=150)
@given(
    wanted=st.lists(manifest(), min_size=2, max_size=8),
    predicate=st.one_of(st.just(True), predicates),
    options=st.sampled_from([{}, {"include_stats": True}, {"added_by": 2}]),
)
def test_manifests_are_planned_together_as_one_by_one(tmp_path_factory, wanted, predicate, options):
    folder = tmp_path_factory.mktemp("table")
    manifests = [written(folder, number, each) for number, each in enumerate(wanted, 1)]
    together = planned(listed(folder, "all", pa.concat_batches(manifests), 9), predicate, **options)
    each = [
        planned(listed(folder, f"one{number}", one, 9), predicate, **options) for number, one in enumerate(manifests)
    ]
    assert together.files == pa.concat_batches([plan.files for plan in each])
    for name, count in together.counters.items():
        assert count == sum(plan.counters[name] for plan in each), name
