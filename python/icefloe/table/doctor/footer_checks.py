"""A check of the statistics in manifests against the footers of the data files, on request: it opens every file."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from icefloe import _core
from icefloe.conversions import from_bytes
from icefloe.exceptions import CorruptFileError, MissingFileError
from icefloe.partitioning import PartitionSpec
from icefloe.schema import index_by_id
from icefloe.table.doctor.finding import Finding, Severity
from icefloe.table.maintenance.display import count_text
from icefloe.table.read_context import context_json, schemas_json, specs_json
from icefloe.types import PrimitiveType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from icefloe.table.doctor.facts import TableFacts
    from icefloe.table.metadata import TableMetadata

SHOWN = 20
_CHUNK = 500
_CHECKED = ("record_count", "file_size_in_bytes")


def check_footers(facts: TableFacts) -> Iterator[Finding]:
    """Yield the findings on Parquet data files whose manifest entries differ from their footers.

    Row counts and sizes must be equal, the counts of nulls too. A lower bound may lie below that of the footer and an upper bound above, never
    inside: filters would skip a file that holds matching rows.
    """
    wrong: dict[str, list[str]] = {}
    unreadable: dict[str, str] = {}
    entries = _entries(facts)
    types = _primitive_types(facts.metadata)
    for start in range(0, entries.num_rows, _CHUNK):
        for row, footer in _readable_pairs(facts, entries.slice(start, _CHUNK), unreadable):
            for reason in (*_differences(row, footer), *_lost_values(row, footer, types)):
                wrong.setdefault(row["file_path"], []).append(reason)
    if unreadable:
        yield _unreadable_files(unreadable, entries.num_rows)
    if wrong:
        first, reasons = next(iter(wrong.items()))
        yield Finding(
            "wrong-statistics",
            Severity.ERROR,
            f"The manifest entries of {count_text(len(wrong), 'data file')} of {entries.num_rows:,} contradict the files' footers: filters skip "
            f"rows that match, or counts are wrong. The first is {first}: {reasons[0]}.",
            {
                "files": len(wrong),
                "checked": entries.num_rows,
                "differences": {path: found[:5] for path, found in list(wrong.items())[:SHOWN]},
            },
            facts.command("compact", "--rewrite-all"),
        )


def _entries(facts: TableFacts) -> pa.Table:
    data = facts.manifests.filter(pc.equal(facts.manifests.column("content"), 0))
    live = _core.read_manifest(
        facts.io.core, data, schema=schemas_json(facts.metadata), specs=specs_json(facts.metadata), keep="live"
    )
    return live.filter(pc.equal(pc.utf8_lower(live.column("file_format")), "parquet"))


def _unreadable_files(reasons: dict[str, str], checked: int) -> Finding:
    return Finding(
        "unreadable-files",
        Severity.ERROR,
        f"{count_text(len(reasons), 'data file')} of {checked:,} cannot be read, and scans that need one fail. The first reason is "
        f"{next(iter(reasons.values()))}.",
        {"files": len(reasons), "checked": checked, "reasons": dict(list(reasons.items())[:SHOWN])},
    )


def _readable_pairs(
    facts: TableFacts, entries: pa.Table, unreadable: dict[str, str]
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield the pairs of the files that can be read, and add the reasons of all others to `unreadable`."""
    try:
        yield from list(_pairs(facts, entries))
    except (MissingFileError, CorruptFileError) as error:
        if entries.num_rows == 1:
            unreadable[entries.column("file_path")[0].as_py()] = str(error)
            return
        half = entries.num_rows // 2
        for part in (entries.slice(0, half), entries.slice(half)):
            yield from _readable_pairs(facts, part, unreadable)


def _pairs(facts: TableFacts, entries: pa.Table) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield the entry of each file and the description of the file by its footer."""
    # Footers do not determine every partition tuple, and the check does not need them.
    spec_id = max(facts.metadata.specs()) + 1
    unpartitioned = PartitionSpec(spec_id=spec_id)
    described = facts.metadata.with_(partition_specs=(*facts.metadata.partition_specs, unpartitioned))
    paths = entries.column("file_path").to_pylist()
    # Files may have columns of schemas that are no longer in the metadata.
    footers, _ = _core.describe_data_files(
        facts.io.core,
        paths,
        context=context_json(described, facts.metadata.schema()),
        spec_id=spec_id,
        check_names=False,
    )
    yield from zip(entries.to_pylist(), footers.to_pylist(), strict=True)


def _differences(row: dict[str, Any], footer: dict[str, Any]) -> Iterator[str]:
    for name in _CHECKED:
        if row[name] != footer[name]:
            yield f"{name} is {row[name]:,} in the manifest and {footer[name]:,} in the footer"
    nulls = dict(footer["null_value_counts"] or ())
    for field_id, count in row["null_value_counts"] or ():
        if field_id in nulls and nulls[field_id] != count:
            yield f"null count of field {field_id} is {count:,} in the manifest and {nulls[field_id]:,} in the footer"


def _primitive_types(metadata: TableMetadata) -> dict[int, PrimitiveType]:
    fields = index_by_id(metadata.schema())
    return {key: field.field_type for key, field in fields.items() if isinstance(field.field_type, PrimitiveType)}


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
