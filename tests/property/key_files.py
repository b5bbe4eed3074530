"""Equality delete files, written as data files of their keys."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
from icefloe import _core
from icefloe.partitioning import UNPARTITIONED_PARTITION_SPEC
from icefloe.schema import Schema
from icefloe.table import Table
from icefloe.table.read_context import schema_json, spec_json


def key_files(
    table: Table, schema: Schema, keys: pa.Table, *, spec_id: int, partition: tuple[Any, ...], number: int
) -> pa.RecordBatch:
    """Files that delete the rows of a partition whose columns of a schema equal one of the keys."""
    written = _core.write_data_files(
        table.io.core,
        keys,
        schema=schema_json(schema),
        spec=spec_json(UNPARTITIONED_PARTITION_SPEC),
        sort_order=None,
        table_location=table.location(),
        properties={},
        operation_id=f"keys-{number}",
        partition_id=0,
        task_id=0,
    )
    ids = [field.field_id for field in schema.fields]
    changed = {"content": 2, "spec_id": spec_id, "partition": json.dumps(list(partition)), "equality_ids": ids}
    return pa.RecordBatch.from_pylist([{**row, **changed} for row in written.to_pylist()], schema=written.schema)
