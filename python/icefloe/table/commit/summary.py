"""Metrics of a snapshot summary: files, rows and bytes that a commit adds and removes. Spec: Optional Snapshot Summary Fields.

Every value is decimal text. Metrics of zero are left out, except the number of changed partitions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe import _core
from icefloe.exceptions import ValidationError
from icefloe.io.arrow_values import empty_table, int_scalar
from icefloe.table.properties import properties_as_text
from icefloe.table.snapshots import OPERATION

if TYPE_CHECKING:
    from collections.abc import Mapping

DATA = 0
POSITION_DELETES = 1
EQUALITY_DELETES = 2
_TYPES = pa.schema(
    [
        ("content", pa.int32()),
        ("spec_id", pa.int32()),
        ("partition", pa.string()),
        ("record_count", pa.int64()),
        ("file_size_in_bytes", pa.int64()),
    ]
)


_COUNTS = frozenset(
    {
        *(f"{verb}-data-files" for verb in ("added", "deleted", "total")),
        *(f"{verb}-records" for verb in ("added", "deleted", "total")),
        *(
            f"{verb}-{counted}"
            for verb in ("added", "removed", "total")
            for counted in (
                "delete-files",
                "equality-delete-files",
                "position-delete-files",
                "files-size",
                "position-deletes",
                "equality-deletes",
            )
        ),
        "changed-partition-count",
        "partition-summaries-included",
        "manifests-created",
        "manifests-kept",
        "manifests-replaced",
    }
)
"""Keys of a summary that the commit computes."""

FILE_COLUMNS = tuple(_TYPES.names)
"""Columns of DataFile batches that every commit reads."""


def summary_properties(given: Mapping[str, object] | None) -> dict[str, str]:
    """Return additional keys of a snapshot's summary, with numbers and booleans as text.

    Raises:
        ValidationError: A value is None, or the commit sets a key itself: `operation`, a count, or a total, which later snapshots add to.
    """
    if given is None:
        return {}
    texts = properties_as_text(given)
    own = [name for name in texts if name.lower() == OPERATION or name in _COUNTS]
    if own:
        raise ValidationError(
            f"snapshot_properties: the commit sets the key {own[0].lower()!r} of the summary; expected other keys, got {given!r}"
        )
    return texts


@dataclass(frozen=True)
class FileTotals:
    """Totals of the files of one content type.

    Attributes:
        files: Number of files.
        rows: Number of rows in them.
        size_bytes: Size of the files in bytes.
    """

    files: int
    rows: int
    size_bytes: int


def file_columns(*batches: pa.RecordBatch | pa.Table) -> pa.Table:
    """Return the columns of DataFile batches that the summary's metrics are computed from."""
    parts = [pa.table({name: batch.column(name) for name in _TYPES.names}, schema=_TYPES) for batch in batches]
    return pa.concat_tables(parts) if parts else empty_table(_TYPES)


def change_metrics(added: pa.Table, removed: pa.Table) -> dict[str, str]:
    """Return the metrics of a commit, by summary key, in the order of the Java reference.

    Args:
        added: Data and delete files that it adds, as `file_columns` returns them.
        removed: Data and delete files that it removes, as `file_columns` returns them.
    """
    data, positions, equality = _totals_by_content(added)
    old, old_positions, old_equality = _totals_by_content(removed)
    counts = {
        "added-data-files": data.files,
        "deleted-data-files": old.files,
        "added-equality-delete-files": equality.files,
        "removed-equality-delete-files": old_equality.files,
        "added-position-delete-files": positions.files,
        "removed-position-delete-files": old_positions.files,
        "added-delete-files": positions.files + equality.files,
        "removed-delete-files": old_positions.files + old_equality.files,
        "added-records": data.rows,
        "deleted-records": old.rows,
        "added-files-size": data.size_bytes + positions.size_bytes + equality.size_bytes,
        "removed-files-size": old.size_bytes + old_positions.size_bytes + old_equality.size_bytes,
        "added-position-deletes": positions.rows,
        "removed-position-deletes": old_positions.rows,
        "added-equality-deletes": equality.rows,
        "removed-equality-deletes": old_equality.rows,
    }
    return {key: str(count) for key, count in counts.items() if count != 0}


def changed_partitions(added: pa.Table, removed: pa.Table) -> pa.Table:
    """Return the distinct (spec_id, partition) pairs of files that a commit adds or removes."""
    touched = pa.concat_tables([added, removed]).select(["spec_id", "partition"])
    if all(pc.count_distinct(column, mode="all").as_py() == 1 for column in touched.columns):
        # Grouping would import pandas; see `icefloe.io.arrow_values`.
        return touched.slice(0, 1)
    return touched.group_by(["spec_id", "partition"], use_threads=False).aggregate([])


def partition_metrics(
    added: pa.Table, removed: pa.Table, partitions: pa.Table, *, schema: str, specs: Mapping[int, str]
) -> dict[str, str]:
    """Return the metrics of each partition, by summary key.

    Args:
        added: Files that the commit adds.
        removed: Files that it removes.
        partitions: The partitions of these files, as `changed_partitions` returns them; at least one.
        schema: Schema JSON.
        specs: Spec JSON by spec id.
    """
    summaries = {"partition-summaries-included": "true"}
    for row in partitions.to_pylist():
        path = _core.partition_path(specs[row["spec_id"]], schema, row["partition"])
        metrics = change_metrics(_of_partition(added, row), _of_partition(removed, row))
        summaries[f"partitions.{path}"] = ",".join(f"{key}={value}" for key, value in metrics.items())
    return summaries


def _of_partition(files: pa.Table, row: dict[str, object]) -> pa.Table:
    return files.filter((pc.field("spec_id") == row["spec_id"]) & (pc.field("partition") == row["partition"]))


def _totals_by_content(files: pa.Table) -> list[FileTotals]:
    """Return the totals of data files, position delete files and equality delete files."""
    present = pc.unique(files.column("content")).to_pylist()
    return [_totals(files, content, present) for content in (DATA, POSITION_DELETES, EQUALITY_DELETES)]


def _totals(files: pa.Table, content: int, present: list[int]) -> FileTotals:
    if content not in present:
        return FileTotals(0, 0, 0)
    own = (
        files if len(present) == 1 else files.filter(pc.equal(files.column("content"), int_scalar(content, pa.int32())))
    )
    return FileTotals(own.num_rows, _sum(own, "record_count"), _sum(own, "file_size_in_bytes"))


def _sum(files: pa.Table, column: str) -> int:
    # Decimals do not overflow, whatever counts manifests state.
    total = pc.sum(files.column(column).cast(pa.decimal128(19))).as_py()
    return 0 if total is None else int(total)
