"""Parquet, ORC and Avro tables of Spark's own catalog, as the source of a new table."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from icefloe.exceptions import NoSuchTableError, ValidationError
from icefloe.spark.lexer import Cursor
from icefloe.spark.maintenance.registered_partitions import RegisteredPartition, registered_partitions
from icefloe.spark.maintenance.source_directory import FORMATS
from icefloe.spark.types.from_spark import schema_from_spark
from icefloe.types import DateType, IntegerType, LongType, PrimitiveType, StringType

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from icefloe.io import FileIO
    from icefloe.schema import Schema
    from icefloe.table.write.given_partitions import GivenPartition

_CATALOG = "spark_catalog"
_PARTITION_TYPES = (IntegerType, LongType, DateType, StringType)


@dataclass(frozen=True)
class _Description:
    """What `DESCRIBE TABLE EXTENDED` says of a table; the provider is `none` where it says nothing."""

    provider: str
    location: str | None
    is_external: bool
    partition_columns: tuple[str, ...]

    @staticmethod
    def of(spark: Any, name: str) -> _Description:
        rows = spark.sql(f"DESCRIBE TABLE EXTENDED {name}").collect()
        names = [row[0] for row in rows]
        details = {row[0]: row[1] for row in rows[names.index("# Detailed Table Information") :]}
        columns: list[str] = []
        if "# Partition Information" in names:
            start = names.index("# Partition Information") + 1
            columns = [one for one in names[start : names.index("", start)] if not one.startswith("# ")]
        return _Description(
            provider=_format(str(details.get("Provider", "none")).lower(), str(details.get("Serde Library", ""))),
            location=details.get("Location"),
            is_external=details.get("Type") == "EXTERNAL",
            partition_columns=tuple(columns),
        )


@dataclass(frozen=True)
class FileTable:
    """A table of files of Spark's own catalog.

    Attributes:
        database: Its database.
        name: Its name.
        file_format: `parquet`, `orc` or `avro`.
        location: Its directory.
        is_external: Whether the directory stays where it is when the table is renamed or dropped.
        schema: Its columns, without field ids.
        partition_types: Types of the partition columns by name.
        partitions: The chosen partitions that Spark's own catalog has; None where they are the directories of the table's directory.
    """

    database: str
    name: str
    file_format: str
    location: str
    is_external: bool
    schema: pa.Schema = field(repr=False)
    partition_types: dict[str, PrimitiveType]
    partitions: tuple[RegisteredPartition, ...] | None = None

    @staticmethod
    def of(
        spark: Any, name: str, procedure: str, partition_filter: Mapping[str, str] = MappingProxyType({})
    ) -> FileTable:
        """Return the table of a name such as `db.events`, which `spark_catalog.` may precede, with the partitions that a filter chooses.

        Raises:
            NoSuchTableError: Spark's own catalog has no such table.
            ValidationError: The table is not of Parquet, ORC or Avro files, or a partition column has a type that directories are not read with.
        """
        parts = _parts(name)
        database = parts[0] if len(parts) > 1 else spark.catalog.currentDatabase()
        own = f"{_CATALOG}.{_quoted(database)}.{_quoted(parts[-1])}"
        described = _described(spark, own, f"table {database}.{parts[-1]}", procedure)
        columns = schema_from_spark(spark.table(own).schema)
        kinds = {one: _partition_type(columns, one, procedure) for one in described.partition_columns}
        arrow = columns.as_arrow()
        for one in kinds:
            arrow = arrow.remove(arrow.get_field_index(one))
        return FileTable(
            database=database,
            name=parts[-1],
            file_format=described.provider,
            location=str(described.location),
            is_external=described.is_external,
            schema=arrow.remove_metadata(),
            partition_types=kinds,
            partitions=registered_partitions(spark, own, partition_filter) if kinds else None,
        )

    def directories(self) -> frozenset[str] | None:
        """Return the names of the partition directories within the table's directory; None for all directories."""
        if self.partitions is None:
            return None
        return frozenset(one.name for one in self.partitions if one.is_within(self.location))

    def partitions_elsewhere(self, io: FileIO) -> tuple[GivenPartition, ...]:
        """Return the files of the partitions whose directories have other names or are outside of the table's directory."""
        return tuple(one.files(io) for one in self.partitions or () if not one.is_within(self.location))

    def rename(self, spark: Any, name: str) -> FileTable:
        """Give an external table another name in its database; its files stay."""
        spark.sql(f"ALTER TABLE {self._own} RENAME TO {_quoted(self.database)}.{_quoted(name)}")
        return replace(self, name=name)

    def drop(self, spark: Any) -> None:
        """Drop an external table; its files stay."""
        spark.sql(f"DROP TABLE {self._own}")

    @property
    def _own(self) -> str:
        return f"{_CATALOG}.{_quoted(self.database)}.{_quoted(self.name)}"


def _described(spark: Any, own: str, subject: str, procedure: str) -> _Description:
    """Return Spark's description of a table of files, whose location is set.

    Raises:
        NoSuchTableError: Spark's own catalog has no such table.
        ValidationError: The table is not of Parquet, ORC or Avro files.
    """
    if not spark.catalog.tableExists(own):
        raise NoSuchTableError(
            f"CALL {procedure}: Spark's own catalog has no {subject}; expected a table of Parquet, ORC or Avro files, or a "
            "directory as in 'parquet.`/data/events`'"
        )
    described = _Description.of(spark, own)
    if described.provider not in FORMATS or described.location is None:
        raise ValidationError(
            f"CALL {procedure}: {subject}: expected a table of Parquet, ORC or Avro files (USING or STORED AS parquet, orc or avro), "
            f"got one of {described.provider}"
        )
    return described


def _format(provider: str, serde: str) -> str:
    """Return the format of a table's files; a table of Hive has it in the name of the class that reads its rows."""
    found = [one for one in FORMATS if provider == "hive" and one in serde.lower()]
    return found[0] if found else provider


def _parts(name: str) -> list[str]:
    cursor = Cursor(name)
    parts = list(cursor.names())
    cursor.finish()
    if len(parts) == 3 and parts[0].lower() == _CATALOG:
        parts = parts[1:]
    if len(parts) > 2:
        raise ValidationError(f"source table: expected a table of Spark's own catalog, as in db.events, got {name}")
    return parts


def _partition_type(columns: Schema, name: str, procedure: str) -> PrimitiveType:
    kind = columns.find_field(name).field_type
    if not isinstance(kind, _PARTITION_TYPES):
        raise ValidationError(
            f"CALL {procedure}: partition column {name!r}: expected type int, long, date or string, got {kind}"
        )
    return kind


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"
