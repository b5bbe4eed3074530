"""Parquet tables of Spark's own catalog, as the source of a new table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from icefloe.exceptions import NoSuchTableError, ValidationError
from icefloe.spark.lexer import Cursor
from icefloe.spark.types.from_spark import schema_from_spark
from icefloe.types import DateType, IntegerType, LongType, PrimitiveType, StringType

if TYPE_CHECKING:
    import pyarrow as pa

_CATALOG = "spark_catalog"
_PARTITION_TYPES = (IntegerType, LongType, DateType, StringType)


@dataclass(frozen=True)
class ParquetTable:
    """A Parquet table of Spark's own catalog.

    Attributes:
        database: Its database.
        name: Its name.
        location: Its directory.
        is_external: Whether the directory stays where it is when the table is renamed or dropped.
        schema: Its columns, without field ids.
        partition_types: Types of the partition columns by name.
    """

    database: str
    name: str
    location: str
    is_external: bool
    schema: pa.Schema = field(repr=False)
    partition_types: dict[str, PrimitiveType]

    @staticmethod
    def of(spark: Any, name: str, procedure: str) -> ParquetTable:
        """Return the table of a name such as `db.events`, which `spark_catalog.` may precede.

        Raises:
            NoSuchTableError: Spark's own catalog has no such table.
            ValidationError: The table is not of Parquet files, or a partition column has a type that directories are not read with.
        """
        parts = _parts(name)
        database = parts[0] if len(parts) > 1 else spark.catalog.currentDatabase()
        own = f"{_CATALOG}.{_quoted(database)}.{_quoted(parts[-1])}"
        if not spark.catalog.tableExists(own):
            raise NoSuchTableError(
                f"CALL {procedure}: Spark's own catalog has no table {database}.{parts[-1]}; expected a table of Parquet files, or a "
                "directory as in 'parquet.`/data/events`'"
            )
        described = spark.sql(f"DESCRIBE TABLE EXTENDED {own}").collect()
        names = [row[0] for row in described]
        details = {row[0]: row[1] for row in described[names.index("# Detailed Table Information") :]}
        provider = str(details.get("Provider", "none")).lower()
        if provider != "parquet" or "Location" not in details:
            raise ValidationError(
                f"CALL {procedure}: table {database}.{parts[-1]}: expected a table of Parquet files (USING parquet), got one of {provider}"
            )
        struct = spark.table(own).schema
        columns = schema_from_spark(struct)
        partitions = [] if "# Partition Information" not in names else _partition_columns(names)
        kinds: dict[str, PrimitiveType] = {}
        for one in partitions:
            kind = columns.find_field(one).field_type
            if not isinstance(kind, _PARTITION_TYPES):
                raise ValidationError(
                    f"CALL {procedure}: partition column {one!r}: expected type int, long, date or string, got {kind}"
                )
            kinds[one] = kind
        arrow = columns.as_arrow()
        for one in partitions:
            arrow = arrow.remove(arrow.get_field_index(one))
        return ParquetTable(
            database=database,
            name=parts[-1],
            location=str(details["Location"]),
            is_external=details.get("Type") == "EXTERNAL",
            schema=arrow.remove_metadata(),
            partition_types=kinds,
        )

    def rename(self, spark: Any, name: str) -> ParquetTable:
        """Give an external table another name in its database; its files stay."""
        spark.sql(f"ALTER TABLE {self._own} RENAME TO {_quoted(self.database)}.{_quoted(name)}")
        return ParquetTable(self.database, name, self.location, self.is_external, self.schema, self.partition_types)

    def drop(self, spark: Any) -> None:
        """Drop an external table; its files stay."""
        spark.sql(f"DROP TABLE {self._own}")

    @property
    def _own(self) -> str:
        return f"{_CATALOG}.{_quoted(self.database)}.{_quoted(self.name)}"


def _parts(name: str) -> list[str]:
    cursor = Cursor(name)
    parts = list(cursor.names())
    cursor.finish()
    if len(parts) == 3 and parts[0].lower() == _CATALOG:
        parts = parts[1:]
    if len(parts) > 2:
        raise ValidationError(f"source table: expected a table of Spark's own catalog, as in db.events, got {name}")
    return parts


def _partition_columns(names: list[str]) -> list[str]:
    start = names.index("# Partition Information") + 1
    listed = names[start : names.index("", start)]
    return [one for one in listed if not one.startswith("# ")]


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"
