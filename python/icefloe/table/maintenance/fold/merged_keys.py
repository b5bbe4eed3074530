"""Writing the keys of several equality delete files to one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.exceptions import ValidationError
from icefloe.table.maintenance.fold.chosen_files import key_texts
from icefloe.table.read_context import context_json, schema_json
from icefloe.table.write.delete_rows import delete_rows

if TYPE_CHECKING:
    from icefloe.io import FileIO
    from icefloe.partitioning import PartitionSpec
    from icefloe.table.maintenance.rewrite.group_writer import GroupWriter
    from icefloe.table.metadata import TableMetadata


def can_be_merged(deletes: pa.Table, metadata: TableMetadata) -> pa.ChunkedArray:
    """Return for each equality delete file whether its keys can be written again.

    The keys of a dropped or nested column cannot, and neither can keys without the source columns of their partition spec.
    """
    columns = {field.field_id for field in metadata.schema().fields}
    specs = metadata.specs()
    kinds = pc.binary_join_element_wise(deletes.column("spec_id").cast(pa.string()), key_texts(deletes), "|")
    known = [kind for kind in pc.unique(kinds).to_pylist() if _is_key(kind, columns, specs)]
    return pc.is_in(kinds, value_set=pa.array(known, pa.string()))


def _is_key(kind: str, columns: set[int], specs: dict[int, PartitionSpec]) -> bool:
    spec_id, _, texts = kind.partition("|")
    ids = _ids(texts)
    return len(ids) > 0 and ids <= columns and {field.source_id for field in specs[int(spec_id)].fields} <= ids


def merged_keys(writer: GroupWriter, io: FileIO, run: pa.Table) -> pa.RecordBatch:
    """Write the distinct keys of the equality delete files of a run; return DataFile columns.

    Raises:
        ValidationError: A key is in a delete file of another partition than its own.
    """
    metadata = writer.metadata
    ids = sorted(_ids(key_texts(run)[0].as_py()))
    schema = metadata.schema()
    names = [schema.find_field(field_id).name for field_id in ids]
    files = run.append_column("data_sequence_number", run.column("sequence_number")).combine_chunks()
    scope = {name: files.column(name).combine_chunks() for name in ("spec_id", "partition")}
    projection = schema_json(schema.select(*names))
    stream = delete_rows(
        io.core, files.to_batches()[0], scope, context=context_json(metadata, schema), projection=projection
    )
    keys = pa.Table.from_batches(stream, stream.schema).group_by(names).aggregate([])
    # Sorted keys compress better, and scans index integers in order: 126 ms of CPU instead of 146 for 450,000 keys and 1.3M rows.
    keys = keys.take(pc.sort_indices(keys, sort_keys=[(name, "ascending") for name in names]))
    merged = writer.equality_deletes(keys, ids, files.column("spec_id")[0].as_py())
    if not _partitions(merged) <= _partitions(run):
        raise ValidationError(
            f"fold: equality delete file {files.column('file_path')[0].as_py()} has keys of another partition than its own; convert it "
            "with table.maintenance.convert_equality_deletes()"
        )
    return merged


def _ids(texts: str) -> set[int]:
    return {int(text) for text in texts.split(",") if text}


def _partitions(files: pa.Table | pa.RecordBatch) -> set[str]:
    return {json.dumps(json.loads(text)) for text in pc.unique(files.column("partition")).to_pylist()}
