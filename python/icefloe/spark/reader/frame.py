"""The DataFrame of a planned scan."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F  # noqa: N812  the name everyone uses
from pyspark.sql.pandas.types import from_arrow_type

from icefloe.spark.reader.native import native_frame
from icefloe.spark.reader.numbered_tasks import frame_of_tasks
from icefloe.spark.reader.predicate_text import predicate_text
from icefloe.spark.reader.read_task import ReadTask
from icefloe.spark.reader.row_location import FILE, POSITION, file_keys
from icefloe.spark.types.conform import quoted
from icefloe.spark.types.to_spark import read_schema, schema_value
from icefloe.table.scan.metadata_columns import METADATA_COLUMNS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icefloe.spark.reader.scan_choice import PlannedScan
    from icefloe.table.scan import DataScan, IncrementalAppendScan

NUMBER = "__icefloe_number"

_MOST_BRANCHES = 16


def scan_frame(spark: Any, planned: PlannedScan) -> DataFrame:
    """Return the rows and columns of a planned scan.

    Args:
        spark: Session.
        planned: The scan.
    """
    scan = planned.scan
    if planned.native is None:
        frame = _rust_frame(spark, scan, planned.only)
        columns = frame.columns
    else:
        frame = native_frame(spark, planned.native, condition=_condition(planned))
        columns = [field.name for field in planned.native.schema.fields]
    names = _names(scan)
    frame = frame if columns == names else frame.select(*[quoted(name) for name in names])
    return frame if scan.limit is None else frame.limit(scan.limit)


def _names(scan: DataScan | IncrementalAppendScan) -> list[str]:
    """Return the names of a scan's top-level columns in the order of the selection, or else of the table."""
    names = [field.name for field in scan.projection().fields]
    names += [name for name in scan.selected_fields if name in METADATA_COLUMNS and name not in names]
    selected = enumerate(scan.selected_fields)
    ranks = {name: rank for rank, path in selected for name in names if f"{path}.".startswith(f"{name}.")}
    return sorted(names, key=lambda name: ranks.get(name, len(ranks)))


def located_frame(spark: Any, planned: PlannedScan) -> DataFrame:
    """Return the rows of a planned scan with the file and position of each.

    ``__icefloe_file`` is the file's key or its path, which :func:`with_file_number` replaces by a number; ``__icefloe_pos`` is the
    row's position in the file.
    """
    if planned.native is not None:
        return native_frame(spark, planned.native, condition=_condition(planned), located=True)
    names = [field.name for field in planned.scan.projection().fields]
    frame = _rust_frame(spark, planned.scan.update(selected_fields=(*names, "_file", "_pos")), planned.only)
    return frame.withColumnsRenamed({"_file": FILE, "_pos": POSITION})


def with_file_number(planned: PlannedScan, frame: DataFrame) -> DataFrame:
    """Replace ``__icefloe_file`` by the file's row number in the plan, an int; null for a file that the plan does not have."""
    files = planned.plan.files
    numbers = pa.table({FILE: file_names(planned), NUMBER: pa.array(np.arange(files.num_rows, dtype=np.int32))})
    return replaced_by(frame, numbers)


def replaced_by(frame: DataFrame, mapping: pa.Table) -> DataFrame:
    """Replace ``__icefloe_file`` by ``__icefloe_number`` of a small table with both columns; null where the table has no row.

    Other columns of the table are added.
    """
    others = [F.col(quoted(name)) for name in frame.columns if name != FILE]
    added = {name: FILE if name == NUMBER else name for name in mapping.column_names if name != FILE}
    # Few keys are a part of the query's code, without a job that broadcasts them. An empty table would be a broadcast that fails over Spark Connect.
    if mapping.num_rows == 0 or (
        mapping.num_rows <= _MOST_BRANCHES and pa.types.is_integer(mapping.schema.field(FILE).type)
    ):
        return frame.select(*others, *[F.expr(_case_of(mapping, name)).alias(alias) for name, alias in added.items()])
    joined = frame.join(F.broadcast(frame.sparkSession.createDataFrame(mapping)), FILE, "left")
    return joined.select(*others, *[F.col(name).alias(alias) for name, alias in added.items()])


def _case_of(mapping: pa.Table, name: str) -> str:
    """Return SQL text of the value that a column of a table has for ``__icefloe_file``."""
    pairs = zip(mapping.column(FILE).to_pylist(), mapping.column(name).to_pylist(), strict=True)
    branches = " ".join(f"WHEN {key}L THEN {value}" for key, value in pairs)
    value = f"CASE {FILE} {branches} END" if branches else "NULL"
    return f"CAST({value} AS {from_arrow_type(mapping.schema.field(name).type).simpleString()})"


def file_names(planned: PlannedScan) -> pa.Array:
    """Return the value of ``__icefloe_file`` for each file of the plan."""
    files = planned.plan.files
    return file_keys(files) if planned.native is not None else files.column("file_path")


def _condition(planned: PlannedScan) -> str | None:
    """Return the row filter as SQL text; None if all rows pass."""
    if planned.predicate in (True, {"type": "true"}):
        return None
    return predicate_text(planned.predicate, schema_value(planned.scan.schema()))


def _rust_frame(spark: Any, scan: DataScan | IncrementalAppendScan, only: pa.Array | None) -> DataFrame:
    """Return the rows of a scan by the Rust reader, after deletes and filter."""
    plan = scan.plan()
    if only is not None:
        plan = replace(plan, files=plan.files.filter(pc.is_in(plan.files.column("file_path"), value_set=only)))
    tasks = [ReadTask(group) for group in plan.groups(scan.packing())]
    return frame_of_tasks(spark, tasks, read_schema(plan.projection))
