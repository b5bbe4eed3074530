"""Checks for leftovers of format version 1, from the table's metadata alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.table.doctor.finding import Finding, Severity
from icefloe.table.maintenance.display import count_text
from icefloe.table.maintenance.rewrite_manifests import count_after_rewrite
from icefloe.table.properties.definitions import MANIFEST_TARGET_SIZE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from icefloe.table.doctor.facts import TableFacts


def _command_for_inline_manifests(facts: TableFacts, snapshot_ids: set[int]) -> str | None:
    """Return the command that gives the current snapshot a manifest list, or that removes the others; None if there is none yet."""
    if facts.snapshot is not None and facts.snapshot.snapshot_id in snapshot_ids:
        target = facts.threshold(MANIFEST_TARGET_SIZE)
        after = count_after_rewrite(facts.metadata, facts.manifests, target)
        return facts.command("rewrite-manifests") if after < facts.manifests.num_rows else None
    is_due = snapshot_ids <= set(facts.expired_ids)
    return facts.command("expire") if is_due and facts.may_delete_files else None


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
            "summaries, so scans of these snapshots open every manifest.",
            {"snapshots": len(inline), "snapshot_ids": [str(one.snapshot_id) for one in inline[:20]]},
            _command_for_inline_manifests(facts, {one.snapshot_id for one in inline}),
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
