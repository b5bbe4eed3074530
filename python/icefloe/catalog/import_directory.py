"""Directories of Parquet, ORC or Avro files as tables: a table beside the files (`snapshot_directory`) or in their place (`migrate_directory`).

No row is read or written: the footers of all files are read, and the table refers to the files where they are. Columns of files without
field ids are found by the table's name mapping. `name=value` directories, as Hive and Spark write them, become identity partition
fields, whose types are inferred from all values.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from icefloe import _core
from icefloe.arguments import checked_mapping, checked_text
from icefloe.catalog.catalog import Catalog
from icefloe.catalog.partition_directories import inferred_type
from icefloe.catalog.source_files import SourceFiles
from icefloe.exceptions import TableAlreadyExistsError, ValidationError
from icefloe.io.pyarrow import pyarrow_to_schema
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.table.maintenance.display import bytes_text, count_text
from icefloe.table.maintenance.locations import is_below
from icefloe.table.maintenance.plan import Plan, Result
from icefloe.table.properties.definitions import GC_ENABLED
from icefloe.table.refs import MAIN_BRANCH
from icefloe.table.write.add_files import add_existing_files
from icefloe.transforms import IdentityTransform
from icefloe.typedef import EMPTY_DICT
from icefloe.types import NestedField, PrimitiveType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from icefloe.io import FileIO
    from icefloe.table.create_transaction import CreateTableTransaction
    from icefloe.table.write.given_partitions import GivenPartition
    from icefloe.typedef import Identifier

_FIRST_FIELD_ID = 1000


@dataclass(frozen=True, kw_only=True)
class ImportDirectoryPlan(Plan):
    """The table that a directory of files becomes.

    Attributes:
        verb: `snapshot_directory` or `migrate_directory`.
        identifier: The table's name.
        source: The directory.
        location: The location of the table; None for the catalog's default.
        schema: The columns of the files, then the partition columns.
        spec: Identity fields of the `name=value` directories.
        properties: Properties of the table.
        files: The files: location and size in bytes.
    """

    verb: str  # type: ignore[misc] # two verbs have this plan
    identifier: Identifier
    source: str
    location: str | None
    schema: Schema
    spec: PartitionSpec
    properties: dict[str, str]
    files: pa.Table = field(repr=False)

    @property
    def is_empty(self) -> bool:
        """Always false: an empty directory is refused."""
        return False

    @property
    def file_count(self) -> int:
        """The number of files."""
        return int(self.files.num_rows)

    @property
    def total_bytes(self) -> int:
        """The bytes of the files."""
        return int(pc.sum(self.files.column("size")).as_py() or 0)

    def summary(self) -> str:
        """Return the effect of the plan in one sentence."""
        names = ", ".join(one.name for one in self.spec.fields)
        return (
            f"{self.verb}: create table {'.'.join(self.identifier)} of {count_text(self.file_count, 'file')} of {bytes_text(self.total_bytes)} in "
            f"{self.source}" + (f", partitioned by {names}" if names else "")
        )

    def rows(self) -> pa.Table:
        """Return one row for each file: location, size and `reason`."""
        reasons = pa.repeat("a file of the directory", self.files.num_rows)
        return self.files.append_column("reason", reasons)

    def as_dict(self) -> dict[str, Any]:
        """Return the plan as JSON values."""
        return {
            "verb": self.verb,
            "summary": self.summary(),
            "table": ".".join(self.identifier),
            "source": self.source,
            "location": self.location,
            "columns": [{"name": one.name, "type": str(one.field_type)} for one in self.schema.fields],
            "partition_fields": [one.name for one in self.spec.fields],
            "properties": dict(self.properties),
            "file_count": self.file_count,
            "total_bytes": self.total_bytes,
        }


@dataclass(frozen=True, kw_only=True)
class ImportDirectoryResult(Result):
    """The table that was created.

    Attributes:
        table_name: The table's name with dots.
        location: The table's location.
        imported_files_count: The number of its data files.
    """

    verb: ClassVar[str] = "import_directory"
    table_name: str
    location: str
    imported_files_count: int

    def summary(self) -> str:
        """Return the effect of the execution in one sentence."""
        return f"Created table {self.table_name} at {self.location} of {count_text(self.imported_files_count, 'file')}"

    def as_dict(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        return {"table": self.table_name, "location": self.location, "imported_files_count": self.imported_files_count}


@dataclass(frozen=True, kw_only=True)
class ImportDirectory:
    """Builder of a table over a directory; `plan()` reads one file and lists the others, `execute()` creates the table.

    Attributes:
        catalog: The catalog of the new table.
        verb: `snapshot_directory` or `migrate_directory`.
        source: The directory.
        identifier: The table's name.
        location: The table's location; None for the catalog's default.
        properties: Table properties.
        schema: Columns of the files; None for those of the smallest file.
        partition_types: Types of partition columns by name, instead of the inferred ones.
        file_format: The format of the files; None for any, by the magic bytes of each.
        source_files: The files.
    """

    catalog: Catalog
    verb: str
    source: str
    identifier: Identifier
    location: str | None
    properties: dict[str, str]
    schema: pa.Schema | None
    partition_types: dict[str, PrimitiveType]
    file_format: str | None
    source_files: SourceFiles

    def plan(self) -> ImportDirectoryPlan:
        """Return the table and the files that it would have. Nothing is written.

        Raises:
            ValidationError: The directory has no file or is a table already, or its partition directories differ.
            TableAlreadyExistsError: The catalog has a table of this name.
            CorruptFileError: The smallest file is not a Parquet, ORC or Avro file.
        """
        if self.catalog.table_exists(self.identifier):
            raise TableAlreadyExistsError(f"table {'.'.join(self.identifier)} already exists")
        io = self.catalog.file_io(self.source)
        files = self.source_files.listed(io)
        columns = self.schema if self.schema is not None else _columns_of_smallest(io, files)
        columns = pa.schema([one.with_nullable(True) for one in columns])
        schema = pyarrow_to_schema(columns, downcast_ns_timestamp_to_us=True)
        names, values = self.source_files.partition_values(files)
        unknown = sorted(set(self.partition_types) - set(names))
        if unknown:
            raise ValidationError(
                f"{self.verb}: partition_types: expected names of partition directories ({', '.join(names) or 'none'}), got {unknown[0]!r}"
            )
        schema = self._with_partition_columns(schema, names, values)
        fields = [
            PartitionField(schema.find_field(name).field_id, _FIRST_FIELD_ID + place, IdentityTransform(), name)
            for place, name in enumerate(names)
        ]
        return ImportDirectoryPlan(
            verb=self.verb,
            identifier=self.identifier,
            source=self.source,
            location=self.location,
            schema=schema,
            spec=PartitionSpec(*fields),
            properties=self.properties,
            files=files,
        )

    def execute(self, plan: ImportDirectoryPlan | None = None) -> ImportDirectoryResult:
        """Create the table of a plan, or of a new one, with all its files in one commit.

        Raises:
            SchemaMismatchError: The columns of a file do not fit the table; the message names file and column. No table was created.
            TableAlreadyExistsError: The catalog has a table of this name.
        """
        if plan is None:
            plan = self.plan()
        return self.create(plan, self.stage(plan))

    def stage(self, plan: ImportDirectoryPlan) -> CreateTableTransaction:
        """Return the transaction that creates the table of a plan with all its files; the catalog has no table before its commit.

        Raises:
            SchemaMismatchError: The columns of a file do not fit the table; the message names file and column.
            TableAlreadyExistsError: The catalog has a table of this name.

        Examples:
            >>> builder = snapshot_directory(catalog, f"{table.location()}/data", "examples.staged_files")
            >>> plan = builder.plan()
            >>> transaction = builder.stage(plan)
            >>> catalog.table_exists("examples.staged_files")
            False
            >>> builder.create(plan, transaction).imported_files_count == plan.file_count
            True
        """
        transaction = self.catalog.create_table_transaction(
            plan.identifier, plan.schema, plan.location, plan.spec, properties=plan.properties
        )
        with transaction.target(MAIN_BRANCH, None) as target:
            add_existing_files(
                target,
                self.source_files.in_directory(plan.files),
                check_duplicates=False,
                file_format=self.file_format,
                partitions=self.source_files.partitions,
            )
        return transaction

    def create(self, plan: ImportDirectoryPlan, transaction: CreateTableTransaction) -> ImportDirectoryResult:
        """Create the staged table of a plan, by the one commit of its transaction.

        Raises:
            TableAlreadyExistsError: The catalog has a table of this name.
            CommitStateUnknownException: The outcome is unknown; nothing was cleaned up.
        """
        table = transaction.commit_transaction()
        return ImportDirectoryResult(
            table_name=".".join(plan.identifier), location=table.location(), imported_files_count=plan.file_count
        )

    def _with_partition_columns(self, schema: Schema, names: list[str], values: list[set[str]]) -> Schema:
        """Return the columns of the files and of the directories; a column of both has the type that the files have."""
        fields = list(schema.fields)
        next_id = schema.highest_field_id + 1
        for name, found in zip(names, values, strict=True):
            if any(one.name == name for one in fields):
                continue
            kind = self.partition_types.get(name) or inferred_type(found)
            fields.append(NestedField(next_id, name, kind, required=False))
            next_id += 1
        return Schema(*fields)


def snapshot_directory(  # noqa: PLR0913 - the definition of a table
    catalog: Catalog,
    source: str,
    identifier: str | Identifier,
    *,
    location: str | None = None,
    properties: Mapping[str, str] = EMPTY_DICT,
    schema: pa.Schema | None = None,
    partition_types: Mapping[str, PrimitiveType] = EMPTY_DICT,
    file_format: str | None = None,
    directories: frozenset[str] | None = None,
    partitions: tuple[GivenPartition, ...] = (),
) -> ImportDirectory:
    """Return a builder of a table over the files of a directory, which stay in the possession of the directory.

    The table has a location of its own for its metadata and new files, and the properties `snapshot=true` and `gc.enabled=false`, so that
    no maintenance deletes the files of the directory. A file that is deleted there is missing in the table.

    Args:
        catalog: The catalog of the new table.
        source: A directory of Parquet, ORC or Avro files.
        identifier: The table's name.
        location: The table's location, outside of the directory; by default the catalog's.
        properties: Table properties.
        schema: Columns of the files; by default those of the smallest file.
        partition_types: Types of partition columns by name, instead of the inferred ones: int, long, date or string.
        file_format: The format that all files must have: `parquet`, `orc` or `avro`; by default the magic bytes of each file decide.
        directories: Names of the partition directories to take, such as `day=2026-11-01`; all files of the directory by default.
        partitions: Files of partitions elsewhere.

    Raises:
        ValidationError: The location is inside of the directory, or the directory inside of the location.

    Examples:
        >>> plan = snapshot_directory(catalog, f"{table.location()}/data", "examples.over_files").plan()
        >>> [field.name for field in plan.schema.fields]
        ['id']
    """
    _check_definition(catalog, properties, schema, partition_types, file_format)
    root = _directory(catalog, source)
    if location is not None and (
        is_below([checked_text("location", location)], [root])[0].as_py() or is_below([root], [location])[0].as_py()
    ):
        raise ValidationError(
            f"snapshot_directory: location: expected a directory apart from the source {root}, got {location}; use "
            "migrate_directory() for a table in place"
        )
    return ImportDirectory(
        catalog=catalog,
        verb="snapshot_directory",
        source=root,
        identifier=catalog.identifier_to_tuple(identifier),
        location=location,
        properties={**properties, "snapshot": "true", GC_ENABLED.name: "false"},
        schema=schema,
        partition_types=dict(partition_types),
        file_format=file_format,
        source_files=SourceFiles(
            directory=root, verb="snapshot_directory", directories=directories, partitions=partitions
        ),
    )


def migrate_directory(  # noqa: PLR0913 - the definition of a table
    catalog: Catalog,
    source: str,
    identifier: str | Identifier,
    *,
    properties: Mapping[str, str] = EMPTY_DICT,
    schema: pa.Schema | None = None,
    partition_types: Mapping[str, PrimitiveType] = EMPTY_DICT,
    file_format: str | None = None,
    directories: frozenset[str] | None = None,
    partitions: tuple[GivenPartition, ...] = (),
) -> ImportDirectory:
    """Return a builder of a table in place of a directory, whose files become the table's own.

    The directory is the table's location: metadata go to `metadata` in it, and maintenance deletes files that no snapshot needs. Other
    writers must not change the directory any more.

    Args:
        catalog: The catalog of the new table.
        source: A directory of Parquet, ORC or Avro files.
        identifier: The table's name.
        properties: Table properties; `migrated=true` is added.
        schema: Columns of the files; by default those of the smallest file.
        partition_types: Types of partition columns by name, instead of the inferred ones: int, long, date or string.
        file_format: The format that all files must have: `parquet`, `orc` or `avro`; by default the magic bytes of each file decide.
        directories: Names of the partition directories to take, such as `day=2026-11-01`; all files of the directory by default.
        partitions: Files of partitions elsewhere.
    """
    _check_definition(catalog, properties, schema, partition_types, file_format)
    root = _directory(catalog, source)
    return ImportDirectory(
        catalog=catalog,
        verb="migrate_directory",
        source=root,
        identifier=catalog.identifier_to_tuple(identifier),
        location=root,
        properties={**properties, "migrated": "true"},
        schema=schema,
        partition_types=dict(partition_types),
        file_format=file_format,
        source_files=SourceFiles(
            directory=root, verb="migrate_directory", directories=directories, partitions=partitions
        ),
    )


def _check_definition(
    catalog: object, properties: object, schema: object, partition_types: object, file_format: object
) -> None:
    if not isinstance(catalog, Catalog):
        raise ValidationError(f"catalog: expected a catalog, such as load_catalog() returns, got {catalog!r}")
    checked_mapping("properties", properties, "names to values")
    for name, kind in checked_mapping("partition_types", partition_types, "columns to types").items():
        if not isinstance(kind, PrimitiveType):
            raise ValidationError(f"partition_types: expected a primitive type of column {name}, got {kind!r}")
    if schema is not None and not isinstance(schema, pa.Schema):
        raise ValidationError(f"schema: expected a pyarrow.Schema, got {schema!r}")
    if file_format not in (None, "parquet", "orc", "avro"):
        raise ValidationError(f"file_format: expected parquet, orc or avro, got {file_format!r}")


def _directory(catalog: Catalog, source: str) -> str:
    return catalog.absolute(source).rstrip("/")


def _columns_of_smallest(io: FileIO, files: pa.Table) -> pa.Schema:
    return _core.file_schema(io.core, files.sort_by("size").column("location")[0].as_py())
