"""Writing position deletes of planned data files, together with the positions of delete files that they replace."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe import _core
from icefloe.table.commit.removed_files import RemovedFiles
from icefloe.table.properties.definitions import DELETE_GRANULARITY
from icefloe.table.write.delete_rows import delete_rows
from icefloe.table.write.rows import changed_files, position_stream, targets

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from icefloe.table.scan.plan import ScanPlan
    from icefloe.table.write.file_writer import FileWriter
    from icefloe.table.write.rows import Positions

_POSITION_DELETES = 1
_FILE_PATH = {"id": 2147483546, "name": "file_path", "type": "string", "required": True}
_POS = {"id": 2147483545, "name": "pos", "type": "long", "required": True}
_SCHEMA = {"type": "struct", "schema-id": 0, "fields": [_FILE_PATH, _POS]}
_PROJECTION = json.dumps(_SCHEMA)
_CONTEXT = json.dumps(
    {
        "schema": _SCHEMA,
        "schemas": [_SCHEMA],
        "partition-specs": [{"spec-id": 0, "fields": []}],
        "case-sensitive": True,
        "properties": {},
    }
)
_ROWS = pa.schema([("file_path", pa.string()), ("pos", pa.int64())])


@dataclass(frozen=True, kw_only=True)
class PositionDeleteFiles:
    """Position deletes of one change.

    Attributes:
        added: The new delete files, DataFile columns.
        replaced: The delete files whose positions the new ones repeat; the change removes them.
        referenced: Paths of the data files that lose rows.
    """

    added: pa.RecordBatch
    replaced: RemovedFiles
    referenced: pa.Array


def write_position_deletes(
    writer: FileWriter, plan: ScanPlan, positions: Positions, properties: Mapping[str, str]
) -> PositionDeleteFiles:
    """Write the deletes of some rows of a plan's files.

    With `write.delete.granularity` `file`, a new delete file repeats the positions of the older delete files of the same data file
    alone, which it replaces: a data file that is changed many times keeps one delete file.

    Args:
        writer: The writer of the operation.
        plan: A plan of whole files.
        positions: The rows to delete.
        properties: Table properties.
    """
    rows = position_stream(plan, positions)
    referenced = changed_files(plan, positions)
    older = replaced_deletes(plan.files, plan.deletes, referenced, properties)
    known = list(deleted_positions(plan.io.core, older))
    data = pa.concat_tables([rows.cast(_ROWS), pa.Table.from_batches(known, _ROWS)]) if known else rows
    return PositionDeleteFiles(
        added=writer.position_deletes(data, targets(plan)), replaced=RemovedFiles.of(older), referenced=referenced
    )


def replaced_deletes(
    files: pa.RecordBatch, deletes: pa.RecordBatch, touched: pa.Array, properties: Mapping[str, str]
) -> pa.RecordBatch:
    """Return the rows of a plan's delete files that new position deletes of some data files replace.

    These are position deletes that refer to one of the data files alone. Under granularity `partition` there are none.

    Args:
        files: The plan's files.
        deletes: The plan's delete files.
        touched: Paths of the data files that get new position deletes.
        properties: Table properties.
    """
    if deletes.num_rows == 0 or DELETE_GRANULARITY.of(properties) != "file":
        return deletes.slice(0, 0)
    _, own = _core.own_deletes(files.filter(pc.is_in(files.column("file_path"), touched)), deletes)
    return of_data_files(own.filter(pc.equal(own.column("content"), _POSITION_DELETES)), touched)


def of_data_files(deletes: pa.RecordBatch, touched: pa.Array) -> pa.RecordBatch:
    """Return the delete files that refer to one of some data files alone."""
    return deletes.filter(pc.is_in(deletes.column("referenced_data_file"), touched))


def deleted_positions(io: _core.FileIo, deletes: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Yield the rows of position delete files, columns `file_path` (absolute) and `pos`.

    Args:
        io: Storage.
        deletes: Rows of a plan's delete files, all of them position deletes.
    """
    count = deletes.num_rows
    if count == 0:
        return
    scope = {
        "spec_id": pa.repeat(pa.scalar(0, pa.int32()), count),
        "partition": pa.repeat(pa.scalar("[]"), count),
    }
    for batch in delete_rows(io, deletes, scope, context=_CONTEXT, projection=_PROJECTION):
        paths = batch.column("file_path").dictionary_encode()
        absolute = pa.array([io.absolute(path) for path in paths.dictionary.to_pylist()], pa.string())
        yield pa.RecordBatch.from_arrays([absolute.take(paths.indices), batch.column("pos")], schema=_ROWS)
