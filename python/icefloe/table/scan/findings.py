"""Findings about a plan: the lines of an explanation and the figures behind them."""

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
    """A line of an explanation.

    Attributes:
        subject: Subject of the line, such as `data files`.
        text: The finding.
        share: The part that is read and the whole, None where there is no such ratio.
        details: Further lines below the finding.
    """

    subject: str
    text: str
    share: tuple[int, int] | None = None
    details: tuple[str, ...] = ()


@dataclass(frozen=True)
class DeleteFindings:
    """The delete files of a plan, in total and for each data file.

    Attributes:
        by_position: Number of position delete files.
        by_key: Number of equality delete files.
        size: Bytes of all delete files.
        data_files: Number of data files with delete files.
        most: Most delete files of one data file.
        median: Median number of delete files, of the data files that have any.
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
        """Return the findings as lines of text."""
        if self.data_files == 0:
            return ()
        kinds = [(self.by_position, "position delete file"), (self.by_key, "equality delete file")]
        return (
            ", ".join(counted(count, kind) for count, kind in kinds if count),
            f"{counted(self.data_files, 'data file')} affected: median {self.median:,} and at most {self.most:,} delete files each",
        )


def deletes_per_file(plan: ScanPlan) -> pa.Array:
    """Return how many delete files apply to each data file that has any."""
    lists = plan.files.column("deletes")
    flat = pc.list_flatten(lists)
    # A list holds delete files one by one, or runs of consecutive rows of the plan's deletes.
    counts = pc.struct_field(flat, "count") if pa.types.is_struct(flat.type) else pa.repeat(pa.scalar(1), len(flat))
    pairs = pa.table({"file": pc.list_parent_indices(lists), "count": counts})
    return pairs.group_by("file").aggregate([("count", "sum")]).column("count_sum").combine_chunks()


@dataclass(frozen=True)
class FooterFindings:
    """Figures from the footers of the planned data files.

    Attributes:
        row_groups: Row groups of Parquet files and stripes of ORC files.
        row_groups_kept: Row groups and stripes to decode.
        pages: Pages of the columns read, in files with a page index.
        pages_kept: Pages to decode.
        rows_selected: Rows to decode, before deletes and the filter remove any.
        bytes_to_read: Bytes of the columns read; in ORC files of all columns.
        reasons: What pruned the other row groups and pages (`statistics`, `bloom filter`, ...) and in how many files.
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
        """Return the figures of a plan, reading the footers of its files. Avro files count with their manifest entries."""
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
        why = tuple(f"pruned by {reason} in {counted(count, 'file')}" for reason, count in self.reasons)
        text = f"{self.row_groups_kept:,} of {self.row_groups:,} to read"
        found = [Finding("row groups", text, (self.row_groups_kept, self.row_groups), why)]
        if self.pages:
            pages = f"{self.pages_kept:,} of {self.pages:,} to read in these row groups"
            found.append(Finding("pages", pages, (self.pages_kept, self.pages)))
        return found


_TEXTS = ("file_path", "reason")


def _sum(plan: ScanPlan, column: str, of: pa.Array) -> int:
    total: int | None = pc.sum(plan.files.filter(of).column(column)).as_py()
    return total or 0


def selection_findings(row_filter: str, columns: tuple[str, ...]) -> list[Finding]:
    """Return the filter and the columns of a scan, cut after `SHOWN_CHARACTERS` and `SHOWN_COLUMNS`."""
    text = "all rows" if row_filter == str(AlwaysTrue()) else row_filter
    if len(text) > SHOWN_CHARACTERS:
        text = f"{text[:SHOWN_CHARACTERS]}... ({len(text):,} characters)"
    names = ", ".join(columns[:SHOWN_COLUMNS])
    more = f" and {len(columns) - SHOWN_COLUMNS:,} more" if len(columns) > SHOWN_COLUMNS else ""
    return [Finding("filter", text), Finding("columns", f"{names}{more}")]


def counted(count: int, noun: str) -> str:
    """Return a count with its noun, in the plural unless the count is 1."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def byte_text(count: int) -> str:
    """Return a number of bytes with a binary unit and one decimal."""
    size = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"
