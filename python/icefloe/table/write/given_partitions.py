"""Existing files whose partition values are given, because no directory of their locations has them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from icefloe import _core
from icefloe.conversions import partition_to_py, to_json_value
from icefloe.exceptions import ValidationError
from icefloe.partitioning import PartitionSpec
from icefloe.table.read_context import context_json, sort_order_json
from icefloe.transforms import IdentityTransform
from icefloe.types import PrimitiveType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from icefloe.table.metadata import TableMetadata


@dataclass(frozen=True)
class GivenPartition:
    """Files of one partition.

    Attributes:
        values: Texts of the values by the names of the partition columns, as in the names of Hive's directories.
        files: Columns `location` and `size` in bytes.
    """

    values: Mapping[str, str]
    files: pa.Table

    @property
    def locations(self) -> list[str]:
        """The locations of the files."""
        locations: list[str] = self.files.column("location").to_pylist()
        return locations

    def describe(self, io: Any, metadata: TableMetadata, file_format: str | None) -> tuple[pa.RecordBatch, int]:
        """Return the files as data files of a table's current spec, and the number of files without field ids.

        Args:
            io: Storage.
            metadata: The table, with its name mapping.
            file_format: The format that every file must have; by default the format of its magic bytes.

        Raises:
            ValidationError: The spec has other fields than identity of the given columns, or a value is not of the column's type.
            SchemaMismatchError: A file's columns, or their values, do not fit the table.
        """
        spec_id = max(one.spec_id for one in metadata.partition_specs) + 1
        unpartitioned = PartitionSpec(spec_id=spec_id)
        described = metadata.with_(partition_specs=(*metadata.partition_specs, unpartitioned))
        files, without_ids = _core.describe_data_files(
            io,
            self.locations,
            context=context_json(described, metadata.schema()),
            spec_id=spec_id,
            sort_order=sort_order_json(metadata.sort_order()),
            format=file_format,
        )
        columns = {
            "spec_id": pa.array([metadata.default_spec_id] * files.num_rows, pa.int32()),
            "partition": pa.array([self._tuple(metadata)] * files.num_rows, pa.string()),
        }
        arrays = [columns.get(name, files.column(name)) for name in files.schema.names]
        return pa.RecordBatch.from_arrays(arrays, schema=files.schema), without_ids

    def _tuple(self, metadata: TableMetadata) -> str:
        """Return the partition tuple as JSON."""
        schema, spec = metadata.schema(), metadata.spec()
        texts = {name.lower(): text for name, text in self.values.items()}
        values = []
        for field in spec.fields:
            column = schema.find_field(field.source_id)
            text = texts.get(column.name.lower())
            if not isinstance(field.transform, IdentityTransform) or text is None:
                raise ValidationError(
                    f"add_files: partition {dict(self.values)}: its value of the field {field.name} is not known; expected a table that is "
                    f"partitioned by identity of {', '.join(self.values)}, got {field.transform} of {column.name}"
                )
            kind = column.field_type
            assert isinstance(kind, PrimitiveType)
            value = partition_to_py(kind, text)
            values.append(None if value is None else to_json_value(kind, value))
        return json.dumps(values)
