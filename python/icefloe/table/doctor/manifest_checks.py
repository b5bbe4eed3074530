"""Checks of the manifests of the current snapshot, from its manifest list alone."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc

from icefloe.conversions import from_bytes
from icefloe.table.commit.manifest_writer import DATA
from icefloe.table.doctor.finding import Finding, Severity
from icefloe.table.maintenance.display import bytes_text, count_text
from icefloe.table.maintenance.rewrite_manifests import count_after_rewrite, is_of_one_rewrite, manifests_with
from icefloe.table.properties.definitions import MANIFEST_TARGET_SIZE
from icefloe.table.properties.maintenance import MIN_MANIFESTS
from icefloe.types import PrimitiveType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from icefloe.table.doctor.facts import TableFacts

MAX_COMPARED = 100_000
"""Manifests of which the ranges of partition values are compared."""
MAX_OVERLAP = 4.0
"""Manifests that a filter on one partition value opens, on average, before they are reported as overlapping."""


def check_manifests(facts: TableFacts) -> Iterator[Finding]:
    """Yield the findings on manifests: too many, and ranges of partition values that overlap."""
    count = facts.manifests.num_rows
    if count == 0 or count < facts.threshold(MIN_MANIFESTS):
        return
    least = count_after_rewrite(facts.metadata, facts.manifests, facts.threshold(MANIFEST_TARGET_SIZE))
    is_many = count >= 2 * least
    if is_many:
        yield _many_manifests(facts, least)
    own = manifests_with(facts.manifests, DATA, facts.metadata.default_spec_id)
    overlap = None if is_of_one_rewrite(facts.metadata, own, None) else manifest_overlap(facts)
    if overlap is not None and overlap > MAX_OVERLAP:
        severity = Severity.INFO if is_many else Severity.WARNING
        yield _overlapping_manifests(facts, least, overlap, severity)


def _many_manifests(facts: TableFacts, least: int) -> Finding:
    count = facts.manifests.num_rows
    size: int = pc.sum(facts.manifests.column("manifest_length")).as_py()
    return Finding(
        "many-manifests",
        Severity.WARNING,
        f"{count_text(count, 'manifest')} of {bytes_text(size // count)} on average; {count_text(least, 'manifest')} would hold the "
        "same entries, and planning opens each.",
        {"manifests": count, "bytes": size, "manifests_after_rewrite": least},
        facts.command("rewrite-manifests"),
    )


def _overlapping_manifests(facts: TableFacts, least: int, overlap: float, severity: Severity) -> Finding:
    count = facts.manifests.num_rows
    # A rewrite without settings leaves manifests that are full.
    by = () if least < count else ("--by", facts.metadata.spec().fields[0].name)
    return Finding(
        "overlapping-manifests",
        severity,
        f"A filter on one value of the first partition field opens {overlap:.0f} of {count:,} manifests on average, because their "
        "ranges of partition values overlap.",
        {"manifests": count, "average_overlap": round(overlap, 1)},
        facts.command("rewrite-manifests", *by),
    )


def manifest_overlap(facts: TableFacts) -> float | None:
    """Return how many manifests of the default spec hold the lower bound of a manifest in their range, on average.

    Ranges are those of the first partition field. None if the table is not partitioned or no manifest has a range.
    """
    spec = facts.metadata.spec()
    if spec.is_unpartitioned() or facts.manifests.num_rows > MAX_COMPARED:
        return None
    kind = spec.partition_type(facts.metadata.schema()).fields[0].field_type
    own = facts.manifests.filter(pc.equal(facts.manifests.column("partition_spec_id"), spec.spec_id))
    ranges = [
        (from_bytes(kind, first["lower_bound"]), from_bytes(kind, first["upper_bound"]))
        for summaries in own.column("partitions").to_pylist()
        if summaries and (first := summaries[0])["lower_bound"] is not None and isinstance(kind, PrimitiveType)
    ]
    return _average_depth(ranges) if ranges else None


def _average_depth(ranges: list[tuple[Any, Any]]) -> float:
    """Return the average number of ranges that contain the start of a range, in n log n comparisons."""
    starts, ends = sorted(start for start, _ in ranges), sorted(end for _, end in ranges)
    ended = total = 0
    for start in starts:
        while ends[ended] < start:
            ended += 1
        total += bisect_right(starts, start) - ended
    return total / len(ranges)
