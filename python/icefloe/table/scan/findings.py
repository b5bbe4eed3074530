"""Facts about a plan that an explanation tells."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe import _core
from icefloe.expressions import AlwaysTrue

if TYPE_CHECKING:
    from icefloe.table.scan.plan import ScanPlan

POSITIONS, KEYS = 1, 2
SHOWN_COLUMNS = 20
SHOWN_CHARACTERS = 600


@dataclass(frozen=True)
class Finding:
    """One thing that is told.

    Attributes:
        subject: Of what.
        text: The finding.
        share: How much is left of how much, where that can be said.
        details: More of it, line by line.
    """

    subject: str
    text: str
    share: tuple[int, int] | None = None
    details: tuple[str, ...] = ()


@dataclass(frozen=True)
class DeleteFindings:
    """Delete files of a plan, and how many apply to a data file.

    Attributes:
        by_position: Delete files that name positions.
        by_key: Delete files that name values.
        size: Their bytes.
        data_files: Data files to which any apply.
        most: The most that apply to one of those.
        median: Half of those have no more.
    """

    by_position: int = 0
    by_key: int = 0
    size: int = 0
    data_files: int = 0
    most: int = 0
    median: int = 0

    @staticmethod
    def of(plan: ScanPlan) -> DeleteFindings:
        """Return the findings about a plan of whole files."""
        if plan.deletes.num_rows == 0:
            return DeleteFindings()
        kinds = Counter(plan.deletes.column("content").to_pylist())
        per_file = deletes_per_file(plan)
        median = pc.quantile(per_file, 0.5, interpolation="lower")[0].as_py() if len(per_file) else 0
        return DeleteFindings(
            by_position=kinds[POSITIONS],
            by_key=kinds[KEYS],
            size=pc.sum(plan.deletes.column("file_size_in_bytes")).as_py() or 0,
            data_files=len(per_file),
            most=pc.max(per_file).as_py() or 0,
            median=median,
        )

    def details(self) -> tuple[str, ...]:
        """Return the findings in words."""
        if self.data_files == 0:
            return ()
        kinds = [(self.by_position, "by position"), (self.by_key, "by key")]
        return (
            ", ".join(f"{count:,} {kind}" for count, kind in kinds if count),
            f"to {counted(self.data_files, 'data file')}, at most {self.most:,} to each, median {self.median:,}",
        )


def deletes_per_file(plan: ScanPlan) -> pa.Array:
    """Return how many delete files apply to each data file that has any."""
    lists = plan.files.column("deletes")
    flat = pc.list_flatten(lists)
    # A plan names them one by one, or as runs of neighbours.
    counts = pc.struct_field(flat, "count") if pa.types.is_struct(flat.type) else pa.repeat(pa.scalar(1), len(flat))
    pairs = pa.table({"file": pc.list_parent_indices(lists), "count": counts})
    return pairs.group_by("file").aggregate([("count", "sum")]).column("count_sum").combine_chunks()


@dataclass(frozen=True)
class FooterFindings:
    """What the footers of the planned data files say.

    Attributes:
        row_groups: Row groups of the files; of ORC files their stripes.
        row_groups_kept: Those that are decoded.
        pages: Pages of the columns read, where files have an index of them.
        pages_kept: Those that are decoded.
        rows_selected: Rows that are decoded, before deletes are applied and the filter looks at values.
        bytes_to_read: Bytes of the columns read; of ORC files those of all columns.
        reasons: By what the rest was ruled out, and in how many files.
    """

    row_groups: int
    row_groups_kept: int
    pages: int
    pages_kept: int
    rows_selected: int
    bytes_to_read: int
    reasons: tuple[tuple[str, int], ...]

    @staticmethod
    def of(plan: ScanPlan) -> FooterFindings:
        """Read the footers of a plan's files; of Avro files metadata alone is known."""
        found = _core.explain_read(plan.io.core, plan.context, plan.files, plan.deletes, projection=plan.projection)
        sums = {name: pc.sum(found.column(name)).as_py() or 0 for name in found.schema.names if name not in _TEXTS}
        other = pc.is_null(found.column("row_groups"))
        texts = (text for text in found.column("reason").to_pylist() if text is not None)
        reasons = Counter(reason for text in texts for reason in text.split(", "))
        return FooterFindings(
            row_groups=sums["row_groups"],
            row_groups_kept=sums["row_groups_kept"],
            pages=sums["pages"],
            pages_kept=sums["pages_kept"],
            rows_selected=sums["rows_selected"] + _sum(plan, "record_count", other),
            bytes_to_read=sums["bytes_to_read"] + _sum(plan, "length", other),
            reasons=tuple(sorted(reasons.items())),
        )

    def findings(self) -> list[Finding]:
        """Return the findings about row groups and pages."""
        why = tuple(f"{reason} ruled out the rest in {counted(count, 'file')}" for reason, count in self.reasons)
        text = f"{self.row_groups_kept:,} to read of {self.row_groups:,}"
        found = [Finding("row groups", text, (self.row_groups_kept, self.row_groups), why)]
        if self.pages:
            pages = f"{self.pages_kept:,} to read of {self.pages:,} in those row groups"
            found.append(Finding("pages", pages, (self.pages_kept, self.pages)))
        return found


_TEXTS = ("file_path", "reason")


def _sum(plan: ScanPlan, column: str, of: pa.Array) -> int:
    total: int | None = pc.sum(plan.files.filter(of).column(column)).as_py()
    return total or 0


def asked(row_filter: str, columns: tuple[str, ...]) -> list[Finding]:
    """Return what a scan was asked for: the filter and the columns, cut where nobody reads on."""
    text = "every row" if row_filter == str(AlwaysTrue()) else row_filter
    if len(text) > SHOWN_CHARACTERS:
        text = f"{text[:SHOWN_CHARACTERS]}... ({len(text):,} characters)"
    names = ", ".join(columns[:SHOWN_COLUMNS])
    more = f" and {len(columns) - SHOWN_COLUMNS:,} more" if len(columns) > SHOWN_COLUMNS else ""
    return [Finding("filter", text), Finding("columns", f"{names}{more}")]


def counted(count: int, noun: str) -> str:
    """Return a number of things for people."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def sized(count: int) -> str:
    """Return a number of bytes for people."""
    size = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"
