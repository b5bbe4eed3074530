"""The rows of position delete files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.compute as pc

from icefloe import _core
from icefloe.table.inspect.manifest_lists import DELETES, with_content
from icefloe.table.inspect.schemas import metadata_table_schema
from icefloe.table.read_context import context_json, schema_json, schemas_json, specs_json, with_column_partition_ids

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

    from icefloe.table.inspect.inspected_table import InspectedTable

POSITION_DELETES = 1
_TASK = ("file_path", "file_format", "spec_id", "partition", "record_count")


def position_deletes(table: InspectedTable, manifests: pa.Table) -> Iterable[pa.RecordBatch]:
    """Yield the deleted positions of every live position delete file of some manifests.

    A delete file is read as a data file whose columns have the reserved ids of `file_path`, `pos` and `row`; its own path,
    spec and partition are metadata columns.

    Raises:
        MissingFileError: A manifest or delete file does not exist.
    """
    metadata = table.metadata
    entries = _core.read_manifest(
        table.io.core,
        with_content(manifests, DELETES),
        schema=schemas_json(metadata),
        specs=specs_json(metadata),
        keep="live",
    )
    files = entries.filter(pc.equal(entries.column("content"), POSITION_DELETES)).select(list(_TASK))
    schema = metadata_table_schema("position_deletes", metadata)
    return _core.read(
        table.io.core,
        with_column_partition_ids(context_json(metadata, metadata.schema()), metadata),
        files,
        entries.slice(0, 0),
        projection=schema_json(schema),
    )
