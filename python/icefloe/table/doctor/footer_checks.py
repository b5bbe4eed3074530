"""A check of the statistics in manifests against the footers of data and delete files, on request: it opens every file."""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from icefloe import _core
from icefloe.conversions import from_bytes
from icefloe.exceptions import CorruptFileError, FeatureUnsupportedError, SchemaMismatchError, StorageError
from icefloe.partitioning import PartitionSpec
from icefloe.schema import Schema, index_by_id
from icefloe.table.doctor.finding import Finding, Severity
from icefloe.table.inspect.schemas import DELETE_FILE_PATH_ID, DELETE_POSITION_ID
from icefloe.table.maintenance.display import count_text
from icefloe.table.read_context import context_json, schemas_json, specs_json
from icefloe.types import LongType, NestedField, PrimitiveType, StringType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from icefloe.table.doctor.facts import TableFacts

SHOWN = 20
_SHOWN_REASONS = 10
_CHUNK = 500
_CHECKED = ("record_count", "file_size_in_bytes")
_COUNTS = {"value_counts": "value", "null_value_counts": "null", "nan_value_counts": "NaN"}
_DATA, _POSITION_DELETES, _EQUALITY_DELETES = 0, 1, 2
_POSITIONS = Schema(
    NestedField(DELETE_FILE_PATH_ID, "file_path", StringType()), NestedField(DELETE_POSITION_ID, "pos", LongType())
)
_METRICS = "write.metadata.metrics."
_WHOLE_BOUNDS = {f"{_METRICS}default": "full"}
_UNREADABLE = (StorageError, CorruptFileError, SchemaMismatchError, FeatureUnsupportedError)


@dataclass(frozen=True)
class _Comparison:
    """The result of the comparison of files of one content.

    Attributes:
        wrong: The differences of each file whose entry contradicts the footer, by location.
        unreadable: The reason for each file whose footer cannot be read, by location.
    """

    wrong: dict[str, list[str]] = field(default_factory=dict)
    unreadable: dict[str, str] = field(default_factory=dict)


def check_footers(facts: TableFacts) -> Iterator[Finding]:
    """Yield the findings on Parquet data and delete files whose manifest entries differ from their footers.

    Row counts and sizes must be equal, and so must the counts of values, nulls and NaN. A lower bound may lie below that of the footer
    and an upper bound above, never inside: filters would skip a file that holds matching rows.
    """
    live = _live_entries(facts)
    entries = live.filter(pc.equal(pc.utf8_lower(live.column("file_format")), "parquet"))
    contents = {content: _of(entries, content) for content in (_DATA, _POSITION_DELETES, _EQUALITY_DELETES)}
    found = {content: _compared(facts, own, _schema_of(facts, content)) for content, own in contents.items()}
    unreadable = {path: text for one in found.values() for path, text in one.unreadable.items()}
    if unreadable:
        yield _unreadable_files(unreadable, entries.num_rows)
    if found[_DATA].wrong:
        yield _wrong_statistics(facts, found[_DATA].wrong, contents[_DATA].num_rows)
    deletes = {**found[_POSITION_DELETES].wrong, **found[_EQUALITY_DELETES].wrong}
    if deletes:
        yield _wrong_delete_statistics(deletes, entries.num_rows - contents[_DATA].num_rows)
    if entries.num_rows < live.num_rows:
        yield _unchecked_files(live.num_rows - entries.num_rows, live.num_rows)


def _live_entries(facts: TableFacts) -> pa.Table:
    return _core.read_manifest(
        facts.io.core,
        facts.manifests,
        schema=schemas_json(facts.metadata),
        specs=specs_json(facts.metadata),
        keep="live",
    )


def _of(entries: pa.Table, content: int) -> pa.Table:
    return entries.filter(pc.equal(entries.column("content"), content))


def _schema_of(facts: TableFacts, content: int) -> Schema:
    """Return the columns of files of a content; equality delete files have some columns of the table."""
    if content == _POSITION_DELETES:
        return _POSITIONS
    schema = facts.metadata.schema()
    if content == _DATA:
        return schema
    return Schema(*(one.model_copy(update={"required": False}) for one in schema.fields))


def _compared(facts: TableFacts, entries: pa.Table, schema: Schema) -> _Comparison:
    found = _Comparison()
    types = {key: one.field_type for key, one in index_by_id(schema).items()}
    primitives = {key: kind for key, kind in types.items() if isinstance(kind, PrimitiveType)}
    for start in range(0, entries.num_rows, _CHUNK):
        chunk = entries.slice(start, _CHUNK)
        for row, footer in _readable_pairs(facts, chunk, schema, found.unreadable):
            reasons = [*_differences(row, footer), *_lost_values(row, footer, primitives)]
            if reasons:
                found.wrong[row["file_path"]] = reasons
    return found


# ---- findings


def _unreadable_files(reasons: dict[str, str], checked: int) -> Finding:
    return Finding(
        "unreadable-files",
        Severity.ERROR,
        f"{count_text(len(reasons), 'file')} of {checked:,} cannot be read, and scans that need one fail. The first reason is "
        f"{next(iter(reasons.values()))}.",
        {"files": len(reasons), "checked": checked, "reasons": dict(list(reasons.items())[:SHOWN])},
    )


def _wrong_statistics(facts: TableFacts, wrong: dict[str, list[str]], checked: int) -> Finding:
    first, reasons = next(iter(wrong.items()))
    return Finding(
        "wrong-statistics",
        Severity.ERROR,
        f"The manifest entries of {count_text(len(wrong), 'data file')} of {checked:,} contradict the files' footers: filters skip "
        f"rows that match, or counts are wrong. The first is {first}: {reasons[0]}.",
        _evidence(wrong, checked),
        facts.command("compact", "--rewrite-all"),
    )


def _wrong_delete_statistics(wrong: dict[str, list[str]], checked: int) -> Finding:
    first, reasons = next(iter(wrong.items()))
    # No command: rewrites plan by the same entries, and would drop the deletes that the entries hide.
    return Finding(
        "wrong-delete-statistics",
        Severity.ERROR,
        f"The manifest entries of {count_text(len(wrong), 'delete file')} of {checked:,} contradict the files' footers: scans may skip "
        f"these delete files and return deleted rows. The first is {first}: {reasons[0]}.",
        _evidence(wrong, checked),
    )


def _unchecked_files(count: int, files: int) -> Finding:
    return Finding(
        "unchecked-footers",
        Severity.INFO,
        f"Manifest entries of Avro and ORC files were not compared: {count:,} of {count_text(files, 'file')}.",
        {"unchecked": count, "files": files},
    )


def _evidence(wrong: dict[str, list[str]], checked: int) -> dict[str, Any]:
    differences = {path: found[:_SHOWN_REASONS] for path, found in list(wrong.items())[:SHOWN]}
    return {"files": len(wrong), "checked": checked, "differences": differences}


# ---- entries and footers


def _readable_pairs(
    facts: TableFacts, entries: pa.Table, schema: Schema, unreadable: dict[str, str]
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield the pairs of the files that can be read, and add the reasons of all others to `unreadable`."""
    try:
        yield from list(_pairs(facts, entries, schema))
    except _UNREADABLE as error:
        if entries.num_rows == 1:
            unreadable[entries.column("file_path")[0].as_py()] = str(error)
            return
        half = entries.num_rows // 2
        for part in (entries.slice(0, half), entries.slice(half)):
            yield from _readable_pairs(facts, part, schema, unreadable)


def _pairs(facts: TableFacts, entries: pa.Table, schema: Schema) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield the entry of each file and the description of the file by its footer."""
    metadata = facts.metadata
    # Footers do not determine every partition tuple, and the check does not need them.
    spec_id = max(metadata.specs()) + 1
    unpartitioned = PartitionSpec(spec_id=spec_id)
    # Entries are of the metrics modes that the table had when they were written.
    properties = {key: value for key, value in metadata.properties.items() if not key.startswith(_METRICS)}
    described = metadata.with_(
        partition_specs=(*metadata.partition_specs, unpartitioned), properties={**properties, **_WHOLE_BOUNDS}
    )
    # Files may have columns of schemas that are no longer in the metadata.
    footers, _ = _core.describe_data_files(
        facts.io.core,
        entries.column("file_path").to_pylist(),
        context=context_json(described, schema),
        spec_id=spec_id,
        format="parquet",
        check_names=False,
    )
    yield from zip(entries.to_pylist(), footers.to_pylist(), strict=True)


def _differences(row: dict[str, Any], footer: dict[str, Any]) -> Iterator[str]:
    """Yield the counts of a manifest entry that differ from the footer."""
    for name in _CHECKED:
        if row[name] != footer[name]:
            yield f"{name} is {row[name]:,} in the manifest and {footer[name]:,} in the footer"
    for name, kind in _COUNTS.items():
        counts = dict(footer[name] or ())
        for field_id, count in row[name] or ():
            if field_id in counts and counts[field_id] != count:
                yield (
                    f"{kind} count of field {field_id} is {count:,} in the manifest and {counts[field_id]:,} in the footer"
                )


def _lost_values(row: dict[str, Any], footer: dict[str, Any], types: dict[int, PrimitiveType]) -> Iterator[str]:
    """Yield the bounds of a manifest entry that lie inside those of the footer."""
    for name, is_lost in (("lower_bounds", operator.gt), ("upper_bounds", operator.lt)):
        in_footer = dict(footer[name] or ())
        for field_id, stated in row[name] or ():
            if field_id not in in_footer or field_id not in types:
                continue
            ours, theirs = (from_bytes(types[field_id], one) for one in (stated, in_footer[field_id]))
            if is_lost(ours, theirs):
                bound = name.removesuffix("_bounds")
                yield f"{bound} bound of field {field_id} is {ours!r} in the manifest and {theirs!r} in the footer"
