"""Large row groups, divided between the cores of a session for Spark's own Parquet reader.

Spark's reader decodes a row group in one task, so a file with one large row group occupies one core while the others wait. The reader
skips pages by their statistics, however. Where the pages of a file are sorted by a column, ranges of the column's values are
parts that tasks read side by side. Every row is in exactly one of the ranges, whatever the statistics are. The column may be one
that the query does not read: tasks then read it for the ranges alone.
"""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from icefloe import _core
from icefloe.schema import Schema
from icefloe.table.read_context import schema_json
from icefloe.table.scan.metadata_columns import FILE_ROW
from icefloe.table.write.rows import POS
from icefloe.types import DateType, IntegerType, LongType, TimestampType, TimestamptzType

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from icefloe.table.scan.plan import ScanPlan
    from icefloe.types import NestedField

    Longs = npt.NDArray[np.int64]

_MIB = 1024 * 1024
# A division of fewer bytes saves less than a tenth of the time, for a quarter more CPU, unless there are many values: an aggregate of
# 36 million values takes 0.8 times as long in two parts, a filter of 30 million that few rows pass 1.1 times as long, 1.2 with deletes.
_LEAST_EXCESS_BYTES = 48 * _MIB
_LEAST_VALUES = 33_000_000
_LEAST_RATIO = 1.5
_MOST_FILES = 4
_MOST_PARTS = 16
# Rows that the largest part may have and all parts together, as multiples of an even division: the ranges share pages.
_MOST_UNEVEN, _MOST_OVERLAP = 1.3, 1.15
SORTABLE = (IntegerType, LongType, DateType, TimestampType, TimestamptzType)
"""Types of columns whose ranges can be parts."""

# The days from 0001-01-01 to 9999-12-31, counted from 1970-01-01. Literals have years of four digits, whose order as texts is that of
# the values, and pyarrow writes no text or a wrong one for later years.
_DAYS = range(-719_162, 2_932_897)
_MICROSECONDS_PER_DAY = 86_400_000_000
TASK_COLUMNS = (
    "file_path",
    "file_format",
    "spec_id",
    "partition",
    "record_count",
    "file_size_in_bytes",
    "start",
    "length",
)
"""Columns of a plan's files that a reader of their rows needs, without a filter and deletes."""


@dataclass(frozen=True, kw_only=True)
class DividedFile:
    """A file that is read in parts.

    Args:
        path: Location of the file.
        column: The column whose ranges are the parts, which the scan may not read otherwise.
        parts: Filter of each part, decoded predicate JSON. Each row of the file meets exactly one of them.
    """

    path: str
    column: NestedField
    parts: tuple[Any, ...]


def session_cores(spark: Any) -> int | None:
    """Return the number of tasks that a session runs at the same time; None over Spark Connect, which does not report it."""
    context = getattr(spark, "_jsc", None)
    return None if context is None else max(1, int(context.sc().defaultParallelism()))


def has_large_row_group(files: pa.RecordBatch) -> bool:
    """Return whether some row group is large enough for a division, whatever the number of cores is."""
    return bool((largest_row_groups(files) > _LEAST_EXCESS_BYTES).any())


def divided_files(
    plan: ScanPlan, schema: Schema, cores: int, *, others: Sequence[NestedField] = ()
) -> tuple[DividedFile, ...]:
    """Return the files to read in parts: those whose largest row group keeps one core busy while others wait.

    That is a row group with 1.5 times the bytes that the scan has for each core, and 48 MiB more than those, of which the scan
    reads 48 MiB or 33 million values. A file is divided only if its page index shows a column by whose ranges each part reads pages
    of its own.

    Args:
        plan: Plan of whole files, all of them Parquet.
        schema: Columns to read whose conditions Spark evaluates by statistics.
        cores: Number of tasks that run at the same time.
        others: Columns that the scan does not read, to divide by if it reads none whose pages are sorted.
    """
    largest = largest_row_groups(plan.files)
    share = int(plan.files.column("length").to_numpy().sum()) // cores
    is_large = largest > max(_LEAST_RATIO * share, share + _LEAST_EXCESS_BYTES)
    choices = [[one for one in fields if isinstance(one.field_type, SORTABLE)] for fields in (schema.fields, others)]
    if not is_large.any() or is_large.sum() > _MOST_FILES or not any(choices):
        return ()
    files = plan.files.filter(pa.array(is_large))
    is_long = _is_long(_survey(plan, files), len(schema.fields))
    counts = np.minimum(-(-largest[is_large] // max(1, share)), _MOST_PARTS // _MOST_FILES)
    divided = []
    for row in np.flatnonzero(is_long):
        file, count = files.slice(row, 1), int(counts[row])
        found = (_divided(plan, file, columns, count) for columns in choices if columns)
        divided.append(next((one for one in found if one is not None), None))
    return tuple(one for one in divided if one is not None)


def _is_long(survey: pa.RecordBatch, columns: int) -> npt.NDArray[np.bool_]:
    """Return a mask of the files of which a scan decodes enough for a division to save time."""
    read_bytes, rows = (pc.fill_null(survey.column(name), 0).to_numpy() for name in ("bytes_to_read", "rows_selected"))
    long: npt.NDArray[np.bool_] = (read_bytes > _LEAST_EXCESS_BYTES) | (rows * columns > _LEAST_VALUES)
    return long


def largest_row_groups(files: pa.RecordBatch) -> Longs:
    """Return the bytes of the largest row group of each of a plan's whole files; 0 for a file without split offsets."""
    offsets = files.column("split_offsets")
    starts = pc.list_flatten(offsets).to_numpy()
    file = pc.list_parent_indices(offsets).to_numpy()
    ends = files.column("file_size_in_bytes").to_numpy()[file]
    is_followed = file[1:] == file[:-1]
    ends[:-1][is_followed] = starts[1:][is_followed]
    largest = np.zeros(files.num_rows, dtype=np.int64)
    np.maximum.at(largest, file, ends - starts)
    return largest


def _divided(plan: ScanPlan, file: pa.RecordBatch, columns: Sequence[NestedField], count: int) -> DividedFile | None:
    """Return the most even division of a file by one of the columns; None if no column divides its pages."""
    # A required column that the file lacks is read as null: it divides nothing, and the query may not read it.
    optional = Schema(*[field.model_copy(update={"required": False}) for field in columns])
    values = _values(plan, file, optional, count)
    cuts = [(field, sorted(values[index])) for index, field in enumerate(columns) if None not in values[index]]
    options = [(field, _ranges(field, cut)) for field, cut in cuts if len(set(cut)) == count - 1]
    if not options:
        return None
    residuals = [json.dumps(part) for _, parts in options for part in parts]
    repeated = file.select(TASK_COLUMNS).take(pa.array(np.zeros(len(residuals), dtype=np.int32)))
    repeated = repeated.append_column("residual", pa.array(residuals).dictionary_encode())
    rows = _survey(plan, repeated).column("rows_selected").to_numpy(zero_copy_only=False).reshape(-1, count)
    even = file.column("record_count")[0].as_py() / count
    best = int(rows.max(axis=1).argmin())
    if not (rows[best].max() <= _MOST_UNEVEN * even and rows[best].sum() <= _MOST_OVERLAP * even * count):
        return None
    column, parts = options[best]
    return DividedFile(path=file.column("file_path")[0].as_py(), column=column, parts=tuple(parts))


def _values(plan: ScanPlan, file: pa.RecordBatch, schema: Schema, count: int) -> list[list[Any]]:
    """Return for each column its values at the rows that divide a file evenly, as JSON literals; None for null."""
    rows = file.column("record_count")[0].as_py()
    positions = pa.array([rows * part // count for part in range(1, count)], pa.int64())
    selected = pa.table({FILE_ROW: pa.repeat(pa.scalar(0, pa.int32()), len(positions)), POS: positions})
    stream = _core.read(
        plan.io.core,
        plan.context,
        file.select(TASK_COLUMNS),
        plan.deletes.slice(0, 0),
        projection=schema_json(schema),
        rows=selected,
    )
    found = pa.table(stream)
    return [_literals(column.combine_chunks()) for column in found.columns]


def _literals(values: pa.Array) -> list[Any]:
    """Return integers, dates and timestamps as literals of predicate JSON; None for null and for years without a literal."""
    if pa.types.is_integer(values.type):
        return list(values.to_pylist())
    is_date = pa.types.is_date(values.type)
    per_day = 1 if is_date else _MICROSECONDS_PER_DAY
    numbers = values.cast(pa.int32() if is_date else pa.int64())
    is_known = pc.and_(
        pc.greater_equal(numbers, _DAYS.start * per_day),
        pc.less(numbers, _DAYS.stop * per_day),
    )
    text = pc.if_else(is_known, values, pa.scalar(None, values.type)).cast(pa.string()).to_pylist()
    return [None if one is None else one.replace(" ", "T").replace("Z", "+00:00") for one in text]


def _ranges(field: NestedField, cuts: Sequence[Any]) -> list[Any]:
    """Return the predicates of the ranges between ascending values; null is in the first range.

    Files may have nulls in a required column that was optional once, or that other writers wrote.
    """

    def compared(operator: str, value: Any) -> Any:
        return {"type": operator, "term": field.name, "value": value}

    is_null = {"type": "is-null", "term": field.name}
    first = {"type": "or", "left": compared("lt", cuts[0]), "right": is_null}
    between = [
        {"type": "and", "left": compared("gt-eq", start), "right": compared("lt", end)}
        for start, end in itertools.pairwise(cuts)
    ]
    return [first, *between, compared("gt-eq", cuts[-1])]


def _survey(plan: ScanPlan, files: pa.RecordBatch) -> pa.RecordBatch:
    """Return the bytes and rows that reading files decodes, from their footers and page indexes."""
    names = [name for name in (*TASK_COLUMNS, "residual") if name in files.schema.names]
    return _core.explain_read(
        plan.io.core, plan.context, files.select(names), plan.deletes.slice(0, 0), projection=plan.projection
    )
