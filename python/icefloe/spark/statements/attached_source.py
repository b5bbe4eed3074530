"""The data source behind one table in Spark's catalog: Spark drops the options of tables, so each table has its own class.

The methods, which run in processes of Spark, load the modules that they need: a session makes a class for each of its tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource

from icefloe.exceptions import ValidationError
from icefloe.spark.statements.catalog_recipe import CatalogRecipe

if TYPE_CHECKING:
    from collections.abc import Collection

    from pyspark.sql.datasource import DataSourceArrowWriter, DataSourceReader

    from icefloe.catalog import Catalog
    from icefloe.spark.statements.attached_options import AttachedOptions
    from icefloe.spark.stream.sink import IcefloeStreamWriter
    from icefloe.spark.stream.source import IcefloeStreamReader
    from icefloe.typedef import Identifier

# Properties of the entry in Spark's catalog, which Spark passes as options when it infers a schema.
_OF_SPARK = ("owner", "provider", "location", "comment", "collation", "external", "is_managed_location", "table_type")
_CHOSEN = ("table", "path", "catalog")


class AttachedSource(DataSource):
    """Reads, writes and streams of one table. Subclasses name the table; options of the query choose a version, a filter and columns."""

    recipe: CatalogRecipe
    identifier: Identifier

    def schema(self) -> Any:
        """Return the Spark schema of the table's rows, nullable at every depth."""
        from icefloe.spark.types.to_spark import read_schema

        return read_schema(self._options().scan().projection_json())

    def reader(self, schema: Any) -> DataSourceReader:
        """Return a reader of the columns of a schema."""
        from icefloe.spark.data_source import IcefloeReader

        return IcefloeReader(self._options(), schema)

    def writer(self, schema: Any, overwrite: bool) -> DataSourceArrowWriter:
        """Return a writer after a check that the rows fit the table."""
        from icefloe.spark.data_source import IcefloeWriter

        return IcefloeWriter.make(self._options(), schema, overwrite=overwrite)

    def streamReader(self, schema: Any) -> IcefloeStreamReader:  # noqa: N802  Spark's name
        """Return a reader of a stream."""
        from icefloe.spark.stream.admission import check_limits
        from icefloe.spark.stream.options import STREAM_READ_OPTIONS, SourceOptions
        from icefloe.spark.stream.source import IcefloeStreamReader

        options = SourceOptions.of(self._options(also=STREAM_READ_OPTIONS))
        if options.changes:
            raise ValidationError(
                "option changes: Spark's entry of an attached table has no columns for changes; expected a stream of appended rows, got "
                'changes=true: use spark.readStream.format("icefloe")'
            )
        check_limits(options.limits)
        return IcefloeStreamReader(options, schema)

    def streamWriter(self, schema: Any, overwrite: bool) -> IcefloeStreamWriter:  # noqa: N802
        """Return a writer of a stream after a check that the rows fit the table; ``overwrite`` is the output mode complete."""
        from icefloe.spark.stream.options import STREAM_WRITE_OPTIONS, SinkOptions
        from icefloe.spark.stream.sink import IcefloeStreamWriter

        options = SinkOptions.of(self._options(also=STREAM_WRITE_OPTIONS))
        return IcefloeStreamWriter(options, schema, overwrite=overwrite)

    def _options(self, also: Collection[str] = ()) -> AttachedOptions:
        from icefloe.spark.statements.attached_options import AttachedOptions

        given = {key.lower(): value for key, value in self.options.items() if key.lower() not in _OF_SPARK}
        chosen = [key for key in given if key in _CHOSEN or key.startswith("catalog.")]
        if chosen:
            raise ValidationError(
                f"option {chosen[0]}: an attached table is fixed; expected other options, got {chosen[0]}"
            )
        return AttachedOptions.of(self.recipe, self.identifier, given, also=also)


def source_class(name: str, catalog: Catalog, identifier: Identifier) -> type[AttachedSource]:
    """Return the data source of one table.

    Args:
        name: Name of the data source in Spark.
        catalog: Catalog, which each process of Spark makes again.
        identifier: Identifier of the table.
    """
    attributes = {
        "name": classmethod(lambda _: name),
        "recipe": CatalogRecipe.of(catalog),
        "identifier": identifier,
    }
    return type(f"AttachedSource_{name}", (AttachedSource,), attributes)
