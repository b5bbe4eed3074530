"""Writing equality delete files, which delete the rows of earlier commits by their keys. Spec: Equality Delete Files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from icefloe.arguments import checked_integer
from icefloe.exceptions import ValidationError
from icefloe.manifest.data_file import DataFile
from icefloe.table.environment import SYSTEM
from icefloe.table.write.file_writer import FileWriter
from icefloe.typedef import EMPTY_DICT

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from icefloe.io import FileIO
    from icefloe.table.metadata import TableMetadata
    from icefloe.typedef import Properties


def write_equality_deletes(  # noqa: PLR0913 - what the files hold and how they are written
    io: FileIO,
    metadata: TableMetadata,
    keys: object,
    equality_ids: Sequence[int],
    *,
    spec_id: int | None = None,
    properties: Properties = EMPTY_DICT,
    operation_id: str | None = None,
) -> list[DataFile]:
    """Write the keys of deleted rows to equality delete files. A commit of the files deletes the rows of earlier commits.

    A row is deleted if its key equals one of the written keys; null equals null. The files delete rows of the partition that their
    keys lie in. With a partition spec without fields, they delete rows of every partition.

    Args:
        io: Storage of the table.
        metadata: The table.
        keys: Rows of anything that exports Arrow, with the key columns and the source columns of the partition spec. Other columns
            of the table are ignored, and so is the order of columns.
        equality_ids: Field ids of the key columns: primitive columns outside of lists and maps, except floating-point columns.
        spec_id: Partition spec of the files; None for the table's default spec.
        properties: Table properties that replace those of the table, such as `write.delete.format.default` or
            `write.delete.target-file-size-bytes`.
        operation_id: A UUID for the names of the files; None for a new one. No two calls may share one.

    Returns:
        The delete files, for `new_row_delta().add_deletes()`. Without rows there is none.

    Raises:
        ValidationError: `equality_ids` is not a key, or the table has no such spec.
        SchemaMismatchError: A key column or a source column of the spec is missing or has another type.

    Examples:
        >>> import pyarrow as pa
        >>> from icefloe.catalog import load_catalog
        >>> catalog = load_catalog("scratch", type="memory")
        >>> catalog.create_namespace("db")
        >>> table = catalog.create_table("db.points", pa.schema([("x", pa.int64()), ("y", pa.int64())]))
        >>> table.append(pa.table({"x": [1, 1, 2], "y": [1, 2, 3]}))
        >>> files = write_equality_deletes(table.io, table.metadata, pa.table({"x": [1]}), [1])
        >>> delta = table.new_row_delta()
        >>> for file in files:
        ...     _ = delta.add_deletes(file)
        >>> delta.commit()
        >>> table.scan().to_arrow().to_pydict()
        {'x': [2], 'y': [3]}
    """
    if properties:
        metadata = metadata.model_copy(update={"properties": {**metadata.properties, **properties}})
    writer = FileWriter(io, metadata, operation_id if operation_id is not None else SYSTEM.new_uuid())
    return as_data_files(metadata, writer.equality_deletes(keys, _checked_ids(equality_ids), spec_id))


def _checked_ids(equality_ids: object) -> list[int]:
    """Return field ids; integers of NumPy are accepted.

    Raises:
        ValidationError: The value is no collection of whole numbers, but of names for example.
    """
    if isinstance(equality_ids, str | bytes | Mapping) or not isinstance(equality_ids, Iterable):
        raise ValidationError(f"equality_ids: expected a list of field ids such as [1], got {equality_ids!r}")
    ids = list(equality_ids)
    for one in ids:
        if isinstance(one, str):
            raise ValidationError(
                f"equality_ids: expected field ids, got the name {one!r}; table.schema().find_field({one!r}).field_id is its field id"
            )
    return [checked_integer("equality_ids", one) for one in ids]


def as_data_files(metadata: TableMetadata, columns: pa.RecordBatch) -> list[DataFile]:
    """Return written files, DataFile columns, as objects with typed partition tuples."""
    schema = metadata.schema()
    types = {
        spec.spec_id: [field.field_type for field in spec.partition_type(schema).fields]
        for spec_id, spec in metadata.specs().items()
        if spec_id in set(columns.column("spec_id").to_pylist())
    }
    return [DataFile.from_row(row, types[row["spec_id"]]) for row in columns.to_pylist()]
