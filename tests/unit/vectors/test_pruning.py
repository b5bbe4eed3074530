"""Projection, residuals, statistics and binding: what planning makes of a filter."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from icefloe import _core
from icefloe.conversions import from_json_value, to_ordinal
from icefloe.types import type_from_text

from tests.unit.vectors.vector_cases import bound, cases, read_context, schema_of

COUNTS = pa.map_(pa.int32(), pa.int64())
BOUNDS = pa.map_(pa.int32(), pa.binary())
ENTRY = pa.schema(
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
        ("nan_value_counts", COUNTS),
        ("lower_bounds", BOUNDS),
        ("upper_bounds", BOUNDS),
    ]
)


def entry(path: str, partition: list[Any], **stats: Any) -> dict[str, Any]:
    """Return a data file of a partition."""
    return {
        "content": 0,
        "file_path": path,
        "file_format": "PARQUET",
        "spec_id": 0,
        "partition": json.dumps(partition),
        "record_count": 50,
        "file_size_in_bytes": 1,
        **stats,
    }


class Snapshot:
    """A table of one manifest, planned with one filter after another."""

    def __init__(self, path: Path, schema: dict[str, Any], spec: dict[str, Any], entries: list[dict[str, Any]]) -> None:
        self.io, self.schema, self.spec, self.path = _core.FileIo({}), schema, spec, path
        self.manifests = _core.write_manifests(
            self.io,
            f"{path}/c",
            pa.RecordBatch.from_pylist(entries, schema=ENTRY),
            schema=json.dumps(schema),
            specs=json.dumps([spec]),
            format_version=2,
            snapshot_id=1,
            content=0,
            first_index=0,
            properties={},
        )
        self.list = f"{path}/list.avro"
        self.write_list(self.manifests)

    def write_list(self, manifests: pa.RecordBatch) -> None:
        ids = {"format_version": 2, "snapshot_id": 1, "parent_snapshot_id": None, "sequence_number": 1}
        Path(self.list).unlink(missing_ok=True)
        _core.write_manifest_list(self.io, self.list, manifests, **ids)

    def plan(self, predicate: Any) -> _core.ScanPlan:
        context = read_context(self.schema, [self.spec])
        options = {"split_size": None, "include_stats": False}
        return _core.plan(
            self.io, context, manifest_list=self.list, manifests=[], filter=json.dumps(predicate), **options
        )


def holds(predicate: Any, value: Any) -> bool:
    """Whether a predicate of one column, without NOT, is true of a value; of null, comparisons are unknown."""
    if isinstance(predicate, bool):
        return predicate
    operator, literals = predicate["type"], predicate.get("values", [predicate.get("value")])
    if operator in {"and", "or"}:
        sides = (holds(predicate["left"], value), holds(predicate["right"], value))
        return all(sides) if operator == "and" else any(sides)
    if operator in {"is-null", "not-null"}:
        return (value is None) == (operator == "is-null")
    if value is None:
        return operator == "not-nan"
    first = literals[0]
    answers = {
        "lt": lambda: value < first,
        "lt-eq": lambda: value <= first,
        "gt": lambda: value > first,
        "gt-eq": lambda: value >= first,
        "eq": lambda: value == first,
        "not-eq": lambda: value != first,
        "in": lambda: value in literals,
        "not-in": lambda: value not in literals,
        "starts-with": lambda: value.startswith(first),
        "not-starts-with": lambda: not value.startswith(first),
        "is-nan": lambda: math.isnan(value),
        "not-nan": lambda: not math.isnan(value),
    }
    return bool(answers[operator]())


def literals_of(predicate: Any) -> Iterator[Any]:
    """Yield every literal of a predicate."""
    if isinstance(predicate, dict):
        yield from predicate.get("values", [predicate["value"]] if "value" in predicate else [])
        for side in ("left", "right"):
            yield from literals_of(predicate.get(side))


def as_ordinals(predicate: Any, kind: Any) -> Any:
    """Return a predicate with the literals as Python values that are ordered as the type is."""
    if not isinstance(predicate, dict):
        return predicate
    changed = dict(predicate)
    for side in ("left", "right"):
        if side in changed:
            changed[side] = as_ordinals(changed[side], kind)
    if "value" in changed:
        changed["value"] = to_ordinal(kind, from_json_value(kind, changed["value"]))
    if "values" in changed:
        changed["values"] = [to_ordinal(kind, from_json_value(kind, value)) for value in changed["values"]]
    return changed


def expectations(case: dict[str, Any]) -> tuple[Any, Any]:
    """Return the inclusive and the strict projection, None where a case has no word on one."""
    if "direction" in case:
        projected = case["projected"]
        return (projected, None) if case["direction"] == "inclusive" else (None, projected)
    return case["inclusive"], case["strict"]


def by_column(case: dict[str, Any]) -> tuple[str, str]:
    return case["type"], case["transform"]


PROJECTIONS = [
    (key, list(group))
    for key, group in groupby(sorted((case for case in cases("projection")), key=by_column), by_column)
    if key[1] != "zorder"  # what an unknown transform gives cannot be written
]


@pytest.mark.parametrize(
    ("key", "group"), PROJECTIONS, ids=lambda value: "-".join(value) if isinstance(value, tuple) else "cases"
)
def test_planning_keeps_the_partitions_that_the_projections_of_the_vectors_keep(
    key: tuple[str, str], group: list[dict[str, Any]], tmp_path: Path
) -> None:
    """Every value that a projection mentions is a partition; so is null."""
    source, transform = key
    field = {"source-id": 1, "field-id": 1000, "name": "p", "transform": transform}
    mentioned = [value for case in group for side in expectations(case) for value in literals_of(side)]
    partitions = [None, *{json.dumps(value): value for value in mentioned}.values()] if transform != "void" else [None]
    entries = [entry(str(row), [value]) for row, value in enumerate(partitions)]
    snapshot = Snapshot(tmp_path, schema_of(source), {"spec-id": 0, "fields": [field]}, entries)
    result = type_from_text(result_type(source, transform))
    ordinals = [to_ordinal(result, from_json_value(result, value)) for value in partitions]
    for case in group:
        inclusive, strict = (as_ordinals(side, result) for side in expectations(case))
        files = snapshot.plan(case["predicate"]).files
        kept = [int(path) for path in files["file_path"].to_pylist()]
        if inclusive is not None:
            assert sorted(kept) == [row for row, value in enumerate(ordinals) if holds(inclusive, value)], case
        if strict is not None:
            certain = [row for row, must in zip(kept, files["must_match"].to_pylist(), strict=True) if must]
            assert sorted(certain) == [row for row in sorted(kept) if holds(strict, ordinals[row])], case


def result_type(source: str, transform: str) -> str:
    """Return the type of a transform's results."""
    from icefloe.transforms import parse_transform

    return str(parse_transform(transform).result_type(type_from_text(source)))


TWO_INTS = {
    "type": "struct",
    "schema-id": 0,
    "fields": [
        {"id": 1, "name": "dateint", "required": False, "type": "int"},
        {"id": 2, "name": "hour", "required": False, "type": "int"},
    ],
}
THREE_COLUMNS = {
    "type": "struct",
    "schema-id": 0,
    "fields": [
        {"id": 1, "name": "id", "required": False, "type": "long"},
        {"id": 2, "name": "at", "required": False, "type": "timestamp"},
        {"id": 3, "name": "name", "required": False, "type": "string"},
    ],
}
ONE_FIELD = [{"source-id": 1, "field-id": 1000, "name": "dateint", "transform": "identity"}]
THREE_FIELDS = [
    {"source-id": 1, "field-id": 1000, "name": "id", "transform": "identity"},
    {"source-id": 2, "field-id": 1001, "name": "at_day", "transform": "day"},
    {"source-id": 3, "field-id": 1002, "name": "name_trunc", "transform": "truncate[3]"},
]


def test_planned_residuals_are_those_of_the_vectors(tmp_path: Path) -> None:
    snapshots: dict[str, Snapshot] = {}
    for case in cases("residual"):
        schema, fields = (TWO_INTS, ONE_FIELD) if len(case["partition"]) == 1 else (THREE_COLUMNS, THREE_FIELDS)
        key = json.dumps(case["partition"])
        if key not in snapshots:
            spec = {"spec-id": 0, "fields": fields}
            snapshots[key] = Snapshot(tmp_path / str(len(snapshots)), schema, spec, [entry("f", case["partition"])])
        files = snapshots[key].plan(case["predicate"]).files
        left = [True if text is None else json.loads(text) for text in files["residual"].to_pylist()] or [False]
        assert bound(left[0], schema) == bound(case["residual"], schema), case


def stats(case: dict[str, Any]) -> dict[str, Any]:
    """Return the statistics columns of a file whose one column is x."""
    known = case["stats"]
    names = {
        "value_counts": "value_count",
        "null_value_counts": "null_count",
        "nan_value_counts": "nan_count",
        "lower_bounds": "lower",
        "upper_bounds": "upper",
    }
    found: dict[str, Any] = {}
    for column, name in names.items():
        value = known[name]
        if value is not None:
            found[column] = [(1, bytes.fromhex(value) if isinstance(value, str) else value)]
    return found


def test_planning_knows_of_files_what_the_vectors_know(tmp_path: Path) -> None:
    spec = {"spec-id": 0, "fields": []}
    for number, file in enumerate(cases("file_metrics")):
        snapshot = Snapshot(tmp_path / str(number), schema_of(file["type"]), spec, [entry("f", [], **stats(file))])
        for case in file["cases"]:
            files = snapshot.plan(case["predicate"]).files
            assert (files.num_rows == 1) == case["might"], (file["type"], file["stats"], case)
            if files.num_rows and case["must"] is not None:
                assert files["must_match"].to_pylist() == [case["must"]], (file["type"], file["stats"], case)


def test_planning_skips_the_manifests_that_the_vectors_skip(tmp_path: Path) -> None:
    field = {"source-id": 1, "field-id": 1000, "name": "x", "transform": "identity"}
    for number, manifest in enumerate(cases("manifest_summary")):
        schema = schema_of(manifest["type"])
        snapshot = Snapshot(tmp_path / str(number), schema, {"spec-id": 0, "fields": [field]}, [entry("f", [None])])
        summary = manifest["summary"]
        fields = {
            "contains_null": summary["contains_null"],
            "contains_nan": summary["contains_nan"],
            "lower_bound": None if summary["lower"] is None else bytes.fromhex(summary["lower"]),
            "upper_bound": None if summary["upper"] is None else bytes.fromhex(summary["upper"]),
        }
        rows = snapshot.manifests.to_pylist()
        changed = pa.RecordBatch.from_pylist([rows[0] | {"partitions": [fields]}], schema=snapshot.manifests.schema)
        snapshot.write_list(changed)
        for case in manifest["cases"]:
            skipped = snapshot.plan(case["predicate"]).counters["data_manifests_skipped"]
            assert (skipped == 0) == case["might"], (manifest["type"], summary, case)


@pytest.mark.parametrize("kind", sorted({case["type"] for case in cases("bind")}))
def test_literals_are_bound_as_in_the_vectors(kind: str) -> None:
    for case in (case for case in cases("bind") if case["type"] == kind):
        schema = schema_of(kind, required=case.get("required", False))
        found = bound(case["predicate"], schema)
        if case["bound"] is True and found == {"type": "not-null", "term": "x"}:
            continue  # the reference lets null be less than everything
        assert found == bound(case["bound"], schema), case
