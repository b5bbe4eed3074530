"""``write_to``: writes that name their table first, as ``DataFrame.writeTo`` does, and that can create and replace it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyspark.sql import Column

from icefloe.arguments import checked_text
from icefloe.catalog.catalog import Catalog
from icefloe.exceptions import ValidationError
from icefloe.expressions import BooleanExpression
from icefloe.spark.arguments import checked_frame
from icefloe.spark.session import current_user, is_case_sensitive
from icefloe.spark.types.from_spark import schema_from_spark
from icefloe.spark.types.nullability import nullable
from icefloe.spark.writer.column_filter import filter_of_column
from icefloe.spark.writer.commit import FileChange, WriteMode, summary_properties
from icefloe.spark.writer.options import checked_options, flag, option_text
from icefloe.spark.writer.partition_text import partition_spec
from icefloe.spark.writer.schema_followers import call_schema_followers
from icefloe.spark.writer.wap import SnapshotDestination
from icefloe.spark.writer.write import file_change, write_in_transaction, write_to_table
from icefloe.table.commit.snapshot_producer import MAIN
from icefloe.table.table import Table
from icefloe.table.write.isolation import Isolation

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyspark.sql import DataFrame
    from typing_extensions import Self

    from icefloe.table import CreateTableTransaction, ReplaceTableTransaction
    from icefloe.typedef import Identifier

_PROVIDERS = ("icefloe", "iceberg")
_LOCATION = "location"
_CASE_SENSITIVE = "case-sensitive"
_OF_EXISTING_TABLES = ("branch", "merge-schema", "output-spec-id")


def write_to(frame: DataFrame, table: Table | str | Identifier, catalog: Catalog | None = None) -> WriteBuilder:
    """Return a write of a DataFrame to a table: set options, then call one verb.

    Args:
        frame: Rows.
        table: Table, or its name in ``catalog``.
        catalog: Catalog of the name; not needed beside a table.

    Raises:
        ValidationError: A name is given without a catalog, or the frame is no DataFrame.

    Examples:
        >>> frame = spark.createDataFrame([(1, "a"), (2, "b")], "id long, name string")
        >>> icefloe.spark.write_to(frame, "db.letters", catalog).partitioned_by("bucket(4, id)").create()
        >>> icefloe.spark.write_to(frame, "db.letters", catalog).option("branch", "audit").append()
        >>> catalog.load_table("db.letters").scan().count()
        2
    """
    checked_frame("write_to, frame", frame)
    if not isinstance(table, Table) and catalog is None:
        raise ValidationError(f"write_to: expected a Table, or a name and its catalog, got {table!r} without a catalog")
    return WriteBuilder(frame, table, catalog)


class WriteBuilder:
    """A write under construction; :func:`write_to` returns it.

    Methods that configure the write return the builder. Each of the other methods writes the rows in one commit: a table is created or
    replaced together with its rows, or not at all.

    Examples:
        >>> frame = spark.createDataFrame([(1, "a"), (2, "b")], "id long, name string")
        >>> icefloe.spark.write_to(frame, "db.words", catalog).table_property("owner", "me").create_or_replace()
        >>> table = catalog.load_table("db.words")
        >>> icefloe.spark.write_to(frame.where("id = 2"), table).overwrite("id = 1 or id = 2")
        >>> table.properties["owner"], table.scan().count()
        ('me', 1)
    """

    def __init__(self, frame: DataFrame, table: Table | str | Identifier, catalog: Catalog | None) -> None:
        self._frame = frame
        self._table = table
        self._catalog = catalog
        self._options: dict[str, Any] = {}
        self._properties: dict[str, str] = {}
        self._partitioning: tuple[str | Column, ...] = ()

    # ---- configuration

    def using(self, provider: str) -> Self:
        """Name the format of the table, which is Iceberg's: ``icefloe`` or ``iceberg``.

        Raises:
            ValidationError: The format is another one.
        """
        if provider.lower() not in _PROVIDERS:
            raise ValidationError(f"using: unknown format; expected {' or '.join(_PROVIDERS)}, got {provider!r}")
        return self

    def option(self, key: str, value: object) -> Self:
        """Set a write option; see :func:`icefloe.spark.write`."""
        self._options[key] = value
        return self

    def options(self, **options: object) -> Self:
        """Set write options."""
        self._options.update(options)
        return self

    def table_property(self, key: str, value: object) -> Self:
        """Set a property of a table that is created or replaced; ``location`` and ``format-version`` are facts of the table.

        The property ``owner`` is the user of the session unless it is set.
        """
        self._properties[checked_text("table_property, key", key)] = option_text(f"table_property {key}", value)
        return self

    def partitioned_by(self, *fields: str | Column) -> Self:
        """Set the partition fields of a table that is created or replaced.

        Args:
            *fields: Texts such as ``region``, ``days(ts)``, ``bucket(16, id)``, ``truncate(3, name)``, or columns such as
                ``F.partitioning.days("ts")``.
        """
        self._partitioning = fields
        return self

    # ---- existing tables

    def append(self) -> None:
        """Append the rows. Errors are those of :func:`icefloe.spark.write`."""
        self._write("append", {})

    def overwrite(self, condition: str | BooleanExpression | Column) -> None:
        """Replace the rows of a filter by the rows of the frame.

        Args:
            condition: Filter, as text or expression, or comparisons of Spark columns with literals, such as ``F.col("id") > 3``; each
                data file must have only rows that match, or none. Names in a Spark column ignore case unless the option ``case-sensitive``
                is ``true``; without the option, the session's ``spark.sql.caseSensitive`` decides.

        Raises:
            ValidationError: The condition is no filter, or matches some rows of a file.
        """
        if isinstance(condition, str):
            self._write("overwrite", {"overwrite-filter": condition})
        elif isinstance(condition, BooleanExpression | Column):
            self._write("overwrite", {}, condition)
        else:
            raise ValidationError(
                f"overwrite: expected a filter as text, expression or Spark column, got {condition!r}: write a text, such as 'id = 1'"
            )

    def overwrite_partitions(self) -> None:
        """Replace the partitions that the rows belong to; an unpartitioned table is one partition."""
        self._write("overwrite-partitions", {})

    # ---- definitions

    def create(self) -> None:
        """Create the table with the rows, in one commit.

        Raises:
            TableAlreadyExistsError: A table of this name exists.
            NoSuchNamespaceError: The namespace does not exist.
            FeatureUnsupportedError: Iceberg has no type for a column.
        """
        self._write_new(self._catalog_of_name().create_table_transaction)

    def replace(self) -> None:
        """Replace the definition and the rows of an existing table, in one commit; earlier snapshots stay readable.

        Raises:
            NoSuchTableError: The table does not exist.
        """
        self._write_new(self._catalog_of_name().replace_table_transaction, replaces=True)

    def create_or_replace(self) -> None:
        """Replace the table if it exists, else create it."""
        self._write_new(self._catalog_of_name().create_or_replace_table_transaction, replaces=True)

    # ---- parts

    def _write(
        self, mode: WriteMode, extra: Mapping[str, str], row_filter: BooleanExpression | Column | None = None
    ) -> None:
        if self._partitioning or self._properties:
            raise ValidationError(
                "write_to: the table's definition is not changed; expected create(), replace() or create_or_replace() after "
                f"partitioned_by() or table_property(), got {mode.replace('-', '_')}()"
            )
        checked = checked_options(mode, {**self._options, **extra})
        table = self._table if isinstance(self._table, Table) else self._catalog_of_name().load_table(self._table)
        if isinstance(row_filter, Column):
            spark = self._frame.sparkSession
            is_given = _CASE_SENSITIVE in checked
            sensitive = flag(checked, _CASE_SENSITIVE) if is_given else is_case_sensitive(spark)
            row_filter = filter_of_column(row_filter, table.schema(), case_sensitive=sensitive)
        change = replace(file_change(self._frame.sparkSession, table, mode, checked), row_filter=row_filter)
        write_to_table(self._frame, table, change)

    def _write_new(
        self, start: Callable[..., CreateTableTransaction | ReplaceTableTransaction], *, replaces: bool = False
    ) -> None:
        options = checked_options("append", self._options)
        misplaced = [key for key in _OF_EXISTING_TABLES if key in options]
        if misplaced:
            raise ValidationError(
                f"option {misplaced[0]}: expected a write to an existing table, got {misplaced[0]}={options[misplaced[0]]!r} beside a "
                "new definition"
            )
        catalog = self._catalog_of_name()
        name = self._table.name() if isinstance(self._table, Table) else self._table
        # As in Spark, columns and fields of a new table may be null.
        schema = schema_from_spark(nullable(self._frame.schema))
        spark = self._frame.sparkSession
        properties = {"owner": current_user(spark), **self._properties}
        transaction = start(
            name,
            schema,
            location=properties.pop(_LOCATION, None),
            partition_spec=partition_spec(schema, self._partitioning, case_sensitive=is_case_sensitive(spark)),
            properties=properties,
        )
        destination = SnapshotDestination(branch=MAIN, snapshot_properties=summary_properties(options))
        with transaction:
            change = FileChange(
                mode="append",
                options=options,
                destination=destination,
                isolation=Isolation(None, False),
                replaces_table=replaces,
            )
            write_in_transaction(self._frame, transaction, change)
        call_schema_followers(spark, catalog, Catalog.identifier_to_tuple(name))

    def _catalog_of_name(self) -> Catalog:
        catalog = self._table.catalog if isinstance(self._table, Table) else self._catalog
        if not isinstance(catalog, Catalog):
            raise ValidationError(
                f"write_to: the table belongs to no catalog; expected a table of a catalog, got one of {type(catalog).__name__}"
            )
        return catalog
