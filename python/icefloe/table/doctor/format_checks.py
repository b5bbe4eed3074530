"""Checks for leftovers of format version 1, from the table's metadata alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.table.doctor.finding import Finding, Severity
from icefloe.table.maintenance.display import count_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from icefloe.table.doctor.facts import TableFacts


def check_format(facts: TableFacts) -> Iterator[Finding]:
    """Yield the findings on the format version and on remains of version 1."""
    metadata = facts.metadata
    if metadata.format_version == 1:
        yield Finding(
            "format-version-1",
            Severity.INFO,
            "The table has format version 1: rows cannot be deleted without rewriting their files, and commits are ordered by time alone.",
            {"format_version": 1},
            facts.command("upgrade"),
        )
    inline = [one for one in metadata.snapshots if one.manifest_list is None and one.manifest_paths]
    if inline:
        yield Finding(
            "inline-manifests",
            Severity.INFO,
            f"{count_text(len(inline), 'snapshot')} of format version 1 list their manifests in the table metadata, without partition "
            "summaries, so planning opens every manifest.",
            {"snapshots": len(inline), "snapshot_ids": [str(one.snapshot_id) for one in inline[:20]]},
            facts.command("rewrite-manifests"),
        )
    void = [field.name for field in metadata.spec().fields if str(field.transform) == "void"]
    if void:
        yield Finding(
            "void-partition-fields",
            Severity.INFO,
            f"The partition spec has fields that version 1 dropped by name only: {', '.join(void)}.",
            {"fields": void},
        )
    if metadata.table_uuid is None:
        yield Finding(
            "no-table-uuid",
            Severity.WARNING,
            "The table has no uuid, as old tables of version 1: a table that was dropped and created again is taken for this one.",
            {},
            facts.command("upgrade"),
        )
