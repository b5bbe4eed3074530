"""Planning: pruning by partition and statistics, residuals, delete pairing, splits, counters."""

from __future__ import annotations

import json
import struct
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from icefloe import _core
from icefloe.exceptions import CorruptFileError, MissingFileError, ResolveError, ValidationError

from tests.unit.scan_tables import arrow_field, context, field, schema, write

SCHEMA = schema(field(1, "id", "long"), field(2, "day", "date"), field(3, "name", "string"))
UNPARTITIONED = {"spec-id": 0, "fields": []}
BY_DAY = {"spec-id": 1, "fields": [{"source-id": 2, "field-id": 1000, "name": "day", "transform": "identity"}]}
BY_MONTH = {"spec-id": 2, "fields": [{"source-id": 2, "field-id": 1001, "name": "month", "transform": "month"}]}
SPECS = [UNPARTITIONED, BY_DAY, BY_MONTH]
CONTEXT = context(SCHEMA, specs=SPECS)
COUNTS = pa.map_(pa.int32(), pa.int64())
BOUNDS = pa.map_(pa.int32(), pa.binary())
ENTRIES = pa.schema(
    [
        ("content", pa.int32()),
        ("file_path", pa.string()),
        ("file_format", pa.string()),
        ("spec_id", pa.int32()),
        ("partition", pa.string()),
        ("record_count", pa.int64()),
        ("file_size_in_bytes", pa.int64()),
        ("value_counts", COUNTS),
        ("null_value_counts", COUNTS),
        ("lower_bounds", BOUNDS),
        ("upper_bounds", BOUNDS),
        ("split_offsets", pa.list_(pa.int64())),
        ("equality_ids", pa.list_(pa.int32())),
        ("referenced_data_file", pa.string()),
    ]
)


def data_file(path: str, low: int, high: int, **overrides: Any) -> dict[str, Any]:
    """A file of 10 rows whose ids are between two bounds."""
    return {
        "content": 0,
        "file_path": path,
        "file_format": "PARQUET",
        "spec_id": 0,
        "partition": "[]",
        "record_count": 10,
        "file_size_in_bytes": 1000,
        "value_counts": [(1, 10)],
        "null_value_counts": [(1, 0)],
        "lower_bounds": [(1, struct.pack("<q", low))],
        "upper_bounds": [(1, struct.pack("<q", high))],
        **overrides,
    }


class Table:
    """A snapshot made of manifests, one commit after another."""

    def __init__(self, path):
        self.path, self.io, self.manifests, self.commits = path, _core.FileIo({}), [], 0
        self.properties = {}

    def commit(self, *files: dict[str, Any], content: int = 0) -> None:
        self.commits += 1
        written = _core.write_manifests(
            self.io,
            f"{self.path}/c{self.commits}",
            pa.RecordBatch.from_pylist(list(files), schema=ENTRIES),
            schema=json.dumps(SCHEMA),
            specs=json.dumps(SPECS),
            format_version=2,
            snapshot_id=self.commits,
            content=content,
            first_index=0,
            properties=self.properties,
        )
        location = f"{self.path}/list{self.commits}.avro"
        manifests = pa.Table.from_batches([*self.manifests, written]).combine_chunks().to_batches()[0]
        _core.write_manifest_list(
            self.io,
            location,
            manifests,
            format_version=2,
            snapshot_id=self.commits,
            parent_snapshot_id=None,
            sequence_number=self.commits,
        )
        self.list, self.manifests = location, [_core.read_manifest_list(self.io, location)]

    def plan(self, predicate: object = True, table_context: str = CONTEXT, **options: Any) -> _core.ScanPlan:
        arguments = {"split_size": None, "include_stats": False, **options}
        return _core.plan(
            self.io, table_context, manifest_list=self.list, manifests=[], filter=json.dumps(predicate), **arguments
        )


@pytest.fixture
def table(tmp_path):
    return Table(tmp_path)


def leaf(kind: str, term: str, value: object) -> dict[str, object]:
    return {"type": kind, "term": term, "value": value}


def paths(plan: _core.ScanPlan) -> list[str]:
    return plan.files["file_path"].to_pylist()


def test_no_filter_plans_every_live_file_in_order(table):
    table.commit(data_file("/a", 0, 9), data_file("/b", 10, 19))
    table.commit(data_file("/c", 20, 29))
    plan = table.plan()
    assert sorted(paths(plan)) == ["/a", "/b", "/c"]
    row = plan.files.filter(pc.equal(plan.files["file_path"], "/c")).to_pylist()[0]
    assert (row["start"], row["length"], row["data_sequence_number"], row["residual"]) == (0, 1000, 2, None)
    assert row["must_match"] is True
    assert row["deletes"] == []
    assert plan.counters["files_planned"] == plan.counters["data_files_total"] == 3
    assert (plan.counters["bytes_planned"], plan.counters["records_planned"]) == (3000, 30)


def test_statistics_rule_files_out_and_prove_others(table):
    table.commit(data_file("/below", 0, 9), data_file("/across", 5, 15), data_file("/above", 10, 19))
    plan = table.plan(leaf("gt-eq", "id", 10))
    assert paths(plan) == ["/across", "/above"]
    assert plan.files["must_match"].to_pylist() == [False, True]
    residuals = plan.files["residual"].to_pylist()
    assert json.loads(residuals[0])["term"] == "id"
    assert residuals[1] is None
    assert plan.counters["files_skipped_by_metrics"] == 1


def test_identity_partition_decides_without_statistics(table):
    files = [data_file(f"/{day}", 0, 9, spec_id=1, partition=json.dumps([day])) for day in ("2020-01-01", "2020-01-02")]
    table.commit(*files)
    plan = table.plan(leaf("eq", "day", "2020-01-02"))
    assert paths(plan) == ["/2020-01-02"]
    assert plan.files["residual"].to_pylist() == [None]
    assert plan.counters["files_skipped_by_partition"] == 1


def test_manifests_are_skipped_by_their_summaries(table):
    table.commit(data_file("/january", 0, 9, spec_id=2, partition="[600]"))
    table.commit(data_file("/february", 0, 9, spec_id=2, partition="[601]"))
    plan = table.plan(leaf("gt-eq", "day", "2020-02-10"))
    assert paths(plan) == ["/february"]
    assert json.loads(plan.files["residual"].to_pylist()[0])["type"] == "gt-eq"
    assert plan.counters["data_manifests_skipped"] == 1
    assert plan.counters["data_manifests_total"] == plan.counters["data_files_total"] == 2
    assert plan.counters["files_skipped_by_partition"] == 1


def test_files_of_several_specs_are_planned_together(table):
    table.commit(data_file("/plain", 0, 9))
    table.commit(data_file("/day", 0, 9, spec_id=1, partition='["2020-02-01"]'))
    table.commit(data_file("/month", 0, 9, spec_id=2, partition="[601]"))
    plan = table.plan(leaf("eq", "day", "2020-02-01"))
    assert sorted(paths(plan)) == ["/day", "/month", "/plain"]
    residual = dict(zip(paths(plan), plan.files["residual"].to_pylist(), strict=True))
    assert residual["/day"] is None
    assert residual["/month"] is not None


def test_deletes_are_paired_by_sequence_and_scope(table):
    table.commit(data_file("/a", 0, 9), data_file("/b", 100, 109))
    table.commit(
        data_file("/d-pos-a", 0, 0, content=1, referenced_data_file="/a", lower_bounds=None, upper_bounds=None),
        data_file("/d-eq", 0, 9, content=2, equality_ids=[1]),
        data_file("/d-unused", 0, 0, content=1, referenced_data_file="/gone", lower_bounds=None, upper_bounds=None),
        content=1,
    )
    table.commit(data_file("/c", 0, 9))
    plan = table.plan()
    names = plan.deletes["file_path"].to_pylist()
    applying = {
        path: sorted(name for run in runs for name in names[run["first"] : run["first"] + run["count"]])
        for path, runs in zip(paths(plan), plan.files["deletes"].to_pylist(), strict=True)
    }
    # The equality delete cannot meet the ids of /b and is older than /c.
    assert applying == {"/a": ["/d-eq", "/d-pos-a"], "/b": [], "/c": []}
    assert sorted(names) == ["/d-eq", "/d-pos-a"]
    assert plan.counters["delete_files_planned"] == 2
    assert plan.counters["delete_files_total"] == 3
    assert table.plan(include_deletes=False).files["deletes"].to_pylist() == [[], [], []]


def test_deletes_of_a_column_whose_last_schema_was_removed_are_paired(table):
    table.commit(data_file("/a", 0, 9), data_file("/b", 100, 109))
    of_int = {"lower_bounds": [(1, struct.pack("<i", 5))], "upper_bounds": [(1, struct.pack("<i", 9))]}
    keys = [data_file("/long", 0, 2**40, content=2, equality_ids=[1])]
    table.commit(*keys, data_file("/int", 5, 9, content=2, equality_ids=[1], **of_int), content=1)
    # The column was an int in the first schema and a long in the removed one.
    older, current = schema(field(1, "id", "int")), schema(field(3, "name", "string"), schema_id=2)
    plan = table.plan(table_context=context(current, specs=SPECS, schemas=[older, current]))
    counts = [sum(run["count"] for run in runs) for runs in plan.files["deletes"].to_pylist()]
    assert dict(zip(paths(plan), counts, strict=True)) == {"/a": 2, "/b": 1}


def test_files_are_split_at_their_row_groups(table):
    table.commit(
        data_file("/a", 0, 9, split_offsets=[4, 400, 700]),
        data_file("/whole", 0, 9, file_format="AVRO"),
        data_file("/no-offsets", 0, 9),
    )
    plan = table.plan(split_size=600)
    tasks = list(zip(paths(plan), plan.files["start"].to_pylist(), plan.files["length"].to_pylist(), strict=True))
    assert tasks == [
        ("/a", 0, 400),
        ("/a", 400, 600),
        ("/whole", 0, 1000),
        ("/no-offsets", 0, 600),
        ("/no-offsets", 600, 400),
    ]
    assert plan.counters["files_planned"] == 3


def test_statistics_are_included_where_asked_for(table):
    table.commit(data_file("/a", 0, 9))
    assert "lower_bounds" not in table.plan().files.schema.names
    assert table.plan(include_stats=True).files["value_counts"].to_pylist() == [[(1, 10)]]


def test_unknown_column_in_a_filter_is_named(table):
    table.commit(data_file("/a", 0, 9))
    with pytest.raises(ResolveError, match="nope"):
        table.plan(leaf("eq", "nope", 1))


def test_literal_that_does_not_fit_is_refused(table):
    table.commit(data_file("/a", 0, 9))
    with pytest.raises(ValidationError, match="day"):
        table.plan(leaf("eq", "day", "yesterday"))


def test_inline_manifest_of_version_1_is_planned(table):
    table.commit(data_file("/a", 0, 9, spec_id=2, partition="[600]"))
    manifest = table.manifests[0]["manifest_path"].to_pylist()[0]
    plan = _core.plan(
        table.io,
        CONTEXT,
        manifest_list=None,
        manifests=[manifest],
        filter="true",
        split_size=None,
        include_stats=False,
    )
    assert paths(plan) == ["/a"]
    assert plan.files["data_sequence_number"].to_pylist() == [0]


def test_manifest_of_an_unknown_spec_is_named_with_the_known_specs(table):
    table.commit(data_file("a", 0, 9, spec_id=1, partition='["2026-01-01"]'))
    with pytest.raises(ValidationError, match=r"c1-m0.avro: .* expected the id of a partition spec in \[0, 2\], got 1"):
        table.plan(table_context=context(SCHEMA, specs=[UNPARTITIONED, BY_MONTH]))


def test_missing_or_damaged_manifest_is_named(table):
    table.commit(data_file("/a", 0, 9))
    manifest = table.manifests[0]["manifest_path"].to_pylist()[0]
    good = table.io.read(manifest)
    table.io.write(manifest, good[: len(good) // 2], overwrite=True)
    with pytest.raises(CorruptFileError, match="c1-m0"):
        table.plan()
    table.io.delete(manifest)
    with pytest.raises(MissingFileError, match="c1-m0"):
        table.plan()


@pytest.mark.parametrize("damage", [lambda good: good.replace(b"/beta", b"/\xff\xfe\xfd\xfc"), lambda good: good[:-9]])
@pytest.mark.parametrize("predicate", [True, {"type": "lt", "term": "id", "value": 5}])
def test_of_several_small_manifests_the_damaged_one_is_named(table, damage, predicate):
    table.properties = {"write.manifest.compression-codec": "uncompressed"}
    for name in ("alpha", "beta", "gamma"):
        table.commit(data_file(f"/{name}", 0, 9))
    manifest = next(name for name in table.manifests[0]["manifest_path"].to_pylist() if "c2-m0" in name)
    table.io.write(manifest, damage(table.io.read(manifest)), overwrite=True)
    with pytest.raises(CorruptFileError, match="c2-m0"):
        table.plan(predicate)


def test_plan_is_read_as_it_is(tmp_path):
    path = write(tmp_path / "a.parquet", {arrow_field(1, "id", pa.int64()): list(range(10))})
    table = Table(tmp_path / "metadata")
    table.commit(data_file(path, 0, 9, file_size_in_bytes=(tmp_path / "a.parquet").stat().st_size))
    plan = table.plan(leaf("lt", "id", 3))
    stream = _core.read(table.io, CONTEXT, plan.files, plan.deletes, projection=json.dumps(SCHEMA))
    assert pa.table(stream)["id"].to_pylist() == [0, 1, 2]
